"""``gaitlab init``: the tables of a study, guessed from a folder of recordings.

Existing files are kept; rows for recordings that trials.tsv lacks are written beside it, to be appended. The column
``guessed`` of each table names the cells that were guessed.
"""

from __future__ import annotations

import csv
import io
import re
import shlex
import textwrap
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...body.body_model import BodyModel
from ...body.landmarks import seen_labels
from ...c3d.reader import Recording, anthropometry, static_results
from ...conventions import STANDARD_GRAVITY_M_S2
from ...errors import Problem, UserError, hidden_in
from ...person.marker_travel import extent_m
from ...tables import tsv
from ...tables.csv_files import FORMULA
from ...tables.terminal_table import aligned, text_width
from ...tables.tsv import Row
from ...vocabulary.marker_labels import SeveralSubjectsError
from ...workflow import settings
from ..recording_facts import Facts, facts_in, failure_of, opened, seen_landmarks
from ..recording_files import forces_in, recordings_in, unlisted_recordings
from . import body_model_fit
from .body_model_fit import ModelFit
from .people import people_and_sessions
from .table_rows import EstimatedSizes, Notes, participant_rows, trial_rows
from .trial_roles import File

WRITTEN = ("participants.tsv", "trials.tsv", "study.yaml")
MOST_LISTED = 5
MASS_ERROR = 0.06  # of estimates of one mass from plates, see walking_weights_n
MOST = 0.75  # share of estimates that agree; fewer mean several people, or steps off a plate
NO_MASS = "no body mass: no file states it, and no plates show it to 6 %. Fill in mass_kg"

OWN_MODEL_ADVICE = ("Write one that names yours (docs/body_models.md) and enter it as body_model in study.yaml.",)
KEYPOINTS = frozenset(f"{side}{joint}" for side in "rl" for joint in ("hip", "knee", "ankle"))
KEYPOINTS_ADVICE = (
    "These are keypoints of a pose estimator: joint centres alone do not show how segments are turned. Give the file",
    "with augmented markers, of Pose2Sim ..._LSTM.trc, of OpenCap MarkerData; its body model is opencap.",
)

Models = Mapping[str, BodyModel]


def initialise(folder: Path) -> str:
    """Write the missing ones of participants.tsv, trials.tsv and study.yaml.

    Args:
        folder: holds C3D files, or TRC and MOT files, at any depth, under any names.

    Returns:
        A summary of the files found, the guesses and the next command. If all three exist: of the recordings that
        trials.tsv lacks, and of the tables new_trials.tsv and new_participants.tsv with rows for them.

    Raises:
        UserError: no such folder, no recording in it, none that can be read, or a folder that cannot be written to.
    """
    if not folder.is_dir():
        raise UserError(str(folder), "no such folder", "give the folder that holds the recordings")
    kept = [name for name in WRITTEN if (folder / name).exists()]
    unlisted = unlisted_recordings(folder) if len(kept) == len(WRITTEN) else []
    if len(kept) == len(WRITTEN) and not unlisted:
        return f"{', '.join(WRITTEN)} exist already: nothing written.\n{_next(folder)}"
    models = _candidates(folder)
    files = _files(folder, models)
    sessions = _readable_sessions(files)
    fits = body_model_fit.fits(sessions, models)
    model = next(iter(fits))
    proposed = fits[model].essential or len(models) == 1
    rows, notes = trial_rows(files, model, models)
    for other, names in body_model_fit.strangers(sessions, models, model).items():
        notes = {text: [name for name in listed if name not in names] for text, listed in notes.items()}
        notes[f"markers of body model {other}, not of {model}: move them to another study"] = names
    people = participant_rows(
        rows,
        {file.key: file for file in files},
        body_model_fit.needed_sizes(model, models[model], sessions) if proposed else [],
        lambda mine: _shown_by(folder, mine, models[model]),
    )
    if unlisted:
        return _proposed(folder, unlisted, rows, people)
    notes[NO_MASS] = [row["participant_id"] for row in people if row["mass_kg"] == "n/a"]
    texts = {"participants.tsv": _table(people), "trials.tsv": _table(rows), "study.yaml": _study_text(fits, files)}
    for name in WRITTEN:
        if name not in kept:
            _write(folder / name, texts[name])
    return _summary(folder, rows, people, notes, fits, files, kept)


