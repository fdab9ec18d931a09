"""The files of one session for OpenSim."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ....body.body_model import BodyModel
from ....body.landmarks import choose_labels
from ....errors import UserError, join_some
from ....json_text import object_in
from ....person.marker_travel import STANDING_M, extent_m
from ....results.whole_files import write_whole
from ....signals.filters import design_cutoff_hz, stretches
from ....steps.clean.settings import Settings as CleanSettings
from ....steps.clean.step import clean
from ....trials.session import Trial, trials_of
from .. import setup_files
from ..motion_files import mot, trc
from . import trial_data
from .model import MarkerNames, Model

NOT_PLACED = "no inverse kinematics by {}, which the static trial does not show"
NOT_SCALED = "no markers to measure {}; add measurements"
NO_LOAD = "no valid stance: no ground reaction and no inverse dynamics"
STATIC, SCALE = "scale.trc", "scale.xml"
OF_A_WALK = (".trc", "_angles.mot", "_grf.mot", "_grf.xml", "_ik.xml", "_id.xml")
MOST_LISTED = 6
FEWEST_MARKERS = 3  # to pose a body; without any, InverseKinematics fails
TOO_FEW = "no frame with three markers of the model and posed legs"
UNFILTERED = {"marker_filter": "butterworth", "marker_cutoff_hz": None}  # settings of the step clean


class Choices(NamedTuple):
    """How to write files: names and weights of markers, the model if given and its place, and what to add."""

    names: MarkerNames
    model: Model | None
    model_path: Path
    angles: bool
    filter_forces: bool

    @property
    def on_model(self) -> frozenset[str]:
        """The markers on the model; none if it is unknown or to get its markers from another file."""
        return self.model.markers if self.model else frozenset()

    def weights(self, markers: Mapping[str, Any]) -> dict[str, float]:
        """Return the weights of the markers that the model has; joint centres need one in the user's table."""
        if self.on_model and self.on_model.isdisjoint(markers):
            here, there = (join_some(sorted(names), MOST_LISTED) for names in (markers, self.on_model))
            remedy = "name them by a table with the columns label and marker: --markers TSV"
            raise UserError(str(self.model_path), f"has none of the markers ({here}), but {there}", remedy)
        weights = self.names.weights
        left_out = {self.names.name(label) for label in trial_data.CENTRES.values()} - {*weights}
        placed = (self.on_model or {*markers}) - left_out
        return {name: weights.get(name, 1.0) for name in markers if name in placed}

    def landmarks(self, body_model: BodyModel, labels: Collection[str]) -> dict[str, str]:
        """Return the marker of each landmark that is one marker of the model, and of its joint centres (``hip_left``).

        Few models have markers at the joint centres, or have arms: without a known model there are none.
        """
        chosen = {name: group[0] for name, group in choose_labels(body_model, labels).items() if len(group) == 1}
        if self.on_model:
            chosen |= {
                f"{joint}_{side}": label for (side, joint), label in trial_data.CENTRES.items() if label in labels
            }
            chosen |= trial_data.upper_labels(body_model, labels)
        named = {landmark: self.names.name(label) for landmark, label in chosen.items()}
        markers = self.on_model or {*named.values()}
        return {landmark: marker for landmark, marker in named.items() if marker and marker in markers}


