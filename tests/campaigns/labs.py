"""Recordings of many labs, set up and processed as a user would: the outcome of each walk.

``python -m tests.campaigns labs`` prints the table of docs/validation.md.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import nan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from pipeline.body.body_model import BodyModel
from pipeline.body.joint_centres import BY_MASS, width_of_mass
from pipeline.commands.check.command import check
from pipeline.commands.init.command import initialise
from pipeline.errors import Problem, UserError
from pipeline.steps.read.step import read_trial as read
from pipeline.tables import study_tables, tsv
from pipeline.trials.session import join_trials
from pipeline.workflow import settings
from pipeline.workflow.strict_yaml import read_yaml
from tests.campaigns.lab_truths import Score, Stance, score
from tests.campaigns.runner import Report, Result
from tests.support.checkout import SHARED
from tests.support.settings import settings_of
from tests.support.steps import clean, contacts
from tests.support.studies.references import JOINTS, MOMENTS, compared, reference_of
from tests.support.studies.run_steps import calibrated, run_trial
from tests.support.studies.swing import PROXIMAL, compared_in_swing, radii_shown, solve

SAMPLES, SUB_01 = "data/c3dorg_sample10_types", "studies/plug_in_gait/sub-01"
# lab: its files, or their folder; files of different labs in one folder are set up separately
LABS: dict[str, tuple[str, ...]] = {
    "exact": ("studies/exact",),
    "functional": ("studies/functional",),
    "gait2354": ("studies/gait2354",),
    "plug_in_gait": ("studies/plug_in_gait",),
    "plug_in_gait, feet not flat": (f"{SUB_01}/PiG_Motion3_noFF.c3d", f"{SUB_01}/PiG_Calibration3_noFF.c3d"),
    "c3dparser_AUC": ("data/c3dparser_AUC",),
    "opensim_walking": ("data/opensim_walking",),
    "qualisys_cast": ("data/qualisys_cast",),
    "codamotion 1997": ("data/codamotion_type3/codamotion_gaitwands_19970212.c3d",),
    "codamotion 2015": ("data/codamotion_type3/codamotion_gaitwands_20150204.c3d",),
    "sample10 2, 4": (f"{SAMPLES}/TYPE-2.C3D", f"{SAMPLES}/TYPE-4.C3D"),
    "sample10 2a, 4a": (f"{SAMPLES}/TYPE-2a.c3d", f"{SAMPLES}/TYPE-4a.c3d"),
    "sample10 3": (f"{SAMPLES}/TYPE-3.c3d",),
}
# folders as they come from labs, with what is true of them in shared/labs/README.md
FOLDERS: dict[str, tuple[str, ...]] = {
    name: (f"labs/{name}",)
    for name in (
        "bts_type1", "children", "classic", "cortex", "emg_metres", "heel_in_static", "kad_bones", "kad_fmc",
        "kad_sydney", "plate_channels",
    )
}  # fmt: skip
ALL_LABS = (*LABS, *FOLDERS)
SHORT = {"labs": ("functional", "cortex")}
# body model chosen by hand, because the results in the file come from another one than its markers suggest
BY_HAND = {"functional": "plug_in_gait_flat_foot"}
# mass that neither files nor two even steps on plates show, kg: the largest load over 1.15, that of brisk walking
# (Nilsson and Thorstensson 1989, Acta Physiol Scand 136:217-227); of opensim_walking, a fast walk of 1.6 m/s, what
# momentum in single support shows
ONE_PERSON = {"sample10 2a, 4a": "sub-01"}  # whose files TYPE-2a and TYPE-4a are, their names do not tell
MASS_BY_HAND = {"opensim_walking": 66.0, "codamotion 1997": 58.0, "sample10 2, 4": 35.0, "sample10 3": 70.0}

IN_SWING = (("moment", 3), ("power", 2))  # quantities and their digits


class Outcome(NamedTuple):
    """The outcome of a walking file.

    Attributes:
        lab, file, body_model: lab, file and body model.
        cycles: number of gait cycles.
        with_kinetics: number of cycles with valid kinetics.
        valid, invalid: number of stances.
        reasons: number of invalid stances by reason.
        lost: why moments, or everything, are missing; else empty.
        peak: mean peak of the ankle plantarflexor moment over cycles with kinetics, N m/kg; NaN without any.
        reference: name of the reference, or empty.
        compared: medians over the valid stances, see :func:`references.compared`.
        score: how the stances compare with the truth, if that is known.
        verdicts: side and plates of each stance on a plate, and the codes of what speaks against it.
    """

    lab: str
    file: str
    body_model: str
    cycles: int
    with_kinetics: int
    valid: int
    invalid: int
    reasons: Mapping[str, int]
    lost: str
    peak: float = nan
    reference: str = ""
    compared: Mapping[str, float] = {}
    score: Score | None = None
    verdicts: tuple[tuple[str, str], ...] = ()


def bare_copy(shared: Path, lab: str, target: Path) -> Path:
    """Copy a lab's C3D files, without tables, into a folder."""
    for name in (LABS | FOLDERS)[lab]:
        source = shared / name
        for file in source.rglob("*") if source.is_dir() else (source,):
            if file.suffix.lower() == ".c3d" and not (source.is_dir() and "_noFF" in file.name):
                copy = target / (file.relative_to(source) if source.is_dir() else file.name)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)
    return target


