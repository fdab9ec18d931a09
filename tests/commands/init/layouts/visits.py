"""Ways in which laboratories name the visits of a study, with their order."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Mapping
from typing import NamedTuple

from tests.commands.init.layouts import words

UNKNOWN_ORDER = "dates of unknown order"
DAY_FIRST_OR_MONTH = ("%d-%m-%Y", "%d.%m.%Y", "%d%m%Y", "%m-%d-%Y")


class Visit(NamedTuple):
    """A visit as a name tells it."""

    label: str
    date: dt.date | None = None
    form: str = ""  # of a date in the label
    word: str = ""  # behind the date


class Visits(NamedTuple):
    """The visits of a study, first to last, and what their names leave open, by topic."""

    visits: tuple[Visit, ...]
    ask: dict[str, str]
    kind: str


def visits_of_a_person(rng: random.Random, study: Visits) -> tuple[Visit, ...]:
    """Return the visits of one more person, who came on other days, if days are told at all."""
    delay = dt.timedelta(days=0 if study.kind == UNKNOWN_ORDER else rng.randrange(90))
    return tuple(
        _on_day(visit.date + delay, visit.form, visit.word) if visit.date and visit.form else visit
        for visit in study.visits
    )


def doubts_of_dates(people: Mapping[str, tuple[Visit, ...]]) -> tuple[dict[str, str], set[str]]:
    """Return what dates leave open, by topic, and the people whose visits have no known order.

    Day and month can be exchanged if the form allows it and no date of the folder has a day above 12.
    """
    dates = {person: [one.date for one in visits if one.date] for person, visits in people.items()}
    forms = {one.form for visits in people.values() for one in visits}
    if not forms <= {*DAY_FIRST_OR_MONTH} or any(day.day > 12 for days in dates.values() for day in days):
        return {}, set()
    exchanged = {person: [day.replace(month=day.day, day=day.month) for day in days] for person, days in dates.items()}
    unordered = {person for person, days in exchanged.items() if days != sorted(days)}
    ask = {"date": "Day and month could be exchanged."}
    if unordered:
        ask["order"] = "The order of day and month decides which visit was first."
    return ask, unordered


def named_visits(rng: random.Random, spoken: words.Words, *, only_folder: bool) -> Visits:
    """Return the visits of a study, named in one way; names of folders can be longer than parts of a file's name."""
    kinds = ["words", "words", "numbers", "follow-ups", "weeks", "months", "dates"]
    kinds += ["dates and words", "sessions of Nexus", "places"] if only_folder else []
    kind = rng.choice(kinds)
    if kind == "dates":
        return _dated(rng)
    if kind == "dates and words":
        return _dated_words(rng, spoken)
    labels = {
        "words": _before_after,
        "numbers": _numbered,
        "follow-ups": _follow_ups,
        "weeks": _weeks,
        "months": _months,
        "sessions of Nexus": _nexus_sessions,
        "places": _places,
    }[kind](rng, spoken)
    if not only_folder:
        labels = [label.replace(" ", "") for label in labels]
    ask = {}
    if kind == "places":
        ask = {"order": "Places and colours have no order.", "visit": "They may be conditions of one day."}
    return Visits(tuple(Visit(label) for label in labels), ask, kind)


def _before_after(rng: random.Random, spoken: words.Words) -> list[str]:
    return list(rng.choice(list(zip(spoken.before, spoken.after, strict=True))))


def _numbered(rng: random.Random, spoken: words.Words) -> list[str]:
    pattern = rng.choice(("T{}", "V{}", "Visit {}", "ses{}", rng.choice(spoken.visit) + " {}"))
    first = rng.choice((0, 1, 1, 1, 8)) if "T" in pattern or " " in pattern else 1
    return [pattern.format(first + i) for i in range(rng.randint(2, 3))]


def _follow_ups(rng: random.Random, _: words.Words) -> list[str]:
    whole = rng.choice(
        (("BL", "FU1", "FU2"), ("Baseline", "Followup1", "Followup2"), ("baseline", "discharge", "followup"))
    )
    return list(whole[: rng.randint(2, 3)])


def _weeks(rng: random.Random, spoken: words.Words) -> list[str]:
    pattern = rng.choice(("w{}", "{}wk", "wk{}", "W{:02}", spoken.week + " {}", "{} " + spoken.week))
    return [pattern.format(number) for number in rng.choice(((0, 6, 12), (2, 6, 12), (0, 4, 16), (0, 8), (1, 9, 26)))]


def _months(rng: random.Random, spoken: words.Words) -> list[str]:
    pattern = rng.choice(("{}m", "{}mo", "M{:02}", spoken.month + " {}", "{}" + spoken.month))
    later = [pattern.format(number) for number in rng.choice(((6, 12), (3, 12), (3, 6, 12), (12, 24), (6, 12, 24)))]
    return [rng.choice(spoken.before), *later]


def _nexus_sessions(rng: random.Random, _: words.Words) -> list[str]:
    return ["New Session", "New Session 1", "New Session 2"][: rng.randint(2, 3)]


def _places(rng: random.Random, _: words.Words) -> list[str]:
    return list(rng.choice(words.PLACES))


def _days(rng: random.Random, count: int, shortest: int = 7) -> list[dt.date]:
    """Return days of measurement, one after another, at least so many days apart."""
    days = [dt.date(2015, 1, 1) + dt.timedelta(days=rng.randrange(3600))]
    while len(days) < count:
        days.append(days[-1] + dt.timedelta(days=rng.randint(shortest, 400)))
    return days


def _on_day(day: dt.date, form: str, word: str = "") -> Visit:
    return Visit(day.strftime(form) + word, day, form, word)


def _dated(rng: random.Random) -> Visits:
    """Return visits named by their day; in some studies day and month can be exchanged."""
    form = rng.choice(("%Y%m%d", "%Y-%m-%d", "%Y_%m_%d", *DAY_FIRST_OR_MONTH))
    if form in DAY_FIRST_OR_MONTH and rng.random() < 0.25:
        days = [day.replace(day=1 + day.day % 12) for day in _days(rng, rng.randint(2, 3), shortest=40)]
        return Visits(tuple(_on_day(day, form) for day in days), {}, UNKNOWN_ORDER)
    return Visits(tuple(_on_day(day, form) for day in _days(rng, rng.randint(2, 3))), {}, "dates")


def _dated_words(rng: random.Random, spoken: words.Words) -> Visits:
    """Return visits named by a day and a word; in a few the two contradict each other."""
    before, after = _before_after(rng, spoken)
    first, second = _days(rng, 2)
    if rng.random() < 0.1:
        labels = (f"{second.isoformat()} {before}", f"{first.isoformat()} {after}")
        ask = {"order": "The visit called the later one has the earlier date.", "date": "One date must be a slip."}
        return Visits(tuple(Visit(label) for label in labels), ask, "dates against words")
    visits = _on_day(first, "%Y-%m-%d", f" {before}"), _on_day(second, "%Y-%m-%d", f" {after}")
    return Visits(visits, {}, "dates and words")