def write_session(
    folder: Path, results: Mapping[str, xr.Dataset], body_model: BodyModel, choices: Choices
) -> dict[str, str]:
    """Write the files of a session.

    Returns:
        By walking trial what it lacks, or nothing; and what the setup of Scale lacks, or why there is none.

    Raises:
        UserError: two markers have one name, or none is on the model.
    """
    choices.names.refuse_strange(results["read"]["marker"].values.tolist())
    calibration, settings = results["calibrate"].attrs, object_in(results["contacts"].attrs, "settings")
    trials = {step: trials_of(data) for step, data in results.items() if step != "calibrate"}
    unfiltered = CleanSettings(**settings["clean"] | UNFILTERED)
    trials["repaired"] = trials_of(clean(results["read"], body_model=body_model, settings=unfiltered))
    lacking, placed = dict[str, str](), None
    for file in (STATIC, SCALE):  # those of earlier results
        (folder / file).unlink(missing_ok=True)
    if "rejected" in calibration:
        lacking[SCALE] = str(calibration["rejected"])
    elif static := trials["read"].get(calibration["static_trial"]):
        centres = trial_data.static_centres(static, results["calibrate"], body_model)
        placed, unmeasured = _write_static(folder, static, centres, calibration, body_model, choices)
        read = results["read"]
        seen = read["marker"].values[np.isfinite(read["marker_position"].values[..., 0]).any(axis=0)].tolist()
        shown = choices.weights(choices.names.rename(dict.fromkeys(seen)))
        unplaced = [name for name in shown if name not in placed]
        notes = [(NOT_PLACED, unplaced), (NOT_SCALED, unmeasured)]
        if texts := [note.format(join_some(names, MOST_LISTED)) for note, names in notes if names]:
            lacking[SCALE] = "; ".join(texts)
    for name in trials["clean"]:
        of_trial = {step: of_step[name] for step, of_step in trials.items()}
        for end in OF_A_WALK:  # those of earlier results
            (folder / f"{name}{end}").unlink(missing_ok=True)
        lacking[name] = _write_walk(folder, name, of_trial, settings, body_model, placed, choices)
    return lacking


def _write_static(
    folder: Path,
    static: Trial,
    centres: Mapping[tuple[str, str], NDArray[np.float64]],
    calibration: Mapping[str, Any],
    body_model: BodyModel,
    choices: Choices,
) -> tuple[list[str], list[str]]:
    """Write the static trial and the setup of Scale; return the markers that this places, and what it cannot scale."""
    count = len(static["time"].values)
    frames = np.arange(count) if count > 1 else np.zeros(2, dtype=int)  # for means
    time = static["time"].values[0] + np.arange(len(frames)) / static.attrs["marker_rate_hz"]
    seen = trial_data.with_centres(trial_data.markers(static), centres)
    named = choices.names.rename({label: position[frames] for label, position in seen.items()})
    weights = choices.weights(named)
    still = extent_m(static["marker_position"].values) < STANDING_M
    first, last = _standing([named[name] for name in weights], still=still)
    landmarks = choices.landmarks(body_model, seen)
    scale = setup_files.scale(
        folder.name,
        model=Path(os.path.relpath(choices.model_path, folder)).as_posix(),
        markers=STATIC,
        weights=weights,
        landmarks=landmarks,
        bodies=choices.model.bodies if choices.model else frozenset(),
        mass_kg=calibration["body_mass_kg"],
        height_m=calibration.get("body_height_m", np.nan),
        time=(time[first], time[last]),
    )
    text = trc(STATIC, time, named, rate_hz=static.attrs["marker_rate_hz"])
    write_whole(folder / STATIC, text.encode())
    write_whole(folder / SCALE, scale)
    placed = [name for name in weights if np.isfinite(named[name][first : last + 1]).all()]
    return placed, setup_files.find_unmeasured(landmarks)


def _standing(positions: Sequence[NDArray[np.float64]], *, still: bool) -> tuple[int, int]:
    """Return first and last frame of the static trial for Scale: the longest stretch that shows most markers.

    Scale takes the means of two frames or more, and does not place a marker that one of them hides. Means over a motion
    are of no posture: if the person does not stand still, there are two frames.
    """
    seen = np.isfinite([position[:, 0] for position in positions])
    count = (seen[:, 1:] & seen[:, :-1]).sum(axis=0)
    first, last = max(stretches(count == count.max()), key=lambda run: run[1] - run[0])
    return first, last if still else first + 1


