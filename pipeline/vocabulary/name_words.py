"""Words in the names of folders and files: roles, conditions, visits and dates of recordings, in several languages."""

import re
import unicodedata
from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

STATIC_WORD = re.compile(
    r"stat|stati[ckqs]\w*|estati\w*|cal|[ck]alib\w*|neutral\w*|anatom\w*|stand(s|ing|bild)?|steh(en|end)?|debout|"
    r"reference|[tan]?pose"
)
FUNCTIONAL_WORD = re.compile(r"func|functional|star|starArc|hip|knee|ankle|[lr]?(hjc|kjc|ajc)")
CONTRACTION_WORD = re.compile(r"mvi?cs?")
GAIT_WORD = re.compile(
    r"walk(s|ed|ing\w*|way)?|gait|run(s|ning)?|dyn(am\w*)?|motion|trials?|lauf(en|band)?|gang(analyse|bild)?|gaenge|"
    r"geh(en|t|versuche?)?|march[ae]s?|marcher|cammin(o|ata|ate|are)|camminat\w*|andar|caminar|caminata|loop|loopt|"
    r"lopen|gaan|ga|essais?|prov[ae]|versuche?|squats?|jumps?"
)
CONDITION_WORD = re.compile(
    r"slow(er|ly)?|fast(er)?|quick|brisk|comf\w*|normale?|pref\w*|self|selected|free|barefoot|bare|shod|shoes?|boots?|"
    r"brace[sd]?|orth?[eo][st]\w*|d?afos?|kafos?|smo|insoles?|prosthe\w*|protes\w*|aids?|cane|crutch(es)?|frame|"
    r"treadmill|overground|level|stairs?|up|down|ramp|incline|decline|jog\w*|turn(s|ing)?|straight|dual|task|"
    r"load(ed)?|left|right|"
    r"barfuss|schuhe?|langsam|schnell|gerade(aus)?|kurve|wende|einlagen?|laufband|links|rechts|"
    r"pieds?|nus?|chausse[es]*|chaussures?|lente?s?|rapide|vite|droite?|gauche|virage|tapis|"
    r"scalz[oai]|scarpe|lent[oa]|veloce|rapid[oa]|dritto|curva|tutore|"
    r"descalz[oa]|calzad[oa]|zapatos?|rect[oa]|giro|ferula|descalco|calcad[oa]|sapatos?|ret[oa]|"
    r"blootsvoets|schoenen|langzaam|snel|recht(door)?|bocht|draai|"
    r"barfota|skor|langsamt?|snabbt?|rakt?|svang"
)
WITH_WORD = re.compile(r"with|without|no|mit|ohne|avec|sans|con|senza|sin|com|sem|met|zonder|med|utan")  # a condition
VISIT_WORD = re.compile(
    r"\d+(st|nd|rd|th)|(pre|prae?|post)(op(erativ[eo]?)?)?|(erst|vor|nach)untersuchung|before|after|baseline|initial|final|follow(up)?|time(point)?|visite?s?|visita|session[es]?|ses|"
    r"day|date|(re)?test|op|operation|surgery|treatment|therapy|assessment|measurement|new|first|second|third|"
    r"vor(her)?|nach(her)?|besuch|termin|sitzung|tag|datum|therapie|messung|untersuchung|kontrolle|"
    r"erste[rs]?|zweite[rs]?|dritte[rs]?|avant|apres|seance|jour|bilan|mesure|controle|premiere?|"
    r"deuxieme|prima|dopo|sessione|giorno|misura|seconda|antes|despues|sesion|"
    r"medida|primera|segunda|depois|sessao|consulta|voor|bezoek|sessie|dag|meting|eerste|tweede|"
    r"fore|efter|besok|matning|forsta|andra"
)
EARLY_VISIT = re.compile(
    r"(pre|prae?)(op(erativ[eo]?)?)?|(erst|vor)untersuchung|before|baseline|initial|vor(her)?|avant|prima|antes|voor|fore"
)
LATE_VISIT = re.compile(
    r"post(op(erativ[eo]?)?)?|nachuntersuchung|after|final|follow(up)?|nach(her)?|apres|dopo|despues|depois|na|efter"
)
# 6 months, 12 Wochen
SPAN_WORD = re.compile(
    r"days?|weeks?|months?|years?|mo|wk|tage?|wochen?|monate?n?|jahre?|semaines?|mois|jours?|settiman[ae]|mes[ei]|"
    r"semanas?|mes|meses|dias?|giorni|weken|dagen|maand(en)?|vecka|veckor|manad(er)?"
)
SHORT_VISIT = re.compile(r"(t|v|fu|tp|bl|w|wk|mo)(?=\d\b)|(fu|wk)(?=\d\d\b)")  # T1, V2: a short word with its number
PLACE_WORD = re.compile(
    r"c3d|trc|mocap|markers?|forces?|grf|kinetics|data|daten|dati|datos|dados|donnees|gegevens|raw|roh(daten)?|"
    r"original|processed|export(ed|s)?|files?|vicon|nexus|qualisys|qtm|opensim|opencap|recordings?|aufnahmen|"
    r"captures?|equipment|pole|stick|the|der|of|und|and|lab|labor|clinic|klinik|stud(y|ies|ie)|project|projekt|examples?|all|pose|work|"
    r"subjects|participants|persons|people|probanden|teilnehmer|sujets|sujetos|soggetti|deelnemers"
)
GROUP_WORD = re.compile(
    r"controls?|kontrollen|patients?|patienten|pazienti|pacientes|healthy|gesunde?|sains?|sani|sanos|adults?|children|"
    r"kinder|enfants|bambini|young|old|elderly|men|women|males?|females?|group|gruppe|groupe|gruppo|grupo|groep|"
    r"site|centre|center"
)
STEM = (
    r"sub|subj|subject|participant|person|patient|pat|pt|id|control|child|proband|kind|vp|pb|sujet|sujeto|sujeito|"
    r"soggetto|paziente|paciente|deelnemer|deltagare|patiente|p"
)
PERSON_CODE = re.compile(rf"(?:(?:{STEM})[-_ ]*\d+|s\d\d+)[a-z]{{0,2}}(?![a-z\d])", re.IGNORECASE)  # sub-01, P1
MONTHS = (
    "jan(uary?|vier|eiro|uari)?|gen(naio)?|ene(ro)?",
    "feb(ruary?|braio|rero|ruari)?|fev(rier|ereiro)?",
    "mar(ch|s|z|zo|co)?|maerz|maart|mrt",
    "apr(ile?)?|avr(il)?|abr(il)?",
    "may|mai|mag(gio)?|mayo|maio|mei|maj",
    "june?|juni|juin|giu(gno)?|junio|junho",
    "jul[yi]?|juil(let)?|lug(lio)?|julio|julho",
    "aug(ust|usti|ustus)?|aout|ago(sto)?",
    "sept?|sep?tem(ber|bre|bro)|septiembre|set",
    "o[ck]t(ober|obre|ubre)?|ott(obre)?|out(ubro)?",
    "nov(em(ber|bre|bro)|iembre)?",
    "de[cz](em(ber|bre|bro))?|dic(embre|iembre)?",
)
YEAR = r"(?P<y>(?:19|20)\d\d)"
DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<!\d){YEAR}(?P<sign>[-_. ]?)(?P<m>0[1-9]|1[0-2])(?P=sign)(?P<d>0[1-9]|[12]\d|3[01])(?:t\d{{4,6}})?(?!\d)",
        r"(?<![a-z\d])(?P<d>\d\d?)(?P<sign>[-_. ])(?P<m>\d\d?)(?P=sign)(?P<y>(?:19|20)?\d\d)(?![-_.]?\d)",
        rf"(?<!\d)(?P<d>0[1-9]|[12]\d|3[01])(?P<m>0[1-9]|1[0-2]){YEAR}(?!\d)",
        rf"(?<!\d)(?P<d>\d\d?)[-_. ]*(?P<m>{'|'.join(MONTHS)})[-_. ]*(?P<y>(?:19|20)?\d\d)(?!\d)",
        rf"(?<![a-z\d])(?:{'|'.join(MONTHS)})[-_. ]*{YEAR}(?!\d)",
        rf"(?<![a-z\d]){YEAR}[-_.](?:0[1-9]|1[0-2])(?!\d)",
    )
)
SIX_DIGITS = re.compile(r"(?<!\d)\d{6}(?!\d)")
WORD = re.compile(r"[cC]3[dD](?![a-zA-Z])|\d+(?:st|nd|rd|th)(?![a-z])|[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")
PARTING = " -_.,()"
KINDS = (
    ("static", STATIC_WORD),
    ("walk", GAIT_WORD),
    ("functional", FUNCTIONAL_WORD),
    ("functional", CONTRACTION_WORD),
    ("condition", CONDITION_WORD),
    ("condition", WITH_WORD),
    ("visit", VISIT_WORD),
    ("visit", SPAN_WORD),
    ("place", PLACE_WORD),
    ("group", GROUP_WORD),
)


