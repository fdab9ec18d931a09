"""The methods of a study in sentences to paste into a paper, from the settings and models in its results."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..conventions import CONVENTIONAL, JOINTS, SIDES
from ..json_text import object_in
from ..reference import resolve
from ..step import every_step

TABLES = {  # of body-segment parameters, as calibrate.nc names them
    "dempster": "Dempster (in Winter 2009)",
    "jensen": "Jensen (1986)",
    "de_leva": "de Leva (1996)",
    "dumas": "Dumas et al. (2007, 2015)",
    "dempster_proximal_radii": "Dempster (in Winter 2009) with the parallel axis of inertia counted twice",
    "segments.tsv": "measurements of the person",
}
HIP_CENTRES = {  # beginnings of the texts in calibrate.nc
    "harrington_multiple": "the regression of Harrington et al. (2007) on several sizes",
    "harrington": "the regression of Harrington et al. (2007)",
    "sangeux": "the regression of Sangeux (2015)",
    "bell": "the regression of Bell et al. (1990)",
    "hara": "the regression of Hara et al. (2016)",
    "davis": "the regression of Davis et al. (1991)",
    "functional": "the functional method of Gamage and Lasenby (2002)",
}
EVENTS = {
    "zeni": "the motion of the feet (Zeni et al. 2008)",
    "oconnor": "the vertical velocity of the feet (O'Connor et al. 2007)",
    "handsaker": "the vertical acceleration of the feet (Handsaker et al. 2016)",
}
CITATION = (  # of CITATION.cff
    "The gait-lab-pipeline authors, gait-lab-pipeline: joint forces and moments of a gait study, from C3D to NetCDF, "
    "by Snakemake"
)
MODEL = (
    "rejected",
    "segment_parameters",
    "trunk_and_arms",
    "static_results",
)  # attributes of calibrate.nc that are read, beside the joint centres


def describe_methods(study: Mapping[str, Any], models: Iterable[Mapping[str, Any]]) -> str:
    """Return the methods of a study in one paragraph.

    Args:
        study: attributes of study.nc.
        models: those of calibrate.nc of its sessions; a session that could not be calibrated says nothing.
    """
    used = object_in(study, "settings")
    calibrated = [model for model in models if "rejected" not in model]
    version = study.get("pipeline_version", "")
    parts = [
        _of_markers(used.get("clean", {})),
        _of_models(used, calibrated),
        _of_angles(used.get("kinematics", {})),
        _of_forces(used.get("clean", {}), used.get("contacts", {})),
        _of_moments(used.get("kinetics", {}), used.get("cycles", {})),
        *(resolve(one.methods)(used[one.name]) for one in every_step().values() if one.methods and one.name in used),
        _of_normal_gait(object_in(study, "reference")),
    ]
    sentences = [f"Recordings were processed with gait-lab-pipeline (version {version or 'unknown'}; {CITATION})"]
    for part in parts:
        with suppress(KeyError):  # results of another version may lack a setting
            sentences += part
    return " ".join(f"{sentence}." for sentence in sentences)


def keep_of_model(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of calibrate.nc that :func:`describe_methods` reads."""
    return {name: text for name, text in model.items() if "_centre_" in name or name in MODEL}


def _filter(cutoff_hz: object, order: int) -> str:
    """Return a Butterworth filter in words."""
    if cutoff_hz is None:
        return "were not filtered"
    at = f"at {cutoff_hz} Hz"
    if cutoff_hz == "residual":
        at = "chosen for each marker by residual analysis (Winter 2009)"
    return f"were low-pass filtered by a zero-lag Butterworth filter of order {order} with its -3 dB point {at}"


def _of_markers(clean: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"Gaps in marker trajectories were filled from the rigid cluster of a segment, from neighbouring markers up to "
        f"{clean['max_pattern_gap_s']:g} s and by splines up to {clean['max_gap_s']:g} s"
    )
    if clean["marker_filter"] == "gcv_spline" and clean["marker_cutoff_hz"] is not None:
        yield "Trajectories were smoothed by quintic splines with generalised cross-validation (Woltring 1986)"
    else:
        yield f"Trajectories {_filter(clean['marker_cutoff_hz'], clean['filter_order'])}"


