"""The group EVENT of C3D files: gait events as a person or a program put them in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

import numpy as np

from ..errors import Problem, warning
from ..recording import Event
from ..vocabulary.event_names import side_in


def read_events(event: Mapping[str, Any], *, owner: str = "") -> list[Event]:
    """Return the events of one subject; times are minutes and seconds.

    Some files store times as one row of pairs, or of seconds alone: then it is as long as the labels. Events of other
    subjects are ignored if EVENT:SUBJECTS names the markers' ``owner``. An event without a label is named by its
    context: some files have LHS, RTO there. Those beyond EVENT:USED are not used.
    """
    contexts = [str(context).strip() for context in event.get("CONTEXTS", [])]
    named = zip_longest((str(label).strip() for label in event.get("LABELS", [])), contexts, fillvalue="")
    labels = [label or context for label, context in named][: _events_used(event)]
    sides = [side_in(context, context=True) for context in contexts]
    subjects = [str(name).strip() for name in event.get("SUBJECTS", [])]
    times = np.asarray(event.get("TIMES", []))
    if times.dtype.kind not in "iuf":
        return []
    if times.ndim == 1 or len(times) == 1:
        times = np.ravel(times)
        pairs = times[: len(times) // 2 * 2].reshape(-1, 2).T
        times = np.stack([np.zeros(len(times)), times]) if len(times) == len(labels) > 1 else pairs
    if times.ndim != 2 or len(times) < 2 or not labels:
        return []
    sides += [""] * (len(labels) - len(sides))
    subjects = (subjects if owner in subjects else []) + [owner] * len(labels)
    return [
        Event(float(second), label, side)
        for second, label, side, subject in zip(60 * times[0] + times[1], labels, sides, subjects, strict=False)
        if subject == owner and math.isfinite(second)
    ]


def event_remarks(event: Mapping[str, Any], in_header: int) -> list[Problem]:
    """Return remarks on events that are not used: beyond EVENT:USED, or in the file's header alone."""
    described, used = len(event.get("LABELS", [])), _events_used(event)
    remarks = []
    if used < described:
        what = f"{described} events are described, but EVENT:USED is {used}: the others are not used"
        remarks.append(warning("", what, "correct EVENT:USED if they were not deleted", "events_not_used"))
    if in_header and not described:
        what = f"{in_header} events in the header, where programs kept them before the group EVENT, are not used"
        remedy = "export them into the group EVENT; plates and motion give events too"
        remarks.append(warning("", what, remedy, "events_not_used"))
    return remarks


def _events_used(event: Mapping[str, Any]) -> int:
    """Return EVENT:USED, or the number of labels and contexts if it is absent: programs that delete may leave these."""
    described = max(len(event.get("LABELS", [])), len(event.get("CONTEXTS", [])))
    stated = np.ravel(event.get("USED", ()))
    return min(int(stated[0]), described) if stated.size and stated.dtype.kind in "iuf" else described
