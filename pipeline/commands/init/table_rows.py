"""The rows of participants.tsv, sessions.tsv and trials.tsv, guessed from the C3D files of a folder."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile
from pathlib import PurePosixPath
from typing import NamedTuple

from ...body.body_model import BodyModel
from ...body.joint_centres import BY_MASS, width_of_mass
from ...body.resolved_model import resolve
from ...errors import MOST_EXAMPLES, kind_of
from ...steps.read.recording_contents import Contents, key_of
from ...tables import study_tables
from ...tables.study_tables import SIZE_RANGES
from ...tables.tsv import Row
from ...variables.verdict_table import WITHOUT_STATIC
from ...vocabulary.name_words import read_words
from ..shared import trial_roles
from .evidence import grouped
from .people import WALKED_M, Trial, people_and_sessions

TO_FILL_IN = dict.fromkeys(("age_years", "aid", "footwear"), "n/a")
BY_MARKERS = "estimate: markers"
STATED = "no static trial: the static results of Plug-in Gait that the walks state replace it"
OTHER_STATIC = "left out, another static of the session serves the body model (to use both, give each a session)"
NO_STATIC = (
    f"no static trial, and no walk that shows every marker: {WITHOUT_STATIC}. For more, add a recording of the person "
    "standing with every marker, role static"
)
ASKED = (
    "people, or visits of one person? Names and files do not tell. Fill in participant_id in trials.tsv: one id for "
    "visits of one person, the name of the session for people; keep a row in participants.tsv for each person"
)
UNORDERED = (
    "which visit came first? Names do not tell. Fill in visit_number in sessions.tsv: 1 for a person's first visit, 2 "
    "for the next, ...; or the date of each. If they are conditions of one visit, give their rows in trials.tsv one "
    "session and their names as condition. Until then, check refuses the study, so that no change has a wrong sign"
)
CONDITION = (
    "which condition? The name may be a slip, or that of something else. Fill in condition in trials.tsv; until then, "
    "check refuses the study"
)
HIDDEN = "numbers in place of what may be people's names; the column file of trials.tsv shows which"
TRIAL_CELLS = (
    *("participant_id", "session", "trial", "file", "forces", "subject", "role", "condition", "visit", "date"),
    "guessed",
)

Models = Mapping[str, BodyModel]
Notes = dict[str, list[str]]
Places = Mapping[str, int | None]  # of each session's visit among those of its person, from 1; None if not known


class EstimatedSizes(NamedTuple):
    """What recordings show of a person of whom no file states the sizes."""

    mass_kg: float  # body mass from force plates; NaN if they do not show it
    mass_source: str  # how it was measured, in words
    leg_lengths_m: Mapping[str, float]  # by side, from markers


def trial_rows(
    files: Sequence[Contents], model_name: str, models: Models, copies: Mapping[str, str]
) -> tuple[list[Row], Places, Notes]:
    """Return the rows of trials.tsv, the place of each session, and files or sessions by text of a note.

    In a session without a static trial, a walk that shows every marker gets a second row as the static trial.

    ``copies`` are the files that equal another one, with this one.
    """
    notes: Notes = defaultdict(list)
    rows: list[Row] = []
    put_away = _put_away([file.name for file in files], copies)
    own = [file for file in files if file.name not in put_away]
    owners = {one.file.key: one for one in people_and_sessions(own)}
    by_name = {file.name: owners[file.key] for file in own}
    owners |= {file.key: by_name[copies[file.name]] for file in files if file.name in put_away}
    sessions, roles = _sessions(files, owners, model_name)
    sessions_of = {file.name: owners[file.key].session for file in files}
    copies = {copy: first for copy, first in copies.items() if sessions_of[copy] == sessions_of[first]}
    roles |= {file.key: "exclude" for file in files if file.name in copies}
    notes[UNORDERED] += dict.fromkeys(owner.person for owner in owners.values() if owner.place is None)
    notes[ASKED] += dict.fromkeys(owner.person for owner in owners.values() if owner.asked)
    notes[HIDDEN] += dict.fromkeys(owner.person for owner in owners.values() if owner.hidden)
    for (_, session), mine in sessions.items():
        statics = [file for file in mine if roles[file.key] == "static"]
        static = trial_roles.best_static(statics, model_name, models[model_name])
        names = trial_roles.identifiers({file.key: owners[file.key].trial for file in mine}, "trial")
        trials = [*zip(mine, names.values(), strict=True)]
        for file, trial in trials:
            role = roles[file.key]
            if file.name in copies:
                notes["left out, the same file as another one"].append(f"{file.name}: {copies[file.name]}")
            elif trial_roles.UNUSED in owners[file.key].parts.roles:
                notes["left out, a failed or unused trial by its name"].append(file.name)
            elif file.problems or role == "exclude":
                notes[_why_excluded(file, model_name)].append(file.name)
            elif role == "static" and file is not static:
                role = "exclude"
                notes[OTHER_STATIC].append(file.name)
            elif role == "static" and not file.stands:
                notes["static by its name, though its markers move"].append(file.name)
            condition = trial_roles.condition_of(file, role, owners[file.key].condition)
            notes[CONDITION] += [file.name] if condition == "n/a" and role == "gait" else []
            rows.append(_row(owners[file.key], session, trial, file, role, condition))
        walks = [(file, trial) for file, trial in trials if roles[file.key] == "gait"]
        if static is None and walks:
            rows += _instead_of_static(owners, session, walks, model_name, models[model_name], notes)
    _gather_unread(notes, [file for file in files if file.problems])
    several = dict.fromkeys(file.name for file in files if file.has_several_people)
    notes["several people in one file, a row for each; the column subject names the person"] += several
    unused = {name for name in ("forces", "subject", "visit", "date") if not any(row[name] for row in rows)}
    if all(row["session"] == row["participant_id"] for row in rows) and not notes[ASKED]:
        unused.add("session")
        rows = [row | {"guessed": row["guessed"].replace("session ", "")} for row in rows]
    rows = [{name: cell for name, cell in row.items() if name not in unused} for row in rows]
    return rows, {owner.session: owner.place for owner in owners.values()}, notes


def _put_away(names: Iterable[str], copies: Mapping[str, str]) -> set[str]:
    """Return copies with the names, but for words of a copy, of files beside them, or outside a folder of copies alone.

    Such a folder is ``P1/old``, or ``Backup`` with ``Backup/P1``; beside other files a copy may serve these, as one
    static serves two visits.
    """
    found = dict[str, PurePosixPath]()
    for name, original in copies.items():
        path, first = PurePosixPath(name), PurePosixPath(original)
        stems = [[word.text for word in read_words(of.stem) if word.kind != "copy"] for of in (path, first)]
        folders = zip(reversed(path.parent.parts), reversed(first.parent.parts), strict=False)
        alike = len([*takewhile(lambda pair: pair[0] == pair[1], folders)])
        if stems[0] == stems[1] and (alike or first.parent in path.parents):
            found[name] = path.parents[alike]
    own = {folder for name in names if name not in found for folder in PurePosixPath(name).parents}
    beside = {name for name in found if PurePosixPath(name).parent == PurePosixPath(copies[name]).parent}
    return {name for name, folder in found.items() if name in beside or folder not in own}


def _instead_of_static(
    owners: Mapping[str, Trial],
    session: str,
    walks: Sequence[tuple[Contents, str]],
    model_name: str,
    model: BodyModel,
    notes: Notes,
) -> list[Row]:
    """Return a walk's second row as static trial, none if walks state static results or lack markers; add a note."""
    complete = [walk for walk in walks if not resolve(model, walk[0].seen[model_name]).lacking]
    if model.may_be_stated and any(file.states_results for file, _ in walks):
        notes[STATED].append(session)
    elif complete:
        file, trial = max(complete, key=lambda walk: len(walk[0].seen[model_name]))
        notes["also used as static: it shows every marker and the session has no static"].append(file.name)
        return [_row(owners[file.key], session, f"{trial}_as_static", file, "static", "static")]
    else:
        notes[NO_STATIC].append(session)
    return []