class NameParts(NamedTuple):
    """What the name of a folder says."""

    person: str  # what remains without known words and dates; empty if nothing does
    visit: str  # words of a visit with their numbers, in lower case
    date: str  # as in ISO 8601; empty if day and month may be exchanged
    label: str  # visit, date and condition as written; empty without any
    group: str  # controls, patients, young, ...
    kinds: frozenset[str]  # of the known words, see KINDS, and date


def read_name(text: str, *, six_digits: bool = False) -> NameParts:
    """Return what the name of a folder says.

    Args:
        six_digits: whether numbers such as 120524 are dates.
    """
    plain = fold(text)
    found: list[tuple[str, str]] = []  # kind and text
    iso = ""
    for pattern in (*DATES, *([SIX_DIGITS] if six_digits else [])):
        for match in reversed([*pattern.finditer(plain)]):
            day = "" if pattern is SIX_DIGITS else _iso(match)
            if day is not None:
                found.append(("date", match[0].strip(PARTING)))
                iso = iso or day
                plain = f"{plain[: match.start()]}\0{plain[match.end() :]}"
    rest, last = [], 0
    tokens = [*WORD.finditer(plain)]
    for i, token in enumerate(tokens):
        is_code = PERSON_CODE.match(plain, token.start())
        kind = "" if is_code else _kind(token[0].lower(), plain[token.start() :].lower())
        number = token[0].isdigit()
        following = tokens[i + 1][0].lower() if i + 1 < len(tokens) else ""
        if number and last and not plain[last : token.start()].strip(PARTING):
            kind = found[-1][0]  # visit 2, walk01
            found[-1] = (kind, found[-1][1] + plain[last : token.end()])
            last = token.end()
            continue
        if number and _counts(plain, token, following):
            kind = "visit"
        if not kind:
            rest.append((token.start(), token.end()))
            last = 0
        else:
            found.append((kind, token[0]))
            last = token.end()
    kinds = frozenset(kind for kind, _ in found)
    person = _joined(plain, rest)
    if person.isdigit() and kinds and kinds <= {"static", "walk", "functional", "condition", "place"}:
        person = ""  # 1_static, 2_walk
    words = {name: "-".join(word for kind, word in found if kind == name) for name in ("visit", "group")}
    label = "-".join(word for kind, word in found if kind in ("visit", "date", "condition"))
    return NameParts(person, words["visit"].lower(), iso, label, words["group"], kinds)


