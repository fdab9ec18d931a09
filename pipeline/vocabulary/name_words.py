"""Words in the names of folders and files: roles, conditions, visits, dates and people, in many languages.

lab_words.tsv lists the words by kind, in lower case without accents. One that ends with ``*`` stands for all that begin
so; one of several kinds or languages is listed once; compounds, like ``piedsnus``, need no row.
"""

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from .plain_letters import without_accents


def _words_by_kind() -> dict[str, dict[str, int]]:
    """Return the words of lab_words.tsv with their values, by kind."""
    table: dict[str, dict[str, int]] = defaultdict(dict)
    with Path(__file__).with_name("lab_words.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            table[row["kind"]] |= dict.fromkeys(row["words"].split(), int(row["value"] or 0))
    return table


WORDS = _words_by_kind()
SPANS, MONTHS, SHORT_NUMBERED = (WORDS.pop(kind) for kind in ("days", "month", "short"))  # words only beside numbers
OF_VISITS = ("order", "numbered", "ordinal", "further")
KINDS = {word: "visit" if kind in OF_VISITS else kind for kind in reversed(WORDS) for word in WORDS[kind]}
NEW = "new"  # of a visit before a word for one: New Session
MONTH_LETTER = "m"  # 6M or M06, where other names have a word of order
SHORT_STATIC = "st"
SHORT_ORDER = "bl"  # a short word of order that may have the number of a trial behind it; others make a code
FEWEST_LETTERS = 3  # of a word in a compound, or beside a number that makes no code of it
MOST_DIGITS = 3  # of a number of days, weeks or months; a longer one, and one of three after T or V, is a code
PHRASES = {  # written in several words
    r"follow[-_ ]up": "followup",
    r"\b([tan])[-_ ]pose": r"\1pose",
    r"(?-i:SCoRE)": "Score",
    r"sit[-_ ]?to[-_ ]?stand": "Sts",
    r"[-_ ]*\(\d+\)$": " copy",
}
PERSON_CODE = re.compile(  # sub-01, P1
    rf"(?:(?:{'|'.join(WORDS['person'])})[-_ ]*\d+|s\d\d+)[a-z]{{0,2}}(?![a-z\d])", re.IGNORECASE
)
MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
YEAR = r"(?P<y>(?:19|20)\d\d)"
DAY_FIRST = re.compile(  # or the month: 12.05.2024, 12.05.24
    r"(?<!\d)(?P<d>\d\d?)(?P<sign>[-_. ])(?P<m>\d\d?)(?P=sign)"
    r"(?P<y>(?:19|20)\d\d(?!\d)|\d\d(?![-_.]?\d)(?=\W|_|$))",
    re.IGNORECASE,
)
DAY_FIRST_IN_DIGITS = re.compile(rf"(?<!\d)(?P<d>\d\d)(?P<m>\d\d){YEAR}(?!\d)")
EXCHANGEABLE = (DAY_FIRST, DAY_FIRST_IN_DIGITS)  # day and month
SIX_DIGITS, EIGHT_DIGITS = (re.compile(rf"(?<!\d)\d{{{count}}}(?!\d)") for count in (6, 8))
DATES = (
    re.compile(
        rf"(?<!\d){YEAR}(?P<sign>[-_. ]?)(?P<m>0[1-9]|1[0-2])(?P=sign)(?P<d>0[1-9]|[12]\d|3[01])(?:t\d{{4,6}})?(?!\d)",
        re.IGNORECASE,
    ),
    *EXCHANGEABLE,
    re.compile(rf"(?<!\d)(?P<d>\d\d?)[-_. ]*(?P<m>{MONTH})[-_. ]*(?P<y>(?:19|20)?\d\d)(?!\d)", re.IGNORECASE),
    re.compile(rf"(?<![a-z\d])(?:{MONTH})[-_. ]*{YEAR}(?!\d)", re.IGNORECASE),  # without a day
    re.compile(rf"(?<![a-z\d]){YEAR}[-_.](?:0[1-9]|1[0-2])(?!\d)", re.IGNORECASE),
    SIX_DIGITS,
)
WORD = re.compile(
    r"\0\d+\0|[cC]3[dD](?![a-zA-Z])|\d+(?:st|nd|rd|th)(?![a-z])|[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+"
)  # the first: the place of a date
ENTITY = re.compile(r"(sub|ses|task|acq|run|tracksys|space|rec|recording|desc|split)-([A-Za-z0-9]+)")  # of BIDS


class Dates(NamedTuple):
    """How the names of a study write dates and visits."""

    day_first: bool | None = None  # None if day and month may be exchanged
    six_digits: bool = False  # whether numbers such as 120524 are dates
    eight_digits: bool = True  # whether numbers such as 12052024 are
    orders: int = 0  # how many places words of order name: beside pre, 6M is a visit; beside pre and post, po01 is
    letters: frozenset[str] = frozenset()  # T, if T1 is a visit, so that T10 is one


class Word(NamedTuple):
    """A word of a name with what it says; a number with its word is one, such as ``visit 2``."""

    kind: str  # of KINDS, or run, number, date, or empty for what is unknown
    text: str  # as written, without accents
    glued: bool = False  # to the word before
    number: str = ""  # of a visit or a run
    days: tuple[str, ...] = ()  # ISO 8601; two if day and month may be exchanged, none if the text is no whole date

    @property
    def plain(self) -> str:
        """The word in lower case, its parts joined by hyphens."""
        return re.sub(r"[^a-z0-9]+", "-", self.text.lower()).strip("-") or self.text


class Token(NamedTuple):
    """A part of a name, letters or digits."""

    text: str
    glued: bool = False  # to the one before

    @property
    def kind(self) -> str:
        """What it means alone."""
        return kind_of(self.text)

    def days(self, dates: Dates) -> int:
        """Return the days of a span of time with a number beside it, such as a week; 0 for other words."""
        lower = self.text.lower()
        return SPANS.get(lower, SPANS["month"] if lower == MONTH_LETTER and dates.orders else 0)


def dates_of(names: Iterable[str]) -> Dates:
    """Return how the names of a study write dates: a day above 12 tells the form of all."""
    texts = [without_accents(name) for name in dict.fromkeys(names)]
    found = [match for text in texts for form in EXCHANGEABLE for match in form.finditer(text) if _days(match, None)]
    first, second = (any(int(match[part]) > 12 for match in found) for part in ("d", "m"))
    six, eight = ({number for text in texts for number in form.findall(text)} for form in (SIX_DIGITS, EIGHT_DIGITS))
    places = {_meaning(token.text, WORDS["order"]) for text in texts for token in _tokens(text)} - {None}
    dates = Dates(
        day_first=first if first != second else None,
        six_digits=len(six) > 1 and _can_be_dates(six),
        eight_digits=_can_be_dates(eight),
        orders=len(places),
    )
    visits = [word.text.lower() for text in texts for word in read_words(text, dates) if word.kind == "visit"]
    return dates._replace(letters=frozenset(text[0] for text in visits if text[1:2].isdigit()))


def _can_be_dates(numbers: Iterable[str]) -> bool:
    """Return whether all numbers of six or eight digits can be dates, with the year first or last."""
    year = r"(?P<y>\d\d|(?:19|20)\d\d)"
    forms = (rf"{year}(?P<m>\d\d)(?P<d>\d\d)", rf"(?P<d>\d\d)(?P<m>\d\d){year}", rf"(?P<m>\d\d)(?P<d>\d\d){year}")
    matches = ([re.fullmatch(form, number) for form in forms] for number in numbers)
    return all(any(match and _days(match, None) for match in ways) for ways in matches)


def read_words(text: str, dates: Dates = Dates()) -> list[Word]:  # noqa: B008  (a tuple)
    """Return the words of the name of a folder or file in their order, numbers with the word that they belong to."""
    plain, found = _without_dates(without_accents(text), dates)
    for pattern, word in PHRASES.items():
        plain = re.sub(pattern, word, plain, flags=re.IGNORECASE)
    tokens = [*_tokens(plain), Token(""), Token("")]
    words = [Word("none", "")]
    while tokens[0].text:
        (here, following), last = tokens[:2], words[-1]
        kind, number, taken = "date", "", 1
        if here.text.isdigit():
            pointed = not words[1:] and f"{here.text}." in plain
            kind, number, taken = _read_number(tokens, last, dates, pointed=pointed)
        elif here.text[0] != "\0":
            kind, number, taken = _read_letters(tokens, last, dates)
        gap = "" if taken == 1 or following.glued else " "
        written = here.text + (gap + following.text) * (taken - 1)
        if kind == "date":
            words.append(found[int(here.text.strip("\0"))]._replace(glued=here.glued))
        elif kind == "of last":
            words[-1] = last._replace(kind="", text=f"{last.text}{'' if here.glued else ' '}{written}")
        elif not kind and here.glued and last.kind in ("", "number"):
            words[-1] = Word("", last.text + written, last.glued)
        else:
            words.append(Word(kind, written, here.glued, number))
        tokens = tokens[taken:]
    return words[1:]


def _read_number(tokens: Sequence[Token], last: Word, dates: Dates, *, pointed: bool) -> tuple[str, str, int]:
    """Return the kind of a number, its value if it is of a visit or trial, and of how many tokens the word is.

    The kind is ``of last`` if the number is part of the word before it.

    Args:
        pointed: whether it begins the name, with a point behind it: ``1. Messung``.
    """
    here, following, then = tokens[:3]
    days = following.days(dates)
    is_name = last.text[-FEWEST_LETTERS:].islower() and following.glued and days  # Violeta12m
    if here.glued and not last.kind and not is_name:
        return "", "", 1
    of_person = last.kind in ("person", "group")
    next_has_number = then.glued and then.text.isdigit()
    is_code = next_has_number and here.text.startswith("0") and len(here.text) > 2  # 001W01
    is_code |= of_person and (here.glued or next_has_number)
    if days and not is_code and (following.glued or not next_has_number):  # not 7 wk2
        return "visit", str(int(here.text) * days), 2
    if pointed and following.kind == "visit":
        return "visit", here.text, 2
    if of_person and not (following.glued and last.kind == "group" and following.text.isalpha()):  # Control_3ms
        return "of last", "", 1
    return ("run" if here.glued and last.kind else "number"), here.text, 1


def _read_letters(tokens: Sequence[Token], last: Word, dates: Dates) -> tuple[str, str, int]:
    """Return the kind of letters, the number of a visit, and of how many tokens the word is."""
    here, following, then = tokens[:3]
    lower, kind, near = here.text.lower(), here.kind, following.glued
    in_code = (
        here.glued and not last.kind and last.text.isalnum() and last.text[-1:].isdigit() and here.text.isupper()
    )  # the D of HC032D06
    if lower == NEW and following.kind != "visit":
        return "", "", 1
    if following.text.isdigit() and (not in_code or len(following.text) == 1 or lower in dates.letters):
        if days := here.days(dates):
            return "visit", str(int(following.text) * days), 2
        goes_on = here.glued and then.glued and not then.kind
        is_short = lower in SHORT_NUMBERED and near and len(following.text) < MOST_DIGITS and not goes_on
        after_order = here.glued and _meaning(last.text, WORDS["order"]) is not None  # posttest 01
        if is_short or (lower in WORDS["numbered"] and not after_order):
            return "visit", following.text, 2
        is_code = near and len(lower) < FEWEST_LETTERS and lower.isascii() and lower != SHORT_ORDER  # PO12
        is_code &= not (here.glued and last.kind == "visit")  # preOP1
        in_order = kind == "visit" and dates.orders > 1  # po01, chod_PO01
        in_order &= here.text.islower() or last.kind in ("static", "walk", "functional", "other", "condition")
        is_code &= not in_order and kind in ("visit", "group", "static", "place")
        return ("" if is_code else kind), "", 1
    if match := re.fullmatch(r"(\d+)(?:st|nd|rd|th)", lower):
        return "visit", match[1], 1
    number = str(WORDS["ordinal"][lower]) if lower in WORDS["ordinal"] and following.kind == "visit" else ""
    return kind, number, 1


def _tokens(plain: str) -> Iterator[Token]:
    """Yield the words and numbers of a text, compounds in parts."""
    end = 0
    for match in WORD.finditer(plain):
        parts = [match[0]] if match[0].lower() in KINDS else _compound(match[0])
        for k, part in enumerate(parts):
            yield Token(part, k > 0 or (match.start() == end > 0))
        end = match.end()


@cache
def kind_of(word: str) -> str:
    """Return the kind of a word, or nothing."""
    return _meaning(word, KINDS) or ""


def _meaning(word: str, meanings: Mapping[str, Any]) -> Any:
    """Return what a word means, else what the longest of its beginnings with a ``*`` does, or None."""
    lower = word.lower()
    texts = [lower] + [f"{lower[:end]}*" for end in range(len(lower), 0, -1)]
    return next((meanings[text] for text in texts if text in meanings), None)


@cache
def _compound(word: str) -> list[str]:
    """Return the known words of which a word consists, else the word itself."""
    if word[-2:].lower() == SHORT_STATIC and kind_of(word[:-2]) == "condition":
        return [word[:-2], word[-2:]]  # bfst
    least = FEWEST_LETTERS if word.isascii() else 1
    for end in range(len(word) - least, least - 1, -1):
        if kind_of(word[:end]) in ("condition", "visit", "static", "walk"):
            rest = [word[end:]] if kind_of(word[end:]) else _compound(word[end:])
            if all(map(kind_of, rest)):
                return [word[:end], *rest]
    return [word]


def _without_dates(text: str, dates: Dates) -> tuple[str, list[Word]]:
    """Return a text with the numbers of its dates, between NULs, in place of them, and the dates."""
    found = list[Word]()
    used = {DAY_FIRST_IN_DIGITS: dates.eight_digits, SIX_DIGITS: dates.six_digits}
    for form in (form for form in DATES if used.get(form, True)):
        has_day = "d" in form.groupindex
        for match in reversed([*form.finditer(text)]):
            if (days := _days(match, dates.day_first) if has_day else ()) or not has_day:
                text = f"{text[: match.start()]}\0{len(found)}\0{text[match.end() :]}"
                found.append(Word("date", match[0], days=days))
    return text, found


def _days(match: re.Match[str], day_first: bool | None) -> tuple[str, ...]:
    """Return the days that a date may be, none if there is no such day."""
    year, day = int(match["y"]) + (2000 if len(match["y"]) < 3 else 0), int(match["d"])
    month = MONTHS.get(match["m"].lower()) or int(match["m"])
    pairs = [(month, day)]
    if match.re in EXCHANGEABLE:
        pairs = [pair for pair, fits in (((month, day), day_first is not False), ((day, month), not day_first)) if fits]
    return tuple(iso for pair in pairs if (iso := _iso(year, *pair)))


def _iso(year: int, month: int, day: int) -> str:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return ""


def places_of_visits(visits: Mapping[str, Sequence[Word]]) -> tuple[dict[str, int], bool]:
    """Return the place of each visit of a person, from 1, and whether dates and words agree; empty if it is not known.

    Dates tell it, else words of order and numbers. A name that begins another one that goes on with a number comes
    first.
    """
    days = {visit: next((word.days for word in words if word.kind == "date"), ()) for visit, words in visits.items()}
    ways = (0, -1) if all(days.values()) else ()  # to read days and months
    by_days: list[Mapping[str, Any]] = [{visit: read[way] for visit, read in days.items()} for way in ways]
    orders = [_ranked(keys) for keys in (*by_days, _by_words(visits)) if keys]
    sound = len(orders) < 3 or orders[-1] in orders[:-1]
    return (orders[0], sound) if orders and all(order == orders[0] for order in orders) else ({}, sound)


def _ranked(keys: Mapping[str, Any]) -> dict[str, int]:
    return {name: place for place, name in enumerate(sorted(keys, key=keys.__getitem__), start=1)}


def _by_words(visits: Mapping[str, Sequence[Word]]) -> dict[str, tuple[int, bool, int]]:
    """Return what gives visits their order: the place by words, and whether they have a number, and which.

    Empty if this does not tell the order, as where one visit is counted and another one has a span of days.
    """
    found: dict[str, tuple[int, bool, int]] = {}
    counted = set[tuple[int, bool]]()
    for visit, words in visits.items():
        letters = [part for word in words for part in re.findall(r"[^\W\d_]+", word.text.lower())]
        places = [place for part in letters if (place := _meaning(part, WORDS["order"]))]
        numbers = [int(word.number) for word in words if word.kind == "visit" and word.number]
        if numbers:
            place = max(places, key=abs, default=int(numbers[0] > 0))
            found[visit] = (place, True, numbers[0])
            counted.add((place, bool({*letters} & SPANS.keys())))
        elif places:
            found[visit] = (max(places, key=abs), False, 0)
    for visit in visits.keys() - found.keys():  # New Session, before New Session 1
        if following := [key for other, key in found.items() if other.startswith(visit) and key[1]]:
            found[visit] = (min(following)[0], False, 0)
    is_mixed = len(counted) > len({place for place, _ in counted})
    is_mixed |= (1, True) in counted and any(place > 1 for place, *_ in found.values())  # 3 months, discharge
    return {} if is_mixed or not len({*found.values()}) == len(found) == len(visits) else found


def words_of(text: str) -> list[str]:
    """Return the words of a name in lower case, without accents: ``FunctionalLHip_02`` has functional, l, hip."""
    return [word.lower() for word, _ in _tokens(without_accents(text)) if not word.isdigit()]


def is_person_code(text: str) -> bool:
    """Return whether a text is a word for a person with a number: ``sub-01``, ``Patient 3``, ``P1``."""
    return bool(PERSON_CODE.fullmatch(text))
