"""Step ``kinetics``: joint forces and moments of both legs, with cross-checks and uncertainty."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...body.legs import Legs, legs_of
from ...conventions import ANGLES, CHAIN, JOINTS, SIDES
from ...dynamics.interaction_torques import MOTIONS
from ...dynamics.kernel import TERMS, Segments, inverse_dynamics_by_term
from ...dynamics.vectors import Array, cross, rotate, transpose
from ...results.trials import all_trials_at_once, batches, separate, spans_of
from . import cross_checks
from .closures import energy_closure, forward_closure
from .uncertainty import SOURCES, Spread, uncertainty

VECTOR = ("sample", "side", "joint")
SAMPLES_AT_A_TIME = 2000  # of whole trials, so that arrays fit the processor's cache and calls are few


@all_trials_at_once
def kinetics(
    kinematics: xr.Dataset,
    contacts: xr.Dataset,
    calibrate: xr.Dataset,
    *,
    gravity_m_s2: float,
    uncertainty_draws: int,
    uncertainty_band_percent: float,
    uncertainty_sizes: Mapping[str, float],
) -> xr.Dataset:
    """Solve the equations of motion of foot, shank and thigh for the joint loads.

    Args:
        kinematics, contacts: motion and ground wrenches of the trials.
        calibrate: the session's body-segment parameters.
        gravity_m_s2: magnitude of the acceleration of gravity, along -y of the lab.
        uncertainty_draws: number of Monte Carlo draws; 0 for none.
        uncertainty_band_percent: share of the draws inside the band.
        uncertainty_sizes: standard deviations of the errors.

    Returns:
        ``joint_force`` (sample, side, joint, axis), N, lab axes, and ``joint_moment`` (sample, side, joint,
        local_axis), N m, distal segment axes about the joint centre: of the proximal on the distal segment.
        ``joint_moment_term`` by :data:`pipeline.dynamics.kernel.TERMS`, ``joint_moment_jcs`` (orthogonal projection
        on the joint coordinate axes, positive towards a positive angle) and ``joint_power`` =
        M . (w_distal - w_proximal), W. ``interaction_torque``: contributions of the motion of each joint, of the
        pelvis and between the segments to ``joint_moment_jcs``. NaN where a segment, the ground wrench or the joint
        axes (gimbal lock) are unknown; ``missing`` (sample, side, joint) holds the cause.
        With draws: percentiles ``joint_moment_band`` and ``joint_power_band``, and ``joint_moment_variance_share`` of
        each source of error.
        One per trial: ``disagreement`` of the other formulations, ``forward_closure``, ``energy_closure``.
    """
    spans = spans_of(kinematics, "sample")
    legs_at = functools.partial(
        legs_of, kinematics, contacts, calibrate,
        gravity_m_s2=gravity_m_s2,
        smallest_floating_axis=float(kinematics.variables["smallest_floating_axis"].values[0]),
    )  # fmt: skip
    found: dict[str, tuple[tuple[str, ...], Array]] = {}
    for trials in batches(spans, SAMPLES_AT_A_TIME):
        samples = slice(spans[trials][0].start, spans[trials][-1].stop)
        place = {"sample": samples, "trial": trials}
        time = kinematics.variables["time"].values[samples]
        within = [slice(span.start - samples.start, span.stop - samples.start) for span in spans[trials]]
        for name, (dims, values) in _loads(legs_at(samples=samples), time, within).items():
            if name not in found:
                found[name] = dims, np.empty((kinematics.sizes[dims[0]], *values.shape[1:]), values.dtype)
            found[name][1][place[dims[0]]] = values
    result = xr.Dataset(found, _names())
    if not uncertainty_draws:
        return result
    spread = Spread.of_trials(
        uncertainty(
            legs_at(samples=span), found["joint_force"][1][span], trial, calibrate,
            draws=uncertainty_draws, band_percent=uncertainty_band_percent, sizes=uncertainty_sizes,
        )
        for span, trial in zip(spans, separate(kinematics).values(), strict=True)
    )  # fmt: skip
    return result.assign(
        joint_moment_band=((*VECTOR, "angle", "percentile"), spread.moment),
        joint_power_band=((*VECTOR, "percentile"), spread.power),
        joint_moment_variance_share=((*VECTOR, "angle", "error_source"), spread.share),
        percentile=spread.percentile,
        error_source=list(SOURCES),
    )


def _loads(legs: Legs, time: Array, trials: Sequence[slice]) -> dict[str, tuple[tuple[str, ...], Array]]:
    """Return the results without uncertainty for some trials, with their dimensions.

    Args:
        legs: the trials.
        time: (time,), s.
        trials: frames of each trial.
    """
    force_term, term = _joint_loads(legs)
    joint_force, joint_moment = force_term.sum(axis=2), term.sum(axis=2)
    in_lab = rotate(transpose(legs.rotation[:, :, :-1]), joint_moment)
    torque = np.where(legs.locked[..., None], np.nan, rotate(legs.axes, in_lab))
    solved = cross_checks.Loads(joint_force, in_lab, torque)
    chain = cross_checks.open_chain(legs)
    rates_hz = [float((len(t) - 1) / (t[-1] - t[0])) for t in (time[trial] for trial in trials)]
    return {
        "joint_force": ((*VECTOR, "axis"), joint_force),
        "joint_moment": ((*VECTOR, "local_axis"), joint_moment),
        "joint_moment_jcs": ((*VECTOR, "angle"), torque * legs.signs),
        "joint_moment_term": ((*VECTOR, "term", "local_axis"), np.moveaxis(term, 2, 3)),
        "joint_power": (VECTOR, (in_lab * (legs.spin[:, :, :-1] - legs.spin[:, :, 1:])).sum(axis=-1)),
        "missing": (VECTOR, _missing(legs, torque)),
        "interaction_torque": ((*VECTOR, "angle", "cause", "motion"), chain.interaction),
        "disagreement": (
            ("trial", "formulation", "load"),
            cross_checks.disagreement(solved, chain, cross_checks.wrenches_on_the_shank(legs), trials),
        ),
        "forward_closure": (
            ("trial", "side", "joint", "angle"),
            np.degrees(forward_closure(legs, torque, trials, rates_hz)),
        ),
        "energy_closure": (("trial", "side", "segment"), energy_closure(legs, joint_force, in_lab, time, trials)),
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
        "load": cross_checks.LOADS,
    }
    return xr.Coordinates({name: list(values) for name, values in names.items()})


def _joint_loads(legs: Legs) -> tuple[Array, Array]:
    """Return joint forces and moments (time, side, term, joint, 3).

    Forces in lab axes, moments in distal segment axes.
    """
    turn = legs.rotation[:, :, :-1]
    force, moment = np.zeros_like(legs.com), np.zeros_like(legs.com)
    force[:, :, 0] = legs.ground_force
    moment[:, :, 0] = legs.ground_moment - cross(legs.com[:, :, 0], legs.ground_force)
    distal = np.concatenate([legs.com[:, :, :1], legs.centre[:, :, :-1]], axis=2)
    segments = Segments(
        rotation=turn,
        mass=legs.mass,
        inertia=legs.inertia,
        com_acceleration=legs.com_acceleration,
        angular_velocity=rotate(turn, legs.spin[:, :, :-1]),
        angular_acceleration=rotate(turn, legs.spin_rate[:, :, :-1]),
        to_proximal=legs.centre - legs.com,
        to_distal=distal - legs.com,
        external_force=force,
        external_moment=moment,
        gravity=legs.gravity,
    )
    return inverse_dynamics_by_term(segments)


def _missing(legs: Legs, torque: Array) -> NDArray[np.int8]:
    """Return the variable ``missing``: the cause of a NaN along the joint axes."""
    seen = np.asarray(np.isfinite(legs.spin_rate).all(axis=-1))
    chain = np.logical_and.accumulate(seen, axis=2)  # a joint carries the loads of all segments beyond it
    unseen = ~(chain[:, :, :-1] & seen[:, :, 1:])
    lost = np.isnan(torque).any(axis=-1)
    return np.select([lost & unseen, legs.locked, lost], [1, 3, 2], 0).astype(np.int8)
