"""Problems of a file in any role: rates, units, names, channels; and of one that tests plates."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import ERROR, Problem, UserError, join_some, nearest, warning
from ...opensim_files.trc import COUNT
from ...person.size_findings import LEGS_M
from ...plates.loaded_pole import BAD, GOOD, STEPS, in_words
from ...signals.filters import design_cutoff_hz
from ...steps.read.recording_contents import Contents, words_of
from ...tables import study_tables
from ...vocabulary.muscle_names import muscles_in

MARKER_RATES_HZ = (20, 2000)
LOWEST_FORCE_RATE_HZ = 100
PLATE_SIDES_M = (0.1, 8.0)
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
        remedy = f"correct {names_in(file)[0]}: times, speeds and moments depend on it"
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


def names_in(file: str) -> tuple[str, str, str]:
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
            what = f"{what}, but its markers are in {unit}" if right else f"{names_in(file)[1]} is {unit}, but {what}"
            yield Problem(file, what, f"{remedy}correct {wrong} and export it again", "length_unit_wrong")


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
