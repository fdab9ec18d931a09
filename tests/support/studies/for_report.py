"""Generated studies for the report: sines that differ by joint, angle, side, condition."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache, partial
from html.parser import HTMLParser
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from pipeline.results.page_names import SCRIPT, STYLE
from pipeline.results.typed_tables import read_results
from pipeline.steps.cycles.representative import representative
from pipeline.steps.report.addition import (
    AboutOverview,
    AboutPage,
    Addition,
    Loaded,
    OverviewFiles,
    PageFiles,
    PersonShown,
    Tables,
)
from pipeline.steps.report.html_page import page_files
from pipeline.steps.report.page import page
from pipeline.steps.report.settings import Axes, Settings, Signs
from pipeline.steps.report.step import report
from pipeline.steps.study.step import per_participant, study
from pipeline.tables.session_table import visits_of_people
from pipeline.trials.session import join_trials
from pipeline.variables import cycle_variables
from pipeline.variables.cycle_variables import BANDS, KNEE_AXIS, RESIDUALS
from pipeline.variables.metrics import METRICS
from pipeline.variables.rows import DOUBT
from pipeline.variables.schema import stack_metrics
from pipeline.variables.stance_verdicts import Verdict, as_text
from tests.support.settings import settings_of
from tests.support.studies.rejected import rejection
from tests.support.studies.step_results import UNREPAIRED, as_loaded, constant_stances

PHASE = np.arange(101.0)
CURVES = {name: variable.dims[1:-1] for name, variable in cycle_variables.CURVES.items()}
JOINTS, ANGLES, AXES = ["ankle", "knee", "hip"], ["flexion", "adduction", "rotation"], ["x", "y", "z"]
LOADS = ["force", "moment"]
SHIFT = {"sub-01": -2.0, "sub-02": 0.0, "sub-03": 2.0}  # of a participant's curves; their SD is 2
REPEATS = {"sub-01": 2, "sub-02": 4, "sub-03": 6}  # cycles per side and trial, in pairs that differ by +-WOBBLE
WOBBLE = 0.5
SIDE_GAIN = {"left": 1.0, "right": 0.8}
CONDITION_GAIN = {"slow": 1.0, "fast": 1.5}
HOSTILE = "\"><x-evil onload='alert(1)'><script>alert(1)</script>%{y}{{ 7 * 7 }}</script><!--<script>"
SEGMENTS = ["foot", "shank", "thigh", "pelvis"]
TERMS, CAUSES = ["inertia", "velocity", "gravity", "ground"], ["ankle", "knee", "hip", "pelvis", "translation"]
# a leg in mm to draw: x forward, y up, z right
LEG_MM = {"hip": (0, 900, 100), "knee": (50, 500, 100), "ankle": (0, 100, 100), "heel": (-60, 30, 100)}
REPAIRS = {"filled_frames": 17, "labels_exchanged_back": "LKNE and RKNE"}
ABOUT = {"source": "a.c3d", "source_sha256": "cd"}
FORCE_N, PRESSURE_M = (30.0, 700.0, 10.0), (0.1, 0.0, 0.1)


def amplitude(joint: str, angle: str) -> float:
    """Return a different amplitude for each joint and angle."""
    return 10.0 * (1 + JOINTS.index(joint)) + ANGLES.index(angle)


def mean_flexion(joint: str, side: str, condition: str) -> Any:
    """Return the study's mean in closed form; the participants' shifts sum to zero."""
    return amplitude(joint, "flexion") * SIDE_GAIN[side] * CONDITION_GAIN[condition] * np.sin(2 * np.pi * PHASE / 100)


class Made(NamedTuple):
    """The arguments of the report; its pages are kept, as of a study that nobody changes."""

    study: xr.Dataset
    metrics: str
    quality: str
    means: str
    symmetry: str
    cycles: dict[str, xr.Dataset]
    representative: dict[str, xr.Dataset]
    calibrate: dict[str, xr.Dataset]
    participants: list[str]
    day: str = "2024-05-12"
    groups: Mapping[str, str] = {}
    visits: Mapping[str, str] = {}  # of sessions in the order of the visits; each is a visit if none is given
    chosen: tuple[str, ...] = ()
    detectable: Mapping[str, Mapping[str, Mapping[str, float]]] = {}
    clean: Mapping[str, xr.Dataset] = {}
    additions: Sequence[Loaded] = ()

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def pages(
        self, title: str = "A study", *, reference: str | None = None, moment_signs: Signs = "stored",
        axes: Axes = "fixed", pages: str = "all", at_a_time: int = 100,
        laboratory: str = "", logo: str = "", texts: Mapping[str, str] = MappingProxyType({}), only: str = "",
    ) -> dict[str, str]:  # fmt: skip
        """Return the overview, made from parts of some participants at a time, and all pages, or one of them alone."""
        tables = {name: self.table(name) for name in ("metrics", "quality", "means", "symmetry")}
        named = [name for name in ("condition", "condition_of_stance") if name in self.study.coords]
        groups = [self.participants[i : i + at_a_time] for i in range(0, len(self.participants), at_a_time)]
        settings = Settings(title=title, moment_signs=moment_signs, axes=axes, laboratory=laboratory, logo=logo)
        conditions = list(dict.fromkeys(label for name in named for label in self.study[name].values.tolist()))
        files = PageFiles(self.cycles, self.representative, self.calibrate, self.clean)
        recorded = dict.fromkeys(self.cycles, self.day)
        known = Loaded(Addition(detectable=lambda _: self.detectable))

        def overview() -> str:
            return report(
                ((people, self.part(people)) for people in groups),
                Tables(*([of[name] for name in self.participants] for of in tables.values())),
                OverviewFiles(self.cycles, self.calibrate),
                about=AboutOverview(self.participants, conditions, self.groups, self.visits_of_all(), pages, reference),
                settings=settings,
                additions=self.additions,
            )

        def of_person(name: str) -> str:
            return page(
                PersonShown(self.part([name]), *(tables[of][name] for of in ("metrics", "quality", "symmetry"))),
                files,
                about=AboutPage(name, recorded, conditions, self.visits_of(name), texts, reference, self.chosen),
                settings=settings,
                additions=[known, *self.additions],
            )

        every = {"report.html": overview} | {
            f"report/{name}.html": partial(of_person, name) for name in self.participants
        }
        return {name: make() for name, make in every.items() if only in ("", name)}

    def visits_of(self, person: str) -> list[tuple[str, str]]:
        """Return session and visit of a participant."""
        own = [name for name in self.visits or self.cycles if name.partition("_")[0] == person]
        return [(name, self.visits.get(name, name)) for name in own]

    def visits_of_all(self) -> list[tuple[str, str]]:
        """Return the visit of all sessions for the overview."""
        rows = {session: {"visit": visit} for session, visit in self.visits.items()}
        return visits_of_people([self.visits_of(name) for name in self.participants], rows)

    def table(self, name: str) -> dict[str, pd.DataFrame]:
        """Return the rows of a table by participant."""
        every = read_results("participants" if name == "means" else name, getattr(self, name))
        return {person: every[every["participant"] == person] for person in self.participants}

    def part(self, people: list[str]) -> xr.Dataset:
        """Return the rows of study.nc of some participants."""
        names = {"cycle": "participant", "stance": "participant_of_stance"}
        return self.study.isel(
            {row: np.isin(self.study[name].values, people) for row, name in names.items() if name in self.study.coords}
        )

    def overview(self, title: str = "A study") -> str:
        """Return the page of the study."""
        return _page(self, "report.html", title)

    def person(self, name: str = "sub-01", title: str = "A study", *, reference: str | None = None) -> str:
        """Return the page of a participant."""
        return _page(self, f"report/{name}.html", title, reference)


@lru_cache(maxsize=8)
def _page(study: Made, name: str, title: str, reference: str | None = None) -> str:
    return study.pages(title, reference=reference, only=name)[name]


def trial_cycles(
    person: str, condition: str, sides: list[str], *, valid: bool = True, reason: str = "", alone: int = 0
) -> xr.Dataset:
    """Return a trial of cycles.nc: sines that differ by joint, angle, side, condition.

    ``alone`` right stances from 100 s on, of 0.6 s, have no cycle; their curves and metrics are 100, 101, ...
    """
    side = np.array([name for name in sides for _ in range(REPEATS[person])])
    count = len(side)
    no_doubts: dict[str, Any] = {name: ("cycle", np.full(count, "")) for name in DOUBT}
    no_doubts |= {f"stance_{name}": ("stance", np.full(count + alone, "")) for name in DOUBT}
    code, why = ("two_feet_on_plate", as_text([Verdict.of("two_feet_on_plate")])) if reason else ("", "")
    gain = np.array([SIDE_GAIN[name] for name in side]) * CONDITION_GAIN.get(condition, 1.0)
    offset = SHIFT[person] + WOBBLE * (-1.0) ** np.arange(count)
    sizes = np.array([[amplitude(joint, angle) for angle in ANGLES] for joint in JOINTS])
    curves = {}
    for name, dims in CURVES.items():
        size = sizes[:2, 0] if dims == ("load",) else (np.array(1.0), sizes[:, 0], sizes)[len(dims)]
        wave = np.multiply.outer(np.multiply.outer(gain, size), np.sin(2 * np.pi * PHASE / 100))
        known = 1.0 if valid or name in ("joint_angle", "pelvis_angle", "foot_progression") else np.nan
        values = known * (wave + offset.reshape(-1, *[1] * (wave.ndim - 1)))
        curves[name] = (("cycle", *dims, "phase"), values)
    columns = dict.fromkeys(METRICS, 1.0 + offset) | {"stance_share": 60 + offset}
    start = np.tile(np.arange(REPEATS[person], dtype=float), len(sides))
    stances, later = count + alone, 100.0 + np.arange(alone)
    touched = np.append(start, later)
    checks = {
        "stance_start": ("stance", touched),
        "stance_end": ("stance", touched + 0.6),
        "stance_seen_percent": ("stance", np.full(stances, 100.0)),
        "stance_disagreement": ("stance", np.full(stances, 2e-13)),
        "stance_forward_closure": (("stance", "joint"), np.full((stances, 3), 0.25)),
        "stance_energy_closure": (("stance", "segment"), np.full((stances, 3), 0.125)),
        **{f"stance_{name}": ("stance", np.full(stances, 5.0)) for name in RESIDUALS | KNEE_AXIS},
    }
    stacked, names = stack_metrics(columns)
    return xr.Dataset(
        curves | stacked | checks | constant_stances(np.append(np.full(count, 1.0 if valid else np.nan), later)),
        {
            "phase": PHASE,
            "stance_phase": PHASE,
            "joint": JOINTS,
            "angle": ANGLES,
            "axis": AXES,
            "load": LOADS,
            "segment": SEGMENTS[:3],
        }
        | names,
        UNREPAIRED | REPAIRS | ABOUT,
    ).assign_coords(
        side=("cycle", side),
        start_time=("cycle", start),
        end_time=("cycle", start + 1),
        kinetics_valid=("cycle", np.full(count, valid)),
        reason=("cycle", np.full(count, reason)),
        reason_code=("cycle", np.full(count, code)),
        reason_values=("cycle", np.full(count, why)),
        stance_side=("stance", np.append(side, ["right"] * alone)),
        stance_plates=("stance", np.full(stances, "1 2")),
        stance_reason=("stance", np.append(np.full(count, reason), [""] * alone)),
        stance_code=("stance", np.append(np.full(count, code), [""] * alone)),
        stance_reason_values=("stance", np.append(np.full(count, why), [""] * alone)),
        **no_doubts,
    )


def trial_steps(cycles: xr.Dataset) -> dict[str, xr.Dataset]:
    """Return the other steps' results: a person at rest who lifts each foot in turn."""
    time = np.arange(0, cycles.end_time.values.max(initial=0) + 1, 0.02)
    sides = ["left", "right"]
    still = {"time": time, "side": sides, "axis": AXES, "joint": JOINTS, "angle": ANGLES, "local_axis": AXES}
    shape = (len(time), 2)
    mirror = np.array([[1, 1, -1], [1, 1, 1]])
    centre = np.array([LEG_MM[joint] for joint in JOINTS]) / 1000 * mirror[:, None]
    heel = np.array(LEG_MM["heel"]) / 1000 * mirror
    touching = np.stack([time % 1 < 0.6, (time % 1 > 0.1) & (time % 1 < 0.45)], axis=1)[..., None]
    terms = np.zeros((*shape, 3, 4, 3))
    terms[..., 3, 2] = 70.0  # the ground, about z
    return {
        "clean": xr.Dataset(
            {"marker_position": (("time", "marker", "axis"), np.broadcast_to(heel, (*shape, 3)))},
            {"time": time, "marker": ["heel_left", "heel_right"], "axis": AXES},
        ),
        "contacts": xr.Dataset(
            {
                "ground_force": (("time", "side", "axis"), np.where(touching, FORCE_N, 0.0)),
                "centre_of_pressure": (("time", "side", "axis"), np.where(touching, PRESSURE_M, np.nan)),
            },
            {name: still[name] for name in ("time", "side", "axis")},
        ),
        "kinematics": xr.Dataset(
            {
                "joint_centre": (("time", "side", "joint", "axis"), np.broadcast_to(centre, (*shape, 3, 3))),
                "rotation": (
                    ("time", "side", "segment", "local_axis", "axis"), np.broadcast_to(np.eye(3), (*shape, 4, 3, 3)),
                ),
            },
            {name: still[name] for name in ("time", "side", "joint", "axis", "local_axis")} | {"segment": SEGMENTS},
        ),
        "kinetics": xr.Dataset(
            {
                "joint_moment_term": (("time", "side", "joint", "term", "local_axis"), terms),
                "joint_moment_jcs": (("time", "side", "joint", "angle"), np.zeros((*shape, 3, 3))),
                "interaction_torque": (
                    ("time", "side", "joint", "angle", "cause", "motion"), np.zeros((*shape, 3, 3, 5, 2)),
                ),
            },
            {name: still[name] for name in ("time", "side", "joint", "angle", "local_axis")}
            | {"term": TERMS, "cause": CAUSES, "motion": ["acceleration", "velocity"]},
        ),
    }  # fmt: skip


