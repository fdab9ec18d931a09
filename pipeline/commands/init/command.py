"""``gaitlab init``: the tables of a study, guessed from a folder of recordings.

Existing files are kept; rows for recordings that trials.tsv lacks are written beside it, to be appended. The column
``guessed`` of each table names the cells that were guessed.
"""

import csv
import io
import json
import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product, zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...body.body_model import BodyModel
from ...conventions import STANDARD_GRAVITY_M_S2
from ...errors import Problem, UserError, as_argument, find_hidden, gather_alike
from ...opensim_files import mot
from ...steps.read.recording_contents import Contents, look_through
from ...tables import tsv
from ...tables.csv_files import FORMULA
from ...tables.study_tables import MARKER_FILES
from ...tables.terminal_table import align, text_width
from ...tables.tsv import Row
from ...workflow import settings
from ...workflow.places import refuse_name
from ...workflow.strict_yaml import read_yaml
from ..shared import body_model_fit
from ..shared.body_model_fit import ModelFit
from ..shared.find_recordings import (
    find_copies,
    find_foreign_forces,
    find_unlisted,
    forces_in,
    recordings_in,
    unclaimed_tables,
)
from ..shared.same_motion import show_same_motion
from ..shared.trial_roles import identifiers
from .evidence import grouped
from .own_model import PROPOSAL, propose
from .people import people_and_sessions
from .table_rows import ASKED, NO_STATIC, EstimatedSizes, Notes, participant_rows, trial_rows

WRITTEN = ("participants.tsv", "trials.tsv", "study.yaml")
SESSIONS = "sessions.tsv"  # written if a person has several
MOST_LISTED = 5
MASS_ERROR = 0.06  # of estimates of one mass from plates, see walking_weights_n
MOST = 0.75  # share of estimates that agree; fewer mean several people, or steps off a plate
NO_MASS = "no body mass: no file states it, and no plates show it to 6 %. Fill in mass_kg: run rejects walks without it"

NOBODYS = "in no table: cannot be read, and neither folder nor name shows whose it is; see gaitlab check"
FOREIGN = "not used: forces in the form of another program; export C3D files, or MOT files with the forces"
DOUBLES = "left out, another form of a C3D file"
UNCLAIMED = {
    mot.FORCES: "forces of no recording: name the file in the column forces of trials.tsv, in the row of its TRC file",
    mot.POINTLESS: "not used: forces without points of application",
    mot.OTHERS: "not used: tables without ground reaction forces, such as joint angles or orientations",
}

BANDS_COST_S = 4  # of one core, for 200 draws of a walk of some 350 frames (docs/uncertainty.md)
OWN_MODEL_ADVICE = (f"Complete {PROPOSAL}, which extends it, and enter it as body_model in study.yaml.",)
KEYPOINTS = frozenset(f"{side}{joint}" for side in "rl" for joint in ("hip", "knee", "ankle"))
KEYPOINTS_ADVICE = (
    "These are keypoints of a pose estimator: joint centres alone do not show how segments are turned. Give the file",
    "with augmented markers, of Pose2Sim ..._LSTM.trc, of OpenCap MarkerData; its body model is opencap.",
)

Models = Mapping[str, BodyModel]


class Proposal(NamedTuple):
    """The tables of a study as its recordings give them."""

    files: Sequence[Contents]
    fits: Mapping[str, ModelFit]  # of body models, the best first
    rows: Sequence[Row]  # of trials.tsv
    people: Sequence[Row]  # of participants.tsv
    visits: Sequence[Row]  # of sessions.tsv
    notes: Notes

    @property
    def shown(self) -> list[Row]:
        """The rows of trials.tsv, without people that are asked."""
        asked = self.notes[ASKED]
        return [row | ({"participant_id": "n/a"} if row["participant_id"] in asked else {}) for row in self.rows]


