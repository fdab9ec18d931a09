"""The paths of a study taken apart: each word says one thing, and what a folder says no file name says again.

What a word says depends on the other paths: words that all have in common say nothing, a name among names of people is
one even if it is a word, and one among visits or conditions is one of these.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise, takewhile
from pathlib import PurePosixPath

from ...conventions import FROM_HIP
from ...vocabulary.name_words import (
    ENTITY,
    NUMBERED,
    PERSON_CODE,
    PLACES,
    WORDS,
    Dates,
    Word,
    dates_of,
    is_person_code,
    kind_of,
    read_words,
    words_of,
)
from ...vocabulary.plain_letters import without_accents
from ..shared.trial_roles import UNUSED, in_folder_of_trial

POSE_FOLDER = re.compile(r"pose[-_]?3d", re.IGNORECASE)
ROLES = ("static", "walk", "functional", "contraction", "other", UNUSED)
NAMES_TRIAL = (*ROLES, "condition")
LETTER = re.compile(r"[a-z]\d*")
YEAR = re.compile(r"(?:19[5-9]|20\d)\d")
STEP = re.compile(r"[LR]\d+")
OF_PEOPLE = ("", "number", "person", "group")
SILENT = (*ROLES, "", "place")  # kinds of words that say nothing at the ends of all file names
EMPTY_VISITS = frozenset(WORDS["further"]) | {"ses"}  # alone they tell none
Names = tuple[str, ...]
Place = tuple[int, int]  # 0 and the depth of a folder, or 1 and the place in the file's name


@dataclass
class Parts:
    """What a path says."""

    name: str  # of the file, or of its folder if that names the trial
    stem: list[Word]  # its words
    unknown: dict[Place, str] = field(default_factory=dict)  # what may name people, conditions and others
    visits: list[Word] = field(default_factory=list)  # with dates
    conditions: list[str] = field(default_factory=list)  # of the folders, from the top, then of the file's name
    beside_condition: set[str] = field(default_factory=set)  # unknown names of folders with a word for a condition
    roles: list[str] = field(default_factory=list)  # of ROLES: of the file's name, then of the folders from below
    group: str = ""  # controls, patients, young, ...
    above_group: Names = ()  # unknown names of folders above that of the group
    beside_date: str = ""  # what stands beside the only date; of a person's name that is a birthday
    telling: list[Word] = field(default_factory=list)  # its words without the number of the trial
    ends_with_visit_number: bool = False  # of the last visit; it may be that of the trial

    @property
    def visit(self) -> str:
        """The visit in words that are equal in all of its files."""
        return "-".join(word.plain for word in self.visits)

    def trial(self, shown: Collection[str], hidden: Collection[str]) -> str:
        """Return the file's name without what may be people's names, as hidden words are unless they are shown."""
        texts = list[str]()
        for word in self.stem:
            letters = re.sub(r"\d+$", "", word.text)
            is_code = re.search(r"\d", word.text) and not any(name in letters for name in hidden)
            kept = word.kind or word.text in shown or is_code or not re.search(r"[^\W\d_]{2}", letters)
            texts.append(word.text if kept else word.text[len(letters) :])
        return self.name if texts == [word.text for word in self.stem] else "-".join(filter(None, texts))


def take_apart(names: Sequence[str]) -> list[Parts]:
    """Return what the path of each file says."""
    paths = _components([PurePosixPath(name) for name in names])
    dates = dates_of(text for path in paths for text in path)
    dates = dates._replace(pairs=dates.pairs - _words_above_people(paths))
    read = {text: _words(text, dates) for path in paths for text in path}
    words = list[list[list[Word]]]()
    for *folders, stem in paths:
        names = [text for text in folders if stem.startswith(text) and not any(word.kind for word in read[text])]
        words.append([*(list(read[text]) for text in folders), _words(stem, dates, *names[:1])])
    last = {(word.kind, word.plain) for of_path in words for word in of_path[-1][1:][-1:] or [Word("none", "")]}
    if len(words) > len(last) == 1 and all(kind in SILENT and text.isalpha() for kind, text in last):
        for of_path in words:
            del of_path[-1][-1]  # walk_01_filtered
    _drop_words_of_the_study(paths, words)
    _drop_counts_of_files(paths, words)
    _put_codes_right(words)
    _put_joints_right(paths, words)
    _put_siblings_right(paths, words)
    _put_trials_of_visits_right(words)
    _join_amounts(words)
    names_in_common = set.intersection(*({word.plain for word in of_path[-1]} for of_path in words))
    common = names_in_common if len(words) > 1 else set[str]()
    in_folders = any(word.kind == "condition" for of_path in words for folder in of_path[:-1] for word in folder)
    begun = {_text(of_path[-1][:-1]) for of_path in words if of_path[-1][-1:] and of_path[-1][-1].kind == "number"}
    found = [_parts(path[-1], of_path, begun, common, in_folders) for path, of_path in zip(paths, words, strict=True)]
    bare = set.intersection(*({word.plain for word in one.visits} for one in found)) & (NUMBERED.keys() - PLACES.keys())
    for one in found:
        one.visits = [word for word in one.visits if word.plain not in bare]  # session, without a number
    return found


def _components(paths: Sequence[PurePosixPath]) -> list[list[str]]:
    """Return the folders and the stem of each path; the folder is the stem if it is there for one trial alone."""
    one_stem = len({path.stem for path in paths}) == 1 < len(paths)
    one_a_folder = len({path.parent for path in paths}) == len(paths)
    found = list[list[str]]()
    for path in paths:
        folders = [*path.parent.parts]
        names_trial = one_stem and bool(folders) and any(kind_of(word) in NAMES_TRIAL for word in words_of(folders[-1]))
        if in_folder_of_trial(str(path)) or (names_trial and one_a_folder):
            found.append(folders)
        elif folders and POSE_FOLDER.fullmatch(folders[-1]) and not names_trial:
            found.append([*folders[:-2], path.stem])  # of Pose2Sim: walk1/pose-3d
        else:
            found.append([*folders, path.stem])
    return found


def _words_above_people(paths: Sequence[Sequence[str]]) -> set[str]:
    """Return the words of folders that are in none of a person's: premeno, which is a group."""
    of_all = [*takewhile(lambda names: len({*names}) == 1, zip(*(path[:-1] for path in paths), strict=False))]
    words = set[str]()
    for path in paths:
        own = path[len(of_all) : -1]
        of_person = [any(word.kind in OF_PEOPLE[:-1] for word in read_words(text)) for text in own]
        words.update(word for k, text in enumerate(own) if not any(of_person[:k]) for word in words_of(text))
    return words


