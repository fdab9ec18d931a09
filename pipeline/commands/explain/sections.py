"""The facts of an explanation, which ``explanation.txt`` words."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr

from ...body.plausibility import axis_in_words
from ...conventions import FROM_HIP, SAME_STRIKE_S, STANDARD_GRAVITY_M_S2
from ...json_text import object_in
from ...signals.filters import stretches
from ...step import steps_to
from ...trials.left_out import in_words
from ...trials.session import FILES
from ...variables.cycle_variables import KNEE_AXIS
from ...variables.schema import FLAGS
from ...variables.stance_verdicts import verdict_of
from ...workflow import checksums
from ...workflow.digests import sha256
from .cycle_record import CycleRecord


def facts_of(record: CycleRecord) -> dict[str, Any]:
    """Return the facts by their names in the template, and the results of each step by its name."""
    read, contacts, model = (record.steps[step] for step in ("read", "contacts", "calibrate"))
    sizes, origin = (object_in(model.attrs, name) for name in ("anthropometry", "anthropometry_source"))
    plate_time = read.plate_time.values
    return {
        **record.steps,
        "record": record,
        "cycle": {name: one.item() for name, one in record.cycle.coords.items() if not one.ndim},
        "settings": record.settings,
        "json": json.dumps,
        "recording": [*_files(record, read)],
        "plate_rate_hz": round((len(plate_time) - 1) / np.ptp(plate_time), 3) if len(plate_time) > 1 else None,
        "axes": [", ".join(f"{part:g}" for part in np.round(row, 4) + 0.0) for row in read.lab_rotation.values],
        "frames_inside": record.within(read.time.values).sum(),
        "events": [*_events(record)],
        **_stance(record),
        "gravity_m_s2": STANDARD_GRAVITY_M_S2,
        **{f"{what}_left_out": in_words(contacts.attrs[f"{what}_left_out"]) for what in ("plates", "events")},
        **_markers(record),
        "static": [*_files(record, record.static)],
        "carriers": {joint: model.joint_carrier.sel(side=record.side, joint=joint).item() for joint in FROM_HIP},
        "segments": [*_segments(model.sel(side=record.side))],
        "sizes": [[name, f"{value:g}", origin[name]] for name, value in sorted(sizes.items())],
        **_checks(record),
        "verdicts": [*_verdicts(record)],
        "made_by": _made_by(record),
        "records": checksums.FOLDER,
    }


def _files(record: CycleRecord, trial: xr.Dataset) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each file of a recording, its state now, and its SHA-256 when it was read."""
    for name in (name for name in FILES if trial.attrs.get(name)):
        path, digest = record.derived.parent / trial.attrs[name], trial.attrs[f"{name}_sha256"]
        now = "is gone" if not path.is_file() else "is unchanged" if sha256(path) == digest else "has CHANGED"
        yield trial.attrs[name], now, digest


def _events(record: CycleRecord) -> Iterator[list[str]]:
    data = record.steps["contacts"]
    for i in np.flatnonzero(record.within(data.event_time.values)):
        time_s = float(data.event_time[i])
        kind, side, by = (str(data[name].values[i]) for name in ("event", "event_side", "event_source"))
        yield [kind.replace("_", " "), side, f"{time_s:.4f}", f"{record.frame(time_s):g}", by]


def _stance(record: CycleRecord) -> dict[str, Any]:
    """Return the stance that begins the cycle, empty if it is unknown, with least and largest force, and plates."""
    data, clean = record.steps["contacts"], record.steps["clean"]
    near = np.abs(data.contact_start.values - record.span_s[0]) < SAME_STRIKE_S
    mine = np.flatnonzero((data.contact_side.values == record.side) & near)
    if not mine.size:
        return {"stance": None}
    names = ("plates", "reason", "doubt", "contact_start", "contact_end")
    plates, reason, doubt, start_s, end_s = (data[name].values[mine[0]] for name in names)
    force = data.ground_force.sel(side=record.side).values[(data.time.values >= start_s) & (data.time.values <= end_s)]
    known, numbers = np.isfinite(force).any(), clean.plate.values.astype(str).tolist()
    return {
        "stance": {"plates": plates, "reason": reason, "doubt": doubt},
        "span_s": (start_s, end_s),
        "force": [*zip(np.nanmin(force, axis=0), np.nanmax(force, axis=0), strict=True)] if known else [],
        "plates": {number: clean.isel(plate=numbers.index(number)) for number in plates.split()},
    }


