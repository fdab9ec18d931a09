"""The names of the steps, and a study with its settings and tables checked before jobs are planned."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ..body.body_model import BodyModel
from ..errors import Problem, UserError, listed, nearest
from ..tables import study_tables
from ..tables.reference_curves import read_reference, reference_file
from ..variables.data_dictionary import RESERVED
from . import checksums, settings
from .digests import sha256_of_files
from .job_keys import Study

SESSION_STEPS = ("read", "calibrate", "clean", "contacts", "kinematics", "kinetics", "cycles")
FURTHER_OUTPUTS = {"cycles": ("representative",)}
STEPS = (*SESSION_STEPS, "study", "report")
TABLES = tuple(
    f"{name}.{end}" for name in ("metrics", "quality", "participants", "symmetry") for end in ("csv", "json")
)
MOST_LISTED = 3  # results in a notice
BANDS = ("joint_moment_band", "joint_power_band", "joint_moment_variance_share")


def open_study(
    path: Path, *, overrides: Mapping[str, Any] | None = None, forced: bool = False, only: Collection[str] = ()
) -> Study:
    """Check settings and tables and return the study.

    Args:
        path: the study directory.
        overrides: settings from the command line; they win over study.yaml.
        forced: whether every job will run anyway (``--forceall``), so that no records are needed.
        only: sessions to which the study is restricted, as for a job on a cluster; none for all.

    Raises:
        UserError: every problem of settings and tables.
    """
    study, problems = look_at(path, overrides=overrides, forced=forced)
    if problems:
        raise UserError.of(problems)
    if only:
        study = replace(study, sessions={name: rows for name, rows in study.sessions.items() if name in only})
    if not os.access(path, os.W_OK):
        raise UserError(str(path), "cannot be written to", "copy the study to where you may write")
    rows = (row for mine in study.sessions.values() for row in mine)
    files = {file: path / file for row in rows for file in study_tables.files_of(row)}
    present = {name: file for name, file in files.items() if settings.is_file(file)}
    digests = sha256_of_files(present.values(), cache=path / ".snakemake" / "source_sha256.json")
    return replace(study, sha256={name: digests[file] for name, file in present.items()})


def sessions_of_targets(arguments: Iterable[str]) -> set[str]:
    """Return the sessions in Snakemake's arguments for a job of a cluster, such as ``read:session=sub-01``."""
    return {session for target in arguments for _, found, session in [target.partition(":session=")] if found}


def look_at(
    path: Path, *, overrides: Mapping[str, Any] | None = None, forced: bool = False
) -> tuple[Study, list[Problem]]:
    """Return a study as far as it can be read, and all problems of its tables.

    Nothing is written, and no recording is read: ``sha256`` is empty.

    Raises:
        UserError: no study.yaml.
    """
    study_tables.refuse_no_study(path)
    problems: list[Problem] = []

    def collect(result: tuple[Any, list[Problem]]) -> Any:
        problems.extend(result[1])
        return result[0]

    chosen, model = collect(_settings_of(path, overrides or {}))
    participants = collect(study_tables.participants_of(path / "participants.tsv", reserved=RESERVED))
    sessions = collect(study_tables.trials_of(path / "trials.tsv", participants or None))
    segments = collect(study_tables.segments_of(path / "segments.tsv", participants)) if participants else {}
    left_out = collect(study_tables.cycles_of(path / "cycles.tsv", sessions)) if sessions else {}
    if not forced:
        collect(_attempt(lambda: refuse_lost_records(path), None))
    study = Study(path, _with_bands(chosen), model, participants, sessions, segments, {}, left_out)
    return study, list(dict.fromkeys(problems))


def outputs_of(study: Study) -> dict[str, tuple[str, str | None]]:
    """Return step, and session or the participant of a page, of every output, by its name below ``derived``."""
    names: dict[str, tuple[str, str | None]] = {
        f"{session}/{output}.nc": (step, session)
        for session in study.sessions
        for step in SESSION_STEPS
        for output in (step, *FURTHER_OUTPUTS.get(step, ()))
    }
    names |= dict.fromkeys(("study.nc", *TABLES), ("study", None))
    names |= {page: ("page", name) for name, page in study.report_pages.items()}
    return names | {"report.html": ("report", None)}


def changed_results(study: Study, *, keep: bool) -> tuple[list[str], list[str]]:
    """Return the outputs to make again because another program has changed them, and a notice for the user.

    Args:
        study: the study.
        keep: whether to keep a copy of each changed table, in which somebody may have worked.

    Raises:
        UserError: no copy can be written.
    """
    derived = study.path / "derived"
    names = outputs_of(study)
    changed, without = checksums.changed(derived, names, cache=study.path / ".snakemake" / "result_sha256.json")
    notices = []
    for found, what in ((changed, "Changed since written"), (without, "Without a record of what was written")):
        if found:
            kept = [_kept(derived / name) for name in found if keep and name.endswith(".csv")]
            copies = f" Copies are kept: {', '.join(kept)}." if kept else ""
            notices.append(
                f"{what}, and made again: {listed([f'derived/{name}' for name in found], MOST_LISTED)}.{copies}"
            )
    return [f"derived/{name}" for name in (*changed, *without)], notices


