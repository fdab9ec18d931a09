"""Step ``cycles``: one gait cycle per row, from foot strike to foot strike, 0-100 %, with its metrics and verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline import stances
from pipeline.body_size import dimensionless, leg_lengths
from pipeline.effective_mass import at_foot_strikes
from pipeline.events import LONGEST_SWING_S
from pipeline.further_curves import further
from pipeline.joint_work import impulses, work
from pipeline.leg import SIDES
from pipeline.peaks import peaks, ranges
from pipeline.spatiotemporal import Heels, belt_speed, spatiotemporal, support
from pipeline.vocabulary import METRICS

Array = NDArray[np.float64]
PHASE = np.arange(101.0)
ANGLES = ("joint_angle", "pelvis_angle", "foot_progression")
SHARES = ("joint_moment_variance_share",)


class Cycle(NamedTuple):
    """A gait cycle of one side: its strikes and the foot off between them (NaN where none was seen), s."""

    side: str
    start_s: float
    off_s: float
    end_s: float


def cycles(
    kinetics: xr.Dataset,
    kinematics: xr.Dataset,
    contacts: xr.Dataset,
    clean: xr.Dataset,
    calibrate: xr.Dataset,
    *,
    longest_cycle_s: float,
    min_peak_force_body_weights: float,
    max_disagreement_n_m: float,
    further_curves: Sequence[str],
    belt_speed_m_s: float | None = None,
    left_out: Sequence[tuple[str, float, str]] = (),
) -> xr.Dataset:
    """Cut a trial into gait cycles.

    Args:
        kinetics, kinematics, contacts, clean: the trial.
        calibrate: the session's model, for the body mass.
        longest_cycle_s: longest time between two strikes of one side that counts as a cycle.
        min_peak_force_body_weights: smallest peak of vertical force of a stance whose kinetics are believed.
        max_disagreement_n_m: largest difference between the formulations of the joint moments that is believed.
        further_curves: names of curves besides the usual ones, of :mod:`pipeline.further_curves`.
        belt_speed_m_s: speed of the treadmill; None estimates it from the stance feet where nobody travels.
        left_out: cycles that the user leaves out: side, start in s and reason.

    Returns:
        Curves (cycle, ..., phase) of angles in degrees and of moments, forces and powers per body mass; metrics
        (cycle); coordinates side, start and end time, validity and reason. Every stance of the trial with its
        verdict and the checks of its side along ``stance``. Kinetics of a stance that cannot be used are NaN, and
        so are all curves of a cycle left out.

    Raises:
        UserError: a cycle to be left out is not there.
    """
    mass = float(calibrate.attrs["body_mass_kg"])
    stance = stances.judged(
        kinetics, contacts, clean, calibrate,
        min_peak_force_body_weights=min_peak_force_body_weights, max_disagreement_n_m=max_disagreement_n_m,
    )  # fmt: skip
    found = _cycles(contacts, longest_cycle_s)
    starts = {side: [cycle.start_s for cycle in found if cycle.side == side] for side in SIDES}
    by_hand = stances.by_hand(starts, left_out)
    stance = stances.without(stance, by_hand)
    used = [by_hand.get(cycle[:2]) or stance.reason_of(cycle.side, cycle.start_s) for cycle in found]
    valid = np.array([reason == "" for reason in used], dtype=bool)
    wanted = [kinematics.joint_angle, kinematics.pelvis_angle, kinematics.foot_progression, kinetics.joint_moment_jcs]
    wanted += [kinetics.joint_force, kinetics.joint_power, contacts.ground_force]
    wanted += further(further_curves, kinetics, kinematics, calibrate)
    curves = {str(quantity.name): _curves(quantity, found, valid, mass) for quantity in wanted}
    strikes = [(cycle.side, cycle.start_s) for cycle in found]
    struck_kg = at_foot_strikes(strikes, kinematics, contacts, clean, calibrate)
    values = {name: values for name, (_, values) in curves.items()}
    gone = np.array([cycle[:2] in by_hand for cycle in found], dtype=bool)
    for array in (struck_kg, *values.values()):
        array[gone] = np.nan
    metrics = _metrics(values, struck_kg, leg_lengths(kinematics), found, clean, contacts, belt_speed_m_s)
    return xr.Dataset(
        {**curves, **metrics, **stance.variables()},
        {
            **{str(dim): kinetics[dim] for dim in dict.fromkeys(dim for curve in wanted for dim in curve.dims[2:])},
            "segment": kinetics.segment,
            "phase": PHASE,
            "side": ("cycle", np.array([cycle.side for cycle in found], dtype=str)),
            "start_time": ("cycle", np.array([cycle.start_s for cycle in found], dtype=float)),
            "end_time": ("cycle", np.array([cycle.end_s for cycle in found], dtype=float)),
            "kinetics_valid": ("cycle", valid),
            "reason": ("cycle", np.array(used, dtype=str)),
            **stance.coordinates(),
        },
    )


def _cycles(contacts: xr.Dataset, longest_s: float) -> list[Cycle]:
    table = list(zip(contacts.event_time.values, contacts.event.values, contacts.event_side.values, strict=True))
    found = []
    for side in SIDES:
        strikes = [t for t, kind, of in table if kind == "foot_strike" and of == side]
        offs = np.array([t for t, kind, of in table if kind == "foot_off" and of == side])
        for start, end in zip(strikes, strikes[1:], strict=False):
            between = offs[(offs > start) & (offs < end)]
            swing = end - between[-1] if len(between) else 0.0
            if end - start <= longest_s and len(between) <= 1 and swing <= LONGEST_SWING_S:
                found.append(Cycle(side, float(start), float(between[0]) if len(between) else np.nan, float(end)))
    return sorted(found, key=lambda cycle: cycle.start_s)


def _resampled(values: Array, time: Array, cycle: Cycle) -> Array:
    """Return (..., 101) of a quantity (time, ...) over a cycle, linear between frames.

    Where the frame after the cycle's end is missing (the next stance may not be known), the last one is kept.
    """
    instants = cycle.start_s + PHASE / 100 * (cycle.end_s - cycle.start_s)
    right = np.clip(np.searchsorted(time, instants), 1, len(time) - 1)
    share = np.clip((instants - time[right - 1]) / (time[right] - time[right - 1]), 0, 1)
    share = share.reshape(-1, *[1] * (values.ndim - 1))
    # where an instant is a frame itself, a missing neighbour must not reach it
    low = np.where(share == 1, 0, values[right - 1]) * (1 - share)
    high = np.where(share == 0, 0, values[right]) * share
    result = low + high
    last = np.searchsorted(time, cycle.end_s + 1e-9, side="right") - 1
    late = instants > time[last]
    result[late] = np.where(np.isnan(result[late]), values[last], result[late])
    return np.moveaxis(result, 0, -1)


def _curves(
    quantity: xr.DataArray, found: Sequence[Cycle], valid: NDArray[np.bool_], mass: float
) -> tuple[tuple[str, ...], Array]:
    """Return dimensions and values (cycle, ..., phase): angles as they are, kinetics per body mass where valid."""
    dims = ("cycle", *(str(dim) for dim in quantity.dims[2:]), "phase")
    values = quantity.values
    if not found:
        return dims, np.empty((0, *values.shape[2:], len(PHASE)))
    rows = np.stack([_resampled(values[:, SIDES.index(cycle.side)], quantity.time.values, cycle) for cycle in found])
    if quantity.name not in ANGLES:
        rows /= 1 if quantity.name in SHARES else mass
        rows[~valid] = np.nan
    return dims, rows


def _metrics(
    curves: Mapping[str, Array],
    struck_kg: Array,
    legs_m: Array,
    found: Sequence[Cycle],
    clean: xr.Dataset,
    contacts: xr.Dataset,
    belt_speed_m_s: float | None,
) -> dict[str, tuple[str, Array]]:
    heels = Heels.of(clean)
    speed = (
        belt_speed(heels, contacts, clean.attrs["direction_of_travel"]) if belt_speed_m_s is None else belt_speed_m_s
    )
    rows = []
    for i, cycle in enumerate(found):
        share = 100 * (cycle.off_s - cycle.start_s) / (cycle.end_s - cycle.start_s)
        mine = {name: values[i] for name, values in curves.items()}
        angle, moment = mine["joint_angle"], mine["joint_moment_jcs"]
        covered = spatiotemporal(heels, **cycle._asdict(), belt_speed_m_s=speed)
        rows.append(
            covered
            | dimensionless(covered, leg_length_m=legs_m[SIDES.index(cycle.side)])
            | support(contacts, **cycle._asdict())
            | peaks(mine, stance_share=share)
            | ranges(mine)
            | impulses(moment, stance_share=share, stride_s=cycle.end_s - cycle.start_s)
            | work(angle, moment, stance_share=share)
            | {"effective_foot_mass": struck_kg[i]}
        )
    return {name: ("cycle", np.array([row[name] for row in rows], dtype=float)) for name in METRICS}
