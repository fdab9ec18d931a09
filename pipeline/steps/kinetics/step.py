"""Step ``kinetics``: joint forces and moments of both legs, with cross-checks."""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import xarray as xr

from ...arrays import Array
from ...body.legs import GROUND, MOTION, Legs, legs_of
from ...conventions import ANGLES, ANKLE, CHAIN, JOINTS, KNEE, LOADS, SIDES
from ...dynamics.interaction_torques import MOTIONS
from ...dynamics.kernel import TERMS, inverse_dynamics_by_term
from ...dynamics.vectors import rotate, transpose
from ...json_text import to_text
from ...trials.session import spans_of
from ...trials.usable_walks import UsableWalks, has_model
from ...variables.schema import with_dims
from ...whole_body.skeleton import JOINTS as JOINTS_OF_TRUNK
from . import closures, cross_checks
from .foot_power import foot_power
from .pelvis_residual import TURNING, Hips, beside_unknown, pelvis_residual, upper_body
from .settings import Settings
from .trunk_and_arms import MOVING, sharper, trunk_and_arms

# all that is loaded of the inputs
OF_KINEMATICS, OF_CONTACTS = (*MOTION, *TURNING, *MOVING, "knee_refused"), (*GROUND, "belt_speed", "ground_normal")
# results of joints, of which those of a knee with a turned axis are left out
OF_JOINTS = (
    "joint_force", "joint_moment", "joint_moment_jcs", "joint_moment_term", "joint_power", "interaction_torque"
)  # fmt: skip
# samples in one portion: few enough for the processor's cache, enough for few calls
SOLVED_AT_A_TIME, SIMULATED_AT_A_TIME = 1000, 5000


def kinetics(kinematics: xr.Dataset, contacts: xr.Dataset, calibrate: xr.Dataset, *, settings: Settings) -> xr.Dataset:
    """Solve the equations of motion of foot, shank and thigh for the joint loads.

    Returns:
        The variables of :data:`pipeline.variables.session_variables.OF_TRIALS`. Terms are those of
        :data:`pipeline.dynamics.kernel.TERMS`; ``joint_power`` is M . (w_distal - w_proximal), of the foot see
        :mod:`pipeline.steps.kinetics.foot_power`. NaN where a segment, the
        ground wrench or the joint axes (gimbal lock) are unknown; ``missing`` holds the cause. The residual at the
        pelvis (:mod:`pipeline.steps.kinetics.pelvis_residual`) is NaN within 0.05 s of where the load of either hip is
        unknown. With draws of errors, their settings for the step
        ``cycles``.
    """
    walks = UsableWalks.of(kinematics, contacts, calibrate)
    if not walks.names:
        return walks.complete(xr.Dataset())
    kinematics, contacts = walks.take(kinematics), walks.take(contacts)
    spans = spans_of(kinematics, "sample")
    legs_at = functools.partial(
        legs_of, kinematics, contacts, calibrate,
        gravity_m_s2=settings.gravity_m_s2,
        smallest_floating_axis=float(kinematics.variables["smallest_floating_axis"].values[0]),
    )  # fmt: skip
    time = kinematics.variables["time"].values
    rates_hz = [float((len(t) - 1) / (t[-1] - t[0])) for t in (time[span] for span in spans)]
    results = _of_session(legs_at, spans, rates_hz, time)
    results["foot_power"] = foot_power(kinematics, contacts)
    results["ankle_foot_power"] = results["joint_power"][:, :, ANKLE] + results["foot_power"]
    hips = Hips.of(kinematics, results["joint_force"], results["joint_moment"])
    for trial, side in np.argwhere(kinematics.variables["knee_refused"].values != "").tolist():
        for name in OF_JOINTS:
            results[name][spans[trial], side, KNEE] = np.nan
    residual = pelvis_residual(kinematics, hips, upper_body(calibrate), settings.gravity_m_s2)
    if with_trunk := "upper_segment_seen" in kinematics:
        upper, sharp = trunk_and_arms(kinematics, calibrate, hips, settings.gravity_m_s2)
        results |= upper
        whole = sharper(residual[0], sharp[0], kinematics.variables["sample_trial"].values)
        whole &= np.full(len(whole), "upper_body_mass" not in calibrate)
        force, moment = (np.where(whole[:, None], new, old) for old, new in zip(residual, sharp, strict=True))
        residual = force, moment
        results["residual_with_trunk"] = np.array([whole[span].any() for span in spans])
    unknown = beside_unknown(residual[0], spans, rates_hz)[:, None]
    for load, part in zip(LOADS, residual, strict=True):
        results[f"pelvis_residual_{load}"] = np.where(unknown, np.nan, part)
    result = xr.Dataset(with_dims("kinetics", results), _names())
    if with_trunk:
        result = result.assign_coords(upper_joint=list(JOINTS_OF_TRUNK))
    if not settings.uncertainty_draws or not has_model(calibrate):
        return walks.complete(result)
    about: dict[str, Any] = {"draws": settings.uncertainty_draws, "band_percent": settings.uncertainty_band_percent}
    about |= {"sizes": {**settings.uncertainty_sizes}, "gravity_m_s2": settings.gravity_m_s2}
    return walks.complete(result.assign(uncertainty=("trial", np.full(len(spans), to_text(about)))))


