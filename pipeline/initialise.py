"""``python -m pipeline init``: the tables of a study, guessed from a folder of C3D files.

Nothing that exists is overwritten. The column ``guessed`` of each table names the cells that were guessed.
"""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline import guesses, needs, read, settings
from pipeline.c3d import read_c3d
from pipeline.errors import UserError
from pipeline.guesses import File
from pipeline.tables import Row
from pipeline.text_table import aligned

WRITTEN = ("participants.tsv", "trials.tsv", "study.yaml")
PLAUSIBLE = {"mass_kg": (2, 400), "height_m": (0.3, 2.6)}
TRIAL_CELLS = ("participant_id", "session", "trial", "file", "role", "condition", "guessed")
AS_GOOD = 0.05  # models whose share of markers found differs by less fit alike; the one with more markers wins
POOR = 0.8
MOST_LISTED = 5
WIDTH = 110

Models = Mapping[str, Mapping[str, Any]]
Notes = dict[str, list[str]]


def initialise(folder: Path) -> str:
    """Write those of participants.tsv, trials.tsv and study.yaml that a folder lacks.

    Args:
        folder: holds C3D files at any depth, under any names.

    Returns:
        A summary: what was found, what was guessed, what to do next.

    Raises:
        UserError: no such folder, no C3D file in it, none that can be read, or it cannot be written to.
    """
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder")
    kept = [name for name in WRITTEN if (folder / name).exists()]
    if len(kept) == len(WRITTEN):
        return f"{', '.join(WRITTEN)} are there already: nothing written.\n{_next(folder)}"
    models = _candidates(folder)
    files = [_look(folder, name, models) for name in c3d_files(folder)]
    if all(file.problem for file in files):
        lines = [f"{file.name}: {file.problem}" for file in files]
        raise UserError("\n".join([*lines, f"{folder}: none of its {len(files)} C3D files can be read"]))
    fits = _fits(files, models)
    model = _best_model(fits, models)
    rows, notes = _trials(files, model, models[model])
    people = _participants(rows, {file.name: file for file in files}, model, models[model])
    texts = {"participants.tsv": _table(people), "trials.tsv": _table(rows), "study.yaml": _study_text(model, fits)}
    for name in WRITTEN:
        if name not in kept:
            _write(folder / name, texts[name])
    return _summary(folder, rows, people, notes, f"{model}. {_fit_text(model, fits)}", kept)


def c3d_files(folder: Path) -> list[str]:
    """Return the C3D files in and below a study, relative to it, in order.

    Raises:
        UserError: there are none.
    """
    names = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.suffix.lower() == ".c3d" and path.is_file() and path.resolve().is_relative_to(folder.resolve())
    )
    names = [name for name in names if not name.startswith(("derived/", "."))]
    if not names:
        raise UserError(f"{folder}: no C3D files there or in folders below; give the folder that holds the recordings")
    return names


