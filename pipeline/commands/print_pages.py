"""``gaitlab report``: the overview and each participant's page as PDF, printed by a browser, or each as one file.

The browser gets one page at a time, in a process and with a profile of its own, and no network.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..errors import UserError
from ..results.page_names import OVERVIEW, PAGES, SCRIPT, STYLE
from ..results.single_page import digest_of, single_page
from ..results.whole_files import write_whole
from ..workflow.digests import sha256
from .shared.exported_files import PDF, SINGLE_PAGES, record_files

BROWSER = "GAITLAB_BROWSER"  # environment variable with the path of a browser
ON_PATH = (
    *("google-chrome", "google-chrome-stable", "chromium", "chromium-browser", "microsoft-edge"),
    *("microsoft-edge-stable", "chrome", "msedge"),
)
ON_MAC = tuple(f"{name}.app/Contents/MacOS/{name}" for name in ("Google Chrome", "Microsoft Edge", "Chromium"))
ON_WINDOWS = (
    *("Google/Chrome/Application/chrome.exe", "Microsoft/Edge/Application/msedge.exe"),
    "Chromium/Application/chrome.exe",
)
WINDOWS_FOLDERS = ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")  # environment variables
OPTIONS = (
    *("--headless", "--disable-gpu", "--no-first-run", "--no-default-browser-check", "--disable-extensions"),
    *("--disable-sync", "--disable-background-networking", "--disable-component-update"),
    *("--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=127.0.0.1:9"),  # no network
    *("--no-pdf-header-footer", "--virtual-time-budget=60000"),  # ms that the page believes to have passed
)
LONGEST_S = 180.0  # for a page; usual are 2 to 10
PAPER = {"a4": "A4", "letter": "letter"}
SIZE = re.compile(r"(?<=<style>)[^<]*?@page \{\s+size: portrait;[^<]*(?=</style>)")  # the style with the paper's size


def list_or_print_pages(
    study: Path,
    *,
    pdf: bool,
    single_file: bool,
    people: Sequence[str],
    paper: str,
    browser: Path | None,
    output: Path | None,
) -> tuple[str, int]:
    """Return the pages of the report, or the PDF or single files now made of them, and 1 if one was not printed."""
    if single_file:
        return "\n".join(map(str, write_single_pages(study, people, output))), 0
    if not pdf:
        return "\n".join(map(str, list_pages(study, people))), 0
    written, failed = print_pages(study, people=people, paper=paper, browser=browser, output=output)
    lines = [*map(str, written), *(f"not printed: {line}" for line in failed)]
    return "\n".join([*lines, f"{len(written)} of {len(written) + len(failed)} pages printed."]), int(bool(failed))


def print_pages(
    study: Path,
    *,
    people: Sequence[str] = (),
    paper: str = "a4",
    browser: Path | None = None,
    output: Path | None = None,
) -> tuple[list[Path], list[str]]:
    """Print the overview and all pages, or the pages of some people; return the PDF files and what failed.

    Raises:
        UserError: no report, no page of a person, no browser, or the folder cannot be written.
    """
    pages, program = list_pages(study, people), find_browser(browser)
    derived = study / "derived"
    folder = output or derived / PDF
    folder.mkdir(parents=True, exist_ok=True)
    written, failed = [], []
    for page in pages:
        try:
            inputs = _sources(page, derived)
            content = _print(page, single_page(page.read_text(encoding="utf-8"), derived), program, folder, paper)
        except UserError as error:
            failed.append(str(error))
            continue
        write_whole(folder / f"{page.stem}.pdf", content)
        written.append(folder / f"{page.stem}.pdf")
        record_files(derived, written[-1:], inputs, ["report", "--pdf", *_person(page), "--paper", paper], output)
    return written, failed


def write_single_pages(study: Path, people: Sequence[str] = (), output: Path | None = None) -> list[Path]:
    """Write the overview and all pages, or the pages of some people, each as one file, and return these files.

    They lie as those of the run do, so that their links lead to one another.

    Raises:
        UserError: no report, no page of a person, no script or style of the pages; or their own folder is given.
    """
    derived, written = study / "derived", list[Path]()
    folder = output or derived / SINGLE_PAGES
    if folder.resolve() == derived.resolve():
        raise UserError(str(folder), "holds the pages of the run", "give another folder as --output")
    for page in list_pages(study, people):
        inputs = _sources(page, derived)
        content = single_page(page.read_text(encoding="utf-8"), derived)
        written.append(folder / page.relative_to(derived))
        write_whole(written[-1], content.encode())
        record_files(derived, written[-1:], inputs, ["report", "--single-file", *_person(page)], output)
    return written


def _sources(page: Path, derived: Path) -> dict[str, str]:
    """Return the SHA-256 of a page and of the files that it needs, by name."""
    files = (page, *(file for name in (SCRIPT, STYLE) if (file := derived / name).is_file()))
    return {file.relative_to(derived).as_posix(): sha256(file) for file in files}


def _person(page: Path) -> list[str]:
    """Return the option that chooses a page of a person."""
    return ["--participant", page.stem] if page.parent.name == PAGES else []


def list_pages(study: Path, people: Sequence[str] = ()) -> list[Path]:
    """Return the overview and the pages of participants that a run has written, or those of some people."""
    derived = study / "derived"
    remedy = "write it with: gaitlab run STUDY"
    if not (derived / OVERVIEW).is_file():
        raise UserError(str(derived / OVERVIEW), "no such file", remedy)
    pages = [derived / PAGES / f"{name}.html" for name in people]
    for page in pages:
        if not page.is_file():
            raise UserError(str(page), "no such file", f"{remedy} derived/{PAGES}/{page.name}")
    return pages or [derived / OVERVIEW, *sorted((derived / PAGES).glob("*.html"))]


def find_browser(chosen: Path | None = None) -> str:
    """Return the browser to print with: the chosen one, that of GAITLAB_BROWSER, or one on PATH or in a usual place."""
    named = str(chosen or os.environ.get(BROWSER, ""))
    if named:
        program = shutil.which(named)
        if not program:
            raise UserError(named, "no such program", f"correct --browser or {BROWSER}, or leave both out")
        return program
    if on_path := next(filter(None, map(shutil.which, ON_PATH)), None):
        return on_path
    folders = [Path("/Applications"), Path.home() / "Applications"]
    places = [folder / name for folder in folders for name in ON_MAC]
    folders = [Path(os.environ[name]) for name in WINDOWS_FOLDERS if os.environ.get(name)]
    places += [folder / name for folder in folders for name in ON_WINDOWS]
    if found := [str(place) for place in places if place.is_file()]:
        return found[0]
    what = "no Chrome, Edge or Chromium was found, which prints the pages"
    remedy = f"install one (google.com/chrome, or: apt install chromium), or name it by --browser or {BROWSER}"
    raise UserError("--pdf", what, remedy)


def _print(page: Path, text: str, program: str, folder: Path, paper: str) -> bytes:
    """Return the text of a page as PDF on some paper; made beside the PDF, as a packaged browser may not see others."""
    with tempfile.TemporaryDirectory(prefix="printing-", dir=folder, ignore_cleanup_errors=True) as place:
        work = Path(place).resolve()
        html, pdf = work / page.name, work / "page.pdf"
        if found := SIZE.search(text):  # with its new digest in the policy
            new = found[0].replace("size: portrait", f"size: {PAPER[paper]} portrait", 1)
            text = text.replace(found[0], new, 1).replace(digest_of(found[0]), digest_of(new), 1)
        html.write_text(text, encoding="utf-8")
        address = f"{html.as_uri()}#appendix"  # curves and numbers unfolded, as contents.js does it
        command = [program, *OPTIONS, f"--user-data-dir={work / 'profile'}", f"--print-to-pdf={pdf}", address]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.insert(1, "--no-sandbox")  # Chromium starts for root only so, as in a container
        words = _run(command, str(page))
        content = pdf.read_bytes() if pdf.is_file() else b""
    if not content.startswith(b"%PDF-") or b"%%EOF" not in content[-64:]:
        last = next((line for line in reversed(words.splitlines()) if line.strip()), "without a word")
        raise UserError(str(page), f"{Path(program).name} did not print it ({last})", "try another one by --browser")
    return content


def _run(command: Sequence[str], page: str) -> str:
    """Run the browser and return what it writes; end it with its children after LONGEST_S."""
    with subprocess.Popen(  # noqa: S603 (our own command, no shell)
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, errors="replace", start_new_session=True,
    ) as process:  # fmt: skip
        try:
            return process.communicate(timeout=LONGEST_S)[1]
        except subprocess.TimeoutExpired:
            _end(process)
            what = f"not printed within {LONGEST_S:.0f} s"
            raise UserError(page, what, "try again, or another browser by --browser") from None
        except BaseException:
            _end(process)
            raise


def _end(process: subprocess.Popen[str]) -> None:
    """End a browser and its children."""
    if sys.platform == "win32":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)