def set_up(shared: Path, lab: str, target: Path) -> list[Problem]:
    """Copy a lab's files, run ``init``, give a mass that it does not find, and return the findings of ``check``."""
    folder, findings = _set_up_once(shared, lab)
    shutil.copytree(Path(folder.name, "study"), target, dirs_exist_ok=True)
    return [*findings]


@cache
def _set_up_once(shared: Path, lab: str) -> tuple[TemporaryDirectory[str], list[Problem]]:
    """Return a folder with the study of a lab, for all that this process does with it, and the findings."""
    folder = TemporaryDirectory(ignore_cleanup_errors=True)
    study = Path(folder.name, "study")
    initialise(bare_copy(shared, lab, study))
    if lab in ONE_PERSON:
        say_one_person(study, ONE_PERSON[lab])
    if lab in MASS_BY_HAND:
        give_mass(study / "participants.tsv", MASS_BY_HAND[lab])
    return folder, check(study)


def say_one_person(study: Path, name: str) -> None:
    """Answer the question of ``init`` whose the recordings are: all of one person."""
    trials, people = study / "trials.tsv", study / "participants.tsv"
    header, *rows = trials.read_text().splitlines()
    trials.write_text("\n".join([header, *(row.replace("n/a", name, 1) for row in rows), ""]))
    header, row, *_ = people.read_text().splitlines()
    people.write_text("\n".join([header, "\t".join([name, *row.split("\t")[1:]]), ""]))


def give_mass(path: Path, mass_kg: float) -> None:
    """Write the mass, and joint widths by it, into the row of the only participant."""
    names, cells = (line.split("\t") for line in path.read_text().splitlines())
    row = dict(zip(names, cells, strict=True))
    widths = {name: width for name in names if row[name] == "n/a" and (width := width_of_mass(name, mass_kg))}
    row |= {"mass_kg": f"{mass_kg:g}"} | {name: f"{width:.3f}" for name, width in widths.items()}
    row |= {"width_source": BY_MASS} if widths else {}
    path.write_text("".join("\t".join(line) + "\n" for line in (row, row.values())))


def of_lab(shared: Path, lab: str, folder: Path) -> list[Outcome]:
    """Return the outcomes of a lab's recordings, set up and processed in a folder."""
    try:
        set_up(shared, lab, folder)
        if lab in BY_HAND:
            choose_body_model(folder, BY_HAND[lab])
        return [*outcomes(folder, lab, shared=shared)]
    except UserError as error:
        return [Outcome(lab, "all files", "none", 0, 0, 0, 0, {}, str(error))]


def choose_body_model(study: Path, name: str) -> None:
    """Write another body model into study.yaml."""
    path = study / "study.yaml"
    path.write_text(re.sub("(?m)^body_model: .*$", f"body_model: {name}", path.read_text()))


def outcomes(study: Path, lab: str, *, shared: Path | None = None) -> Iterator[Outcome]:
    """Process a study as the workflow does and yield the outcome of each walking file.

    With ``shared``, the folder of the recordings, results are compared with those stored for the files.
    """
    for file, trial, calibration, model, chosen in walks(study):
        yield _outcome(lab, file, trial, calibration, model, chosen, shared)


class Walk(NamedTuple):
    """A walking file, its recording, the calibration of its session or why there is none, body model and settings."""

    file: Path
    trial: xr.Dataset
    calibration: xr.Dataset | str
    model: BodyModel
    settings: Mapping[str, Any]


