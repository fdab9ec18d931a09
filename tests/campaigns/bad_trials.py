"""Studies with bad trials among good ones: the good ones give the same results, the bad ones a reason.

``python -m tests.campaigns bad_trials`` runs 100 trials without, and with 1, 10 and 50 bad ones; its short form ten
trials, seven of them bad. The steps run in this process, with the files and checks of the workflow.
"""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import ezc3d
import numpy as np
import xarray as xr

from pipeline.results import netcdf
from pipeline.variables.metrics import SCORES
from pipeline.variables.stance_verdicts import REFUSED, USED
from tests.campaigns.runner import Report
from tests.support.checkout import HOUSE
from tests.support.studies.for_report import Page
from tests.support.studies.small_study import run_steps

DEMO = HOUSE / "data" / "demo"
WALK = "fast_01"
SHORT = {"sessions": 2, "trials": 5, "bad": (7,)}
Trial = tuple[str, str]  # session and trial


def rewritten(path: Path, change: Callable[[Any], object]) -> None:
    """Change the content of a C3D file as ezc3d reads it."""
    content = ezc3d.c3d(str(path))
    change(content)
    path.unlink()
    content.write(str(path))


def _without_shank(content: Any) -> None:
    labels = content["parameters"]["POINT"]["LABELS"]
    labels["value"] = [f"X{i}" if label[1:].startswith("SK") else label for i, label in enumerate(labels["value"])]


def _without_plates(content: Any) -> None:
    content["parameters"]["FORCE_PLATFORM"]["USED"]["value"] = [0]


def _unseen(content: Any) -> None:
    content["data"]["points"][:] = np.nan


BAD: dict[str, tuple[Callable[[Path], object], str]] = {  # change of the file, and a word of the reason
    "cut off": (lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]), "cut off"),
    "not C3D": (lambda path: path.write_text("time,force\n0,1\n" * 100), "not a C3D file"),
    "absent": (lambda path: path.unlink(), "no such file"),
    "empty": (lambda path: path.write_bytes(b""), "not a C3D file"),
    "no markers of the shanks": (lambda path: rewritten(path, _without_shank), "shank"),
    "no plates": (lambda path: rewritten(path, _without_plates), "plate"),
    "markers never seen": (lambda path: rewritten(path, _unseen), "seen"),
}


OF_THE_SESSION = ("reference_speed", *SCORES)


class Judged(NamedTuple):
    """Number of good trials with the same results, of bad ones with a reason; errors."""

    same: int
    explained: int
    wrong: list[str]


def write_study(folder: Path, *, sessions: int, trials: int) -> Path:
    """Write a study with copies of one walk and return its folder."""
    rows = []
    for session in (f"s{number + 1}" for number in range(sessions)):
        (folder / session).mkdir(parents=True)
        shutil.copy(DEMO / "sub-01/static.c3d", folder / session)
        rows.append(("sub-01", session, "static", f"{session}/static.c3d", "static", "static"))
        for trial in (f"walk_{number + 1:02d}" for number in range(trials)):
            shutil.copy(DEMO / f"sub-01/{WALK}.c3d", folder / session / f"{trial}.c3d")
            rows.append(("sub-01", session, trial, f"{session}/{trial}.c3d", "gait", "fast"))
    for name in ("study.yaml", "participants.tsv", "segments.tsv"):
        shutil.copy(DEMO / name, folder)
    header = ("participant_id", "session", "trial", "file", "role", "condition")
    (folder / "trials.tsv").write_text("".join("\t".join(row) + "\n" for row in (header, *rows)))
    return folder


def spoil(study: Path, count: int, *, seed: int) -> dict[Trial, str]:
    """Make some walks of a study bad, each kind in turn, and return their kinds."""
    walks = sorted(study.glob("*/walk_*.c3d"))
    chosen = np.random.default_rng(seed).choice(len(walks), count, replace=False)
    kinds = {walks[place]: [*BAD][number % len(BAD)] for number, place in enumerate(chosen)}
    for path, kind in kinds.items():
        BAD[kind][0](path)
    return {(path.parent.name, path.stem): kind for path, kind in kinds.items()}


def results(study: Path) -> tuple[xr.Dataset, dict[Trial, list[dict[str, str]]], str]:
    """Run a study; return its cycles, its rows of quality.csv by trial, and the report's text."""
    run_steps(study, report=True)
    quality: dict[Trial, list[dict[str, str]]] = {}
    with (study / "derived/quality.csv").open(encoding="utf-8", newline="") as handle:
        for row in csv.DictReader(handle):
            quality.setdefault((row["session"], row["trial"]), []).append(row)
    pages = [study / "derived/report.html", *(study / "derived/report").glob("*.html")]
    words = " ".join(Page(page.read_text(encoding="utf-8")).words for page in pages)
    return netcdf.load(study / "derived/study.nc"), quality, " ".join(words.split())


def cycles_of(study: xr.Dataset, trial: Trial) -> xr.Dataset:
    """Return the cycles and stances of a trial, without numbers and what depends on the session's speed."""
    own = {
        row: (study[session].values == trial[0]) & (study[name].values == trial[1])
        for row, session, name in (("cycle", "session", "trial"), ("stance", "session_of_stance", "trial_of_stance"))
    }
    return study.isel(own).drop_vars([*OF_THE_SESSION, "cycle", "stance", "cycle_of_stance"], errors="ignore")


def judged(clean: Any, spoilt: Any, bad: dict[Trial, str]) -> Judged:
    """Compare the results of a study with those before some of its trials were spoilt."""
    (before, quality_before, _), (after, quality, words) = clean, spoilt
    same, explained, wrong = 0, 0, []
    for trial, expected in quality_before.items():
        rows = quality.get(trial, [])
        if trial not in bad:
            alike = rows == expected and cycles_of(after, trial).equals(cycles_of(before, trial))
            same += alike
            wrong += [] if alike else [f"{trial}: good, but with other results"]
            continue
        reasons = {row["reason"] for row in rows if row["verdict"] != USED}
        used = [row for row in rows if row["verdict"] == USED]
        shown = all(row["reason"] in words for row in rows if row["verdict"] == REFUSED)
        good = any(BAD[bad[trial]][1] in reason for reason in reasons) and all(reasons) and not used and shown
        explained += good
        wrong += [] if good else [f"{trial}: {bad[trial]}: {reasons}, {len(used)} stances used, in the report: {shown}"]
    return Judged(same, explained, wrong)


def main(report: Report, *, sessions: int = 5, trials: int = 20, bad: tuple[int, ...] = (1, 10, 50)) -> None:
    """Report the good and the bad trials for each number of bad ones."""
    clean = results(write_study(report.new_folder(), sessions=sessions, trials=trials))
    report.table("bad", "good, with the same numbers", "bad, with a reason")
    for count in bad:
        study = write_study(report.new_folder(), sessions=sessions, trials=trials)
        spoilt = spoil(study, count, seed=count)
        found = judged(clean, results(study), spoilt)
        good = sessions * trials - count
        report.row(f"{count} of {good + count}", f"{found.same} of {good}", f"{found.explained} of {count}")
        report.allow(0, found.wrong, good + count, "trials that are not as they should be")
        report.allow(0, good - found.same, good, "good trials with other results")
        report.allow(0, count - found.explained, count, "bad trials without a reason")
        shutil.rmtree(study)
