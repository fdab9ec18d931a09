"""Trunk, arms and balance of gait cycles: angles and moments, centre of mass, margin of stability, angular momentum.

The margin of stability is the distance from the extrapolated centre of mass to the border of the sole that bears the
body (Hof AL et al. 2005, J Biomech 38:1-8): lateral, on the side of the foot; forward, in the walking direction.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...arrays import Array
from ...body.joint_angles import from_line
from ...conventions import ANKLE, CONVENTIONAL, HIP, SIDE_SIGN, SIDES, STANDARD_GRAVITY_M_S2, UP
from ...plates.sole import sole
from ...signals.time_normalisation import PhaseFrames, at_phases
from ...trials.session import AnyTrial
from ...variables.metrics import WHOLE_BODY
from ...whole_body.angles import IN_LAB, of_part
from ...whole_body.balance import extrapolated
from ...whole_body.skeleton import SEGMENTS


def turn_to_line(
    angle: Array, kinematics: AnyTrial, frames: PhaseFrames, row: NDArray[np.intp], heading: Array
) -> Array:
    """Return ``upper_angle`` (cycle, part, angle, 101) with those of thorax and head from the lines of progression.

    Args:
        angle: from lab x, in the order of :data:`pipeline.whole_body.angles.PARTS`.
        row, heading: (cycle,), index of the side, direction of the line in rad.
    """
    smallest = float(kinematics.variables["smallest_floating_axis"].values[0])
    for i, part in enumerate(IN_LAB):
        pose = kinematics.variables["upper_rotation"].values[:, SEGMENTS.index(part)]

        def angles_at(frame: NDArray[np.intp], pose: Array = pose, part: str = part) -> Array:
            turned = from_line(pose[frame], heading[:, None])
            both = [of_part(part, {part: turned}, side, "isb", smallest) for side in SIDES]  # one sequence in all
            return np.where(row[:, None, None] == 0, *both)

        seen = np.isfinite(angle[:, i])
        angle[:, i] = np.where(seen, frames.between(angles_at), np.nan)
    return angle


def balance(
    kinematics: xr.Dataset,
    belt_m_s: Array,
    feet: Mapping[str, tuple[Array, Array]],
    frames: PhaseFrames,
    row: NDArray[np.intp],
    heading: Array,
    distances: Mapping[str, Array],
    size_kg_m: float,
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return curves and metrics of the balance of cycles; NaN where trunk or legs are not known.

    Args:
        belt_m_s: (cycle, 3), velocity of a body that stands still against the belt below the foot.
        feet: heel and toe (sample, 3) by side, m.
        frames: of the cycles.
        row, heading: (cycle,), index of the side, direction of the line of progression, rad.
        distances: metrics of the cycles: walking speed, share of stance.
        size_kg_m: body mass times height.
    """
    if "whole_body_centre_of_mass" not in kinematics:
        unknown = np.full(len(row), np.nan)
        return {}, dict.fromkeys(WHOLE_BODY, unknown)
    values = {name: kinematics.variables[f"whole_body_{name}"].values for name in ("centre_of_mass", "velocity")}
    hips = [kinematics.variables[f"joint_centre{rate}"].values[:, :, HIP].mean(axis=1) for rate in ("", "_velocity")]
    soles = np.stack([sole(*feet[side]) for side in SIDES], axis=1)
    markers = np.stack([np.stack(feet[side], axis=1) for side in SIDES], axis=1)
    ankle = kinematics.variables["joint_centre"].values[:, :, ANKLE]

    def along(quantity: Array) -> Array:
        """Return vectors (sample, [side,] ..., 3) at 0-100 % (cycle, 101, ..., 3) in axes with x along the lines."""
        of_sides = quantity if quantity.ndim > 2 else quantity[:, None].repeat(len(SIDES), axis=1)
        phases = np.moveaxis(at_phases(of_sides.astype(float), frames, row), -1, 1)
        turned = phases.reshape(len(row), phases.size // max(3 * len(row), 1), 3)
        return np.asarray(from_line(turned, heading).reshape(phases.shape))

    com, velocity = along(values["centre_of_mass"]), along(values["velocity"])
    border, foot, ends = along(soles), along(ankle), along(markers)
    length = np.linalg.norm(com[:, 0] - foot[:, 0], axis=-1)[:, None]
    by_pelvis, speed_of_hips = along(hips[0]), along(hips[1])
    out = np.array([SIDE_SIGN[side] for side in SIDES])[row][:, None]
    on_belt = from_line(belt_m_s[:, None], heading)
    outermost = [(out[..., None] * points[..., 2]).max(axis=-1) for points in (border, ends)]
    margins = []
    for point, speed in ((com, velocity), (by_pelvis, speed_of_hips)):
        reached = extrapolated(point, speed + on_belt, length, STANDARD_GRAVITY_M_S2)
        lateral = outermost[0] - out * reached[..., 2]
        margins.append(np.stack([lateral, border[..., 0].max(axis=-1) - reached[..., 0]], axis=1))
    margin, rough = margins
    share = distances["stance_share"][:, None]
    in_stance = np.arange(101.0) <= share
    smallest = np.where(in_stance, margin[:, 0], np.inf).min(axis=-1)
    margin = np.where(in_stance[:, None], margin, np.nan)
    momentum = kinematics.variables["angular_momentum"].values.sum(axis=1, dtype=float)
    spin = np.moveaxis(along(momentum), 1, -1) / (size_kg_m * distances["walking_speed"])[:, None, None]
    step = np.linspace(0, 1, 101)[:, None]
    moved = np.moveaxis(com - (com[:, :1] + step * (com[:, -1:] - com[:, :1])), 1, -1)
    curves = {"margin_of_stability": margin, "angular_momentum": spin, "centre_of_mass_displacement": moved}
    return curves, {
        "margin_of_stability_lateral": margin[:, 0, 0],
        "assumed_part_of_margin_of_stability": (outermost[0] - outermost[1])[:, 0],
        "margin_of_stability_forward": margin[:, 1, 0],
        "smallest_margin_of_stability_lateral": np.where(np.isfinite(smallest), smallest, np.nan),
        "margin_of_stability_lateral_by_pelvis": rough[:, 0, 0],
        "range_of_shoulder_flexion": np.ptp(at_phases(_shoulder_flexion(kinematics), frames, row), axis=-1),
        "range_of_centre_of_mass_height": np.ptp(moved[:, UP], axis=-1),
        "range_of_centre_of_mass_sideways": np.ptp(moved[:, 2], axis=-1),
        **{
            f"range_of_angular_momentum_{plane}": np.ptp(spin[:, i], axis=-1)
            for i, plane in enumerate(("frontal", "transverse", "sagittal"))
        },
    }


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
