"""The study as the Snakefile needs it: its sessions, their files, and the key of each job.

The *key* of a job is a JSON text with everything that the step uses besides its input files: settings, table cells,
body model, SHA-256 of the sources, digest of its code, versions of its libraries. Snakemake reruns a job when its key
changes. The step gets its arguments from the key, so it cannot use anything that does not trigger it.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from .. import __version__
from ..body.body_model import BodyModel
from ..errors import UserError
from ..extra import every_extra
from ..reference import resolve
from ..results.page_names import page_names
from ..step import Step, every_step
from ..tables import corrections, session_table, study_tables, tsv
from ..tables.reference_curves import reference_file
from . import checksums, digests, settings

STORAGE = ("xarray", "netCDF4")
JOINED_IN = ("study", "page")  # rules whose jobs join results to cycles.nc


def code_of(name: str) -> tuple[str, ...]:
    """Return the modules that a job of a step calls; their imports belong to its code.

    The tables of its own variables and metrics are among them.
    """
    step = every_step()[name]
    return tuple(dict.fromkeys((*step.modules, "pipeline.workflow.jobs.run_job", *step.tables)))


@cache
def without_results() -> frozenset[str]:
    """Return modules that jobs import and that change no result: settings, of which a key holds the values."""
    return frozenset(("pipeline.setting", *(step.settings.partition(":")[0] for step in every_step().values())))


@dataclass(frozen=True)
class Study:
    """A study directory with its checked settings and tables."""

    path: Path
    settings: Mapping[str, Any]
    body_model: BodyModel | None
    participants: Mapping[str, tsv.Row]
    sessions: Mapping[str, list[tsv.Row]]
    segments: Mapping[str, list[tsv.Row]]
    sha256: Mapping[str, str]
    corrections: Mapping[str, list[tsv.Row]]  # by session
    session_rows: Mapping[str, tsv.Row] = field(default_factory=dict)  # of sessions.tsv, empty without it

    def recordings(self, session: str) -> list[str]:
        """Return the session's files for rule ``read``, relative to the study.

        Files with a brace in the name (a wildcard to Snakemake) or with a date in the future (an error to Snakemake)
        are left out. Every change of a file triggers its jobs all the same, because the key holds its SHA-256.
        """
        if session not in self.sessions:
            raise UserError("trials.tsv", f"no session '{session}'", "ask for files of one that it has")
        every = (file for row in self.sessions[session] for file in study_tables.files_of(row))
        present = dict.fromkeys(file for file in every if file in self.sha256)
        return [file for file in present if "{" not in file and (self.path / file).stat().st_mtime <= time.time()]

    @cached_property
    def people(self) -> dict[str, list[str]]:
        """Return the sessions of each participant who has trials; with sessions.tsv in the order of their visits."""
        people: dict[str, list[str]] = {}
        for session, rows in self.sessions.items():
            people.setdefault(rows[0]["participant_id"], []).append(session)
        return people

    @property
    def every_correction(self) -> list[tsv.Row]:
        """Return the rows of corrections.tsv."""
        return [row for rows in self.corrections.values() for row in rows]

    def digests_of_corrected(self, corrected: Sequence[Mapping[str, str]]) -> dict[str, str]:
        """Return the SHA-256 now of the recordings that have corrections, by their names in trials.tsv."""
        trials = {(row["session"], row["trial"]) for row in corrected}
        rows = (row for mine in self.sessions.values() for row in mine if (row["session"], row["trial"]) in trials)
        files = {row["file"]: self.path / row["file"] for row in rows}
        return {name: digests.sha256(file) for name, file in files.items() if settings.is_file(file)}

    @cached_property
    def steps(self) -> dict[str, Step]:
        """Return the steps that the study has, each after the steps that make its inputs."""
        every, found = every_step(), dict[str, Step]()
        made_by = {output: name for name, step in every.items() for output in step.outputs}
        for name, step in every.items():
            present = all(made_by[one] in found for one in step.inputs if one in made_by)
            if present and (not step.only_if or resolve(step.only_if)(self)):
                found[name] = step
        return found

    def added(self, rule: str, participant: str | None = None) -> dict[str, list[str]]:
        """Return further inputs of a rule that steps of the study declare, relative to the study, files by name.

        Those of ``study`` and ``page`` are the results that are joined to cycles.nc, by the step that makes them.
        """
        sessions = [*self.sessions] if participant is None else self.people[participant]
        found: dict[str, list[str]] = {}
        for name, step in self.steps.items():
            if step.joins and rule in JOINED_IN:
                found[name] = [f"derived/{session}/{name}.nc" for session in sessions]
            if step.added_to:
                found |= resolve(step.added_to)(self, rule, participant)
        return found

    def files_of_page(self, participant: str) -> dict[str, list[str]]:
        """Return the input files of a participant's page by name, relative to the study."""
        if participant not in self.people:
            raise UserError("trials.tsv", f"no participant '{participant}'", "ask for the page of one that it has")
        sessions = self.people[participant]
        files = {name: [f"derived/{session}/{name}.nc" for session in sessions] for name in self.steps["page"].inputs}
        return files | self.added("page", participant)

    @property
    def report_pages(self) -> dict[str, str]:
        """Return each participant's page, relative to derived/; if on request, only those written before."""
        pages, derived = page_names([*self.people]), self.path / "derived"
        if self.settings["report"]["pages"] != "on_request":
            return pages
        written = {page for page in pages.values() if (derived / page).exists() or checksums.is_begun(derived, page)}
        return {name: page for name, page in pages.items() if page in written}

    @cached_property
    def memory_mb(self) -> dict[str, int]:
        """Return the memory to request for a job of a session and of the study.

        It is 1.8 to 3 times the largest measured value, see docs/scale.md.
        """
        session = 400 + 25 * self._largest_mb
        return {"session": round(session), "study": round(session + 400 + 0.3 * len(self.sessions))}

    @cached_property
    def runtime_min(self) -> dict[str, int]:
        """Return the minutes to request for a step of a session and of the study, at least 4 times as measured.

        A job on a cluster asks for the sum of its steps, see docs/scale.md.
        """
        return {"session": max(1, round(self._largest_mb / 25)), "study": 10 + len(self.sessions) // 60}

    def memory_of(self, name: str) -> int:
        """Return the memory to request for a job of a step, MB."""
        step = every_step()[name]
        return self.memory_mb["study" if step.scope == "study" else "session"] + step.extra_mb

    def minutes_of(self, name: str) -> int:
        """Return the minutes to request for a job of a step."""
        step = every_step()[name]
        return self.runtime_min["study" if step.scope == "study" else "session"] * step.times_as_long

    @cached_property
    def _largest_mb(self) -> float:
        """Return the size of the recordings of the largest session, MB."""
        mb = {file: (self.path / file).stat().st_size / 1e6 for file in self.sha256}
        files = ({file for row in rows for file in study_tables.files_of(row)} for rows in self.sessions.values())
        return max(sum(mb[file] for file in mine & mb.keys()) for mine in files)

    def key(self, step: str) -> Callable[[Any], str]:
        """Return the function from the wildcards to a job's key."""

        def of_wildcards(wildcards: Any) -> str:
            subject = getattr(wildcards, every_step()[step].scope, None)
            return json.dumps(self.content_of_key(step, subject), sort_keys=True)

        return of_wildcards

    def content_of_key(self, name: str, subject: str | None) -> dict[str, Any]:
        """Return what a job's key holds, by name; its subject is a session, a participant (``page``) or None."""
        step = every_step()[name]
        own = {**resolve(step.cells)(self, subject)} if step.cells else {}
        of_results = step.scope != "session" and step.inputs
        joined = [one for one in self.steps.values() if one.joins] if of_results else []
        tables = [module for one in joined for module in one.tables]
        taken: dict[str, Any] = {}
        if "additions" in step.takes:
            pages = [one for extra in every_extra().values() for one in extra.pages]
            asked = {one.report: resolve(one.needs)(self, name, subject) for one in pages}
            needs = {report: one for report, one in asked.items() if one is not None}
            added = [*(one.report for one in self.steps.values() if one.report), *needs]
            tables += [module for one in self.steps.values() for module in one.modules_of_pages]
            tables += [reference.partition(":")[0] for reference in needs]
            templates = {one: digests.digests_beside(one, ".html") for one in added}
            taken |= {part: content for part, content in (("additions", templates), ("needs", needs)) if content}
        if "body_model" in step.takes and self.body_model:
            taken["arguments"] = {"body_model": self.body_model.definition} | own.pop("arguments", {})
        if "corrections" in step.takes:
            stated = {**corrections.for_step(self.corrections.get(str(subject), ()), name)}
            for trial, arguments in own.pop("by_trial", {}).items():
                stated[trial] = {**stated.get(trial, {}), **arguments}
            taken["by_trial"] = stated
        return {
            "step": name,
            "session": subject if step.scope == "session" else None,
            "pipeline": __version__,
            "code": digests.code_digest(*dict.fromkeys((*code_of(name), *tables)), without=without_results()),
            "declared": digests.of_text(repr([one.content for one in (step, *joined)])),
            "versions": digests.versions(step.libraries + STORAGE),
            "settings": self.settings.get(step.section or name, {}),
            **taken,
            **own,
        }

    def digest(self, file: str | Path) -> str:
        """Return the SHA-256 of a file in the study, or anywhere, now."""
        return digests.sha256(self.path / file)

    def has_file(self, name: str) -> bool:
        """Return whether a path in the study is a file."""
        return settings.is_file(self.path / name)

    def calibration_of(self, session: str) -> dict[str, Any]:
        """Return the arguments of step ``calibrate`` that come from the tables."""
        row = self.participants[self.sessions[session][0]["participant_id"]]
        columns = (*study_tables.PARTICIPANT_COLUMNS, "mass_source", "width_source", "leg_length_source")
        own = self.own_sizes(session)
        participant = {name: row[name] for name in columns if row.get(name) and name not in (own or {})}
        segments = self.segments.get(row["participant_id"], [])
        functional = {row["trial"]: row["condition"] for row in self.sessions[session] if row["role"] == "functional"}
        age_years = self.in_results(session).get("age_years", "")
        table = settings.segment_table(self.settings["calibrate"]["segment_parameters"], age_years)
        given = {"functional": functional, "participant": participant, "segments": segments, "segment_table": table}
        return given | ({} if own is None else {"session_row": own})

    def own_sizes(self, session: str) -> tsv.Row | None:
        """Return the sizes of a session in sessions.tsv, None if it has no row there."""
        return session_table.sizes_in(self.session_rows[session]) if session in self.session_rows else None

    def about_sessions(self, names: Sequence[str]) -> dict[str, Any]:
        """Return what study.nc says of sessions that the tables and settings hold, as arguments of step ``study``."""
        cycles, sessions = self.settings["cycles"], dict[str, Any]()
        for name in names:
            trials = {row["trial"]: {one: row[one] for one in ("condition", "role")} for row in self.sessions[name]}
            sessions[name] = {"participant": self.in_results(name), "trials": trials}
        about = {
            "sessions": sessions,
            "about_reference": settings.shipped_references().get(self.settings["study"]["reference"], {}),
            "emg_pairs": cycles["emg_pairs"] if cycles["emg_normalisation"] != "none" else [],
        }
        return about | ({"corrected": True} if any(self.corrections.get(name) for name in names) else {})

    def recorded(self, participant: str) -> dict[str, str]:
        """Return the days of recording of a participant's sessions."""
        return {
            name: study_tables.days_of_recording([self.session_rows.get(name, {})], {})
            or study_tables.days_of_recording(self.sessions[name], self.participants[participant])
            for name in self.people[participant]
        }

    @property
    def visits(self) -> list[tuple[str, str]]:
        """Return session and visit of all sessions, the first visits first; empty if nobody has several."""
        people = [session_table.visits_in_order(who, self.recorded(who), self.session_rows) for who in self.people]
        return session_table.visits_of_people(people, self.session_rows)

    @cached_property
    def conditions(self) -> list[str]:
        """Return the conditions of all walks, the participants in order, which give the lines their styles."""
        rows = (row for sessions in self.people.values() for name in sessions for row in self.sessions[name])
        return list(dict.fromkeys(row["condition"] for row in rows if row["role"] == "gait"))

    @property
    def groups(self) -> dict[str, str]:
        """Return the column ``group`` of participants.tsv by participant, empty if it has no two groups."""
        cells = {name: self.participants[name].get("group", "") for name in self.people}
        groups = {name: study_tables.NO_GROUP if cell.lower() in tsv.ABSENT else cell for name, cell in cells.items()}
        return groups if len({*groups.values()}) > 1 else {}

    @cached_property
    def columns(self) -> dict[str, dict[str, float | str]]:
        """Return the columns of participants.tsv and sessions.tsv that study.nc has, cells by session."""
        return study_tables.columns_of_people({name: self.in_results(name) for name in self.sessions})

    def in_results(self, session: str) -> tsv.Row:
        """Return the row of participants.tsv of a session, with its cells of sessions.tsv, as results have them."""
        person = self.participants[self.sessions[session][0]["participant_id"]]
        anonymous = {name: cell for name, cell in person.items() if name != "subject"}  # which may hold a name
        return session_table.cells_in_results(anonymous, session, self.session_rows)

    def order_of(self, sessions: Sequence[str]) -> dict[str, list[str]]:
        """Return the order of sessions for a key, which sessions.tsv may change; nothing without that table."""
        return {"order": [*sessions]} if self.session_rows else {}

    @cached_property
    def reference_sha256(self) -> str | None:
        """Return the SHA-256 of the reference, None without one."""
        name = self.settings["study"]["reference"]
        return digests.sha256(reference_file(name, study_path=self.path)) if name else None
