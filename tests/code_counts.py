"""What a change does to the size and the shape of the code: ``python -m tests.code_counts [COMMIT]``.

``make check`` prints it; it judges nothing. The counts are of the product (pipeline/, gaitlab/, the Snakefile), taken
from its syntax trees, in the working tree and in COMMIT: by default the merge base with ``origin/main`` or ``main``,
and on that branch itself the commit before.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

HOUSE = Path(__file__).resolve().parents[1]
PRODUCT = ("pipeline", "gaitlab", "Snakefile")
ENDINGS = (".py", ".smk", "Snakefile")
ROOMS_WITH_ROOMS = ("steps", "commands", "extras")
SHORT, LONG, VERY_LONG, MANY_ARGUMENTS, LONG_MODULE = 4, 40, 80, 6, 300

Sources = Mapping[str, str]  # path in the project: text
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Body(NamedTuple):
    """A function as it is counted."""

    path: str
    name: str
    lines: int  # of its body, without docstring
    arguments: int

    @property
    def place(self) -> str:
        """Return file and name."""
        return f"{self.path}:{self.name}"


def functions_in(sources: Sources) -> list[Body]:
    """Return every function of the sources, also those inside of classes and functions."""
    found = []
    for path, text in sources.items():
        for node in ast.walk(ast.parse(text)) if path.endswith(".py") else ():
            if isinstance(node, Function):
                first, body, given = node.body[0], node.body, node.args
                if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):  # the docstring
                    body = body[1:]
                lines = (body[-1].end_lineno or body[-1].lineno) - body[0].lineno + 1 if body else 0
                arguments = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
                found.append(Body(path, node.name, lines, sum(one not in ("self", "cls") for one in arguments)))
    return found


def short_with_one_caller(sources: Sources, functions: list[Body]) -> list[str]:
    """Return the private functions of at most four lines that their file names once, and no other file imports."""
    uses: Counter[tuple[str, str]] = Counter()
    imports = set()
    for path, text in sources.items():
        for node in ast.walk(ast.parse(text)) if path.endswith(".py") else ():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                uses[path, node.id] += 1
            elif isinstance(node, ast.Attribute):
                uses[path, node.attr] += 1
            elif isinstance(node, ast.ImportFrom):
                imports |= {alias.name for alias in node.names}
    private = (one for one in functions if one.name.startswith("_") and not one.name.startswith("__"))
    once = (one for one in private if uses[one.path, one.name] == 1 and one.name not in imports)
    return [one.place for one in once if one.lines <= SHORT]


def counts(sources: Sources) -> dict[str, int]:
    """Return the counts by what they count."""
    functions, lines = functions_in(sources), [text.count("\n") for text in sources.values()]
    many = sum(one.arguments > MANY_ARGUMENTS for one in functions)
    return {
        "files": len(sources),
        "lines": sum(lines),
        f"files of more than {LONG_MODULE} lines": sum(number > LONG_MODULE for number in lines),
        "functions": len(functions),
        f"private functions of at most {SHORT} lines with one caller": len(short_with_one_caller(sources, functions)),
        f"bodies of more than {LONG} lines": sum(one.lines > LONG for one in functions),
        f"bodies of more than {VERY_LONG} lines": sum(one.lines > VERY_LONG for one in functions),
        f"functions with more than {MANY_ARGUMENTS} arguments": many,
        "lines of the longest body": max((one.lines for one in functions), default=0),
    }


def room_of(path: str) -> str:
    """Return the room of a file: ``pipeline/body``, ``pipeline/steps/clean``, ``pipeline`` for a file beside them."""
    *folders, _ = path.split("/")
    deep = 3 if len(folders) > 2 and folders[1] in ROOMS_WITH_ROOMS else 2
    return "/".join(folders[:deep]) or path


def files_outside_of_the_room(before: Sources, now: Sources) -> str:
    """Return how many files differ, and how many of them are outside of the room with most of the changed lines."""
    changed: Counter[str] = Counter()
    files = [path for path in {*before, *now} if before.get(path) != now.get(path)]
    for path in files:
        old, new = (Counter(sources.get(path, "").splitlines()) for sources in (before, now))
        changed[room_of(path)] += sum(((old - new) + (new - old)).values())
    if not files:
        return "no file of the product is changed"
    room = changed.most_common(1)[0][0]
    outside = [path for path in files if room_of(path) != room]
    return f"{len(files)} files are changed, {len(outside)} of them outside of {room}, in {len(changed)} rooms"


def functions_changed(before: Sources, now: Sources) -> str:
    """Return how many functions were added and removed, by file and name."""
    old, new = (Counter(one.place for one in functions_in(sources)) for sources in (before, now))
    return f"{(new - old).total()} functions are added, {(old - new).total()} removed"


def sources_now() -> Sources:
    """Return the product's sources in the working tree."""
    listed = _git("ls-files", "--cached", "--others", "--exclude-standard", "--", *PRODUCT).decode().splitlines()
    paths = [path for path in dict.fromkeys(listed) if path.endswith(ENDINGS) and (HOUSE / path).is_file()]
    return {path: (HOUSE / path).read_text(encoding="utf-8") for path in paths}


def sources_at(commit: str) -> Sources:
    """Return the product's sources in a commit."""
    places = [name for name in PRODUCT if _git("ls-tree", commit, "--", name)]
    with tarfile.open(fileobj=io.BytesIO(_git("archive", commit, "--", *places))) as archive:
        members = [one for one in archive.getmembers() if one.isfile() and one.name.endswith(ENDINGS)]
        return {one.name: archive.extractfile(one).read().decode() for one in members}  # type: ignore[union-attr]


def merge_base() -> str:
    """Return the commit to compare with, empty where there is none."""
    head = _git("rev-parse", "HEAD").decode().strip()
    for branch in ("origin/main", "main"):
        known = subprocess.run(["git", "merge-base", "HEAD", branch], cwd=HOUSE, capture_output=True, check=False)
        base = known.stdout.decode().strip()
        if base and base != head:
            return base
    return head if _git("status", "--porcelain", "--", *PRODUCT) else _git("rev-list", "-1", "HEAD~1").decode().strip()


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=HOUSE, capture_output=True, check=True).stdout


def report(before: Sources, now: Sources, base: str) -> str:
    """Return the counts of both, a line each."""
    old, new = counts(before), counts(now)
    rows = [f"  {old[what]:7,} -> {new[what]:7,}  {what}" for what in new]
    words = [files_outside_of_the_room(before, now), functions_changed(before, now)]
    return "\n".join([f"The product against {base[:12]}: {'; '.join(words)}", *rows])


def main(arguments: list[str]) -> int:
    """Print the counts; without a repository or an earlier commit why there are none. A wrong COMMIT is an error."""
    try:
        base = arguments[0] if arguments else merge_base()
        text = report(sources_at(base), sources_now(), base)
    except (OSError, subprocess.CalledProcessError) as error:
        if arguments:
            raise SystemExit(f"{arguments[0]}: no commit of this repository; give one that git log shows") from error
        text = f"The product's counts are left out: git shows no earlier commit here ({error})"
    sys.stdout.write(f"{text}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