def participant_rows(
    trials: Sequence[Row],
    places: Places,
    files: Mapping[str, Contents],
    needed: Sequence[str],
    shown_by: Callable[[Sequence[Row]], EstimatedSizes],
) -> tuple[list[Row], list[Row]]:
    """Return the rows of participants.tsv, and of sessions.tsv for people with sessions of several visits or sizes.

    Such people have the sizes of each session in sessions.tsv, from its own files, and none in participants.tsv.
    ``shown_by`` is called if no file states the mass or a leg length that is needed.
    """
    sessions: dict[str, dict[str, list[Row]]] = defaultdict(dict)
    for row in trials:
        sessions[row["participant_id"]].setdefault(row.get("session", row["participant_id"]), []).append(row)
    people, visits = [], []
    sizes = {name: _sizes(rows, files, needed, shown_by) for mine in sessions.values() for name, rows in mine.items()}
    parted = {
        person
        for person, mine in sessions.items()
        if any(sizes[name] != sizes[next(iter(mine))] for name in mine) or len({*map(_visit_of, mine.values())}) > 1
    }
    for person, mine in sessions.items():
        has_rows = bool(parted) and (
            person in parted or any(_visit_of(rows) != ("n/a", "n/a") for rows in mine.values())
        )
        own = sizes[next(iter(mine))]
        own = dict.fromkeys(own, "n/a") | {"guessed": ""} if has_rows else own
        row = {"participant_id": person, "mass_kg": "n/a", "height_m": "n/a", "sex": "n/a"} | TO_FILL_IN | own
        people.append(row | {"guessed": f"participant_id {own['guessed']}".strip()})
        for session in sorted(mine, key=lambda name: places[name] or 0) if has_rows else ():
            about = dict(zip(("date", "visit"), _visit_of(mine[session]), strict=True))
            about["visit_number"] = str(places[session] or "n/a")
            found = " ".join(name for name, cell in about.items() if cell != "n/a")
            guessed = " ".join(f"participant_id session {found} {sizes[session]['guessed']}".split())
            row = {"participant_id": person, "session": session, **about, "assessor": "n/a"}
            visits.append(row | TO_FILL_IN | sizes[session] | {"guessed": guessed})
    empty = ("width_source", "leg_length_source", *(("mass_source", *needed) if visits else ()))
    return _without_empty(people, empty), _without_empty(visits, empty[:2])


