"""Curves and metrics in other axes, of other sign, scaled by body size (Hof 1996), and the share of the residual.

The curves are those of the setting ``further_curves``. Each curve also has a form over stance, 0 at foot strike and 100
at foot off, with a name that ends in :data:`IN_STANCE`; the step ``cycles`` cuts it.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from ...arrays import Array
from ...body.skeleton import body_height_m
from ...conventions import JOINTS, SEGMENTS, STANDARD_GRAVITY_M_S2
from ...dynamics.vectors import length, rotate
from ...trials.session import AnyTrial, spans_of

IN_STANCE = "_in_stance"
SOURCES = {  # variable with the values, or the dimensions, of the curve
    "joint_moment_distal": "joint_moment",
    "joint_moment_proximal": "joint_moment",
    "joint_moment_lab": "joint_force",
    "external_moment_jcs": "joint_moment_jcs",
    "joint_moment_per_height": "joint_moment_jcs",
    "joint_moment_dimensionless": "joint_moment_jcs",
    "joint_power_dimensionless": "joint_power",
}


def further(
    names: Sequence[str], kinetics: xr.Dataset, kinematics: xr.Dataset, calibrate: xr.Dataset
) -> dict[str, xr.Variable]:
    """Return named quantities (sample, side, joint, ...), before division by mass.

    ``joint_moment_distal``, ``_proximal`` and ``_lab`` are one vector in three sets of axes. ``external_moment_jcs``
    is the opposite of ``joint_moment_jcs``. ``joint_moment_per_height`` is ``joint_moment_jcs`` divided by body height,
    ``joint_moment_dimensionless`` by g l, and ``joint_power_dimensionless`` is power divided by g sqrt(g l), with l the
    leg length of the side (Hof 1996).
    """
    return {name: _quantity(name, kinetics, kinematics, calibrate) for name in names}


def _quantity(name: str, kinetics: xr.Dataset, kinematics: xr.Dataset, calibrate: xr.Dataset) -> xr.Variable:
    source: xr.Variable = kinetics.variables[SOURCES.get(name, name)]
    if name == "external_moment_jcs":
        return -source
    if name == "joint_moment_per_height":
        return source / float(calibrate.attrs["body_height_m"])
    if name.endswith("dimensionless"):
        legs = leg_lengths(kinematics)[kinematics.variables["sample_trial"].values]
        leg = STANDARD_GRAVITY_M_S2 * xr.Variable(("sample", "side"), legs)
        return source / (leg if "moment" in name else STANDARD_GRAVITY_M_S2 * np.sqrt(leg))
    if name not in ("joint_moment_lab", "joint_moment_proximal"):
        return source
    rotation = kinematics.rotation.sel(segment=list(SEGMENTS)).values
    moment = rotate(np.swapaxes(rotation[:, :, :-1], -1, -2), kinetics.joint_moment.values)
    return source.copy(data=moment if name == "joint_moment_lab" else rotate(rotation[:, :, 1:], moment))


def leg_lengths(kinematics: xr.Dataset) -> Array:
    """Return the leg lengths (trial, side), hip to knee to ankle centre, median of the trial, m.

    It is known wherever joint angles are. It does not include the height of the ankle.
    """
    names = kinematics.variables["joint"].values.tolist()
    centre = kinematics.variables["joint_centre"].values[:, :, [names.index(name) for name in JOINTS]]
    lengths = length(np.diff(centre, axis=2)).sum(axis=-1)
    of_trials = [lengths[span].T for span in spans_of(kinematics, "sample")]
    finite = [[of_side[np.isfinite(of_side)] for of_side in sides] for sides in of_trials]
    return np.array([[np.median(of_side) if of_side.size else np.nan for of_side in sides] for sides in finite])


def dimensionless(metrics: Mapping[str, Array], *, leg_length_m: Array) -> dict[str, Array]:
    """Return leg length and dimensionless metrics (Hof 1996), all (cycle,)."""
    time_s = np.sqrt(leg_length_m / STANDARD_GRAVITY_M_S2)
    return {
        "leg_length": leg_length_m,
        "walking_speed_dimensionless": metrics["walking_speed"] * time_s / leg_length_m,
        "stride_length_dimensionless": metrics["stride_length"] / leg_length_m,
        "step_length_dimensionless": metrics["step_length"] / leg_length_m,
        "step_width_dimensionless": metrics["step_width"] / leg_length_m,
        "stride_time_dimensionless": metrics["stride_time"] / time_s,
        "cadence_dimensionless": metrics["cadence"] / 60 * time_s,
    }


def per_height(metrics: Mapping[str, Array], *, height_m: float) -> dict[str, Array]:
    """Return stride and step length divided by body height, NaN without a height."""
    return {f"{name}_per_height": metrics[name] / height_m for name in ("stride_length", "step_length")}


def residual_share(kinetics: AnyTrial, calibrate: xr.Dataset) -> Array:
    """Return the magnitudes (sample, load) of the residual force and moment at the pelvis, percent.

    The force is in percent of body weight, the moment in percent of body weight times height.
    """
    weight = float(calibrate.attrs["body_mass_kg"]) * STANDARD_GRAVITY_M_S2
    parts = [kinetics.variables[f"pelvis_residual_{load}"].values for load in ("force", "moment")]
    sizes = np.stack([length(part) for part in parts], axis=-1)
    return np.asarray(100 * sizes / (weight, weight * body_height_m(calibrate)))


def root_mean_square_and_peak(share: Array) -> Array:
    """Return root mean square and peak of force, then of moment (sample, load), and the known part, percent; (5,)."""
    finite = share[np.isfinite(share).all(axis=1)]
    if not len(finite):
        return np.array([np.nan] * 4 + [0.0])
    figures = np.stack([np.sqrt(np.square(finite).mean(axis=0)), finite.max(axis=0)], axis=-1)
    return np.append(figures, 100 * len(finite) / len(share))
