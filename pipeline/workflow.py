"""What the Snakefile asks: which sessions there are, from which files, and what each job depends on.

A job's *key* is one JSON text with everything the step uses besides its input files: its settings, the table
cells and body model it reads, the SHA-256 of the sources, the digest of its code and the versions of the
libraries that do its numbers. Snakemake reruns a job when its key changes, and the bridge takes the step's
arguments from it, so that a step cannot use what does not trigger it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from pipeline import provenance, settings, tables
from pipeline.errors import UserError
from pipeline.reference_curves import read_reference
from pipeline.report_files import own_pages

SESSION_STEPS = ("read", "calibrate", "clean", "contacts", "kinematics", "kinetics", "cycles")
STEPS = (*SESSION_STEPS, "study", "report")
LIBRARIES = {
    "read": ("numpy", "ezc3d"),
    "clean": ("numpy", "scipy"),
    "kinematics": ("numpy", "scipy"),
    "kinetics": ("numpy", "scipy"),
    "study": ("numpy", "pandas"),
    "report": ("jinja2", "plotly"),
}
STORAGE = ("xarray", "netCDF4", "h5py")
BANDS = ("joint_moment_band", "joint_power_band", "joint_moment_variance_share")


@dataclass(frozen=True)
class Study:
    """A study directory whose settings and tables have been found right."""

    path: Path
    settings: Mapping[str, Any]
    body_model: Mapping[str, Any]
    participants: Mapping[str, tables.Row]
    sessions: Mapping[str, list[tables.Row]]
    segments: Mapping[str, list[tables.Row]]
    sha256: Mapping[str, str]
    left_out: Sequence[tables.Row] = ()

    def c3d_files(self, session: str) -> list[str]:
        """Return the session's files that Snakemake is told of, relative to the study, each once.

        It would take braces in a name for a wildcard, and end the run for a date in the future, as of a camera's
        computer: what such a file holds stands in the key alone, which decides for all of them.
        """
        there = dict.fromkeys(row["file"] for row in self.sessions[session] if row["file"] in self.sha256)
        return [file for file in there if "{" not in file and (self.path / file).stat().st_mtime <= time.time()]

    @property
    def people(self) -> list[str]:
        """Return the participants who have trials."""
        return list(dict.fromkeys(rows[0]["participant_id"] for rows in self.sessions.values()))

    @property
    def report_pages(self) -> list[str]:
        """Return the pages of the report besides report.html, relative to derived/."""
        most = self.settings["report"]["max_participants_on_one_page"]
        return list(own_pages(self.people, max_participants_on_one_page=most).values())

    @cached_property
    def memory_mb(self) -> dict[str, int]:
        """Return what a cluster is asked for: for a job of the largest session, for one of the whole study.

        1.4 to 2.3 times the most that was measured, see docs/scale.md.
        """
        mb = {file: (self.path / file).stat().st_size / 1e6 for file in self.sha256}
        of_sessions = ({row["file"] for row in rows} & mb.keys() for rows in self.sessions.values())
        largest = max(sum(mb[file] for file in files) for files in of_sessions)
        return {"session": round(400 + 25 * largest), "study": round(400 + 4 * sum(mb.values()))}

    def key(self, step: str) -> Callable[[Any], str]:
        """Return the function of the wildcards that gives a job's key."""

        def of_wildcards(wildcards: Any) -> str:
            session = getattr(wildcards, "session", None)
            content = {
                "step": step,
                "session": session,
                "pipeline": provenance.pipeline_version(),
                "code": provenance.code_digest(f"pipeline.{step}"),
                "storage": provenance.code_digest("pipeline.netcdf") + provenance.code_digest("pipeline.vocabulary"),
                "versions": provenance.versions(LIBRARIES.get(step, ("numpy",)) + STORAGE),
                "settings": self.settings.get(step, {}),
                **getattr(self, f"_{step}_needs", lambda _: {})(session),
            }
            return json.dumps(content, sort_keys=True)

        return of_wildcards

    def _read_needs(self, session: str) -> dict[str, Any]:
        trials = [
            {
                **{name: row[name] for name in ("trial", "file", "role")},
                **tables.whose(row, self.participants),
                "sha256": self.sha256.get(row["file"]),
            }
            for row in self.sessions[session]
        ]
        return {"trials": trials, "arguments": {"body_model": self.body_model}}

    def _calibrate_needs(self, session: str) -> dict[str, Any]:
        row = self.participants[self.sessions[session][0]["participant_id"]]
        columns = (*tables.PARTICIPANT_COLUMNS, "mass_source", "width_source")
        participant = {name: row[name] for name in columns if row.get(name)}
        segments = self.segments.get(row["participant_id"], [])
        functional = {row["trial"]: row["condition"] for row in self.sessions[session] if row["role"] == "functional"}
        return {
            "arguments": {
                "functional": functional,
                "body_model": self.body_model,
                "participant": participant,
                "segments": segments,
                "segment_table": settings.segment_table(self.settings["calibrate"]["segment_parameters"]),
            }
        }

    def _clean_needs(self, _: str) -> dict[str, Any]:
        return {"arguments": {"body_model": self.body_model}}

    _kinematics_needs = _clean_needs

    def _contacts_needs(self, session: str) -> dict[str, Any]:
        """Return the plates that trials.tsv gives each foot; a trial without any takes no argument."""
        given = {row["trial"]: tables.given_plates(row) for row in self.sessions[session]}
        return {"by_trial": {trial: plates for trial, plates in given.items() if plates}}

    def _cycles_needs(self, session: str) -> dict[str, Any]:
        """Return belt speeds, and the cycles that cycles.tsv leaves out; a trial without any takes no argument."""
        given: dict[str, dict[str, Any]] = {
            row["trial"]: {"belt_speed_m_s": tables.number(row, "belt_speed_m_s", where="trials.tsv")}
            for row in self.sessions[session]
        }
        for row in self.left_out:
            if row["session"] == session:
                cycle = [row["side"], float(row["start_s"]), row["reason"]]
                given[row["trial"]].setdefault("left_out", []).append(cycle)
        return {"by_trial": given}

    def _report_needs(self, _: None) -> dict[str, Any]:
        templates = sorted((provenance.PACKAGE / "templates").iterdir())
        reference = self.settings["report"]["reference"] or self.settings["study"]["reference"]
        return {
            "templates": {path.name: provenance.sha256(path) for path in templates},
            "reference": provenance.sha256(self.path / reference) if reference else None,
            "sessions": [*self.sessions],
            "arguments": {"participants": self.people, "reference": reference},
        }

    def _study_needs(self, _: None) -> dict[str, Any]:
        sessions = {
            name: {
                "participant": tables.without_subject(self.participants[rows[0]["participant_id"]]),
                "trials": {row["trial"]: {"condition": row["condition"], "role": row["role"]} for row in rows},
            }
            for name, rows in self.sessions.items()
        }
        reference = self.settings["study"]["reference"]
        return {
            "reference": provenance.sha256(self.path / reference) if reference else None,
            "arguments": {"sessions": sessions},
        }


