"""Repair of exchanged labels and spikes; exchanges that are not certain reject the trial."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, Flags
from ...body.body_model import BodyModel
from ...body.plausibility import LATERAL, MEDIAL
from ...conventions import FROM_PELVIS, SIDES
from ...errors import UserError, join_some
from ...signals.filters import stretches
from ...signals.marker_distances import bends
from .label_swaps import Exchange, find_exchanges

Codes = NDArray[np.int8]

SPIKE, EXCHANGED = 4, 5
LONGEST_FRAMES = 5  # of a spike
SUPPORT_FRAMES = 4  # on either side of it
TIMES_ROUGHNESS = 3.0  # of the marker's own roughness, so that noisy cameras and fast feet give no spikes
# of the bend by a jump may be left without it, however rough the rest of the recording is; beside a gap a lasting step
# of the path leaves as little
LEFT_OF_BEND = 0.35
MOST_LISTED = 4
AT_JOINTS = {
    names[joint]: {above, below}
    for names in (LATERAL, MEDIAL)
    for joint, above, below in (("knee", "thigh", "shank"), ("ankle", "shank", "foot"))
}
REMEDY = "label them in the capture software and export again, or exclude the trial"


def repair_markers(
    position: Array,
    labels: Sequence[str],
    chosen: Mapping[str, tuple[str, ...]],
    body_model: BodyModel,
    *,
    first_frame: int,
    spike_m: float | None,
    exchanged_markers: str,
) -> tuple[Array, Codes, str]:
    """Exchange labels back and remove spikes.

    Args:
        position: (time, marker, 3), lab axes with y up, m, NaN where unseen.
        labels: the markers' labels.
        chosen: the labels of each landmark.
        body_model: defines the landmarks of the pelvis.
        first_frame: the file's number of the first frame.
        spike_m: see :func:`pipeline.steps.clean.marker_repair.find_spikes`.
        exchanged_markers: ``repair`` (what is certain), ``reject`` or ``ignore``.

    Returns:
        The positions; the code (time, marker): 0, 4 spike removed, 5 exchanged back; a text that lists the exchanges.

    Raises:
        UserError: labels are exchanged throughout or uncertainly, or ``reject`` is set.
    """
    ignored = exchanged_markers == "ignore"
    exchanges = [] if ignored else find_exchanges(position, labels, *pairs_of_sides(chosen, body_model))
    description = _describe(exchanges, first_frame)
    beyond = [
        exchange for exchange in exchanges if exchanged_markers == "reject" or exchange.whole or not exchange.certain
    ]
    if beyond:
        raise UserError("", f"labels are exchanged: {description}", REMEDY, "labels_exchanged")
    position, code = np.copy(position), np.zeros(position.shape[:2], dtype=np.int8)
    for exchange in exchanges:
        here, i, j = np.flatnonzero(exchange.frames), labels.index(exchange.first), labels.index(exchange.second)
        position[here, i], position[here, j] = position[here, j], position[here, i].copy()
        code[here, i] = code[here, j] = EXCHANGED
    spikes = find_spikes(position, spike_m=spike_m)
    position[spikes], code[spikes] = np.nan, SPIKE
    return position, code, description


def pairs_of_sides(
    chosen: Mapping[str, tuple[str, ...]], body_model: BodyModel
) -> tuple[list[tuple[str, str]], list[set[str]], tuple[str, str] | None, list[tuple[str, str, str]]]:
    """Return label pairs of the legs, the segments on which each is, the pelvis's front, and heel, toe and ankle.

    Markers of knee and ankle are on both segments of the joint; the ankle's label is empty where it is not seen.
    """
    pelvis = body_model.segments.get("pelvis")
    of_pelvis = {"asis", "psis", *((*pelvis.points, *pelvis.cluster) if pelvis else ())}
    fixed = body_model.legs["left"].fixed if {*FROM_PELVIS} <= body_model.segments.keys() else {}
    pairs: dict[tuple[str, str], set[str]] = {}
    for name, labels in chosen.items():
        stem, _, side = name.rpartition("_")
        if side == "left" and f"{stem}_right" in chosen and not {stem, name} & of_pelvis:
            on = {segment for segment, names in fixed.items() if name in names} | AT_JOINTS.get(stem, set())
            for pair in zip(labels, chosen[f"{stem}_right"], strict=False):
                pairs.setdefault(pair, set()).update(on)
    front = {"asis_left", "asis_right"} <= chosen.keys()
    feet = [
        (chosen[f"heel_{side}"][0], chosen[f"toe_{side}"][0], chosen.get(f"{LATERAL['ankle']}_{side}", ("",))[0])
        for side in SIDES
        if {f"heel_{side}", f"toe_{side}"} <= chosen.keys()
    ]
    return list(pairs), [*pairs.values()], (chosen["asis_left"][0], chosen["asis_right"][0]) if front else None, feet


def _describe(exchanges: Sequence[Exchange], first_frame: int) -> str:
    """List the exchanged labels by the frames in which they are exchanged."""
    where: dict[str, list[str]] = {}
    for exchange in exchanges:
        runs = [f"{a + first_frame}-{b - 1 + first_frame}" for a, b in stretches(exchange.frames)]
        text = "in all frames" if exchange.whole else "in frames " + join_some(runs, MOST_LISTED)
        text += "" if exchange.certain else " or in all others"
        where.setdefault(text, []).append(f"{exchange.first} and {exchange.second}")
    return join_some([f"{', '.join(pairs)} {text}" for text, pairs in where.items()], MOST_LISTED, between="; ")


def find_spikes(position: Array, *, spike_m: float | None) -> Flags:
    """Return which samples (time, marker) are spikes.

    A run of up to five samples is a spike if its distance from the cubic through the four samples on either side
    exceeds ``spike_m`` and three times the marker's roughness (the 95th percentile of its second differences), and the
    path without it is smooth: it bends by less than that, or, if all eight are measured, by .35 of what it bends with
    the spike.

    Args:
        position: (time, marker, 3), m, NaN where unseen.
        spike_m: smallest distance from the path; None finds no spikes.
    """
    spikes = np.zeros(position.shape[:2], dtype=bool)
    if spike_m is None or len(position) < 3:
        return spikes
    bent_by = bends(position)
    for marker in np.flatnonzero(np.fmax.reduce(bent_by, axis=0) > spike_m):
        bend = np.nan_to_num(bent_by[:, marker])
        limit = max(spike_m, TIMES_ROUGHNESS * float(np.percentile(bend, 95)))
        bent = np.flatnonzero(bend > limit) + 1
        for run in np.split(bent, np.flatnonzero(np.diff(bent) > SUPPORT_FRAMES) + 1):
            if run.size and run[-1] - run[0] < LONGEST_FRAMES + 2:
                off = _off_the_path(position[:, marker], int(run[0]), int(run[-1]), limit)
                spikes[off, marker] = True
    return spikes


def _off_the_path(path: Array, first: int, last: int, limit_m: float) -> NDArray[np.intp]:
    """Return the frames of spikes from ``first`` to ``last``; none if not smooth."""
    # the sample next to a gap has no second difference
    first -= int(first < 2 or not np.isfinite(path[first - 2]).all())
    last += int(last > len(path) - 3 or not np.isfinite(path[last + 2]).all())
    window = np.arange(max(first - SUPPORT_FRAMES, 0), min(last + SUPPORT_FRAMES + 1, len(path)))
    seen = np.isfinite(path[window]).all(axis=1)
    kept = window[seen & ((window < first) | (window > last))]
    before, after = int((kept < first).sum()), int((kept > last).sum())
    nothing = np.empty(0, dtype=np.intp)
    if max(before, after) < 3:
        return nothing
    # at the end of a visible stretch only one side exists: use a line through its three samples
    inner = min(before, after) >= 2
    support = kept if inner else kept[-3:] if before > after else kept[:3]
    middle = (first + last) / 2
    degree = min(3, len(support) - 1) if inner else 1
    powers = np.vander((window - middle) / SUPPORT_FRAMES, degree + 1)
    smooth = powers @ np.linalg.lstsq(powers[support - window[0]], path[support], rcond=None)[0]
    away = np.linalg.norm(path[window] - smooth, axis=1)
    off = seen & (window >= first) & (window <= last) & (away > limit_m)
    repaired = np.where(off[:, None], smooth, path[window])
    jumps, bend = (np.nanmax(bends(of[:, None]), initial=0.0) for of in (path[window], repaired))
    longest = max((b - a for a, b in stretches(off)), default=0)
    left_m = max(limit_m, LEFT_OF_BEND * jumps) if before == after == SUPPORT_FRAMES else limit_m
    if longest > (LONGEST_FRAMES if inner else 2) or bend > left_m:
        return nothing
    return np.asarray(window[off])
