"""Role and condition of each trial, guessed from the name and the motion of its C3D file."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TypeVar

from ...body.body_model import BodyModel
from ...body.resolved_model import resolve
from ...conventions import FROM_HIP, SIDES
from ...steps.read.recording_contents import Contents
from ...vocabulary.name_words import (
    CONDITION_WORD,
    CONTRACTION_WORD,
    FUNCTIONAL_WORD,
    GAIT_WORD,
    STATIC_WORD,
    read_name,
    words_of,
)

Key = TypeVar("Key")

NAMELESS = re.compile(r"markers?(_experimental)?|mocap", re.IGNORECASE)  # a file that has its trial's name as folder
SHORT_FRAMES = 10
LONGEST_IDENTIFIER = 50  # without the number added to equal ones


def stem_of(file: Contents) -> str:
    """Return the file's name without folders and suffix, or its folder if that names the trial."""
    path = PurePosixPath(file.name)
    return path.parent.name if in_folder_of_trial(file.name) else path.stem


def has_word(file: Contents, pattern: re.Pattern[str]) -> bool:
    """Return whether a word of the file's name matches: ``FunctionalLHip_02`` has functional, l, hip."""
    return any(pattern.fullmatch(word) for word in words_of(stem_of(file)))


def shows_a_foot(file: Contents, model_name: str) -> bool:
    """Return whether heel or toe of a side is visible; in some labs the heel marker is in the static only."""
    seen = file.seen.get(model_name, frozenset())
    return any({f"heel_{side}", f"toe_{side}"} & seen for side in SIDES)


def in_folder_of_trial(name: str) -> bool:
    """Return whether a file has a folder for its trial alone: ``walk1/markers.trc`` beside ``walk1/grf.mot``."""
    path = PurePosixPath(name)
    return bool(path.parent.name and NAMELESS.fullmatch(path.stem))


def guess_role(file: Contents, model_name: str, *, labelled: bool) -> str:
    """Return emg_reference by name, static, functional or gait by motion, then by name, equipment, or exclude.

    Args:
        labelled: whether the model has the study's labels, so that a file without a foot is no trial of a person.
    """
    if not file.problems and has_word(file, CONTRACTION_WORD):
        return "emg_reference"
    pole = any(test.like_a_pole for test in file.plate_tests.values())
    if pole or file.problems or (labelled and not shows_a_foot(file, model_name)):
        return "equipment" if pole else "exclude"
    too_short = 0 < file.frame_count < SHORT_FRAMES  # nobody moves far in so few frames
    if file.stands and not (too_short and has_word(file, GAIT_WORD)):
        return "static"
    if has_word(file, GAIT_WORD):
        return "gait"
    if has_word(file, FUNCTIONAL_WORD):
        return "functional"
    return "static" if has_word(file, STATIC_WORD) else "gait"


def best_static(files: Iterable[Contents], model_name: str, model: BodyModel) -> Contents | None:
    """Return the static that lacks fewest landmarks.

    Among equal ones a still, named and not very short one is preferred.
    """

    def doubts(file: Contents) -> tuple[int, bool, bool, bool]:
        lacking = resolve(model, file.seen[model_name]).lacking()
        return len(lacking), not file.stands, not has_word(file, STATIC_WORD), file.frame_count < SHORT_FRAMES

    return min(files, key=doubts, default=None)


def by_static(files: Sequence[Contents], roles: Mapping[str, str]) -> dict[str, list[Contents]]:
    """Split a session into sessions with a static each, if the names pair them.

    Otherwise return ``{"": files}``. ``Cal_pre``, ``Walk_pre_1``, ``Cal_post`` and ``Walk_post_1`` are two sessions in
    one folder, pre and post.
    """
    tails = {file.key: _tail(file) for file in files}
    used = [file for file in files if roles[file.key] not in ("exclude", "equipment")]
    statics = [tails[file.key] for file in used if roles[file.key] == "static"]
    others = {tails[file.key] for file in used if roles[file.key] != "static"}
    if len(set(statics)) < max(2, len(statics)) or others != set(statics):
        return {"": list(files)}
    common = set.intersection(*map(set, statics))
    groups = defaultdict(list)
    for file in files:
        tail = tails[file.key] if tails[file.key] in statics else statics[0]
        groups["-".join(word for word in tail if word not in common) or "1"].append(file)
    return groups