def open_study(path: Path, *, overrides: Mapping[str, Any] | None = None, forced: bool = False) -> Study:
    """Check settings and tables and return the study.

    Args:
        path: the study directory.
        overrides: settings from the command line, which win over study.yaml.
        forced: whether every job will run anyway (``--forceall``), so that missing records do no harm.

    Raises:
        UserError: everything that is wrong with settings and tables, one line per problem.
    """
    study, problems = look_at(path, overrides=overrides, forced=forced)
    if problems:
        raise UserError("\n".join(problems))
    if not os.access(path, os.W_OK):
        raise UserError(f"{path}: cannot be written to; copy the study to where you may write")
    files = {row["file"]: path / row["file"] for rows in study.sessions.values() for row in rows}
    present = {name: file for name, file in files.items() if settings.is_file(file)}
    digests = provenance.sha256_of_files(present.values(), cache=path / ".snakemake" / "source_sha256.json")
    return replace(study, sha256={name: digests[file] for name, file in present.items()})


def look_at(path: Path, *, overrides: Mapping[str, Any] | None = None, forced: bool = False) -> tuple[Study, list[str]]:
    """Return what can be read of a study's settings and tables, and everything that is wrong with them.

    Nothing is written, and no digest of the recordings taken.

    Raises:
        UserError: no study.yaml.
    """
    if not (path / "study.yaml").is_file():
        what = "no study.yaml there; is this the study directory? 'python -m pipeline init' writes one"
        raise UserError(f"{path}: {what if path.is_dir() else 'no such folder'}")
    problems: list[str] = []

    def attempt(check: Callable[[], Any], default: Any) -> Any:
        try:
            return check()
        except UserError as error:
            problems.extend(str(error).splitlines())
            return default

    def collect(result: tuple[Any, list[str]]) -> Any:
        problems.extend(result[1])
        return result[0]

    where: dict[str, Any] = {"where": "study.yaml", "study_path": path}
    chosen, model = {}, {}
    own = attempt(
        lambda: settings.merged(settings.read_yaml(path / "study.yaml"), settings.typed(overrides or {})), None
    )
    if own is not None:
        chosen, model = attempt(lambda: settings.load_settings(own, **where), ({}, {}))
    for section in ("study", "report"):
        if reference := chosen.get(section, {}).get("reference"):
            attempt(partial(_check_reference, path, reference, f"{section}.reference"), None)
    if own and not model:  # wrong settings do not hide a wrong body model
        model = attempt(lambda: settings.load_body_model(str(own.get("body_model", "")), **where), {})
    participants = collect(tables.participants_of(path / "participants.tsv"))
    sessions = collect(tables.trials_of(path / "trials.tsv", participants or None))
    segments = collect(tables.segments_of(path / "segments.tsv", participants)) if participants else {}
    left_out = collect(tables.cycles_of(path / "cycles.tsv", sessions)) if sessions else []
    if not forced:
        attempt(lambda: refuse_lost_records(path), None)
    study = Study(path, _with_bands(chosen), model, participants, sessions, segments, {}, left_out)
    return study, list(dict.fromkeys(problems))


