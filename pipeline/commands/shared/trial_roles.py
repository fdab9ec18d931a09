"""Role and condition of each trial, guessed from the name and the motion of its C3D file."""

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePosixPath
from typing import TypeVar

from ...body.body_model import BodyModel
from ...body.resolved_model import resolve
from ...conventions import FROM_HIP, SIDES
from ...steps.read.recording_contents import CLOSE_HEELS_M, Contents
from ...vocabulary.name_words import kind_of, words_of
from ...vocabulary.plain_letters import without_accents

Key = TypeVar("Key")

NAMELESS = re.compile(r"markers?(_experimental)?|mocap", re.IGNORECASE)  # a file that has its trial's name as folder
BY_NAME = {"walk": "gait", "functional": "functional", "static": "static"}
UNUSED = "unused"  # kind of the words by which names say that a trial is not to be used
SHORT_FRAMES = 10
LONGEST_IDENTIFIER = 50  # without the number added to equal ones


def stem_of(file: Contents) -> str:
    """Return the file's name without folders and suffix, or its folder if that names the trial."""
    path = PurePosixPath(file.name)
    return path.parent.name if in_folder_of_trial(file.name) else path.stem


def shows_a_foot(file: Contents, model_name: str) -> bool:
    """Return whether heel or toe of a side is visible; in some labs the heel marker is in the static only."""
    seen = file.seen.get(model_name, frozenset())
    return any({f"heel_{side}", f"toe_{side}"} & seen for side in SIDES)


def is_of_a_pole(file: Contents) -> bool:
    """Return whether a pole presses a plate, where no person is seen."""
    return any(test.like_a_pole for test in file.plate_tests.values())


def in_folder_of_trial(name: str) -> bool:
    """Return whether a file has a folder for its trial alone: ``walk1/markers.trc`` beside ``walk1/grf.mot``."""
    path = PurePosixPath(name)
    return bool(path.parent.name and NAMELESS.fullmatch(path.stem))


def guess_role(file: Contents, model_name: str, kinds: Collection[str], *, labelled: bool) -> str:
    """Return emg_reference by name, static, functional or gait by motion, then by name, equipment, or exclude.

    Args:
        kinds: of the words in its name: static, walk, functional, contraction, other of what is no walk, and unused.
        labelled: whether the model has the study's labels, so that a file without a foot is no trial of a person.
    """
    if UNUSED in kinds:
        return "exclude"
    if not file.problems and "contraction" in kinds:
        return "emg_reference"
    pole = is_of_a_pole(file)
    if pole or file.problems or (labelled and not shows_a_foot(file, model_name)):
        return "equipment" if pole else "exclude"
    too_short = 0 < file.frame_count < SHORT_FRAMES  # nobody moves far in so few frames
    if "other" in kinds and not {"walk", "static"} & {*kinds}:
        return "exclude"
    if file.stands and not (too_short and "walk" in kinds):
        return "static"
    by_motion = "exclude" if file.stride_m < CLOSE_HEELS_M else "gait"
    return next((role for kind, role in BY_NAME.items() if kind in kinds), by_motion)


def best_static(files: Iterable[Contents], model_name: str, model: BodyModel) -> Contents | None:
    """Return the static that lacks fewest landmarks.

    Among equal ones a still, named and not very short one is preferred.
    """

    def doubts(file: Contents) -> tuple[int, bool, bool, bool]:
        lacking = resolve(model, file.seen[model_name]).lacking
        named = any(kind_of(word) == "static" for word in words_of(stem_of(file)))
        return len(lacking), not file.stands, not named, file.frame_count < SHORT_FRAMES

    return min(files, key=doubts, default=None)


def condition_of(file: Contents, role: str, named: str) -> str:
    """Return the condition of a trial: ``static``, joint and side of a functional trial, or what a walk's names say."""
    fixed = {"static": "static", "emg_reference": "contraction", "equipment": "n/a", "exclude": "n/a"}
    if role == "functional":
        words = {*(every := words_of(stem_of(file)))}
        for word in every:  # LHJC: left hip joint centre
            if short := re.fullmatch(r"([lr]?)([hka])jc", word):
                words |= {short[1], {"h": "hip", "k": "knee", "a": "ankle"}[short[2]]}
        joint = next((name for name in FROM_HIP if name in words), "")
        side = "left" if words & {"l", "left"} else "right" if words & {"r", "right"} else ""
        return "_".join(filter(None, (joint, side))) or "n/a"
    return fixed.get(role) or (named == "n/a" and named) or re.sub(r"[^\w-]+", "-", named).strip("-_") or "walk"


def identifiers(texts: Mapping[Key, str], default: str, *, used: Iterable[str] = ()) -> dict[Key, str]:
    """Return a valid identifier for each text, unique regardless of letter case, and none of those that are used."""
    unique: dict[Key, str] = {}
    taken = {name.lower() for name in used}
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
    plain = re.sub(r"[-_]{3,}", "-", re.sub(r"[^A-Za-z0-9_-]+", "-", without_accents(text)))
    return plain.strip("-_")[:LONGEST_IDENTIFIER] or default