def walks(study: Path) -> Iterator[Walk]:
    """Read and calibrate a study as the workflow does and yield its walking files."""
    own = read_yaml(study / "study.yaml")
    chosen, model = settings.load_settings(own, where="study.yaml", study_path=study)
    participants = study_tables.read_participants(study / "participants.tsv")
    for rows in study_tables.read_trials(study / "trials.tsv", participants).values():
        recorded = {row["trial"]: _read(study, row, participants, model, chosen) for row in rows}
        try:
            person = participants[rows[0]["participant_id"]]
            calibration: xr.Dataset | str = calibrated(join_trials(recorded), rows, person, model, chosen)
        except UserError as error:
            calibration = str(error)
        for row in rows:
            if row["role"] == "gait":
                yield Walk(study / row["file"], recorded[row["trial"]], calibration, model, chosen)


def _read(study: Path, row: tsv.Row, participants: Any, model: Any, chosen: Any) -> xr.Dataset:
    about = {"role": row["role"], "source": row["file"]}
    try:
        person: Any = study_tables.person_of(row, participants)
        return read(study / row["file"], body_model=model, **person, **chosen["read"]).assign_attrs(about)
    except UserError as error:
        return xr.Dataset(attrs={**about, "rejected": str(error).removeprefix(f"{study / row['file']}: ")})


def _outcome(
    lab: str, path: Path, trial: xr.Dataset, calibration: xr.Dataset | str, model: Any, chosen: Any, shared: Path | None
) -> Outcome:
    file = trial.attrs["source"]
    if "rejected" in trial.attrs:
        return Outcome(lab, file, model.name, 0, 0, 0, 0, {}, trial.attrs["rejected"])
    try:
        if isinstance(calibration, xr.Dataset):
            steps = run_trial(trial, calibration, model, chosen)
            return outcome_of_steps(lab, path, steps, calibration, model=model.name, shared=shared)
        cleaned = clean(trial, body_model=model, settings=settings_of("clean", **chosen["clean"]))
        touched = contacts(cleaned, settings=settings_of("contacts", **chosen["contacts"]))
    except UserError as error:
        return Outcome(lab, file, model.name, 0, 0, 0, 0, {}, str(error))
    stances = [touched[name].values for name in ("contact_side", "plates", "reason")]
    return Outcome(
        lab, file, model.name, 0, 0, lost=calibration, **_judged(path, stances, touched.reason_code.values.tolist())
    )


def outcome_of_steps(
    lab: str, path: Path, steps: Mapping[str, xr.Dataset], calibration: xr.Dataset, *, model: str = "",
    shared: Path | None = None,
) -> Outcome:  # fmt: skip
    """Return the outcome of a walk whose results are known; ``shared`` as of :func:`outcomes`."""
    cut = steps["cycles"]
    stances = [cut[f"stance_{name}"].values for name in ("side", "plates", "reason")]
    both = zip(cut.stance_code.values.tolist(), cut.stance_doubt_code.values.tolist(), strict=True)
    known = cut.kinetics_valid.values.astype(bool) if cut.sizes.get("cycle", 0) else np.zeros(0, dtype=bool)
    reference, medians = _measured(path, shared, steps, calibration) if shared else ("", {})
    return Outcome(
        lab, steps["read"].attrs["source"], model, known.size, int(known.sum()), lost="",
        peak=float(cut.peak_ankle_plantarflexor_moment.values[known].mean()) if known.any() else nan,
        reference=reference, compared=medians,
        **_judged(path, stances, [" ".join(filter(None, pair)) for pair in both]),
    )  # fmt: skip


def _judged(path: Path, stances: Sequence[Any], codes: Sequence[str]) -> dict[str, Any]:
    """Return what an outcome says of stances, from their sides, plates and reasons, and the codes against them."""
    judged = [Stance(*map(str, row)) for row in zip(*stances, strict=True)]
    reasons = Counter(stance.reason for stance in judged if stance.reason)
    verdicts = tuple(
        (f"{one.side} {' '.join(sorted(one.plates.split()))}", code)
        for one, code in zip(judged, codes, strict=True)
        if one.plates
    )
    counts = {"valid": len(judged) - reasons.total(), "invalid": reasons.total()}
    return {**counts, "reasons": reasons, "score": score(path.stem, judged), "verdicts": verdicts}