def made(
    trials: dict[str, dict[str, xr.Dataset]],
    conditions: dict[str, str],
    own: dict[str, dict[str, str]] | None = None,
    /,
    **column: str,
) -> Made:
    """Return a study with trials of sessions, which are named like their participant, also with ``_`` and more.

    ``column`` are cells of participants.tsv that all have, ``own`` those of each participant.
    """
    people = {session: session.partition("_")[0] for session in trials}
    sessions = {
        session: {
            "participant": {"participant_id": person, "mass_kg": "70", **column, **(own or {}).get(person, {})},
            "trials": {trial: {"condition": conditions[trial], "role": "gait"} for trial in trials[session]},
        }
        for session, person in people.items()
    }
    cycles = {session: as_loaded("cycles", join_trials(groups)) for session, groups in trials.items()}
    dataset, metrics, quality = study(cycles, sessions=sessions, settings=settings_of("study", reference=None))
    means, symmetry = per_participant(metrics)
    dataset = as_loaded("study", dataset)
    dataset.attrs = {
        "title": "Gait cycles of a study",
        "history": "read: pipeline 0.1.0\nstudy: pipeline 0.1.0",
        "pipeline_version": "0.1.0",
        "settings": json.dumps({"clean": {"marker_cutoff_hz": 10}}),
        "source_sha256": json.dumps({"sub-01/walk.c3d": "ab" * 32}),
    }
    shown = {
        session: as_loaded("representative", of_session(cycles[session], groups, conditions))
        for session, groups in trials.items()
    }
    cleaned = {
        session: join_trials(
            {
                name: one if "rejected" in one.attrs else on_plates(trial_steps(one)["clean"])
                for name, one in groups.items()
            }
        )
        for session, groups in trials.items()
    }
    return Made(
        dataset,
        metrics=metrics.to_csv(index=False),
        quality=quality.to_csv(index=False),
        means=means.to_csv(index=False),
        symmetry=symmetry.to_csv(index=False),
        cycles=cycles,
        representative=shown,
        calibrate={session: calibrated() for session in trials},
        clean=cleaned,
        participants=list(dict.fromkeys(people.values())),
    )