def initialise(folder: Path) -> str:
    """Write the missing ones of participants.tsv, trials.tsv, study.yaml and, if a person has several, sessions.tsv.

    Args:
        folder: holds C3D files, or TRC and MOT files, at any depth, under any names.

    Returns:
        A summary of the files found, the guesses and the next command. If all three exist: of the recordings that
        trials.tsv lacks, and of the tables new_trials.tsv, new_participants.tsv, new_sessions.tsv with rows for them.

    Raises:
        UserError: no such folder, one in which no run works or that cannot be written to, no recording in it, or none
            that can be read.
    """
    if not folder.is_dir():
        raise UserError(str(folder), "no such folder", "give the folder that holds the recordings")
    refuse_name(folder)
    kept = [name for name in WRITTEN if (folder / name).exists()]
    unlisted = find_unlisted(folder) if len(kept) == len(WRITTEN) else []
    if len(kept) == len(WRITTEN) and not unlisted:
        return f"{', '.join(WRITTEN)} exist already: nothing written.\n{_next(folder)}"
    models = _candidates(folder)
    found = _propose(folder, models)
    if unlisted:
        return _propose_rows(folder, unlisted, found)
    texts = {"participants.tsv": _table(found.people), "trials.tsv": _table(found.shown)}
    texts |= {"study.yaml": _study_text(found.fits, found.files)}
    texts |= {SESSIONS: _table(found.visits)} if found.visits else {}
    if not (next(iter(found.fits.values())).essential or len(models) == 1 or _are_keypoints(found.files)):
        nearest = body_model_fit.find_nearest(found.fits)
        labels = {label for file in found.files for label in file.visible}
        texts[PROPOSAL] = propose(nearest, models[nearest], found.fits[nearest].lacking, labels)
    kept = [name for name in texts if (folder / name).exists()]
    for name in texts.keys() - {*kept}:
        _write(folder / name, texts[name])
    return _summary(folder, found, kept, texts)


def _propose(folder: Path, models: Models) -> Proposal:
    """Return the tables that the recordings of a folder give."""
    files, nobodys = _without_nobodys(_files(folder, models))
    files, doubles = _without_doubles(files)
    owners = [one for one in people_and_sessions(files) if not one.file.problems]
    sessions = [*grouped(((one.person, one.session), one.file) for one in owners).values()]
    fits = body_model_fit.fits(sessions, models)
    shipped = settings.shipped_body_models()  # a model of one's own counts where it fits
    fits = {name: fit for name, fit in fits.items() if fit.essential or name in shipped or len(models) == 1}
    model = next(iter(fits))
    rows, places, notes = trial_rows(files, model, models, find_copies(folder, [file.name for file in files]))
    for other, names in body_model_fit.strangers(sessions, models, model).items():
        for listed in notes.values():
            listed[:] = [name for name in listed if name not in names]
        notes[f"for body model {other}, not {model}: move them together to another study"] = names
    notes[NOBODYS], notes[DOUBLES] = nobodys, [*doubles]
    unclaimed = unclaimed_tables(folder, {file.forces for file in files})
    notes |= {UNCLAIMED[holds]: tables for holds, tables in unclaimed.items()}
    notes[FOREIGN] = find_foreign_forces(folder, [file.name for file in files if not file.forces])
    is_proposed = fits[model].essential or len(models) == 1
    needed = body_model_fit.find_needed_sizes(model, models[model], sessions) if is_proposed else []
    by_key = {file.key: file for file in files}
    people, visits = participant_rows(
        rows, places, by_key, needed, lambda of: _estimate_sizes(folder, of, models[model])
    )
    return Proposal(files, fits, [*rows, *_rows_of_doubles(rows, doubles)], people, visits, notes)