def _markers(record: CycleRecord) -> dict[str, Any]:
    """Return the cut-off of all landmarks, or each with its landmarks; repairs and unseen landmarks in the cycle."""
    clean = record.steps["clean"]
    inside, words = record.within(clean.time.values), FLAGS["clean", "fill"].split()
    by_cutoff: dict[float, list[str]] = {}
    repaired = []
    for name, label, cutoff_hz, fill in zip(
        *(clean[part].values.T.tolist() for part in ("marker", "label", "cutoff_hz")), clean.fill.values.T, strict=True
    ):
        by_cutoff.setdefault(cutoff_hz, []).append(name)
        for flag in np.unique(fill[inside & (fill > 0)]):
            runs = np.array(stretches(inside & (fill == flag))) - [0, 1]
            frames = [[f"{record.frame(time_s):g}" for time_s in clean.time.values[run]] for run in runs]
            in_words = ", ".join("-".join(dict.fromkeys(run)) for run in frames)
            repaired.append([name, label, words[flag].replace("_", " "), in_words])
    several = len(by_cutoff) > 1
    cutoffs = [f"{hz:.3g} Hz" + f": {', '.join(names)}" * several for hz, names in sorted(by_cutoff.items())]
    unseen = np.isnan(clean.marker_position.values[inside]).any(axis=(0, 2))
    return {"cutoffs": "; ".join(cutoffs), "repaired": repaired, "unseen": clean.marker.values[unseen].tolist()}


def _segments(leg: xr.Dataset) -> Iterator[list[str]]:
    """Yield mass, centre of mass and moments of inertia of the segments of a leg."""
    for segment in leg.segment.values.tolist():
        one = leg.sel(segment=segment)
        com = " ".join(f"{1000 * part:.1f}" for part in one.segment_com.values)
        inertia = " ".join(f"{part:.5f}" for part in np.diag(one.segment_inertia.values))
        yield [segment, f"{one.segment_mass:.3f}", com, inertia]


def _checks(record: CycleRecord) -> dict[str, Any]:
    """Return what other solutions of the equations differ by, and why the moment of a joint is unknown."""
    kinetics = record.steps["kinetics"]
    leg, inside = kinetics.sel(side=record.side), record.within(kinetics.time.values)
    words = FLAGS["kinetics", "missing"].split()
    joints = {joint: leg.sel(joint=joint) for joint in kinetics.joint.values.tolist()}
    missing = {joint: np.unique(one.missing.values[inside], return_counts=True) for joint, one in joints.items()}
    return {
        "formulations": [
            [name, *(f"{kinetics.disagreement.sel(formulation=name, load=load):.1e}" for load in ("force", "moment"))]
            for name in kinetics.formulation.values.tolist()
        ],
        "forward": [
            " ".join([joint, *(f"{value:.2e}" for value in one.forward_closure.values)])
            for joint, one in joints.items()
        ],
        "energy": [f"{name} {leg.energy_closure.sel(segment=name):.2e}" for name in leg.segment.values],
        "missing": {
            joint: [
                f"{words[code].replace('_', ' ')} in {count} frames" for code, count in zip(*found, strict=True) if code
            ]
            for joint, found in missing.items()
        },
    }


def _verdicts(record: CycleRecord) -> Iterator[tuple[str, str]]:
    """Yield the verdict on each stance that begins the cycle, and the knee axis of its trial."""
    data = record.steps["cycles"]
    near = np.abs(data.stance_start.values - record.span_s[0]) < SAME_STRIKE_S
    for i in np.flatnonzero(near & (data.stance_side.values == record.side)):
        names = ("code", "plates", "doubt_code", "reason", "doubt")
        code, plates, doubts, reason, doubt = (str(data[f"stance_{name}"].values[i]) for name in names)
        verdict = ": ".join(filter(None, [verdict_of(code, plates, doubts), reason or doubt]))
        yield verdict, axis_in_words(*(float(data[f"stance_{name}"].values[i]) for name in KNEE_AXIS))


def _made_by(record: CycleRecord) -> dict[str, dict[str, Any]]:
    """Return the versions that made the results of each step, empty if they are not recorded."""
    names = {step: f"{record.cycle.session.item()}/{step}.nc" for step in steps_to("cycles")} | {"study": "study.nc"}
    made_by = dict[str, dict[str, Any]]()
    for step, name in names.items():
        made = checksums.recorded(record.derived, name)
        parts = {part: text.strip('"') for part, text in made.made_with.items()} if made else {}
        kinds = ((part.partition("."), text) for part, text in parts.items())
        made_by[step] = parts and parts | {
            "versions": [f"{name} {text}" for (kind, _, name), text in kinds if kind == "versions"]
        }
    return made_by
