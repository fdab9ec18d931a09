"""Problems of visits: their dates and order, bodies that shrink between them, and conditions that they do not share."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from ...errors import Problem, join_some, warning
from ...person.size_findings import sizes_in_table
from ...steps.read.recording_contents import Contents
from ...tables import tsv
from ...tables.session_table import visits_in_order
from ...tables.study_tables import DATE_COLUMNS
from ...vocabulary.name_words import kind_of, places_of_visits, read_words, words_of
from ...workflow.job_keys import Study
from .person_findings import read_stated_sizes

SHRINKS_M = 0.02  # of a height: two measurements of one adult differ by less
LOSES = 0.2  # of a body mass between two visits
ORDER_REMEDY = "correct date or visit_number in sessions.tsv: every change has the sign of this order"
MOST_LISTED = 4


def of_dates_and_order(study: Study, today: date) -> Iterator[Problem]:
    """Find dates in the future, dates that differ between tables, and visits whose words contradict their order."""
    for session, rows in study.sessions.items():
        stated = study.session_rows.get(session, {}).get("date", "")[:10]
        days = {row.get(name, "")[:10] for row in rows for name in DATE_COLUMNS}
        days = {day for day in {*days, stated} if day.lower() not in tsv.ABSENT}
        if late := [day for day in sorted(days) if day > today.isoformat()]:
            yield warning(session, f"its date {late[0]} is in the future", "correct the date", "date_in_future")
        if stated in days and len(days) > 1:
            what = f"is of {stated} in sessions.tsv, but of {min(days - {stated})} in trials.tsv"
            yield warning(session, what, "correct one of both", "dates_differ")
    for person in filter(study.participants.__contains__, study.people):
        ordered = visits_in_order(person, study.recorded(person), study.session_rows)
        visits = list(dict.fromkeys(visit for _, visit in ordered))
        words = {visit: read_words(visit) for visit in visits}
        places, _ = places_of_visits(words) if len(visits) > 1 else ({}, True)
        if places and sorted(visits, key=places.__getitem__) != visits:
            what = f"visits are in the order {', '.join(visits)}, which their names contradict"
            yield warning(person, what, ORDER_REMEDY, "visits_out_of_order")


def of_bodies(study: Study, facts: Mapping[str, Mapping[str, Contents]]) -> Iterator[Problem]:
    """Find people who are shorter, or lighter by a fifth, at a later visit.

    Args:
        facts: by session and file, for the files that can be read.
    """
    for person, sessions in study.people.items():
        sizes = [  # by sessions.tsv, else by the files
            (one, read_stated_sizes(study.sessions[one], facts[one]) | sizes_in_table(study.own_sizes(one) or {}))
            for one in sessions
        ]
        for (before, first), (after, second) in zip(sizes, sizes[1:], strict=False):
            for column, least in (("height_m", -SHRINKS_M), ("mass_kg", -LOSES * first.get("mass_kg", 0.0))):
                if column in first and column in second and second[column] - first[column] < least:
                    what = f"{column} falls from {first[column]:.4g} in {before} to {second[column]:.4g} in {after}"
                    remedy = "correct it, or the order of the visits; or are these two people?"
                    yield warning(person, what, remedy, "body_shrinks")


def of_conditions(study: Study) -> Iterator[Problem]:
    """Find people, and groups of them, of whom no two visits or groups have walks of one condition."""
    groups: dict[str, set[str]] = defaultdict(set)
    people = {person: sessions for person, sessions in study.people.items() if person in study.participants}
    for person, sessions in people.items():
        names = dict(visits_in_order(person, study.recorded(person), study.session_rows))
        walked: dict[str, set[str]] = defaultdict(set)
        for session in sessions:
            walked[names[session]] |= {row["condition"] for row in study.sessions[session] if row["role"] == "gait"}
        if text := _unshared(walked):
            what = f"no condition is common to two visits: {text}"
            yield warning(person, what, "write one condition alike in all visits of trials.tsv", "no_shared_condition")
        groups[study.participants.get(person, {}).get("group", "")].update(*walked.values())
    groups.pop("", None)
    if text := _unshared(groups):
        what = f"no condition is common to two groups: {text}"
        yield warning("participants.tsv", what, "write one condition alike in trials.tsv", "no_shared_condition")


def of_left_out(rows: Sequence[tsv.Row], sessions: Mapping[str, object]) -> Iterator[Problem]:
    """Find statics, by their names, that are left out of sessions in use.

    Args:
        rows: of trials.tsv, with those that are left out.
    """
    for row in rows:
        is_static = any(kind_of(word) == "static" for word in words_of(row.get("trial", "")))
        session = row.get("session") or row["participant_id"]
        if row.get("role") == "exclude" and is_static and session in sessions:
            what = f"static by its name, but left out of {session}"
            yield warning(row["file"], what, "give it a session of its own if it has walks", "static_left_out")


def _unshared(conditions: Mapping[str, set[str]]) -> str:
    """Return the conditions of each part in words if there are several parts with walks and no two share one."""
    parts = {name: own for name, own in conditions.items() if own}
    every = [condition for own in parts.values() for condition in own]
    if len(parts) < 2 or len(every) > len({*every}):
        return ""
    return "; ".join(f"{name} has {join_some(sorted(own), MOST_LISTED)}" for name, own in parts.items())
