"""Moments and powers in swing against those stored in files of Plug-in Gait, by two tables of radii of gyration.

``python -m tests.campaigns swing_radii`` prints the table of docs/validation.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from pipeline.signals import splines
from tests.campaigns.labs import in_labs, set_up
from tests.campaigns.runner import Report
from tests.support.checkout import copy_study, keep_rows
from tests.support.studies.references import outputs, reference_of
from tests.support.studies.run_steps import run_study
from tests.support.studies.swing import RADII, TRUE, by_points, compared_in_swing, differences_twice, nearest_radii

LABS = ("plug_in_gait", "children", "kad_bones", "kad_fmc", "kad_sydney", "heel_in_static")
SHORT = {"labs": ("kad_fmc",), "walks": 1}
# markers in the files are filtered already, if at all: as the file's own software took them
AS_IN_THE_FILE = {"clean": {"marker_cutoff_hz": None, "force_cutoff_hz": None, "spike_m": None}}


class Row(NamedTuple):
    """A walk: its session, the radii that its swing shows, and by table the comparisons of pipeline and of points."""

    session: str
    trial: str
    shown: str
    computed: Mapping[str, Mapping[str, float]]
    by_points: Mapping[str, Mapping[str, float]]


def of_lab(shared: Path, lab: str, folder: Path, walks: int | None = None) -> Iterator[Row]:
    """Yield the walks of a lab, set up in a folder and processed without filters, with the files' differentiation.

    Args:
        walks: of each person, all by default.
    """
    source, study = shared / "studies" / lab, folder / "study"
    if source.is_dir():
        copy_study(source, study)
    else:
        set_up(shared, lab, study)
    if walks:
        keep_first_walks(study, walks)
    with patch.object(splines, "derivatives", differences_twice):
        sessions = run_study(study, AS_IN_THE_FILE)
    for name, session in sessions.items():
        for trial, steps in session.trials.items():
            path, calibration = study / steps["read"].attrs["source"], session.calibration
            reference = reference_of(path, shared, steps, mass_kg=calibration.attrs["body_mass_kg"])
            assert reference is not None
            computed = {table: compared_in_swing(steps, calibration, reference, table) for table in RADII}
            stored = outputs(path)
            points = {table: by_points(stored, steps, reference, table) for table in RADII}
            shown = nearest_radii({table: row["knee moment slope"] for table, row in computed.items()})
            yield Row(name, trial, shown, computed, points)


def keep_first_walks(study: Path, walks: int) -> None:
    """Remove the rows of further walks of each person from a study's table."""
    seen = Counter[str]()

    def is_kept(row: str) -> bool:
        seen[person := row.partition("\t")[0]] += (is_walk := "\tgait\t" in row)
        return not is_walk or seen[person] <= walks

    keep_rows(study, is_kept)


def main(report: Report, *, labs: tuple[str, ...] = LABS, walks: int | None = None) -> None:
    """Report each walk with the radii that its swing shows, in brackets Dempster's own if others."""
    joints = ("knee", "hip", "knee power", "hip power")
    report.table("walk", "radii", "knee, points alone", "hip", *joints, "H3, file and here", "K4")
    for row in in_labs(partial(of_lab, walks=walks), labs, report):
        mine, points = row.computed[row.shown], row.by_points
        cells = [_slope(points, row.shown, f"{joint} moment") for joint in ("knee", "hip")]
        cells += [
            _slope(row.computed, row.shown, f"{joint} {of}") for of in ("moment", "power") for joint in ("knee", "hip")
        ]
        for name in ("h3", "k4"):
            others = "" if row.shown == TRUE else f" ({row.computed[TRUE][f'{name} computed']:.2f})"
            cells.append(f"{mine[f'{name} stored']:.2f}, {mine[f'{name} computed']:.2f}{others}")
        known = [cell.replace("nan, nan (nan)", "-").replace("nan, nan", "-") for cell in cells]
        report.row(f"{row.session} {row.trial}", "true" if row.shown == TRUE else "proximal", *known)


def _slope(compared: Mapping[str, Mapping[str, float]], shown: str, name: str) -> str:
    """Return slope and RMS difference with the radii shown, and the slope with Dempster's own if these are others."""
    others = "" if shown == TRUE else f" ({compared[TRUE][f'{name} slope']:.2f})"
    return f"{compared[shown][f'{name} slope']:.2f}, {compared[shown][f'{name} rms']:.3f}{others}"
