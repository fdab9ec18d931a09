"""Guesses from names, folders and motion of C3D files: who it is, which session, which kind of trial."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, TypeVar

from pipeline import needs
from pipeline.body_model import SIDES

Key = TypeVar("Key")

STATIC_WORD = re.compile(r"stat|static\w*|cal|calib\w*|neutral|anatom\w*|stand\w*|reference|t?pose")
FUNCTIONAL_WORD = re.compile(r"func|functional|hip|knee|ankle")
GAIT_WORD = re.compile(r"walk\w*|gait\w*|run\w*|dyn\w*|motion")
CODE = re.compile(r"[a-z]{0,4}\d+[a-z]{0,2}", re.IGNORECASE)
# folders that sort sessions, kinds of trial or groups rather than people
NOT_A_PERSON = re.compile(
    r"(ses|session|visit|day|date|time|t|week|month|pre|post|base|follow)[a-z]*[-_ ]*\d*|[\d._-]{4,}"
    r"|(static|calib|func|dyn|walk|gait|run|trial|motion|treadmill|overground|barefoot|shod|fast|slow|normal).*"
    r"|c3d|data|raw|rawdata|control.*|patient.*|healthy|group.*",
    re.IGNORECASE,
)
SHORT_FRAMES = 10


@dataclass(frozen=True)
class File:
    """What a look into one C3D file tells.

    Attributes:
        name: path relative to the study.
        problem: why it cannot be read, or empty.
        frame_count: marker frames.
        extent_m: how far its markers travel, see :func:`pipeline.needs.extent_m`.
        seen: its landmarks by body model.
        sizes: anthropometry it states, by participants.tsv column.
    """

    name: str
    problem: str = ""
    frame_count: int = 0
    extent_m: float = float("nan")
    seen: Mapping[str, frozenset[str]] = field(default_factory=dict)
    sizes: Mapping[str, float] = field(default_factory=dict)

    @property
    def stem(self) -> str:
        """The file's name without folders and suffix."""
        return PurePosixPath(self.name).stem

    @property
    def words(self) -> list[str]:
        """The words of the name, lower case: ``FunctionalLHip_02`` is functional, l, hip."""
        return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", self.stem)]

    def says(self, pattern: re.Pattern[str]) -> bool:
        """Return whether a word of the name matches."""
        return any(pattern.fullmatch(word) for word in self.words)

    @property
    def stands(self) -> bool:
        """Whether the markers hardly move."""
        return self.extent_m < needs.STANDING_M

    def shows_a_foot(self, model_name: str) -> bool:
        """Return whether heel and toe of a side are seen, without which no file can be used."""
        seen = self.seen.get(model_name, frozenset())
        return any({f"heel_{side}", f"toe_{side}"} <= seen for side in SIDES)


def people_and_sessions(files: Sequence[File]) -> list[tuple[str, str]]:
    """Return participant and session of each file, told by its folders.

    The first level of folders that tells people apart names the participants. Folders of one participant that
    have a static trial each are sessions.
    """
    folders = [PurePosixPath(file.name).parent.parts for file in files]
    level = _person_level(folders)
    if level is None:
        named, below = ["sub-01"] * len(files), folders
    else:
        named = [parts[level] if len(parts) > level else "unsorted" for parts in folders]
        below = [parts[level + 1 :] for parts in folders]
    ids = _identifiers({name: name for name in named}, "participant")
    people = [ids[name] for name in named]
    standing = defaultdict(set)
    for file, person, parts in zip(files, people, below, strict=True):
        if file.stands:
            standing[person].add(parts)
    keys = [
        (person, "_".join([person, *parts] if len(standing[person]) > 1 else [person]))
        for person, parts in zip(people, below, strict=True)
    ]
    sessions = _identifiers({key: key[1] for key in keys}, "session")
    return [(person, sessions[person, text]) for person, text in keys]


def trial_names(files: Iterable[File]) -> list[str]:
    """Return a valid name for each file of a session, unique in it."""
    return list(_identifiers({file.name: file.stem for file in files}, "trial").values())


def role(file: File, model_name: str, *, labelled: bool) -> str:
    """Return static, functional or gait by motion, then by name; exclude what cannot be used.

    Args:
        file: a file of the study.
        model_name: key of :attr:`File.seen`.
        labelled: whether the model's labels are those of the study, so that a file without a foot is no trial.
    """
    if file.problem or (labelled and not file.shows_a_foot(model_name)):
        return "exclude"
    if file.stands:
        return "static"
    if file.says(GAIT_WORD):
        return "gait"
    if file.says(FUNCTIONAL_WORD):
        return "functional"
    return "static" if file.says(STATIC_WORD) else "gait"


def best_static(files: Iterable[File], model_name: str, model: Mapping[str, Any]) -> File | None:
    """Return the static that shows most of what is needed, stands still, is called static, is not very short."""

    def doubts(file: File) -> tuple[int, bool, bool, bool]:
        lacking = needs.lacking_when_static(model, file.seen[model_name])
        return len(lacking), not file.stands, not file.says(STATIC_WORD), file.frame_count < SHORT_FRAMES

    return min(files, key=doubts, default=None)


def condition(file: File, role: str, person: str) -> str:
    """Return ``static``, the joint of a functional trial, or the file's name without person and number."""
    if role == "static":
        return "static"
    words = set(file.words)
    if role == "functional":
        joint = next((name for name in ("hip", "knee", "ankle") if name in words), "")
        side = "left" if words & {"l", "left"} else "right" if words & {"r", "right"} else ""
        return "_".join(filter(None, (joint, side))) or "n/a"
    stem = _identifier(file.stem, "walk").removeprefix(person)
    bare = re.sub(r"[-_]*\d*$", "", stem).lstrip("-_")
    return "walk" if not bare or CODE.fullmatch(bare) else bare


def _person_level(folders: Sequence[tuple[str, ...]]) -> int | None:
    """Return the first level of folders whose names differ and may be people, else the deepest that may be one."""
    level = None
    for depth in range(max(map(len, folders), default=0)):
        names = {parts[depth] for parts in folders if len(parts) > depth}
        if not all(NOT_A_PERSON.fullmatch(name) for name in names):
            level = depth
            if len(names) > 1:
                break
    return level


def _identifiers(texts: Mapping[Key, str], default: str) -> dict[Key, str]:
    """Return a valid identifier for each text; none stands twice, whatever the letter case."""
    found: dict[Key, str] = {}
    for key, text in texts.items():
        taken = {other.lower() for other in found.values()}
        name = numbered = _identifier(text, default)
        number = 2
        while numbered.lower() in taken:
            numbered, number = f"{name}_{number}", number + 1
        found[key] = numbered
    return found


def _identifier(text: str, default: str) -> str:
    """Return a text as letters, digits, '-' and '_': accents dropped, the rest made '-'."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9_-]+", "-", plain).strip("-_") or default
