"""Faults of markers, labels and sizes that a body model is built on, in generated people, for ``kinematics``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import xarray as xr

from pipeline.body.body_model import BodyModel
from pipeline.conventions import SEGMENTS, SIDES
from pipeline.errors import UserError
from pipeline.workflow.settings import defaults
from tests.support.faults.outcomes import FLAGGED, HARMLESS, MISSED, Row
from tests.support.settings import settings_of
from tests.support.steps import kinematics
from tests.support.walks.person import (
    PARTICIPANT,
    PLACES,
    Landmarks,
    Pose,
    body_model,
    calibrated,
    cleaned,
    landmarks,
    of_side,
    standing,
    walk,
)

LARGEST_M, LARGEST_DEG, OFTEN = 0.05, 30.0, 75  # changes of centres and angles, and the percentile over time
TIME = np.arange(120) / 100
WANDS = ("plug_in_gait", "helen_hayes", "plug_in_gait_flat_foot", "helen_hayes_no_heel")
WITH_MEDIAL = ("isb_clusters", "plug_in_gait_medial", "helen_hayes_medial", "functional_clusters", "ior", "cast")
ALL_MODELS = (*WITH_MEDIAL, *WANDS[:2], "gait2354", "opensim_rajagopal")
Change = Callable[[Landmarks, Pose, str, int], Landmarks]


def model_rows(doses: Sequence[int]) -> Iterator[Row]:
    """Yield a row for each fault; the dose gives model, side and size of the fault."""
    for name, of_doses, models, in_static, in_walk in FAULTS:
        results = [_outcome(body_model(models[dose % len(models)]), in_static, in_walk, dose) for dose in doses]
        yield Row(name, of_doses, results)
    wide = [_outcome(body_model(WANDS[dose % 4]), None, None, dose, (0.1, 10.0)[dose // 2 % 2]) for dose in doses]
    yield Row("joint widths in another unit", "a tenth, tenfold; knee or ankle", wide)


def _outcome(model: BodyModel, in_static: Change | None, in_walk: Change | None, dose: int, size: float = 1.0) -> str:
    """Return whether legs with wrong centres or angles pass."""
    side, upright, moving = SIDES[dose // 2 % 2], _upright(), walk(TIME)
    still, walked = standing(), landmarks(moving)
    widths = {f"{('knee', 'ankle')[dose // 4 % 2]}_width_{side}_m" for side in SIDES}
    person = {name: str(float(value) * size) if name in widths else value for name, value in PARTICIPANT.items()}
    try:
        faulty = _moved(
            model,
            in_static(still, upright, side, dose) if in_static else still,
            in_walk(walked, moving, side, dose) if in_walk else walked,
            participant=person,
        )
    except UserError:
        return FLAGGED
    refused = [bool(reason) for reason in faulty.leg_refused.values]
    wrong = [_is_wrong(faulty, _right(model.name), number) for number in range(len(SIDES))]
    if any(leg and not gone for leg, gone in zip(wrong, refused, strict=True)):
        return MISSED
    return FLAGGED if any(refused) else HARMLESS


@cache
def _right(name: str) -> xr.Dataset:
    return _moved(body_model(name), standing(), landmarks(walk(TIME)))


def _upright() -> Pose:
    """Return the pose with the segments of a person who stands."""
    return walk(np.zeros(1))._replace(rotation=np.broadcast_to(np.eye(3), (1, 2, 4, 3, 3)))


def _moved(model: BodyModel, still: Landmarks, walked: Landmarks, **choices: Any) -> xr.Dataset:
    return kinematics(
        cleaned(model, walked, TIME), calibrated(model, still, **choices),
        body_model=model,
        settings=settings_of("kinematics", **defaults(model)["kinematics"] | {"angle_convention": "isb"}),
    )  # fmt: skip


def _is_wrong(faulty: xr.Dataset, right: xr.Dataset, side: int) -> bool:
    """Return whether a joint's centre or an angle of a leg is far off in a quarter of the time it is seen."""
    off = np.linalg.norm((faulty.joint_centre - right.joint_centre).values[:, side], axis=-1)
    turned = np.abs(((faulty.joint_angle - right.joint_angle).values[:, side] + 180) % 360 - 180)
    return any(
        (np.nanpercentile(column, OFTEN) if np.isfinite(column).any() else 0.0) > limit
        for values, limit in ((off, LARGEST_M), (turned.reshape(len(turned), -1), LARGEST_DEG))
        for column in values.T
    )


def _exchanged(*pair: str) -> Change:
    def change(points: Landmarks, _pose: Pose, side: str, _dose: int) -> Landmarks:
        one, other = (f"{name}_{side}" for name in pair)
        return points | {one: points[other], other: points[one]}

    return change


def _wand_at(degrees: Callable[[int], float], *names: str) -> Change:
    """Return a change that turns markers about the long axis of their segment."""

    def change(points: Landmarks, pose: Pose, side: str, dose: int) -> Landmarks:
        which, angle, moved = SIDES.index(side), np.radians(degrees(dose)), dict(points)
        for name in names:
            segment, (x, y, z) = PLACES[name]
            number = SEGMENTS.index(segment)
            place = of_side((x * np.cos(angle) + z * np.sin(angle), y, z * np.cos(angle) - x * np.sin(angle)), side)
            before = of_side((x, y, z), side)
            moved[f"{name}_{side}"] = points[f"{name}_{side}"] + (place - before) @ pose.rotation[:, which, number]
        return moved

    return change


def _unmarked(points: Landmarks, _pose: Pose, side: str, _dose: int) -> Landmarks:
    pelvis = [name for name, (segment, _) in PLACES.items() if segment == "pelvis"]
    return {n: p * np.nan if n.endswith(side) and n.rpartition("_")[0] not in pelvis else p for n, p in points.items()}


_KNEE = _exchanged("medial_epicondyle", "lateral_epicondyle")
_ANKLE = _exchanged("medial_malleolus", "lateral_malleolus")
_ALONG = _exchanged("lateral_epicondyle", "lateral_malleolus")
_TURNED = _wand_at(lambda dose: (25.0 + 5 * dose) * (1 if dose % 4 < 2 else -1), "thigh_wand", "tibial_wand")
_AHEAD = _wand_at(lambda dose: 70.0 + 2 * dose, "thigh_wand")
FAULTS: tuple[tuple[str, str, tuple[str, ...], Change | None, Change | None], ...] = (
    ("wands of thigh and shank turned", "25 to 120 degrees", WANDS, _TURNED, _TURNED),
    ("thigh marker in front", "by 70 to 108 degrees", WANDS, _AHEAD, _AHEAD),
    ("medial and lateral knee exchanged", "static trial", WITH_MEDIAL, _KNEE, None),
    ("medial and lateral knee exchanged", "all trials", WITH_MEDIAL, _KNEE, _KNEE),
    ("medial and lateral ankle exchanged", "static trial", WITH_MEDIAL, _ANKLE, None),
    ("medial and lateral ankle exchanged", "all trials", WITH_MEDIAL, _ANKLE, _ANKLE),
    ("knee and ankle exchanged", "static trial", ALL_MODELS, _ALONG, None),
    ("knee and ankle exchanged", "all trials", ALL_MODELS, _ALONG, _ALONG),
    ("one leg without markers", "walk", ALL_MODELS, None, _unmarked),
)  # fmt: skip
