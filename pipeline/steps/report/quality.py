"""Quality tables of the report: rejections, repairs, checks of the kinetics."""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

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
from .tables import ABSENT, Row, Table, find_rejected_trials

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


class Verdicts(NamedTuple):
    """What is lost of a participant: why trials are rejected, in general words, and contacts refused or doubted."""

    rejected: list[str]
    refused: list[Verdict]
    doubted: list[Verdict]


def list_rejections(quality: list[Row]) -> Table:
    """Return one row per trial that was rejected, or has contacts with plates refused, doubted or known in part."""
    rows = []
    for trial, mine in _by_trial(quality).items():
        if not mine[0]["side"]:
            rows.append([*trial, "whole trial", mine[0]["reason"]])
            continue
        contacts = sum(row["verdict"] != NOT_ON_A_PLATE for row in mine)
        for verdict, why, added in ((REFUSED, "reason", ""), (DOUBTED, "doubt", " doubted")):
            stances: dict[str, list[str]] = {}
            for row in (row for row in mine if row["verdict"] == verdict):
                stances.setdefault(row[why], []).append(_stance(row))
            if stances:
                count = sum(map(len, stances.values()))
                reasons = "; ".join(f"{reason}: {', '.join(which)}" for reason, which in stances.items())
                rows.append([*trial, f"{count} of {contacts} plate contacts{added}", reasons])
        if parts := [f"{_stance(row)}: {float(row[SEEN]):.0f} %" for row in known_in_part(mine)]:
            what = "near an end of the recording or a gap, moments of this share of the stance are known"
            text = f"{len(parts)} of {contacts} plate contacts known in part"
            rows.append([*trial, text, f"{what}: {', '.join(parts)}"])
    rows.sort(key=lambda row: row[2] != "whole trial")  # stable: whole trials first
    return Table(["Session", "Trial", "Refused, doubted, in part", "Reason and contacts"], rows)


def known_in_part(quality: Iterable[Row]) -> list[Row]:
    """Return the contacts with kinetics that are known in a part of the stance alone."""
    return [row for row in quality if row["verdict"] in (USED, DOUBTED) and float(row[SEEN] or "nan") < 100]


def checks(quality: list[Row], clean: Trials) -> Table:
    """Return repairs and checks (of the worse side), one row per trial."""
    rows = []
    for trial, mine in _by_trial(quality).items():
        if not mine[0]["side"]:
            continue
        about = clean.get(trial[0], {}).get(trial[1], {})
        how = [f"{about[name]:g} {name.removeprefix('filled_by_')}" for name in FILLED if about.get(name)]
        count = f"{about['filled_frames']:g}" if "filled_frames" in about else ABSENT
        count += f" ({', '.join(how)})" if how else ""
        repairs = {title: about[name] for title, name in OTHER_REPAIRS.items() if about.get(name)}
        texts = [f"{title}: {how if isinstance(how, str) else f'{how:g}'}" for title, how in repairs.items()]
        left_out = {what: in_words(about.get(f"{what}_left_out", "")) for what in ("plates", "events")}
        texts += [f"{what} not used: {reasons}" for what, reasons in left_out.items() if reasons]
        cells = [*trial, count, "; ".join(texts) or "none"]
        for name in CHECKS:
            known = [value for row in mine if not np.isnan(value := float(row[name] or "nan"))]
            worst = max(known, default=np.nan)
            number = f"{worst:.0f}" if worst >= 1 else f"{worst:.1g}"
            cells.append(ABSENT if not known else "any" if np.isinf(worst) else number)
        rows.append(cells)
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


def verdicts_of(quality: list[Row]) -> Verdicts:
    """Return why trials of a participant are rejected, and contacts refused or doubted."""
    rejected = [rejection_in_general(row["reason_values"]) for row in find_rejected_trials(quality)]
    refused = [row["reason_values"] for row in quality if row["verdict"] == REFUSED and row["side"]]
    doubted = [row["doubt_values"] for row in quality if row["verdict"] == DOUBTED]
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


def medians_of_sessions(quality: list[Row]) -> dict[str, dict[str, float]]:
    """Return the median over the stances of each session of what sessions are compared by; NaN if not known."""
    by_session: dict[str, list[Row]] = {}
    for row in (row for row in quality if row["side"]):
        by_session.setdefault(row["session"], []).append(row)
    known = {
        session: {name: [float(row[name]) for row in mine if row[name]] for name in WITNESSES}
        for session, mine in by_session.items()
    }
    return {
        session: {name: float(np.median(values)) if values else np.nan for name, values in of.items()}
        for session, of in known.items()
    }


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


def _by_trial(quality: list[Row]) -> dict[tuple[str, str], list[Row]]:
    rows: dict[tuple[str, str], list[Row]] = {}
    for row in quality:
        rows.setdefault((row["session"], row["trial"]), []).append(row)
    return rows


def _stance(row: Row) -> str:
    plates = f" on plate {row['plates']}" if row["plates"] else ""
    return f"{row['side']} {float(row['start_s']):.2f} to {float(row['end_s']):.2f} s{plates}"