def _of_session(
    legs_at: Callable[..., Legs], spans: Sequence[slice], rates_hz: Sequence[float], time: Array
) -> dict[str, Array]:
    """Return the results without uncertainty, solved in portions of samples."""
    groups = closures.windows_of(spans, rates_hz)
    errors = [np.empty((len(windows.start), len(SIDES), len(JOINTS), len(ANGLES))) for windows in groups]
    margin = max(windows.length for windows in groups) + closures.NODES.size
    results: dict[str, Array] = {}
    for begin, end in _portions(len(time), SIMULATED_AT_A_TIME):
        around = slice(max(begin - margin, 0), end + margin)
        legs = legs_at(samples=around)
        torque = np.empty_like(legs.angle)
        for start, stop in _portions(len(torque), SOLVED_AT_A_TIME):
            torque[start:stop], solved = _at_samples(legs.part(slice(start, stop)))
            for name, values in solved.items():
                if name not in results:
                    results[name] = np.empty((len(time), *values.shape[1:]), values.dtype)
                results[name][around.start + start : around.start + stop] = values
        for windows, error in zip(groups, errors, strict=True):
            some, numbers = windows.between(begin, end)
            error[numbers] = closures.forward_errors(legs, torque, some._replace(start=some.start - around.start))
    energy, power, differences = (results.pop(name) for name in ("energy", "power", "disagreement"))
    forward = {
        trial: closures.root_mean_square(np.degrees(error[windows.trial == trial]))
        for windows, error in zip(groups, errors, strict=True)
        for trial in np.unique(windows.trial)
    }
    return results | {
        "disagreement": np.array([np.fmax.reduce(differences[span]) for span in spans]),
        "forward_closure": np.array([forward.get(i, np.full(errors[0].shape[1:], np.nan)) for i in range(len(spans))]),
        "energy_closure": np.array([closures.energy_closure(energy[span], power[span], time[span]) for span in spans]),
    }


def _portions(count: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield first and last (exclusive) of portions of about equal size."""
    ends = np.linspace(0, count, max(1, round(count / size)) + 1).astype(int).tolist()
    yield from zip(ends[:-1], ends[1:], strict=True)


def _at_samples(legs: Legs) -> tuple[Array, dict[str, Array]]:
    """Return the right-handed projections of the joint moments on the joint axes, and the results at each sample."""
    force_term, term = inverse_dynamics_by_term(legs.segments())
    joint_force, joint_moment = force_term.sum(axis=2), term.sum(axis=2)
    in_lab = rotate(transpose(legs.rotation[:, :, :-1]), joint_moment)
    torque = np.where(legs.locked[..., None], np.nan, rotate(legs.axes, in_lab))
    stored, chain = cross_checks.Loads(joint_force, in_lab, torque), cross_checks.open_chain(legs)
    others = {
        "block_matrix": cross_checks.one_system(legs),
        "wrenches": cross_checks.wrenches_on_the_shank(legs),
        "recursion": chain.recursion,
        "closed_form": chain.closed_form,
    }
    energy, power = closures.energy_and_power(legs, joint_force, in_lab)
    seen, settled = (np.isfinite(part[..., 0]) for part in (legs.spin, legs.spin_rate))
    # a joint carries the loads of all segments beyond it
    carried, settled = (np.logical_and.accumulate(part, axis=2)[:, :, :-1] for part in (seen, settled))
    lost = np.isnan(torque).any(axis=-1)
    causes = [lost & ~(carried & seen[:, :, 1:]), lost & ~settled, legs.locked, lost]
    return torque, {
        "joint_force": joint_force,
        "joint_moment": joint_moment,
        "joint_moment_jcs": torque * legs.signs,
        "joint_moment_term": np.moveaxis(term, 2, 3),
        "joint_power": (in_lab * (legs.spin[:, :, :-1] - legs.spin[:, :, 1:])).sum(axis=-1),
        "missing": np.select(causes, [1, 4, 3, 2], 0).astype(np.int8),
        "interaction_torque": chain.interaction,
        "disagreement": cross_checks.disagreement(stored, others),
        "energy": energy,
        "power": power,
    }


@functools.cache
def _names() -> xr.Coordinates:
    """Return the coordinates that are the same in every trial."""
    names = {
        "side": SIDES,
        "joint": JOINTS,
        "segment": CHAIN,
        "axis": "xyz",
        "local_axis": "xyz",
        "angle": ANGLES,
        "term": TERMS,
        "cause": cross_checks.CAUSES,
        "motion": MOTIONS,
        "formulation": cross_checks.FORMULATIONS,
        "load": LOADS,
    }
    return xr.Coordinates({name: list(values) for name, values in names.items()})
