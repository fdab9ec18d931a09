"""Problems of the files and sessions of a study."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...arrays import Array
from ...body.body_model import BodyModel
from ...body.landmarks import choose_labels, expected_label
from ...body.resolved_model import resolve
from ...body.static_results import results_of_walks_count
from ...conventions import NO_STATIC, SIDES
from ...errors import ERROR, Problem, UserError, join_some, nearest, warning
from ...opensim_files.trc import COUNT
from ...person.body_weight import LOADED_N
from ...person.marker_travel import describe_moving_static
from ...person.size_findings import LEGS_M
from ...plates.loaded_pole import BAD, GOOD, STEPS, in_words
from ...signals.filters import design_cutoff_hz
from ...steps.calibrate.functional_trials import sides_shown
from ...steps.read.recording_contents import CLOSE_HEELS_M, Contents, words_of
from ...tables import study_tables, tsv
from ...variables.verdict_table import WITHOUT_STATIC
from ...vocabulary.event_names import not_understood
from ...vocabulary.muscle_names import muscles_in

MARKER_RATES_HZ = (20, 2000)
LOWEST_FORCE_RATE_HZ = 100
PLATE_SIDES_M = (0.1, 8.0)
SHORTEST_WALK_S = 0.8
DOWNWARD_N = 200.0  # an offset is less, and a heel of a child of 13 kg nearly so much
LEVEL_DEG = 2.0  # corners that are placed to 1 cm on a plate of 40 cm turn it by less
# nobody stands with the body's mass beyond the ends of the feet: half of a foot, .13 m, at .95 m above the ground. Of
# thirteen people who stood for a static trial, the middle of the pelvis was at -.3 to 2.2 degrees
LEANS_DEG = 8.0
# hands that bear a twentieth of the weight, plates that are not zeroed, and part of a stride lean it by less; in seven
# walks on level belts it leans by up to .5 degrees
FORCES_LEAN_DEG = 3.0
MOST_LISTED = 4
PLATE_CHANNEL = re.compile(r"(force|moment|plate)?[\W_\d]*[fm][xyz]", re.IGNORECASE)
LABELS_REPEATED = "give every marker a label of its own", "labels_repeated"
HEADER_WRONG = "correct it; the markers are read by their names and columns", "header_wrong"


def of_file(file: str, facts: Contents, chosen: Mapping[str, Any]) -> Iterator[Problem]:
    """Find problems of a file in any role: rates, cut-offs, units, names."""
    plate_rate_hz = facts.recording.analog_rate_hz if facts.peak_load_n else 0
    for name, rate_hz in {"marker_cutoff_hz": facts.recording.marker_rate_hz, "force_cutoff_hz": plate_rate_hz}.items():
        cutoff_hz = chosen.get("clean", {}).get(name)
        try:
            if isinstance(cutoff_hz, (int, float)) and rate_hz:
                design_cutoff_hz(cutoff_hz, rate_hz, order=2)
        except UserError as error:
            for problem in error.problems:
                yield problem._replace(where=file, what=f"clean.{name}: {problem.what}", code="cutoff_too_high")
    if not MARKER_RATES_HZ[0] <= facts.recording.marker_rate_hz <= MARKER_RATES_HZ[1]:
        what = f"{facts.recording.marker_rate_hz:g} marker frames per second"
        remedy = f"correct {_names_in(file)[0]}: times, speeds and moments depend on it"
        yield warning(file, what, remedy, "marker_rate_unusual")
    if 0 < plate_rate_hz < max(facts.recording.marker_rate_hz, LOWEST_FORCE_RATE_HZ):
        what = f"{plate_rate_hz:g} plate samples per second: foot strikes are known to {1000 / plate_rate_hz:.0f} ms"
        yield warning(file, what, "record plates at 1000 Hz; if you did, correct ANALOG:RATE", "force_rate_low")
    yield from _wrong_units(file, facts)
    yield from _find_unused_channels(file, facts, chosen)
    yield from (remark._replace(where=file) for remark in facts.recording.remarks)
    if notes := facts.recording.label_notes:
        what = notes[0] + (f" (and {len(notes) - 1} more labels)" if notes[1:] else "")
        yield warning(file, what, *(HEADER_WRONG if what.startswith(COUNT) else LABELS_REPEATED))
    if facts.name_words:
        what = "SUBJECTS:NAMES may hold a person's name"
        yield warning(file, what, "put the participant's id there before the file is passed on", "name_in_file")
    if facts.name_words & {*words_of(file)}:
        what = "the path contains a name from SUBJECTS:NAMES"
        yield warning(file, what, "rename it, also in trials.tsv: outputs contain the path", "name_in_path")


def _names_in(file: str) -> tuple[str, str, str]:
    """Return what a file calls its frame rate and its unit of length, and how it gets forces."""
    if Path(file).suffix.lower() in study_tables.MARKER_FILES:
        return "DataRate", "Units", "name the MOT file with its forces in the column forces of trials.tsv"
    return "POINT:RATE", "POINT:UNITS", "export it with FORCE_PLATFORM"


def _find_unused_channels(file: str, facts: Contents, chosen: Mapping[str, Any]) -> Iterator[Problem]:
    """Find channels of no plate: those that are EMG by their label, but of no known muscle, and others."""
    named = {*chosen.get("clean", {}).get("emg_channels", {}), *muscles_in(facts.channels)}
    of_plates = {label for label in facts.channels if facts.plate_problems and PLATE_CHANNEL.match(label)}  # not used
    unnamed = [label for label in facts.channels if label not in named | of_plates]
    emg = [label for label in unnamed if "emg" in label.casefold()]
    if emg:
        what = f"EMG channels that name no side and muscle, and are not used: {join_some(emg, MOST_LISTED)}"
        remedy = f"name side and muscle in study.yaml, or null: clean: emg_channels: {{{emg[0]}: left soleus}}"
        yield warning(file, what, remedy, "emg_channel_unnamed")
    if others := [label for label in unnamed if label not in emg]:
        what = f"channels of no plate and no muscle are not used: {join_some(others, MOST_LISTED)}"
        remedy = "nothing, unless one is of a muscle: name it in study.yaml, clean: emg_channels"
        yield warning(file, what, remedy, "channels_not_used")


def of_emg_channels(chosen: Mapping[str, Any], facts: Iterable[Contents]) -> Iterator[Problem]:
    """Find labels in the setting ``clean.emg_channels`` that no file has."""
    present = {label for each in facts for label in each.channels}
    for label in chosen.get("clean", {}).get("emg_channels", {}):
        if label not in present:
            remedy = (
                nearest(str(label), present) or f"the files have {', '.join(sorted(present)) or 'no such channels'}"
            )
            what = f"clean.emg_channels: no file has a channel '{label}'"
            yield warning("study.yaml", what, remedy, "emg_channel_absent")


def _wrong_units(file: str, facts: Contents) -> Iterator[Problem]:
    """Find lengths in another unit than the file states: of the person, or of plates alone."""
    unit_m, leg_m = facts.recording.length_unit_m, facts.shown.leg_m
    unit = {1.0: "m", 0.1: "dm", 0.01: "cm", 0.001: "mm"}[unit_m]
    right = LEGS_M[0] <= leg_m <= LEGS_M[1]  # the markers have the unit that the file states
    wrong = "FORCE_PLATFORM:CORNERS" if right else "the file's lengths"
    sides = ((side_m, PLATE_SIDES_M, f"corners of force plate {n} are") for n, side_m in facts.plate_sides_m.items())
    for length_m, (low, high), between in ((leg_m, LEGS_M, "heel and ASIS are"), *sides):
        if not low <= length_m <= high and length_m > 0:
            fits = [name for name, factor in (("m", 1.0), ("cm", 0.01), ("mm", 0.001))
                    if low <= length_m / unit_m * factor <= high]  # fmt: skip
            remedy = f"the numbers look like {' or '.join(fits)}: " if fits else ""
            what = f"{between} {length_m:.3g} m apart"
            what = f"{what}, but its markers are in {unit}" if right else f"{_names_in(file)[1]} is {unit}, but {what}"
            yield Problem(file, what, f"{remedy}correct {wrong} and export it again", "length_unit_wrong")


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
        yield from _leaning(static, *facts[static].leans_deg, _slope_deg(row, chosen))
    for file in readable:
        model_in = facts.get(static, facts[file]).landmarks if static or stated else None
        yield from _gait(file, facts[file], model_in, model)
    yield from _rows(session, rows, facts)
    yield from _idle_plates(session, [facts[file] for file in readable if not facts[file].forces])
    slopes_deg = {row["file"]: _slope_deg(row, chosen) for row in rows if row["role"] == "gait"}
    for file in readable:
        yield from _leaning_forces(file, *facts[file].forces_lean_deg, slopes_deg[file])
    yield from _sloping_plates(session, [(facts[file], slopes_deg[file]) for file in readable])


def _slope_deg(row: tsv.Row, chosen: Mapping[str, Any]) -> float:
    """Return the slope of the axes of a row's file that is stated, degrees, or 0."""
    return float(study_tables.slope_in_row(row).get(study_tables.SLOPE, chosen.get("read", {}).get("slope_deg", 0.0)))


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


