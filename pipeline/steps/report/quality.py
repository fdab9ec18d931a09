"""Quality tables of the report: rejections, repairs, checks of the kinetics."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...arrays import Array, Flags
from ...trials.left_out import from_text, in_words
from ...trials.session import FILES
from ...variables.cycle_variables import SEEN
from ...variables.schema import REPAIRS
from ...variables.stance_verdicts import (
    DOUBTED,
    NOT_ON_A_PLATE,
    REFUSED,
    USED,
    Verdict,
    in_general,
    rejection_in_general,
    verdicts_in,
)
from .tables import ABSENT, Table

CHECKS = {
    "disagreement_n_m": "Formulations differ by, N m",
    "forward_closure_ankle_deg": "Forward closure: ankle, deg",
    "forward_closure_knee_deg": "knee, deg",
    "forward_closure_hip_deg": "hip, deg",
    "energy_closure_w": "Energy closure, W",
    "residual_force_peak_percent": "Pelvis residual: force, % of weight",
    "residual_moment_peak_percent": "moment, % of weight times height",
    "marker_residual_rms_mm": "Markers off their places, mm",
    "knee_marker_unseen_mm": "Knee marker: unwatched up to, mm",
}
# what sessions of a study are compared by, and the least difference that is listed, so that a study of much alike
# sessions does not list trifles: 5 % of a force are .05 to .08 N m/kg at the ankle; the others are assumptions
WITNESSES = {
    "momentum_ratio": ("Vertical force per force that carries the body", 0.05),
    "residual_force_rms_percent": ("Pelvis residual: force, % of weight", 10.0),
    "residual_moment_rms_percent": ("Pelvis residual: moment, % of weight times height", 2.0),
    "marker_residual_rms_mm": ("Markers off their places, mm", 2.0),
}
FEWEST_SESSIONS = 8  # a median and its spread mean little in fewer
UNLIKE = 3.5  # of the modified z-score (Iglewicz and Hoaglin 1993, How to detect and handle outliers)
FILLED = tuple(name for name in REPAIRS if name.startswith("filled_by_"))
OTHER_REPAIRS = {"spikes removed": "spikes_removed", "swapped labels corrected": "labels_exchanged_back"}
Trials = Mapping[str, Mapping[str, Mapping[str, Any]]]
TRIAL = ["session", "trial"]
IN_PART, SHARE = "in part", "near an end of the recording or a gap, moments of this share of the stance are known"
KINDS = {REFUSED: "", DOUBTED: " doubted", IN_PART: " known in part"}
Stances = Mapping[str, defaultdict[str, list[str]]]  # in words by kind and reason


class Verdicts(NamedTuple):
    """What is lost of a participant: why trials are rejected, in general words, and contacts refused or doubted."""

    rejected: list[str]
    refused: list[Verdict]
    doubted: list[Verdict]


def list_rejections(quality: pd.DataFrame) -> Table:
    """Return one row per trial that was rejected, or has contacts with plates refused, doubted or known in part."""
    rows, contacts = list[list[str]](), Counter[tuple[str, str]]()
    found = defaultdict[tuple[str, str], Stances](lambda: {kind: defaultdict(list) for kind in KINDS})
    columns = (quality[name].tolist() for name in (*TRIAL, "side", "verdict", "reason", "doubt", SEEN))
    every = zip(*columns, known_in_part(quality).tolist(), _in_words(quality), strict=True)
    for session, trial, side, verdict, reason, doubt, seen, in_part, stance in every:
        if not side:
            rows.append([session, trial, "whole trial", reason])
            continue
        contacts[session, trial] += verdict != NOT_ON_A_PLATE
        if verdict in (REFUSED, DOUBTED):
            found[session, trial][verdict][doubt if verdict == DOUBTED else reason].append(stance)
        if in_part:
            found[session, trial][IN_PART][SHARE].append(f"{stance}: {seen:.0f} %")
    for place, kinds in found.items():
        for kind, reasons in kinds.items():
            if count := sum(map(len, reasons.values())):
                text = "; ".join(f"{reason}: {', '.join(stances)}" for reason, stances in reasons.items())
                rows.append([*place, f"{count} of {contacts[place]} plate contacts{KINDS[kind]}", text])
    return Table(["Session", "Trial", "Refused, doubted, in part", "Reason and contacts"], rows)


def known_in_part(quality: pd.DataFrame) -> Flags:
    """Return which contacts with kinetics are known in a part of the stance alone."""
    verdicts, seen = quality["verdict"].to_numpy(), quality[SEEN].to_numpy(dtype=float)
    return np.asarray(((verdicts == USED) | (verdicts == DOUBTED)) & (seen < 100), dtype=bool)


def checks(quality: pd.DataFrame, clean: Trials) -> Table:
    """Return repairs and checks (of the worse side), one row per trial."""
    rows, stances = [], dict[tuple[str, str], list[int]]()
    values = np.column_stack([quality[name] for name in CHECKS])
    for i, (session, trial, side) in enumerate(zip(*(quality[name] for name in (*TRIAL, "side")), strict=True)):
        if side:
            stances.setdefault((session, trial), []).append(i)
    for trial, mine in stances.items():
        about = clean.get(trial[0], {}).get(trial[1], {})
        how = [f"{about[name]:g} {name.removeprefix('filled_by_')}" for name in FILLED if about.get(name)]
        count = f"{about['filled_frames']:g}" if "filled_frames" in about else ABSENT
        count += f" ({', '.join(how)})" if how else ""
        repairs = {title: about[name] for title, name in OTHER_REPAIRS.items() if about.get(name)}
        texts = [f"{title}: {how if isinstance(how, str) else f'{how:g}'}" for title, how in repairs.items()]
        left_out = {what: in_words(about.get(f"{what}_left_out", "")) for what in ("plates", "events")}
        texts += [f"{what} not used: {reasons}" for what, reasons in left_out.items() if reasons]
        worst = np.fmax.reduce(values[mine]).tolist()
        cells = [
            "any" if np.isinf(x) else f"{x:.0f}" if x >= 1 else ABSENT if np.isnan(x) else f"{x:.1g}" for x in worst
        ]
        rows.append([*trial, count, "; ".join(texts) or "none", *cells])
    return Table(["Session", "Trial", "Marker samples filled", "Other repairs", *CHECKS.values()], rows)


def muscles_left_out(clean: Trials, sessions: Iterable[str]) -> Table:
    """Return the EMG channels of some sessions that are not used, the reason, and the trials of which it is true."""
    trials: dict[tuple[str, str, str], list[str]] = {}
    for session in sessions:
        for trial, about in clean.get(session, {}).items():
            for each in from_text(about.get("emg_left_out", "")):
                trials.setdefault((session, ", ".join(each.which), each.words), []).append(trial)
    rows = [[*row, ", ".join(names)] for row, names in trials.items()]
    return Table(["Session", "Channels", "Reason", "Trials"], rows)


def verdicts_of(quality: pd.DataFrame) -> Verdicts:
    """Return why trials of a participant are rejected, and contacts refused or doubted."""
    reasons, verdicts = quality["reason_values"].to_numpy(), quality["verdict"].to_numpy()
    of_trial = quality["side"].to_numpy() == ""
    rejected = [*map(rejection_in_general, reasons[(verdicts == REFUSED) & of_trial])]
    refused = reasons[(verdicts == REFUSED) & ~of_trial]
    doubted = quality["doubt_values"].to_numpy()[verdicts == DOUBTED]
    return Verdicts(rejected, *([one for text in texts for one in verdicts_in(text)] for texts in (refused, doubted)))


def reasons(people: Sequence[Verdicts]) -> list[tuple[Counter[str], Counter[str]]]:
    """Return counts of rejected trials and of refused or doubted contacts of each participant by reason.

    The words are general in the whole study, as in the summary of the run: a reason has the same ones in all people.
    """
    refusals = iter(in_general(one for person in people for one in person.refused))
    doubts = iter(in_general(one for person in people for one in person.doubted))
    counts = []
    for person in people:
        contacts = Counter(itertools.islice(refusals, len(person.refused)))
        contacts.update(f"doubted: {kind}" for kind in itertools.islice(doubts, len(person.doubted)))
        counts.append((Counter(person.rejected), contacts))
    return counts


def medians_of_sessions(quality: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Return the median over the stances of each session of what sessions are compared by; NaN if not known."""
    sessions = np.where(quality["side"].to_numpy() != "", quality["session"].to_numpy(), "")
    return {
        session: {name: median_of(quality[name].to_numpy()[sessions == session]) for name in WITNESSES}
        for session in dict.fromkeys(sessions.tolist())
        if session
    }


