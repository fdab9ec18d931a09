"""A whole study by this checkout and by an earlier commit, in turns on the same machine.

The files of the commit are put into a temporary folder, and measured by the code of this folder, with the same
libraries. Each figure is a ratio of the least processor time of several rounds, of all processes together.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import jobs
from benchmarks.figures import Figure
from benchmarks.generated import write_study
from benchmarks.timing import HOUSE, cost_of
from pipeline.step import steps_to

TITLE = "This checkout against an earlier commit"
MOST_TIMES_BEFORE = 1.1  # the rest allows for noise
MOST_VERSIONS, MOST_OF_COLD, LARGE = 3.0, 0.1, 20  # sessions: of fewer, one is too large a part for the goal
SETTINGS = "body_model: isb_clusters\n"
STEPS = {
    "session steps": SETTINGS,
    "session steps, method segments in both": SETTINGS + "kinematics: {method: segments}\n",
}
Costs = dict[str, dict[str, float]]  # of what is measured, of each checkout


def measure(
    against: str, sessions: int = 3, trials: int = 10, duration_s: float = 2.5, *, rounds: int = 3,
    rows: Collection[str] = (),
) -> list[Figure]:  # fmt: skip
    """Return the cost of steps, runs and commands over that of a commit.

    Args:
        rows: names in STEPS and RUNS of what is measured; none for all.
    """
    chosen, figures = {*rows} or {*STEPS, *RUNS}, list[Figure]()
    with earlier(against) as before, tempfile.TemporaryDirectory() as folder:
        houses = {against: before, "now": HOUSE}
        for house in houses.values():
            _make_ready(house)
        study, session = Path(folder) / "study", Path(folder) / "session"
        write_study(study, sessions=sessions, trials=trials, duration_s=duration_s)
        write_study(session, sessions=1, trials=trials, duration_s=duration_s)
        for what in (each for each in STEPS if each in chosen):
            costs, settings = _cost_of_steps(houses, session, STEPS[what], rounds=rounds)
            figures += [ratio(f"{what}{step}", cost, "ms a trial") for step, cost in costs.items()]
            figures.append(_changed_settings(what, *settings.values()))
        spent = _cost_of_runs(houses, study, chosen, rounds=rounds)
        figures += [ratio(f"{what}, {sessions} x {trials}", cost, "s") for what, cost in spent.items()]
        if "cold run" in spent:
            figures.append(ratio("size of derived", {name: _size_mb(study.with_name(name)) for name in houses}, "MB"))
    return figures + (_shares(spent, sessions) if spent.keys() == RUNS.keys() else [])


@contextmanager
def earlier(commit: str) -> Iterator[Path]:
    """Put the files of a commit into a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        house, packed = Path(folder) / "house", Path(folder) / "house.tar"
        subprocess.run(["git", "-C", str(HOUSE), "archive", "--output", str(packed), commit], check=True)  # noqa: S603, S607
        with tarfile.open(packed) as archive:
            archive.extractall(house, filter="data")
        yield house


def _make_ready(house: Path) -> None:
    """Compile the modules of a checkout, and see that it is this checkout that will be measured."""
    code = (
        "import compileall, pipeline; compileall.compile_dir(pipeline.__path__[0], quiet=1); print(pipeline.__file__)"
    )
    found = Path(cost_of([sys.executable, "-P", "-c", code], house=house).output.strip())
    if not found.samefile(house / "pipeline" / "__init__.py"):
        raise RuntimeError(f"{house}: its code is not measured, but {found}")


def _cost_of_steps(
    houses: Mapping[str, Path], session: Path, settings: str, *, rounds: int
) -> tuple[Costs, dict[str, Mapping[str, Any]]]:
    """Return the cost of all steps of a session and of each, ms a trial, and the study's settings, by checkout.

    The steps run twice in one process. The first time, which imports the libraries, counts only if it is faster.
    """
    least, chosen = Costs(), dict[str, Mapping[str, Any]]()
    walks = len([*session.glob("sub-0001/walk_*.c3d")])
    for _ in range(rounds):
        for name, house in houses.items():
            with tempfile.TemporaryDirectory() as folder:
                shutil.copytree(session, folder, dirs_exist_ok=True)
                (Path(folder) / "study.yaml").write_text(settings, encoding="utf-8")
                command = [sys.executable, "-P", jobs.__file__, folder, "2", ",".join(steps_to("cycles")), "sub-0001"]
                found = json.loads(cost_of(command, house=house).output)
            ms = {f": {step}": 1e3 * seconds / walks for step, seconds in found["cpu_s"].items()}
            for step, cost in ({"": sum(ms.values())} | ms).items():
                _keep_least(least, step, name, cost)
            chosen[name] = found["settings"]
    return least, chosen


