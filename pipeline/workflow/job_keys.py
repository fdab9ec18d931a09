"""The study as the Snakefile needs it: its sessions, their files, and the key of each job.

The *key* of a job is a JSON text with everything that the step uses besides its input files: settings, table cells,
body model, SHA-256 of the sources, digest of its code, versions of its libraries. Snakemake reruns a job when its key
changes. The step gets its arguments from the key, so it cannot use anything that does not trigger it.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import __version__
from ..body.body_model import BodyModel
from ..errors import UserError
from ..steps.repeatability.design import Design, design_of
from ..steps.report.page_names import page_names
from ..tables import corrections, session_table, study_tables, tsv
from ..tables.reference_curves import reference_file
from . import checksums, digests, settings
from .report_additions import files_of_curve_tests, texts_of

LIBRARIES = {
    "read": ("numpy", "scipy", "ezc3d"),
    "clean": ("numpy", "scipy"),
    "kinematics": ("numpy", "scipy"),
    "kinetics": ("numpy", "scipy"),
    "muscles": ("numpy", "scipy", "opensim"),
    "study": ("numpy", "pandas"),
    "repeatability": ("numpy", "scipy", "pandas"),
    "report": ("numpy", "scipy", "pandas", "jinja2", "plotly"),
    "page": ("numpy", "pandas", "jinja2", "plotly"),
}
NOT_OF_ALL_PAGES = ("pages", "notes", "repeatability", "curve_tests")  # settings of the report
STORAGE = ("xarray", "netCDF4")


def code_of(step: str) -> tuple[str, ...]:
    """Return the modules that a job calls; their imports belong to its code."""
    if step == "page":
        return "pipeline.steps.report.page", "pipeline.workflow.jobs.run_job", "pipeline.workflow.jobs.report_job"
    job = f"{step}_job" if step in ("study", "repeatability", "report") else "session_job"
    more = ("pipeline.steps.cycles.shown_walk.representative",) if step == "cycles" else ()
    return f"pipeline.steps.{step}.step", *more, "pipeline.workflow.jobs.run_job", f"pipeline.workflow.jobs.{job}"


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
        """Return the sessions of each participant who has trials; with sessions.tsv in the order of their dates."""
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

    def _corrections(self, session: str, step: str) -> dict[str, dict[str, Any]]:
        """Return the corrections that a step applies to trials of a session, by trial."""
        return {**corrections.for_step(self.corrections.get(session, ()), step)}

    @cached_property
    def repeated(self) -> dict[str, dict[str, str]]:
        """Return person, visit and assessor of each session in sessions.tsv, a person's in the order of their dates."""
        columns = ("participant_id", "visit", "assessor")
        return {
            name: {column: row[column] for column in columns if row.get(column, "").lower() not in tsv.ABSENT}
            for sessions in self.people.values()
            for name in sessions
            if (row := self.session_rows.get(name))
        }

    @cached_property
    def repeated_design(self) -> Design | None:
        """Return the design of the repeated measurements, None without enough of them."""
        return design_of(self.repeated, [str(name) for name in self.settings["repeatability"]["visits"]])

    @property
    def has_muscles(self) -> bool:
        """Return whether the study has the step ``muscles``."""
        return bool(self.settings["muscles"]["opensim"])

    def files_of_page(self, participant: str) -> dict[str, list[str]]:
        """Return the input files of a participant's page by name, relative to the study."""
        if participant not in self.people:
            raise UserError("trials.tsv", f"no participant '{participant}'", "ask for the page of one that it has")
        sessions, names = self.people[participant], ("cycles", "representative", "calibrate", "clean")
        files = {name: [f"derived/{session}/{name}.nc" for session in sessions] for name in names}
        files |= {"muscles": [f"derived/{session}/muscles.nc" for session in sessions]} if self.has_muscles else {}
        own = len(sessions) > 1 and self.repeated_design and not self.settings["report"]["repeatability"]
        return files | ({"repeatability": ["derived/repeatability.csv"]} if own else {})

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

    @cached_property
    def _largest_mb(self) -> float:
        """Return the size of the recordings of the largest session, MB."""
        mb = {file: (self.path / file).stat().st_size / 1e6 for file in self.sha256}
        of_sessions = (
            {file for row in rows for file in study_tables.files_of(row)} & mb.keys() for rows in self.sessions.values()
        )
        return max(sum(mb[file] for file in files) for files in of_sessions)

    def key(self, step: str) -> Callable[[Any], str]:
        """Return the function from the wildcards to a job's key."""

        def of_wildcards(wildcards: Any) -> str:
            subject = getattr(wildcards, "participant" if step == "page" else "session", None)
            return json.dumps(self.content_of_key(step, subject), sort_keys=True)

        return of_wildcards

    def content_of_key(self, step: str, subject: str | None) -> dict[str, Any]:
        """Return what a job's key holds, by name; its subject is a session, a participant (``page``) or None."""
        return {
            "step": step,
            "session": None if step == "page" else subject,
            "pipeline": __version__,
            "code": digests.code_digest(*code_of(step)),
            "versions": digests.versions(LIBRARIES.get(step, ("numpy",)) + STORAGE),
            "settings": self.settings.get(step, {}),
            **getattr(self, f"_{step}_needs", lambda _: {})(subject),
        }

    @property
    def _body_model(self) -> dict[str, Any]:
        return {"body_model": self.body_model.definition} if self.body_model else {}

    def _read_needs(self, session: str) -> dict[str, Any]:
        trials = [
            {
                **{name: row[name] for name in ("trial", "file", "role")},
                **study_tables.person_of(row, self.participants),
                "sha256": self.sha256.get(row["file"]),
                **self._forces(row),
            }
            for row in self.sessions[session]
        ]
        return {"trials": trials, "arguments": self._body_model}

    def _forces(self, row: tsv.Row) -> dict[str, Any]:
        """Return the file with a trial's forces, that of their external loads, and their SHA-256, if it has them."""
        forces, loads = study_tables.forces_of(row), study_tables.external_loads_of(row)
        found = {"forces": forces, "forces_sha256": self.sha256.get(forces)} if forces else {}
        return found | ({"loads": loads, "loads_sha256": self.sha256[loads]} if loads in self.sha256 else {})

    def calibration_of(self, session: str) -> dict[str, Any]:
        """Return the arguments of step ``calibrate`` that come from the tables."""
        row = self._person(self.sessions[session])
        columns = (*study_tables.PARTICIPANT_COLUMNS, "mass_source", "width_source", "leg_length_source")
        own = self.own_sizes(session)
        participant = {name: row[name] for name in columns if row.get(name) and name not in (own or {})}
        segments = self.segments.get(row["participant_id"], [])
        functional = {row["trial"]: row["condition"] for row in self.sessions[session] if row["role"] == "functional"}
        age_years = self._in_results(session).get("age_years", "")
        table = settings.segment_table(self.settings["calibrate"]["segment_parameters"], age_years)
        given = {"functional": functional, "participant": participant, "segments": segments, "segment_table": table}
        return given | ({} if own is None else {"session_row": own})

    def own_sizes(self, session: str) -> tsv.Row | None:
        """Return the sizes of a session in sessions.tsv, None if it has no row there."""
        return session_table.sizes_in(self.session_rows[session]) if session in self.session_rows else None

    def _calibrate_needs(self, session: str) -> dict[str, Any]:
        return {"arguments": self._body_model | self.calibration_of(session)}

    def _clean_needs(self, session: str) -> dict[str, Any]:
        corrected = self._corrections(session, "clean")
        return {"arguments": self._body_model} | ({"by_trial": corrected} if corrected else {})

    def _kinematics_needs(self, _: str) -> dict[str, Any]:
        return {"arguments": self._body_model}

    def _contacts_needs(self, session: str) -> dict[str, Any]:
        """Return plates under each foot, belt speed and corrections; a trial without any gets no argument."""
        given = self._corrections(session, "contacts")
        for row in self.sessions[session]:
            speed = tsv.number(row, "belt_speed_m_s", where="trials.tsv")
            stated = study_tables.plates_in_row(row) | ({} if speed is None else {"belt_speed_m_s": speed})
            given |= {row["trial"]: given.get(row["trial"], {}) | stated} if stated else {}
        return {"by_trial": given}

    def _muscles_needs(self, _: str) -> dict[str, Any]:
        return {"model_sha256": digests.sha256(self.path / self.settings["muscles"]["model"])}

    def _cycles_needs(self, session: str) -> dict[str, Any]:
        """Return the cycles to leave out, and the condition of each trial."""
        conditions = {row["trial"]: row["condition"] for row in self.sessions[session]}
        return {"by_trial": self._corrections(session, "cycles"), "conditions": conditions}

    def _report_needs(self, _: None) -> dict[str, Any]:
        needs = {
            "participants": [*self.people],
            "conditions": self._conditions,
            "groups": self._groups,
            "visits": self._visits,
        }
        needs |= {"pages": self.settings["report"]["pages"], "reference": self.settings["study"]["reference"]}
        if folder := self.settings["report"]["curve_tests"]:
            files = [
                one for path in files_of_curve_tests(self.path, folder) for one in (path, path.with_suffix(".txt"))
            ]
            needs |= {"curve_tests": {"folder": folder, "sha256": {path.name: digests.sha256(path) for path in files}}}
        return self._of_all_pages | {"arguments": needs}

    def _repeatability_needs(self, _: None) -> dict[str, Any]:
        return {"arguments": {"sessions": self.repeated}} | self._order([*self.repeated])

    def _page_needs(self, participant: str) -> dict[str, Any]:
        """Return what a page needs: of the whole study only its conditions, and which columns hold numbers."""
        sessions = self.people[participant]
        recorded = self._recorded(participant)
        needs = self._study_needs(None, sessions)["arguments"] | {"study": self.settings["study"]}
        needs |= {"participant": participant, "recorded": recorded, "conditions": self._conditions}
        needs |= {"visits": session_table.visits_in_order(participant, recorded, self.session_rows)}
        if (name := self.settings["report"]["repeatability"]) and len(sessions) > 1:
            needs |= {"repeatability": {"file": name, "sha256": digests.sha256(self.path / name)}}
        needs["texts"] = texts_of(self.path, self.settings["report"]["notes"], participant)
        columns = {name: {one: cells[one] for one in sessions} for name, cells in self._columns.items()}
        return self._of_all_pages | {"arguments": needs | {"columns": columns}} | self._order(sessions)

    def _recorded(self, participant: str) -> dict[str, str]:
        """Return the days of recording of a participant's sessions."""
        return {
            name: study_tables.days_of_recording([self.session_rows.get(name, {})], {})
            or study_tables.days_of_recording(self.sessions[name], self.participants[participant])
            for name in self.people[participant]
        }

    @property
    def _visits(self) -> list[tuple[str, str]]:
        """Return session and visit of all sessions, the first visits first; empty if nobody has several."""
        people = [session_table.visits_in_order(who, self._recorded(who), self.session_rows) for who in self.people]
        return session_table.visits_of_people(people, self.session_rows)

    @cached_property
    def _of_all_pages(self) -> dict[str, Any]:
        """Return what the keys of the overview and of all pages hold; which pages are written changes none."""
        report = self.settings["report"]
        templates = sorted((digests.PACKAGE / "steps" / "report" / "templates").iterdir())
        return {
            "settings": {name: value for name, value in report.items() if name not in NOT_OF_ALL_PAGES},
            "templates": {path.name: digests.sha256(path) for path in templates},
            "reference": self._reference_sha256,
            **({"logo": digests.sha256(self.path / report["logo"])} if report["logo"] else {}),
        }

    @cached_property
    def _conditions(self) -> list[str]:
        """Return the conditions of all walks, the participants in order, which give the lines their styles."""
        rows = (row for sessions in self.people.values() for name in sessions for row in self.sessions[name])
        return list(dict.fromkeys(row["condition"] for row in rows if row["role"] == "gait"))

    @property
    def _groups(self) -> dict[str, str]:
        """Return the column ``group`` of participants.tsv by participant, empty if it has no two groups."""
        cells = {name: self.participants[name].get("group", "") for name in self.people}
        groups = {name: study_tables.NO_GROUP if cell.lower() in tsv.ABSENT else cell for name, cell in cells.items()}
        return groups if len({*groups.values()}) > 1 else {}

    @cached_property
    def _columns(self) -> dict[str, dict[str, float | str]]:
        """Return the columns of participants.tsv and sessions.tsv that study.nc has, cells by session."""
        return study_tables.columns_of_people({name: self._in_results(name) for name in self.sessions})

    def _in_results(self, session: str) -> tsv.Row:
        """Return the row of participants.tsv of a session, with its cells of sessions.tsv, as results have them."""
        person = study_tables.without_subject(self._person(self.sessions[session]))
        return session_table.cells_in_results(person, session, self.session_rows)

    def _order(self, sessions: Sequence[str]) -> dict[str, list[str]]:
        """Return the order of sessions, which sessions.tsv may change."""
        return {"order": [*sessions]} if self.session_rows else {}

    def _person(self, rows: Sequence[tsv.Row]) -> tsv.Row:
        """Return the row of participants.tsv of a session's rows of trials.tsv."""
        return self.participants[rows[0]["participant_id"]]

    @property
    def _reference_sha256(self) -> str | None:
        name = self.settings["study"]["reference"]
        return digests.sha256(reference_file(name, study_path=self.path)) if name else None

    def _study_needs(self, _: None, some: Sequence[str] | None = None) -> dict[str, Any]:
        sessions = {
            name: {
                "participant": self._in_results(name),
                "trials": {
                    row["trial"]: {"condition": row["condition"], "role": row["role"]} for row in self.sessions[name]
                },
            }
            for name in some or self.sessions
        }
        about = settings.shipped_references().get(self.settings["study"]["reference"], {})
        cycles = self.settings["cycles"]
        pairs = cycles["emg_pairs"] if cycles["emg_normalisation"] != "none" else []
        needs = {"sessions": sessions, "about_reference": about, "emg_pairs": pairs}
        if any(self.corrections.get(name) for name in sessions):
            needs["corrected"] = True
        return {"reference": self._reference_sha256, "arguments": needs, **self._order(some or [*self.sessions])}
