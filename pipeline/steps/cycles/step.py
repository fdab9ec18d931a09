"""Step ``cycles``: one gait cycle per row, from foot strike to foot strike, 0-100 %, with its metrics and verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...body.legs import LOADS, MOTION
from ...conventions import LONGEST_SWING_S, SIDES
from ...results.schema import REPAIRS, stacked_metrics
from ...results.trial_variables import WITH_DRAWS
from ...signals.time_normalisation import PHASE, _places, _resampled
from . import verdicts
from .effective_mass import at_foot_strikes
from .normalisation import IN_STANCE, dimensionless, further, leg_lengths, per_height
from .peaks_and_work import force_impulses, impulses, peaks, ranges, work
from .spatiotemporal import Heels, belt_speed, spatiotemporal, support

Array = NDArray[np.float64]
ANGLES = ("joint_angle", "pelvis_angle", "foot_progression")
SHARES = ("joint_moment_variance_share",)
# variables of its inputs that the step uses; the bridge loads no others
USES = {
    "kinetics": (
        "joint_force", "joint_moment", "joint_moment_jcs", "joint_power", "interaction_torque", *WITH_DRAWS,
        "disagreement", "forward_closure", "energy_closure",
    ),
    "kinematics": (*MOTION, *ANGLES),
    "contacts": (*LOADS, "contact_start", "contact_end", "event_time"),
    "clean": ("marker_position",),
}  # fmt: skip


class Cycles(NamedTuple):
    """Gait cycles in order of time, all (cycle,): side, strikes and the foot off between them (NaN if unseen), s."""

    side: NDArray[np.str_]
    start_s: Array
    off_s: Array
    end_s: Array

    @property
    def row(self) -> NDArray[np.intp]:
        """Return the number of each cycle's side."""
        return np.asarray(np.searchsorted(SIDES, self.side))


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
        further_curves: names of curves besides the usual ones, of :mod:`pipeline.steps.cycles.normalisation`.
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
    stance = verdicts.judged(
        kinetics, contacts, clean, calibrate,
        min_peak_force_body_weights=min_peak_force_body_weights, max_disagreement_n_m=max_disagreement_n_m,
    )  # fmt: skip
    found = _cycles(contacts, longest_cycle_s)
    began = [*zip(found.side.tolist(), found.start_s.tolist(), strict=True)]
    starts = {side: [start_s for of, start_s in began if of == side] for side in SIDES}
    by_hand = verdicts.by_hand(starts, left_out)
    stance = verdicts.without(stance, by_hand)
    used = [by_hand.get(one) or stance.reason_of(*one) for one in began]
    valid = np.array([reason == "" for reason in used], dtype=bool)
    wanted = {name: kinematics.variables[name] for name in ANGLES}
    wanted |= {name: kinetics.variables[name] for name in ("joint_moment_jcs", "joint_force", "joint_power")}
    wanted["ground_force"] = contacts.variables["ground_force"]
    wanted |= further(
        [name for name in further_curves if not name.endswith(IN_STANCE)], kinetics, kinematics, calibrate
    )
    over_stance = [name for name in further_curves if name.endswith(IN_STANCE)]
    wanted |= {name: wanted[name.removesuffix(IN_STANCE)] for name in over_stance}
    curves = _curves(wanted, contacts.time.values, found, valid, mass)
    struck_kg = at_foot_strikes(began, kinematics, contacts, clean, calibrate)
    gone = np.array([one in by_hand for one in began], dtype=bool)
    for array in (struck_kg, *(values for _, values in curves.values())):
        array[gone] = np.nan
    sizes = Sizes(leg_lengths(kinematics), float(calibrate.attrs["body_height_m"]))
    values = {name: values for name, (_, values) in curves.items()}
    metrics, names = stacked_metrics(_metrics(values, struck_kg, sizes, found, clean, contacts, belt_speed_m_s))
    return xr.Dataset(
        {**curves, **metrics, **stance.variables()},
        {
            **{
                dim: kinetics.variables[dim]
                for dim in dict.fromkeys(str(dim) for each in wanted.values() for dim in each.dims[2:])
            },
            "segment": kinetics.variables["segment"],
            **{dim: PHASE for dim in ("phase", "stance_phase") if any(dim in dims for dims, _ in curves.values())},
            "side": ("cycle", found.side),
            "start_time": ("cycle", found.start_s),
            "end_time": ("cycle", found.end_s),
            "kinetics_valid": ("cycle", valid),
            "reason": ("cycle", np.array(used, dtype=str)),
            **names,
            **stance.coordinates(),
        },
        {name: clean.attrs[name] for name in REPAIRS if name in clean.attrs},
    )


