"""Curves and metrics of the gait cycles and whole stances of a session.

Angles of pelvis, foot, thorax and head and the ground force are from the line of progression: with
``kinematics.line_of_progression`` ``walker`` that of the stride (``stride_direction``), with ``lab`` lab x, as in
Plug-in Gait.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...arrays import Array
from ...body.joint_angles import MIRROR, foot_progression, from_line, pelvis_angles
from ...conventions import FLEXION, SIDES
from ...signals.time_normalisation import PhaseFrames, at_phases
from ...trials.session import AnyTrial, AnyVariable, Trial
from ...uncertainty.spread import CutCycles, spread_over_draws
from ...variables.cycle_variables import STANCE, STANCE_CURVES
from ...variables.metrics import DRAWN, METRICS, OF_STANCE, WITH_ERRORS
from ...whole_body.angles import IN_LAB, of_part
from ...whole_body.loads import moments_of_sides
from ...whole_body.skeleton import SEGMENTS
from .cut_trial import CutTrial, Inputs
from .normalisation import IN_STANCE, dimensionless, further, leg_lengths, per_height, residual_share
from .peaks_and_work import impulses, peaks, ranges, work
from .spatiotemporal import turning_angle

RESIDUAL, EMG, FROM_LEGS = "pelvis_residual", "emg_envelope", "waist_moment_from_legs"
SEGMENT = {"pelvis_angle": "pelvis", "foot_progression": "foot"}
ANGLES = ("joint_angle", "pelvis_angle", "foot_progression", "upper_angle")


def quantities_of(session: Inputs[xr.Dataset], further_curves: Sequence[str]) -> dict[str, xr.Variable]:
    """Return the quantities (sample, side, ...) of all curves by name."""
    kinetics, kinematics, contacts, clean, calibrate = session
    wanted = {name: kinematics.variables[name] for name in ANGLES if name in kinematics.variables}
    wanted |= {name: kinetics.variables[name] for name in ("joint_moment_jcs", "joint_force", "joint_power")}
    wanted |= {name: kinetics.variables[name] for name in ("foot_power", "ankle_foot_power")}
    wanted["ground_force"] = contacts.variables["ground_force"]
    share = residual_share(kinetics, calibrate)[:, None].repeat(len(SIDES), axis=1)
    wanted[RESIDUAL] = xr.Variable(("sample", "side", "load"), share)
    wanted |= {EMG: clean.variables[EMG]} if EMG in clean.variables else {}
    if "upper_joint_moment" in kinetics:
        moment = moments_of_sides(kinematics, kinetics.variables["upper_joint_moment"].values)
        wanted["upper_moment"] = xr.Variable(("sample", "side", "upper_load", "angle"), moment)
        from_legs = moments_of_sides(kinematics, kinetics.variables[FROM_LEGS].values[:, None], ("waist",))[:, :, 0]
        known = np.isfinite(kinetics.variables["pelvis_residual_force"].values[:, 0])
        wanted[FROM_LEGS] = xr.Variable(("sample", "side", "angle"), np.where(known[:, None, None], from_legs, np.nan))
    whole_cycle = [name for name in further_curves if not name.endswith(IN_STANCE)]
    wanted |= further(whole_cycle, kinetics, kinematics, calibrate)
    return wanted | {name: wanted[name.removesuffix(IN_STANCE)] for name in further_curves if name.endswith(IN_STANCE)}


def curves_of(
    quantities: Mapping[str, AnyVariable], walk: CutTrial, kinematics: AnyTrial, mass_kg: float
) -> dict[str, Array]:
    """Return curves (cycle, ..., phase) of angles and envelopes, and of kinetics per body mass.

    ``..._in_stance`` is along ``stance_phase``, from foot strike to foot off. A cycle that is left out is NaN.

    Args:
        quantities: (sample, side, ...) by name.
    """
    curves = {}
    for name, quantity in quantities.items():
        plain = name.removesuffix(IN_STANCE)
        frames = walk.frames["phase" if plain == name else "stance_phase"]
        if plain in SEGMENT and walk.heading.any():
            rows = progression_angles(plain, kinematics, frames, walk.cycles.row, walk.heading)
        else:
            rows = np.ascontiguousarray(at_phases(quantity.values, frames, walk.cycles.row))
        if plain == "upper_angle" and walk.heading.any():
            rows = turn_to_line(rows, kinematics, frames, walk.cycles.row, walk.heading)
        if plain == "ground_force":
            rows = along_line(rows, walk.heading)
        if plain not in (*ANGLES, EMG):
            rows /= 1 if plain == RESIDUAL else mass_kg
            if plain != "upper_moment":  # from hands and head down, it needs no ground force
                rows[walk.without_force if plain == "ground_force" else walk.without_kinetics] = np.nan
        curves[name] = rows
    walk.leave_out(curves.values())
    return curves


def metrics_of(curves: Mapping[str, Array], walk: CutTrial, leg_length_m: Array, height_m: float) -> dict[str, Array]:
    """Return the metrics (cycle,) of all cycles, except the effective foot mass.

    Args:
        leg_length_m: (cycle,).
        height_m: body height, or NaN.
    """
    distances, share = walk.distances, walk.distances["stance_share"]
    return (
        distances
        | dimensionless(distances, leg_length_m=leg_length_m)
        | per_height(distances, height_m=height_m)
        | walk.phases
        | {"turning_angle": turning_angle(curves["pelvis_angle"], walk.cycles.side)}
        | peaks(curves, stance_share=share)
        | ranges(curves)
        | impulses(curves, stance_share=share, stride_s=distances["stride_time"])
        | work(curves, stance_share=share)
    )


def spread_of(session: Inputs[xr.Dataset], walk: CutTrial) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return bands, shares of the sources of error, and metrics of each draw, and their coordinates; empty if off."""
    if "uncertainty" not in session.kinetics.variables:
        return {}, {}
    unknown = np.full(len(walk.trial), np.nan)

    def cut(motion: Trial, loads: Trial) -> tuple[dict[str, Array], Array]:
        given: dict[str, AnyVariable] = {name: (motion if name in ANGLES else loads).variables[name] for name in DRAWN}
        given["ground_force"] = session.contacts.variables["ground_force"]
        curves = curves_of(given, walk, motion, session.mass_kg)
        metrics = metrics_of(curves, walk, unknown, np.nan)
        return curves, np.stack([metrics[name] if name in WITH_ERRORS else unknown for name in METRICS], axis=-1)

    out = walk.gone | walk.without_kinetics
    cycles = CutCycles(cut, walk.trial, walk.cycles.row, walk.cycles.span_s, walk.frames["phase"], out)
    return spread_over_draws(session.kinetics, session.kinematics, session.contacts, session.calibrate, cycles)