def _propose_rows(folder: Path, unlisted: Sequence[str], found: Proposal) -> str:
    """Write rows for unlisted recordings, as guessed and without people that are asked, with the study's columns."""
    new_trials = [row for row in found.shown if row["file"] in unlisted]
    owners = {row["participant_id"] for row in found.rows if row["file"] in unlisted}
    listed = {row.get("session", "") for row in tsv.read_table(folder / "trials.tsv", required=("file",))}
    sessions = {row.get("session", "") for row in new_trials} - listed
    written, lacking, has_visits = [], list[str](), (folder / SESSIONS).exists()
    for name, key, proposed in (
        ("participants.tsv", "participant_id", [row for row in found.people if row["participant_id"] in owners]),
        ("trials.tsv", "file", new_trials),
        (SESSIONS, "session", [row for row in found.visits if row["session"] in sessions]),
    ):
        rows_of_study = tsv.read_table(folder / name, required=("participant_id",)) if (folder / name).exists() else []
        present = {row.get(key) for row in rows_of_study}
        header = dict.fromkeys(next(iter(rows_of_study), {}), "n/a")
        (folder / f"new_{name}").unlink(missing_ok=True)
        if added := [header | row for row in proposed if row[key] not in present]:
            if header and "guessed" not in header:
                added = [{column: cell for column, cell in row.items() if column != "guessed"} for row in added]
            _write(folder / f"new_{name}", _table(added))
            written.append(f"new_{name}")
            if header and (further := [column for column in added[0] if column not in header]):
                lacking.append(f"{name} lacks {', '.join(further)}: first add this to the end of its header.")
    lines = [
        f"Recordings in no row of trials.tsv: {len(unlisted)}. Nothing else is changed.",
        f"Written: {', '.join(written)}. Check the rows, then append them to the tables without 'new_' in their names.",
        *lacking,
    ]
    if f"new_{SESSIONS}" in written and not has_visits:
        lines.append(f"There is no {SESSIONS} yet: rename new_{SESSIONS}.")
    if any(row["participant_id"] == "n/a" for row in new_trials):
        lines.append(f"{ASKED[0].upper()}{ASKED[1:]}.")
    return "\n".join([*lines, _next(folder)])


def _candidates(folder: Path) -> dict[str, BodyModel]:
    """Return the shipped body models and those of the folder, or the one that an existing study.yaml names."""
    study = read_yaml(folder / "study.yaml") if (folder / "study.yaml").exists() else {}
    names = [*settings.shipped_body_models()]
    for name in sorted(path.name for path in folder.iterdir() if path.suffix.lower() in (".yaml", ".yml")):
        with suppress(UserError, OSError):  # of other programs
            names += [name] if read_yaml(folder / name).keys() & {"landmarks", "extends"} else []
    names = [str(study["body_model"])] if study.get("body_model") else names
    return {name: settings.load_body_model(name, where="study.yaml", study_path=folder) for name in names}


def _files(folder: Path, models: Models) -> list[Contents]:
    """Return what every recording contains, once for each person in it; refuse names that no table can hold."""
    names = recordings_in(folder)
    forces = forces_in(folder, names)
    if strange := {name: find_hidden(name) or "\\" for name in names if find_hidden(name) or "\\" in name}:
        raise UserError.of(
            Problem(name, f"its name has a character that no table can hold, {character}", "rename it")
            for name, character in strange.items()
        )
    files = [
        replace(file, forces=forces.get(name, ""))
        for name, following in zip_longest(names, names[1:], fillvalue="")
        for file in _look_through_all(folder, name, models, following)
    ]
    if all(file.problems for file in files):
        what = f"none of its {len(files)} recordings can be read"
        first = [file.problems[0] for file in files]
        # with nothing before the colon, so that those of all files are gathered
        alike = gather_alike(problem._replace(where=f":{problem.where}") for problem in first)
        alike = [problem._replace(where=problem.where.removeprefix(":") or str(folder)) for problem in alike]
        raise UserError.of([*alike, Problem(str(folder), what, "export them again")])
    return files


def _without_nobodys(files: Sequence[Contents]) -> tuple[list[Contents], list[str]]:
    """Return the files without those that cannot be read and show no person by their place, and the names of these."""
    trials = people_and_sessions(files)
    known = {one.person for one in trials if not one.file.problems}
    nobodys = [one.file.name for one in trials if one.file.problems and one.asked and one.person not in known]
    return [file for file in files if file.name not in nobodys], nobodys


def _without_doubles(files: Sequence[Contents]) -> tuple[list[Contents], dict[str, str]]:
    """Return the files without TRC files that show the motion of a C3D file, and these with that C3D file."""
    texts = [file for file in files if file.name.lower().endswith(MARKER_FILES)]
    others = [file for file in files if not file.name.lower().endswith(MARKER_FILES)]
    pairs = product(texts, others)
    lossless = ((text, other) for text, other in pairs if other.plate_sides_m or not text.forces)  # no force is lost
    doubles = {text.name: other.name for text, other in lossless if show_same_motion(text, other)}
    return [file for file in files if file.name not in doubles], doubles