def _check_reference(study: Path, name: str, setting: str) -> None:
    """Raise UserError where a reference is not there, is a table with mistakes, or is an output of this study."""
    file = study / name
    if file.resolve().is_relative_to((study / "derived").resolve()):
        raise UserError(f"{setting}: {name}: is an output of this study itself; give another study's, or a copy")
    if not settings.is_file(file):
        raise UserError(f"{setting}: {file}: no such file")
    if file.suffix != ".nc":
        read_reference(file, setting=setting)


def _with_bands(chosen: dict[str, Any]) -> dict[str, Any]:
    """Return settings by which the uncertainty, where it is drawn, reaches study.nc and the report."""
    if not chosen or not chosen["kinetics"]["uncertainty_draws"]:
        return chosen
    further = dict.fromkeys((*chosen["cycles"]["further_curves"], *BANDS))
    return chosen | {"cycles": chosen["cycles"] | {"further_curves": [*further]}}


def refuse_lost_records(path: Path) -> None:
    """Stop where results stand without the records that tell whether they are up to date."""
    results = any((path / "derived").glob("*/*.nc"))
    # of a first run that was killed the only record may be that of a step under way
    records = any(any((path / ".snakemake" / kind).glob("*")) for kind in ("metadata", "incomplete"))
    if results and not records:
        raise UserError(
            f"{path / 'derived'}: there are results, but .snakemake with the records of how they were made is gone, "
            "so stale ones could not be told from good ones; add --forceall to make them anew"
        )