def of_whole_stances(
    session: Inputs[xr.Dataset], walk: CutTrial, quantities: Mapping[str, xr.Variable]
) -> dict[str, Array]:
    """Return the variables of cycles.nc along ``whole_stance``: angles, and kinetics per body mass.

    They are of each stance from foot strike to foot off, whether or not a whole cycle follows.

    Args:
        quantities: (sample, side, ...) by name.
    """
    stances, whole = walk.stances, walk.stances.whole
    row, duration_s = stances.row[whole], (stances.end - stances.start)[whole]
    curves, result = {}, {}
    for name in STANCE_CURVES:
        quantity = name.removesuffix(STANCE)
        values = np.ascontiguousarray(at_phases(quantities[quantity].values, walk.frames["whole_stance"], row))
        values = along_line(values, walk.stance_heading[whole]) if quantity == "ground_force" else values
        curves[quantity] = values if quantity == "joint_angle" else values / session.mass_kg
        result[name] = curves[quantity]
    leg_length = leg_lengths(session.kinematics)[walk.stance_trial, stances.row][whole]
    share = np.full(len(duration_s), 100.0)
    goes_on: Array = curves["joint_angle"].copy()
    goes_on[..., FLEXION, -1] = np.nan  # so that work that may go on in swing is unknown
    metrics = {
        "stance_time": duration_s,
        **peaks(curves, stance_share=share),
        **impulses(curves, stance_share=share, stride_s=duration_s),
        **work({**curves, "joint_angle": goes_on}, stance_share=share),
        "leg_length": leg_length,
    }
    unknown = np.full(len(duration_s), np.nan)
    stacked = np.stack([metrics[name] if name in OF_STANCE else unknown for name in METRICS], axis=-1)
    return result | {f"metric_value{STANCE}": stacked}


def headings(line_of_progression: str, stride_direction: Array) -> Array:
    """Return the direction of the line of strides (...), to the left of lab x, rad; 0 where it is not known.

    Args:
        line_of_progression: setting.
        stride_direction: (...), degrees, NaN where not known.
    """
    return np.nan_to_num(np.radians(stride_direction)) * (line_of_progression == "walker")


def progression_angles(
    name: str, kinematics: AnyTrial, frames: PhaseFrames, row: NDArray[np.intp], heading: Array
) -> Array:
    """Return ``pelvis_angle`` (cycle, angle, 101) or ``foot_progression`` (cycle, 101) from the line, degrees.

    Args:
        name: of the two.
        kinematics: the session.
        frames: the frames of the cycles.
        row, heading: (cycle,), index of the side, direction of the line in rad.
    """
    names = kinematics.variables["segment"].values.tolist()
    pose = kinematics.variables["rotation"].values[:, :, names.index(SEGMENT[name])]
    smallest = float(kinematics.variables["smallest_floating_axis"].values[0])
    mirror, line = MIRROR[row][:, None], heading[:, None]

    def angles_at(frame: NDArray[np.intp]) -> Array:
        turned = from_line(pose[frame, row[:, None]], line)
        if name == "foot_progression":
            return foot_progression(turned, mirror)
        return pelvis_angles(turned, smallest, mirror)

    return np.ascontiguousarray(frames.between(angles_at))


def along_line(curve: Array, heading: Array) -> Array:
    """Return lab vectors (cycle, axis, 101) in axes with x along the lines (cycle,) of ``heading``, rad."""
    return np.moveaxis(from_line(np.moveaxis(curve, 1, -1), heading), -1, 1)


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
