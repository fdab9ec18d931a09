"""What was measured, in the story of a cycle: recording, events, ground contact, markers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...conventions import FROM_HIP, STANDARD_GRAVITY_M_S2
from ...results.schema import FLAGS
from ...signals.filters import stretches
from ...steps.cycles.verdicts import SAME_STRIKE_S
from ...workflow import checksums
from ...workflow.digests import sha256
from ...workflow.open_study import SESSION_STEPS
from .cycle_record import Blocks, Story


def data_sections(story: Story) -> dict[str, Blocks]:
    """Return the sections on what was measured, by title."""
    return {
        "Recording": _recording(story),
        "Frames and events": _events(story),
        "Ground contact": _contact(story),
        "Markers": _markers(story),
    }


def _recording(story: Story) -> Blocks:
    read = story.steps["read"]
    yield from file_lines(story, read)
    time = read.time.values
    analog = f", plates at {_rate(read.plate_time.values):g} Hz" if read.sizes["plate_time"] > 1 else ""
    first, last = story.frame(time[0]), story.frame(time[-1])
    yield f"frames {first:g} to {last:g} at {story.rate_hz:g} Hz{analog}; walking {read.attrs['direction_of_travel']}"
    rows = np.reshape(read.attrs["lab_rotation"], (3, 3))
    yield "lab axes in those of the file: " + ", ".join(
        f"{axis} = ({', '.join(f'{part:g}' for part in np.round(row, 4) + 0.0)})"
        for axis, row in zip(("x forward", "y up", "z right"), rows, strict=True)
    )
    yield from (f"labels: {note}" for note in str(read.attrs.get("label_notes", "")).split("; ") if note)


def file_lines(story: Story, trial: xr.Dataset) -> Iterator[str]:
    """Yield a recording's name, whether it is still the same, and its SHA-256 when it was read."""
    path = story.derived.parent / trial.attrs["source"]
    if not path.is_file():
        now = "the file is no longer there"
    elif sha256(path) == trial.attrs["source_sha256"]:
        now = "the file there is the same"
    else:
        now = "the file there is ANOTHER one now"
    yield f"{trial.attrs['source']}: {now}"
    yield f"SHA-256 {trial.attrs['source_sha256']}"


def _rate(time: NDArray[np.float64]) -> float:
    return round(float((len(time) - 1) / (time[-1] - time[0])), 3)


def _events(story: Story) -> Blocks:
    start_s, end_s = story.span_s
    inside = story.within(story.steps["read"].time.values)
    yield (
        f"{start_s:.4f} s to {end_s:.4f} s on the file's own time axis: frames {story.frame(start_s):g} to "
        f"{story.frame(end_s):g}, {inside.sum()} frames and the {len(story.cycle.phase)} instants between them"
    )
    data = story.steps["contacts"]
    rows = [["event", "side", "time s", "frame", "told by"]]
    for i in np.flatnonzero(story.within(data.event_time.values)):
        time_s = float(data.event_time[i])
        kind, side, by = (str(data[name].values[i]) for name in ("event", "event_side", "source"))
        rows.append([kind.replace("_", " "), side, f"{time_s:.4f}", f"{story.frame(time_s):g}", by])
    yield rows
    yield "plate: its force; c3d: an event of the file; kinematic: the motion of the feet"


def _contact(story: Story) -> Blocks:
    data, clean, limit = story.steps["contacts"], story.steps["clean"], story.settings["contacts"]
    near = np.abs(data.contact_start.values - story.span_s[0]) < SAME_STRIKE_S
    mine = np.flatnonzero((data.contact_side.values == story.side) & near)
    if not mine.size:
        yield "no stance is known at the start of the cycle"
        return
    stance = data.isel(contact=int(mine[0]))
    plates, start_s, end_s = str(stance.plates.item()), float(stance.contact_start), float(stance.contact_end)
    frames = f"frames {story.frame(start_s):g} to {story.frame(end_s):g}"
    yield f"stance {start_s:.4f} s to {end_s:.4f} s ({frames}) on {f'plate {plates}' if plates else 'no plate'}"
    yield f"force refused: {stance.reason.item()}" if stance.reason.item() else "force accepted"
    yield from _force(story, start_s, end_s)
    for number in plates.split():
        own = clean.isel(plate=int(np.flatnonzero(clean.plate.values.astype(str) == number)[0]))
        baseline = ", ".join(f"{part:.2f}" for part in own.plate_baseline.values)
        yield f"plate {number}: force at rest ({baseline}) N taken off; its unknown drift {own.plate_drift:.2f} N"
    yield (
        f"limits: drift {limit['max_drift_n']:g} N, centre of pressure {limit['max_cop_distance_m']:g} m from the "
        f"foot, foot {limit['edge_margin_m']:g} m outside the plate, force {limit['max_lever_arm_m']:g} m from the "
        f"ankle, plate and markers {limit['max_time_offset_s']:g} s apart; contact from {limit['threshold_n']:g} N"
    )
    if left_out := data.attrs["plates_left_out"]:
        yield f"plates left out: {left_out}"