def _cycles(contacts: xr.Dataset, longest_s: float) -> Cycles:
    table = [contacts[name].values.tolist() for name in ("event_time", "event", "event_side")]
    found = []
    for side in SIDES:
        own = [(time_s, kind) for time_s, kind, of in zip(*table, strict=True) if of == side]
        strikes = [time_s for time_s, kind in own if kind == "foot_strike"]
        for start, end in zip(strikes, strikes[1:], strict=False):
            offs = [time_s for time_s, kind in own if kind == "foot_off" and start < time_s < end]
            swing = end - offs[-1] if offs else 0.0
            if end - start <= longest_s and len(offs) <= 1 and swing <= LONGEST_SWING_S:
                found.append((side, start, offs[0] if offs else np.nan, end))
    found.sort(key=lambda cycle: cycle[1])
    return Cycles(
        np.array([side for side, *_ in found], dtype=str),
        *np.array([one[1:] for one in found], dtype=float).reshape(-1, 3).T,
    )


def _curves(
    wanted: Mapping[str, xr.Variable], time: Array, found: Cycles, valid: NDArray[np.bool_], mass: float
) -> dict[str, tuple[tuple[str, ...], Array]]:
    """Return dimensions and values (cycle, ..., phase): angles as they are, kinetics per body mass where valid.

    ``..._in_stance`` is along ``stance_phase``, from foot strike to foot off.
    """
    places = {
        "phase": _places(time, found.start_s, found.end_s),
        "stance_phase": _places(time, found.start_s, found.off_s),
    }
    curves = {}
    for name, quantity in wanted.items():
        along = "stance_phase" if name.endswith(IN_STANCE) else "phase"
        rows = np.ascontiguousarray(_resampled(quantity.values, places[along], found.row))
        if name.removesuffix(IN_STANCE) not in ANGLES:
            rows /= 1 if name in SHARES else mass
            rows[~valid] = np.nan
        curves[name] = (("cycle", *map(str, quantity.dims[2:]), along), rows)
    return curves


def _metrics(
    curves: Mapping[str, Array],
    struck_kg: Array,
    sizes: Sizes,
    found: Cycles,
    clean: xr.Dataset,
    contacts: xr.Dataset,
    belt_speed_m_s: float | None,
) -> dict[str, Array]:
    """Return the metrics (cycle,) of all cycles."""
    heels = Heels.of(clean)
    speed = (
        belt_speed(heels, contacts, clean.attrs["direction_of_travel"]) if belt_speed_m_s is None else belt_speed_m_s
    )
    covered = spatiotemporal(heels, **found._asdict(), belt_speed_m_s=speed)
    share, stride_s = covered["stance_share"], covered["stride_time"]
    angle, moment = curves["joint_angle"], curves["joint_moment_jcs"]
    return (
        covered
        | dimensionless(covered, leg_length_m=sizes.legs_m[found.row])
        | per_height(covered, height_m=sizes.height_m)
        | support(contacts, **found._asdict())
        | peaks(curves, stance_share=share)
        | ranges(curves)
        | impulses(moment, stance_share=share, stride_s=stride_s)
        | force_impulses(curves["ground_force"], stance_share=share, stride_s=stride_s)
        | work(angle, moment, stance_share=share)
        | {"effective_foot_mass": struck_kg}
    )
