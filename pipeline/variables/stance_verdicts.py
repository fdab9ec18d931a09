"""Verdicts on stances and trials: the code of each reason to refuse or to doubt one, and its words.

Contacts and cycles are refused by :func:`refusal`; files hold the words and the code side by side. A trial is refused
by the UserError of a step, of which the words are where it is raised, and the code is listed here.

A refusal must be right: its kinetics are not in the results. A doubt (:func:`doubt`) names a suspicion: the numbers are
in the results, marked, and by default in no mean. A stance may have several; files hold them as :func:`joined`.
"""

import re
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import WARNING, Problem

USED, DOUBTED, NOT_ON_A_PLATE, REFUSED = "used", "doubted", "not on a plate", "refused"
BY_HAND, LEG_REFUSED = "left_out_by_hand", "leg_refused"
REFUSED_BY_HAND, ACCEPTED = "refused_by_hand", "accepted_by_hand"
OF_STANCES = {  # by code; with the values of each stance
    "no_plate": "no plate",
    "no_plate_left": "no plate ({left_out})",
    "no_gait_event": "no gait event seen",
    "foot_without_markers": "heel or toe marker of the foot absent",
    "other_foot_without_markers": (
        "the other foot has no markers, and the plate is loaded for longer than this foot rests"
    ),
    "feet_not_seen": "feet not seen during the contact",
    "contact_too_short": "too short for the marker rate",
    "plate_signal_missing": "plate signal missing during the contact",
    "two_feet_on_plate": "two feet on the plate",
    "foot_partly_off_plate": "foot partly off the plate",
    "plate_out_of_time": "contact {ms:.0f} ms away from the foot's: plate and markers are not in time",
    "plate_drifts": "the plate's baseline drifts by {newtons:.0f} N",
    "force_off_foot": "centre of pressure {cm:.0f} cm from the foot: two feet, or a misplaced plate",
    "force_off_ankle": "force {cm:.0f} cm from the ankle: a misplaced plate",
    "plate_given_to_other_foot": "left out in trials.tsv",
    "foot_not_over_given_plate": "given to this foot in trials.tsv, but the foot is not over the plate",
    "plate_faulty": "plate {number}: {fault}",
    "plate_pushes_down": (
        "plate {number} pushes down by up to {newtons:.0f} N: are its corners in the wrong order, or the signs of its "
        "channels turned?"
    ),
    "plate_turned": "plate {number} seems {how}: {away}",
    "plate_shifted": (
        "plate {number} seems shifted by {cm:.0f} cm: that far from foot and pelvis is the force, measured by {by}"
    ),
    "plates_shifted": "plates {numbers} seem shifted against each other by {cm:.0f} cm",
    "all_plates_shifted": (
        "all plates together seem shifted by {cm:.0f} cm: that far from foot and pelvis are their forces; were the "
        "cameras calibrated again, with the origin elsewhere?"
    ),
    "plate_forces_wrong": "plate {number} measures forces that no step has: its force {how}, {cause}",
    LEG_REFUSED: "{reason}",
    "leg_implausible": "{what} in {percent:.0f} % of the stance; {remedy}",
    "markers_not_seen": "markers not seen during the stance: {markers}; fill the gap or use another trial",
    "leg_without_pose": "the markers that are seen do not make a leg of the static trial: {why}",
    "near_an_end": (
        "within {ms:.0f} ms of an end of the recording or of a gap, where accelerations are uncertain; record longer, "
        "or fill the gap"
    ),
    "frames_lost": (
        "all markers jump together at {second:.2f} s: frames are lost or repeated, and the motion before and after "
        "does not join; export the trial again, or record another"
    ),
    "formulations_differ": "the formulations of the joint moments differ by {n_m:.1e} N m",
    "momentum_disagrees": (
        "the plate shows {percent:.0f} % of the force that carries {mass:.1f} kg: a wrong gain or body mass, or a load "
        "that it does not measure; if hands bear it, set cycles.hands_bear_weight"
    ),
    "direction_disagrees": (
        "the horizontal force points against the acceleration of the body ({momentum_along:.1f} m/s2 along the walk, "
        "{momentum_aside:.1f} across): wrong signs or order of the plate's channels, or a plate turned in the file"
    ),
    "residual_disagrees": (
        "forces and motion of the body miss each other by {residual_force_rms_percent:.0f} % of weight and "
        "{residual_moment_rms_percent:.0f} % of weight times height: a wrong plate, or markers without the motion"
    ),
    "force_too_low": "peak vertical force only {body_weights:.2f} body weights",
    "no_stance": "no stance at the start of the cycle",
    BY_HAND: "left out by hand: {reason}",
    REFUSED_BY_HAND: "refused by hand: {reason}",
}
# The reasons of OF_STANCES that a person may overrule who has seen the step: a limit, a law of most steps, or a place
# was judged. What the others name makes the numbers impossible, or is stated by hand already.
JUDGEMENTS = {
    *("other_foot_without_markers", "feet_not_seen", "foot_partly_off_plate", "plate_out_of_time", "plate_drifts"),
    *("force_off_foot", "force_off_ankle", "plate_given_to_other_foot", "plate_turned", "plate_shifted"),
    *("plates_shifted", "all_plates_shifted", "plate_forces_wrong", "momentum_disagrees", "direction_disagrees"),
    *("residual_disagrees", "force_too_low"),
}
IMPOSSIBLE = {
    *("no_plate", "no_plate_left", "no_gait_event", "no_stance", "foot_without_markers", "contact_too_short"),
    *("plate_signal_missing", "plate_faulty", "plate_pushes_down", "two_feet_on_plate", "foot_not_over_given_plate"),
    *(LEG_REFUSED, "leg_implausible", "markers_not_seen", "leg_without_pose", "near_an_end", "frames_lost"),
    *("formulations_differ", BY_HAND, REFUSED_BY_HAND),
}
# by code, with the values of each stance or trial; words hold no BETWEEN_WORDS
DOUBTS: dict[str, str] = {
    ACCEPTED: "accepted by hand: {reason}",
    "marker_moved": (
        "{marker} lies {mm:.0f} mm {where} the place that the other markers of the legs give it: has it moved since "
        "the static trial, or is that of another person?"
    ),
    "plate_baseline_unknown": (
        "plate {number} is not seen unloaded {when} the contact, and elsewhere too briefly, or with an offset that "
        "changes: its offset under the load is not known"
    ),
    "mass_disagrees": "the body mass is wrong: {what}",
    "plates_not_in_time": (
        "plates and markers of the session are {ms:.0f} ms apart (standard error {error:.0f}): check the trigger, and "
        "for filters that delay the forces"
    ),
    "markers_noisy": (
        "markers are noisy by {mm:.1f} mm, which changes the hip moment by some {error:.2f} N m/kg at this rate and "
        "cut-off"
    ),
    "markers_frozen": "all markers stand still from {first:.2f} to {last:.2f} s, where their motion is filled in",
    "static_unlike": (
        "distances between markers differ from the static trial's by {mm:.0f} mm: another person's static trial, or "
        "markers moved between the two"
    ),
    "angles_unlike_file": (
        "{what} differs by {degrees:+.0f} degrees from the angle in the file, and the other leg does not: has a marker "
        "moved, or are sizes wrong?"
    ),
    "momentum_doubted": (
        "{who} {percent:.0f} % of the force that carries {mass:.1f} kg: is a gain or the body mass wrong, or does "
        "something else bear weight?"
    ),
    "plate_forces_suspect": (
        "plate {number} measures forces that {percent:.1g} % of sound steps have: its force {how}, {cause}"
    ),
    "plate_channels_suspect": (
        "channels of {plates} may be wrong ({channels}): read otherwise, the steps of the session press in the feet "
        "and pass the pelvis as those of people do"
    ),
    "plate_shift_suspect": (
        "plates {numbers} may be shifted by {cm:.0f} cm: that far from foot and pelvis are their forces"
    ),
    "direction_doubted": (
        "the horizontal force points against the acceleration of the body ({momentum_along:.1f} m/s2 along the walk, "
        "{momentum_aside:.1f} across): are signs or order of the plate's channels wrong?"
    ),
    "residual_doubted": (
        "forces and motion of the body miss each other by {residual_force_rms_percent:.0f} % of weight and "
        "{residual_moment_rms_percent:.0f} % of weight times height: is a plate wrong, are the markers noisy, does the "
        "trunk lean?"
    ),
    "rate_doubted": (
        "the vertical force varies {momentum_variation:.2f} times as much as the body's motion demands: are the rate "
        "or unit of the markers wrong?"
    ),
}
# reasons that lie in how a person steps or in where a recording ends; nothing is wrong with plates, markers or tables
OF_A_STEP = ("two_feet_on_plate", "foot_partly_off_plate", "near_an_end", "plate_given_to_other_foot", BY_HAND)
BETWEEN_WORDS, BETWEEN_CODES = "; ", " "
OF_TRIALS = {  # by code, in general; LEG_REFUSED of a stance is one of them
    LEG_REFUSED: "a leg is refused in the whole trial",
    "recording_unusable": "the recording cannot be used",
    "no_heading": "where the person faces cannot be found",
    "no_static_trial": "the session has no static trial that can be used",
    "functional_trial_unusable": "a functional trial cannot be used",
    "mass_missing": "no body mass",
    "size_missing": "a size of the person is missing",
    "segment_parameters_wrong": "segment parameters cannot be used",
    "markers_missing": "markers are missing",
    "cutoff_too_high": "the cut-off of a filter is too high for the trial's rate",
    "labels_exchanged": "labels of markers are exchanged",
    "leg_implausible": "a leg is none that a person has",
    "plate_number_unknown": "trials.tsv names a plate that the file does not have",
}