def _leaning(file: str, forwards_deg: float, right_deg: float, slope_deg: float) -> Iterator[Problem]:
    """Find a person who stands at another angle than anybody can: the slope of the axes is not stated, or wrong."""
    if abs(lean_deg := forwards_deg - slope_deg) > LEANS_DEG:
        way = "forwards" if lean_deg > 0 else "backwards"
        stated = f", with the slope of {slope_deg:g} degrees" if slope_deg else ""
        what = f"the standing person leans {way} by {abs(lean_deg):.0f} degrees from the vertical{stated}"
        remedy = (
            f"correct if a support holds who leans so; else the axes rise by about {round(forwards_deg)} degrees where "
            "the person faces: measure the slope and give it as slope_degrees in trials.tsv, uphill positive"
        )
        yield warning(file, what, remedy, "standing_leans")
    if abs(right_deg) > LEANS_DEG:
        way = "right" if right_deg > 0 else "left"
        what = f"the standing person leans to the {way} by {abs(right_deg):.0f} degrees from the vertical"
        remedy = (
            "correct if a support holds who leans so; else the file's axes slope to the person's side, which cannot be "
            "stated: calibrate the cameras with a level wand, or turn markers and plates to a plumb axis"
        )
        yield warning(file, what, remedy, "standing_leans")


