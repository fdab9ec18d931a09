"""What a laboratory adds to the report: its logo, and a referral question and notes on each participant.

Both come from files in the study. The logo is embedded in each page, which needs no other file; texts are shown as
text, never as markup.
"""

import base64
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from ..errors import UserError, nearest, printable
from .tsv import decode_text

TEXTS = {"question": "Referral question", "notes": "Notes"}  # by the end of a file's name
NAME = re.compile(rf"(.+)_({'|'.join(TEXTS)})\.txt")
MOST_BYTES, MOST_LETTERS = 200_000, 10_000  # of a logo, which is in each page, and of a text
PNG = b"\x89PNG\r\n\x1a\n"
# what could run or load something, should a reader open the picture by itself
UNSAFE = re.compile(
    rb"<script|<foreignobject|<!entity|<iframe|\son\w+\s*=|javascript:|@import|"
    rb"href\s*=(?!\s*[\"']?(?:#|data:image/))|url\((?!\s*[\"']?(?:#|data:image/))",
    re.IGNORECASE,
)


def logo_of(study: Path, name: str | None) -> str:
    """Return the logo as a data URI, empty for None; its path is in the study."""
    return picture_of(study, "report.logo", name, MOST_BYTES) if name else ""


def picture_of(study: Path, setting: str, name: str, most_bytes: int) -> str:
    """Return a picture as a data URI; refuse one that is no PNG or SVG, is too large, or could run or load anything."""
    where, content = f"{setting}: {name}", read_named(study / name, setting, name)
    if len(content) > most_bytes:
        raise UserError(where, f"has {len(content) // 1000} kB", f"at most {most_bytes // 1000}: the page has a copy")
    kind = "png" if content.startswith(PNG) else "svg+xml" if b"<svg" in content[:1000] else ""
    if not kind:
        raise UserError(where, "is neither PNG nor SVG", "save it as one of them")
    if kind == "svg+xml" and (found := UNSAFE.search(content)):
        what = f"has {printable(found[0].decode(errors='replace').strip())!r}, which may run or load something"
        raise UserError(where, what, "remove it, or save it as PNG")
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def texts_of(study: Path, folder: str | None, participant: str) -> dict[str, str]:
    """Return the texts on a participant by title; refuse one that is too long or not UTF-8. No folder has none."""
    texts: dict[str, str] = {}
    for end, title in TEXTS.items() if folder else ():
        path = study / str(folder) / f"{participant}_{end}.txt"
        if path.is_file():
            try:
                lines = decode_text(path.read_bytes()).split("\n")
            except UnicodeDecodeError:
                raise UserError(str(path), "is not UTF-8", "save it as UTF-8") from None
            text = printable("\n".join(line.rstrip().replace("\t", " ") for line in lines)).strip()
            if len(text) > MOST_LETTERS:
                raise UserError(str(path), f"has {len(text)} letters", f"shorten it to {MOST_LETTERS}")
            texts |= {title: text} if text else {}
    return texts


def check_additions(study: Path, report: Mapping[str, Any], participants: Collection[str]) -> None:
    """Refuse a logo or texts that cannot be shown, and a text of nobody, which may be one with a misspelt name."""
    logo_of(study, report["logo"])
    folder = report["notes"]
    if folder and not (study / folder).is_dir():
        raise UserError(f"report.notes: {folder}", "no such folder", "create it, or correct the path")
    for path in sorted((study / folder).iterdir()) if folder else ():
        match = NAME.fullmatch(path.name)
        if match and match[1] not in participants:
            remedy = nearest(match[1], participants) or "rename it, or move it elsewhere"
            raise UserError(f"{folder}/{path.name}", f"no participant '{match[1]}' in participants.tsv", remedy)
    for name in participants:
        texts_of(study, folder, name)


def read_named(path: Path, setting: str, name: str) -> bytes:
    """Return the bytes of a file that a setting names; refuse one that cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{setting}: {name}", f"cannot be read ({error.strerror})", "correct the path") from None
