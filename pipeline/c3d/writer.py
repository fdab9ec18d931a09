"""Copies of C3D files with model outputs and gait events, on request without data that may identify a person."""

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ezc3d
import numpy as np

from ..errors import UserError
from ..vocabulary.event_names import kind_in
from ..vocabulary.stated_sizes import PROCESSING_NAMES
from .encodings import PIECE_FRAMES, pieces
from .integrity import refuse_damaged
from .plug_in_gait import POINTS, UNITS, Output
from .point_labels import parts_of_list
from .reader import read_c3d

DESCRIPTIONS = {
    "Foot Strike": "The instant the heel strikes the ground",
    "Foot Off": "The instant the toe leaves the ground",
}
ICON_IDS = {"Foot Strike": 1, "Foot Off": 2}
# the parameters of an anonymous copy; any other may identify a person, even a number (a birth date)
KEPT = {
    "POINT": r"USED|FRAMES|SCALE|RATE|DATA_START|LABELS\d*|UNITS|X_SCREEN|Y_SCREEN|TYPE_GROUPS|"
    r"(ANGLE|FORCE|MOMENT|POWER|SCALAR|MODELED_MARKER)(S|_UNITS)",
    "ANALOG": r"USED|LABELS\d*|GEN_SCALE|SCALE\d*|OFFSET\d*|UNITS\d*|RATE|FORMAT|BITS",
    "FORCE_PLATFORM": r"USED|TYPE|ZERO|CORNERS|ORIGIN|CHANNEL|CAL_MATRIX",
    "EVENT": r"USED|LABELS|CONTEXTS|TIMES|GENERIC_FLAGS|ICON_IDS",
    "TRIAL": r"ACTUAL_START_FIELD|ACTUAL_END_FIELD|CAMERA_RATE",
    "PROCESSING": "|".join(PROCESSING_NAMES),
}
WORDS, LONGEST_WORD = r".*UNITS\d*|[XY]_SCREEN|FORMAT|CONTEXTS", 8  # parameters of short words, cut to this length


def write_c3d(
    source: Path,
    target: Path,
    outputs: Sequence[Output],
    events: Sequence[tuple[float, str, str]],
    *,
    subject: str = "",
    participant: str = "",
    anonymous: bool = False,
) -> None:
    """Write a copy of a C3D file with model outputs and gait events, atomically.

    Outputs with the same labels and the file's own foot strikes and foot offs are replaced; all else is copied.

    Args:
        outputs: each with as many frames as the recording.
        events: time in s on the file's axis, label, context.
        anonymous: keep only the parameters of :func:`without_person`.

    Raises:
        UserError: the source cannot be read, or is the target.
    """
    if target.exists() and source.samefile(target):
        raise UserError(str(target), "is the recording itself", "give the copy another name")
    recording = read_c3d(source, subject=subject, participant=participant)
    content = _parsed(source)
    if anonymous:
        kept = without_person(content["parameters"], [*recording.subject_names, recording.owner])
        for group in [*content["parameters"]]:
            del content["parameters"][group]
        for group, entries in kept.items():
            content["parameters"][group] = entries
    per_mm = 1e-3 / recording.length_unit_m
    _add_outputs(content, [one._replace(values=one.values * per_mm) if one.group == POINTS else one for one in outputs])
    if recording.analog.size:  # with unsigned counts corrected
        content["data"]["analogs"] = recording.analog.T[None].copy()
    names = content["parameters"].get("SUBJECTS", {}).get("NAMES", {}).get("value", [])
    _replace_events(content, events, str(names[0]) if len(names) else "")
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.stem}.{os.getpid()}.partial.c3d")
    try:
        content.write(str(partial))
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _parsed(source: Path) -> Any:
    """Return the content of a file that was read, from bytes that ezc3d can read if it cannot read the file's own.

    Of more frames than a piece has it reads what it can.
    """
    header = refuse_damaged(source)
    if not header.needs_rewriting or header.frames > PIECE_FRAMES:
        return ezc3d.c3d(str(source))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.c3d"
        copy.write_bytes(next(pieces(source.read_bytes(), header)))
        content = ezc3d.c3d(str(copy))
    content["header"]["points"]["first_frame"] = max(header.first, 1) - 1
    return content


