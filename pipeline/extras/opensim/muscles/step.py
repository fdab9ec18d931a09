"""Step ``muscles``: lengths, moment arms and forces of a model's muscles in each gait cycle, by OpenSim."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ....arrays import Array
from ....conventions import JOINTS, SIDES
from ....errors import UserError
from ....opensim_files.mot import read_table
from ....signals.time_normalisation import PHASE
from ....trials.session import Trial, trials_of
from .. import setup_files
from ..motion_files import Columns, load_columns, mot
from ..muscle_variables import OF_MUSCLES, SHARES, WITH_FORCES, muscle_refusal
from . import model_motion
from .checks import Checked, doubt_of
from .cycle_curves import ModelMotion, both_sides, curves_of, peaks
from .opensim_run import fit_motion, geometry, refuse_full_disk, share_moments
from .scaled_model import BODIES, ENDS, ScaledModel, opensim, write_scaled_model
from .settings import Settings

MARGIN = 3  # frames analysed before and after the cycles: Analyze may leave out the first
FEWEST_FRAMES = 10  # of a motion, to which OpenSim fits splines
AT_ONCE_S = 1e-6
NO_KINETICS = "no_kinetics"
WALK, LOADS = "walk", "loads"  # names of files


class Session(NamedTuple):
    """What all walks of a session share."""

    calibrate: xr.Dataset
    model: ScaledModel
    standing_m: Array  # (side, muscle), lengths in the static trial
    settings: Settings
    folder: Path

    @property
    def mass_kg(self) -> float:
        """Return the body mass."""
        return float(self.calibrate.attrs["body_mass_kg"])


def muscles(
    cycles: xr.Dataset,
    kinematics: xr.Dataset,
    contacts: xr.Dataset,
    calibrate: xr.Dataset,
    *,
    settings: Settings,
    folder: Path,
    model_sha256: str = "",
) -> xr.Dataset:
    """Find what the muscles of a scaled model do in the gait cycles of a session.

    The model follows joint centres and segment axes of the study. Static optimisation shares the moments that ground
    reactions and motion demand among muscles, so that the sum of a power of the activations is least.

    Args:
        folder: an empty one, for OpenSim's files.
        model_sha256: of the model's file, for the result's attributes.

    Returns:
        The variables of :data:`pipeline.extras.opensim.muscle_variables.OF_MUSCLES` and its metrics, in the cycles of
        ``cycles``. Forces of a cycle that fails a check, or has no kinetics, are NaN, with the reason.

    Raises:
        UserError: the model cannot be used.
        OSError: the disk is full.
    """
    result = cycles.drop_dims({*cycles.dims} - {"trial", "cycle"})
    result = result.drop_vars([*result.data_vars])
    used = {"opensim_model_sha256": model_sha256}
    if "cycle" not in cycles.dims:  # all trials are rejected
        return result.assign_attrs(used)
    if "rejected" in calibrate.attrs:
        raise UserError("trials.tsv", "no static trial to scale the muscles' model by", "list one with role static")
    scaled, sizes = folder / setup_files.SCALED_MODEL, model_motion.sizes_of(calibrate)
    try:
        model = write_scaled_model(
            Path(settings.model), scaled, sizes, strength=settings.strength, reserve_n_m=settings.reserve_n_m
        )
    finally:
        refuse_full_disk(folder)
    session = Session(calibrate, model, _standing(calibrate, model, folder), settings, folder)
    found = _nothing(cycles.sizes["cycle"], model)
    walks, grounds = trials_of(kinematics), trials_of(contacts)
    known = np.isfinite(cycles["joint_angle"].values).any(axis=(1, 2, 3))  # others are left out, or their leg is
    unposed = muscle_refusal("model_not_posed")
    found["muscle_reason"][~known], found["muscle_reason_code"][~known] = unposed.what, unposed.code
    for number, name in enumerate(cycles["trial"].values.tolist()):
        mine = np.flatnonzero(known & (cycles["cycle_trial"].values == number))
        if mine.size:
            for variable, values in _of_walk(cycles.isel(cycle=mine), walks[name], grounds[name], session).items():
                found[variable][mine] = values
    for i, (contact, activation) in enumerate(zip(found["joint_contact_force"], found["activation"], strict=True)):
        if doubt := doubt_of(contact, activation, model.muscles):
            found["muscle_doubt"][i], found["muscle_doubt_code"][i] = doubt.what, doubt.code
    found |= peaks(found, model.muscles)
    labels: dict[str, Any] = {"model_muscle": [*model.muscles], "coordinate": [*model.coordinates]}
    labels |= {"joint": [*JOINTS], "axis": [*"xyz"], "phase": PHASE}
    return result.assign({
        name: (OF_MUSCLES[name].dims if name in OF_MUSCLES else ("cycle",), values) for name, values in found.items()
    }).assign_coords(labels).assign_attrs(_about(session) | used)  # fmt: skip


def _about(session: Session) -> dict[str, str | float]:
    """Return what the result says of the model and of OpenSim."""
    model = session.model
    factors = {body: every if body == "pelvis" else every[:1] for body, every in model.factors.items()}
    return {
        "opensim_version": str(opensim().GetVersion()),
        "opensim_model": Path(session.settings.model).name,
        "opensim_model_scale": ", ".join(
            f"{body} {'x'.join(f'{factor:.4f}' for factor in several)}" for body, several in factors.items()
        ),
        "opensim_pelvis_tilt": float(np.degrees(model.pelvis.tilt_rad)),
        "opensim_pelvis_spines": model.pelvis.spines,
    }


def _standing(calibrate: xr.Dataset, model: ScaledModel, folder: Path) -> Array:
    """Return the lengths (side, muscle) in the static trial, m; NaN of a side that is absent."""
    points = model_motion.standing(calibrate, model)
    twice = {name: np.repeat(point, 2, axis=0) for name, point in points.items()}  # the tool needs two frames
    posture = fit_motion(folder, "standing", np.array([0.0, 0.01]), twice, rate_hz=100.0)
    lengths = geometry(folder / setup_files.SCALED_MODEL, posture, dict.fromkeys(model.moved, ())).length
    seen = np.array([[np.isfinite(points[f"ankle_centre_{end}"]).all()] for end in ENDS])
    return np.where(seen, [[lengths[f"{name}_{end}"][0] for name in model.muscles] for end in ENDS], np.nan)


def _nothing(count: int, model: ScaledModel) -> dict[str, NDArray[Any]]:
    """Return the variables of so many cycles without values."""
    sizes = {"cycle": count, "model_muscle": len(model.muscles), "coordinate": len(model.coordinates)}
    sizes |= {"joint": len(JOINTS), "axis": 3, "phase": len(PHASE)}
    return {
        name: np.full([sizes[dim] for dim in variable.dims], *(("", object) if variable.dtype == "U" else (np.nan,)))
        for name, variable in OF_MUSCLES.items()
    }


def _of_walk(cycles: xr.Dataset, kinematics: Trial, contacts: Trial, session: Session) -> dict[str, NDArray[Any]]:
    """Return the variables of the cycles of a walk; those of cycles in which the model has no posture are NaN."""
    found = _nothing(cycles.sizes["cycle"], session.model)
    points, time = model_motion.walking(kinematics, session.calibrate, session.model), kinematics["time"].values
    seen = slice(*model_motion.posed(points))
    span_s = np.stack([cycles[f"{name}_time"].values for name in ("start", "end")], axis=1)
    inside = np.zeros(len(span_s), dtype=bool)
    if len(time[seen]) >= FEWEST_FRAMES:
        inside = (span_s[:, 0] > time[seen][0] - AT_ONCE_S) & (span_s[:, 1] < time[seen][-1] + AT_ONCE_S)
    problems = [None if at else muscle_refusal("model_not_posed") for at in inside]
    if inside.any():
        try:
            motion = _run(
                time[seen], {name: point[seen] for name, point in points.items()}, span_s[inside], contacts, session
            )
        except UserError as error:
            failed = muscle_refusal("opensim_failed", what=str(error))
            problems = [failed if at else old for at, old in zip(inside, problems, strict=True)]
        else:
            rows = np.searchsorted(SIDES, cycles["side"].values)
            curves = curves_of(motion, span_s[inside], rows[inside], session.standing_m, mass_kg=session.mass_kg)
            for name, values in curves.items():
                found[name][inside] = values
            for i in np.flatnonzero(inside).tolist():
                checked = Checked(motion, session.model, span_s[i], rows[i])
                found["model_misfit"][i] = checked.misfit
                found["reserve_share"][i], found["muscle_moment_error"][i] = checked.reserve_share, checked.moment_error
                has_kinetics = cycles["reason"].values[i] == ""
                most = session.settings.most_reserve_percent
                problems[i] = (
                    checked.problem(most_reserve_percent=most) if has_kinetics else muscle_refusal(NO_KINETICS)
                )
    for i, problem in enumerate(problems):
        if problem:
            found["muscle_reason"][i], found["muscle_reason_code"][i] = problem.what, problem.code
            for name in WITH_FORCES if problem.code == NO_KINETICS else {*WITH_FORCES} - {*SHARES}:
                found[name][i] = np.nan
    return found


def loads(contacts: Trial) -> Columns:
    """Return force (N), point (m) and torque about it (N m) on each foot at each frame, lab axes.

    They are filtered as those of the kinetics. A foot without known force has none.
    """
    columns = {"time": contacts["time"].values}
    for side in setup_files.OF_SIDE:
        names = ("ground_force", "ground_moment", "centre_of_pressure")
        force, moment, point = (contacts[name].values[:, SIDES.index(side)].astype(float) for name in names)
        columns |= load_columns(side, np.nan_to_num(force), np.nan_to_num(moment), point)
    return columns


def _run(time: Array, points: dict[str, Array], span_s: Array, contacts: Trial, session: Session) -> ModelMotion:
    """Return what OpenSim finds of a walk in the frames around its cycles."""
    folder, model, interval_s = session.folder, session.model, float(np.median(np.diff(time)))
    motion = fit_motion(folder, WALK, time, points, rate_hz=1 / interval_s)
    (folder / LOADS).with_suffix(".mot").write_text(mot(LOADS, loads(contacts)))
    (folder / LOADS).with_suffix(".xml").write_bytes(setup_files.external_loads(LOADS, f"{LOADS}.mot"))
    first_s = max(span_s.min() - MARGIN * interval_s, time[0])
    walk = setup_files.Walk(f"{WALK}.mot", f"{LOADS}.xml", (first_s, min(span_s.max() + MARGIN * interval_s, time[-1])))
    forces = share_moments(
        folder,
        walk,
        joints=[model.joints[f"{BODIES[joint]}_{end}"] for joint in JOINTS for end in ENDS],
        activation_exponent=session.settings.activation_exponent,
    )
    rows = np.searchsorted(motion["time"], forces.time - interval_s / 2)
    analysed = {name: values[rows] for name, values in motion.items()}
    places = geometry(folder / setup_files.SCALED_MODEL, analysed, model.moved)
    misfit = read_table(folder / f"{WALK}_ik_marker_errors.sto")["marker_error_RMS"][rows]
    return both_sides(places, forces, model, misfit)
