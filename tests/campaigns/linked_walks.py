"""Walks of many labs by the linked legs, beside segments by themselves.

``python -m tests.campaigns.linked_walks [LAB ...]`` prints the table of docs/validation.md.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.errors import UserError
from tests.campaigns.labs import BY_HAND, FOLDERS, LABS, choose_body_model, set_up, walks
from tests.support.checkout import SHARED
from tests.support.settings import settings_of
from tests.support.steps import clean, kinematics
from tests.support.studies.references import JOINTS

Array = NDArray[np.float64]


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


def as_markdown(rows: list[Fitted]) -> str:
    """Return the walks as a table."""
    lines = [
        "| lab: file | body model | legs shown, lost, gained (frames) | residual, mm: RMS, 95 %, largest "
        "| flexion of ankle, knee, hip against segments, degrees |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        residual, flexion = (", ".join(f"{value:.1f}" for value in part) for part in (row.residual_mm, row.flexion))
        legs = f"{row.shown}, {row.lost}, {row.gained}"
        lines.append(f"| {row.lab}: {row.file} | {row.body_model} | {legs} | {residual} | {flexion} |")
    return "\n".join(lines)


if __name__ == "__main__":
    found: list[Fitted] = []
    for lab in sys.argv[1:] or LABS | FOLDERS:
        with tempfile.TemporaryDirectory() as place:
            try:
                found += of_lab(SHARED, lab, Path(place))
            except UserError as error:
                sys.stderr.write(f"{lab}: {error}\n")
    sys.stdout.write(as_markdown(found) + "\n")
