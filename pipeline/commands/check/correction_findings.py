"""Rows of corrections.tsv that do not fit, by the results of the last run."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...conventions import SAME_STRIKE_S
from ...errors import Problem, UserError, join_some, nearest, warning
from ...results import netcdf
from ...tables.corrections import KINDS, UNFIT, WHY, in_results, markers_in, where_of
from ...tables.tsv import Row
from ...trials.session import one_trial
from ...variables.verdict_table import VERDICTS
from ...workflow.job_keys import Study

MOST_LISTED = 8
NOT_APPLIED = "correct it, or remove the row; the trial is computed without it"
EVENTS = ("foot_strike", "foot_off")
OF_CONTACTS = ("contact_side", "contact_start", "reason", "reason_code", "event", "event_side", "event_time")
MARKERS, LEAVE_OUT = ("hide_marker", "exchange_labels"), "leave_out_cycle"


def of_corrections(study: Study) -> Iterator[Problem]:
    """Yield the corrections that the last run did not apply, and newer ones that fit nothing in its results.

    Of newer ones only times, events and labels are compared: the next run judges all. Nothing is said of times where
    another correction of the trial moves its events, or the row is an applied one of which a cell has changed, as the
    results have its effect.
    """
    for session, rows in study.corrections.items():
        folder = study.path / "derived" / session
        try:
            applied, unfit = in_results([netcdf.attributes(folder / "cycles.nc")])
        except UserError:  # the session has not run, or verify says what is wrong
            continue
        known = [{name: cell for name, cell in row.items() if name != WHY} for row in unfit]
        for row in rows:
            if row in known:
                yield warning(where_of(row), f"not applied: {unfit[known.index(row)][WHY]}", NOT_APPLIED, UNFIT)
            elif row not in applied and row["kind"] in KINDS:
                others = [one for one in (*rows, *applied) if one is not row and one["trial"] == row["trial"]]
                yield from _of_new_row(row, folder, others)


def _of_new_row(row: Row, folder: Path, others: Sequence[Row]) -> Iterator[Problem]:
    """Yield why a correction that no run has tried cannot fit the results of the last run."""
    try:
        contacts, recorded = (
            one_trial(netcdf.load(folder / f"{step}.nc", names), row["trial"])
            for step, names in (("contacts", OF_CONTACTS), ("read", ("marker",)))
        )
    except (UserError, ValueError):  # not there, or without this trial
        return
    same = (other for other in others if (other["kind"], other["side"]) == (row["kind"], row["side"]))
    moved = any(other["kind"].endswith(EVENTS) for other in others) or any(
        abs(float(row["time_s"]) - float(other["time_s"])) < SAME_STRIKE_S for other in same
    )
    if row["kind"] in MARKERS:
        labels = [str(label) for label in recorded["marker"].values] if "marker" in recorded.variables else []
        for label in (label for label in markers_in(row) if labels and label not in labels):
            remedy = nearest(label, labels) or f"give one of {join_some(labels, MOST_LISTED)}"
            yield warning(where_of(row), f"no marker is labelled '{label}'", remedy, UNFIT)
    elif not moved and "contact_side" in contacts.variables and (problem := _misfit(row, contacts.variables)):
        yield warning(where_of(row), *problem, UNFIT)


def _misfit(row: Row, contacts: Mapping[Any, Any]) -> tuple[str, str] | None:
    """Return what is wrong with a correction of an event, a contact or a cycle, and the remedy; None if nothing is."""
    action, _, what = row["kind"].partition("_")
    at_s, side = float(row["time_s"]), row["side"]
    if what in EVENTS:
        table = (contacts[name].values.tolist() for name in ("event_side", "event", "event_time"))
        times = [time_s for of, kind, time_s in zip(*table, strict=True) if (of, kind) == (side, what)]
    elif row["kind"] in ("accept_contact", "refuse_contact", LEAVE_OUT):
        table = (contacts[name].values.tolist() for name in ("contact_side", "contact_start"))
        times = [time_s for of, time_s in zip(*table, strict=True) if of == side]
    else:
        return None
    name = f"{side} {what.replace('_', ' ')}" if what in EVENTS else f"{side} stance that begins then"
    there = any(abs(time_s - at_s) < SAME_STRIKE_S for time_s in times)
    if action == "add":
        return (f"there is a {name}", "move that one") if there else None
    if not there:
        listed = ", ".join(f"{time_s:.3f}" for time_s in times) or "none"
        return f"there is no {name}", f"those of the last run are at {listed} s"
    return _verdict_against(row, contacts) if what == "contact" else None


def _verdict_against(row: Row, contacts: Mapping[Any, Any]) -> tuple[str, str] | None:
    """Return why the contact of a row can be neither accepted nor refused; None if it can."""
    table = (contacts[name].values.tolist() for name in ("contact_side", "contact_start", "reason_code", "reason"))
    for side, start_s, code, reason in zip(*table, strict=True):
        if side == row["side"] and abs(start_s - float(row["time_s"])) < SAME_STRIKE_S:
            if row["kind"] == "refuse_contact" and code:
                return f"the contact is refused already: {reason}", "remove the row"
            if row["kind"] == "accept_contact" and code and not VERDICTS[code].judged:
                return f"no person can accept this contact: {reason}", "correct the cause, or remove the row"
    return None
