"""Fixtures of all tests, and the choice of the quick ones."""

from __future__ import annotations

import os

# Before NumPy is imported, and as in the processes of jobs: two threads of a small matrix mostly wait for each other,
# which doubles the processor time of some tests.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import gc
import pickle
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.c3d import parser, reader
from pipeline.c3d.integrity import Header
from pipeline.errors import UserError
from tests.campaigns.labs import set_up
from tests.recorded_times import STARTS, Recorder, is_slow, module_of, recorded
from tests.support.checkout import DEMO, SHARED, copy_study, filled_once, run_two_people
from tests.support.studies.run_steps import ResultsOf, ResultsOfLab, Session, run_study
from tests.support.studies.small_study import write_outputs, write_report

RECORDED = recorded()
WITH_SLOW = {module_of(name) for name in RECORDED}
gc.set_threshold(100_000)  # most of what is made lives long, the tests before all


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of ``make quick``, of ``make test`` after it, and of ``make times``."""
    parser.addoption("--quick", action="store_true", help="only tests that start no process and do not take long")
    parser.addoption("--slow", action="store_true", help="only tests that --quick leaves out")
    parser.addoption("--record-times", action="store_true", help="write what is slow into tests/slow_tests.tsv")


def pytest_configure(config: pytest.Config) -> None:
    """Measure each test, if asked to."""
    if config.getoption("--record-times"):
        config.pluginmanager.register(Recorder())


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import slow modules in a quick run, as some need more than others, or Linux; nor quick ones else."""
    place = collection_path.relative_to(Path(__file__).parent).as_posix()
    has_none = collection_path.suffix == ".py" and place not in WITH_SLOW
    return (config.getoption("--quick") and place in RECORDED) or (config.getoption("--slow") and has_none) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what was not asked for; begin a run of all tests with the slow ones, so that none ends late."""
    slow = [item for item in items if is_slow(item.nodeid, RECORDED)]
    quick = [item for item in items if not is_slow(item.nodeid, RECORDED)]
    for option, left_out in (("--quick", slow), ("--slow", quick)):
        if config.getoption(option):
            config.hook.pytest_deselected(items=left_out[:])
            left_out.clear()
    items[:] = [*slow, *quick]


def pytest_collection_finish() -> None:
    """Spare what is imported and collected by now, which stays, the search for garbage."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def no_process_if_quick(pytestconfig: pytest.Config) -> Iterator[None]:
    """Refuse to start a process in a quick run; C3D files are parsed in this one."""
    if not pytestconfig.getoption("--quick"):
        yield
        return
    at_work = [True]

    def refuse(event: str, _: object) -> None:
        if at_work and event in STARTS:
            raise AssertionError("a quick test starts a process; record it: make times TESTS=its module")

    sys.addaudithook(refuse)
    with pytest.MonkeyPatch.context() as patch:
        parse_all_here(patch)
        yield
    at_work.clear()


@pytest.fixture
def parsed_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parse sound C3D files in this process, in tests that have thousands of them and look at names."""
    parse_all_here(monkeypatch)


def parse_all_here(patch: pytest.MonkeyPatch) -> None:
    """Let C3D files be parsed without a child process."""
    patch.setattr(reader, "parse", parse_here)
    patch.setattr(reader, "parse_ahead", lambda *_: None)


def parse_here(path: Path, header: Header) -> Any:
    """Parse a C3D file without a child process."""
    try:
        return parser.content(str(path.absolute()), tuple(header) if header.needs_rewriting else None)
    except Exception as error:
        raise UserError(str(path), f"not readable as C3D ({parser._message(error)})", "export it again") from None


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder with real recordings, next to the project."""
    if not (SHARED / "studies").is_dir():
        pytest.skip(f"real recordings are not at {SHARED}")
    return SHARED


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """Return a copy of the demonstration study."""
    return copy_study(DEMO, tmp_path / "demo")


@pytest.fixture(scope="session")
def small_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the small study in data/demo, written once for all processes of a test run; to read only."""
    return filled_once(tmp_path_factory, "small_study", write_outputs)


@pytest.fixture(scope="session")
def reported_study(small_study: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the small study with its report, written once for all processes of a test run; to read only."""

    def fill(folder: Path) -> None:
        write_report(Path(shutil.copytree(small_study / "data" / "demo", folder / "study")))

    return filled_once(tmp_path_factory, "reported_study", fill) / "study"


@pytest.fixture(scope="session")
def run_of_two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of :func:`run_two_people`, filled once for all processes of a test run; to read only."""
    return filled_once(tmp_path_factory, "run_of_two", run_two_people)


@pytest.fixture
def finished(run_of_two: Path) -> Path:
    """Return the study of :func:`run_two_people` after its run; to read only."""
    return run_of_two / "data" / "demo"


@pytest.fixture
def study(finished: Path, tmp_path: Path) -> Path:
    """Return a copy of the finished study, of a module's own one if it has any, with its records, to change."""
    return Path(shutil.copytree(finished, tmp_path / "study"))


@pytest.fixture(scope="session")
def labs(shared: Path) -> Path:
    """Return the folder with real recordings, of which those of other laboratories are there."""
    if not (shared / "labs").is_dir():
        pytest.skip("the recordings of other labs are absent")
    return shared


@pytest.fixture(scope="session")
def results_of(tmp_path_factory: pytest.TempPathFactory) -> ResultsOf:
    """Return a function that gives the results of a study, which one of the processes of a test run computes."""

    def results(study: Path) -> dict[str, Session]:
        def fill(folder: Path) -> None:
            (folder / "sessions").write_bytes(pickle.dumps(run_study(study, {})))

        folder = filled_once(tmp_path_factory, f"results_of_{study.name}", fill)
        sessions: dict[str, Session] = pickle.loads((folder / "sessions").read_bytes())  # noqa: S301
        return sessions

    return results


@pytest.fixture(scope="session")
def results_of_lab(labs: Path, results_of: ResultsOf, tmp_path_factory: pytest.TempPathFactory) -> ResultsOfLab:
    """Return a function that gives the study of a lab and its results, which one process of a test run computes."""

    def results(lab: str) -> tuple[Path, dict[str, Session]]:
        study = filled_once(tmp_path_factory, lab, lambda folder: set_up(labs, lab, folder))
        return study, results_of(study)

    return results