def finished_sessions(study: Study, *, besides: Iterable[str] = ()) -> frozenset[str]:
    """Return the sessions with every output up to date by its record: their jobs need not be planned.

    Args:
        study: the study.
        besides: outputs that will be made again, see :func:`changed_results`; their sessions are not finished.
    """
    others = {Path(output).parent.name for output in besides}
    return frozenset(name for name in study.sessions if name not in others and _is_finished(study, name))


def _is_finished(study: Study, session: str) -> bool:
    derived = study.path / "derived"
    digests: dict[str, str] = {}
    for step in SESSION_STEPS:  # in this order each input has its digest before it is compared
        names = [f"{session}/{output}.nc" for output in (step, *FURTHER_OUTPUTS.get(step, ()))]
        records = [checksums.recorded(derived, name) for name in names if checksums.has_date_of_record(derived, name)]
        if len(records) < len(names):
            return False
        made_with = checksums.made_with(study.content_of_key(step, session))
        for name, known in zip(names, records, strict=True):
            if known is None or known.made_with != made_with:
                return False
            if any(digests.get(other) != digest for other, digest in known.inputs.items()):
                return False
            digests[name] = known.sha256
    return True


def _kept(table: Path) -> str:
    try:
        return f"derived/{checksums.keep_copy(table).name}"
    except OSError as error:
        what = f"was changed, and no copy can be kept ({error.strerror})"
        raise UserError(str(table), what, "make room for it, or move it away") from None


def _settings_of(
    path: Path, overrides: Mapping[str, Any]
) -> tuple[tuple[dict[str, Any], BodyModel | None], list[Problem]]:
    """Return settings and body model, empty and None if wrong, and every problem."""
    where: dict[str, Any] = {"where": "study.yaml", "study_path": path}
    own, problems = _attempt(
        lambda: settings.merged(settings.read_yaml(path / "study.yaml"), settings.typed(overrides)), None
    )
    if own is None:
        return ({}, None), problems
    if own.get("body_model", "") is None:  # the line that init leaves to be filled in
        del own["body_model"]
    (chosen, model), further = _attempt(lambda: settings.load_settings(own, **where), ({}, None))
    problems += further
    if reference := chosen.get("study", {}).get("reference"):
        problems += _attempt(partial(_check_reference, path, reference), None)[1]
    if own and not model:  # wrong settings do not hide a wrong body model
        model, further = _attempt(lambda: settings.load_body_model(str(own.get("body_model") or ""), **where), None)
        problems += further
    return (chosen, model), problems


def _attempt(check: Callable[[], Any], default: Any) -> tuple[Any, list[Problem]]:
    """Return the result of a check, or a default if it raises, and the problems."""
    try:
        return check(), []
    except UserError as error:
        return default, [*error.problems]


def _check_reference(study: Path, name: str) -> None:
    """Refuse a reference that is missing, has mistakes, or is of this study."""
    setting, file = "study.reference", reference_file(name, study_path=study)
    if file.resolve().is_relative_to((study / "derived").resolve()):
        raise UserError(f"{setting}: {name}", "is an output of this study itself", "give another study's, or a copy")
    if not settings.is_file(file):
        shipped = settings.shipped_references()
        remedy = nearest(name, shipped) or f"correct the path, or choose {' or '.join(shipped)}"
        raise UserError(f"{setting}: {file}", "no such file", remedy)
    if file.suffix != ".nc":
        read_reference(file, setting=setting)


def _with_bands(chosen: dict[str, Any]) -> dict[str, Any]:
    """Return settings in which further_curves has the bands of uncertainty draws."""
    if not chosen or not chosen["kinetics"]["uncertainty_draws"]:
        return chosen
    further = dict.fromkeys((*chosen["cycles"]["further_curves"], *BANDS))
    return chosen | {"cycles": chosen["cycles"] | {"further_curves": [*further]}}


def refuse_lost_records(path: Path) -> None:
    """Refuse results without the records that show whether they are up to date."""
    results = any((path / "derived").glob("*/*.nc"))
    # after the first run was killed, the only record may be that of an unfinished step
    records = any(any((path / ".snakemake" / kind).glob("*")) for kind in ("metadata", "incomplete"))
    if results and not records:
        raise UserError(
            str(path / "derived"),
            "holds results, but .snakemake with the records of how they were made is gone",
            "add --forceall to run every step again",
        )