def _candidates(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the shipped body models, or the one that an existing study.yaml names."""
    own = settings.read_yaml(folder / "study.yaml") if (folder / "study.yaml").exists() else {}
    names = [str(own["body_model"])] if own.get("body_model") else settings.shipped_body_models()
    return {name: settings.load_body_model(name, where="study.yaml", study_path=folder) for name in names}


def _look(folder: Path, name: str, models: Models) -> File:
    try:
        recording = read_c3d(folder / name)
    except UserError as error:
        return File(name, problem=str(error).removeprefix(f"{folder / name}: "))
    return File(
        name,
        frame_count=len(recording.markers),
        extent_m=needs.extent_m(recording.markers),
        seen={label: frozenset(needs.seen_landmarks(model, recording)) for label, model in models.items()},
        sizes=read.anthropometry(recording.processing),
    )


def _fits(files: Sequence[File], models: Models) -> dict[str, float]:
    """Return, by body model, the share of what it needs that the readable files show on average; the best first."""
    readable = [file for file in files if not file.problem]
    fits = {}
    for name, model in models.items():
        static = frozenset[str]().union(*(file.seen[name] for file in readable if file.stands))
        shares = []
        for file in readable:
            lacking, needed = (
                needs.lacking_when_static(model, seen) if file.stands else needs.lacking_in_motion(model, seen, static)
                for seen in (file.seen[name], ())
            )
            shares.append(1 - len(lacking) / len(needed))
        fits[name] = sum(shares) / len(shares)
    return dict(sorted(fits.items(), key=lambda item: -item[1]))


def _best_model(fits: Mapping[str, float], models: Models) -> str:
    good = [name for name, share in fits.items() if share > max(fits.values()) - AS_GOOD]
    return max(good, key=lambda name: len(models[name]["landmarks"]))


def _trials(files: Sequence[File], model_name: str, model: Mapping[str, Any]) -> tuple[list[Row], Notes]:
    """Return the rows of trials.tsv; and, by what is to be said, the files or sessions it is said about."""
    rows: list[Row] = []
    notes: Notes = defaultdict(list)
    sessions: dict[tuple[str, str], list[File]] = defaultdict(list)
    for file, key in zip(files, guesses.people_and_sessions(files), strict=True):
        sessions[key].append(file)
    labelled = any(file.shows_a_foot(model_name) for file in files)  # else the labels are yet to be named
    for (person, session), mine in sessions.items():
        roles = {file.name: guesses.role(file, model_name, labelled=labelled) for file in mine}
        static = guesses.best_static([file for file in mine if roles[file.name] == "static"], model_name, model)
        for file, trial in zip(mine, guesses.trial_names(mine), strict=True):
            role = roles[file.name]
            if file.problem:
                notes[f"left out, {file.problem}"].append(file.name)
            elif role == "exclude":
                notes[f"left out, no heel and toe markers of body model {model_name}"].append(file.name)
            elif role == "static" and file is not static:
                role = "exclude"
                notes["left out, another static serves the session (for both, give each a session)"].append(file.name)
            elif role == "static" and not file.stands:
                notes["static by its name, though its markers move"].append(file.name)
            condition = "n/a" if role == "exclude" else guesses.condition(file, role, person)
            cells = (person, session, trial, file.name, role, condition, "participant_id session role condition")
            rows.append(dict(zip(TRIAL_CELLS, cells, strict=True)))
        if static is None:
            notes["no static trial, of which each session needs one"].append(session)
    if all(row["session"] == row["participant_id"] for row in rows):
        rows = [{name: cell.replace("session ", "") for name, cell in row.items() if name != "session"} for row in rows]
    return rows, notes


def _participants(
    rows: Sequence[Row], files: Mapping[str, File], model_name: str, model: Mapping[str, Any]
) -> list[Row]:
    """Return the rows of participants.tsv; sizes from the static file first, as the step ``calibrate`` has them."""
    chosen = settings.merged(settings.read_yaml(settings.CONFIG / "default.yaml"), model.get("settings", {}))
    static = frozenset[str]().union(*(files[row["file"]].seen[model_name] for row in rows if row["role"] == "static"))
    needed = needs.needed_sizes(model, static, hip_centre=chosen["calibrate"]["hip_centre"])
    people = []
    for person in dict.fromkeys(row["participant_id"] for row in rows):
        sizes: dict[str, float] = {}
        for row in sorted(rows, key=lambda row: row["role"] == "static"):
            if row["participant_id"] == person:
                sizes |= files[row["file"]].sizes
        sizes = {name: value for name, value in sizes.items() if _plausible(name, value)}
        mass, height, *others = (f"{sizes[name]:.6g}" if name in sizes else "n/a" for name in (*PLAUSIBLE, *needed))
        found = [name for name in (*PLAUSIBLE, *needed) if name in sizes]
        people.append(
            {"participant_id": person, "mass_kg": mass, "height_m": height, "sex": "n/a"}
            | dict(zip(needed, others, strict=True))
            | {"guessed": " ".join(["participant_id", *found])}
        )
    return people


def _plausible(column: str, value: float) -> bool:
    low, high = PLAUSIBLE.get(column, (0, 2))
    return low <= value <= high


def _study_text(model: str, fits: Mapping[str, float]) -> str:
    return "\n".join(
        [
            "# Settings that differ from config/default.yaml; config/settings.schema.yaml describes them all.",
            "",
            f"# Guessed from the marker labels. {_fit_text(model, fits)}",
            f"body_model: {model}",
            "",
        ]
    )


def _fit_text(model: str, fits: Mapping[str, float]) -> str:
    shares = ", ".join(f"{name} {share:.0%}" for name, share in fits.items())
    advice = (
        " None fits well: copy the best (config/body_models) into the study and name your labels in it."
        if fits[model] < POOR
        else ""
    )
    return f"Needed markers found: {shares}.{advice}"


def _table(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter="\t", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _write(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8", newline="") as handle:
            handle.write(text)
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror}); give a folder that you may write to") from None


def _summary(
    folder: Path, rows: Sequence[Row], people: Sequence[Row], notes: Notes, model: str, kept: Sequence[str]
) -> str:
    by_person = {row["participant_id"]: row for row in people}
    table = [["session", "static trial", "gait", "functional", "left out", "mass_kg", "height_m"]]
    sessions: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        sessions[row.get("session", row["participant_id"])].append(row)
    for session, mine in sessions.items():
        count = Counter(row["role"] for row in mine)
        static = next((row["trial"] for row in mine if row["role"] == "static"), "none")
        person = by_person[mine[0]["participant_id"]]
        counts = (str(count[role]) for role in ("gait", "functional", "exclude"))
        table.append([session, static, *counts, person["mass_kg"], person["height_m"]])
    said = []
    for text, names in notes.items():
        more = len(names) - MOST_LISTED
        said += [f"{text[0].upper()}{text[1:]}:", *(f"  {name}" for name in names[:MOST_LISTED])]
        said += [f"  and {more} more"] if more > 0 else []
    new = ", ".join(name for name in WRITTEN if name not in kept)
    lines = [
        f"{len(rows)} C3D files, participants: {len(people)}, sessions: {len(sessions)}",
        "",
        aligned(table, width=WIDTH),
        "",
        f"Body model: {model}",
        *said,
        "",
        f"Written: {new}." + (f" Kept as they are: {', '.join(kept)}." if kept else ""),
        "The column 'guessed' names the cells to look over; sex, and each n/a, is yours to fill in where you know it.",
    ]
    if not all(re.search(r"\d", name) for name in by_person):
        lines.append("Participant ids come from folder names: change them if they are names of people.")
    return "\n".join([*lines, _next(folder)])


def _next(folder: Path) -> str:
    return f"Next: python -m pipeline check {shlex.quote(str(folder))}"
