"""Changes of the plain C3D files, of which odd ones consist; each changes the content of one file in place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from tests.odd_files.c3d_bytes import C3D, Value, events_group, plain, real, whole
from tests.odd_files.walk import EVENTS, LABELS, Event, standing_still, walking

Edit = Callable[[C3D], object]
Change = Callable[[bytes], bytes]
HIDDEN = ("LHEE", 40, 44)  # marker, first and last frame of the gap that some files have
BESIDE_M = (0.0, 1.5, 0.0)  # where the second person walks, off the plates
PLATE_UNITS = ("N", "N", "N", "Nmm", "Nmm", "Nmm")


def write_study(
    folder: Path, *, edits: Sequence[Edit] = (), both: Sequence[Edit] = (), change: Change | None = None,
    rates_hz: tuple[float, float] = (100.0, 500.0), walk: str = "walk.c3d", static: str = "static.c3d",
) -> None:  # fmt: skip
    """Write a static trial and a walk.

    Args:
        folder: where to.
        edits: changes of the walk.
        both: changes of both files, which come first.
        change: of the bytes of the walk, at the end.
        rates_hz: of the walk's markers and forces.
        walk, static: names of the files.
    """
    content = plain(walking(*rates_hz), events=EVENTS)
    still = plain(standing_still())
    for edit in (*both, *edits):
        edit(content)
    for edit in both:
        edit(still)
    content.write(folder / walk)
    still.write(folder / static)
    if change:
        (folder / walk).write_bytes(change((folder / walk).read_bytes()))


def cut(content: bytes, kept: float) -> bytes:
    return content[: int(kept * len(content))]


def with_bytes(content: bytes, at: int, new: bytes) -> bytes:
    return content[:at] + new + content[at + len(new) :]


def with_tail(content: bytes, tail: bytes) -> bytes:
    return content + tail


# ---- parameters


def put(file: C3D, group: str, name: str, value: Value) -> None:
    file.groups.setdefault(group, {})[name] = value


def remove(file: C3D, group: str, name: str = "") -> None:
    if name:
        del file.groups[group][name]
    else:
        del file.groups[group]


def rename(file: C3D, group: str, old: str, new: str) -> None:
    """Rename a parameter, if the file has it."""
    if old in file.groups.get(group, {}):
        file.groups[group] = {new if name == old else name: value for name, value in file.groups[group].items()}


def reverse_groups(file: C3D) -> None:
    file.groups = dict(reversed(file.groups.items()))


def lower_names(file: C3D) -> None:
    """Write the names of groups and parameters as ``Point``, but for the one that the writer fills in."""
    groups = {}
    for group, values in file.groups.items():
        names = {name if name == "DATA_START" else name.capitalize(): value for name, value in values.items()}
        groups[group if group == "POINT" else group.capitalize()] = names
    file.groups = groups


def split_labels(file: C3D, first: int) -> None:
    """Move the labels after the first ones into LABELS2."""
    labels = labels_of(file)
    put(file, "POINT", "LABELS", labels[:first])
    put(file, "POINT", "LABELS2", labels[first:])


def labels_of(file: C3D) -> list[str]:
    return [str(label) for label in file.groups["POINT"]["LABELS"]]


def pad_with_nul(file: C3D) -> None:
    file.padding = b"\0"


# ---- points


def add_points(file: C3D, names: Sequence[str | bytes], *, first: bool = False) -> None:
    """Add points that stand still in a row, 5 m aside, before the others or after them."""
    frames = len(file.points)
    row = np.array([[100.0 * i, 5000.0, 300.0 + 7 * i] for i in range(len(names))])
    more = np.tile(row, (frames, 1, 1))
    own = [label.encode() for label in labels_of(file)]
    new = [name if isinstance(name, bytes) else name.encode() for name in names]
    file.points = np.concatenate([more, file.points] if first else [file.points, more], axis=1)
    labels = [*new, *own] if first else [*own, *new]
    file.groups["POINT"] |= {"LABELS": labels[:255], "USED": whole(len(labels)), "DESCRIPTIONS": [""]}
    if len(labels) > 255:
        put(file, "POINT", "LABELS2", labels[255:])


def relabel(file: C3D, names: Mapping[str, str]) -> None:
    put(file, "POINT", "LABELS", [names.get(label, label) for label in labels_of(file)])


def label_as(file: C3D, form: str) -> None:
    """Write every label in a form such as ``S1:{}``."""
    put(file, "POINT", "LABELS", [form.format(label) for label in labels_of(file)])


def add_person(file: C3D, first: str, second: str) -> None:
    """Add a second person beside the first; the forms are those of the labels of each."""
    labels = labels_of(file)
    file.points = np.concatenate([file.points, file.points + 1e3 * np.array(BESIDE_M)], axis=1)
    both = [form.format(label) for form in (first, second) for label in labels]
    file.groups["POINT"] |= {"LABELS": both, "USED": whole(len(both)), "DESCRIPTIONS": [""] * len(both)}
    remove(file, "SUBJECTS")
    remove(file, "PROCESSING")


def hide(file: C3D, value: float, residual: float) -> None:
    """Hide a marker for some frames, written as these coordinates and this residual."""
    label, first, last = HIDDEN
    file.points[first : last + 1, LABELS.index(label)] = np.nan
    file.hidden_as = (value, residual)


def move_aside(file: C3D) -> None:
    """Let the person walk beside the plates."""
    file.points += 1e3 * np.array(BESIDE_M)


def to_metres(file: C3D) -> None:
    """Write metres and N m."""
    file.points /= 1e3
    put(file, "POINT", "UNITS", ["m"])
    if "FORCE_PLATFORM" in file.groups:
        for name in ("CORNERS", "ORIGIN"):
            scale_numbers(file, "FORCE_PLATFORM", name, 1e-3)
        file.analog *= np.tile(np.repeat([1.0, 1e-3], 3), file.analog.shape[1] // 6)
        put(file, "ANALOG", "UNITS", ["N", "N", "N", "Nm", "Nm", "Nm"] * (file.analog.shape[1] // 6))


def to_unit(file: C3D, unit: str, per_mm: float) -> None:
    """Write points and plates in a unit of length; moments stay in N mm."""
    file.points *= per_mm
    put(file, "POINT", "UNITS", [unit])
    for name in ("CORNERS", "ORIGIN") if "FORCE_PLATFORM" in file.groups else ():
        scale_numbers(file, "FORCE_PLATFORM", name, per_mm)


def to_newton_centimetres(file: C3D) -> None:
    """Write moments in N cm, and call them so."""
    file.analog *= np.tile(np.repeat([1.0, 0.1], 3), file.analog.shape[1] // 6)
    put(file, "ANALOG", "UNITS", ["N", "N", "N", "Ncm", "Ncm", "Ncm"] * (file.analog.shape[1] // 6))


def scale_numbers(file: C3D, group: str, name: str, factor: float) -> None:
    put(file, group, name, (factor * np.asarray(file.groups[group][name], float)).astype(np.float32))


def turn_y_up(file: C3D) -> None:
    """Write y up and the walk along x, as Motive does."""
    turn = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])
    file.points = file.points @ turn.T
    put(file, "POINT", "Y_SCREEN", ["+Y"])
    if "FORCE_PLATFORM" in file.groups:
        corners = np.einsum("ij,jkl->ikl", turn, np.asarray(file.groups["FORCE_PLATFORM"]["CORNERS"], float))
        put(file, "FORCE_PLATFORM", "CORNERS", corners.astype(np.float32))


def from_frame(file: C3D, first: int, *, header: tuple[int, int] | None = None, events: bool = True) -> None:
    """Number the frames from ``first`` on, and let the events count from the recording's start."""
    last = first + len(file.points) - 1
    file.first_frame = first
    if header:
        file.header_first, file.header_last = header
    fields = {"ACTUAL_START_FIELD": first, "ACTUAL_END_FIELD": last}
    file.groups["TRIAL"] |= {name: whole(number % 65536, number // 65536) for name, number in fields.items()}
    if events and "EVENT" in file.groups:
        file.groups["EVENT"] = events_group(first_frame=first)


def as_integers(file: C3D, per_step_mm: float) -> None:
    """Write points as whole multiples of a length."""
    file.point_scale = per_step_mm
    put(file, "POINT", "SCALE", real(per_step_mm))


def add_rotations(file: C3D) -> None:
    """Add rotations of three segments as Visual3D and Theia do, in a section after the data."""
    frames, names = len(file.points), ["pelvis_4X4", "r_thigh_4X4", "l_thigh_4X4"]
    matrices = np.tile(np.append(np.eye(4).ravel(), 0.0), (frames, len(names), 1))
    file.after.append(matrices.astype(np.float32))
    rate = real(file.marker_hz)
    file.groups["ROTATION"] = {
        "USED": whole(len(names)), "RATE": rate, "RATIO": whole(1), "LABELS": names, "DATA_START": whole(0),
    }  # fmt: skip


# ---- events


def name_events(
    file: C3D, names: Mapping[str, str], contexts: Mapping[str, str] | None = None, *, encoding: str = "utf-8"
) -> None:
    """Name the events otherwise.

    Args:
        file: the file.
        names: of ``foot_strike`` and ``foot_off``, with ``{side}``, ``{s}``, ``{S}`` for left, l, L, or
            ``left foot_off`` and so on.
        contexts: text of each side; None for no contexts at all.
        encoding: of the labels.
    """
    labels = [_event_name(names, side, kind).encode(encoding) for _, side, kind in EVENTS]
    put(file, "EVENT", "LABELS", labels)
    if contexts is None:
        remove(file, "EVENT", "CONTEXTS")
    else:
        put(file, "EVENT", "CONTEXTS", [contexts[side] for _, side, _ in EVENTS])


def _event_name(names: Mapping[str, str], side: str, kind: str) -> str:
    form = names.get(f"{side} {kind}") or names[kind]
    return form.format(side=side, Side=side.capitalize(), s=side[0], S=side[0].upper())


def set_events(file: C3D, events: Sequence[Event]) -> None:
    """Write other events, whose times count from the recording's start."""
    file.groups["EVENT"] = events_group(events)


def add_event(file: C3D, label: str, time_s: float) -> None:
    """Add an event without a side."""
    event = file.groups["EVENT"]
    event["LABELS"] = [*event["LABELS"], label]
    event["CONTEXTS"] = [*event["CONTEXTS"], "General"]
    event["TIMES"] = np.hstack([np.asarray(event["TIMES"], np.float32), np.array([[0], [time_s]], np.float32)])
    event["USED"] = whole(len(event["LABELS"]))