def _rows_of_doubles(rows: Sequence[Row], doubles: Mapping[str, str]) -> list[Row]:
    """Return a row that leaves out each TRC file, like that of the C3D file that shows the same motion."""
    first = {row["file"]: row for row in reversed(rows)}
    used = grouped((_session_of(row), row["trial"]) for row in rows)
    left_out = []
    for name, of in doubles.items():
        trials = used[_session_of(first[of])]
        text = f"{first[of]['trial']}_{Path(name).suffix[1:]}"
        trials.append(identifiers({name: text}, "trial", used=trials)[name])
        left_out.append(first[of] | {"trial": trials[-1], "file": name, "role": "exclude", "condition": "n/a"})
    return left_out


def _session_of(row: Row) -> str:
    return row.get("session", row["participant_id"])


def _look_through_all(folder: Path, name: str, models: Models, following: str) -> list[Contents]:
    """Return what a file contains, once for each person in it; one that fails for any only with its problem."""
    first = look_through(folder, name, models, following=following)
    if not (first.problems and first.has_several_people):
        return [first]
    people = [look_through(folder, name, models, subject=subject) for subject in first.recording.subjects]
    return next(([Contents(name, problems=one.problems)] for one in people if one.problems), people)


def _estimate_sizes(folder: Path, rows: Sequence[Row], model: BodyModel) -> EstimatedSizes:
    """Return body mass and leg lengths by plates and markers: standing, else walking."""
    by_role: dict[str, list[Contents]] = defaultdict(list)
    for row in rows:
        if row["role"] in ("static", "gait"):
            person = {name: row.get(name, "") for name in ("forces", "subject")}
            one = look_through(folder, row["file"], {model.name: model}, **person)
            if not one.problems:  # else its plates cannot be understood; check reports it
                by_role[row["role"]].append(one)
    lengths = grouped(of_side for one in by_role["static"] or by_role["gait"] for of_side in one.leg_lengths_m.items())
    legs = {side: float(np.median(of_side)) for side, of_side in lengths.items()}
    standing_n = [one.shown.standing_weight_n for one in by_role["static"] if one.shown.standing_weight_n > 0]
    walking_n = [weight_n for walk in by_role["gait"] for weight_n in walk.shown.walking_weights_n]
    for source, weights_n in (("plates, standing", standing_n), ("plates, walking, within 6 %", walking_n)):
        middle_n = float(np.median(weights_n)) if weights_n else np.nan
        agreeing = [weight_n for weight_n in weights_n if abs(weight_n / middle_n - 1) <= MASS_ERROR]
        if agreeing and len(agreeing) >= MOST * len(weights_n):
            return EstimatedSizes(middle_n / STANDARD_GRAVITY_M_S2, source, legs)
    return EstimatedSizes(np.nan, "", legs)


def _study_text(fits: Mapping[str, ModelFit], files: Sequence[Contents]) -> str:
    model, fit = next(iter(fits.items()))
    table = body_model_fit.as_table(fits, width=110).splitlines()
    guess = ["Guess: the body model that fits the files best (markers, and sizes for its joint centres)."]
    lines = [
        "# Settings that differ from config/default.yaml; config/settings.schema.yaml describes them all.",
        "",
        *(f"# {line}" for line in (guess if fit.essential else _advice(fits, files, width=110))),
        *(f"#   {line}" for line in table),
        f"body_model: {model if model.isidentifier() else json.dumps(model)}" if fit.essential else "body_model:",
        "",
        f"# kinetics: {{uncertainty_draws: 200}}  # error bands; costs about {BANDS_COST_S} s a walk",
        "",
    ]
    return "\n".join(lines)


def _table(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter="\t", lineterminator="\n")
    writer.writeheader()
    for row in rows:  # a spreadsheet would run a file name that looks like a formula
        file = row.get("file", "")
        writer.writerow(row | ({"file": f"./{file}"} if file.startswith(FORMULA) else {}))
    return text.getvalue()