def _leaning_forces(file: str, forwards_deg: float, right_deg: float, slope_deg: float) -> Iterator[Problem]:
    """Find a walk on a belt that no plumb force holds: the slope of the axes is not stated, or wrong."""
    if abs(lean_deg := forwards_deg - slope_deg) > FORCES_LEAN_DEG:
        stated = f", with the slope of {slope_deg:g} degrees" if slope_deg else ""
        what = (
            f"the mean force leans {'forwards' if lean_deg > 0 else 'backwards'} by {abs(lean_deg):.0f} degrees{stated}"
        )
        remedy = (
            f"correct if hands push or pull as much; else the axes rise by about {round(forwards_deg)} degrees where "
            "the person faces: give that as slope_degrees in trials.tsv, or check the directions of the plates"
        )
        yield warning(file, what, remedy, "forces_lean")
    if abs(right_deg) > FORCES_LEAN_DEG:
        what = f"the mean force leans to the {'right' if right_deg > 0 else 'left'} by {abs(right_deg):.0f} degrees"
        remedy = (
            "correct if hands push or pull as much; else the file's axes slope to the person's side, which cannot be "
            "stated: turn markers and plates to a plumb axis, or check the directions of the plates"
        )
        yield warning(file, what, remedy, "forces_lean")


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
        remedy = f"angles only; for moments {_names_in(file)[2]}"
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


