"""Words of laboratories in twelve languages, from which :mod:`.generated` composes names of folders and files.

``words.tsv`` has a column for each language and a row for each field of :class:`Words`, then one for each condition;
spellings are separated by ``|``.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, NamedTuple


class Words(NamedTuple):
    """Words of a language; of each list a laboratory uses one."""

    static: tuple[str, ...]
    walk: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]  # matches before, place by place
    patient: tuple[str, ...]
    visit: tuple[str, ...]  # followed by a number
    week: str
    month: str
    copy: str  # a path of a copy: {} is the stem of the original
    conditions: dict[str, tuple[str, ...]]  # normal form -> spellings


def _languages() -> dict[str, Words]:
    """Return the words of each language in its column of the table."""
    with Path(__file__).with_suffix(".tsv").open(encoding="utf-8", newline="") as table:
        (_, *languages), *rows = csv.reader(table, delimiter="\t")
    found = {}
    for column, language in enumerate(languages, start=1):
        spellings = {row[0]: tuple(row[column].split("|")) for row in rows if row[column]}
        fields: dict[str, Any] = {name: spellings.pop(name) for name in Words._fields if name in spellings}
        fields |= {name: fields[name][0] for name in ("week", "month", "copy")}
        found[language] = Words(**fields, conditions=spellings)
    return found


LANGUAGES = _languages()
# conditions that a study compares; each pair or triple has words in most languages
STUDIES = (
    ("barefoot", "shod"),
    ("barefoot", "afo"),
    ("shod", "afo"),
    ("barefoot", "shod", "afo"),
    ("slow", "fast"),
    ("slow", "normal", "fast"),
    ("single_task", "dual_task"),
    ("normal", "turn"),
    ("normal", "aid"),
    ("barefoot",),
    ("shod",),
)
FUNCTIONAL = ("FuncHip", "FuncKnee", "HipJC", "KneeAxis", "StarArc", "SCoRE", "functional_hip", "SARA")
OTHERS = ("MVC", "Squat", "Zero", "emptyplates", "CMJ", "SitToStand", "hop", "noise")
# letters before the number of a person
CODES = ("P", "S", "K", "TKA", "HC", "CP", "N", "VP", "OA", "STR", "AMP", "ACL", "PD", "sub", "ctl", "PAT", "HIP")
INITIALS = ("AB", "KM", "LW", "JH", "RvD", "MK", "CR", "EGP", "NLB", "HJO", "UQ", "YZ", "PFB", "GIN", "EKR", "LTB")
SURNAMES = (
    "Achterberg", "Brandt", "Castellani", "Dziedzic", "Eriksen", "Fontaine", "Guerrero", "Haugland", "Iversen",
    "Jankowski", "Kowalczyk", "Lindqvist", "Mancini", "Nakamura", "Oliveira", "Petersen", "Quiroga", "Rasmussen",
    "Sandoval", "Takahashi", "Uzun", "Verhoeven", "Wójcik", "Yilmaz", "Zimmermann",
)  # fmt: skip
FIRST_NAMES = (
    "Agnieszka", "Bjarne", "Chiara", "Dorota", "Eskil", "Fleur", "Gonzalo", "Hedda", "Ingvild", "Joaquim",
    "Katarzyna", "Ludovic", "Mehmet", "Noémie", "Oddvar", "Paolo", "Ragnhild", "Sjoerd", "Thibault", "Ulrike",
    "Violeta", "Wiebke", "Yusuf", "Zbigniew", "Haruka",
)  # fmt: skip
GENERIC = ("Subject", "Patient", "New Subject", "New Patient", "Subject1", "sub", "Template", "PiG", "Model")
PROJECTS = ("GLA", "UNEVEN", "KneeStudy", "GaitLab", "MoCap", "FOOT", "BioMech", "Rec", "Capture", "EXP")
PLACES = (("Nantes", "Rennes"), ("red", "blue"), ("home", "clinic"), ("east lab", "west lab"))
