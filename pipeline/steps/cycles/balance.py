"""Trunk, arms and balance of gait cycles: angles and moments, centre of mass, margin of stability, angular momentum.

The margin of stability is the distance from the extrapolated centre of mass to the border of the sole that bears the
body (Hof AL et al. 2005, J Biomech 38:1-8): lateral, on the side of the foot; forward, in the walking direction.
"""

from __future__ import annotations

import numpy as np
import xarray as xr

from ...arrays import Array
from ...body.joint_angles import from_line
from ...body.skeleton import body_height_m
from ...conventions import ANKLE, CONVENTIONAL, HIP, SIDE_SIGN, SIDES, STANDARD_GRAVITY_M_S2, UP
from ...plates.incline import VERTICAL, uphill
from ...plates.sole import sole
from ...signals.time_normalisation import at_phases
from ...variables.metrics import WHOLE_BODY
from ...whole_body.angles import of_part
from ...whole_body.balance import extrapolated
from ...whole_body.skeleton import SEGMENTS
from .cut_trial import CutTrial, Inputs, marker_of_feet


def balance(session: Inputs[xr.Dataset], walk: CutTrial) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return curves and metrics of the balance of cycles; NaN where trunk or legs are not known.

    Angular momentum is divided by body mass, height and walking speed.
    """
    kinematics = session.kinematics
    if "whole_body_centre_of_mass" not in kinematics:
        return {}, dict.fromkeys(WHOLE_BODY, np.full(len(walk.gone), np.nan))
    com = _along(kinematics.variables["whole_body_centre_of_mass"].values, walk)
    margin, by_pelvis, assumed = _margins_of_stability(session, walk, com)
    in_stance = np.arange(101.0) <= walk.distances["stance_share"][:, None]
    smallest = np.where(in_stance, margin[:, 0], np.inf).min(axis=-1)
    margin = np.where(in_stance[:, None], margin, np.nan)
    momentum = kinematics.variables["angular_momentum"].values.sum(axis=1, dtype=float)
    size_kg_m = session.mass_kg * body_height_m(session.calibrate)
    spin = np.moveaxis(_along(momentum, walk), 1, -1) / (size_kg_m * walk.distances["walking_speed"])[:, None, None]
    step = np.linspace(0, 1, 101)[:, None]
    moved = np.moveaxis(com - (com[:, :1] + step * (com[:, -1:] - com[:, :1])), 1, -1)
    flexion = at_phases(_shoulder_flexion(kinematics), walk.frames["phase"], walk.cycles.row)
    curves = {"margin_of_stability": margin, "angular_momentum": spin, "centre_of_mass_displacement": moved}
    metrics = {
        "margin_of_stability_lateral": margin[:, 0, 0],
        "assumed_part_of_margin_of_stability": assumed,
        "margin_of_stability_forward": margin[:, 1, 0],
        "smallest_margin_of_stability_lateral": np.where(np.isfinite(smallest), smallest, np.nan),
        "margin_of_stability_lateral_by_pelvis": by_pelvis[:, 0, 0],
        "range_of_shoulder_flexion": np.ptp(flexion, axis=-1),
        "range_of_centre_of_mass_height": np.ptp(moved[:, UP], axis=-1),
        "range_of_centre_of_mass_sideways": np.ptp(moved[:, 2], axis=-1),
    }
    planes = ("frontal", "transverse", "sagittal")
    metrics |= {f"range_of_angular_momentum_{name}": np.ptp(spin[:, i], axis=-1) for i, name in enumerate(planes)}
    walk.leave_out([*curves.values(), *metrics.values()])
    return curves, metrics


def _along(quantity: Array, walk: CutTrial) -> Array:
    """Return vectors (sample, [side,] ..., 3) at 0-100 % (cycle, 101, ..., 3) in axes with x along the lines."""
    of_sides = quantity if quantity.ndim > 2 else quantity[:, None].repeat(len(SIDES), axis=1)
    phases = np.moveaxis(at_phases(of_sides.astype(float), walk.frames["phase"], walk.cycles.row), -1, 1)
    turned = phases.reshape(len(walk.gone), phases.size // max(3 * len(walk.gone), 1), 3)
    return np.asarray(from_line(turned, walk.heading).reshape(phases.shape))


def _margins_of_stability(session: Inputs[xr.Dataset], walk: CutTrial, com: Array) -> tuple[Array, Array, Array]:
    """Return margins (cycle, 2, 101), lateral and forward, m, and which part of the lateral ones is assumed (cycle,).

    The second ones take the middle of the hips for the centre of mass. The assumed part is how far the border of the
    sole is beyond the markers of heel and toe at foot strike.

    Args:
        com: (cycle, 101, 3), centre of mass along the lines.
    """
    motion, row = session.kinematics.variables, walk.cycles.row
    hips = [motion[f"joint_centre{rate}"].values[:, :, HIP].mean(axis=1) for rate in ("", "_velocity")]
    of_pelvis = (_along(hips[0], walk), _along(hips[1], walk))
    heel, toe = (marker_of_feet(session.clean, name) for name in ("heel", "toe"))
    border = _along(np.stack([sole(heel[:, i], toe[:, i]) for i in range(len(SIDES))], axis=1), walk)
    ends = _along(np.stack([heel, toe], axis=2), walk)
    ankle = _along(motion["joint_centre"].values[:, :, ANKLE], walk)
    length = np.linalg.norm(com[:, 0] - ankle[:, 0], axis=-1)[:, None]
    out = np.array([SIDE_SIGN[side] for side in SIDES])[row][:, None]
    outermost = [(out[..., None] * points[..., 2]).max(axis=-1) for points in (border, ends)]
    ground = session.contacts.variables.get("ground_normal")
    slope = uphill(np.tile(VERTICAL, (len(row), 1)) if ground is None else ground.values[walk.trial])
    belt_m_s = session.contacts.variables["belt_speed"].values[walk.trial, row, None] * slope
    on_belt = from_line(belt_m_s[:, None], walk.heading)  # velocity of a body that stands still against the belt
    margins = []
    for point, speed in ((com, _along(motion["whole_body_velocity"].values, walk)), of_pelvis):
        reached = extrapolated(point, speed + on_belt, length, STANDARD_GRAVITY_M_S2)
        lateral = outermost[0] - out * reached[..., 2]
        margins.append(np.stack([lateral, border[..., 0].max(axis=-1) - reached[..., 0]], axis=1))
    return margins[0], margins[1], (outermost[0] - outermost[1])[:, 0]


def _shoulder_flexion(kinematics: xr.Dataset) -> Array:
    """Return the flexion of the shoulders (sample, side) in the sequence of Plug-in Gait, degrees.

    Those of Wu et al. (2005) have no flexion: their plane of elevation is unknown where the arm hangs.
    """
    frames = {name: kinematics.variables["upper_rotation"].values[:, i] for i, name in enumerate(SEGMENTS)}
    smallest = float(kinematics.variables["smallest_floating_axis"].values[0])
    seen = kinematics.variables["upper_segment_seen"].values[kinematics.variables["sample_trial"].values]
    flexion = [of_part("shoulder", frames, side, CONVENTIONAL, smallest)[:, 0] for side in SIDES]
    shown = [seen[:, SEGMENTS.index(f"upper_arm_{side}")] > 0 for side in SIDES]
    return np.where(np.stack(shown, axis=1), np.stack(flexion, axis=1), np.nan)