def median_of(values: Array) -> float:
    """Return the median of the values that are known, NaN if there is none."""
    known = values[np.isfinite(values)]
    return float(np.median(known)) if len(known) else np.nan


def unlike_the_others(medians: Mapping[str, Mapping[str, float]]) -> Table:
    """Return the sessions that differ from the others of the study, one row per session and figure.

    It is a hint that changes no result: one more participant may change it.
    """
    rows = []
    for name, (title, least) in WITNESSES.items():
        of = {session: figures[name] for session, figures in medians.items() if np.isfinite(figures[name])}
        values = np.array([*of.values()])
        if len(values) < FEWEST_SESSIONS:
            continue
        middle = float(np.median(values))
        limit = max(least, UNLIKE / 0.6745 * float(np.median(np.abs(values - middle))))
        rows += [
            [session, title, f"{one:.3g}", f"{middle:.3g}"] for session, one in of.items() if abs(one - middle) > limit
        ]
    return Table(["Session", "Figure", "Its median", "Median of the sessions"], sorted(rows))


def sources(clean: Trials, sessions: Iterable[str]) -> Table:
    """Return the files of the walking trials of some sessions with their SHA-256."""
    files = {
        str(about[name]): str(about.get(f"{name}_sha256", ""))
        for session in sessions
        for about in clean.get(session, {}).values()
        for name in FILES
        if about.get(name)
    }
    return Table(["File", "SHA-256"], [list(item) for item in sorted(files.items())])


def _in_words(stances: pd.DataFrame) -> Iterator[str]:
    """Yield side, times and plates of each stance."""
    for side, start_s, end_s, plates in zip(*(stances[x] for x in ("side", "start_s", "end_s", "plates")), strict=True):
        yield f"{side} {start_s:.2f} to {end_s:.2f} s{f' on plate {plates}' if plates else ''}"