def on_plates(clean: xr.Dataset) -> xr.Dataset:
    """Return what the report takes from clean.nc of a trial: plates in a row, each pressed in its middle."""
    corners = np.array([[0.6, 0, 0.2], [0, 0, 0.2], [0, 0, -0.2], [0.6, 0, -0.2]]) + [[[i, 0, 0]] for i in range(9)]
    force = np.broadcast_to([0.0, 700.0, 0.0], (clean.sizes["time"], len(corners), 3))
    plate = ("time", "plate", "axis")
    return clean.assign(
        plate_corner=(("plate", "corner", "axis"), corners),
        plate_force=(plate, force),
        plate_moment=(plate, np.cross(corners.mean(axis=1), force)),
    ).assign_coords(plate=np.arange(1, len(corners) + 1))


def calibrated(**facts: Any) -> xr.Dataset:
    """Return what the report takes from calibrate.nc: a person of 70 kg, whom the plates confirm."""
    about = {"body_mass_kg": 70.0, "body_mass_source": "participants.tsv", "note": "", "findings": "[]"}
    shown = {"body_mass_shown": "the plates under the static trial show 70.4 kg"}
    return xr.Dataset({"leg_refused": ("side", ["", ""])}, {"side": ["left", "right"]}, about | shown | facts)