def _proposed(folder: Path, unlisted: Sequence[str], rows: Sequence[Row], people: Sequence[Row]) -> str:
    """Write rows for unlisted recordings, and for their people, as tables with the study's columns."""
    new_trials = [row for row in rows if row["file"] in unlisted]
    owners = {row["participant_id"] for row in new_trials}
    written = []
    for name, key, proposed in (
        ("participants.tsv", "participant_id", [row for row in people if row["participant_id"] in owners]),
        ("trials.tsv", "file", new_trials),
    ):
        own = tsv.read_table(folder / name, required=(key,))
        known = {row[key] for row in own}
        columns = dict.fromkeys([*(own or proposed)[0], *proposed[0]], "n/a")
        if added := [columns | row for row in proposed if row[key] not in known]:
            (folder / f"new_{name}").unlink(missing_ok=True)
            _write(folder / f"new_{name}", _table(added))
            written.append(f"new_{name}")
    lines = [
        f"Recordings in no row of trials.tsv: {len(unlisted)}. Nothing else is changed.",
        f"Written: {', '.join(written)}. Check the rows, then append them to the tables without 'new_' in their names.",
    ]
    return "\n".join([*lines, _next(folder)])


def _candidates(folder: Path) -> dict[str, BodyModel]:
    """Return the shipped body models, or the one that an existing study.yaml names."""
    own = settings.read_yaml(folder / "study.yaml") if (folder / "study.yaml").exists() else {}
    names = [str(own["body_model"])] if own.get("body_model") else settings.shipped_body_models()
    return {name: settings.load_body_model(name, where="study.yaml", study_path=folder) for name in names}


def _files(folder: Path, models: Models) -> list[File]:
    """Return the facts of every recording.

    Raises:
        UserError: a name that no table can hold, or no file can be read.
    """
    names = recordings_in(folder)
    forces = forces_in(folder, names)
    if strange := {name: hidden_in(name) or "\\" for name in names if hidden_in(name) or "\\" in name}:
        raise UserError.of(
            Problem(name, f"its name has a character that no table can hold, {character}", "rename it")
            for name, character in strange.items()
        )
    files = [replace(file, forces=forces.get(name, "")) for name in names for file in _look(folder, name, models)]
    if all(file.problem for file in files):
        problems = [file.problem for file in files if file.problem]
        what = f"none of its {len(files)} recordings can be read"
        raise UserError.of([*problems, Problem(str(folder), what, "export them again")])
    return files


def _readable_sessions(files: Sequence[File]) -> list[list[File]]:
    """Return the readable files by person and session."""
    sessions: dict[tuple[str, str], list[File]] = defaultdict(list)
    for file, key in zip(files, people_and_sessions(files), strict=True):
        if not file.problem:
            sessions[key].append(file)
    return list(sessions.values())


def _look(folder: Path, name: str, models: Models) -> list[File]:
    """Return the facts of a file, once for each person in it; a file that fails in any way has only its problem."""
    try:
        try:
            return [_seen(folder, name, models)]
        except SeveralSubjectsError as error:
            subjects = error.subjects
        return [
            replace(_seen(folder, name, models, subject=subject), subject=subject, shared=True) for subject in subjects
        ]
    except UserError as error:
        return [File(name, problem=error.problems[0])]


def _seen(folder: Path, name: str, models: Models, *, subject: str = "") -> File:
    recording = opened(folder, name, subject=subject)
    try:
        return _file_of(name, recording, models)
    except Exception as error:  # a failing file costs no other file
        raise failure_of(folder / name, error) from None


def _file_of(name: str, recording: Recording, models: Models) -> File:
    subjects = [text.strip() for text in recording.subject_names if text.strip()]
    return File(
        name,
        frame_count=len(recording.markers),
        extent_m=extent_m(recording.markers),
        labels=tuple(seen_labels(recording.labels, recording.markers)),
        seen={label: frozenset(seen_landmarks(model, recording)) for label, model in models.items()},
        stated=bool(static_results(recording.processing)),
        sizes=anthropometry(recording.processing),
        subject=subjects[0] if len(subjects) == 1 else recording.owner,
    )


def _shown_by(folder: Path, rows: Sequence[Row], model: BodyModel) -> EstimatedSizes:
    """Return body mass and leg lengths by plates and markers: standing, else walking."""
    facts: dict[str, list[Facts]] = defaultdict(list)
    for row in rows:
        if row["role"] in ("static", "gait"):
            with suppress(UserError):  # its plates cannot be understood; check reports it
                facts[row["role"]].append(
                    facts_in(folder, row["file"], model, forces=row.get("forces", ""), subject=row.get("subject", ""))
                )
    lengths: dict[str, list[float]] = defaultdict(list)
    for one in facts["static"] or facts["gait"]:
        for side, length in one.leg_lengths_m.items():
            lengths[side].append(length)
    legs = {side: float(np.median(of_side)) for side, of_side in lengths.items()}
    standing_n = [static.shown.standing_weight_n for static in facts["static"]]
    for source, weights_n in (
        ("plates, standing", [weight_n for weight_n in standing_n if weight_n > 0]),
        ("plates, walking, within 6 %", [weight for walk in facts["gait"] for weight in walk.shown.walking_weights_n]),
    ):
        middle_n = float(np.median(weights_n)) if weights_n else np.nan
        agreeing = [weight_n for weight_n in weights_n if abs(weight_n / middle_n - 1) <= MASS_ERROR]
        if agreeing and len(agreeing) >= MOST * len(weights_n):
            return EstimatedSizes(middle_n / STANDARD_GRAVITY_M_S2, source, legs)
    return EstimatedSizes(np.nan, "", legs)