def without_person(parameters: Mapping[str, Mapping[str, Any]], names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the parameters of ezc3d that processing needs, without the subjects' names, also in labels."""
    subjects = sorted((name.strip() for name in names if name.strip()), key=len, reverse=True)
    pattern = "|".join(re.escape(name) for name in subjects) or "(?!)"
    prefix = re.compile(rf"^.*:|({pattern})[_. -]?", flags=re.IGNORECASE)
    kept: dict[str, dict[str, Any]] = {}
    for group, entries in parameters.items():
        if group not in KEPT:
            continue
        kept[group] = {"__METADATA__": {"DESCRIPTION": "", "IS_LOCKED": False}}
        for name, entry in entries.items():
            if not re.fullmatch(KEPT[group], name.replace(" ", "")):
                continue
            value = entry["value"]
            if isinstance(value, list):
                longest = LONGEST_WORD if re.fullmatch(WORDS, name) else None
                value = [prefix.sub("", str(text))[:longest] for text in value]
            kept[group][name] = {**entry, "value": value, "description": ""}
    return kept


def _add_outputs(content: Any, outputs: Sequence[Output]) -> None:
    """Append the outputs to the points, or replace the values of an existing label."""
    point, data = content["parameters"]["POINT"], content["data"]
    labels = [label for name in parts_of_list(point, "LABELS") for label in point[name]["value"]]
    texts = [text for name in parts_of_list(point, "DESCRIPTIONS") for text in point[name]["value"]]
    texts += [""] * (len(labels) - len(texts))
    points = data["points"]
    columns = {label.strip().rpartition(":")[2]: column for column, label in enumerate(labels)}
    new = [output for output in outputs if output.label not in columns]
    columns |= {output.label: len(labels) + i for i, output in enumerate(new)}
    points = np.concatenate([points, np.full((4, len(new), points.shape[2]), np.nan)], axis=1)
    for output in outputs:
        points[:3, columns[output.label]] = output.values.T
        points[3, columns[output.label]] = 1
    meta = {
        name: np.concatenate([part, np.zeros((len(part), len(new), part.shape[2]), part.dtype)], axis=1)
        for name, part in data["meta_points"].items()
    }
    for output in outputs:  # -1 marks missing values
        meta["residuals"][0, columns[output.label]] = np.where(np.isfinite(output.values).all(axis=1), 0, -1)
    data["points"], data["meta_points"] = points, meta
    texts = texts[: len(labels)] + [output.description for output in new]
    _write_list(content, "LABELS", [*labels, *(output.label for output in new)])
    _write_list(content, "DESCRIPTIONS", texts)
    point = content["parameters"]["POINT"]
    units = {group: unit for group, unit in UNITS.items() if any(output.group == group for output in outputs)}
    for group, unit in units.items():
        listed = [output.label for output in outputs if output.group == group]
        others = [str(text) for text in point.get(group, {}).get("value", [])]
        content.add_parameter("POINT", group, list(dict.fromkeys([*others, *listed])))
        if group != POINTS:  # these have POINT:UNITS
            content.add_parameter("POINT", f"{group[:-1]}_UNITS", [unit])
    groups = [str(text) for text in point.get("TYPE_GROUPS", {}).get("value", [])]
    pairs = list(zip(groups[::2], groups[1::2], strict=False))
    pairs += [(group, group[:-1]) for group in units if group not in groups[::2]]
    content.add_parameter("POINT", "TYPE_GROUPS", [name for pair in pairs for name in pair])


def _write_list(content: Any, name: str, texts: Sequence[str]) -> None:
    """Write a list of POINT in parts of 255, the capacity of a parameter."""
    point = content["parameters"]["POINT"]
    for key in parts_of_list(point, name)[1:]:
        del point[key]
    for part, start in enumerate(range(0, len(texts), 255), start=1):
        content.add_parameter("POINT", name if part == 1 else f"{name}{part}", list(texts[start : start + 255]))


def _replace_events(content: Any, events: Sequence[tuple[float, str, str]], subject: str) -> None:
    """Replace foot strikes and foot offs; keep other events."""
    group = {name: part["value"] for name, part in content["parameters"].get("EVENT", {}).items() if "value" in part}
    kept = []
    times = np.asarray(group.get("TIMES", np.empty((2, 0))), dtype=float)
    if times.ndim == 2 and len(times) == 2:
        for i, label in enumerate(group.get("LABELS", [])[: times.shape[1]]):
            context = group["CONTEXTS"][i] if i < len(group.get("CONTEXTS", [])) else ""
            if not kind_in(label):
                kept.append((60 * times[0, i] + times[1, i], label, context))
    listed = [*kept, *sorted(events)]
    count = len(listed)
    minutes = [divmod(time_s, 60) for time_s, _, _ in listed]
    content.add_parameter("EVENT", "USED", [count])
    values = {
        "CONTEXTS": [context for _, _, context in listed],
        "LABELS": [label for _, label, _ in listed],
        "DESCRIPTIONS": [DESCRIPTIONS.get(label, "") for _, label, _ in listed],
        "SUBJECTS": [subject] * count,
        "TIMES": np.array(minutes, dtype=float).T,
        "ICON_IDS": [ICON_IDS.get(label, 0) for _, label, _ in listed],
        "GENERIC_FLAGS": [0] * count,
    }
    for name, value in values.items() if count else ():
        content.add_parameter("EVENT", name, value)
