"""The walls between the rooms of pipeline/: which room may import which, and the one door of each foreign library."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.checkout import HOUSE

PACKAGE = HOUSE / "pipeline"
NOUNS = {
    *("vocabulary", "c3d", "opensim_files", "plates", "body", "person", "dynamics", "signals", "tables"),
    *("trials", "variables", "results", "uncertainty", "whole_body"),
}
ROOMS = NOUNS | {"steps", "workflow", "commands", "demo", "extras"}
ARROWS_BETWEEN_NOUNS = {
    *(("body", "dynamics"), ("signals", "dynamics")),
    *(("c3d", "vocabulary"), ("opensim_files", "vocabulary")),
    *(("variables", "tables"), ("variables", "trials")),
    *(("results", "tables"), ("results", "trials"), ("results", "variables")),
    *(("plates", "dynamics"), ("plates", "signals")),
    *(("uncertainty", "body"), ("uncertainty", "dynamics"), ("uncertainty", "signals")),
    *(("uncertainty", "trials"), ("uncertainty", "variables")),
    *(("whole_body", "body"), ("whole_body", "dynamics")),
    *(("person", "plates"), ("person", "body"), ("person", "signals"), ("person", "tables")),
}
DOORS = {
    "snakemake": ("workflow/",),
    "netCDF4": ("results/",),
    "ezc3d": ("c3d/", "demo/recording.py"),
    "plotly": ("steps/report/",),
    "jinja2": ("steps/report/",),
    "viser": ("extras/viewer/",),
    "websockets": ("extras/viewer/",),
    "opensim": ("steps/muscles/",),
}
READS_NETCDF = {"open_dataset", "load_dataset", "open_datatree", "load_datatree", "to_netcdf"}
MOST_MODULES = 12
LABELS = ("__init__", "declaration", "settings", "cells")  # modules that say what a step is; they compute nothing
STUDY = "pipeline.workflow.job_keys.Study"  # of which the cells of a step's key are, for the type checker alone


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
    room, inner, *_ = [*module.split("."), ""]
    path = module.replace(".", "/") + ".py"
    found = []
    for name in imported(source, module):
        top, other, *rest = [*name.split("."), "", ""]
        if top != "pipeline":
            allowed = path.startswith(DOORS.get(top, ("",)))
        elif other not in ROOMS or other == room not in ("steps", "commands", "extras"):
            allowed = True
        elif "extras" in (room, other):
            theirs = rest[0] in (inner, "shared") if other in ("extras", "commands") else other != "demo"
            allowed = room == "extras" and theirs
        elif room in NOUNS:
            allowed = (room, other) in ARROWS_BETWEEN_NOUNS
        elif room == "steps":
            allowed = rest[0] == inner if other == "steps" else other in NOUNS
            allowed |= path.endswith("/cells.py") and name == STUDY
        elif room == "workflow":
            allowed = other != "commands"
        elif room == other == "commands":
            allowed = rest[0] in (inner, "shared")
        else:
            allowed = room == "commands" or other == "variables"  # the demo's group of people is a study.nc
        if not allowed:
            found.append(f"{path} imports {name}")
    return found


def modules() -> Iterator[tuple[str, str]]:
    """Yield the name below ``pipeline`` and the source of each module in a room."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.name != "__init__.py" and path.parent != PACKAGE:
            yield ".".join(path.relative_to(PACKAGE).with_suffix("").parts), path.read_text()


def test_no_import_passes_a_wall() -> None:
    assert [fault for module, source in modules() for fault in faults(source, module)] == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("steps.clean.step", "from ..contacts import step"),
        ("steps.clean.step", "from ...workflow.settings import read_yaml"),
        ("steps.kinetics.step", "from ...extras.teaching.planar import Links"),
        ("steps.report.step", "from ...demo.group import group"),
        ("body.legs", "from ..signals import filters"),
        ("results.netcdf", "from ..steps.read.step import read"),
        ("vocabulary.event_names", "from ..c3d.reader import Event"),
        ("trials.session", "from ..results import netcdf"),
        ("variables.metrics", "from ..results.averages import average"),
        ("tables.tsv", "def late():\n    from ..body import conventions"),
        ("dynamics.limb", "from ..body.conventions import SIDES"),
        ("workflow.settings", "from ..commands.check.command import check"),
        ("demo.walk", "from ..dynamics.limb import Limb"),
        ("commands.export", "import netCDF4"),
        ("commands.verify", "from .export import export"),
        ("commands.check.command", "from ..init.command import initialise"),
        ("commands.shared.find_recordings", "from ..run import run"),
        ("steps.read.step", "import ezc3d"),
        ("commands.show", "import viser"),
        ("workflow.open_study", "from ..extras.viewer import server"),
        ("workflow.open_study", "from .. import extras"),
        ("commands.opensim.command", "import opensim"),
        ("extras.viewer.app", "from ...commands.show import show_in_terminal"),
        ("extras.viewer.app", "from ...demo.study import write_new_study"),
        ("extras.viewer.app", "from ..teaching import planar"),
        ("extras.teaching.planar", "import viser"),
        ("commands.show", "import plotly.graph_objects"),
        ("results.netcdf", "from snakemake.io import Namedlist"),
    ],
)
def test_an_import_through_a_wall_is_found(module: str, line: str) -> None:
    assert len(faults(f"import numpy\n{line}\n", module)) == 1


def test_only_results_opens_netcdf() -> None:
    """The demo writes its own truth."""
    for module, source in modules():
        called = {node.attr for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)}
        assert module.startswith(("results.", "demo.")) or not called & READS_NETCDF, module


def test_rooms_are_few_and_small() -> None:
    folders = [path for path in PACKAGE.rglob("*") if path.is_dir() and path.name != "__pycache__"]
    assert {path.name for path in folders if path.parent == PACKAGE} == ROOMS
    sizes = {folder: sum(path.stem not in LABELS for path in folder.glob("*.py")) for folder in folders}
    assert {str(folder): size for folder, size in sizes.items() if size > MOST_MODULES} == {}


def test_tests_mirror_the_rooms() -> None:
    tests = HOUSE / "tests"
    own = {path.relative_to(tests) for path in tests.rglob("test_*.py") if path.parent != tests}
    extra = {Path("campaigns"), Path("docs"), Path("odd_files"), Path("workflow/slurm")}
    assert {path.parent for path in own} - extra <= {folder.relative_to(PACKAGE) for folder in PACKAGE.rglob("*")}