def _study_text(fits: Mapping[str, ModelFit], files: Sequence[File]) -> str:
    model, fit = next(iter(fits.items()))
    table = body_model_fit.as_table(fits, width=110).splitlines()
    guess = ["Guess: the body model that fits the files best (markers, and sizes for its joint centres)."]
    lines = [
        "# Settings that differ from config/default.yaml; config/settings.schema.yaml describes them all.",
        "",
        *(f"# {line}" for line in (guess if fit.essential else _advice(fits, files, width=110))),
        *(f"#   {line}" for line in table),
        f"body_model: {model}" if fit.essential else "body_model:",
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


def _summary(
    folder: Path,
    rows: Sequence[Row],
    people: Sequence[Row],
    notes: Notes,
    fits: Mapping[str, ModelFit],
    files: Sequence[File],
    kept: Sequence[str],
) -> str:
    width = text_width()
    sessions: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        sessions[row.get("session", row["participant_id"])].append(row)
    new = ", ".join(name for name in WRITTEN if name not in kept)
    file_count = len({row["file"] for row in rows})
    lines = [
        f"Recordings: {file_count}, participants: {len(people)}, sessions: {len(sessions)}",
        "",
        aligned(_session_table(sessions, {row["participant_id"]: row for row in people}), width=width),
        "",
        body_model_fit.as_table(fits, width=width),
        *_advice(fits, files, width=width),
        "",
        *_listed(notes, width=width),
        f"Written: {new}." + (f" Not changed: {', '.join(kept)}." if kept else ""),
        "Check the guesses: the cells that the column 'guessed' names, and the body model in study.yaml.",
        "Fill in what you know: sex, and each n/a.",
    ]
    if not all(re.search(r"\d", row["participant_id"]) for row in people):
        lines.append("Participant ids come from folder names: change them if they are names of people.")
    return "\n".join([*lines, _next(folder)])


def _session_table(sessions: Mapping[str, Sequence[Row]], people: Mapping[str, Row]) -> list[list[str]]:
    table = [["session", "static trial", "gait", "functional", "left out", "mass_kg", "mass from", "height_m"]]
    for session, mine in sessions.items():
        count = Counter(row["role"] for row in mine)
        static = next((row["trial"] for row in mine if row["role"] == "static"), "none")
        person = people[mine[0]["participant_id"]]
        counts = (str(count[role]) for role in ("gait", "functional", "exclude"))
        table.append([session, static, *counts, *(person[name] for name in ("mass_kg", "mass_source", "height_m"))])
    return table


def _advice(fits: Mapping[str, ModelFit], files: Sequence[File], *, width: int) -> list[str]:
    """Return the proposed body model, or why there is none and the labels that one must name."""
    model, fit = next(iter(fits.items()))
    if fit.essential:
        return [f"Body model: {model}."]
    labels = sorted({label for file in files for label in file.labels})
    short = {re.sub(r"[\W_]|(?<=^r)ight|(?<=^l)eft", "", label.casefold()) for label in labels}
    return [
        "Body model: none fits: none finds pelvis, knee, ankle and foot by their labels.",
        *(KEYPOINTS_ADVICE if short >= KEYPOINTS else OWN_MODEL_ADVICE),
        "Labels found:",
        *textwrap.wrap(", ".join(labels), width=width, initial_indent="  ", subsequent_indent="  "),
    ]


def _listed(notes: Notes, *, width: int) -> list[str]:
    lines = []
    for text, names in notes.items():
        if not names:
            continue
        more = len(names) - MOST_LISTED
        lines += textwrap.wrap(f"{text[0].upper()}{text[1:]}:", width)
        lines += [f"  {name}" for name in names[:MOST_LISTED]]
        lines += [f"  and {more} more"] if more > 0 else []
    return [*lines, ""] if lines else []


def _next(folder: Path) -> str:
    return f"Next: gaitlab check {shlex.quote(str(folder))}"