def of_equipment(file: str, facts: Contents) -> Iterator[Problem]:
    """Find plates that a pole shows to be wrong, in a trial that tests plates, or why it tests none."""
    if facts.no_plate_test:
        yield facts.no_plate_test._replace(where=file)
    for number, test in facts.plate_tests.items():
        remedy = "correct FORCE_PLATFORM of the recordings of that day, or measure the plates again"
        if test.verdict != GOOD:
            remedy = f"press again: {STEPS}" if test.untested else remedy
            found = warning(file, in_words(number, test), remedy, "plate_test_failed")
            yield found._replace(severity=ERROR) if test.verdict == BAD else found


def _idle_plates(session: str, gait: Sequence[Contents]) -> Iterator[Problem]:
    """Find plates that carry no load in any walk of a session."""
    numbers = sorted({number for facts in gait for number in facts.peak_load_n})
    idle = [n for n in numbers if all(facts.peak_load_n.get(n, 0.0) < LOADED_N for facts in gait)]
    if idle:
        plates = f"force plate{'s' * (len(idle) > 1)} {', '.join(map(str, idle))}"
        walks = f"any of {len(gait)} walks" if len(gait) > 1 else "the walk"
        remedy = "correct if nobody stepped there; otherwise check its switch and cable"
        yield warning(session, f"{plates} not loaded in {walks}", remedy, "plate_not_loaded")


def _sloping_plates(session: str, gait: Sequence[tuple[Contents, float]]) -> Iterator[Problem]:
    """Find plates that are not level by their corners, as in an inclined treadmill or a ramp.

    Where a slope of the axes is stated, it makes plates slope or level that are the other in the file's own axes.

    Args:
        gait: walks, and the slopes of their axes that are stated, degrees.
    """
    slopes: dict[bool, dict[int, float]] = {False: {}, True: {}}  # by whether a slope is stated
    for facts, stated_deg in gait:
        upright = facts.landmarks and not facts.axes_problem  # else it is not known what is up
        of_plates = slopes[stated_deg != 0]
        for number, normal in facts.plate_normals.items() if upright else ():
            slope_deg = _slope_of_plate_deg(normal, stated_deg)
            if min(slope_deg, _slope_of_plate_deg(normal, 0.0)) > LEVEL_DEG:
                of_plates[number] = max(slope_deg, of_plates.get(number, 0.0))
    for is_stated, of_plates in slopes.items():
        if not of_plates:
            continue
        steep = [f"{n} by {slope:.0f} degrees" for n, slope in sorted(of_plates.items())]
        what = f"plates slope by their corners: {join_some(steep, MOST_LISTED)}"
        remedy = (
            "correct if they do and the file's vertical axis is plumb, along which gravity is taken; otherwise "
            "correct FORCE_PLATFORM:CORNERS"
        )
        if is_stated:
            what = f"{what}, with the slope of the file's axes that is stated"
            remedy = (
                "corners that slope in the file mostly mean that its axes are plumb: then state no slope "
                "(slope_degrees in trials.tsv); else correct its sign, or FORCE_PLATFORM:CORNERS"
            )
        yield warning(session, what, remedy, "plates_slope")


def _slope_of_plate_deg(normal: Array, axes_deg: float) -> float:
    """Return the angle of a plate's normal (3,), up or down, to the vertical in axes that rise forwards by an angle."""
    vertical = np.array([np.sin(np.radians(axes_deg)), np.cos(np.radians(axes_deg)), 0.0])
    return float(np.degrees(np.arccos(min(1.0, abs(normal @ vertical)))))


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