def _visit_of(rows: Sequence[Row]) -> tuple[str, str]:
    """Return date and visit of the trials of a session."""
    date, visit = (rows[0].get(name) or "n/a" for name in ("date", "visit"))
    return date, visit


def _without_empty(rows: list[Row], columns: Sequence[str]) -> list[Row]:
    """Return rows without those of some columns that hold nothing."""
    empty = {name for name in columns if all(row[name] == "n/a" for row in rows)}
    return [{name: cell for name, cell in row.items() if name not in empty} for row in rows]


def _sizes(
    trials: Sequence[Row],
    files: Mapping[str, Contents],
    needed: Sequence[str],
    shown_by: Callable[[Sequence[Row]], EstimatedSizes],
) -> Row:
    """Return the cells of a person's sizes, by what the files of trials state and show; the static file wins."""
    sizes: dict[str, float] = {}
    for row in sorted(trials, key=lambda row: row["role"] == "static"):
        file = files[key_of(row["file"], row.get("subject", ""))]
        sizes |= {name: value for name, value in file.sizes.items() if _plausible(name, value)}
    source = "C3D file" if "mass_kg" in sizes else "n/a"
    legs = {name for name in needed if name.startswith("leg_length_")}
    shown = None if source != "n/a" and legs & sizes.keys() == legs else shown_by(trials)
    if shown and source == "n/a" and shown.mass_kg > 0:
        digits = 1 if "standing" in shown.mass_source else 0  # as exact as the plates, not as an even walk
        sizes["mass_kg"], source = round(shown.mass_kg, digits), f"estimate: {shown.mass_source}"
    by_mass = {name: width_of_mass(name, sizes["mass_kg"]) for name in needed if "mass_kg" in sizes}
    widths = {name: round(width, 3) for name, width in by_mass.items() if width and name not in sizes}
    by_markers = shown.leg_lengths_m if shown and not legs & sizes.keys() else {}  # a stated length serves both legs
    of_legs = {f"leg_length_{side}_m": round(length, 3) for side, length in by_markers.items()}
    lengths = {name: length for name, length in of_legs.items() if name in legs and _plausible(name, length)}
    sizes |= widths | lengths
    if source != "n/a":
        source = study_tables.source_of_mass(source, sizes["mass_kg"])
    columns = (*SIZE_RANGES, *needed)
    return {
        **{name: f"{sizes[name]:.6g}" if name in sizes else "n/a" for name in columns},
        "mass_source": source,
        "width_source": BY_MASS if widths else "n/a",
        "leg_length_source": BY_MARKERS if lengths else "n/a",
        "guessed": " ".join(name for name in columns if name in sizes),
    }


