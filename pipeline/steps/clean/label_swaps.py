"""Detection of labels exchanged between two markers, in a part of a trial or throughout.

Two labels are exchanged if exchanging them corrects the distances to the markers around, or if both jump to each
other's position. Exchanges that keep all distances (a whole leg, the pelvis) are found by the order of left and right.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, Flags
from ...dynamics.vectors import length
from ...signals.filters import stretches
from ...signals.marker_distances import LOOKS, Change, best_exchange, find_swaps, on_the_other_leg, steadiness

Frames = Flags
Pair = tuple[int, int]

CROSSED_M = 0.05  # mean distance of the left leg to the right of the right one; never reached in walking
ALWAYS = 0.9  # share of the seen frames; a more frequent exchange is one of the whole trial
SELDOM = 0.3  # largest share at which an exchange within one side is certain


@dataclass(frozen=True)
class Exchange:
    """Two markers with exchanged labels."""

    # first, second: their labels
    first: str
    second: str
    frames: Frames  # (time,) in which they are
    whole: bool  # whether this is nearly all of the trial
    certain: bool  # whether they are certainly exchanged in these frames and not in the others


def find_exchanges(
    position: Array,
    names: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    segments: Sequence[set[str]],
    pelvis: tuple[str, str] | None,
    feet: Sequence[tuple[str, str, str]] = (),
) -> list[Exchange]:
    """Return the exchanged labels of a trial.

    Args:
        position: (time, marker, 3), lab axes with y up, m, NaN where unseen.
        names: the markers' labels.
        pairs: left and right marker of the same place on the legs.
        segments: on which segments each pair is: only their distances are constant in any posture.
        pelvis: left and right marker of the front of the pelvis, which define left and right.
        feet: heel, toe and ankle of each foot, which decide whether the pelvis or the legs are exchanged.
    """
    column = {name: i for i, name in enumerate(names)}
    position = np.copy(position)  # corrected while exchanges are found
    legs, soles = ([(column[one], column[other]) for one, other, *_ in listed] for listed in (pairs, feet))
    mates = np.array([[bool(one & other) for other in segments] for one in segments], dtype=bool)
    front = (column[pelvis[0]], column[pelvis[1]]) if pelvis else None
    state: dict[Pair, Frames] = {}
    for i, j, frames in _changes(position, legs, mates, soles, front):
        key = (min(i, j), max(i, j))
        state[key] = state.get(key, np.zeros(len(position), dtype=bool)) ^ frames
    across = [{*pair} for pair in (*legs, *([front] if front else []))]
    exchanges = []
    for (i, j), frames in state.items():
        seen = np.asarray(np.isfinite(position[:, [i, j], 0]).any(axis=1))
        if (frames & seen).any():
            share = float(frames[seen].mean())
            certain = share < SELDOM or {i, j} in across
            exchanges.append(Exchange(names[i], names[j], frames & seen, share > ALWAYS, certain))
    for (i, j), (*_, ankle) in zip(soles, feet, strict=True) if front else ():
        facing = _feet_face_forward(position, [(i, j)], front) if front else np.empty(0)
        backwards = np.isfinite(facing).any() and np.nanmean(np.sign(facing)) < -ALWAYS
        # so do pointed feet of somebody who kneels
        if backwards and (ankle not in column or _nearer(position, column[ankle], j, i)):
            exchanges.append(Exchange(names[i], names[j], np.isfinite(facing), whole=True, certain=True))
    return exchanges


def _changes(
    position: Array, legs: Sequence[Pair], mates: Frames, soles: Sequence[Pair], front: Pair | None
) -> Iterator[Change]:
    """Yield the exchanges, most certain first, and apply each to ``position``."""

    def apply(changes: Sequence[Change]) -> Iterator[Change]:
        for i, j, frames in changes:
            if frames.any():
                here = np.flatnonzero(frames)
                position[here, i], position[here, j] = position[here, j], position[here, i].copy()
                yield i, j, frames

    everywhere = np.ones(len(position), dtype=bool)
    crossed = ~everywhere
    median, spread = steadiness(position[_in_order(position, legs, front)])
    flipped = on_the_other_leg(spread, legs, mates)
    yield from apply([(*legs[k], everywhere) for k in flipped])
    if front:
        crossed = _legs_crossed(position, legs, front)
        if crossed.any():
            turned = crossed & (_feet_face_forward(position, soles, front) < 0)
            yield from apply([(*front, turned), *((*pair, crossed & ~turned) for pair in legs)])
    if flipped or crossed.any():
        median, spread = steadiness(position[_in_order(position, legs, front)])
    for _ in range(position.shape[1]):  # one by one, as a wrong companion makes others look wrong
        if (change := best_exchange(position, median, spread, front)) is None:
            break
        yield from apply([change])
    yield from apply(find_swaps(position, median))


def _order(position: Array, legs: Sequence[Pair], front: Pair) -> Array:
    """Return how far right of its left marker each right one is (time, pair), m.

    The pelvis defines the direction, in any posture; frames in which it is not seen use its mean over the trial.
    """
    right = position[:, front[1]] - position[:, front[0]]
    unseen = ~np.isfinite(position[:, front]).all(axis=(1, 2))
    if not unseen.all():
        right[unseen] = right[~unseen].mean(axis=0)
    right /= np.linalg.norm(right, axis=1, keepdims=True)
    left_ones, right_ones = np.array(legs, dtype=int).reshape(-1, 2).T
    return np.asarray(np.einsum("tpx,tx->tp", position[:, right_ones] - position[:, left_ones], right))


def _in_order(position: Array, legs: Sequence[Pair], front: Pair | None) -> NDArray[np.intp]:
    """Return the frames with left on the left if there are enough, else all."""
    some = np.arange(0, len(position), max(1, len(position) // (4 * LOOKS)))
    if front is None or not legs:
        return some
    plausible = some[(np.nan_to_num(_order(position[some], legs, front), nan=1.0) > 0).all(axis=1)]
    return plausible if len(plausible) > max(10, 0.1 * len(some)) else some


def _legs_crossed(position: Array, legs: Sequence[Pair], front: Pair) -> Frames:
    """Return the frames in which the labels put the left leg to the right of the right one.

    Legs cross without exchange in sharp turns, for a step; then no marker jumps to the other's place. The markers next
    to the pelvis do not cross, whatever the posture. Feet alone are judged by their mean over the trial, as they may
    cross for a step.
    """
    order = _order(position, legs, front)
    count = np.isfinite(order).sum(axis=1)
    mean = np.nansum(order, axis=1) / np.maximum(count, 1)
    if len(legs) >= 3:
        crossed = (mean < -CROSSED_M) & (count >= 3)
        if not crossed.any():
            return np.asarray(crossed)
        away = position[:, legs].mean(axis=2) - position[:, None, front].mean(axis=2)
        from_pelvis = np.nan_to_num(length(away), nan=np.inf)
        highest = int(np.argmin(np.median(from_pelvis, axis=0)))
        crossed &= ~(order[:, highest] > 0)
        for start, stop in stretches(mean < 0):
            ends = [frame for frame in (start, stop) if 0 < frame < len(mean)]
            if ends and not any(_jump_across(position, legs, frame) for frame in ends):
                crossed[start:stop] = False
        return np.asarray(crossed)
    return np.full(len(position), bool(count.any() and mean[count > 0].mean() < -CROSSED_M))


def _jump_across(position: Array, legs: Sequence[Pair], frame: int) -> bool:
    """Return whether most left and right markers may take each other's place at a frame; unseen ones may."""
    before, after = position[frame - 1, legs], position[frame, legs]  # (pair, side, 3)
    stay, swap = (length(after - place).sum(axis=1) for place in (before, before[:, ::-1]))
    return bool((stay < swap).sum() <= len(legs) / 2)


def _nearer(position: Array, ankle: int, one: int, other: int) -> bool:
    """Return whether one marker is nearer to the ankle than the other; the heel is, in any posture."""
    away = (np.linalg.norm(position[:, marker] - position[:, ankle], axis=1) for marker in (one, other))
    difference = np.subtract(*away)
    return bool(np.isfinite(difference).any() and np.nanmean(difference) < 0)


def _feet_face_forward(position: Array, feet: Sequence[Pair], front: Pair) -> Array:
    """Return (time,) heel-to-toe along forward; negative if the pelvis is reversed."""
    if not feet:
        return np.ones(len(position))
    right = (position[:, front[1]] - position[:, front[0]]) * (1, 0, 1)
    along = np.mean([position[:, toe] - position[:, heel] for heel, toe in feet], axis=0)
    # forward = up x right
    return np.asarray(along[:, 0] * right[:, 2] - along[:, 2] * right[:, 0])
