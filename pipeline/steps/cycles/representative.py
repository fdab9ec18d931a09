"""The trial that the report shows in motion: the nearest to a session's means."""

from collections.abc import Mapping

import numpy as np
import xarray as xr

from ...arrays import Array
from ...body import joint_angles
from ...conventions import ANGLES, FROM_HIP, JOINTS, SIDES
from ...dynamics.kernel import TERMS
from ...dynamics.vectors import transpose
from ...results.averages import average
from ...signals.time_normalisation import PHASE, over_one_cycle
from ...trials.session import AnyTrial, one_trial, trials_of
from ...whole_body.skeleton import END, JOINT, ORIGIN, SEGMENTS
from ...whole_body.skeleton import JOINTS as JOINTS_OF_TRUNK

LANDMARKS = ("heel", "toe", "asis", "psis")
MARGIN_S = 0.1  # before the first cycle and after the last one


def representative(
    cycles: xr.Dataset,
    kinetics: xr.Dataset,
    kinematics: xr.Dataset,
    contacts: xr.Dataset,
    clean: xr.Dataset,
    *,
    conditions: Mapping[str, str],
) -> xr.Dataset:
    """Return one trial of a session around one gait cycle of each side.

    Trials with kinetics on both sides come first. Among these, the trial is chosen that is nearest to the mean flexion
    angles and moments of the session's cycles of the same side and condition.

    Returns:
        The variables of :data:`pipeline.variables.cycle_variables.REPRESENTATIVE`, parts of the joint moments as of
        :func:`parts_over_cycle`; attributes ``trial`` and ``condition``. Empty without a gait cycle.
    """
    if not cycles.sizes.get("cycle"):
        return xr.Dataset()
    number, chosen = _choose_trial(cycles, conditions)
    name = cycles.variables["trial"].values.tolist()[number]
    loads, motion, markers = (trials_of(session, [name])[name] for session in (kinetics, kinematics, clean))
    limits, valid = np.full((2, len(SIDES)), np.nan), np.zeros(len(SIDES), dtype=bool)
    terms = np.full((len(SIDES), len(JOINTS), len(ANGLES), len(TERMS), len(PHASE)), np.nan)
    causes = np.full((*terms.shape[:3], len(loads["cause"].values), len(PHASE)), np.nan)
    for side, cycle in chosen.items():
        row = SIDES.index(side)
        start, end = limits[:, row] = [cycles.variables[f"{edge}_time"].values[cycle] for edge in ("start", "end")]
        valid[row] = cycles.variables["kinetics_valid"].values[cycle]
        terms[row], causes[row] = parts_over_cycle(motion, loads, row=row, start_s=start, end_s=end)
    points = points_of_figure(motion, markers)
    of_joint = ("side", "joint", "angle")
    labels = {dim: loads[dim].values for dim in (*of_joint, "term", "cause")} | {"point": [*points], "phase": PHASE}
    return (
        one_trial(contacts, name)[["ground_force", "centre_of_pressure"]]
        .reset_coords(drop=True)
        .assign_coords(labels)
        .assign(
            point_position=(("time", "point", "axis"), np.stack([*points.values()], axis=1)),
            joint_moment_by_term=((*of_joint, "term", "phase"), terms),
            joint_moment_by_cause=((*of_joint, "cause", "phase"), causes),
            cycle_start=("side", limits[0]),
            cycle_end=("side", limits[1]),
            cycle_has_kinetics=("side", valid),
        )
        .sel(time=slice(np.nanmin(limits) - MARGIN_S, np.nanmax(limits) + MARGIN_S))
        .assign_attrs(trial=name, condition=conditions[name])
    )


def points_of_figure(motion: AnyTrial, markers: AnyTrial) -> dict[str, Array]:
    """Return the points (time, 3) of the figure, m, left side first, each from the hip down; then trunk and arms."""
    names, position = markers["marker"].values.tolist(), markers["marker_position"].values
    points: dict[str, Array] = {}
    for row, side in enumerate(SIDES):
        for joint in FROM_HIP:
            points[f"{joint} {side}"] = motion["joint_centre"].values[:, row, JOINTS.index(joint)]
        for landmark in (name for name in LANDMARKS if f"{name}_{side}" in names):
            points[f"{landmark} {side}"] = position[:, names.index(f"{landmark}_{side}")]
    return points | _points_of_trunk(motion)


