"""Problems of a session: its static trial, its walking trials, its plates, the rows that list them."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...body.body_model import BodyModel
from ...body.landmarks import choose_labels, expected_label
from ...body.resolved_model import resolve
from ...body.static_results import results_of_walks_count
from ...conventions import NO_STATIC, SIDES
from ...errors import Problem, join_some, warning
from ...person.body_weight import LOADED_N
from ...person.marker_travel import describe_moving_static
from ...steps.calibrate.functional_trials import sides_shown
from ...steps.read.recording_contents import CLOSE_HEELS_M, Contents
from ...tables import study_tables, tsv
from ...variables.verdict_table import WITHOUT_STATIC
from ...vocabulary.event_names import not_understood
from .file_findings import MOST_LISTED, names_in
from .slope_findings import leaning_forces, leaning_person, sloping_plates, stated_slope_deg

SHORTEST_WALK_S = 0.8
DOWNWARD_N = 200.0  # an offset is less, and a heel of a child of 13 kg nearly so much


def of_session(
    session: str,
    rows: Sequence[tsv.Row],
    facts: Mapping[str, Contents],
    model: BodyModel | None,
    chosen: Mapping[str, Any],
) -> Iterator[Problem]:
    """Find problems of a session: its static trial, its walking trials, its plates.

    Args:
        facts: by file, for the files that can be read.
        model: the body model; None if it cannot be read.
    """
    static = next((row["file"] for row in rows if row["role"] == "static"), "")
    gait = list(dict.fromkeys(row["file"] for row in rows if row["role"] == "gait"))
    readable = [file for file in gait if file in facts]
    by_static = chosen.get("calibrate", {}).get("static_results") == "static"
    of_static, of_walks = ([facts[file].states_results for file in some if file in facts] for some in ([static], gait))
    stated = bool(model and model.may_be_stated and not by_static) and results_of_walks_count(of_static, of_walks)
    if static not in facts and not stated:
        yield _no_static(session, static, readable, facts, model)
    if stated and (knee_axis := chosen.get("calibrate", {}).get("knee_axis", "markers")) != "markers":
        what = f"calibrate.knee_axis is {knee_axis}, but the files state the rotation of the thigh"
        what = f"{what}: the session is rejected"
        yield Problem(session, what, "set calibrate.static_results to static", "functional_trial_unusable")
    if not gait:
        yield warning(session, "no trial of role gait", "list one in trials.tsv", "no_gait_trial")
    if static in facts:
        yield from _static(static, facts[static], model, walks=static in gait, stated=stated)
        row = next(row for row in rows if row["role"] == "static")
        yield from leaning_person(static, *facts[static].leans_deg, stated_slope_deg(row, chosen))
    for file in readable:
        model_in = facts.get(static, facts[file]).landmarks if static or stated else None
        yield from _gait(file, facts[file], model_in, model)
    yield from _rows(session, rows, facts)
    yield from _idle_plates(session, [facts[file] for file in readable if not facts[file].forces])
    slopes_deg = {row["file"]: stated_slope_deg(row, chosen) for row in rows if row["role"] == "gait"}
    for file in readable:
        yield from leaning_forces(file, *facts[file].forces_lean_deg, slopes_deg[file])
    yield from sloping_plates(session, [(facts[file], slopes_deg[file]) for file in readable])


def _no_static(
    session: str, unreadable: str, gait: Sequence[str], facts: Mapping[str, Contents], model: BodyModel | None
) -> Problem:
    complete = [file for file in gait if model and not resolve(model, facts[file].landmarks).lacking]
    if unreadable:
        remedy = f"export {unreadable} again, or give another recording the role static instead"
    elif complete:
        remedy = f"{complete[0]} shows every marker: give it a second row with role static"
    elif model and gait:
        remedy = f"list one, as no walk shows every marker of {model.name}"
    else:
        remedy = "list one in trials.tsv with role static"
    what = f"no static trial{' that can be read' if unreadable else ''}: {WITHOUT_STATIC}"
    return warning(session, what, remedy, NO_STATIC)


def _static(file: str, facts: Contents, model: BodyModel | None, *, walks: bool, stated: bool) -> Iterator[Problem]:
    resolved = None if stated or model is None else resolve(model, facts.landmarks)
    if model and resolved and (lacking := resolved.lacking):
        legs = resolved.complete_legs()
        problem = _lacks("warning" if legs else "error", file, lacking, facts, model)
        yield problem._replace(what=f"{problem.what}: only the {legs[0]} leg can be used") if legs else problem
    elif model and facts.axes_problem:
        yield facts.axes_problem._replace(where=file)
    if not facts.stands and not (model and model.takes_poses):
        yield describe_moving_static(file, facts.shown.extent_m, walks=walks)


def _gait(file: str, facts: Contents, static: frozenset[str] | None, model: BodyModel | None) -> Iterator[Problem]:
    """Find problems of a walk; ``static`` are the landmarks of what defines the model, None if nothing does."""
    if model and static is not None and (lacking := resolve(model, static).lacking_in_motion(facts.landmarks)):
        both_sides = all(any(side in name or "pelvis" in name for name in lacking) for side in SIDES)
        yield _lacks("error" if both_sides else "warning", file, lacking, facts, model)
    elif model and facts.axes_problem:
        yield facts.axes_problem._replace(where=file)
    if facts.stands or facts.stride_m < CLOSE_HEELS_M:
        moved = (
            f"markers move by {facts.shown.extent_m:.2g} m" if facts.stands else f"heels part by {facts.stride_m:.2g} m"
        )
        yield warning(file, f"role gait, but nobody walks: {moved}", "give it role static or exclude", "nobody_walks")
    elif facts.duration_s < SHORTEST_WALK_S:
        what = f"{facts.duration_s:.2g} s long: no whole gait cycle"
        yield warning(file, what, "export a longer stretch", "walk_too_short")
    if not facts.peak_load_n and not facts.plate_problems:
        no_events = (
            "" if facts.recording.events else " and no gait events: cycles are found from the motion of the feet"
        )
        remedy = f"angles only; for moments {names_in(file)[2]}"
        yield warning(file, f"no force plate{no_events}", remedy, "no_force_plate")
    if names := not_understood((event.label, event.side) for event in facts.recording.events):
        quoted = [f"'{name}'" for name in names]
        what = f"events that are not understood, and not used: {join_some(quoted, MOST_LISTED)}"
        remedy = "call those of gait Foot Strike or Foot Off, context Left or Right; plates and motion give events too"
        yield warning(file, what, remedy, "events_not_understood")
    yield from _events_outside(file, facts)
    yield from _forces(file, facts)


def _forces(file: str, facts: Contents) -> Iterator[Problem]:
    """Find forces that nobody can use: that pull, are in another unit, or of plates with a problem."""
    if down := {number: load_n for number, load_n in facts.downward_n.items() if load_n > DOWNWARD_N}:
        plates = f"plate{'s' * (len(down) > 1)} {', '.join(map(str, down))}"
        what = f"{plates} would push down on the person by up to {max(down.values()):.0f} N"
        remedy = "correct the order of FORCE_PLATFORM:CORNERS, or the signs of the channels, and export again"
        if facts.forces:
            remedy = "give the forces on the person, not those on the plate: turn the signs of forces and torques"
        yield warning(facts.forces or file, what, f"{remedy}: these contacts are refused", "plate_pushes_down")
    largest_n = max(facts.peak_load_n.values(), default=0.0)
    if facts.forces and not facts.plate_problems and 0 < largest_n < LOADED_N:
        what = f"its largest force is {largest_n:.3g}"
        remedy = "give forces in N, not in kN and not per body weight; correct if nobody stepped on a plate"
        yield warning(facts.forces, what, remedy, "loads_too_small")
    problems = [warning(file, f"{of.where}: {of.what}", of.remedy, "plate_unusable") for of in facts.plate_problems]
    for remedy in dict.fromkeys(problem.remedy for problem in problems):
        alike = [problem for problem in problems if problem.remedy == remedy]
        more = f" (and {len(alike) - 1} more plate{'s' * (len(alike) > 2)})" if alike[1:] else ""
        yield alike[0]._replace(what=alike[0].what + more)


def _events_outside(file: str, facts: Contents) -> Iterator[Problem]:
    """Find events at times at which the file has no frames; a frame's time is known to a frame."""
    rate_hz, first = facts.recording.marker_rate_hz, facts.recording.first_frame
    start_s, end_s = (first - 1) / rate_hz, (first + facts.frame_count) / rate_hz
    times_s = [event.time_s for event in facts.recording.events]
    if outside := [time_s for time_s in times_s if not start_s <= time_s <= end_s]:
        what = f"{len(outside)} of {len(times_s)} events are outside of its frames, {start_s:.5g} to {end_s:.5g} s"
        remedy = "they are not used, unless they fit when counted from its first frame; export file and events anew"
        yield warning(file, f"{what}: the first at {outside[0]:.5g} s", remedy, "events_outside_frames")


