"""The recordings of a folder: C3D and TRC files, and the MOT file with the forces of each TRC file."""

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from ...errors import UserError
from ...opensim_files.mot import FORCES, what_it_holds
from ...tables import tsv
from ...tables.study_tables import FORCE_FILES, MARKER_FILES

OUTPUTS = ("derived", "logs")  # folders of a study
RECORDINGS = (".c3d", *MARKER_FILES)
# what Pose2Sim adds to the name of a TRC file that it has processed, and OpenCap's folders of both forms
PROCESSED = re.compile(r"_filt_[a-z]+|_LSTM")
AUGMENTED, NOT_AUGMENTED = "postaugmentation", "preaugmentation"
# folders of marker files alone: forces are beside them, in another one
MARKER_FOLDER = re.compile(
    rf"((marker|mocap|motion)[-_ ]?data|markers?|mocap|trcs?|{AUGMENTED}|{NOT_AUGMENTED})", re.IGNORECASE
)
# what a TRC file may have at an end of its name, as its forces have another word: walk1_markers.trc, walk1_grfs.sto
OF_MARKERS = re.compile(r"^(markers?(_experimental)?|mocap|trc)([-_. ]|$)|[-_. ](markers?|mocap|trc)$")
# what a MOT file with forces has in its name beside that of its TRC file
OF_FORCES = re.compile(
    r"[-_. ]?(ext(ernal)?[-_ ]?forces?|ground[-_ ]?(forces?|reactions?)|forces?|grfs?|kinetics)[-_. ]?"
)
# files with forces of programs that write no MOT: Cortex beside each TRC file, and QTM, one for each plate
FOREIGN_FORCES = re.compile(r"\.(forces|anc|anb)$|_f_\d+\.tsv$", re.IGNORECASE)
# words that tell a file of markers, or of forces, from the other one of a trial, alone or joined (forceplates)
MARKER_WORDS = re.compile(r"(markers?|mocap|trc|experimental|data|trajectories)+")
FORCE_WORDS = re.compile(r"(ext(ernal)?|ground|reactions?|forces?|loads?|plates?|fp|grfs?|kinetics|data)+")


def recordings_in(folder: Path) -> list[str]:
    """Return the sorted recordings of a study, relative to it; links are followed.

    Hidden files and folders and the study's outputs are skipped. Broken links are included; reading them gives the
    error. A folder reached by several links is searched once, under its own name if it is inside the study. Of several
    forms of one recording the C3D file is taken, else the TRC file that has been processed most.

    Raises:
        UserError: there are none.
    """
    forms: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name in _files(folder, RECORDINGS):
        folders = PurePosixPath(name).parent.parts
        kept = (part for part in folders if part.lower() not in (AUGMENTED, NOT_AUGMENTED))
        forms[*kept, _plain(_stem(name))].append(name)
    if not forms:
        what = "no C3D or TRC files there or in folders below"
        raise UserError(str(folder), what, "give the folder that holds the recordings")
    chosen = list[str]()
    for names in forms.values():
        processed = {name: (AUGMENTED in name.lower(), len(PROCESSED.findall(_stem(name))), name) for name in names}
        chosen += [name for name in names if name.lower().endswith(".c3d")] or [max(names, key=processed.__getitem__)]
    return sorted(chosen)


def find_unlisted(study: Path) -> list[str]:
    """Return the recordings that are in no row of trials.tsv; none if this table cannot be read."""
    with suppress(UserError):
        rows = tsv.read_table(study / "trials.tsv", required=("file",))
        listed = {Path(row["file"].replace("\\", "/")) for row in rows}
        return [name for name in recordings_in(study) if Path(name) not in listed]
    return []


