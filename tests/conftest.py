"""Fixtures of all tests, and the choice of the quick ones."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.c3d import parser, reader
from pipeline.c3d.integrity import Header
from pipeline.errors import UserError
from tests.support.checkout import DEMO, SHARED, copy_study, filled_once, run_two_people
from tests.support.studies.run_steps import ResultsOf, Session, run_study
from tests.support.studies.small_study import write_outputs

# What `make quick` leaves out: tests that start a process, campaigns, and the longest of the others.
# Any other test that starts a process fails there.
SLOW_FIXTURES = {"tab", "run_of_two"}  # a browser; a run of a study
SLOW = (
    "body/test_segment_angles.py::test_plug_in_gait",
    "c3d/test_integrity.py::test_no_usable_real_file",
    "c3d/test_parser_limits.py",
    "c3d/test_parser_process.py",
    "c3d/test_writer.py::test_outputs_agree",
    "campaigns/",
    "commands/test_check.py::test_help_needs_no_heavy_import",
    "commands/test_check_legs.py::test_a_static_of_another",
    "commands/test_command_line.py::test_ctrl_c_while_snakemake",
    "commands/test_explain.py",
    "commands/test_export.py",
    "commands/test_export_opensim.py",
    "commands/test_init.py",
    "commands/test_verify.py",
    "commands/test_view.py::test_the_",
    "demo/test_demo_files.py",
    "docs/test_benchmarks.py",
    "docs/test_examples.py",
    "docs/test_site.py",
    "dynamics/teaching/test_muscle_driven.py::test_work_of_the_muscles",
    "dynamics/teaching/test_pendulum.py::test_energy",
    "plates/test_baseline.py::test_no_real_walk",
    "plates/test_wrench.py::test_real_files",
    "results/test_cf.py",
    "results/test_other_languages.py",
    "steps/clean/test_label_swaps.py",
    "steps/clean/test_muscle_activity.py::test_real",
    "steps/clean/test_muscle_activity.py::test_sessions",
    "steps/contacts/test_kinematic_events.py::test_motion_alone_finds",
    "steps/contacts/test_kinematic_events.py::test_plates_and_files",
    "steps/contacts/test_one_foot.py",
    "steps/cycles/test_peaks_and_work.py::test_the_work_of_all",
    "steps/cycles/test_whole_stances.py::test_a_walk_cut",
    "steps/kinematics/test_label_check.py::test_every_pair",
    "steps/kinematics/test_label_check.py::test_real_walks",
    "steps/kinetics/test_cross_checks.py::test_formulations",
    "steps/kinetics/test_kinetics_of_sessions.py",
    "steps/read/test_equipment_trials.py",
    "steps/report/test_report.py",
    "steps/report/test_reviews.py::test_they_reach",
    "steps/study/test_normal_gait.py",
    "steps/study/test_score_references.py::test_real_people",
    "steps/test_imports.py",
    "steps/test_one_name.py::test_package_inits",
    "test_quick.py::test_a_quick_run",
    "test_wheel.py",
    "workflow/slurm/",
    "workflow/test_changed_results.py",
    "workflow/test_code_of_jobs.py",
    "workflow/test_faults.py",
    "workflow/test_hostile_files.py",
    "workflow/test_odd_places.py",
    "workflow/test_privacy.py",
    "workflow/test_progress.py",
    "workflow/test_rerun.py",
    "workflow/test_scale.py",
    "workflow/test_snakemake_versions.py",
    "workflow/test_study_in_parts.py::test_parts_of_any_size",
    "workflow/test_workers.py",
    "workflow/test_workflow.py",
)
WHOLE = tuple(name for name in SLOW if "::" not in name)
STARTS = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.exec", "os.startfile")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of ``make quick``."""
    parser.addoption("--quick", action="store_true", help="only tests that start no process and do not take long")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import slow modules in a quick run; some need more than others, or Linux."""
    place = collection_path.relative_to(Path(__file__).parent).as_posix() if collection_path.is_file() else ""
    return True if config.getoption("--quick") and place.startswith(WHOLE) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out slow tests of other modules in a quick run; begin any other run with them, so that none ends late."""
    items.sort(key=lambda item: not is_slow(item))
    if config.getoption("--quick"):
        slow = [item for item in items if is_slow(item)]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in slow]


def is_slow(item: pytest.Item) -> bool:
    """Return whether ``make quick`` leaves a test out."""
    uses_slow = SLOW_FIXTURES & {*getattr(item, "fixturenames", ())}
    return bool(uses_slow) or item.nodeid.removeprefix("tests/").startswith(SLOW)


@pytest.fixture(scope="session", autouse=True)
def no_process_if_quick(pytestconfig: pytest.Config) -> Iterator[None]:
    """Refuse to start a process in a quick run; C3D files are parsed in this one."""
    if not pytestconfig.getoption("--quick"):
        yield
        return
    at_work = [True]

    def refuse(event: str, _: object) -> None:
        if at_work and event in STARTS:
            raise AssertionError("a quick test starts a process; list it in SLOW of tests/conftest.py")

    sys.addaudithook(refuse)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "parse", parse_here)
        patch.setattr(reader, "parse_ahead", lambda *_: None)
        yield
    at_work.clear()


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
def run_of_two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of :func:`run_two_people`, filled once for all processes of a test run; to read only."""
    return filled_once(tmp_path_factory, "run_of_two", run_two_people)


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