def of_session(cycles: xr.Dataset, trials: dict[str, xr.Dataset], conditions: dict[str, str]) -> xr.Dataset:
    """Return the trial to show of a session."""
    steps = {name: trial_steps(trial) for name, trial in trials.items() if "rejected" not in trial.attrs}
    sessions = (
        join_trials({name: steps[name][step] if name in steps else trial for name, trial in trials.items()})
        for step in ("kinetics", "kinematics", "contacts", "clean")
    )
    return representative(cycles, *sessions, conditions=conditions)


def with_errors(dataset: xr.Dataset, *, below: float, above: float) -> xr.Dataset:
    """Return a study with error bands, and shares of 0.1 to 0.4 for four sources."""
    bands = {
        band: xr.concat([dataset[name] - below, dataset[name] + above], dim="percentile")
        for name, band in BANDS.items()
    }
    tenths = xr.DataArray([0.1, 0.2, 0.3, 0.4], {"error_source": ["marker_noise", "b", "c", "d"]}, ["error_source"])
    shares = tenths * xr.ones_like(dataset.joint_moment_jcs).where(dataset.joint_moment_jcs.notnull())
    extended = dataset.assign(bands | {"joint_moment_variance_share": shares})
    return extended.assign_coords(percentile=[2.5, 97.5])