def _measured(
    path: Path, shared: Path, steps: Mapping[str, xr.Dataset], calibration: xr.Dataset
) -> tuple[str, dict[str, float]]:
    """Return the name of a file's reference, and the median differences over valid stances."""
    mass_kg = calibration.attrs["body_mass_kg"]
    reference = reference_of(path, shared, steps, mass_kg=mass_kg)
    if reference is None:
        return "", {}
    swing, name = dict[str, float](), reference.name
    if reference.power:  # with the radii of gyration that the file's own swing shows
        shown = radii_shown(steps, calibration, reference)
        swing = {
            f"swing {key}": value for key, value in compared_in_swing(steps, calibration, reference, shown).items()
        }
        steps = {**steps, "kinetics": solve(steps, calibration, shown)}
        name += ", proximal radii" if shown == PROXIMAL else ""
    rows = pd.DataFrame(compared(reference, steps, mass_kg=mass_kg))
    return name, {str(key): value for key, value in rows.median(numeric_only=True).items()} | swing


def main(report: Report, *, labs: tuple[str, ...] = ALL_LABS) -> None:
    """Report the outcomes, and how the stances of files with a known truth compare with it."""
    rows = [*in_labs(of_lab, labs, report)]
    report.table(
        "lab: file", "body model", "cycles (with kinetics)", "stances used", "stances not used, reason", "peak, N m/kg",
        "reference", "joint centres, mm", "angles, degrees", "moments, N m/kg", "powers, W/kg",
        "in swing: knee, hip, N m/kg; W/kg",
    )  # fmt: skip
    for row in rows:
        why = "; ".join(f"{count} {reason}" if count > 1 else reason for reason, count in row.reasons.items())
        lost = re.sub(r"^\S+\.c3d: |(: add|;).*", "", row.lost, flags=re.IGNORECASE)
        cycles = f"none: {lost}" if lost else f"{row.cycles} ({row.with_kinetics})"
        centres = _cell(row.compared, [f"{joint} centre" for joint in JOINTS], scale=1000, digits=1)
        angles = _cell(row.compared, [f"{joint} angle" for joint in JOINTS], digits=1)
        moments = _cell(row.compared, [f"{name} rms" for name in MOMENTS], digits=3)
        powers = _cell(row.compared, [f"{joint} power rms" for joint in JOINTS], digits=2)
        swing = [
            _cell(row.compared, [f"swing {joint} {of} rms" for joint in JOINTS[1:]], digits=d) for of, d in IN_SWING
        ]
        peak = f"{row.peak:.2f}" if row.with_kinetics else ""
        model = f"{row.body_model}{' (by hand)' if row.lab in BY_HAND else ''}"
        used = f"{row.valid} of {row.valid + row.invalid}"
        report.row(f"{row.lab}: {row.file}", model, cycles, used, why, peak, row.reference or "nothing stored",
                   centres, angles, moments, powers, "; ".join(filter(None, swing)))  # fmt: skip
    report.table("lab: file", "valid stances used", "refused, reason", "used but wrong")
    scored = [(row, row.score) for row in rows if row.score]
    for row, right in scored:
        valid = len(right.used) + len(right.refused)
        shown = f"{len(right.used)} of {valid}", "; ".join(right.refused), "; ".join(right.wrong)
        report.row(f"{row.lab}: {row.file}", *shown)
    used_stances, refused, wrong = (sum(len(right[i]) for _, right in scored) for i in range(3))
    report.row("all", f"{used_stances} of {used_stances + refused}", refused, wrong)
    report.allow(0, [row for row, right in scored if right.wrong], len(scored), "files with a stance used wrongly")


def in_labs(
    of_one: Callable[[Path, str, Path], Iterable[Result]], labs: Sequence[str], report: Report
) -> Iterator[Result]:
    """Yield what a function finds in each lab, from the shared folder, the lab and a new folder."""
    for lab in labs:
        try:
            yield from of_one(SHARED, lab, report.new_folder())
        except UserError as error:
            report.text(f"{lab}: {error}")


def _cell(values: Mapping[str, float], names: Sequence[str], *, digits: int, scale: float = 1.0) -> str:
    """Return values as ``0.1, 0.2, -``; empty if none is known."""
    texts = [f"{scale * value:.{digits}f}" if (value := values.get(name, nan)) == value else "-" for name in names]
    return ", ".join(texts) if any(text != "-" for text in texts) else ""
