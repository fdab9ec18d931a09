"""Do what a user does with a folder of recordings, and list how it differs from what is true of them."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.commands.check.command import check
from pipeline.commands.init.command import initialise
from pipeline.errors import ERROR, Problem, UserError
from pipeline.steps.read.step import read_trial
from pipeline.tables import study_tables
from pipeline.vocabulary.event_names import kind_in, side_in
from pipeline.workflow.open_study import look_at
from pipeline.workflow.strict_yaml import read_yaml
from tests.odd_files.row import REFUSED, Row, Truth
from tests.odd_files.texts import loads
from tests.odd_files.walk import LAB, LABELS, walking
from tests.support.studies.run_steps import forces_of

Array = NDArray[np.float64]
TRACEBACK = "traceback: "
SAME_S = 1e-4  # of events: single precision, after hours
SAME_RATE = 1e-5  # of the rate: 0.01 frame after 1,000
LEAST_SEEN = 0.98  # of the samples; forces may end with the markers
NO_LOAD_N = 20.0  # what a plate that nobody steps on may show


@dataclass
class Seen:
    """What a user sees of a folder: all texts, findings, and what is read of each walk."""

    study: Path
    texts: list[str] = field(default_factory=list)
    findings: list[Problem] = field(default_factory=list)
    people: set[str] = field(default_factory=set)
    model: str | None = None
    walks: dict[str, xr.Dataset | str] = field(default_factory=dict)  # what is read, or why nothing is
    crash: str = ""

    @property
    def text(self) -> str:
        """All that is said, in one line, without the folder's own path."""
        everything = " ".join([*self.texts, *map(str, self.findings)])
        return " ".join(everything.replace(str(self.study), "STUDY").split())


def look(study: Path) -> Seen:
    """Run init, unless the tables are there, check, and the step read on every walk."""
    seen = Seen(study)
    try:
        _as_a_user(study, seen)
    except UserError as error:
        seen.texts.append(str(error))
    except Exception as error:  # a defect of any kind is what the judge looks for
        seen.crash = f"{type(error).__name__}: {error}, {traceback.extract_tb(error.__traceback__)[-1].name}"
    return seen


def _as_a_user(study: Path, seen: Seen) -> None:
    if not (study / "study.yaml").exists():
        seen.texts.append(initialise(study))
    seen.findings = check(study)
    opened, _ = look_at(study)
    rows = [row for session in opened.sessions.values() for row in session]
    seen.people = set(study_tables.read_participants(study / "participants.tsv"))
    seen.model = opened.body_model.name if opened.body_model else None
    for row in rows:
        if row["role"] == "gait":
            seen.walks[f"{row['file']} {row.get('subject', '')}".strip()] = _read(study, row, opened.body_model)


def _read(study: Path, row: Mapping[str, str], model: Any) -> xr.Dataset | str:
    if model is None:
        return "no body model"
    slope_deg = read_yaml(study / "study.yaml").get("read", {}).get("slope_deg", 0.0)
    subject = {"subject": row["subject"]} if row.get("subject", "n/a") != "n/a" else {}
    try:
        return read_trial(
            study / row["file"], body_model=model, forces=forces_of(study, row), lab_axes="quarter_turn",
            slope_deg=slope_deg, **subject,
        )  # fmt: skip
    except UserError as error:
        return str(error).replace(str(study), "STUDY")  # whose name may hold any word