def _words(text: str, dates: Dates, name: str = "") -> list[Word]:
    """Return the words of a folder or file, those of BIDS by their keys; the name with which it begins is one word."""
    found = [match for part in text.split("_") if (match := ENTITY.fullmatch(part))]
    is_text = len(found) == 1 and any(word.kind in (*ROLES, "condition") for word in read_words(text[4:], dates))
    if not found or (len(found) == 1 and (text != found[0][0] or is_person_code(text) or is_text)):
        rest = read_words(text[len(name) :], dates)
        rest[:1] = [word._replace(glued=text[len(name)].isalnum()) for word in rest[:1]] if name else rest[:1]
        return [Word("", without_accents(name))] * bool(name) + rest
    words = list[Word]()
    for part in text.split("_"):
        key, label = match.groups() if (match := ENTITY.fullmatch(part)) else ("", part)
        inner = read_words(label, dates)
        if key == "sub":
            words.append(Word("", part))
        elif key == "ses":
            number = next((word.number for word in inner if word.number), "")
            day = next((word for word in inner if word.kind == "date"), None)
            words.append(day or Word("visit", label, number=number))
        elif key == "run":
            words.append(Word("run", label, number=label))
        elif key in ("task", "acq"):
            words += [word._replace(kind=word.kind if word.kind in ROLES else "condition") for word in inner]
        elif not key:
            words += inner
    return words