def _rows(session: str, rows: Sequence[tsv.Row], facts: Mapping[str, Contents]) -> Iterator[Problem]:
    """Find repeated rows, functional trials without a joint, and unknown plates."""
    for (file, role), count in Counter((row["file"], row["role"]) for row in rows).items():
        if count > 1:
            what = f"in {count} rows of {session} with role {role}"
            yield warning(file, what, "keep one: its steps would count twice", "row_repeated")
    for row in rows:
        if row["role"] == "functional" and not re.search("hip|knee|ankle", row["condition"].lower()):
            what = f"functional trial, but its condition '{row['condition']}' names no joint"
            yield warning(row["file"], what, "write hip_left, knee_right, ...", "functional_trial_without_joint")
        plates = facts[row["file"]].peak_load_n if row["file"] in facts else {}
        for column in study_tables.PLATE_COLUMNS if plates else ():
            try:
                named = study_tables.plate_numbers(row.get(column, ""))
            except ValueError:
                continue  # a problem of the table
            if absent := [number for number in named or () if number not in plates]:
                what = f"{column} of {row['trial']} names plate {absent[0]}, the file has {', '.join(map(str, plates))}"
                remedy = "correct it, or leave it n/a to have the foot found"
                yield Problem(row["file"], what, remedy, "plate_number_unknown")