def _points_of_trunk(motion: AnyTrial) -> dict[str, Array]:
    """Return the points (time, 3) of trunk, head and arms that are seen, and the centre of mass of the whole body.

    Those of head and hand are their centres of mass.
    """
    points: dict[str, Array] = {}
    seen = motion["upper_segment_seen"].values if "upper_segment_seen" in motion.variables else np.empty(0)
    for i in np.flatnonzero(seen).tolist():
        for name in (point[SEGMENTS[i]] for point in (JOINT, ORIGIN, END)):
            at_joint = name in JOINTS_OF_TRUNK
            of, row = ("upper_joint_centre", JOINTS_OF_TRUNK.index(name)) if at_joint else ("upper_com_position", i)
            points[name.removesuffix("_middle").replace("_", " ")] = motion[of].values[:, row]
    return points | ({"centre of mass": motion["whole_body_centre_of_mass"].values} if points else {})


def _choose_trial(cycles: xr.Dataset, conditions: Mapping[str, str]) -> tuple[int, dict[str, int]]:
    """Return the number of the trial to show, and along ``cycle`` that of the cycle of each side."""
    flexion = [cycles[name].sel(angle="flexion").values for name in ("joint_angle", "joint_moment_jcs")]
    trial, valid = cycles.variables["cycle_trial"].values, cycles.variables["kinetics_valid"].values.astype(bool)
    names, side = cycles.variables["trial"].values.tolist(), cycles.variables["side"].values.astype(str)
    group = np.array([f"{conditions[names[i]]}\t{of}" for i, of in zip(trial.tolist(), side, strict=True)])
    best: dict[int, dict[str, tuple[bool, float, int]]] = {}
    curves = np.concatenate(flexion, axis=1)
    everyone = average(np.moveaxis(curves, 1, 0).reshape(curves.shape[1], -1).T)
    spread = np.where(everyone.sd > 0, everyone.sd, 1.0)
    apart = np.zeros(len(curves))  # RMS distance from the mean of the group, in units of spread
    for name in np.unique(group):
        mine = group == name
        away = (curves[mine] - average(curves[mine]).mean) / spread[:, None]
        finite = np.isfinite(away)
        squares = np.where(finite, away, 0.0) ** 2
        apart[mine] = np.sqrt(squares.sum(axis=(1, 2)) / np.maximum(finite.sum(axis=(1, 2)), 1))
    for i, distance in enumerate(apart.tolist()):
        of_trial = best.setdefault(int(trial[i]), {})
        rank = (not valid[i], distance, i)
        of_trial[side[i]] = min(of_trial.get(side[i], rank), rank)
    number, chosen = min(best.items(), key=lambda item: _rank([*item[1].values()]))
    return number, {name: chosen[name][2] for name in SIDES if name in chosen}


def _rank(sides: list[tuple[bool, float, int]]) -> tuple[int, int, float]:
    """Return a trial's sort key: sides with kinetics, sides, distance from the mean."""
    return (-sum(not without for without, _, _ in sides), -len(sides), float(np.mean([away for _, away, _ in sides])))


def parts_over_cycle(
    kinematics: AnyTrial, kinetics: AnyTrial, *, row: int, start_s: float, end_s: float
) -> tuple[Array, Array]:
    """Return the parts of the joint moments of one side over one cycle, N m, along the joint axes, clinical signs.

    Returns:
        (joint, angle, term, phase), and the terms of motion (inertia and velocity) by cause (joint, angle, cause,
        phase).
    """
    by_term = project_terms(kinematics, kinetics)[:, row]
    by_cause = kinetics["interaction_torque"].values[:, row].sum(axis=-1)
    time = kinetics["time"].values
    terms, causes = (np.moveaxis(over_one_cycle(part, time, start_s, end_s), 0, -1) for part in (by_term, by_cause))
    return terms, causes


def project_terms(kinematics: AnyTrial, kinetics: AnyTrial) -> Array:
    """Return ``joint_moment_term`` along the joint coordinate axes, N m, clinical signs.

    (time, side, joint, angle, term). The terms sum to ``joint_moment_jcs``. NaN in gimbal lock.
    """
    rotation = kinematics["rotation"].values
    proximal, distal = rotation[:, :, 1:], rotation[:, :, :-1]
    onto = joint_angles.SIGNS[..., None] * (joint_angles.axes(proximal, distal) @ transpose(distal))
    projected = onto @ transpose(kinetics["joint_moment_term"].values)
    return np.where(np.isfinite(kinetics["joint_moment_jcs"].values)[..., None], projected, np.nan)
