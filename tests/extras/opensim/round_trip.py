"""Studies from their C3D files, and again from the TRC and MOT files that they export for OpenSim.

``python -m tests.extras.opensim.round_trip`` prints the table of docs/validation.md; names of studies after it
restrict it to these. TRC files hold no static results or angles; those in C3D files are not used.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import UserError
from pipeline.extras.opensim.export.command import export_opensim
from pipeline.json_text import object_in
from pipeline.results import netcdf
from pipeline.tables import study_tables
from pipeline.trials.session import Trial, trials_of
from tests.campaigns.labs import FOLDERS, LABS, set_up
from tests.support.checkout import DEMO, SHARED, copy_study
from tests.support.studies.small_study import run_steps

STUDIES = ("demo", *LABS, *FOLDERS)
TABLES = ("study.yaml", "segments.tsv")
LEFT_OUT = ("subject", "plates_left", "plates_right", "guessed")  # columns: no such thing in TRC and MOT files
COMPARED = {"kinematics": "joint_angle", "kinetics": "joint_moment_jcs"}  # degrees, N m
SAME_STANCE_S = 0.05


class Trip(NamedTuple):
    """A walk: largest difference of angles (degrees) and moments (N m), valid stances, and how many of them are back.

    ``angle_at`` and ``moment_at`` name time, side, joint and axis.
    """

    walk: str
    angle: float
    angle_at: str
    moment: float
    moment_at: str
    valid: int
    back: int


def prepared(name: str, folder: Path) -> Path:
    """Copy a study, or set up a lab's recordings as a user does."""
    own = DEMO if name == "demo" else SHARED / "studies" / name
    if own.is_dir():
        return copy_study(own, folder)
    set_up(SHARED, name, folder)
    return folder


def round_trip(study: Path, target: Path) -> Iterator[Trip]:
    """Run a study, export it, run what was exported, and yield the differences of each walk."""
    no_angles = patch.dict("pipeline.c3d.reader.STORED_ANGLES", clear=True)  # that show the torsion of bones
    no_centres = patch.dict("pipeline.c3d.reader.CENTRES", clear=True)  # that show the diameter of markers
    with patch("pipeline.vocabulary.stated_sizes.static_results", return_value=""), no_angles, no_centres:
        run_steps(study)
        rows = write_back(study, target)
        run_steps(target)
    for session in dict.fromkeys(row["session"] for row in rows):
        known, found = (
            {
                step: trials_of(netcdf.load(side / "derived" / session / f"{step}.nc"))
                for step in ("contacts", *COMPARED)
            }
            for side in (study, target)
        )
        for walk in found["kinetics"]:
            pair = [{step: results[step][walk] for step in results} for results in (known, found)]
            if not any("rejected" in part.attrs for results in pair for part in results.values()):
                yield compared(f"{session} {walk}", *pair)


def write_back(study: Path, target: Path) -> list[dict[str, str]]:
    """Export a computed study and write tables for the exported files; return the rows of its trials."""
    export_opensim(study, output=target)
    for name in TABLES:
        if (study / name).exists():
            shutil.copy(study / name, target)
    people = study_tables.read_participants(study / "participants.tsv")
    rows = []
    for session, trials in study_tables.read_trials(study / "trials.tsv", people).items():
        stated = object_in(netcdf.load(study / f"derived/{session}/calibrate.nc").attrs, "anthropometry")
        person = people[trials[0]["participant_id"]]
        person |= {name: f"{size:g}" for name, size in stated.items() if person.get(name, "n/a") == "n/a"}
        for row in trials:
            files = {"file": f"{session}/{'scale' if row['role'] == 'static' else row['trial']}.trc"}
            forces = f"{session}/{row['trial']}_grf.mot"
            files["forces"] = forces if (target / forces).exists() and row["role"] == "gait" else "n/a"
            if (target / files["file"]).exists():
                rows.append({name: cell for name, cell in (row | files).items() if name not in LEFT_OUT})
    write_table(target / "participants.tsv", people.values())
    write_table(target / "trials.tsv", rows)
    return rows


def write_table(path: Path, rows: Iterable[Mapping[str, str]]) -> None:
    """Write rows with the columns of all."""
    rows = [*rows]
    names = [*dict.fromkeys(name for row in rows for name in row)]
    lines = [names, *([row.get(name) or "n/a" for name in names] for row in rows)]
    path.write_text("".join("\t".join(line) + "\n" for line in lines))


def compared(walk: str, known: Mapping[str, Trial], found: Mapping[str, Trial]) -> Trip:
    """Return the differences of a walk."""
    stances = [_stances(results["contacts"]) for results in (known, found)]
    back = sum(
        any(side == a and abs(start_s - b) < SAME_STANCE_S for a, b in stances[1]) for side, start_s in stances[0]
    )
    (angle, angle_at), (moment, moment_at) = (
        largest(known[step], found[step], variable) for step, variable in COMPARED.items()
    )
    return Trip(walk, angle, angle_at, moment, moment_at, len(stances[0]), back)


def largest(known: Trial, found: Trial, variable: str) -> tuple[float, str]:
    """Return the largest difference of a variable (time, side, joint, angle), where both know it, and its place."""
    away = np.nan_to_num(np.abs(known[variable].values - found[variable].values))
    i, *others = np.unravel_index(away.argmax(), away.shape)
    names = [str(known[name].values[k]) for name, k in zip(("side", "joint", "angle"), others, strict=True)]
    return float(away.max()), f"{known['time'].values[i]:.3f} s {' '.join(names)}"


def _stances(contacts: Trial) -> list[tuple[str, float]]:
    """Return side and start (s) of the valid stances."""
    valid: NDArray[np.bool_] = contacts["valid"].values.astype(bool)
    sides, starts = (contacts[name].values[valid].tolist() for name in ("contact_side", "contact_start"))
    return [*zip(sides, starts, strict=True)]


def as_markdown(names: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a table, one for each walk."""
    yield "| study: walk | angles, degrees | moments, N m | valid stances, back |"
    yield "|---|---|---|---|"
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            try:
                trips: list[Any] = [*round_trip(prepared(name, Path(folder, "study")), Path(folder, "back"))]
            except UserError as error:
                yield f"| {name} | {error} | | |"
                continue
        for trip in trips:
            angle, moment = f"{trip.angle:.5f} ({trip.angle_at})", f"{trip.moment:.3f} ({trip.moment_at})"
            yield f"| {name}: {trip.walk} | {angle} | {moment} | {trip.valid}, {trip.back} |"


if __name__ == "__main__":
    for line in as_markdown(sys.argv[1:] or STUDIES):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