def _of_models(used: Mapping[str, Any], models: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield body model, joint centres and segment parameters; what differs between sessions is joined by 'or'."""
    yield f"The body model {used.get('body_model', '(unknown)')} gave pelvis, thighs, shanks and feet as rigid segments"
    centres: dict[str, dict[str, None]] = {joint: {} for joint in reversed(JOINTS)}
    tables: dict[str, None] = {}
    for model in models:
        tables[TABLES.get(str(model.get("segment_parameters")), str(model.get("segment_parameters")))] = None
        for joint, side in ((joint, side) for joint in centres for side in SIDES):
            if text := str(model.get(f"{joint}_centre_{side}", "")):
                centres[joint][_centre(joint, text)] = None
    for joint, ways in centres.items():
        if ways:
            yield f"The {joint} joint centre was found by {' or '.join(ways)}"
    if stated := sum(bool(model.get("static_results")) for model in models):
        some = "" if stated == len(models) else f" in {stated} of {len(models)} sessions"
        yield (
            f"The static results of the conventional gait model, such as rotation offsets, tibial torsion and plantar "
            f"flexion, were{some} those that the recordings state, not computed from a static trial"
        )
    if used.get("kinematics", {}).get("upper_body") and any(model.get("trunk_and_arms") for model in models):
        yield (
            "Where markers showed them, thorax, head, upper arms, forearms and hands were rigid segments too, with "
            "L5/S1 by Dumas and Wojtusch (2018); margins of stability are those of Hof et al. (2005), with the "
            "distance from ankle to centre of mass as length"
        )
    if tables:
        yield f"Masses, centres of mass and inertia of the segments were those of {' or '.join(tables)}"


def _centre(joint: str, text: str) -> str:
    """Return how a joint centre was found, in words, from its text in calibrate.nc."""
    if joint == "hip" and (words := next((words for name, words in HIP_CENTRES.items() if text.startswith(name)), "")):
        return words
    name, _, more = text.replace("_", " ").replace("midpoint: ", "the midpoint of ").partition(", stated: ")
    name = "the chord function" if name == "chord" else name
    return f"{name} (with {more} degrees)" if more else name


def _of_angles(kinematics: Mapping[str, Any]) -> Iterator[str]:
    if kinematics["method"] == "linked":
        joints = ", ".join(f"{joint} {kind.replace('_', ' and ')}" for joint, kind in kinematics["joint_types"].items())
        yield (
            "Pelvis and legs were posed at once by inverse kinematics, held together at the joint centres (Lu and "
            f"O'Connor 1999; {joints})"
        )
    else:
        yield "Each segment was posed by its own markers"
    order = "flexion, adduction, rotation at all joints (Grood and Suntay 1983; Wu et al. 2002)"
    if kinematics["angle_convention"] == CONVENTIONAL:
        order = "flexion, adduction, rotation (ankle: flexion, rotation, inversion), as in Plug-in Gait"
    subtracted = "; angles of the static trial were subtracted" if kinematics["static_offset"] == "subtract" else ""
    yield f"Joint angles are Cardan angles in the order {order}{subtracted}"


def _of_forces(clean: Mapping[str, Any], contacts: Mapping[str, Any]) -> Iterator[str]:
    if clean:
        words = _filter(clean["force_cutoff_hz"], clean["filter_order"])
        yield f"Forces and moments of the plates, without their baseline, {words}"
    yield (
        f"Foot strike and foot off are where the vertical force crosses {contacts['threshold_n']:g} N; without a "
        f"plate, the events of the file, else those of {EVENTS[contacts['kinematic_events']]}"
    )
    yield (
        "A stance was used for kinetics only if one foot alone was on the plates under it, its sole at most "
        f"{1000 * contacts['edge_margin_m']:g} mm beyond their edge and the centre of pressure at most "
        f"{1000 * contacts['max_cop_distance_m']:g} mm from the foot"
    )
    if contacts["time_offset"] == "correct":
        yield "Time offsets between plates and markers were corrected"


def _of_moments(kinetics: Mapping[str, Any], cycles: Mapping[str, Any]) -> Iterator[str]:
    yield (
        "Net internal joint moments were computed from the three-dimensional Newton-Euler equations of foot, shank and "
        f"thigh as one system (gravity {kinetics['gravity_m_s2']:g} m/s2), expressed about the axes of the joint "
        "coordinate system and divided by body mass, as were joint powers"
    )
    if draws := kinetics["uncertainty_draws"]:
        band = kinetics["uncertainty_band_percent"]
        yield f"Bands of {band:g} % are from {draws} Monte Carlo draws of measurement errors"
    if cycles:
        kept = "left out" if cycles["doubted_stances"] == "leave_out" else "kept"
        yield f"Stances with doubtful kinetics were {kept}"
        yield "Curves were normalised to 0 to 100 % of the gait cycle (101 points)"
    if (by := cycles.get("emg_normalisation", "none")) != "none":
        what = "the highest mean over 0.5 s of reference contractions" if by == "reference" else f"its {by}"
        yield f"The linear envelope of each muscle of a session was divided by {what}"


def _of_normal_gait(reference: Mapping[str, Any]) -> Iterator[str]:
    if reference:
        source = "; ".join(filter(None, [reference.get("people", ""), reference.get("citation", "")]))
        yield f"Normal gait is that of {reference['title']}" + (f" ({source})" if source else "")
