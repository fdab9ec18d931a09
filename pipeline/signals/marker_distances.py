"""Distances between markers, and the exchanges of labels that change them.

Markers of one segment, and neighbours across a joint, keep their distance; markers of different legs do not.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, Flags, known_mean

Frames = Flags
Numbers = NDArray[np.intp]
Change = tuple[int, int, Frames]

LOOKS = 40  # frames, evenly spread, from which distances are learned
SCREEN = 4  # every fourth frame is looked at first
RIGID_M = 0.012  # robust spread of a distance that counts as constant
FARTHEST_M = 0.6  # markers of one segment or of its neighbour
COMPANIONS = 4
TIMES_STEADIER = 3.0  # by which a marker's distance to its own leg is steadier than to the other
WRONG_M = 0.015  # mean misfit of a marker from which its label may be exchanged
CURE = 0.4  # largest share of the misfit that remains after an exchange which explains it


def steadiness(position: Array) -> tuple[Array, Array]:
    """Return median and robust standard deviation of the distance of every two markers (marker, marker), m.

    Computed from some frames; NaN where fewer than a third of them show both.
    """
    some = position[:: max(1, len(position) // LOOKS)]
    one, other = np.triu_indices(position.shape[1], 1)
    distance = _distances(some, one, other)
    enough = np.isfinite(distance).sum(axis=1) >= max(5, len(some) // 3)
    distance[~enough] = np.nan
    median = medians(distance)
    result = np.full((2, position.shape[1], position.shape[1]), np.nan)
    result[:, one, other] = result[:, other, one] = median, 1.4826 * medians(np.abs(distance - median[:, None]))
    return result[0], result[1]


def ranges(position: Array, one: Numbers, other: Numbers) -> tuple[Array, Array, Array]:
    """Return the 5th and 95th percentile and the robust standard deviation of distances (pair,), m, of some frames.

    Args:
        position: (time, marker, 3), m, NaN where unseen.
        one, other: numbers of the markers of each pair; NaN where fewer than a third of the frames show both.
    """
    some = position[:: max(1, len(position) // LOOKS)]
    distance = np.sort(_distances(some, one, other), axis=1)  # NaN is sorted to the end
    count = np.isfinite(distance).sum(axis=1)
    distance[count < max(5, len(some) // 3)] = np.nan
    rows, last = np.arange(len(distance)), np.maximum(count - 1, 0)
    low, high = (distance[rows, np.rint(share * last).astype(int)] for share in (0.05, 0.95))
    return low, high, 1.4826 * medians(np.abs(distance - medians(distance)[:, None]))


def _distances(position: Array, one: Numbers, other: Numbers) -> Array:
    """Return the distances (pair, time) of pairs of markers, given by their numbers, m."""
    paths = np.ascontiguousarray(np.moveaxis(position, 0, -1))
    away = paths[one] - paths[other]
    return np.asarray(np.sqrt(np.einsum("pxt,pxt->pt", away, away)))


def medians(values: Array) -> Array:
    """Return the median of the finite values of each row (row, ...), NaN without any."""
    ordered, count = np.sort(values, axis=1), np.isfinite(values).sum(axis=1)
    rows = np.arange(len(ordered))
    return np.asarray((ordered[rows, (count - 1) // 2] + ordered[rows, count // 2]) / 2)  # NaN is sorted to the end


def on_the_other_leg(spread: Array, legs: Sequence[tuple[int, int]], mates: Frames) -> list[int]:
    """Return the left-right pairs, by number, that are exchanged against most of the others.

    Two pairs of one segment (``mates``) that keep their distances within a leg are labelled alike; if they keep them
    only across the legs, one is exchanged. Other distances say nothing: in a squat those across the legs may be the
    steadier ones. The clearest comparisons link all pairs (a maximum spanning tree) and divide them in two groups.
    """
    if len(legs) < 2:
        return []
    left, right = np.array(legs).T
    same = spread[np.ix_(left, left)] + spread[np.ix_(right, right)]
    across = spread[np.ix_(left, right)] + spread[np.ix_(right, left)]
    floor = 1e-4  # m: exact recordings have no spread
    with np.errstate(invalid="ignore"):
        lead = np.log((across + floor) / (same + floor))
        sure = mates & (np.minimum(same, across) < 4 * RIGID_M) & (np.abs(lead) > np.log(TIMES_STEADIER))
        sure &= (lead > 0) | (same > 4 * RIGID_M)
        if not (sure & (lead < 0)).any():
            return []
    weight = np.where(sure, np.abs(lead), 0.0)
    sign = np.zeros(len(legs))
    groups = []
    while (sign == 0).any():
        root = int(np.flatnonzero(sign == 0)[0])
        sign[root], group = 1, [root]
        while (reach := np.where(sign[None] == 0, weight[group], 0.0)).any():
            near, new = np.unravel_index(int(np.argmax(reach)), reach.shape)
            sign[new] = sign[group[near]] * np.sign(lead[group[near], new])
            group.append(int(new))
        groups.append(group)
    result = []
    for group in groups:
        odd = [k for k in group if sign[k] < 0]
        result += odd if len(odd) <= len(group) / 2 else [k for k in group if sign[k] > 0]
    return result


def best_exchange(
    position: Array, median: Array, spread: Array, front: tuple[int, int] | None
) -> tuple[int, int, Frames] | None:
    """Return the exchange that corrects most distances to companions: two markers, and in which frames.

    The labels of the pelvis (``front``) are settled before, because the legs are judged by them.
    """
    steady = np.where((median < FARTHEST_M) & (spread < RIGID_M), spread, np.inf)
    np.fill_diagonal(steady, np.inf)
    nearest = np.argsort(steady, axis=1, kind="stable")[:, :COMPANIONS]
    usable = np.isfinite(np.take_along_axis(steady, nearest, axis=1))
    companions = {i: nearest[i][usable[i]] for i in np.flatnonzero(usable.sum(axis=1) >= 2).tolist()}
    # some frames first: find_swaps finds exchanges of fewer frames
    looked = _misfits(position[::SCREEN], median, companions)
    companions = {i: others for i, others in companions.items() if (looked[i] > WRONG_M).any()}
    if len(companions) < 2:
        return None
    misfit = _misfits(position, median, companions)
    pairs = [pair for pair in combinations(companions, 2) if {*pair} != {*(front or ())}]
    found = {pair: _exchange(position, median, companions, misfit, *pair) for pair in pairs}
    exchanges = [(gained_m, *pair, frames) for pair, (gained_m, frames) in found.items() if frames.any()]
    return max(exchanges, key=lambda item: item[0])[1:] if exchanges else None


def _misfits(position: Array, median: Array, companions: Mapping[int, Numbers]) -> dict[int, Array]:
    """Return, by marker, the mean error (time,) of the distances to its companions, m; 0 where unseen."""
    if not companions:
        return {}
    counts = [len(others) for others in companions.values()]
    marker, other = np.repeat(list(companions), counts), np.concatenate(list(companions.values()))
    off = np.abs(_distances(position, marker, other) - median[marker, other][:, None])
    starts, seen = np.cumsum([0, *counts[:-1]]), np.isfinite(off)
    total = np.add.reduceat(np.where(seen, off, 0.0), starts, axis=0)
    mean = total / np.maximum(np.add.reduceat(seen, starts, axis=0, dtype=float), 1)
    return dict(zip(companions, mean, strict=True))


def _exchange(
    position: Array, median: Array, companions: Mapping[int, Numbers], misfit: Mapping[int, Array], i: int, j: int
) -> tuple[float, Frames]:
    """Return by how much an exchange of two markers corrects their misfit in all, m, and in which frames it does."""
    both = np.flatnonzero((misfit[i] > WRONG_M) | (misfit[j] > WRONG_M))
    cured, shown = np.zeros(len(both)), position[both]
    for old, new in ((i, j), (j, i)):  # the mean error of the distances from the new one to the companions
        others = [int(k) for k in companions[old] if k not in (new, old)]
        off = np.abs(np.linalg.norm(shown[:, [new]] - shown[:, others], axis=-1) - median[old][others])
        cured += known_mean(off, axis=1)
    as_is = misfit[i][both] + misfit[j][both]
    good = (cured < CURE * as_is) & (as_is > 2 * WRONG_M)
    frames = np.zeros(len(position), dtype=bool)
    frames[both[good]] = True
    return float((as_is - cured)[good].sum()), frames


def bends(position: Array) -> Array:
    """Return the lengths (time - 2, marker) of second differences of (time, marker, 3), m; NaN at gaps."""
    second = position[2:] - position[1:-1]
    second -= position[1:-1] - position[:-2]
    return np.asarray(np.sqrt(np.einsum("tmx,tmx->tm", second, second)))


def find_swaps(position: Array, median: Array) -> list[tuple[int, int, Frames]]:
    """Return the exchanges of near markers that swap places from one frame to the next, and back.

    Distances do not show these where the two markers lie symmetrically to the others. The shorter part of the trial
    counts as exchanged.
    """
    bend = bends(position)
    near = np.where((median > 0) & (median < FARTHEST_M), median, np.inf)
    possible = np.fmax.reduce(bend, axis=0, initial=0.0) > near.min(axis=1) / 2
    exchanges = []
    for i, j in combinations(np.flatnonzero(possible).tolist(), 2):
        at = np.flatnonzero(np.minimum(bend[:, i], bend[:, j]) > near[i, j] / 2) + 1
        if not at.size:
            continue
        before, now, after = (position[at + k][:, [i, j]] for k in (-1, 0, 1))
        as_is = bend[at - 1, i] + bend[at - 1, j]
        later, sooner = (  # exchanged from the next frame on, or from this one
            np.linalg.norm(one - 2 * now + other[:, ::-1], axis=-1).sum(axis=1) < CURE * as_is
            for one, other in ((before, after), (after, before))
        )
        turns = np.union1d(at[later] + 1, at[sooner])
        if turns.size:
            state = np.zeros(len(position), dtype=bool)
            state[turns] = True
            state = np.logical_xor.accumulate(state)
            exchanges.append((i, j, ~state if state.mean() > 0.5 else state))
    return exchanges
