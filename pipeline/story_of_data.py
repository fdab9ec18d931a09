"""What was measured, in the story of a cycle: recording, events, ground contact, markers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.cycle_story import Blocks, Story
from pipeline.filters import stretches
from pipeline.provenance import sha256
from pipeline.stances import SAME_STRIKE_S, STANDARD_GRAVITY
from pipeline.vocabulary import FLAGS


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
        weights = high[1] / (story.steps["calibrate"].attrs["body_mass_kg"] * STANDARD_GRAVITY)
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
