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
from typing import Any, NamedTuple, TypeVar

from .plain_letters import without_accents

V = TypeVar("V")


def _words_by_kind() -> dict[str, dict[str, int]]:
    """Return the words of lab_words.tsv with their values, by kind."""
    table: dict[str, dict[str, int]] = defaultdict(dict)
    with Path(__file__).with_name("lab_words.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            table[row["kind"]] |= dict.fromkeys(without_accents(row["words"]).split(), int(row["value"] or 0))
    return table


WORDS = _words_by_kind()
# words only beside numbers, spans of days only behind them: 6 vko, but VKO01
DAYS, SPANS, MONTHS, SHORT_NUMBERED = (WORDS.pop(kind) for kind in ("days", "span", "month", "short"))
DAYS |= SPANS
PLACES, ORDINALS, NUMBERED = WORDS["order"], WORDS["ordinal"], WORDS["numbered"]
OF_VISITS = ("order", "numbered", "ordinal", "further")
KINDS = {word: "visit" if kind in OF_VISITS else kind for kind in reversed(WORDS) for word in WORDS[kind]}
KINDS |= dict.fromkeys([*WORDS["joint"], *WORDS["side"]], "condition")  # with, without: beside another word
KINDS |= dict.fromkeys(WORDS["trial"], "walk")  # as a rule, but motion tells more
OF_TRIALS = ("static", "walk", "condition", "other", "functional")
BEFORE_AFTER = [pair for post in ("post", "pos") for pair in (("pre", post), (post, "pre"))]
AROUND = PLACES | {"pre*": -1, "post*": 2}  # places of words that are of visits: postpartum
MONTH_LETTER = "m"  # 6M or M06, where other names have a word of order
COUNTED_BY_LETTERS = (
    "valutazione|visit[ae]|seduta|sessione|misura|controllo|sesion|medida|consulta|sessao|valoracion|evaluacion|seance"
    "|bilan|mesure|bezoek|sessie|meting"
)
PHRASES = {  # written in several words
    r"follow[-_ ]up": "followup",
    r"\b([tan])[-_ ]pose": r"\1pose",
    r"(?-i:SCoRE)": "Score",
    r"\b(on|son)[-_ ]test": r"\1test",
    r"sit[-_ ]?to[-_ ]?stand": "Sts",
    r"(?<![a-z])do(?:[-_ ]?not|n'?t)[-_ ]?use(?=[\W_]*$)": "unused",
    r"[-_ ]*\(\d\d?\)$": " copy",
    rf"(?<![a-z\d])([1-9])[aoe](?=[-_ ]+(?:{COUNTED_BY_LETTERS})(?![a-z]|[-_ ]*\d))": r"\1.",  # 1a valutazione
    r"(?<=\d)(?:p(?=\d+(?:ms|mps|kmh))|,(?=\d))": ".",  # 0p8ms, 3,5 kmh
    r"(?<=\0)[-_ ]+(\d\d)[-_.](\d\d)[-_.](\d\d)(?: [ap]m)?(?![^\W_])": r" \1\2\3",  # 2023-02-14 10.03.22 AM
}
COUNTERS = {
    text: str(k) for texts in ("ABCDEF", ("I", "II", "III", "IV", "V", "VI")) for k, text in enumerate(texts, 1)
}
UNITS = {"ms", "mps", "kmh", "kph", "mph", "kg", "cm", "mm", "deg", "pct"}
FEWEST_LETTERS = 3  # of a word in a compound, or beside a number that makes no code of it
MOST_DIGITS = 3  # of a number of days, weeks or months; a longer one, and one of three after T or V, is a code
PERSON_CODE = re.compile(
    rf"(?:(?:{'|'.join(WORDS['person'])})[-_ ]*\d+|s\d\d+)[a-z]{{0,2}}(?![a-z\d])"
    rf"|(?:{'|'.join(word for word in WORDS['person'] if len(word) >= FEWEST_LETTERS)})"
    r"(?:[-_ ]+|(?-i:(?<=[a-z])))(?-i:[A-Z]{1,2}[-_]?\d+|[A-Z])(?![A-Za-z\d])",
    re.IGNORECASE,
)  # sub-01, P1, Barn K23, SubA
MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
YEARS = r"(?:19[89]|20[0-4])\d"  # of recordings; earlier ones are of birthdays, later ones numbers of patients
YEAR = f"(?P<y>{YEARS})"
YEAR_FIRST = re.compile(
    rf"(?<!\d){YEAR}(?P<sign>[-_. ]?)(?P<m>0[1-9]|1[0-2])(?P=sign)(?P<d>0[1-9]|[12]\d|3[01])(?:t\d{{4,6}})?(?!\d)",
    re.IGNORECASE,
)
YEAR_LAST = re.compile(  # 12.05.2024, 12.05.24
    rf"(?<!\d)(?<!\x01[-_ ])(?:(?<![a-z])|(?=\d\d[-_. ]\d\d[-_. ]{YEARS}(?!\d)))"  # Walk12-05-2024, not S1-2-24
    r"(?P<d>\d\d?)(?P<sign>[-_. ])(?P<m>\d\d?)(?P=sign)"
    rf"(?P<y>{YEARS}(?!\d)|\d\d(?![-_.]?\d)(?=\W|_|$))",
    re.IGNORECASE,
)
YEAR_LAST_IN_DIGITS = re.compile(rf"(?<!\d)(?P<d>\d\d)(?P<m>\d\d){YEAR}(?!\d)")
EXCHANGEABLE = (YEAR_LAST, YEAR_LAST_IN_DIGITS)  # their parts may stand in these orders
ORDERS = ("dmy", "mdy", "ymd")
DATES = (
    YEAR_FIRST,
    *EXCHANGEABLE,
    re.compile(rf"(?<!\d)(?P<d>\d\d?)[-_. ]*(?P<m>{MONTH})[-_. ]*(?P<y>{YEARS}|\d\d)(?!\d)", re.IGNORECASE),
    re.compile(rf"(?<![a-z\d])(?:{MONTH})[-_. ]*{YEAR}(?!\d)", re.IGNORECASE),  # without a day
    re.compile(rf"(?<![a-z\d])(?<!\d[-_.]){YEAR}[-_.](?:0[1-9]|1[0-2])(?!\d)", re.IGNORECASE),
)
EIGHT_DIGITS = re.compile(r"(?<!\d)\d{8}(?!\d)")
SIX_DIGITS = re.compile(r"(?<!\d)\d{6}(?!\d)")
HOLE = "\0"  # in place of a date
WORD = re.compile(
    r"\0|[cC]3[dD](?![a-zA-Z])|\d+(?:st|nd|rd|th)(?![a-z])|[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+"
)
PARTING = " -_.,()—"
ENTITY = re.compile(r"(sub|ses|task|acq|run|tracksys|space|rec|recording|desc|split)-([A-Za-z0-9]+)")  # of BIDS


class Dates(NamedTuple):
    """How the names of a study write dates and visits."""

    orders: tuple[str, ...] = ORDERS  # in which day, month and year may stand
    six_digits: bool = False  # whether numbers such as 120524 are dates
    no_dates: frozenset[tuple[int, int, bool]] = frozenset()  # numbers such as 12052024, see _eight_digits
    names: frozenset[str] = frozenset()  # unknown words, which words of the laboratory may follow: Annawalk
    pairs: frozenset[str] = frozenset()  # unknown words that begin with pre, and with post: prechemo, postchemo
    places: frozenset[int] = frozenset()  # of the words of order, see lab_words.tsv
    letters: frozenset[str] = frozenset()  # T, if T1 is a visit, so that T10 is one
    roman: bool = False  # whether I and V are numbers, as beside II


class Word(NamedTuple):
    """A word of a name with what it says; a number with its word is one, such as ``visit 2``."""

    kind: str  # of KINDS, or run, date, or empty for what is unknown
    text: str  # as written, without accents
    glued: bool = False  # to the word before
    number: str = ""  # of a visit or a run
    days: tuple[str, ...] = ()  # ISO 8601; two if day and month may be exchanged, none if the text is no whole date

    @property
    def plain(self) -> str:
        """The word in lower case, its parts joined by hyphens."""
        return re.sub(r"[^a-z0-9]+", "-", self.text.lower()).strip("-") or self.text


def dates_of(names: Iterable[str]) -> Dates:
    """Return how the names of a study write dates: in the orders in which all of them can be, none after this year."""
    texts = [without_accents(name) for name in dict.fromkeys(names)]
    found = [match for text in texts for pattern in EXCHANGEABLE for match in pattern.finditer(text)]
    valid = [match for match in found if _days(match, ORDERS)]
    read = {order: [_days(match, [order]) for match in valid] for order in ORDERS}
    can_be = [order for order, days in read.items() if all(days)]
    no_later = [order for order in can_be if all(int(day[:4]) <= date.today().year for (day,) in read[order])]
    places = {_meaning(word, PLACES) for text in texts for word, _ in _tokens(text)}
    unknown = {word.lower() for text in texts for word, _ in _tokens(text) if not kind_of(word)}
    opposite = {f"{a}{word[len(b) :]}" for word in unknown for a, b in BEFORE_AFTER if word.startswith(b)}
    dates = Dates(
        tuple(no_later or can_be or ORDERS),
        has_six_digit_dates(texts),
        frozenset(place for text in texts for place, is_date in _eight_digits(text).values() if not is_date),
        frozenset(word for word in unknown if len(word) >= FEWEST_LETTERS and word.isalpha()),
        frozenset(unknown & opposite),
        frozenset(place for place in places if place),
        roman=any(word == "II" for text in texts for word, _ in _tokens(text)),
    )
    visits = [word.text.lower() for text in texts for word in read_words(text, dates) if word.kind == "visit"]
    return dates._replace(
        letters=frozenset(text[0] for text in visits if text[0] in SHORT_NUMBERED and text[1:2].isdigit())
    )


class _Context(NamedTuple):
    """A part of a name, letters or digits, with what is around it."""

    text: str
    glued: bool  # to what is before it
    last: Word  # the word before
    next: str  # the part after it
    near: bool  # whether this is glued to it
    then: str  # the part after that, if it is glued to ``next``
    pointed: bool  # whether it counts the word behind it: ``1. Messung``, ``2_wizyta``
    more: bool  # whether further numbers follow in the name
    dates: Dates

    @property
    def in_code(self) -> bool:
        """Whether it goes on with a code of capitals and numbers: the D of ``HC032D06``."""
        code = self.glued and not self.last.kind and self.text.isupper()
        return code and self.last.text.isalnum() and self.last.text[-1:].isdigit()

    def days_in(self, word: str) -> int:
        """Return the days of a span of time with a number beside it, such as a week; 0 for other words."""
        is_month = word == MONTH_LETTER and self.dates.places and self.near
        return DAYS.get(word, DAYS["month"] if is_month else 0)


def read_words(text: str, dates: Dates = Dates()) -> list[Word]:  # noqa: B008  (a tuple)
    """Return the words of the name of a folder or file in their order, numbers with the word that they belong to."""
    plain, days = _without_dates(without_accents(text), dates)
    for pattern, word in PHRASES.items():
        plain = re.sub(pattern, word, plain, flags=re.IGNORECASE)
    tokens = [*_tokens(plain, dates.names), ("", False), ("", False)]
    words = list[Word]()
    i = 0
    while tokens[i][0]:
        (part, glued), (following, near), (then, nearer) = tokens[i : i + 3]
        if part == HOLE:
            written, ways = days.pop(0)
            words.append(Word("date", written, glued, "", ways))
            i += 1
            continue
        last = words[-1] if words else Word("none", "")
        counts = len(tokens) == 4 and following.lower() in NUMBERED and following.lower() not in PLACES
        pointed = i == 0 and (counts or f"{part}." in plain)
        more = any(text.isdigit() for text, _ in tokens[i + 3 :])
        context = _Context(part, glued, last, following, near, then if nearer else "", pointed, more, dates)
        kind, number, taken = _read_number(context) if part.isdigit() else _read_letters(context)
        written = part if taken == 1 else part + ("" if near else " ") + following
        if kind == "of last":
            words[-1] = last._replace(kind="", text=f"{last.text}{'' if glued else ' '}{part}")
        elif not kind and glued and last.kind in ("", "number"):
            words[-1] = Word("", last.text + written, last.glued)
        else:
            words.append(Word(kind, written, glued, number))
        i += taken
    return words


def _read_number(here: _Context) -> tuple[str, str, int]:
    """Return a number's kind, ``of last`` if it ends the word before, its value for a visit or trial, and its parts."""
    days = here.days_in(here.next.lower())
    if here.near and here.next in UNITS:
        return "", "", 1
    is_name = here.last.text[-FEWEST_LETTERS:].islower() and here.near and days  # Violeta12m
    if here.glued and not here.last.kind and not is_name:
        return "", "", 1
    of_person = here.last.kind in ("person", "group")
    next_has_number = here.then.isdigit()
    is_code = next_has_number and here.text.startswith("0") and len(here.text) > 2  # 001W01
    is_code |= of_person and (here.glued or next_has_number)
    is_free = not next_has_number or (here.near and not here.more)  # 6wk2, but neither 7 wk2 nor 28M06_01
    if days and not is_code and len(here.text) <= MOST_DIGITS and is_free:
        return "visit", str(int(here.text) * days), 2
    if here.pointed and kind_of(here.next) == "visit":
        return "visit", here.text, 2
    if of_person and not (here.near and here.last.kind == "group" and here.next.isalpha()):  # Control_3ms
        return "of last", "", 1
    return ("run" if here.glued and here.last.kind else "number"), here.text, 1


def _read_letters(here: _Context) -> tuple[str, str, int]:
    """Return the kind of a part of letters, the number of a visit, and of how many parts the word is."""
    lower, kind = here.text.lower(), kind_of(here.text)
    if lower == "new" and kind_of(here.next) != "visit":  # New Session
        return "", "", 1
    if here.next.isdigit() and (not here.in_code or len(here.next) == 1 or lower in here.dates.letters):
        is_young = lower == "y" and here.next.startswith("0")  # Y02 beside O02
        if lower not in SPANS and (days := here.days_in(lower)) and (here.near or len(lower) > 1) and not is_young:
            return "visit", str(int(here.next) * days), 2
        goes_on = here.glued and bool(here.then) and not kind_of(here.then)
        is_short = lower in SHORT_NUMBERED and here.near and len(here.next) < MOST_DIGITS and not goes_on
        after_order = here.glued and _meaning(here.last.text, PLACES) is not None  # posttest 01
        if is_short or (lower in NUMBERED and not after_order):
            return "visit", here.next, 2
        is_code = here.near and len(lower) < FEWEST_LETTERS and lower.isascii() and lower != "bl"  # BL1: a trial
        is_code &= not (here.glued and here.last.kind == "visit")  # preOP1
        in_order = kind == "visit" and len(here.dates.places) > 1  # po01, chod_PO01
        in_order &= here.text.islower() or here.last.kind in OF_TRIALS
        is_code &= not in_order and kind in ("visit", "group", "static", "place")  # PO12
        is_code |= here.near and lower in WORDS["joint"] and here.last.kind != "condition"  # CON1
        return "" if is_code else kind, "", 1
    is_initial = here.next in ("I", "V") and not here.dates.roman
    if lower in NUMBERED and lower not in PLACES and here.next in COUNTERS and not is_initial:
        return "visit", COUNTERS[here.next], 2  # Session A, badanie II
    if here.glued and here.last.kind in ("static", "walk") and lower in WORDS["place"]:
        kind = "place"  # Standaufnahme
    number = str(ORDINALS[lower]) if lower in ORDINALS and kind_of(here.next) == "visit" else ""
    if lower[0].isdigit():
        kind, number = "visit", lower[:-2]  # 1st
    kind = kind or "visit" * (lower in here.dates.pairs)
    return ("" if here.in_code and len(here.text) < FEWEST_LETTERS else kind), number, 1


def _tokens(plain: str, names: frozenset[str] = frozenset()) -> Iterator[tuple[str, bool]]:
    """Yield the words and numbers of a text, compounds in parts, and whether each is glued to the one before."""
    end = 0
    for match in WORD.finditer(plain):
        before = names.union(DAYS, MONTH_LETTER) if plain[: match.start()][-1:].isdigit() else names  # 6wkwalk
        text = match[0] if plain[match.end() :][:1].isdigit() and not kind_of(match[0]) else " "
        is_glued = text[-1].isupper() and text[-1].lower() in SHORT_NUMBERED.keys() | DAYS
        if is_glued and kind_of(text[:-1]) in OF_TRIALS:
            parts = [text[:-1], text[-1]]  # HipJCW4
        else:
            parts = [match[0]] if match[0].lower() in KINDS else _compound(match[0], before)
        for k, part in enumerate(parts):
            yield part, k > 0 or (match.start() == end > 0)
        end = match.end()


@cache
def kind_of(word: str) -> str:
    """Return the kind of a word, or nothing."""
    return _meaning(word, KINDS) or ""


def _meaning(word: str, meanings: Mapping[str, V]) -> V | None:
    """Return what a word means, else what the longest of its beginnings with a ``*`` does."""
    lower = word.lower()
    texts = [lower] + [f"{lower[:end]}*" for end in range(len(lower), 0, -1)]
    return next((meanings[text] for text in texts if text in meanings), None)


@cache
def _compound(word: str, names: frozenset[str] = frozenset()) -> list[str]:
    """Return the known words of which a word consists, the first may be one of some names; else the word itself."""
    if word[-2:].lower() == "st" and kind_of(word[:-2]) == "condition":
        return [word[:-2], word[-2:]]  # bfst
    least = FEWEST_LETTERS if word.isascii() else 1
    for end in range(len(word) - least, 0, -1):
        is_known = end >= least and kind_of(word[:end]) in ("condition", "visit", "static", "walk", "functional")
        is_known |= end > 1 and word[:end].lower() in WORDS["joint"]  # nobrace
        if is_known or word[:end].lower() in names:
            rest = [word[end:]] if kind_of(word[end:]) else _compound(word[end:])
            if all(map(kind_of, rest)):
                return [word[:end], *rest]
    return [word]


def _without_dates(text: str, dates: Dates) -> tuple[str, list[tuple[str, tuple[str, ...]]]]:
    """Return a text with NUL in place of dates, and the dates as written with the days that they may be."""
    found: list[tuple[int, str, tuple[str, ...]]] = []
    numbers = {start for start, (place, _) in _eight_digits(text).items() if place in dates.no_dates}
    for pattern in (*DATES, SIX_DIGITS) if dates.six_digits else DATES:
        has_day = "d" in pattern.groupindex
        for match in pattern.finditer(text):
            if pattern is YEAR_LAST_IN_DIGITS and match.start() in numbers:
                continue
            days = _days(match, dates.orders) if has_day else ()
            if days or not has_day:
                found.append((match.start(), match[0], days))
                text = text[: match.start()] + HOLE.ljust(len(match[0]), "\1") + text[match.end() :]
    return text.replace("\1", ""), [(written.strip(PARTING), days) for _, written, days in sorted(found)]


def _days(match: re.Match[str], orders: Iterable[str]) -> tuple[str, ...]:
    """Return the days that a date may be in some orders of its parts, none if there is no such day."""
    parts = match["d"], match["m"], match["y"]
    short = len(parts[0]) == len(parts[2]) and "." not in match[0]  # 23-04-17, where the year may be first
    read = [parts] if match.re not in EXCHANGEABLE else [
        [parts[order.index(part)] for part in "dmy"] for order in orders if short or order != "ymd"
    ]  # fmt: skip
    found = [(int(y) + (2000 if len(y) < 3 else 0), MONTHS.get(m.lower()) or int(m), int(d)) for d, m, y in read]
    return tuple(dict.fromkeys(date(*day).isoformat() for day in found if _valid(*day)))


def _valid(year: int, month: int, day: int) -> bool:
    try:
        return bool(date(year, month, day))
    except ValueError:
        return False


def places_of_visits(visits: Mapping[str, Sequence[Word]]) -> tuple[dict[str, int], bool]:
    """Return the place of each visit of a person, from 1, and whether dates and words agree; empty if it is not known.

    Dates tell it, else words of order and numbers. A name that begins another one that goes on with a number comes
    first.
    """
    days = {visit: next((word.days for word in words if word.kind == "date"), ()) for visit, words in visits.items()}
    ways = range(3) if all(days.values()) else ()  # to read days and months
    by_days: list[Mapping[str, Any]] = [{visit: read[: way + 1][-1] for visit, read in days.items()} for way in ways]
    by_words = _by_words(visits)
    ranked = [sorted(keys, key=keys.__getitem__) for keys in (*by_days, by_words) if keys]
    orders = [{name: place for place, name in enumerate(names, start=1)} for names in ranked]
    sound = not (by_days and by_words) or orders[-1] in orders[:-1]
    return (orders[0], sound) if orders and all(order == orders[0] for order in orders) else ({}, sound)


def _by_words(visits: Mapping[str, Sequence[Word]]) -> dict[str, tuple[int, bool, int]]:
    """Return what gives visits their order: the place by words, and whether they have a number, and which.

    Empty if this does not tell the order, as where one visit is counted and another one has a span of days.
    """
    found: dict[str, tuple[int, bool, int]] = {}
    counted = set[tuple[int, bool]]()
    for visit, words in visits.items():
        letters = [part for word in words for part in words_of(word.text)]
        places = [place for part in letters if (place := _meaning(part, AROUND))]
        numbers = [int(word.number) for word in words if word.kind == "visit" and word.number]
        if numbers:
            place = max(places, key=abs, default=int(numbers[0] > 0))
            found[visit] = (place, True, numbers[0])
            counted.add((place, bool({*letters} & DAYS.keys())))
        elif places:
            found[visit] = (max(places, key=abs), False, 0)
    for visit in visits.keys() - found.keys():  # New Session, before New Session 1, and test before retest
        if again := found.get(f"re{visit}"):
            found[visit] = (again[0] - 1, *again[1:])
        if following := [key for other, key in found.items() if other.startswith(visit) and key[1]]:
            found[visit] = (min(following)[0], False, 0)
    is_mixed = len(counted) > len({place for place, _ in counted})
    is_mixed |= (1, True) in counted and any(place > 1 for place, *_ in found.values())  # 3 months, discharge
    return {} if is_mixed or not len({*found.values()}) == len(found) == len(visits) else found


def words_of(text: str) -> list[str]:
    """Return the words of a name in lower case, without accents: ``FunctionalLHip_02`` has functional, l, hip."""
    return [word.lower() for word, _ in _tokens(without_accents(text)) if not word.isdigit()]


def is_slip(one: str, other: str) -> bool:
    """Return whether two words differ by a letter within, or two exchanged ones: ``fats`` and ``fast``."""
    a, b = sorted((one.lower(), other.lower()), key=len)
    if a == b or len(a) < FEWEST_LETTERS or not (a + b).isalpha():
        return False
    k = next((k for k, pair in enumerate(zip(a, b, strict=False)) if pair[0] != pair[1]), len(a))
    is_exchanged = a[k : k + 2] == b[k : k + 2][::-1] and a[k + 2 :] == b[k + 2 :]
    same = len(a) == len(b)  # else one has a letter more
    return is_exchanged or (len(a) > k + same and a[k + same :] == b[k + 1 :])


def tells_a_day(word: Word) -> bool:
    """Return whether a word is a date, or says how many days, weeks or months a visit is after another one."""
    return word.kind == "date" or (word.kind == "visit" and bool({*words_of(word.text)} & DAYS.keys()))


def is_person_code(text: str) -> bool:
    """Return whether a text is a word for a person with a number: ``sub-01``, ``Patient 3``, ``P1``."""
    return bool(PERSON_CODE.fullmatch(text))


def _eight_digits(text: str) -> dict[int, tuple[tuple[int, int, bool], bool]]:
    """Return by their starts the place of each number of eight digits in a name, and if it can be a date.

    The place is which of how many it is, and whether it is the whole name.
    """
    found = [*EIGHT_DIGITS.finditer(text)]
    forms = (YEAR_FIRST, YEAR_LAST_IN_DIGITS)
    can_be = [any((of := form.search(match[0])) and _days(of, ORDERS) for form in forms) for match in found]
    return {match.start(): ((k, len(found), match[0] == text), can_be[k]) for k, match in enumerate(found)}


def has_six_digit_dates(texts: Iterable[str]) -> bool:
    """Return whether numbers of six digits in some names are dates: there are several, and all of them can be."""
    numbers = {number for text in texts for number in SIX_DIGITS.findall(text)}
    years = date.today().year - 1999  # none is after this year
    return len(numbers) > 1 and all(
        any(year < years and _valid(2000 + year, month, day) for year, month, day in ((a, b, c), (c, b, a)))
        for a, b, c in ((int(number[:2]), int(number[2:4]), int(number[4:])) for number in numbers)
    )