def _force(story: Story, start_s: float, end_s: float) -> Iterator[str]:
    """Yield how large the ground's force on the foot gets in a stance, where it is known."""
    data = story.steps["contacts"]
    inside = (data.time.values >= start_s) & (data.time.values <= end_s)
    force = data.ground_force.sel(side=story.side).values[inside]
    if np.isfinite(force).any():
        low, high = np.nanmin(force, axis=0), np.nanmax(force, axis=0)
        weights = high[1] / (story.steps["calibrate"].attrs["body_mass_kg"] * STANDARD_GRAVITY_M_S2)
        least = story.settings["cycles"]["min_peak_force_body_weights"]
        yield f"vertical force up to {high[1]:.1f} N, {weights:.3f} body weights (required {least:g})"
        yield f"fore-aft force {low[0]:.1f} to {high[0]:.1f} N, to the right {low[2]:.1f} to {high[2]:.1f} N"


def _markers(story: Story) -> Blocks:
    clean, chosen = story.steps["clean"], story.settings["clean"]
    order = clean.attrs["marker_filter_order"]
    yield f"markers filtered by {chosen['marker_filter']}, order {order}, zero lag; -3 dB at {_cutoffs(clean)}"
    cutoff = chosen["force_cutoff_hz"]
    yield f"forces {'not filtered' if cutoff is None else f'filtered by butterworth; -3 dB at {cutoff:g} Hz'}"
    inside = np.flatnonzero(story.within(clean.time.values))
    words = [word.replace("_", " ") for word in FLAGS["clean", "fill"].split()]
    rows = [["landmark", "label in the file", "mended by", "frames"]]
    rows += [
        [str(name), str(label), words[flag], _frames(story, clean.time.values, inside[hit])]
        for name, label, fill in zip(clean.marker.values, clean.label.values, clean.fill.values.T, strict=True)
        for flag in range(1, len(words))
        if (hit := fill[inside] == flag).any()
    ]
    if len(rows) > 1:
        yield rows
    else:
        yield "in the frames of this cycle no gap was filled, no spike taken out and no label exchanged back"
    unseen = np.isnan(clean.marker_position.values[inside]).any(axis=(0, 2))
    if unseen.any():
        yield f"not seen in all frames: {', '.join(map(str, clean.marker.values[unseen]))}"
    if absent := clean.attrs["landmarks_absent"]:
        yield f"not in this trial: {absent.replace(' ', ', ')}"
    if exchanged := clean.attrs["labels_exchanged_back"]:
        yield f"labels exchanged back in the trial: {exchanged}"


def _frames(story: Story, time: NDArray[np.float64], places: Sequence[int] | NDArray[np.intp]) -> str:
    """Return runs of frames, as the C3D file counts them."""
    hit = np.zeros(len(time), dtype=bool)
    hit[places] = True
    runs = [(story.frame(time[start]), story.frame(time[stop - 1])) for start, stop in stretches(hit)]
    return ", ".join(f"{first:g}" if first == last else f"{first:g}-{last:g}" for first, last in runs)


def _cutoffs(clean: xr.Dataset) -> str:
    """Return the cut-offs of the landmarks: one for all, or each with its landmarks."""
    by_cutoff: dict[float, list[str]] = {}
    for name, cutoff_hz in zip(clean.marker.values, clean.cutoff_hz.values, strict=True):
        by_cutoff.setdefault(float(cutoff_hz), []).append(str(name))
    if len(by_cutoff) == 1:
        return f"{next(iter(by_cutoff)):.3g} Hz"
    return "; ".join(f"{cutoff:.3g} Hz: {', '.join(names)}" for cutoff, names in sorted(by_cutoff.items()))


SHORT = 12  # characters of a digest


def method_sections(story: Story) -> dict[str, Blocks]:
    """Return the sections on what the results rest on, by title."""
    return {
        "Model of the person": _model(story),
        "Body": _body(story),
        "Checks": _checks(story),
        "Settings": _settings(story),
        "Made by": _made_by(story),
    }


