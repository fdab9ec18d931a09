"""Pelvis residual as share of body weight, and of body weight times height."""

import numpy as np
import xarray as xr

from ...arrays import Array
from ...body.legs import body_height_m
from ...conventions import STANDARD_GRAVITY_M_S2
from ...trials.session import AnyTrial


def residual_share(kinetics: AnyTrial, calibrate: xr.Dataset) -> Array:
    """Return the magnitudes (sample, load) of the residual force and moment at the pelvis, percent.

    The force is in percent of body weight, the moment in percent of body weight times height.
    """
    weight = float(calibrate.attrs["body_mass_kg"]) * STANDARD_GRAVITY_M_S2
    parts = [kinetics.variables[f"pelvis_residual_{load}"].values for load in ("force", "moment")]
    sizes = np.stack([np.linalg.norm(part, axis=-1) for part in parts], axis=-1)
    return np.asarray(100 * sizes / (weight, weight * body_height_m(calibrate)))


def root_mean_square_and_peak(share: Array) -> Array:
    """Return root mean square and peak of force, then of moment (sample, load), and the known part, percent; (5,)."""
    finite = share[np.isfinite(share).all(axis=1)]
    if not len(finite):
        return np.array([np.nan] * 4 + [0.0])
    figures = np.stack([np.sqrt(np.square(finite).mean(axis=0)), finite.max(axis=0)], axis=-1)
    return np.append(figures, 100 * len(finite) / len(share))