WORDS = ChainMap(OF_TRIALS, OF_STANCES, DOUBTS)


def refusal(code: str, **values: object) -> Problem:
    """Return the reason to refuse a stance, in words with its values."""
    return Problem("", OF_STANCES[code].format(**values), "", code)


def doubt(code: str, **values: object) -> Problem:
    """Return the reason to doubt a stance, or all those of a trial, in words with its values."""
    return Problem("", DOUBTS[code].format(**values), "", code, WARNING)


def accepted(reason: str, refusals: Iterable[Problem]) -> list[Problem]:
    """Return the doubts about a stance that is accepted by hand: why it is, and what it was refused for."""
    every = [doubt(ACCEPTED, reason=reason), *refusals]
    return [one._replace(what=one.what.replace(BETWEEN_WORDS, ", "), severity=WARNING) for one in every]


def is_accepted(doubt_code: str) -> bool:
    """Return whether a stance with these codes of doubts is accepted by hand."""
    return ACCEPTED in doubt_code.split(BETWEEN_CODES)


def joined(doubts: Iterable[Problem]) -> Problem:
    """Return doubts, each once, as one, with their words and codes as files hold them; both empty without a doubt.

    Args:
        doubts: of :func:`doubt` or of this function.
    """
    every = [*doubts]
    words = dict.fromkeys(part for one in every for part in one.what.split(BETWEEN_WORDS) if part)
    codes = dict.fromkeys(part for one in every for part in one.code.split(BETWEEN_CODES) if part)
    return Problem("", BETWEEN_WORDS.join(words), "", BETWEEN_CODES.join(codes), WARNING)