def _model(story: Story) -> Blocks:
    model = story.steps["calibrate"]
    yield f"body model {story.settings['body_model']}; static trial {model.attrs['static_trial']}:"
    yield from file_lines(story, story.static)
    mine = model.sel(side=story.side)
    for joint in FROM_HIP:
        carrier = str(mine.joint_carrier.sel(joint=joint).item())
        how = f"moves with the {carrier}" if carrier else "found in every frame"
        yield f"{joint} centre: {model.attrs[f'{joint}_centre_{story.side}']}; {how}"
    yield f"body-segment parameters: {model.attrs['segment_parameters']}"
    rows = [["segment", "mass kg", "centre of mass from proximal joint mm", "moments of inertia kg m2 (x y z)"]]
    for segment in model.segment.values:
        own = mine.sel(segment=segment)
        com = " ".join(f"{1000 * part:.1f}" for part in own.segment_com.values)
        inertia = " ".join(f"{part:.5f}" for part in np.diag(own.segment_inertia.values))
        rows.append([str(segment), f"{float(own.segment_mass):.3f}", com, inertia])
    yield rows
    yield from filter(None, [model.attrs["note"]])


def _body(story: Story) -> Blocks:
    attributes = story.steps["calibrate"].attrs
    sizes, origin = (json.loads(attributes[name]) for name in ("anthropometry", "anthropometry_source"))
    yield [["size", "value", "from"], *([name, f"{value:g}", origin[name]] for name, value in sorted(sizes.items()))]


def _checks(story: Story) -> Blocks:
    kinetics, most = story.steps["kinetics"], story.settings["cycles"]["max_disagreement_n_m"]
    yield f"largest difference of other formulations from the block matrix in the trial (allowed: {most:g} N m)"
    rows = [["formulation", "force N", "moment N m"]]
    for name in kinetics.formulation.values:
        own = kinetics.disagreement.sel(formulation=name)
        rows.append([str(name), *(f"{float(own.sel(load=load)):.1e}" for load in ("force", "moment"))])
    yield rows
    forward = kinetics.forward_closure.sel(side=story.side)
    told = (f"{joint} {_list(forward.sel(joint=joint).values)}" for joint in kinetics.joint.values)
    angles = ", ".join(map(str, kinetics.angle.values))
    yield f"forward closure, degrees of {angles}: {'; '.join(told)}"
    energy = kinetics.energy_closure.sel(side=story.side)
    yield "energy closure, W: " + "; ".join(
        f"{name} {float(energy.sel(segment=name)):.2e}" for name in energy.segment.values
    )
    yield from _missing(story)
    data = story.steps["cycles"]
    near = np.abs(data.stance_start.values - story.span_s[0]) < SAME_STRIKE_S
    for reason in data.stance_reason.values[near & (data.stance_side.values == story.side)]:
        yield f"verdict on the stance: {reason or 'used'}"


def _list(values: NDArray[np.float64]) -> str:
    return " ".join(f"{value:.2e}" for value in values)


def _missing(story: Story) -> Iterator[str]:
    """Yield of each joint why its moment is not known in some frames."""
    kinetics = story.steps["kinetics"]
    words = [word.replace("_", " ") for word in FLAGS["kinetics", "missing"].split()]
    inside = story.within(kinetics.time.values)
    missing = kinetics.missing.sel(side=story.side).values[inside]
    for joint, codes in zip(kinetics.joint.values, missing.T, strict=True):
        found = [f"{words[code]} in {(codes == code).sum()} frames" for code in np.unique(codes) if code]
        if found:
            yield f"{joint} moment not known: {'; '.join(found)}, of {inside.sum()}"


def _settings(story: Story) -> Blocks:
    for step in ("read", "calibrate", "clean", "contacts", "kinematics", "kinetics", "cycles", "study"):
        own = story.settings.get(step, {})
        yield f"{step}: " + ", ".join(f"{name} {_plain(value)}" for name, value in own.items())


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _made_by(story: Story) -> Blocks:
    names = {step: f"{story.cycle.session.item()}/{step}.nc" for step in SESSION_STEPS} | {"study": "study.nc"}
    for step, name in names.items():
        made = checksums.recorded(story.derived, name)
        if made is None:
            yield f"{step}: no record of its code in derived/{checksums.FOLDER}"
            continue
        with_ = {part: text.strip('"') for part, text in made.made_with.items()}
        versions = [f"{part.partition('.')[2]} {text}" for part, text in with_.items() if part.startswith("versions.")]
        yield f"{step}: pipeline {with_['pipeline']}, code {with_['code'][:SHORT]}, {', '.join(versions)}"
