"""Is the data good? The first box of a participant's page, in plain words, with the findings of ``gaitlab check``."""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from ...body.plausibility import AXIS_REMEDY, axis_in_words, axis_is_suspect
from ...conventions import SIDES
from ...errors import join_some
from ...json_text import from_text, object_in
from ...person.size_findings import ADULT_HEIGHT_M
from ...plates import loaded_pole
from ...tables import corrections
from ...trials.left_out import in_words
from ...variables.cycle_variables import KNEE_AXIS
from ...variables.data_dictionary import CORRECTIONS, NOT_CORRECTED
from ...variables.stance_verdicts import BETWEEN_WORDS, REFUSED, USED, in_general
from ...variables.verdict_table import VERDICTS
from .curves.figures import SMALLEST_N
from .quality import known_in_part, median_of, verdicts_of
from .tables import Totals, ages_of, of_part, sessions_in

GOOD, UNKNOWN, LOOK, BAD = STATES = ("good", "not checked", "look", "bad")  # from best to worst
CHILDREN = "jensen"  # the table of the segments of children; the others are of adults
ADULTS = ("dempster", "de_leva", "dumas")
ADULT_YEARS = 16
MOST_LISTED = 3  # walks of one slope, and reasons of a bad verdict
ANSWERS = {
    GOOD: "Yes: nothing was found against it{few}.",
    LOOK: "Mostly: look at {points}.",
    BAD: "No: results are wrong or missing; see {points}.",
}
NO_MOMENTS = "Angles, but no moments: see plate contacts."  # where these alone are bad
NOT_TO_READ = "do not interpret hip rotation, knee adduction, and their moments"
Facts = Mapping[str, Any]


class Point(NamedTuple):
    """One line of the box: one of :data:`STATES`, what it is about, what was found, and what of it the answer names."""

    state: str
    title: str
    texts: list[str]
    named: Sequence[str] = ()


class DataCheck(NamedTuple):
    """The answer in a sentence, its state, its points, and the reasons for it, of which ``further`` are left out."""

    state: str
    answer: str
    points: list[Point]
    reasons: list[str]
    further: int


def data_check(
    rows: pd.DataFrame,
    quality: pd.DataFrame,
    trials: Mapping[str, Mapping[str, Facts]],
    calibrations: Mapping[str, xr.Dataset],
    count: Totals,
    another_age: Sequence[str] = (),
) -> DataCheck:
    """Return whether a participant's data is good; facts about each trial as a whole are by session.

    ``count`` are the totals of ``rows`` and ``quality``; ``another_age`` are the words of a person outside the ages of
    the reference.
    """
    sessions, cycles = sessions_in(quality, rows), of_part(rows, "cycle")
    of_trials = {trial: facts for name in sessions for trial, facts in trials.get(name, {}).items()}
    points = [
        _person({name: calibrations[name] for name in sessions}, ages_of(rows)),
        _trials(count, quality),
        _contacts(count, rows, quality, of_trials),
        *filter(None, [_knee_axis(quality)]),
        _repairs(of_trials),
        _mechanics(quality),
        _repeats(cycles),
        *([Point(UNKNOWN, "Normal gait of this age", [*another_age])] if another_age else []),
    ]
    further = (_corrected(quality), _plate_tests({name: calibrations[name] for name in sessions}))
    points += [point for point in further if point]
    state = _worst(point.state for point in points)
    worst_points = [point for point in points if point.state == state]
    worst = [point.title.lower() for point in worst_points]
    reasons = [text for one in worst_points for text in (one.named or (one.texts if state == BAD else ()))]
    places = zip(*(cycles[name] for name in ("kinetics_valid", "session", "condition", "side")), strict=True)
    counts = Counter(places)
    known = {place: count for place, count in counts.items() if place[0]} or counts
    few = min(known.values(), default=0)
    what = f"{few} gait cycle{'s' * (few > 1)}{' with kinetics' if any(valid for valid, *_ in known) else ''}"
    only = f", as far as {what} a side can show" if 0 < few < SMALLEST_N else ""
    no_moments = state == BAD and worst == ["plate contacts"] and count.cycles
    answer = NO_MOMENTS if no_moments else ANSWERS[state].format(points=", ".join(worst), few=only)
    return DataCheck(state, answer, points, reasons[:MOST_LISTED], len(reasons[MOST_LISTED:]))


def _worst(states: Iterable[str]) -> str:
    """Return the worst state; what was not checked is no fault."""
    return max([GOOD, *(state for state in states if state != UNKNOWN)], key=STATES.index)