def _drop_words_of_the_study(paths: Sequence[Sequence[str]], words: Sequence[list[list[Word]]]) -> None:
    """Drop words for roles and conditions from folders that all paths share, AFO_Study, if file names tell more."""
    tells_more = any(word.kind in ("condition", "") for of_path in words for word in of_path[-1])
    for depth, names in enumerate(zip(*(path[:-1] for path in paths), strict=False)):
        if len({*names}) == 1 < len(paths) and tells_more and any(not word.kind for word in words[0][depth]):
            for of_path in words:
                of_path[depth] = [word for word in of_path[depth] if word.kind not in (*ROLES, "condition")]


def _drop_counts_of_files(paths: Sequence[Sequence[str]], words: Sequence[list[list[Word]]]) -> None:
    """Drop the numbers with which the names of the files of a folder begin if they count these: ``02_normal``."""
    folders: dict[Names, list[list[Word]]] = defaultdict(list)
    for path, of_path in zip(paths, words, strict=True):
        folders[tuple(path[:-1])].append(of_path[-1])
    for names in folders.values():
        numbers = sorted(int(name[0].text) for name in names if name[1:] and name[0].kind == "number")
        if len(numbers) == len(names) > 2 and all(b - a == 1 for a, b in pairwise(numbers)):
            for name in names:
                del name[0]


def _join_amounts(words: Sequence[list[list[Word]]]) -> None:
    """Make numbers behind a word for a condition part of it where they are amounts, of 5: up5, up10."""
    pairs = [(stem, k) for *_, stem in words for k, (a, b) in enumerate(pairwise(stem))
             if (a.kind, b.kind) == ("condition", "run") and b.text.isdecimal()]  # fmt: skip
    numbers: dict[str, set[int]] = defaultdict(set)
    for stem, k in pairs:
        numbers[stem[k].plain].add(int(stem[k + 1].text))
    for stem, k in pairs:
        if len(of_word := numbers[stem[k].plain]) > 1 and not any(number % 5 for number in of_word):
            stem[k + 1] = stem[k + 1]._replace(kind="condition")


def _put_codes_right(words: Sequence[list[list[Word]]]) -> None:
    """Make a word with a number a code where all names begin with it: ``HIP07_walk1`` and ``HIP07_static``."""
    for depth in {-1, *range(max(map(len, words)) - 1)}:
        names = [path[depth] for path in words if depth < len(path) - 1]
        first = {name[0].text.lower() if name else "" for name in names}
        if len(first) == 1 and all(_is_code(name, of_file=depth < 0) for name in names):
            for name in names:
                name[:2] = [Word("", _text(name[:2]))]
    coded = [{a.plain: k for k, (a, b) in reversed([*enumerate(pairwise(path[-1]))])
              if (a.kind, b.kind) == ("functional", "run")} for path in words]  # fmt: skip
    for code in sorted(set.intersection(*map(set, coded)))[:1]:  # MoCap_HIP25_walk1
        for path, k in zip(words, (places[code] for places in coded), strict=True):
            path[-1][k : k + 2] = [Word("", _text(path[-1][k : k + 2]))]


def _put_joints_right(paths: Sequence[Sequence[str]], words: Sequence[list[list[Word]]]) -> None:
    """Make joints in names of folders with a static unknown words: KneeA and KneeB hold no functional trials."""
    named = [(path[: k + 1], name) for path, name in zip(paths, words, strict=True) for k in range(len(name) - 1)]
    with_static = {tuple(path) for path, name in named if any(word.kind == "static" for word in name[-1])}
    for path, name in named:
        if tuple(path) in with_static:
            folder = name[len(path) - 1]
            folder[:] = [word._replace(kind="") if word.plain in FROM_HIP else word for word in folder]


