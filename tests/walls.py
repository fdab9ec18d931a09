"""The rooms of pipeline/ and the walls between them, and the lists of both in CONTRIBUTING.md.

``python -m tests.walls`` writes these lists anew, from the docstrings of the rooms, from :data:`WALLS` and from the
comments of the Makefile.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.support.checkout import HOUSE

PACKAGE = HOUSE / "pipeline"
PAGE = HOUSE / "CONTRIBUTING.md"
NOUNS = {  # rooms of what the project speaks of, with those that each may import
    "body": {"dynamics"},
    "c3d": {"vocabulary"},
    "dynamics": set[str](),
    "opensim_files": {"vocabulary"},
    "person": {"body", "plates", "signals", "tables"},
    "plates": {"dynamics", "signals"},
    "results": {"tables", "trials", "variables"},
    "signals": {"dynamics"},
    "tables": set[str](),
    "trials": set[str](),
    "uncertainty": {"body", "dynamics", "signals", "trials", "variables"},
    "variables": {"tables", "trials"},
    "vocabulary": set[str](),
    "whole_body": {"body", "dynamics"},
}
VERBS = ("steps", "workflow", "commands", "demo", "extras")
DOORS = {  # modules that import a foreign library
    "snakemake": ("workflow/",),
    "netCDF4": ("results/",),
    "ezc3d": ("c3d/", "demo/recording.py"),
    "plotly": ("steps/report/",),
    "jinja2": ("steps/report/", "text_template.py"),
    "opensim": ("extras/opensim/",),
}
STUDY = "pipeline.workflow.job_keys.Study"  # of which the cells of a step's key are, for the type checker alone


class Import(NamedTuple):
    """An import of a module, such as ``commands/check/command.py``, that names ``pipeline.body.legs.Legs``."""

    path: str
    name: str

    @property
    def at(self) -> list[str]:
        """Return the rooms around the module, two or more."""
        return [*self.path.removesuffix(".py").split("/"), ""]

    @property
    def to(self) -> list[str]:
        """Return the rooms around what is imported, two or more; none of a foreign library."""
        top, *rest = self.name.split(".")
        return [*rest, "", ""] if top == "pipeline" and rest and rest[0] in (*NOUNS, *VERBS) else ["", ""]

    @property
    def leaves(self) -> bool:
        """Return whether it leads out of the room of one thing: a noun, a step, a command, an extra."""
        within = 2 if self.at[0] in ("steps", "commands", "extras") else 1
        return bool(self.to[0]) and self.at[:within] != self.to[:within]


class Wall(NamedTuple):
    """What no module may import."""

    never: str
    is_passed_by: Callable[[Import], bool]


WALLS = (
    Wall(
        "A step imports another step, `workflow`, `commands` or `demo`; only its `cells.py`, which gives what a key "
        "holds of the study's tables, names the type `workflow.job_keys.Study`.",
        lambda one: (
            one.at[0] == "steps"
            and one.to[0] in {"steps", "workflow", "commands", "demo"}
            and not (one.path.endswith("/cells.py") and one.name == STUDY)
        ),
    ),
    Wall(
        "A room of nouns imports `steps`, `workflow`, `commands` or `demo`, or other nouns than these:\n\n"
        + "\n".join(
            ["| room | imports |", "|---|---|"]
            + [f"| `{room}` | {', '.join(f'`{one}`' for one in sorted(others))} |" for room, others in NOUNS.items()]
        )
        + "\n",
        lambda one: one.at[0] in NOUNS and one.to[0] not in {"", "extras", *NOUNS[one.at[0]]},
    ),
    Wall("`workflow` imports `commands`.", lambda one: one.at[0] == "workflow" and one.to[0] == "commands"),
    Wall(
        "A command imports another command. What two of them use is in `commands/shared/`, which imports no command.",
        lambda one: one.at[0] == one.to[0] == "commands" and one.to[1] != "shared",
    ),
    Wall(
        "`demo` imports anything but `variables`, which describes its study.nc; otherwise its answers would not be "
        "independent.",
        lambda one: one.at[0] == "demo" and one.to[0] not in {"", "extras", "variables"},
    ),
    Wall(
        "Anything outside of `extras` imports an extra, or an extra imports another one, `demo`, or of `commands` more "
        "than `commands/shared/`. `tests/extras/test_extras.py` looks for their names.",
        lambda one: (
            one.to[0] == "extras"
            or (one.at[0] == "extras" and (one.to[0] == "demo" or (one.to[0] == "commands" and one.to[1] != "shared")))
        ),
    ),
    Wall(
        "A foreign library is imported outside its door: "
        + "; ".join(
            f"{library} only in {' and '.join(f'`{place}`' for place in places)}" for library, places in DOORS.items()
        )
        + ". Nothing but `results/` opens NetCDF files with xarray, but for the demo's truth.",
        lambda one: not one.path.startswith(DOORS.get(one.name.partition(".")[0], "")),
    ),
)


def imported(source: str, module: str) -> Iterator[str]:
    """Yield the dotted names that the source of a module such as ``body.legs`` imports, its own from ``pipeline``."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = ["pipeline", *module.split(".")][: -node.level] if node.level else []
            origin = ".".join([*above, *filter(None, [node.module])])
            yield from (f"{origin}.{alias.name}" for alias in node.names)