def find_copies(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the files whose bytes equal those of another one, with this one: that with the shortest name."""
    same: dict[tuple[int, bytes], list[str]] = defaultdict(list)
    sizes: dict[int, list[str]] = defaultdict(list)
    for name in dict.fromkeys(names):
        with suppress(OSError):
            sizes[(folder / name).stat().st_size].append(name)
    for size, alike in sizes.items():
        for name in alike if len(alike) > 1 else ():
            with suppress(OSError), (folder / name).open("rb") as file:
                same[size, hashlib.file_digest(file, "sha256").digest()].append(name)
    ordered = (sorted(alike, key=lambda name: (len(name), name)) for alike in same.values())
    return {copy: first for first, *copies in ordered for copy in copies}


def forces_in(folder: Path, recordings: Iterable[str]) -> dict[str, str]:
    """Return the MOT file with the forces of each TRC file that has one, by its name.

    It is named like the TRC file, with or without a word such as ``grf`` or ``forces``, holds ground reaction forces,
    and is below the folder of the TRC file, or beside it if that holds marker files alone (``MarkerData``). Of several,
    the one in the nearest folder is taken. What is left is paired by :func:`_pair_by_words`.
    """
    trc = [name for name in recordings if PurePosixPath(name).suffix.lower() in MARKER_FILES]
    below: dict[tuple[PurePosixPath, str], list[str]] = defaultdict(list)  # by each folder above, and trial
    for name in _files(folder, FORCE_FILES) if trc else ():
        trial = _plain(OF_FORCES.sub("", _stem(name).lower()))
        for parent in PurePosixPath(name).parents:
            below[parent, trial].append(name)
    nearest = {}
    for name in trc:
        trials = dict.fromkeys((_plain(_stem(name)), OF_MARKERS.sub("", _plain(_stem(name)))))
        candidates = [file for trial in trials for file in below.get((_folder_of_trial(name), trial), [])]
        beside = PurePosixPath(name).parent
        ordered = sorted((PurePosixPath(file).parent != beside, len(file), file) for file in candidates)
        nearest[name] = _first_with_forces(folder, [file for *_, file in ordered])
    found = {name: forces for name, forces in nearest.items() if forces}
    return found | _pair_by_words(folder, trc, found)


def _pair_by_words(folder: Path, trc: Sequence[str], found: Mapping[str, str]) -> dict[str, str]:
    """Return force files by TRC file that agree in all words but those for markers and forces.

    Words that all TRC files of a folder share need not be in the name of the forces: ``walk_new.trc``,
    ``static_new.trc`` and ``walk_grf.sto``. Forces that fit several TRC files belong to none.
    """
    words = {name: _words(name, MARKER_WORDS) for name in trc}
    pairs: dict[str, str] = {}
    for forces in sorted(_files(folder, FORCE_FILES)) if len(found) < len(trc) else ():
        mine = _words(forces, FORCE_WORDS)
        near = [name for name in trc if _folder_of_trial(name) in PurePosixPath(forces).parents]
        shared = frozenset.intersection(*(frozenset(words[name]) for name in near)) if near else frozenset[str]()
        fitting = [
            name for name in near
            if mine and name not in found
            and mine in (words[name], tuple(word for word in words[name] if word in mine or word not in shared))
        ]  # fmt: skip
        if len(fitting) == 1 and forces not in found.values() and _first_with_forces(folder, [forces]):
            pairs.setdefault(fitting[0], forces)
    return pairs


def unclaimed_tables(folder: Path, claimed: Container[str]) -> dict[str, list[str]]:
    """Return MOT and STO files that belong to no recording by what they hold, see :func:`what_it_holds`."""
    tables: dict[str, list[str]] = defaultdict(list)
    for name in sorted(_files(folder, FORCE_FILES)):
        if name not in claimed:
            with suppress(OSError, UserError):
                tables[what_it_holds(folder / name)].append(name)
    return tables


def find_foreign_forces(folder: Path, without_forces: Iterable[str]) -> list[str]:
    """Return files with forces that no reader knows, beside TRC files of the same name; C3D files hold theirs."""
    stems = {str(PurePosixPath(name).with_suffix("")) for name in without_forces if name.lower().endswith(MARKER_FILES)}
    named = _files(folder, (".forces", ".anc", ".anb", ".tsv")) if stems else ()
    return sorted(name for name in named if FOREIGN_FORCES.search(name) and FOREIGN_FORCES.sub("", name) in stems)


def _words(name: str, left_out: re.Pattern[str]) -> tuple[str, ...]:
    """Return the words of a file's name but those for what it holds."""
    return tuple(word for word in re.split(r"[-_. ]+", _plain(_stem(name))) if word and not left_out.fullmatch(word))


def _files(folder: Path, endings: tuple[str, ...]) -> Iterator[str]:
    """Yield the files with some endings, relative to the folder."""
    visited = set()
    for place, folders, files in os.walk(folder, followlinks=True):
        if (real := os.path.realpath(place)) in visited:
            folders.clear()
            continue
        visited.add(real)
        within = Path(place).relative_to(folder)
        skipped = OUTPUTS if within == Path() else ()
        shown = (name for name in folders if not name.startswith(".") and name not in skipped)
        folders[:] = sorted(shown, key=lambda name: ((folder / within / name).is_symlink(), name))
        for name in files:
            if name.lower().endswith(endings) and not name.startswith((".", "~$")):
                yield (within / name).as_posix()


def _stem(name: str) -> str:
    return PurePosixPath(name).stem


def _plain(stem: str) -> str:
    """Return the name of a trial without what programs add, in lower case."""
    return PROCESSED.sub("", stem).lower()


def _folder_of_trial(name: str) -> PurePosixPath:
    """Return the folder of a TRC file, or the one above if that holds marker files alone."""
    folder = PurePosixPath(name).parent
    while MARKER_FOLDER.fullmatch(folder.name):
        folder = folder.parent
    return folder


def _first_with_forces(folder: Path, names: Iterable[str]) -> str:
    """Return the first file that holds ground reaction forces, or an empty text."""
    for name in names:
        with suppress(OSError, UserError):
            if what_it_holds(folder / name) == FORCES:
                return name
    return ""