def _write(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8", newline="") as handle:
            handle.write(text)
    except OSError as error:
        what = f"cannot be written ({error.strerror})"
        raise UserError(str(path), what, "give a folder that you may write to") from None


def _summary(folder: Path, found: Proposal, kept: Sequence[str], texts: Iterable[str]) -> str:
    """Return what was found and guessed."""
    width = text_width()
    sessions = grouped((_session_of(row), row) for row in found.rows)
    people = {row["participant_id"] for row in found.rows}
    have_visits = {row["participant_id"] for row in found.visits}
    sized = {row["session"]: row for row in found.visits}  # the rows with sizes
    sized |= {row["participant_id"]: row for row in found.people if row["participant_id"] not in have_visits}
    without_mass = [
        name for name, row in sized.items() if row["mass_kg"] == "n/a" and name not in found.notes[NO_STATIC]
    ]
    new = ", ".join(name for name in texts if name not in kept)
    file_count = len({row["file"] for row in found.rows})
    lines = [
        f"Recordings: {file_count}, participants: {len(people)}, sessions: {len(sessions)}",
        "",
        align(_session_table(sessions, sized), width=width),
        "",
        body_model_fit.as_table(found.fits, width=width),
        *_advice(found.fits, found.files, width=width),
        "",
        *_list_notes(found.notes | {NO_MASS: without_mass}, width=width),
        f"Written: {new}." + (f" Not changed: {', '.join(kept)}." if kept else ""),
        "Check the guesses: the cells that the column 'guessed' names, and the body model in study.yaml.",
        "Fill in what you know: sex, and each n/a.",
    ]
    if SESSIONS in texts:
        sizes = f"{SESSIONS} has the sizes of each session, by its own files"
        lines.append(f"{sizes}: fill in its date and visit (pre, post).")
    return "\n".join([*lines, _next(folder)])


def _session_table(sessions: Mapping[str, Sequence[Row]], sized: Mapping[str, Row]) -> list[list[str]]:
    """Return the table of sessions; with the first file of each if an id stands for another name."""
    table = [["session", "static trial", "gait", "functional", "left out", "mass_kg", "mass from", "height_m"]]
    files = {session: [mine[0]["file"]] for session, mine in sessions.items()}
    are_told = all(mine[0]["participant_id"].lower() in files[session][0].lower() for session, mine in sessions.items())
    table[0] += [] if are_told else ["first file"]
    for session, mine in sessions.items():
        count = Counter(row["role"] for row in mine)
        static = next((row["trial"] for row in mine if row["role"] == "static"), "none")
        person = sized.get(session) or sized[mine[0]["participant_id"]]
        counts = (str(count[role]) for role in ("gait", "functional", "exclude"))
        mass_kg, source = person["mass_kg"], person.get("mass_source", "n/a")
        table.append([session, static, *counts, mass_kg, source.removesuffix(f", {mass_kg} kg"), person["height_m"]])
        table[-1] += [] if are_told else files[session]
    return table


def _advice(fits: Mapping[str, ModelFit], files: Sequence[Contents], *, width: int) -> list[str]:
    """Return the proposed body model, or why there is none and the labels that one must name."""
    model, fit = next(iter(fits.items()))
    if fit.essential:
        return [f"Body model: {model}."]
    labels = sorted({label for file in files for label in file.visible})
    return [
        "Body model: none fits: none finds pelvis, knee, ankle and foot by their labels.",
        *textwrap.wrap(f"{body_model_fit.describe_nearest(fits)}.", width),
        *(KEYPOINTS_ADVICE if _are_keypoints(files) else OWN_MODEL_ADVICE),
        "Labels found:",
        *textwrap.wrap(", ".join(labels), width=width, initial_indent="  ", subsequent_indent="  "),
    ]


def _are_keypoints(files: Sequence[Contents]) -> bool:
    """Return whether the labels are those of a pose estimator."""
    labels = {label.casefold() for file in files for label in file.visible}
    return {re.sub(r"[\W_]|(?<=^r)ight|(?<=^l)eft", "", label) for label in labels} >= KEYPOINTS


def _list_notes(notes: Notes, *, width: int) -> list[str]:
    lines = []
    for text, names in ((text, names) for text, names in notes.items() if names):
        more = len(names) - MOST_LISTED
        lines += textwrap.wrap(f"{text[0].upper()}{text[1:]}:", width)
        lines += [f"  {name}" for name in names[:MOST_LISTED]]
        lines += [f"  and {more} more"] if more > 0 else []
    return [*lines, ""] if lines else []


def _next(folder: Path) -> str:
    return f"Next: gaitlab check {as_argument(folder)}"