def conditions(
    files: Mapping[str, Contents], roles: Mapping[str, str], people: Mapping[str, str], folders: Mapping[str, str]
) -> dict[str, str]:
    """Return the condition of each file.

    It is ``static``, the joint of a functional trial, or for a walk its name without person and number if several
    walks share it or it holds a word like slow or barefoot, else what its folders say, else ``walk``.
    """
    bare = {name: _bare(file, people[name]) for name, file in files.items() if roles[name] == "gait"}
    count = Counter(text.lower() for text in bare.values())
    fixed = {"static": "static", "emg_reference": "contraction", "equipment": "n/a", "exclude": "n/a"}
    telling = {name: identifier(folders[name], "walk") for name in bare if folders[name]}
    telling |= {
        name: text
        for name, text in bare.items()
        if any(CONDITION_WORD.fullmatch(word) for word in words_of(text))
        or (count[text.lower()] > 1 and not is_role_word(text))
    }
    return {
        name: _joint(files[name]) if role == "functional" else fixed.get(role) or telling.get(name, "walk")
        for name, role in roles.items()
    }


def identifiers(texts: Mapping[Key, str], default: str) -> dict[Key, str]:
    """Return a valid identifier for each text, unique regardless of letter case."""
    unique: dict[Key, str] = {}
    taken: set[str] = set()
    for key, text in texts.items():
        name = numbered = identifier(text, default)
        number = 2
        while numbered.lower() in taken:
            numbered, number = f"{name}_{number}", number + 1
        unique[key] = numbered
        taken.add(numbered.lower())
    return unique


def identifier(text: str, default: str) -> str:
    """Return a text as letters without accents, digits, '-' and '_'."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9_-]+", "-", plain).strip("-_")[:LONGEST_IDENTIFIER] or default


def trial_names(files: Iterable[Contents]) -> list[str]:
    """Return a valid name for each file of a session, unique in it."""
    return list(identifiers({file.key: stem_of(file) for file in files}, "trial").values())


def is_role_word(text: str) -> bool:
    """Return whether a part of a name is only a role and a number: ``walk01``."""
    words = words_of(text)
    patterns = (STATIC_WORD, FUNCTIONAL_WORD, GAIT_WORD)
    return bool(words) and all(any(pattern.fullmatch(word) for pattern in patterns) for word in words)


def _parts(text: str) -> list[str]:
    return [part for part in re.split(r"[-_ .()]+", text) if part]


def _tail(file: Contents) -> tuple[str, ...]:
    """Return the parts of a name that are neither role nor number of the trial."""
    parts = [part for part in _parts(stem_of(file)) if not part.isdigit() and not is_role_word(part)]
    return (*parts, *filter(None, [read_name(stem_of(file)).date]))


def _joint(file: Contents) -> str:
    """Return the joint and, if named, the side of a functional trial: ``hip_left``."""
    words = {*(every := words_of(stem_of(file)))}
    for word in every:  # LHJC: left hip joint centre
        if short := re.fullmatch(r"([lr]?)([hka])jc", word):
            words |= {short[1], {"h": "hip", "k": "knee", "a": "ankle"}[short[2]]}
    joint = next((name for name in FROM_HIP if name in words), "")
    side = "left" if words & {"l", "left"} else "right" if words & {"r", "right"} else ""
    return "_".join(filter(None, (joint, side))) or "n/a"


def _bare(file: Contents, person: str) -> str:
    """Return a name without person and number; ``walk`` if only a code is left."""
    text = re.sub(rf"^(?i:{re.escape(person)})(?=[^A-Za-z0-9]|[A-Z][a-z]|$)", "", identifier(stem_of(file), "walk"))
    text = re.sub(r"[-_]*\d*$", "", text).strip("-_")
    return "walk" if not text or re.fullmatch(r"[a-z]{0,4}\d+[a-z]{0,2}", text, re.IGNORECASE) else text
