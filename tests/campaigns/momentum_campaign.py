"""Sound recordings of every way of moving: how far the witnesses of momentum are from their limits.

``python -m tests.campaigns momentum_campaign`` prints the table of docs/reliability.md. The hips
are the middle of the pelvis; trunk and arms move them up to some centimetres against the centre of mass. Besides, the
pelvis rises and falls by 5 mm more at each step, plates err by 1.5 % and the mass by 2 %, as standard deviations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.errors import UserError
from pipeline.steps.contacts.pelvis import middle_of_pelvis
from pipeline.steps.cycles.momentum.single_support import Support, doubts_of_session, in_single_support, judged
from pipeline.variables.cycle_variables import RESIDUALS
from pipeline.variables.stance_verdicts import Verdict
from tests.campaigns.runner import Report
from tests.support.plates.stances import found
from tests.support.settings import settings_of
from tests.support.steps import clean
from tests.support.walks.moving_on_plates import BODY_MODEL, Recorded, recorded
from tests.support.walks.ways_of_moving import WAYS

Array = NDArray[np.float64]

SHORT = {"walks": len(WAYS), "first_seed": 9000}
RISES_M, GAIN, MASS = 0.005, 0.015, 0.02
FIRST = [*RESIDUALS].index("momentum_ratio")


def figures(walk: Recorded, rng: np.random.Generator) -> tuple[Array, list[list[Verdict]]]:
    """Return (stance, figure) of ``RESIDUALS`` of the stances that are used, those of the legs and pelvis NaN.

    And the doubts about each by the momentum of all.
    """
    trial = walk.trial.copy(deep=True)
    gains = 1 + GAIN * rng.normal(size=trial.sizes["plate"])
    for name in ("plate_force", "plate_moment"):
        trial[name].values[:] *= gains[:, None]
    step_s = float(np.median(np.diff(walk.plan.strike)))
    wave = np.sin(2 * np.pi * (trial.time.values / step_s + rng.random()))
    rise = RISES_M * rng.normal() * walk.plan.person.height_m / 1.75 * wave
    for i, label in enumerate(trial.marker.values.tolist()):
        if label[1:] in ("ASI", "PSI"):
            trial.marker_position.values[:, i, 1] += rise
    cleaned = clean(trial, body_model=BODY_MODEL, settings=settings_of("clean"))
    contacts = found(cleaned)
    where = cleaned.marker_position.values
    landmarks = {name: where[:, i] for i, name in enumerate(cleaned.marker.values.tolist())}
    time = cleaned.time.values
    velocity = np.gradient(middle_of_pelvis(landmarks, len(time)), time, axis=0)
    acceleration = np.gradient(velocity, time, axis=0)
    hips = {"velocity": velocity, "acceleration": acceleration}
    dims = ("time", "side", "part", "axis")
    motion = xr.Dataset(
        {f"joint_centre_{name}": (dims, np.tile(rate[:, None, None], (1, 2, 3, 1))) for name, rate in hips.items()}
        | {f"com_{name}": (dims, np.full((len(time), 2, 3, 3), np.nan)) for name in hips}
    )
    mass_kg = walk.plan.person.mass_kg * (1 + MASS * rng.normal())
    person = xr.Dataset({"segment_mass": (("side", "part"), np.zeros((2, 3)))}, attrs={"body_mass_kg": mass_kg})
    shown: Support = in_single_support(motion, contacts, person)
    (doubts,) = doubts_of_session([shown], [contacts.plates.values], mass_kg)
    support, valid = np.stack(shown[:-1], axis=1), contacts.valid.values
    result = np.full((len(support), len(RESIDUALS)), np.nan)
    result[:, FIRST : FIRST + support.shape[1]] = support
    return result[valid], [doubts[i] for i in np.flatnonzero(valid)]


def every(walks: int, first_seed: int) -> Iterator[tuple[str, int, Array, list[list[Verdict]]]]:
    """Yield way of moving, seed, figures and doubts by all stances of so many recordings, the ways in turn."""
    for seed in range(first_seed, first_seed + walks):
        way = WAYS[seed % len(WAYS)]
        try:
            yield way, seed, *figures(recorded(way, seed), np.random.default_rng([seed, 28]))
        except UserError:
            continue


def main(report: Report, *, walks: int = 2000, first_seed: int = 0) -> None:
    """Report stances, those without a figure, refused and doubted, by way of moving, with ranges of the figures."""
    by_way, alarms = defaultdict[str, list[Array]](list), defaultdict[str, list[str]](list)
    refused, doubted, known = list[str](), list[str](), 0
    for way, seed, values, pooled in every(walks, first_seed):
        by_way[way].append(values)
        known += bool(np.isfinite(values[:, FIRST]).any())
        for (first, doubts), by_all in zip(judged(values, 70.0), pooled, strict=True):
            codes = [f"{one.code} ({seed})" for one in ([first] if first else [*doubts, *by_all])]
            alarms[way] += codes
            if codes:
                (refused if first else doubted).append(f"{way}: {', '.join(codes)}")
    names = ("momentum_ratio", "momentum_along", "momentum_aside", "momentum_variation")
    report.table("way of moving", "stances", "silent", "alarms", *names)
    for way, parts in by_way.items():
        values = np.concatenate(parts)
        columns = [(one := values[:, [*RESIDUALS].index(name)])[np.isfinite(one)] for name in names]
        ranges = [" to ".join(f"{each:.2f}" for each in np.percentile(one, [0, 50, 100])) if len(one) else "-"
                  for one in columns]  # fmt: skip
        report.row(way, len(values), len(values) - len(columns[0]), "; ".join(alarms[way]), *ranges)
    stances = sum(len(values) for parts in by_way.values() for values in parts)
    report.allow(0, refused, stances, "sound stances refused")
    report.allow(0.05, doubted, stances, "sound stances doubted")
    report.allow(0.5, walks - known, walks, "walks of which no stance shows the momentum")
