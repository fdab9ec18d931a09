"""Folders of recordings as laboratories lay them out, with what is true of each: people, visits and dates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from pipeline.steps.read.recording_contents import NO_SIZES, NOTHING, Contents

KNOWN, UNKNOWN = "known words", "unknown words"
# by language: roles (static, walk), visits, conditions
WORDS = {
    "English": (("Static", "Walk"), ("pre", "post", "follow-up"), ("barefoot", "shod")),
    "English 2": (("Cal", "Gait"), ("baseline", "6 months", "12 months"), ("fast", "slow")),
    "English 3": (("Standing", "Dynamic"), ("Visit 1", "Visit 2", "Visit 3"), ("AFO", "no AFO")),
    "English 4": (("Calibration", "Walking"), ("Session1", "Session2", "Session3"), ("Straight", "Turn")),
    "English 5": (("Static trials", "Walking trials"), ("T1", "T2", "T3"), ("preferred", "fast")),
    "German": (("Statik", "Gang"), ("vor OP", "nach OP", "Kontrolle"), ("barfuß", "Schuhe")),
    "German 2": (("Stehen", "Gehen"), ("Messung 1", "Messung 2", "Messung 3"), ("langsam", "schnell")),
    "French": (("Statique", "Marche"), ("avant", "après", "Séance 3"), ("pieds nus", "chaussé")),
    "Italian": (("Statica", "Cammino"), ("prima", "dopo", "Visita 3"), ("scalzo", "scarpe")),
    "Spanish": (("Estático", "Marcha"), ("antes", "después", "Sesión 3"), ("descalzo", "calzado")),
    "Portuguese": (("Estática", "Marcha"), ("antes", "depois", "Sessão 3"), ("descalço", "sapatos")),
    "Dutch": (("Statisch", "Lopen"), ("voor", "na 6 weken", "Meting 3"), ("blootsvoets", "schoenen")),
    "Swedish": (("Statisk", "Gång"), ("före", "efter", "Besök 3"), ("barfota", "skor")),
}
# languages and words of which the program knows nothing
UNKNOWN_WORDS = {
    "Finnish": (("Seisonta", "Kävely"), ("Ennen", "Jälkeen", "Myöhemmin"), ("paljain jaloin", "kengät")),
    "Polish": (("Postawa", "Chód"), ("Przed", "Po zabiegu", "Pozniej"), ("boso", "buty")),
    "Turkish": (("Durus", "Yürüyüs"), ("Önce", "Sonra", "En son"), ("yalinayak", "ayakkabi")),
    "Hungarian": (("Allas", "Jaras"), ("Elötte", "Utana", "Vegül"), ("mezitlab", "cipöben")),
    "numbered": (("A", "B"), ("K1", "K2", "K3"), ("x1", "x2")),
    "weeks": (("Q", "R"), ("vk6", "vk12", "vk24"), ("lajkk", "mnorr")),
    "Japanese": (("静止", "歩行"), ("術前", "術後", "最終"), ("裸足", "靴")),
}
DATES: dict[
    str, Callable[[int, int, int], tuple[str, str]]
] = {  # how a day is written, and in ISO 8601 or empty if day and month may be exchanged
    "iso": lambda y, m, d: (f"{y}-{m:02d}-{d:02d}", f"{y}-{m:02d}-{d:02d}"),
    "plain": lambda y, m, d: (f"{y}{m:02d}{d:02d}", f"{y}-{m:02d}-{d:02d}"),
    "German": lambda y, m, d: (f"{d:02d}.{m:02d}.{y}", f"{y}-{m:02d}-{d:02d}"),
    "six": lambda y, m, d: (f"{d:02d}{m:02d}{y % 100}", ""),
    "hyphens": lambda y, m, d: (f"{d:02d}-{m:02d}-{y}", f"{y}-{m:02d}-{d:02d}" if d > 12 else ""),
    "words": lambda y, m, d: (
        f"{d} {('Jan', 'Feb', 'März', 'April', 'Mai', 'Juni', 'Juli', 'Aug', 'Sept', 'Okt', 'Nov', 'Dez')[m - 1]} {y}",
        f"{y}-{m:02d}-{d:02d}",
    ),
}
PEOPLE = {
    "sub-": ("sub-01", "sub-02", "sub-03", "sub-04"),
    "P": ("P1", "P2", "P3", "P4"),
    "Patient": ("Patient 1", "Patient 2", "Patient 3", "Patient 4"),
    "S0": ("S03", "S04", "S07", "S12"),
    "codes": ("HC032A", "HC036A", "HC040A", "HC002D"),
    "names": ("Anna Müller", "Jörg Weiß", "Zoë O'Neill", "Ödön Kiss"),
    "surnames": ("Walker", "Schmidt", "Müller, Änne", "Post"),
    "initials": ("AB", "CD", "EF", "GH"),
}
TOPS = ("", "Daten/", "C3D/", "Gait lab/raw data/")


@dataclass(frozen=True)
class Layout:
    """Files of a study, and of each the true person, visit and date."""

    words: str
    shape: str
    files: tuple[Contents, ...]
    truth: tuple[tuple[str, str, str], ...]
    own_statics: bool  # whether each condition has a static of its own


def layouts(count: int, *, words: str = KNOWN, seed: int = 0) -> list[Layout]:
    """Return layouts with known or unknown words for roles, visits and conditions."""
    rng = np.random.default_rng([seed, words == KNOWN])
    return [_layout(rng, words) for _ in range(count)]


def _layout(rng: np.random.Generator, words: str) -> Layout:
    language = str(rng.choice(list(WORDS if words == KNOWN else UNKNOWN_WORDS)))
    roles, visit_words, condition_words = (WORDS if words == KNOWN else UNKNOWN_WORDS)[language]
    people_count, visit_count = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    style = str(rng.choice(list(PEOPLE)))
    names = [str(name) for name in rng.permutation(PEOPLE[style])[:people_count]]
    dated = str(rng.choice(list(DATES))) if rng.random() < 0.3 else ""
    conditions = list(condition_words) if rng.random() < 0.4 else [""]
    own_statics = len(conditions) > 1 and bool(rng.random() < 0.4)
    with_roles = bool(rng.random() < 0.5)
    where = str(rng.choice(["folder", "beside visit", "file", "subject"], p=[0.6, 0.15, 0.15, 0.1]))
    if people_count == 1 and rng.random() < 0.4:
        where = "nowhere"
    subjects = str(rng.choice(["own", "template", "none"], p=[0.5, 0.2, 0.3])) if where != "subject" else "own"
    sized = bool(rng.random() < 0.6)
    order = [str(level) for level in rng.permutation(["person", "visit", "condition", "role"])]
    top = str(rng.choice(TOPS))
    files, truth = list[Contents](), list[tuple[str, str, str]]()
    for (p, name), v in product(enumerate(names), range(visit_count)):
        visit, iso = visit_words[v], ""
        if dated:
            first = 8 + 5 * p % 20
            visit, iso = DATES[dated](2022 + v, 1 + (3 * p + v) % 12, first)
        mass_kg = round(20 + 11 * p + 3.1 * v, 1)
        sizes = {"Bodymass": mass_kg, "Height": 1100.0 + 61 * p + 23 * v} if sized else {}
        subject = {"own": name, "template": "Model", "none": ""}[subjects]
        recordings = [(True, condition, 1) for condition in (conditions if own_statics else [""])]
        recordings += [(False, condition, n) for condition in conditions for n in (1, 2)]
        for number, (stands, condition, n) in enumerate(recordings, start=1):
            levels = {
                "person": {"folder": name, "beside visit": f"{name} {visit}" if visit_count > 1 else name}.get(
                    where, ""
                ),
                "visit": visit if visit_count > 1 and where != "beside visit" else "",
                "condition": condition,
                "role": roles[0 if stands else 1] if with_roles else "",
            }
            folders = "".join(f"{levels[level]}/" for level in order if levels[level])
            stem = f"{roles[0]}{n}" if stands else f"{roles[1]}{n}"
            if words == UNKNOWN:
                stem = f"rec{number}"
            stem = f"{name}_{stem}" if where == "file" else stem
            recording = replace(NOTHING, subject_names=[subject] if subject else [], processing=sizes)
            extent_m = 0.001 if stands else 3.0
            shown = NO_SIZES._replace(extent_m=extent_m)
            files.append(Contents(f"{top}{folders}{stem}_{'ab'[n - 1]}.c3d", recording=recording, shown=shown))
            truth.append((name, visit, iso if visit_count > 1 else ""))
    taken = dict[str, int]()
    for i, file in enumerate(files):  # no two files of one name: a lab would have numbered them
        again = taken.setdefault(file.name, i)
        if again != i:
            files[i] = replace(file, name=file.name.replace(".c3d", f"{i}.c3d"))
    shape = f"{people_count} people {style} in {where}, {visit_count} visits {dated or language}, {'/'.join(order)}"
    shape += f", {len(conditions)} conditions, roles {with_roles}, subjects {subjects}, sizes {sized}"
    return Layout(words, shape, tuple(files), tuple(truth), own_statics)