@cache
def three_people() -> Made:
    """Return a study of three at two speeds, with a trial and six stances rejected."""
    conditions = {"walk_1": "slow", "walk_2": "fast", "walk_3": "fast"}
    both = ["left", "right"]
    trials = {
        person: {"walk_1": trial_cycles(person, "slow", both), "walk_2": trial_cycles(person, "fast", both)}
        for person in SHIFT
    }
    trials["sub-01"]["walk_3"] = rejection("walk_3.c3d: the file ends early", {}).dataset()
    trials["sub-03"]["walk_3"] = trial_cycles("sub-03", "fast", ["left"], valid=False, reason="two feet on plate 1")
    return made(trials, conditions, group="control")


class Page(HTMLParser):
    """The elements of a page: tags with attributes, and its texts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {"script": [], "style": []}
        self.words = self.inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.inside = tag
        if tag in self.texts:
            self.texts[tag].append("")

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside in self.texts:
            self.texts[self.inside][-1] += data
        else:
            self.words += f" {' '.join(data.split())}"

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of all elements of a kind."""
        return [attributes for name, attributes in self.tags if name == tag]

    def figures(self) -> list[list[dict[str, Any]]]:
        """Return the panels of the study, then of each participant."""
        return [data["means"] for data in self.data() if "means" in data]

    def singles(self) -> list[list[list[dict[str, Any]]]]:
        """Return the single curves of each curve of each panel, of every group of panels."""
        return [data["single"] for data in self.data() if "single" in data]

    def walks(self) -> list[dict[str, Any]]:
        """Return the shown walk of each participant."""
        return [data for data in self.data() if "scene" in data]

    def programs(self) -> list[str]:
        """Return the scripts inside the page that run."""
        return [text for kind, text in self._scripts() if kind is None and text]

    def data(self) -> list[dict[str, Any]]:
        """Return what the page holds compressed for its scripts."""
        packed = (text for kind, text in self._scripts() if kind == "application/gzip")
        return [
            json.loads(gzip.decompress(base64.b64decode(text)), object_hook=_summed_if_differences) for text in packed
        ]

    def _scripts(self) -> list[tuple[str | None, str]]:
        return [(a.get("type"), text) for a, text in zip(self.all("script"), self.texts["script"], strict=True)]


def _summed_if_differences(data: dict[str, Any]) -> Any:
    """Return the numbers of which a page holds second differences; else the data as they are."""
    if "second_differences" not in data:
        return data
    value, slope, numbers = 0, 0, []
    for change in data["second_differences"]:
        slope += change or 0
        value += slope if change is not None else 0
        numbers.append(None if change is None else value / 10 ** data["decimals"])
    return numbers


def written(pages: dict[str, str], folder: Path) -> Path:
    """Write pages with the files that they share as a run does, and return their folder."""
    for name, text in (pages | dict(zip((SCRIPT, STYLE), page_files(), strict=True))).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def curve_of(figures: list[dict[str, Any]], title: str, side: str, line: str) -> dict[str, Any]:
    """Return the one curve of a side and a line in the one figure of a title."""
    (figure,) = [figure for figure in figures if figure["title"] == title]
    (curve,) = [curve for curve in figure["curves"] if (curve["side"], curve["line"]) == (side, line)]
    return dict(curve)