def _person(calibrations: Mapping[str, xr.Dataset], ages: Mapping[str, float]) -> Point:
    """Return the point on mass, sizes and legs; all moments are divided by the mass. ``ages`` in years, if known."""
    states, texts = [], []
    for session, data in calibrations.items():
        about, place = data.attrs, f"{session}: " if len(calibrations) > 1 else ""
        if "rejected" in about:
            states.append(BAD)
            texts.append(f"{place}no model of the person: {about['rejected']}")
            continue
        shown = about.get("body_mass_shown", "")
        states.append(GOOD if shown else UNKNOWN)
        mass = f"body mass {about['body_mass_kg']:.1f} kg ({about['body_mass_source']})"
        texts.append(f"{place}{mass}; {shown or 'no plate and no file shows it'}")
        for finding in from_text(about.get("findings", "")):
            states.append(BAD if finding["severity"] == "error" else LOOK)
            texts.append(f"{place}{finding['what']}: {finding['remedy']}")
        for reason in data["leg_refused"].values.tolist() if "leg_refused" in data else ():
            if reason:
                states.append(BAD)
                texts.append(f"{place}{reason}")
        of_a_child = _of_a_child(about, ages.get(session, np.nan))
        states += [LOOK] * bool(of_a_child and about["segment_parameters"] in ADULTS)
        texts += [f"{place}{text}" for text in of_a_child]
        if slopes := object_in(about, "slopes_deg"):
            walks = {slope: [name for name, of in slopes.items() if of == slope] for slope in slopes.values()}
            told = ", ".join(f"{join_some(trials, MOST_LISTED)} by {slope:g}" for slope, trials in walks.items())
            texts.append(f"{place}the axes of files rise where the person faces, as stated, in degrees: {told}")
        texts += [f"{place}{side} knee axis: {about[name]}" for side in SIDES if (name := f"knee_axis_{side}") in about]
        texts += [f"{place}{note}"] if (note := about.get("note", "")) else []
    state = UNKNOWN if UNKNOWN in states and _worst(states) == GOOD else _worst(states)
    return Point(state, "Body size and model", texts)


def _of_a_child(about: Facts, age: float) -> list[str]:
    """Return which segments a child has, in words; without an age the height decides who is a child."""
    table, reason = (about.get(f"segment_parameters{of}", "") for of in ("", "_reason"))
    if table == CHILDREN:
        return [f"segment masses are those of a child ({table}): {reason}"]
    is_child = age < ADULT_YEARS or (np.isnan(age) and float(about.get("body_height_m", "nan")) < ADULT_HEIGHT_M)
    if not is_child or table not in ADULTS:
        return []
    chosen = ", ".join(filter(None, [table, reason]))
    return [f"segment masses are those of adults ({chosen}), this is a child: moments of swing are less certain"]


def _knee_axis(quality: pd.DataFrame) -> Point | None:
    """Return the point on the flexion axis of each knee, which the placed markers set; None without a known stance.

    Of trials with the same side, the medians.
    """
    states, texts, sessions = [], [], sessions_in(quality)
    suspect: dict[str, list[str]] = {}
    every = zip(*(quality[name] for name in ("session", "side", "trial", *KNEE_AXIS)), strict=True)
    of_trials = {cells[:3]: cells[3:] for cells in every}
    for session, side in itertools.product(sessions, SIDES):
        found = [figures for (one, of, _), figures in of_trials.items() if (one, of) == (session, side)]
        if not np.isfinite(found).any():
            continue
        error, in_step, adduction, hip = map(median_of, np.transpose(found))
        states.append(UNKNOWN if np.isnan(error) else LOOK if axis_is_suspect(error, in_step) else GOOD)
        if states[-1] == LOOK:
            suspect.setdefault(session, []).append(side)
        place = f"{session}, {side}" if sessions[1:] else side
        texts.append(f"{place}: {axis_in_words(error, in_step, adduction, hip)}")
    if not states:
        return None
    texts += [AXIS_REMEDY] if LOOK in states else []
    places = [f"{session}, " * bool(sessions[1:]) + " and ".join(sides) for session, sides in suspect.items()]
    named = [f"{'; '.join(places)}: {NOT_TO_READ}"] if places else []
    return Point(UNKNOWN if {*states} == {UNKNOWN} else _worst(states), "Knee axis", texts, named)


def _trials(count: Totals, quality: pd.DataFrame) -> Point:
    columns = zip(*(quality[name] for name in ("trial", "session", "reason", "verdict", "side")), strict=True)
    lost = [f"{trial} of {session}: {why}" for trial, session, why, *of in columns if of == [REFUSED, ""]]
    state = GOOD if not lost else LOOK if count.trials_used else BAD
    return Point(state, "Trials", [f"{count.trials_used} of {count.trials} used", *lost])


