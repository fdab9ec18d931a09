"""Participants and sessions, guessed from folders, file names and subject names in the files."""

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import PurePosixPath

from ...steps.read.recording_contents import Contents
from ...vocabulary.marker_labels import is_code
from ..shared.trial_roles import identifiers, in_folder_of_trial, is_role_word, stem_of

CODE = re.compile(r"[a-z]{0,12}[-_ ]?\d+[a-z]{0,2}", re.IGNORECASE)
POSE_FOLDER = re.compile(r"pose[-_]?3d", re.IGNORECASE)
# names of folders for sessions, kinds of trial, groups or studies rather than people
NOT_A_PERSON = re.compile(
    r"(new[-_ ]*)?(ses|session|visit|day|date|time|t|week|month|pre|post|base|follow)[a-z]*[-_ ]*\d*|[\d._-]{4,}"
    r"|(static|calib|func|dyn|walk|gait|run|trial|motion|treadmill|overground|barefoot|shod|fast|slow|normal)"
    r"[-_ a-z]*\d{0,2}"
    r"|c3d.*|trc|mocap|(marker|force)[-_ ]?data|pose[-_ ]?3d|opensim.*|data|raw|raw[-_ ]?data|controls?|patients?"
    r"|subjects?|participants?|healthy|group.*|stud(y|ies).*"
    r"|examples?",
    re.IGNORECASE,
)


def people_and_sessions(files: Sequence[Contents]) -> list[tuple[str, str]]:
    """Return participant and session of each file.

    Participants are named by a level of folders, else by the code that begins every file name (``S01_walk_1``), else
    by the subject in the files if it is a code; a subject without digits may be a person's name and is replaced by a
    number. In folders with several people in one file, the subject names the participant of every file. Folders of
    one participant with a static trial each are sessions.
    """
    folders = [_folders(file.name) for file in files]
    level = _person_level(folders)
    if level is None:
        shared = any(file.has_several_people for file in files)
        named, below = (not shared and _codes(files)) or _subjects(files), folders
    else:
        named = _by_subject_where_shared(files, _name_by_folder(level, folders))
        below = [parts[level + 1 :] for parts in folders]
    ids = identifiers({name: name for name in named}, "participant")
    people = [ids[name] for name in named]
    standing = defaultdict(set)
    for file, person, parts in zip(files, people, below, strict=True):
        if file.stands:
            standing[person].add(parts)
    keys = [
        (person, "_".join([person, *parts] if len(standing[person]) > 1 else [person]))
        for person, parts in zip(people, below, strict=True)
    ]
    sessions = identifiers({key: key[1] for key in keys}, "session")
    return [(person, sessions[person, text]) for person, text in keys]


def _folders(name: str) -> tuple[str, ...]:
    """Return the folders of a file, without the folder of each trial and its ``pose-3d`` as Pose2Sim makes them."""
    parts = PurePosixPath(name).parent.parts
    if in_folder_of_trial(name):
        return parts[:-1]
    return parts[:-2] if parts and POSE_FOLDER.fullmatch(parts[-1]) else parts


def _person_level(folders: Sequence[tuple[str, ...]]) -> int | None:
    """Return the level of folders that names people, None if there is none.

    It is the first with different names that are mostly codes, else the first with different names, else the deepest
    that may name a person.
    """
    differing, deepest = None, None
    for depth in range(max(map(len, folders), default=0)):
        names = {parts[depth] for parts in folders if len(parts) > depth}
        people = [name for name in names if not NOT_A_PERSON.fullmatch(name)]
        if not people:
            continue
        deepest = depth
        if len(names) > 1 or differing is not None:
            if sum(bool(CODE.fullmatch(name)) for name in people) * 2 >= len(people):
                return depth
            differing = depth if differing is None else differing
    return deepest if differing is None else differing


def _name_by_folder(level: int, folders: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the folder of each file at a level, with lab or group if ambiguous."""
    above = [tuple(name for name in parts[:level] if not NOT_A_PERSON.fullmatch(name)) for parts in folders]
    owners = defaultdict(set)
    for parts, group in zip(folders, above, strict=True):
        if len(parts) > level:
            owners[parts[level]].add(group)
    names = []
    for parts, group in zip(folders, above, strict=True):
        name = parts[level] if len(parts) > level else "unsorted"
        names.append("_".join([*group, name]) if len(owners[name]) > 1 else name)
    return names


def _by_subject_where_shared(files: Sequence[Contents], named: Sequence[str]) -> list[str]:
    """Return the people's names; in folders with a shared file, those of the subjects."""
    result = list(named)
    for folder in {name for file, name in zip(files, named, strict=True) if file.has_several_people}:
        mine = [i for i, name in enumerate(named) if name == folder]
        for i, subject in zip(mine, _subjects([files[i] for i in mine]), strict=True):
            result[i] = subject if subject == files[i].subject and subject in named else f"{folder}_{subject}"
    return result


def _codes(files: Sequence[Contents]) -> list[str]:
    """Return the code that begins each file name; nothing if a name has none."""
    first = [re.split(r"[-_ ]+(?=[A-Za-z])", stem_of(file), maxsplit=1) for file in files]
    good = all(len(parts) == 2 and CODE.fullmatch(parts[0]) and not is_role_word(parts[0]) for parts in first)
    return [parts[0] for parts in first] if good else []


def _subjects(files: Sequence[Contents]) -> list[str]:
    """Return the subject of each file, possible names replaced by numbers."""
    texts = list(dict.fromkeys(file.subject for file in files if file.subject))
    if len(texts) < 2 and not (texts and is_code(texts[0])):
        return ["sub-01"] * len(files)
    names = {text: text if is_code(text) else f"sub-{number:02d}" for number, text in enumerate(texts, start=1)}
    names[""] = names[texts[0]] if len(texts) == 1 else "unsorted"
    return [names[file.subject] for file in files]