def _write_walk(
    folder: Path,
    name: str,
    trial: Mapping[str, Trial],
    settings: Mapping[str, Any],
    body_model: BodyModel,
    placed: Collection[str] | None,
    choices: Choices,
) -> str:
    """Write the files of a walk, with tasks for ``placed`` markers, if these are known; return what it lacks."""
    read, cleaned, contacts = (trial[step] for step in ("read", "clean", "contacts"))
    if reasons := [part.attrs["rejected"] for part in (read, cleaned, contacts) if "rejected" in part.attrs]:
        return str(reasons[0])
    posed = "rejected" not in trial["kinematics"].attrs
    centres = trial_data.moving_centres(trial["kinematics"]) if posed else {}
    named = choices.names.rename(
        trial_data.with_centres(trial_data.markers(read, trial["repaired"], body_model), centres)
    )
    time = read["time"].values
    weights = {name: weight for name, weight in choices.weights(named).items() if placed is None or name in placed}
    frames = _frames([named[marker] for marker, weight in weights.items() if weight], trial["kinematics"])
    if not frames:
        return TOO_FEW
    span = (time[frames[0]], time[frames[1] - 1])
    files = {f"{name}.trc": trc(f"{name}.trc", time, named, rate_hz=read.attrs["marker_rate_hz"]).encode()}
    files[f"{name}_ik.xml"] = setup_files.inverse_kinematics(
        name, markers=f"{name}.trc", weights=weights, time=span, output=f"{name}_ik.mot"
    )
    if choices.angles and posed:
        knee_sign = choices.model.knee_sign if choices.model else 1.0
        angles = trial_data.angles(trial["kinematics"], knee_sign=knee_sign)
        files[f"{name}_angles.mot"] = mot(f"{name}_angles.mot", angles).encode()
    loaded = contacts["valid"].values.any()
    if loaded:
        loads = trial_data.loads(read, cleaned, contacts, settings=settings, filtered=choices.filter_forces)
        files[f"{name}_grf.mot"] = mot(f"{name}_grf.mot", loads).encode()
        files[f"{name}_grf.xml"] = setup_files.external_loads(name, f"{name}_grf.mot")
        walk = setup_files.Walk(f"{name}_ik.mot", f"{name}_grf.xml", span)
        files[f"{name}_id.xml"] = setup_files.inverse_dynamics(
            name, walk, cutoff_hz=_opensim_cutoff_hz(cleaned), output=f"{name}_id.sto"
        )
    for file, content in files.items():
        write_whole(folder / file, content)
    return "" if loaded else NO_LOAD


def _frames(positions: Sequence[NDArray[np.float64]], kinematics: Trial) -> tuple[int, int] | None:
    """Return first and last frame (exclusive) for InverseKinematics, None if there is no such frame.

    They are the longest stretch with three markers, from the first to the last frame in which the study poses its legs:
    while a person enters, the half of the markers that is seen leaves the rest of the model to swing.
    """
    seen = np.sum([np.isfinite(position[:, 0]) for position in positions], axis=0) >= FEWEST_MARKERS
    if "rejected" not in kinematics.attrs:
        posed = np.isfinite(kinematics["joint_angle"].values).all(axis=(2, 3))
        whole = np.flatnonzero(posed[:, posed.any(axis=0)].all(axis=1))
        seen[: whole[0] if whole.size else 0] = False
        seen[whole[-1] + 1 if whole.size else len(seen) :] = False
    return max(stretches(seen), key=lambda run: run[1] - run[0], default=None)


def _opensim_cutoff_hz(clean: Trial) -> float:
    """Return the cut-off that gives OpenSim's filter of angles the -3 dB point of the study's filter of markers.

    OpenSim 4.6 runs a Butterworth filter of third order forward and backward without correction of its cut-off, where
    its gain is 1/2 [measured].
    """
    cutoffs_hz = clean["cutoff_hz"].values
    if not np.isfinite(cutoffs_hz).any():
        return setup_files.NOT_FILTERED
    return design_cutoff_hz(float(np.nanmedian(cutoffs_hz)), clean.attrs["marker_rate_hz"], order=3)


def stance_rows(session: str, contacts: xr.Dataset) -> Iterator[str]:
    """Yield a row of the table of stances for each stance of a session: loaded or why not, and what is doubted."""
    trials = contacts["trial"].values
    names = ("contact_side", "contact_start", "contact_end", "valid", "reason", "doubt")
    for i, trial in enumerate(contacts["contact_trial"].values.tolist() if "contact_trial" in contacts else ()):
        side, start_s, end_s, valid, *words = (contacts[name].values[i] for name in names)
        cells = (session, trials[trial], side, f"{start_s:.4f}", f"{end_s:.4f}", "yes" if valid else "no", *words)
        yield "\t".join(cells)