def of_functional(session: str, rows: Sequence[tsv.Row], chosen: Mapping[str, Any]) -> Iterator[Problem]:
    """Find functional trials that hip centre or knee axis need and the session does not list."""
    for joint, setting, instead in (("hip", "hip_centre", "harrington"), ("knee", "knee_axis", "markers")):
        if chosen.get("calibrate", {}).get(setting) != "functional":
            continue
        recorded = {
            side for row in rows if row["role"] == "functional" for side in sides_shown(row["condition"], joint)
        }
        absent = [side for side in SIDES if side not in recorded]
        named = " or ".join(f"{joint}_{side}" for side in absent)
        remedy = f"list it in trials.tsv: role functional, condition {named}"
        words = setting.replace("_", " ")
        if not recorded:
            what = f"calibrate.{setting} is functional, but no functional trial of a {joint} is listed"
            what = f"{what}: the session is rejected"
            remedy = f"{remedy}; or choose another calibrate.{setting}, such as {instead}"
            yield Problem(session, what, remedy, "functional_trial_missing")
        elif absent:
            what = f"no functional trial of the {absent[0]} {joint}: {instead} is used for this {words}"
            yield warning(session, what, f"{remedy}, if one was recorded", "functional_trial_missing")


def of_emg_reference(session: str, rows: Sequence[tsv.Row], chosen: Mapping[str, Any]) -> Iterator[Problem]:
    """Find a session without the trial by which its muscles are to be divided."""
    wanted = chosen.get("cycles", {}).get("emg_normalisation") == "reference"
    if wanted and not any(row["role"] == "emg_reference" for row in rows):
        what = "cycles.emg_normalisation is reference, but no trial of role emg_reference is listed: no muscle is shown"
        yield warning(session, what, "list one in trials.tsv, or choose peak or mean", "emg_reference_missing")


def _idle_plates(session: str, gait: Sequence[Contents]) -> Iterator[Problem]:
    """Find plates that carry no load in any walk of a session."""
    numbers = sorted({number for facts in gait for number in facts.peak_load_n})
    idle = [n for n in numbers if all(facts.peak_load_n.get(n, 0.0) < LOADED_N for facts in gait)]
    if idle:
        plates = f"force plate{'s' * (len(idle) > 1)} {', '.join(map(str, idle))}"
        walks = f"any of {len(gait)} walks" if len(gait) > 1 else "the walk"
        remedy = "correct if nobody stepped there; otherwise check its switch and cable"
        yield warning(session, f"{plates} not loaded in {walks}", remedy, "plate_not_loaded")


def _lacks(severity: str, file: str, lacking: Sequence[str], facts: Contents, model: BodyModel) -> Problem:
    """Return what a file lacks, with an expected and the most similar label."""
    landmarks, present, texts = model.landmarks, choose_labels(model, facts.recording.labels), []
    taken = {label for groups in landmarks.values() for group in groups for label in group}
    free = [label for label in facts.recording.labels if label not in taken]
    for name in lacking:
        groups = landmarks.get(name, ())
        text = "; ".join(filter(None, expected_label(groups, free))) if groups else ""
        if name in present:
            text = f"{' + '.join(present[name])} is never visible"
        texts.append(name.replace("_", " ") + (f" ({text})" if text else ""))
    if not facts.landmarks:
        what = f"no marker of body model {model.name}"
        remedy = "choose the body_model with these labels, or write one"
        return Problem(file, what, remedy, "no_marker_of_model", severity)
    remedy = "label them, or name their labels in the body model"
    return Problem(file, f"lacks {join_some(texts, MOST_LISTED)}", remedy, "markers_missing", severity)
