"""Walks of many labs by the linked legs, beside segments by themselves.

``python -m tests.campaigns linked_walks`` prints the table of docs/validation.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from tests.campaigns.labs import ALL_LABS, BY_HAND, choose_body_model, in_labs, set_up, walks
from tests.campaigns.runner import Report
from tests.support.settings import settings_of
from tests.support.steps import clean, kinematics
from tests.support.studies.references import JOINTS

Array = NDArray[np.float64]

# clusters, the knee alignment device without a heel marker, stored joint centres, wands
SHORT = {"labs": ("gait2354", "kad_fmc", "cortex", "sample10 2a, 4a")}
# skin moves thigh markers by 10 to 30 mm, others by less (Peters et al. 2010, Gait Posture 31:1-8)
RMS_MM, MOST_MM, FLEXION_DEG = 10, 20, 5


class Fitted(NamedTuple):
    """A walk by the linked legs.

    Attributes:
        lab, file, body_model: lab, file and body model.
        shown: number of legs, over the frames, that segments by themselves pose from foot to pelvis.
        lost: number of these that the linked legs do not pose.
        gained: number of legs that only the linked legs pose.
        residual_mm: root mean square of all markers, their 95th percentile and the largest.
        flexion: RMS difference of ankle, knee and hip flexion from segments by themselves, degrees.
    """

    lab: str
    file: str
    body_model: str
    shown: int
    lost: int
    gained: int
    residual_mm: tuple[float, float, float]
    flexion: tuple[float, ...]


def of_lab(shared: Path, lab: str, folder: Path) -> Iterator[Fitted]:
    """Yield the walks of a lab, set up in a folder; those that cannot be used or calibrated are left out."""
    set_up(shared, lab, folder)
    if lab in BY_HAND:
        choose_body_model(folder, BY_HAND[lab])
    for file, trial, calibration, model, chosen in walks(folder):
        if isinstance(calibration, str) or "rejected" in trial.attrs:
            continue
        cleaned = clean(trial, body_model=model, settings=settings_of("clean", **chosen["clean"]))
        both = {
            method: kinematics(
                cleaned,
                calibration,
                body_model=model,
                settings=settings_of("kinematics", **chosen["kinematics"] | {"method": method}),
            )
            for method in ("segments", "linked")
        }
        yield fitted(lab, file.name, model.name, both["segments"], both["linked"])


def fitted(lab: str, file: str, body_model: str, segments: xr.Dataset, linked: xr.Dataset) -> Fitted:
    """Return how the linked legs compare with segments by themselves."""
    apart, joined = (np.isfinite(each.rotation.values).all(axis=(2, 3, 4)) for each in (segments, linked))
    residual = 1000 * linked.marker_residual.values
    off = (linked.joint_angle - segments.joint_angle).sel(joint=list(JOINTS), angle="flexion").values
    return Fitted(
        lab,
        file,
        body_model,
        int(apart.sum()),
        int((apart & ~joined).sum()),
        int((joined & ~apart).sum()),
        (float(np.sqrt(np.nanmean(residual**2))), float(np.nanpercentile(residual, 95)), float(np.nanmax(residual))),
        tuple(np.sqrt(np.nanmean(off**2, axis=(0, 1))).tolist()),
    )


def main(report: Report, *, labs: tuple[str, ...] = ALL_LABS) -> None:
    """Report each walk."""
    report.table(
        "lab: file", "body model", "legs shown, lost, gained (frames)", "residual, mm: RMS, 95 %, largest",
        "flexion of ankle, knee, hip against segments, degrees",
    )  # fmt: skip
    rows = [*in_labs(of_lab, labs, report)]
    for row in rows:
        residual, flexion = (", ".join(f"{value:.1f}" for value in part) for part in (row.residual_mm, row.flexion))
        legs = f"{row.shown}, {row.lost}, {row.gained}"
        report.row(f"{row.lab}: {row.file}", row.body_model, legs, residual, flexion)
    for what, wrong in {
        "without a leg that segments show": [row for row in rows if row.lost or not row.shown],
        "with residuals that skin does not explain": [
            row for row in rows if row.residual_mm[0] >= RMS_MM or row.residual_mm[1] >= MOST_MM
        ],
        "with other flexion": [row for row in rows if max(row.flexion) >= FLEXION_DEG],
    }.items():
        report.allow(0, wrong, len(rows), f"walks {what}")