def _contacts(count: Totals, rows: pd.DataFrame, quality: pd.DataFrame, trials: Mapping[str, Facts]) -> Point:
    """Return the point on contacts with plates: used, refused or doubted and why; a side without any has no kinetics.

    Steps that no plate can measure are in every study and need no look.

    Args:
        rows: of metrics.csv; doubted kinetics are used if a setting says so.
    """
    stances = {*zip(*(quality[name] for name in ("side", "verdict", "code")), strict=True)}
    used = {side for side, verdict, _ in stances if verdict == USED}
    used |= {*rows["side"].to_numpy()[rows["kinetics_valid"].to_numpy() & (rows["doubt_code"].to_numpy() != "")]}
    bare = [side for side in SIDES if side not in used]
    verdicts = verdicts_of(quality)
    refused = [f"{number} refused: {why}" for why, number in Counter(in_general(verdicts.refused)).most_common()]
    refused += [f"{number} doubted: {why}" for why, number in Counter(in_general(verdicts.doubted)).most_common()]
    out = Counter(in_words(facts["plates_left_out"]) for facts in trials.values() if facts.get("plates_left_out"))
    taken = f", {count.doubts_used} of them doubted (cycles.doubted_stances)" if count.doubts_used else ""
    texts = [f"{count.contacts_used} of {count.contacts} used{taken}", *refused]
    if parts := known_in_part(quality).sum():
        texts.append(f"{parts} known in part, near an end of the recording or a gap, where the rest is missing")
    texts += [f"no {side} contact is used: no moments and powers of this side" for side in bare]
    texts += [f"in {number} trial{'s' * (number > 1)}, plates left out: {reason}" for reason, number in out.items()]
    if count.not_on_a_plate:
        texts.append(f"{count.not_on_a_plate} more stances were not on a plate, which is no fault")
    refusals = {code for side, verdict, code in stances if side and verdict == REFUSED}
    of_recording = any(not code or not VERDICTS[code].of_step for code in refusals)
    look = bare or out or count.contacts_doubted or count.doubts_used or of_recording
    state = BAD if count.contacts and not used else LOOK if look else GOOD
    return Point(state, "Plate contacts", texts)


def _plate_tests(calibrations: Mapping[str, xr.Dataset]) -> Point | None:
    """Return the point on plates that were tested with a pole; None without such a trial."""
    stored: dict[str, Any] = {}
    for data in calibrations.values():
        stored |= from_text(data.attrs.get("plate_tests", ""))
    states, texts = [], []
    for file, tests in stored.items():
        if isinstance(tests, str):
            states.append(LOOK)
            texts.append(f"{file}: {tests}")
            continue
        for number, test in loaded_pole.from_json(tests).items():
            states.append(test.verdict)
            texts.append(f"{file}: {loaded_pole.in_words(number, test)}")
    return Point(_worst(states), "Plates tested with a pole", texts) if texts else None


def _repairs(trials: Mapping[str, Facts]) -> Point:
    """Return the point on what was changed in the recordings."""
    filled = [facts["filled_frames"] for facts in trials.values() if facts.get("filled_frames")]
    spikes = sum(facts.get("spikes_removed", 0) for facts in trials.values())
    exchanged = {trial: facts.get("labels_exchanged_back") for trial, facts in trials.items()}
    texts = [f"{sum(filled):g} marker samples filled in {len(filled)} of {len(trials)} trials"] if filled else []
    texts += [f"spikes removed from {spikes:g} marker samples"] if spikes else []
    texts += [f"exchanged labels corrected in {trial}: {which}" for trial, which in exchanged.items() if which]
    events = {trial: in_words(facts.get("events_left_out", "")) for trial, facts in trials.items()}
    texts += [f"events of the file not used in {trial}: {why}" for trial, why in events.items() if why]
    looks = any((*exchanged.values(), *events.values()))
    return Point(LOOK if looks else GOOD, "Repairs", texts or ["none was needed"])


def _corrected(quality: pd.DataFrame) -> Point | None:
    """Return the point on what a person has corrected, and what could not be; None if nobody has."""
    words = {CORRECTIONS: corrections.in_words, NOT_CORRECTED: corrections.not_applied_in_words}
    texts = dict.fromkeys(
        f"{trial}: {words[name](one).replace(BETWEEN_WORDS, ', ')}"
        for name in words
        if name in quality
        for trial, text in zip(quality["trial"], quality[name], strict=True)
        for one in from_text(text)
    )
    return Point(LOOK, "Corrected by hand", [*texts]) if texts else None


def _mechanics(quality: pd.DataFrame) -> Point:
    """Return the point on the check that needs no other data: four formulations of the same mechanics."""
    largest = quality["disagreement_n_m"].max()
    if np.isnan(largest):
        return Point(UNKNOWN, "Computation", ["no moments to check"])
    return Point(GOOD, "Computation", [f"four formulations give the stored moments to {largest:.0e} N m"])


def _repeats(cycles: pd.DataFrame) -> Point:
    """Return the point on the number of gait cycles with kinetics: one or two may be right, but do not show it."""
    several, counts = len(sessions_in(cycles)) > 1, dict[str, Counter[str]]()
    columns = (cycles[name] for name in ("session", "condition", "side", "kinetics_valid"))
    for session, condition, side, valid in zip(*columns, strict=True):
        what = f"{session}, {condition}" if several else condition
        counts.setdefault(what, Counter(dict.fromkeys(SIDES, 0)))[side] += valid
    texts = [f"{what}: {', '.join(f'{side} {of[side]}' for side in SIDES)}" for what, of in counts.items()]
    few = not counts or min(n for of in counts.values() for n in of.values()) < SMALLEST_N
    more = [f"fewer than {SMALLEST_N} do not show how far they repeat"] if few else []
    return Point(UNKNOWN if few else GOOD, "Gait cycles with kinetics", [*(texts or ["none"]), *more])