def _is_code(name: Sequence[Word], *, of_file: bool) -> bool:
    """Return whether a name begins with a code, though it is a word: ``RUN07``, ``HIP_005``, ``PRED01``."""
    if len(name) < 2 or name[1].kind not in ("run", "number"):
        return False
    in_capitals = name[0].text.isupper() and name[1].kind == "run" and name[1].text.startswith("0")
    if name[0].kind not in (*ROLES, *("condition", "visit") * in_capitals):
        return False
    goes_on = any(word.kind in ROLES for word in name[2:]) if of_file else len(name) == 2
    return goes_on and (name[1].kind == "run" or name[0].kind == "functional")


def _put_trials_of_visits_right(words: Sequence[list[list[Word]]]) -> None:
    """Make a numbered word that is all of a file's name a trial's if a folder names the visit: ``Visit1/test2``."""
    for *folders, stem in words:
        bare = re.sub(r"[-_ ]*\d+$", "", stem[0].text.lower()) if [word.kind for word in stem] == ["visit"] else ""
        if bare in NUMBERED.keys() - PLACES.keys() and any(word.kind == "visit" for of in folders for word in of):
            stem[:] = [Word("place", bare), Word("number", stem[0].number)]


def _put_siblings_right(paths: Sequence[Sequence[str]], words: Sequence[list[list[Word]]]) -> None:
    """Make names of folders among names of people such names, and names among visits or conditions labels."""
    siblings: dict[Names, dict[str, list[Word]]] = defaultdict(dict)  # by folders above, of labels their kinds
    below: dict[Names, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for path, of_path in zip(paths, words, strict=True):
        above = tuple(_label_of(name) or text for text, name in zip(path, of_path, strict=True))
        for depth, text in enumerate(path[:-1]):
            siblings[above[:depth]][text] = of_path[depth]
            below[above[:depth]][text] |= {*path[depth + 1 : -1][:1]}
    changed: dict[str, str] = {}
    for parent, names in siblings.items():
        changed |= _changed_kinds(names, below[parent]) | _groups(names, below[parent])
        digits = [text for text in names if len(text) == 8 and text.isdigit()]
        if len({names[text][0].kind for text in digits}) > 1:
            changed |= dict.fromkeys(digits, "")  # numbers of a hospital, of which some could be dates
    first = {_text(of_path[-1][:1]): of_path[-1][:1] for of_path in words}  # words of file names
    of_first = {} if "place" in map(_label_of, first.values()) else _changed_kinds(first, defaultdict(set))
    for path, of_path in zip(paths, words, strict=True):
        for depth, text in enumerate(path[:-1]):
            if text in changed:
                of_path[depth] = [Word(changed[text], _text(of_path[depth]))]
        of_path[-1][:1] = [word._replace(kind=of_first.get(word.text, word.kind)) for word in of_path[-1][:1]]


def _groups(names: Mapping[str, Sequence[Word]], below: Mapping[str, set[str]]) -> dict[str, str]:
    """Return the folders that hold people with something, and others without it, as names.

    They share no name below, unless several people are numbered anew in each.
    """
    joint = [text for text, words in names.items() if len(words) > 1 and words[0].plain in WORDS["joint"]]
    inside = [name for text in joint if not names[text][1].kind for name in below[text]]
    are_people = len(joint) > 1 and inside and not any(_label_of(read_words(name)) for name in inside)
    are_apart = len({*inside}) == len(inside) or (len({*inside}) > 1 and all(map(str.isdigit, inside)))
    return dict.fromkeys(joint, "") if are_people and are_apart else {}


def _changed_kinds(names: Mapping[str, Sequence[Word]], below: Mapping[str, set[str]]) -> dict[str, str]:
    """Return the kinds that names of a folder have by their siblings, where it is not that of their words.

    A name that is there and in the folders ``below`` as well is of another level.
    """
    kinds = {text: _label_of(words) for text, words in names.items()}
    labels = {text: kind for text, kind in kinds.items() if kind in ("visit", "condition")}
    deeper = {text for inside in below.values() for text in inside}
    unknown = [
        text
        for text, kind in kinds.items()
        if not kind and text not in deeper and not below[text] & {*labels} and not PERSON_CODE.match(_text(names[text]))
    ]
    most = max(Counter(labels.values()).values(), default=0)
    in_capitals = len({*map(len, names)}) == 1 and all(text.isalpha() and text.isupper() for text in names)
    if unknown and in_capitals and len({*labels.values()}) > 1:
        return dict.fromkeys(labels, "")  # codes, one without a meaning, others with several
    if (unknown and most and list(kinds.values()).count("") >= most) or (not deeper and 0 < most <= len(labels) / 2):
        return {text: "" for text in labels if not any(word.number or word.kind == "date" for word in names[text])}
    found = {}
    for text in unknown if most else ():
        alike = [kind for other, kind in labels.items() if below[text] & below[other]] or [*labels.values()]
        found[text] = Counter(alike).most_common(1)[0][0]
    return found


def _label_of(name: Sequence[Word]) -> str:
    """Return visit, condition or, for other words, place; nothing of a name that is no word."""
    kinds = {word.kind for word in name} - {"number", "run", "place"}
    if "" in kinds or not kinds:
        return "" if "" in kinds or any(word.kind == "number" for word in name) else "place"
    return next((kind for kind in ("visit", "condition") if kind in kinds), "place")


def _parts(
    name: str, path: Sequence[Sequence[Word]], begun: Collection[str], common: set[str], in_folders: bool
) -> Parts:
    """Return what the words of a path say; ``common`` ones say nothing of roles, nor of conditions ``in_folders``.

    ``begun`` are names that begin others, which go on with a number.
    """
    parts = Parts(name, [*path[-1]])
    said: set[str] = set()  # by the folders
    for folder in path[:-1]:
        _read_folder(parts, folder, said)
    stem = _without_trial(path[-1])
    if stem[-1:] and not stem[-1].kind and _text(path[-1]) in begun:
        stem = [*path[-1]]  # OA_11 beside OA_11_1
    is_counted = any(word.kind == "number" for word in path[-1][len(stem) :])
    known = {word.plain for word in parts.visits} | {str(word.days) for word in parts.visits if word.days}
    known |= NUMBERED.keys() - PLACES.keys() if known else set()  # test.c3d in a folder of a visit
    own = [word for word in stem if word.kind in ("visit", "date") and not {word.plain, str(word.days)} & known]
    parts.visits += own
    if all(word.plain in EMPTY_VISITS for word in parts.visits):
        parts.visits = []
    ends = [word for word in path[-1] if word.kind != "copy"][-1:]
    parts.ends_with_visit_number = bool(own and ends == own[-1:] and own[-1].number and own[-1].text[-1].isdigit())
    last = [word if is_counted else _without_number(word) for word in stem[-1:]]
    every = [word for folder in (*path[:-1], stem[:-1], last) for word in folder]
    inner = {id(b) for a, b in pairwise(every[:-1]) if a.kind not in ROLES}  # numbers within a name that count no trial
    parts.telling = [word for word in every if is_counted or word.kind != "run" or id(word) in inner]
    parts.unknown |= {(1, k): text for k, text in enumerate(_unknown_of(stem, said))}
    empty = said | (common if in_folders else set())
    counted = {id(b) for a, b in pairwise(stem) if is_counted and a.kind == "condition" and b.kind == "run"}  # up5_01
    for is_condition, words in groupby(
        stem, lambda word: id(word) in counted or (word.kind == "condition" and word.plain not in empty)
    ):
        parts.conditions += [_text([*words])] if is_condition else []
    above = [word.kind for folder in reversed(path[:-1]) for word in folder if word.kind in {*ROLES} - {UNUSED}]
    silent = common | said | WORDS["trial"].keys()
    parts.roles = [word.kind for word in stem if word.kind in ROLES and word.plain not in silent] or above
    of_folders = [{word.kind for word in folder} for folder in path[:-1]]
    if UNUSED in parts.roles or any(UNUSED in kinds and "" not in kinds for kinds in of_folders):
        parts.roles = [UNUSED]
    return parts


def _without_trial(stem: Sequence[Word]) -> list[Word]:
    """Return the words of a file's name without those of a copy and the number of the trial at its end."""
    words = [word for word in stem if word.kind != "copy"]
    if words and LETTER.fullmatch(words[-1].text) and (len(words) == 1 or words[-2].text[-1:].isdigit()):
        words = words[:-1]  # walk1_a
    if words and STEP.fullmatch(words[-1].text) and words[-2:-1] and words[-2].kind == "walk":
        words = words[:-1]  # Walk L01: the foot on the plate
    return words[:-1] if words and words[-1].kind == "number" else words


def _without_number(word: Word) -> Word:
    """Return an unknown word without the number at its end, also with a letter, unless it is a code of a person."""
    is_told = word.kind not in ("", "number") or is_person_code(word.text)
    code = re.sub(r"(?<=[^\W\d_])\d+[a-z]$", "", word.text)
    return word if is_told else word._replace(text=code.rstrip("0123456789 -_") or "1")


def _unknown_of(stem: Sequence[Word], said: set[str]) -> list[str]:
    """Return the parts of a file's name that are no words, without what the folders have said."""
    found = list[str]()
    before = ""
    for word in stem:
        if word.kind in OF_PEOPLE and _bare(word.text) not in said:
            if word.kind == "number" and before == "" and found and found[-1].isalpha():
                found[-1] += f"_{word.text}"  # TKA_03
            else:
                found.append(word.text)
        before = word.kind
    return found


def _read_folder(parts: Parts, folder: Sequence[Word], said: set[str]) -> None:
    """Add what a folder says to the parts of a path."""
    kinds = {word.kind for word in folder}
    parts.above_group = tuple(parts.unknown.values()) if "group" in kinds else parts.above_group
    names = [word for word in folder if word.kind in ("", "person", "number")]
    names = [word for word in names if _bare(word.text) not in said or not re.search(r"[^\W\d_]\d", word.text)]
    if not {"", "person"} & kinds and kinds & {*ROLES, "condition", "group", "run"}:
        names = []  # 1_static
    if names:
        parts.unknown[0, len(parts.unknown)] = _text(names)
        said.update(re.findall(r"[^\W\d_]+|\d+", _text(names).lower()))
        said.update(_bare(word.text) for word in names)
        said.update(_bare(_text(of)) for of in (names, folder))
    visits = [word for word in folder if word.kind in ("visit", "date")]
    is_dated = any(word.kind == "date" for word in visits)
    if is_dated and parts.beside_date and not names:
        parts.visits = [word for word in parts.visits if word.kind != "date"]
    parts.beside_date = _text(names) if is_dated else parts.beside_date
    known = {word.plain for word in parts.visits}
    parts.visits += [word for word in visits if word.plain not in known]
    said.update(_bare(word.text) for word in visits)
    if conditions := [word for word in folder if word.kind == "condition"]:
        parts.conditions.append(_text(conditions))
        parts.beside_condition |= {_text(names)} if names else set()
        said.update(word.plain for word in conditions)
    parts.group = "-".join(filter(None, (parts.group, *(word.plain for word in folder if word.kind == "group"))))


def _bare(text: str) -> str:
    return re.sub(r"[\W_]", "", text.lower())


def _text(words: Sequence[Word]) -> str:
    """Return words with blanks between those that are not glued."""
    return "".join(("" if word.glued or k == 0 else " ") + word.text for k, word in enumerate(words))