def faults(source: str, module: str) -> list[str]:
    """Return what a module imports through a wall."""
    every = [Import(f"{module.replace('.', '/')}.py", name) for name in imported(source, module)]
    guarded = [one for one in every if one.leaves or not one.to[0]]
    return [f"{one.path} imports {one.name}" for one in guarded if any(wall.is_passed_by(one) for wall in WALLS)]


def modules() -> Iterator[tuple[str, str]]:
    """Yield the name below ``pipeline`` and the source of each module in a room."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.name != "__init__.py" and path.parent != PACKAGE:
            yield ".".join(path.relative_to(PACKAGE).with_suffix("").parts), path.read_text()


def arrows() -> set[tuple[str, str]]:
    """Return the imports between rooms, those in ``steps``, ``commands`` and ``extras`` each for itself."""
    found = (
        Import(f"{module.replace('.', '/')}.py", name)
        for module, source in modules()
        for name in imported(source, module)
    )
    counted = (one for one in found if one.leaves and one.name != STUDY)
    return {(_room(one.at), _room(one.to)) for one in counted if _room(one.at) != _room(one.to)}


def _room(names: list[str]) -> str:
    inner = names[0] in ("steps", "commands", "extras") and (PACKAGE / names[0] / names[1]).is_dir()
    return "/".join(names[:2]) if inner else names[0]


def _about(path: Path) -> str:
    """Return the docstring of a module as one line, of a file at the top its first paragraph."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    paragraphs = text.split("\n\n") if path.name == "__init__.py" else [text.partition("\n\n")[0]]
    return " ".join(re.sub(r":\w+:(?=`)", "", " ".join(paragraphs).replace("``", "`")).split())


def _list_of_rooms() -> str:
    files = sorted(path for path in PACKAGE.glob("*.py") if path.name != "__init__.py")
    folders = [PACKAGE / name / "__init__.py" for name in (*VERBS, *sorted(NOUNS))]
    folders += sorted((PACKAGE / "extras").glob("*/__init__.py"))
    rows = [(path.name, path) for path in files]
    rows += [(f"{path.parent.relative_to(PACKAGE)}/", path) for path in folders]
    return "| in `pipeline/` | |\n|---|---|\n" + "\n".join(f"| `{name}` | {_about(path)} |" for name, path in rows)


def _list_of_walls() -> str:
    texts = [textwrap.indent(wall.never, "   ").strip() for wall in WALLS]
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))


def _list_of_commands() -> str:
    makefile = (HOUSE / "Makefile").read_text(encoding="utf-8")
    blocks = re.findall(r"((?:^#.*\n)+)(?:^\w+ \?=.*\n)*^([\w-]+):", makefile, re.MULTILINE)
    texts = {name: " ".join(line.lstrip("# ") for line in block.splitlines()) for block, name in blocks}
    return "| command | |\n|---|---|\n" + "\n".join(f"| `make {name}` | {text} |" for name, text in texts.items())


LISTS = {"rooms": _list_of_rooms, "walls": _list_of_walls, "commands": _list_of_commands}


def with_lists(page: str) -> str:
    """Return the text of CONTRIBUTING.md with its lists as they are now."""
    for name, written in LISTS.items():
        before, begin, rest = page.partition(f"<!-- list of {name} -->\n")
        _, end, after = rest.partition(f"<!-- end of {name} -->")
        page = f"{before}{begin}\n{written()}\n\n{end}{after}"
    return page


if __name__ == "__main__":
    PAGE.write_text(with_lists(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