def of_trials(doubts: Iterable[Iterable[Problem]]) -> dict[str, tuple[str, NDArray[np.str_]]]:
    """Return the variables (trial,) of the doubts about each trial of a session; none if there is no doubt."""
    every = [joined(of_trial) for of_trial in doubts]
    texts = {"doubt": [one.what for one in every], "doubt_code": [one.code for one in every]}
    return {name: ("trial", np.array(column)) for name, column in texts.items() if any(column)}


def verdict_of(code: str, plates: str, doubt_code: str = "") -> str:
    """Return the verdict on a stance: the kinetics of one that no plate measured are not lost, they never were.

    Args:
        code: of the reason for which its kinetics are not valid; empty if they are.
        plates: the plates that were loaded by the foot; empty if none was.
        doubt_code: of the doubts about its kinetics; empty without.
    """
    if not code:
        return DOUBTED if doubt_code and not is_accepted(doubt_code) else USED
    return REFUSED if plates or code == BY_HAND else NOT_ON_A_PLATE


def doubts_of(row: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return code, empty if unknown, and words of each doubt in a row of quality.csv; codes are there once."""
    codes = row["doubt_code"].split(BETWEEN_CODES)
    every = row["doubt"].split(BETWEEN_WORDS)
    return [(next((code for code in codes if _values(code, words)), ""), words) for words in every]


def in_general(problems: Iterable[tuple[str, str]]) -> list[str]:
    """Return the words of each problem, given as code and words, the same for all of its kind.

    A kind is a code, and the plate if the words number it. Of the values, those that all of a kind share are kept.
    """
    kinds: dict[tuple[str, str], list[dict[str, str]]] = {}
    keys = []
    for code, words in problems:
        found = _values(code, words)
        values = found.groupdict() if found else {}
        keys.append((code if code in WORDS else words, values.get("number", "")))
        kinds.setdefault(keys[-1], []).append(values)
    general = {key: _with_shared(WORDS[key[0]], values) if key[0] in WORDS else key[0] for key, values in kinds.items()}
    return [general[key] for key in keys]


def _with_shared(words: str, values: Sequence[Mapping[str, str]]) -> str:
    """Return words with the values that all share, dots for other numbers, and the first of other texts."""

    def shared(found: re.Match[str]) -> str:
        first, *others = dict.fromkeys(of.get(found[1], "…") for of in values)
        return first if not others else "…" if re.fullmatch(r"[-+.\d]+", first) else f"{first} …"

    return re.sub(r"\{(\w+).*?\}", shared, words)


def _values(code: str, words: str) -> re.Match[str] | None:
    """Return the match of the words of a code, with its values by name."""
    names = re.sub(r"\\\{(\w+).*?\\\}", r"(?P<\1>.*)", re.escape(WORDS.get(code, "")))
    return re.fullmatch(names, words, re.DOTALL)