def _sessions(
    files: Sequence[Contents], owners: Mapping[str, Trial], model_name: str
) -> tuple[dict[tuple[str, str], list[Contents]], dict[str, str]]:
    """Return files by (participant, session), and the role of each file by its key."""
    labelled = any(trial_roles.shows_a_foot(file, model_name) for file in files)  # else no model has these labels
    roles = {
        file.key: trial_roles.guess_role(file, model_name, owners[file.key].parts.roles, labelled=labelled)
        for file in files
    }
    sessions = grouped(((owners[file.key].person, owners[file.key].session), file) for file in files)
    for mine in sessions.values():
        statics = [file for file in mine if roles[file.key] == "static"]
        for file in statics if any(file.stands for file in statics) else ():
            if file.shown.extent_m > WALKED_M:
                roles[file.key] = "gait"  # named neutral of a shoe, or st for a single task, beside a static
    return sessions, roles


def _row(owner: Trial, session: str, trial: str, file: Contents, role: str, condition: str) -> Row:
    subject = file.subject if file.has_several_people else ""
    guessed = "participant_id session role condition" + (" forces" if file.forces else "")
    guessed += "".join(f" {name}" for name in ("visit", "date") if getattr(owner, name))
    place = (owner.person, session, trial, file.name, file.forces, subject)
    cells = (*place, role, condition, owner.visit, owner.date, guessed)
    return dict(zip(TRIAL_CELLS, cells, strict=True))


def _gather_unread(notes: Notes, unread: Sequence[Contents]) -> None:
    """Put files that cannot be read for reasons of one kind, of which there are many, into one note with an example."""
    kinds: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for file in unread:
        reason = f"left out, {file.problems[0]._replace(where='')}"
        if reason in notes and reason not in (alike := kinds[kind_of(file.problems[0])]):
            alike.append(reason)
    for first, *others in kinds.values():
        if len(others) >= MOST_EXAMPLES:
            names = [name for reason in (first, *others) for name in notes.pop(reason)]
            notes[first.replace("left out, ", "left out, each for a reason such as ", 1)] = names


def _why_excluded(file: Contents, model_name: str) -> str:
    if file.problems:
        return f"left out, {file.problems[0]._replace(where='')}"
    if trial_roles.shows_a_foot(file, model_name):
        return "left out, neither standing nor walking by its name or motion"
    if not file.visible:
        return "left out, no marker is seen in it; export markers and forces into one file"
    return f"left out, no heel or toe marker of body model {model_name}"


def _plausible(column: str, value: float) -> bool:
    low, high = (SIZE_RANGES | study_tables.ANTHROPOMETRY_RANGES).get(column, (0, 2))
    return low <= value <= high
