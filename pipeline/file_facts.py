"""What one C3D file tells about itself, as far as a study can be judged by it before it is run."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline import needs, read
from pipeline.body_model import SIDES, Points, positions
from pipeline.c3d import Recording
from pipeline.errors import UserError
from pipeline.lab_axes import to_isb
from pipeline.plate_contacts import over_plates

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Facts:
    """What the checks need of a file.

    Attributes:
        labels: marker labels.
        seen: landmarks of the study's body model that are seen at least once.
        extent_m: how far the markers travel, see :func:`pipeline.needs.extent_m`.
        marker_rate_hz, force_rate_hz: samples per second; 0 where there are no analog channels.
        heading_problem: why up or forward cannot be told, or empty.
        plate_count: plates that can be decoded.
        plate_problems: what is wrong with the others.
        weight_n: vertical force under both feet of a person standing on plates, else NaN.
        sizes: anthropometry that the file states, kg and m, by participants.tsv column.
        may_name_a_person: whether SUBJECTS:NAMES looks like a name rather than a code.
    """

    labels: list[str]
    seen: frozenset[str]
    extent_m: float
    marker_rate_hz: float
    force_rate_hz: float
    heading_problem: str
    plate_count: int
    plate_problems: list[str]
    weight_n: float
    sizes: Mapping[str, float]
    may_name_a_person: bool


def facts_of(recording: Recording, body_model: Mapping[str, Any]) -> Facts:
    """Return the facts of a file; body_model may be empty where the study's own cannot be read."""
    points = positions(body_model, recording.labels, recording.markers) if body_model else {}
    heading_problem, rotation = "", np.eye(3)
    try:
        rotation = to_isb(points, quarter_turn=True)[0]
    except UserError as error:
        heading_problem = str(error)
    force, _, corners, _, plate_problems = read.plate_wrenches(recording, rotation)
    extent_m = needs.extent_m(recording.markers)
    stands = extent_m < needs.STANDING_M and not heading_problem
    return Facts(
        labels=recording.labels,
        seen=frozenset(points),
        extent_m=extent_m,
        marker_rate_hz=recording.marker_rate_hz,
        force_rate_hz=recording.analog_rate_hz,
        heading_problem=heading_problem,
        plate_count=len(corners),
        plate_problems=plate_problems,
        weight_n=weight_n(points, rotation, force, corners) if stands else float("nan"),
        sizes=read.anthropometry(recording.processing),
        may_name_a_person=any(looks_like_a_name(text) for text in recording.subject_names),
    )


def weight_n(points: Points, rotation: Array, force: Array, corners: Array) -> float:
    """Return the vertical force under a person who stands with both feet on plates, N; NaN where one does not.

    Args:
        points: landmarks (time, 3), file axes, m.
        rotation: (3, 3) from file axes to ISB lab axes.
        force: (sample, plate, 3), lab axes.
        corners: (plate, 4, 3), lab axes, m.
    """
    names = [f"{name}_{side}" for name in ("heel", "toe") for side in SIDES]
    if not len(corners) or not points.keys() >= set(names):
        return float("nan")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a marker never seen is NaN, and so on no plate
        feet = np.stack([np.nanmedian(points[name] @ rotation.T, axis=0) for name in names])
    under = np.stack([over_plates(feet, corners[[plate]], 0.0) for plate in range(len(corners))])
    if not under.any(axis=0).all():
        return float("nan")
    return float(np.median(force[:, under.any(axis=1), 1].sum(axis=1)))


def looks_like_a_name(text: str) -> bool:
    """Return whether free text may be a person's name: words without a digit (``subject01`` and ``A22`` are codes)."""
    return bool(re.search(r"[^\W\d_]{3}", text)) and not re.search(r"\d", text)