def _cost_of_runs(houses: Mapping[str, Path], study: Path, rows: Collection[str], *, rounds: int) -> Costs:
    """Return the cost of each run of a study and of each command, s; their studies are left beside the study."""
    least = Costs()
    for name in houses:
        shutil.copytree(study, study.with_name(name))
    for number in range(rounds):
        for what, name in ((what, name) for what in RUNS if what in rows for name in houses):
            own, (prepare, command) = study.with_name(name), RUNS[what]
            if prepare:
                prepare(own, number)
            words = [str(own) if word == "STUDY" else word for word in command]
            _keep_least(least, what, name, cost_of([sys.executable, "-m", *words], house=houses[name]).cpu_s)
    return least


def _keep_least(least: Costs, what: str, name: str, cost: float) -> None:
    of_houses = least.setdefault(what, {})
    of_houses[name] = min(cost, of_houses.get(name, cost))
    print(f"{what or 'session steps'}, {name}: {cost:.4g}", file=sys.stderr, flush=True)  # noqa: T201


def _forget(study: Path, _: int) -> None:
    for folder in ("derived", "logs", ".snakemake"):
        shutil.rmtree(study / folder, ignore_errors=True)


def _change_a_trial(study: Path, number: int) -> None:
    shutil.copy(study / f"sub-0001/walk_{number % 2 + 2:02d}.c3d", study / "sub-0001/walk_01.c3d")


def _change_a_setting(study: Path, number: int) -> None:
    text = f"{SETTINGS}kinetics: {{gravity_m_s2: {9.8 + number / 1000}}}\n"
    (study / "study.yaml").write_text(text, encoding="utf-8")


RUN = ("pipeline", "run", "STUDY", "--cores", "2")
RUNS: Mapping[str, tuple[Callable[[Path, int], object] | None, tuple[str, ...]]] = {  # what comes before, a command
    "dry run": (_forget, (*RUN, "--dry-run")),
    "cold run": (_forget, RUN),
    "nothing to do": (None, RUN),
    "one changed trial": (_change_a_trial, RUN),
    "one changed setting of kinetics": (_change_a_setting, RUN),
    "gaitlab check": (None, ("pipeline", "check", "STUDY")),
    "gaitlab --help": (None, ("pipeline", "--help")),
    "snakemake --version, a control": (None, ("snakemake", "--version")),
}


def ratio(what: str, cost: Mapping[str, float], unit: str) -> Figure:
    """Return the cost of this checkout over that of the earlier commit."""
    (commit, before), (_, now) = cost.items()
    detail = f"{now:.3g} {unit}, {commit} {before:.3g}"
    return Figure(f"{what}, over {commit}", now / before, at_most=MOST_TIMES_BEFORE, detail=detail)


def _shares(spent: Costs, sessions: int) -> list[Figure]:
    """Return two costs of this checkout with goals of their own."""
    now = {what: cost["now"] for what, cost in spent.items()}
    nothing = now["nothing to do"] / now["snakemake --version, a control"]
    trial, goal = now["one changed trial"] / now["cold run"], MOST_OF_COLD if sessions >= LARGE else None
    return [
        Figure("nothing to do over snakemake --version, now", nothing, at_most=MOST_VERSIONS),
        Figure("one changed trial over the cold run, now", trial, at_most=goal),
    ]


def _changed_settings(what: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> Figure:
    """Return the settings of the study that both commits have and choose otherwise."""
    old, new = dict(_flat(before)), dict(_flat(now))
    words = [f"{name} {old[name]}, now {new[name]}" for name in old.keys() & new.keys() if old[name] != new[name]]
    return Figure(f"{what}: settings with another default", len(words), detail="; ".join(sorted(words)))


def _flat(settings: Mapping[str, Any], section: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{section}{name}.")
        else:
            yield section + name, value


def _size_mb(study: Path) -> float:
    return sum(file.stat().st_size for file in (study / "derived").rglob("*") if file.is_file()) / 1e6
