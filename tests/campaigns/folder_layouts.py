"""Thousands of folder layouts and what ``init`` makes of them, in a table.

``python -m tests.campaigns folder_layouts`` prints the figures of docs/reliability.md;
``tests/commands/test_folder_layouts.py`` judges some of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from pipeline.commands.init.people import Trial, people_and_sessions
from tests.campaigns.runner import Report
from tests.support.studies.folder_layouts import KNOWN, UNKNOWN, Layout, layouts

RIGHT, ASKED = "right", "asked"
PEOPLE, VISITS, SPLIT, DATE = "wrong people", "visits mixed", "session split", "wrong date"
SHORT = {"count": 300}
MOST_WRONG = 0.002
ENDS = (RIGHT, ASKED, PEOPLE, VISITS, SPLIT, DATE)


def judge(layout: Layout, owners: list[Trial]) -> str:
    """Return how init's people, visits and dates compare with the truth."""
    people, persons, visits, sessions = (defaultdict[str, set[object]](set) for _ in range(4))
    asked = any(owner.asked for owner in owners)
    for owner, (person, visit, _) in zip(owners, layout.truth, strict=True):
        visits[owner.session].add((person, visit))
        if not owner.asked:
            people[owner.person].add(person)
            persons[person].add(owner.person)
            sessions[f"{person} {visit}"].add(owner.session)
    if any(len(mine) > 1 for mine in (*people.values(), *persons.values())):
        return PEOPLE
    if any(len(mine) > 1 for mine in visits.values()) and not asked:
        return VISITS
    if any(len(mine) > 1 for mine in sessions.values()) and not layout.own_statics:
        return SPLIT
    if any(owner.date and iso and owner.date != iso for owner, (_, _, iso) in zip(owners, layout.truth, strict=True)):
        return DATE
    return ASKED if asked else RIGHT


def tried(count: int, words: str, seed: int = 0) -> Counter[str]:
    """Return the ends of some layouts."""
    return Counter(judge(one, people_and_sessions(one.files)) for one in layouts(count, words=words, seed=seed))


def main(report: Report, *, count: int = 5000, seed: int = 0) -> None:
    """Report how folders of known and of unknown words end."""
    ends = {words: tried(count, words, seed) for words in (KNOWN, UNKNOWN)}
    report.counts("words", ((words, end) for words, of in ends.items() for end in of.elements()), ENDS)
    for words, of in ends.items():
        report.allow(MOST_WRONG, count - of[RIGHT] - of[ASKED], count, f"{words}: wrong")