def faults(row: Row, seen: Seen, usual: Seen) -> list[str]:
    """Return how the product differs from the truth; ``usual`` is what is seen of a plain folder of that kind."""
    if seen.crash:
        return [TRACEBACK + seen.crash]
    truth = row.truth
    refusals = [reason for reason in seen.walks.values() if isinstance(reason, str)]
    everything = " ".join([seen.text, *refusals])
    found = [f"not said: {words}" for words in truth.said if not re.search(words, everything, re.IGNORECASE)]
    found += [f"said: {words}" for words in truth.never if re.search(words, everything, re.IGNORECASE)]
    read = {name: _from(trial, truth.before) for name, trial in seen.walks.items() if not isinstance(trial, str)}
    if truth.or_refused and not read and all(re.search(words, everything, re.IGNORECASE) for words in truth.or_refused):
        return found
    if truth.outcome == REFUSED:
        return found + [f"{name} is read" for name in read if not _has_an_error(name, seen, usual)]
    found += _false_errors(truth, seen, usual)
    if len(seen.people) != truth.people:
        found.append(f"{len(seen.people)} people instead of {truth.people}")
    if truth.model and seen.model != truth.model:
        found.append(f"body model {seen.model}")
    found += [f"{name}: {reason}" for name, reason in seen.walks.items() if isinstance(reason, str)]
    if len(seen.walks) != truth.walks:
        found.append(f"{len(seen.walks)} walks instead of {truth.walks}")
    places = [_place(trial, truth) for trial in read.values()]
    if read and sorted(places) != sorted(truth.places_m * (len(read) // len(truth.places_m))):
        found.append(f"people walk at {places}")
    for name, trial in read.items():
        found += [f"{name}: {fault}" for fault in _differences(trial, truth)]
    return found


def _from(trial: xr.Dataset, frame: int) -> xr.Dataset:
    """Return a trial from a frame on; letter case of labels does not count."""
    trial = trial.assign_coords(marker=np.char.upper(trial.marker.values.astype(str)))
    at_s = float(trial.time[min(frame, len(trial.time) - 1)]) - SAME_S
    return trial.sel(time=slice(at_s, None), plate_time=slice(at_s, None)) if frame else trial


def _has_an_error(walk: str, seen: Seen, usual: Seen) -> bool:
    known = {finding.code for finding in usual.findings}
    return any(
        finding.where.startswith(walk) and finding.severity == ERROR and finding.code not in known
        for finding in seen.findings
    )


def _false_errors(truth: Truth, seen: Seen, usual: Seen) -> list[str]:
    """Return errors that the plain folder does not have, unless they say what must be said."""
    known = {finding.code for finding in usual.findings}
    new = [finding for finding in seen.findings if finding.severity == ERROR and finding.code not in known]
    expected = "|".join((*truth.said, *truth.follows)) or "$^"
    return [f"error: {finding}" for finding in new if not re.search(expected, str(finding), re.IGNORECASE)]


def _place(trial: xr.Dataset, truth: Truth) -> tuple[float, float, float]:
    """Return the nearest place of a person, by the first marker that is there."""
    markers = walking(*truth.rates_hz).markers
    label = next((name for name in LABELS if name in trial.marker.values), None)
    if label is None:
        return (0.0, 0.0, 0.0)
    there = LAB @ np.nanmean(trial.marker_position.sel(marker=label), axis=0)
    apart = there - markers[:, LABELS.index(label)].mean(axis=0)
    return min(truth.places_m, key=lambda place: float(np.linalg.norm(apart - place)))


def _differences(trial: xr.Dataset, truth: Truth) -> Iterator[str]:
    known = walking(*truth.rates_hz)
    rate = float(trial.attrs["marker_rate_hz"])
    if abs(rate / known.marker_hz - 1) > SAME_RATE:
        yield f"{rate} Hz instead of {known.marker_hz}"
    start_s = float(trial.time[0])
    if truth.start_s is not None and abs(start_s - truth.start_s) > SAME_S:
        yield f"begins at {start_s} s instead of {truth.start_s}"
    yield from _of_markers(trial, truth)
    yield from _of_forces(trial, truth)
    if truth.events is not None:
        yield from _of_events(trial, truth.events, start_s)


def _of_markers(trial: xr.Dataset, truth: Truth) -> Iterator[str]:
    markers = walking(*truth.rates_hz).markers + np.array(_place(trial, truth))
    if len(trial.time) != len(markers):
        yield f"{len(trial.time)} frames instead of {len(markers)}"
        return
    if truth.hidden:
        label, first, last = truth.hidden
        markers[first : last + 1, LABELS.index(label) if label else slice(None)] = np.nan
    if absent := [label for label in truth.labels if label not in trial.marker.values]:
        yield f"without the markers {', '.join(absent[:4])} ({len(absent)})"
        return
    own = [LABELS.index(label) for label in truth.labels]
    read = trial.marker_position.sel(marker=list(truth.labels)).values @ LAB.T
    if (np.isnan(read) != np.isnan(markers[:, own])).any():
        yield "other gaps"
    error = 1e3 * float(np.nanmax(np.abs(read - markers[:, own])))
    if not error <= truth.marker_mm:
        yield f"markers differ by {error:.3g} mm"


def _of_forces(trial: xr.Dataset, truth: Truth) -> Iterator[str]:
    known = walking(*truth.rates_hz)
    force, moment = known.force, known.moment
    if truth.loads:
        force, point, torque = loads(known)
        moment = np.cross(point, force) + torque
    plates = [int(number) - 1 for number in trial.plate.values]
    if truth.plates is None:
        return
    if absent := set(truth.plates) - set(plates):
        yield f"without the plates {sorted(number + 1 for number in absent)}"
    for number in set(plates) - set(truth.plates):
        largest = np.abs(trial.plate_force.sel(plate=number + 1)).max()
        if largest > NO_LOAD_N:
            yield f"plate {number + 1} shows {float(largest):.0f} N"
    if absent or not truth.plates:
        return
    place = (trial.plate_time.values - float(trial.time[0])) * known.force_hz
    sample = np.round(place).astype(int)
    if np.abs(place - sample).max() > 1e-2 or sample.max() >= len(force) or len(sample) < LEAST_SEEN * len(force):
        yield f"{len(sample)} samples of forces, at other instants than the {len(force)} of the file"
        return
    for name, true, limit in (("force", force, truth.force_n), ("moment", moment, truth.moment_n_m)):
        read = trial[f"plate_{name}"].sel(plate=[i + 1 for i in truth.plates]).values @ LAB.T
        error = float(np.abs(read - true[sample][:, list(truth.plates)]).max())
        if not error <= limit:
            yield f"{name}s differ by {error:.3g}"


def _of_events(trial: xr.Dataset, events: Sequence[tuple[float, str, str]], start_s: float) -> Iterator[str]:
    labels = zip(trial.event_time.values, trial.event.values, trial.event_side.values, strict=True)
    read = sorted(
        (float(time) - start_s, str(side) or side_in(str(label)), kind_in(str(label))) for time, label, side in labels
    )
    read = [event for event in read if all(event[1:])]  # the others are not used
    if [event[1:] for event in read] != [event[1:] for event in events]:
        yield f"{len(read)} events understood instead of {len(events)}"
    elif any(abs(one[0] - other[0]) > SAME_S for one, other in zip(read, events, strict=True)):
        yield f"events at other times: {read[0][0]:.4f} instead of {events[0][0]:.4f} s"
