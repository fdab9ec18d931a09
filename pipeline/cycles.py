"""Step ``cycles``: one gait cycle per row, from foot strike to foot strike, 0-100 %, with its metrics and verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline import stances
from pipeline.body_size import dimensionless, leg_lengths, per_height
from pipeline.effective_mass import at_foot_strikes
from pipeline.events import LONGEST_SWING_S
from pipeline.further_curves import IN_STANCE, further
from pipeline.joint_work import force_impulses, impulses, work
from pipeline.leg import SIDES
from pipeline.peaks import peaks, ranges
from pipeline.spatiotemporal import Heels, belt_speed, spatiotemporal, support
from pipeline.vocabulary import METRICS, REPAIRS

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


class Sizes(NamedTuple):
    """Lengths of the legs (side,) and of the body, m, NaN where not known."""

    legs_m: Array
    height_m: float


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
    others = [name for name in further_curves if not name.endswith(IN_STANCE)]
    wanted += further(others, kinetics, kinematics, calibrate)
    wanted += [curve.rename(name) for curve in wanted if (name := f"{curve.name}{IN_STANCE}") in further_curves]
    curves = {str(quantity.name): _curves(quantity, found, valid, mass) for quantity in wanted}
    strikes = [(cycle.side, cycle.start_s) for cycle in found]
    struck_kg = at_foot_strikes(strikes, kinematics, contacts, clean, calibrate)
    values = {name: values for name, (_, values) in curves.items()}
    gone = np.array([cycle[:2] in by_hand for cycle in found], dtype=bool)
    for array in (struck_kg, *values.values()):
        array[gone] = np.nan
    sizes = Sizes(leg_lengths(kinematics), float(calibrate.attrs["body_height_m"]))
    metrics = _metrics(values, struck_kg, sizes, found, clean, contacts, belt_speed_m_s)
    return xr.Dataset(
        {**curves, **metrics, **stance.variables()},
        {
            **{str(dim): kinetics[dim] for dim in dict.fromkeys(dim for curve in wanted for dim in curve.dims[2:])},
            "segment": kinetics.segment,
            **{dim: PHASE for dim in ("phase", "stance_phase") if any(dim in dims for dims, _ in curves.values())},
            "side": ("cycle", np.array([cycle.side for cycle in found], dtype=str)),
            "start_time": ("cycle", np.array([cycle.start_s for cycle in found], dtype=float)),
            "end_time": ("cycle", np.array([cycle.end_s for cycle in found], dtype=float)),
            "kinetics_valid": ("cycle", valid),
            "reason": ("cycle", np.array(used, dtype=str)),
            **stance.coordinates(),
        },
        {name: clean.attrs[name] for name in REPAIRS if name in clean.attrs},
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


def _resampled(values: Array, time: Array, start_s: float, end_s: float) -> Array:
    """Return (..., 101) of a quantity (time, ...) from start to end, linear between frames; NaN without an end.

    Where the frame after the end is missing (the next stance may not be known), the last one is kept.
    """
    if np.isnan(end_s):
        return np.full((*values.shape[1:], len(PHASE)), np.nan)
    instants = start_s + PHASE / 100 * (end_s - start_s)
    right = np.clip(np.searchsorted(time, instants), 1, len(time) - 1)
    share = np.clip((instants - time[right - 1]) / (time[right] - time[right - 1]), 0, 1)
    share = share.reshape(-1, *[1] * (values.ndim - 1))
    # where an instant is a frame itself, a missing neighbour must not reach it
    low = np.where(share == 1, 0, values[right - 1]) * (1 - share)
    high = np.where(share == 0, 0, values[right]) * share
    result = low + high
    last = np.searchsorted(time, end_s + 1e-9, side="right") - 1
    late = instants > time[last]
    result[late] = np.where(np.isnan(result[late]), values[last], result[late])
    return np.moveaxis(result, 0, -1)


def _curves(
    quantity: xr.DataArray, found: Sequence[Cycle], valid: NDArray[np.bool_], mass: float
) -> tuple[tuple[str, ...], Array]:
    """Return dimensions and values (cycle, ..., phase): angles as they are, kinetics per body mass where valid.

    ``..._in_stance`` is along ``stance_phase``, from foot strike to foot off.
    """
    name = str(quantity.name)
    in_stance = name.endswith(IN_STANCE)
    dims = ("cycle", *(str(dim) for dim in quantity.dims[2:]), "stance_phase" if in_stance else "phase")
    values, time = quantity.values, quantity.time.values
    if not found:
        return dims, np.empty((0, *values.shape[2:], len(PHASE)))
    ends = [cycle.off_s if in_stance else cycle.end_s for cycle in found]
    rows = np.stack(
        [
            _resampled(values[:, SIDES.index(cycle.side)], time, cycle.start_s, end_s)
            for cycle, end_s in zip(found, ends, strict=True)
        ]
    )
    if name.removesuffix(IN_STANCE) not in ANGLES:
        rows /= 1 if name in SHARES else mass
        rows[~valid] = np.nan
    return dims, rows


def _metrics(
    curves: Mapping[str, Array],
    struck_kg: Array,
    sizes: Sizes,
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
        stride_s = cycle.end_s - cycle.start_s
        covered = spatiotemporal(heels, **cycle._asdict(), belt_speed_m_s=speed)
        rows.append(
            covered
            | dimensionless(covered, leg_length_m=sizes.legs_m[SIDES.index(cycle.side)])
            | per_height(covered, height_m=sizes.height_m)
            | support(contacts, **cycle._asdict())
            | peaks(mine, stance_share=share)
            | ranges(mine)
            | impulses(moment, stance_share=share, stride_s=stride_s)
            | force_impulses(mine["ground_force"], stance_share=share, stride_s=stride_s)
            | work(angle, moment, stance_share=share)
            | {"effective_foot_mass": struck_kg[i]}
        )
    return {name: ("cycle", np.array([row[name] for row in rows], dtype=float)) for name in METRICS}
