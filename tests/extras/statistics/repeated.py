"""A simulated study.nc of people who are measured again, with known components of variance."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import xarray as xr

from pipeline.conventions import ANGLES, JOINTS

SPEED, PEAK_TIME = "walking_speed", "phase_of_peak_knee_flexion"


def simulated(
    shape: tuple[int, ...], studies: int, draw: np.random.Generator, *, icc: float, share: float = 0.0, own: float = 0.0
) -> np.ndarray:
    """Return measurements (person, level, ..., study) with an error of variance 1.

    Args:
        share: part of the error's variance that all people share at a level, in equal parts of the factors.
        own: with two factors, part that a person has at a level, in equal parts of the factors.
    """
    factors = len(shape) - 1
    values = draw.normal(size=(shape[0], *[1] * factors, studies)) * np.sqrt(icc / (1 - icc))
    own = own if factors > 1 else 0.0
    for axis in range(1, len(shape)):
        sizes = [1] * len(shape)
        sizes[axis] = shape[axis]
        values = values + draw.normal(size=(*sizes, studies)) * np.sqrt(share / factors)
        sizes[0] = shape[0]
        values = values + draw.normal(size=(*sizes, studies)) * np.sqrt(own / factors)
    return np.asarray(values + draw.normal(size=(*shape, studies)) * np.sqrt(1 - share - own))


def repeated_study(people: int, visits: int, assessors: int = 1) -> tuple[xr.Dataset, dict[str, dict[str, str]]]:
    """Return a study.nc with a metric, a phase around 0 % and knee angles, and the rows of its sessions."""
    draw = np.random.default_rng(0)
    rows: dict[str, dict[str, str]] = {}
    labels, speed, time, angle = [], [], [], []
    of_person = draw.normal(size=people)
    for person, visit, assessor in itertools.product(range(people), range(visits), range(assessors)):
        session = f"p{person}_{visit}_{assessor}"
        rows[session] = {"participant_id": f"p{person}", "visit": f"v{visit}", "assessor": f"a{assessor}"}
        of_session = of_person[person] + 0.3 * draw.normal(size=2)
        for side, _ in itertools.product((0, 1), range(3)):
            value = of_session[side] + 0.2 * draw.normal()
            labels.append((f"p{person}", session, "walk", ("left", "right")[side]))
            speed.append(1.2 + 0.1 * value)
            time.append((2 * value) % 100)
            angle.append(20 + 5 * value + np.zeros(101))
    identity = dict(zip(("participant", "session", "condition", "side"), np.array(labels).T, strict=True))
    curve = np.full((len(labels), len(JOINTS), len(ANGLES), 101), np.nan)
    curve[:, JOINTS.index("knee"), 0] = angle
    data = {
        SPEED: ("cycle", np.array(speed)),
        PEAK_TIME: ("cycle", np.array(time)),
        "joint_angle": (("cycle", "joint", "angle", "phase"), curve),
    }
    coordinates = {name: ("cycle", values) for name, values in identity.items()}
    return xr.Dataset(data, {**coordinates, "joint": [*JOINTS], "angle": [*ANGLES], "phase": np.arange(101.0)}), rows


def without(rows: Mapping[str, dict[str, str]], *sessions: str) -> dict[str, dict[str, str]]:
    """Return rows without some sessions."""
    return {name: row for name, row in rows.items() if name not in sessions}
