"""The sections of an explanation."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

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
from .cycle_record import Blocks, CycleRecord

SHORT = 12  # characters of a digest


def sections(record: CycleRecord) -> dict[str, Blocks]:
    """Return the sections by title: first the data of the cycle, then the model, checks and settings."""
    return {
        "Recording": _recording(record),
        "Frames and events": _events(record),
        "Ground contact": _contact(record),
        "Markers": _markers(record),
        **({"Corrected by hand": iter(record.corrections)} if record.corrections else {}),
        "Model of the person": _model(record),
        "Body": _body(record),
        "Checks": _checks(record),
        "Settings": _settings(record),
        "Made by": _provenance(record),
    }


def _recording(record: CycleRecord) -> Blocks:
    read = record.steps["read"]
    yield from file_lines(record, read)
    time = read.time.values
    analog = f", plates at {_rate(read.plate_time.values):g} Hz" if read.sizes["plate_time"] > 1 else ""
    first, last = record.frame(time[0]), record.frame(time[-1])
    yield f"frames {first:g} to {last:g} at {record.rate_hz:g} Hz{analog}; walking {read.attrs['direction_of_travel']}"
    rows = read.lab_rotation.values
    yield "lab axes in file axes: " + ", ".join(
        f"{axis} = ({', '.join(f'{part:g}' for part in np.round(row, 4) + 0.0)})"
        for axis, row in zip(("x forward", "y up", "z right"), rows, strict=True)
    )
    yield from (f"labels: {note}" for note in str(read.attrs.get("label_notes", "")).split("; ") if note)


def file_lines(record: CycleRecord, trial: xr.Dataset) -> Iterator[str]:
    """Yield the name of each file of a recording, its state now, and its SHA-256 when it was read."""
    for name in (name for name in FILES if trial.attrs.get(name)):
        path = record.derived.parent / trial.attrs[name]
        if not path.is_file():
            now = "the file is gone"
        elif sha256(path) == trial.attrs[f"{name}_sha256"]:
            now = "the file is unchanged"
        else:
            now = "the file has CHANGED"
        yield f"{trial.attrs[name]}: {now}"
        yield f"SHA-256 {trial.attrs[f'{name}_sha256']}"


def _rate(time: NDArray[np.float64]) -> float:
    return round(float((len(time) - 1) / (time[-1] - time[0])), 3)


def _events(record: CycleRecord) -> Blocks:
    start_s, end_s = record.span_s
    inside = record.within(record.steps["read"].time.values)
    yield (
        f"{start_s:.4f} s to {end_s:.4f} s in the file's time: frames {record.frame(start_s):g} to "
        f"{record.frame(end_s):g}, {inside.sum()} frames and the {len(record.cycle.phase)} instants between them"
    )
    data = record.steps["contacts"]
    rows = [["event", "side", "time s", "frame", "source"]]
    for i in np.flatnonzero(record.within(data.event_time.values)):
        time_s = float(data.event_time[i])
        kind, side, by = (str(data[name].values[i]) for name in ("event", "event_side", "event_source"))
        rows.append([kind.replace("_", " "), side, f"{time_s:.4f}", f"{record.frame(time_s):g}", by])
    yield rows
    yield "source plate: its force; c3d: an event of the file; kinematic: the motion of the feet"


def _contact(record: CycleRecord) -> Blocks:
    data, clean, limit = record.steps["contacts"], record.steps["clean"], record.settings["contacts"]
    near = np.abs(data.contact_start.values - record.span_s[0]) < SAME_STRIKE_S
    mine = np.flatnonzero((data.contact_side.values == record.side) & near)
    if not mine.size:
        yield "no known stance at the start of the cycle"
        return
    stance = data.isel(contact=int(mine[0]))
    plates, start_s, end_s = str(stance.plates.item()), float(stance.contact_start), float(stance.contact_end)
    frames = f"frames {record.frame(start_s):g} to {record.frame(end_s):g}"
    yield f"stance {start_s:.4f} s to {end_s:.4f} s ({frames}) on {f'plate {plates}' if plates else 'no plate'}"
    yield f"force refused: {stance.reason.item()}" if stance.reason.item() else "force accepted"
    if stance.doubt.item():
        yield f"force doubted: {stance.doubt.item()}"
    yield from _force(record, start_s, end_s)
    for number in plates.split():
        of_plate = clean.isel(plate=int(np.flatnonzero(clean.plate.values.astype(str) == number)[0]))
        baseline = ", ".join(f"{part:.2f}" for part in of_plate.plate_baseline.values)
        yield f"plate {number}: unloaded force ({baseline}) N subtracted; remaining drift {of_plate.plate_drift:.2f} N"
    yield (
        f"limits: drift {limit['max_drift_n']:g} N, centre of pressure {limit['max_cop_distance_m']:g} m from the "
        f"foot, foot {limit['edge_margin_m']:g} m outside the plate, force {limit['max_lever_arm_m']:g} m from the "
        f"ankle, plate and markers {limit['max_time_offset_s']:g} s apart; contact from {limit['threshold_n']:g} N"
    )
    if reasons := in_words(data.attrs["plates_left_out"]):
        yield f"plates left out: {reasons}"


def _force(record: CycleRecord, start_s: float, end_s: float) -> Iterator[str]:
    """Yield the peaks of the ground reaction on the foot in a stance, if it is known."""
    data = record.steps["contacts"]
    inside = (data.time.values >= start_s) & (data.time.values <= end_s)
    force = data.ground_force.sel(side=record.side).values[inside]
    if np.isfinite(force).any():
        low, high = np.nanmin(force, axis=0), np.nanmax(force, axis=0)
        weights = high[1] / (record.steps["calibrate"].attrs["body_mass_kg"] * STANDARD_GRAVITY_M_S2)
        least = record.settings["cycles"]["min_peak_force_body_weights"]
        yield f"vertical force up to {high[1]:.1f} N, {weights:.3f} body weights (required {least:g})"
        yield f"fore-aft force {low[0]:.1f} to {high[0]:.1f} N, to the right {low[2]:.1f} to {high[2]:.1f} N"


def _markers(record: CycleRecord) -> Blocks:
    clean, chosen = record.steps["clean"], record.settings["clean"]
    order = clean.attrs["marker_filter_order"]
    yield f"markers filtered by {chosen['marker_filter']}, order {order:g}, zero lag; -3 dB at {_cutoffs(clean)}"
    cutoff = chosen["force_cutoff_hz"]
    yield f"forces {'not filtered' if cutoff is None else f'filtered by butterworth; -3 dB at {cutoff:g} Hz'}"
    inside = np.flatnonzero(record.within(clean.time.values))
    words = [word.replace("_", " ") for word in FLAGS["clean", "fill"].split()]
    rows = [["landmark", "label in the file", "repaired by", "frames"]]
    rows += [
        [str(name), str(label), words[flag], _frames(record, clean.time.values, inside[hit])]
        for name, label, fill in zip(clean.marker.values, clean.label.values, clean.fill.values.T, strict=True)
        for flag in range(1, len(words))
        if (hit := fill[inside] == flag).any()
    ]
    if len(rows) > 1:
        yield rows
    else:
        yield "no gap filled, no spike removed and no label exchanged back in these frames"
    unseen = np.isnan(clean.marker_position.values[inside]).any(axis=(0, 2))
    if unseen.any():
        yield f"not visible in all frames: {', '.join(map(str, clean.marker.values[unseen]))}"
    if absent := clean.attrs["landmarks_absent"]:
        yield f"not in this trial: {absent.replace(' ', ', ')}"
    if exchanged := clean.attrs["labels_exchanged_back"]:
        yield f"labels exchanged back in the trial: {exchanged}"


def _frames(record: CycleRecord, time: NDArray[np.float64], places: Sequence[int] | NDArray[np.intp]) -> str:
    """Return runs of frame numbers of the C3D file."""
    hit = np.zeros(len(time), dtype=bool)
    hit[places] = True
    runs = [(record.frame(time[start]), record.frame(time[stop - 1])) for start, stop in stretches(hit)]
    return ", ".join(f"{first:g}" if first == last else f"{first:g}-{last:g}" for first, last in runs)


def _cutoffs(clean: xr.Dataset) -> str:
    """Return the cut-off of all landmarks, or each cut-off with its landmarks."""
    by_cutoff: dict[float, list[str]] = {}
    for name, cutoff_hz in zip(clean.marker.values, clean.cutoff_hz.values, strict=True):
        by_cutoff.setdefault(float(cutoff_hz), []).append(str(name))
    if len(by_cutoff) == 1:
        return f"{next(iter(by_cutoff)):.3g} Hz"
    return "; ".join(f"{cutoff:.3g} Hz: {', '.join(names)}" for cutoff, names in sorted(by_cutoff.items()))


def _model(record: CycleRecord) -> Blocks:
    model = record.steps["calibrate"]
    yield f"body model {record.settings['body_model']}; static trial {model.attrs['static_trial']}:"
    yield from file_lines(record, record.static)
    mine = model.sel(side=record.side)
    linked = record.settings["kinematics"].get("method") == "linked"
    for joint in FROM_HIP:
        carrier = str(mine.joint_carrier.sel(joint=joint).item())
        how = f"moves with the {carrier}" if carrier else "found in every frame"
        how = "joins both segments of the linked legs" if linked else how
        yield f"{joint} centre: {model.attrs[f'{joint}_centre_{record.side}']}; {how}"
    chosen, reason = (model.attrs.get(f"segment_parameters{of}", "") for of in ("", "_reason"))
    yield f"body-segment parameters: {chosen}" + (f" ({reason})" if reason else "")
    rows = [["segment", "mass kg", "centre of mass from proximal joint mm", "moments of inertia kg m2 (x y z)"]]
    for segment in model.segment.values:
        of_segment = mine.sel(segment=segment)
        com = " ".join(f"{1000 * part:.1f}" for part in of_segment.segment_com.values)
        inertia = " ".join(f"{part:.5f}" for part in np.diag(of_segment.segment_inertia.values))
        rows.append([str(segment), f"{float(of_segment.segment_mass):.3f}", com, inertia])
    yield rows
    if "upper_body_mass" in model:
        yield f"upper body, as measured: {float(model.upper_body_mass):.3f} kg"
    yield from filter(None, [model.attrs["note"]])


def _body(record: CycleRecord) -> Blocks:
    attributes = record.steps["calibrate"].attrs
    sizes, origin = (object_in(attributes, name) for name in ("anthropometry", "anthropometry_source"))
    yield [["size", "value", "from"], *([name, f"{value:g}", origin[name]] for name, value in sorted(sizes.items()))]


def _checks(record: CycleRecord) -> Blocks:
    kinetics, most = record.steps["kinetics"], record.settings["cycles"]["max_disagreement_n_m"]
    yield f"largest difference of other solutions from the stored loads in the trial (allowed: {most:g} N m)"
    rows = [["formulation", "force N", "moment N m"]]
    for name in kinetics.formulation.values:
        differences = kinetics.disagreement.sel(formulation=name)
        rows.append([str(name), *(f"{float(differences.sel(load=load)):.1e}" for load in ("force", "moment"))])
    yield rows
    forward = kinetics.forward_closure.sel(side=record.side)
    closures = (f"{joint} {_list(forward.sel(joint=joint).values)}" for joint in kinetics.joint.values)
    angles = ", ".join(map(str, kinetics.angle.values))
    yield f"forward closure, degrees of {angles}: {'; '.join(closures)}"
    energy = kinetics.energy_closure.sel(side=record.side)
    yield "energy closure, W: " + "; ".join(
        f"{name} {float(energy.sel(segment=name)):.2e}" for name in energy.segment.values
    )
    yield from _missing(record)
    data = record.steps["cycles"]
    near = np.abs(data.stance_start.values - record.span_s[0]) < SAME_STRIKE_S
    for i in np.flatnonzero(near & (data.stance_side.values == record.side)):
        names = ("code", "plates", "doubt_code", "reason", "doubt")
        code, plates, doubts, reason, doubt = (str(data[f"stance_{name}"].values[i]) for name in names)
        yield f"verdict on the stance: {': '.join(filter(None, [verdict_of(code, plates, doubts), reason or doubt]))}"
        axis = [float(data[f"stance_{name}"].values[i]) for name in KNEE_AXIS]
        yield f"knee axis in the trial: {axis_in_words(*axis)}"


def _list(values: NDArray[np.float64]) -> str:
    return " ".join(f"{value:.2e}" for value in values)


def _missing(record: CycleRecord) -> Iterator[str]:
    """Yield why the moment of each joint is unknown in some frames."""
    kinetics = record.steps["kinetics"]
    words = [word.replace("_", " ") for word in FLAGS["kinetics", "missing"].split()]
    inside = record.within(kinetics.time.values)
    missing = kinetics.missing.sel(side=record.side).values[inside]
    for joint, codes in zip(kinetics.joint.values, missing.T, strict=True):
        causes = [f"{words[code]} in {(codes == code).sum()} frames" for code in np.unique(codes) if code]
        if causes:
            yield f"{joint} moment unknown: {'; '.join(causes)}, of {inside.sum()}"


def _settings(record: CycleRecord) -> Blocks:
    for step in (*steps_to("cycles"), "study"):
        settings = record.settings.get(step, {})
        yield f"{step}: " + ", ".join(f"{name} {_plain(value)}" for name, value in settings.items())


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _provenance(record: CycleRecord) -> Blocks:
    names = {step: f"{record.cycle.session.item()}/{step}.nc" for step in steps_to("cycles")} | {"study": "study.nc"}
    for step, name in names.items():
        made = checksums.recorded(record.derived, name)
        if made is None:
            yield f"{step}: no record of its code in derived/{checksums.FOLDER}"
            continue
        with_ = {part: text.strip('"') for part, text in made.made_with.items()}
        versions = [f"{part.partition('.')[2]} {text}" for part, text in with_.items() if part.startswith("versions.")]
        yield f"{step}: pipeline {with_['pipeline']}, code {with_['code'][:SHORT]}, {', '.join(versions)}"