def fold(text: str) -> str:
    """Return a text without accents: ``Größe`` becomes ``Grosse``."""
    for sign, plain in (("ß", "ss"), ("ø", "o"), ("Ø", "O"), ("æ", "ae"), ("œ", "oe"), ("ł", "l")):
        text = text.replace(sign, plain)
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))


def words_of(text: str) -> list[str]:
    """Return the words of a name in lower case, without accents: ``FunctionalLHip_02`` has functional, l, hip."""
    return [word.lower() for word in WORD.findall(fold(text)) if not word.isdigit()]


def is_person_code(text: str) -> bool:
    """Return whether a text is a word for a person with a number: ``sub-01``, ``Patient 3``, ``P1``."""
    return bool(PERSON_CODE.fullmatch(text))


def has_six_digit_dates(texts: Iterable[str]) -> bool:
    """Return whether numbers of six digits in some names are dates: there are several, and all of them can be."""
    numbers = {number for text in texts for number in SIX_DIGITS.findall(text)}
    return len(numbers) > 1 and all(
        any(_valid(2000 + year, month, day) for year, month, day in ((a, b, c), (c, b, a)))
        for a, b, c in ((int(number[:2]), int(number[2:4]), int(number[4:])) for number in numbers)
    )


def _counts(text: str, number: re.Match[str], following: str) -> bool:
    """Return whether a number counts what follows: ``6 months``, ``1. Messung``, not ``P1 month`` or ``01_pre``."""
    before, after = text[: number.start()], text[number.end() :]
    if SPAN_WORD.fullmatch(following):
        return not before[-1:].isalnum()
    return not before.strip(PARTING) and after.startswith(".") and bool(VISIT_WORD.fullmatch(following))


def _kind(word: str, following: str) -> str:
    """Return the kind of a word, or nothing."""
    short = SHORT_VISIT.match(following)
    if short and short[0] == word:
        return "visit"
    return next((kind for kind, pattern in KINDS if pattern.fullmatch(word)), "")


def _iso(match: re.Match[str]) -> str | None:
    """Return the day of a date, empty if it is not certain, None if there is no such day."""
    parts = match.groupdict()
    if not parts.get("d"):
        return ""
    month = next((i for i, names in enumerate(MONTHS, start=1) if re.fullmatch(names, parts["m"], re.IGNORECASE)), 0)
    year, number, day = int(parts["y"]), month or int(parts["m"]), int(parts["d"])
    year += 2000 if year < 100 else 0
    exchangeable = match.re is DATES[1] and parts["sign"] != "." and max(day, number) <= 12 and day != number
    if match.re is DATES[1] and parts["sign"] != "." and number > 12:
        day, number = number, day
    if not _valid(year, number, day):
        return None
    return "" if exchangeable else f"{year}-{number:02d}-{day:02d}"


def _valid(year: int, month: int, day: int) -> bool:
    try:
        return bool(date(year, month, day))
    except ValueError:
        return False


def _joined(text: str, spans: list[tuple[int, int]]) -> str:
    """Return parts of a text, with the signs between neighbours or a blank where something was left out."""
    joined = ""
    for i, (start, end) in enumerate(spans):
        between = text[spans[i - 1][1] : start] if i else ""
        joined += (between if not re.search(r"[^\W_]|\0", between) else " ") + text[start:end]
    return joined


def place_of_visit(visit: str) -> int:
    """Return the place of a visit by its words, such as pre and post: early -1, late 1, else 0."""
    words = re.split(r"[\W_]+", visit.lower())
    early, late = (any(map(pattern.fullmatch, words)) for pattern in (EARLY_VISIT, LATE_VISIT))
    return int(late) - int(early)
