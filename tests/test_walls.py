"""The walls between the rooms of pipeline/: which room may import which, and the one door of each foreign library."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.support.checkout import HOUSE
from tests.walls import LISTS, NOUNS, PACKAGE, PAGE, VERBS, arrows, faults, modules, with_lists

READS_NETCDF = {"open_dataset", "load_dataset", "open_datatree", "load_datatree", "to_netcdf"}
# fewer modules than this are part of another room, more than the most are several rooms; labels are not counted
FEWEST_MODULES, MOST_MODULES = 3, 16
LABELS = ("__init__", "declaration", "settings", "cells")  # modules that say what a step is; they compute nothing


def test_no_import_passes_a_wall() -> None:
    assert [fault for module, source in modules() for fault in faults(source, module)] == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("steps.clean.step", "from ..contacts import step"),
        ("steps.clean.step", "from ...workflow.strict_yaml import read_yaml"),
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
        ("commands.compare", "from .export import export"),
        ("commands.check.command", "from ..init.command import initialise"),
        ("commands.shared.find_recordings", "from ..run import run"),
        ("steps.read.step", "import ezc3d"),
        ("commands.show", "import jinja2"),
        ("workflow.open_study", "from ..extras.viewer import server"),
        ("workflow.open_study", "from .. import extras"),
        ("steps.kinetics.step", "import opensim"),
        ("extras.viewer.answers", "from ...commands.show import show_in_terminal"),
        ("extras.viewer.answers", "from ...demo.study import write_new_study"),
        ("extras.viewer.answers", "from ..teaching import planar"),
        ("extras.teaching.planar", "import opensim"),
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


def test_rooms_are_of_a_fitting_size() -> None:
    folders = [path for path in PACKAGE.rglob("*") if path.is_dir() and path.name not in ("__pycache__", "templates")]
    assert {path.name for path in folders if path.parent == PACKAGE} == {*NOUNS, *VERBS}
    sizes = {path: sum(one.stem not in LABELS for one in path.glob("*.py")) for path in folders}
    assert {str(path): size for path, size in sizes.items() if size > MOST_MODULES} == {}
    inside = {path: size for path, size in sizes.items() if path.parent != PACKAGE}
    assert {str(path): size for path, size in inside.items() if size < FEWEST_MODULES} == {}


def test_rooms_import_each_other_in_no_circle() -> None:
    before: dict[str, set[str]] = {}
    for importing, imported in arrows():
        before.setdefault(importing, set()).add(imported)
    TopologicalSorter(before).prepare()  # raises CycleError


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_the_page_are_fresh(name: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page.count(f"<!-- list of {name} -->") == 1
    assert with_lists(page) == page, "run: python -m tests.walls"


def test_tests_mirror_the_rooms() -> None:
    tests = HOUSE / "tests"
    own = {path.relative_to(tests) for path in tests.rglob("test_*.py") if path.parent != tests}
    extra = {Path("campaigns"), Path("docs"), Path("odd_files"), Path("workflow/slurm")}
    assert {path.parent for path in own} - extra <= {folder.relative_to(PACKAGE) for folder in PACKAGE.rglob("*")}
