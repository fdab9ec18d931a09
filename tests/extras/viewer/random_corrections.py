"""Random corrections of the demonstration study, valid and not: each is applied, or refused with where, what, remedy.

python -m tests.extras.viewer.random_corrections 200
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import xarray as xr

from pipeline.extras.viewer.preview import Previews
from pipeline.results import netcdf
from pipeline.tables.corrections import COLUMNS, KINDS, WHY, as_text, corrections_of, in_results
from pipeline.trials.session import one_trial
from pipeline.workflow.job_keys import Study
from pipeline.workflow.open_study import open_study
from tests.support.studies.small_study import write_outputs

SESSION = "sub-01"
WORDS = {  # what a careless hand writes into a column
    "session": (SESSION, "sub-O1", ""),
    "kind": (*KINDS, "accept", ""),
    "side": ("left", "right", "Left", "both", ""),
    "reason": ("seen on video", 'he said: "no"; twice', "", "ü\t\n"),
    "given": ("", "1", "1 2", "9", "2;3", "RHEE", "LHEE, RHEE", "RSK1,RSK2", "no such, RHEE"),
}


def draw(rng: np.random.Generator, trials: Mapping[str, xr.Dataset]) -> dict[str, str]:
    """Return a row: mostly one that could be right, at an event or start of a stance, with a careless cell or two."""
    kind, trial = str(rng.choice([*KINDS])), str(rng.choice([*trials]))
    data, needs = trials[trial], KINDS[kind].needs
    about_events = kind.endswith(("_strike", "_off"))
    events = data.event.values == kind.partition("_")[2] if about_events else data.event.values != ""
    i = int(rng.choice(np.flatnonzero(events)))
    sides, times = (data.event_side.values, data.event_time.values)
    if not about_events and "side" in needs:
        sides, times = data.contact_side.values, data.contact_start.values
        i = int(rng.integers(len(times)))
    far_s = float(rng.choice([0, 0.02, -0.04, 0.3, 5], p=[0.4, 0.25, 0.15, 0.1, 0.1]))
    row = dict.fromkeys(COLUMNS, "") | {"session": SESSION, "trial": trial, "kind": kind, "reason": "seen on video"}
    row["time_s"] = f"{times[i] + far_s:.3f}"
    row["side"] = str(sides[i]) if "side" in needs else ""
    row["to_s"] = f"{times[i] + float(rng.choice([0.02, -0.02, 0.1, 1.5])):.3f}" if "to_s" in needs else ""
    markers = {"hide_marker": "RHEE", "exchange_labels": str(rng.choice(["LHEE, RHEE", "RSK1,RSK2"]))}
    row["given"] = markers.get(kind, str(rng.integers(1, 4))) if "given" in needs else ""
    for name in rng.choice([*WORDS], size=int(rng.choice([0, 1, 2], p=[0.7, 0.2, 0.1]))):
        row[str(name)] = str(rng.choice(WORDS[str(name)]))
    return row


def outcome(study: Study, row: Mapping[str, str], before: Mapping[str, xr.Dataset], folder: Path) -> str:
    """Return whether a row is applied, refused by the table or by a step; AssertionError if it is neither."""
    path = folder / "corrections.tsv"
    path.write_text(as_text([row]))
    rows, problems = corrections_of(path, study.sessions)
    if problems:
        assert all(one.where and one.what and one.remedy for one in problems), problems
        return "refused by the table"
    steps = Previews().preview(replace(study, corrections=rows), SESSION)
    assert steps, row
    last = one_trial(steps["cycles"], row["trial"])
    _, unfit = in_results(data.attrs for data in steps.values())
    if unfit:
        assert "; " in unfit[0][WHY], unfit
        xr.testing.assert_equal(steps["cycles"], before["cycles"])
        return "refused by a step"
    if "rejected" in last.attrs:
        why = last.attrs["rejected"]
        assert KINDS[row["kind"]].step == "clean", why
        return "applied, and the trial refused"
    changed = [
        name
        for name, data in steps.items()
        if "trial" in data.dims and not data.identical(before[name].assign_attrs(data.attrs))
    ]
    # a gift may confirm what is found, and labels that are exchanged by hand may be exchanged back by the program
    assert "cycles" in changed or KINDS[row["kind"]].step == "clean" or row["kind"] == "give_contact", row
    for name in {"clean", "kinematics"} & steps.keys():  # of which no other trial depends on this one
        for other in (trial for trial in study_trials(study) if trial != row["trial"]):
            xr.testing.assert_equal(*(one_trial(data[name], other) for data in (steps, before)))
    return "applied"


def study_trials(study: Study) -> list[str]:
    return [row["trial"] for row in study.sessions[SESSION] if row["role"] == "gait" and row["trial"] != "gone"]


def campaign(path: Path, folder: Path, count: int, *, seed: int) -> Counter[tuple[str, str]]:
    """Return how many of some random corrections of a finished study had each outcome, by kind.

    Args:
        folder: for the corrections.
    """
    study = open_study(path)
    before = {file.stem: netcdf.load(file) for file in (path / "derived" / SESSION).glob("*.nc")}
    trials = {name: one_trial(before["contacts"], name) for name in study_trials(study)}
    rng = np.random.default_rng(seed)
    rows = [draw(rng, trials) for _ in range(count)]
    return Counter((row["kind"], outcome(study, row, before, folder)) for row in rows)


if __name__ == "__main__":
    with TemporaryDirectory() as name:
        for (kind, what), number in sorted(
            campaign(write_outputs(Path(name)), Path(name), int(sys.argv[1]), seed=31).items()
        ):
            sys.stdout.write(f"{kind:20} {what:22} {number}\n")
