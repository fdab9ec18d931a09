"""Faults of markers as recorded: exchanged labels and spikes, mended where that is certain, else said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.body_model import SIDES
from pipeline.errors import UserError
from pipeline.exchanges import Exchange, find_exchanges
from pipeline.filters import stretches
from pipeline.named_points import names_in_frame
from pipeline.spikes import find_spikes

Array = NDArray[np.float64]
Codes = NDArray[np.int8]

SPIKE, EXCHANGED = 4, 5
MOST_SAID = 4
REMEDY = "label them in the capture software and export again, or exclude the trial"


def mended(
    position: Array,
    labels: Sequence[str],
    chosen: Mapping[str, tuple[str, ...]],
    body_model: Mapping[str, Any],
    *,
    first_frame: int,
    spike_m: float | None,
    exchanged_markers: str,
) -> tuple[Array, Codes, str]:
    """Exchange labels back, take spikes out, and say so.

    Args:
        position: (time, marker, 3), lab axes with y up, m, NaN where unseen.
        labels: the markers' labels.
        chosen: the labels of each landmark.
        body_model: which landmarks are the pelvis's.
        first_frame: the file's number of the first frame.
        spike_m: see :func:`pipeline.spikes.find_spikes`.
        exchanged_markers: ``repair`` stretches in which it is certain, ``reject``, or ``ignore``.

    Returns:
        The positions; the code (time, marker): 0, 4 spike taken out, 5 exchanged back; what was exchanged.

    Raises:
        UserError: labels are exchanged in the whole trial, or it is not certain where, or ``reject`` is set.
    """
    ignored = exchanged_markers == "ignore"
    found = [] if ignored else find_exchanges(position, labels, *sided_labels(chosen, body_model))
    said = _said(found, first_frame)
    beyond = [exchange for exchange in found if exchanged_markers == "reject" or exchange.whole or not exchange.certain]
    if beyond:
        raise UserError(f"labels are exchanged: {said}; {REMEDY}")
    position, code = np.copy(position), np.zeros(position.shape[:2], dtype=np.int8)
    for exchange in found:
        here, i, j = np.flatnonzero(exchange.frames), labels.index(exchange.first), labels.index(exchange.second)
        position[here, i], position[here, j] = position[here, j], position[here, i].copy()
        code[here, i] = code[here, j] = EXCHANGED
    spikes = find_spikes(position, spike_m=spike_m)
    position[spikes], code[spikes] = np.nan, SPIKE
    return position, code, said


def sided_labels(
    chosen: Mapping[str, tuple[str, ...]], body_model: Mapping[str, Any]
) -> tuple[list[tuple[str, str]], tuple[str, str] | None, list[tuple[str, str]]]:
    """Return the labels of the legs' pairs, of the front of the pelvis, and of heel and toe of each foot."""
    pelvis = body_model["segments"].get("pelvis", {"axes": []})
    of_pelvis = {"asis", "psis", *names_in_frame(pelvis), *pelvis.get("cluster", ())}
    pairs: dict[tuple[str, str], None] = {}
    for name, labels in chosen.items():
        stem, _, side = name.rpartition("_")
        if side == "left" and f"{stem}_right" in chosen and not {stem, name} & of_pelvis:
            pairs |= dict.fromkeys(zip(labels, chosen[f"{stem}_right"], strict=False))

    def both(one: str, other: str) -> list[tuple[str, str]]:
        return [(chosen[one][0], chosen[other][0])] if {one, other} <= chosen.keys() else []

    front = both("asis_left", "asis_right")
    feet = [pair for side in SIDES for pair in both(f"heel_{side}", f"toe_{side}")]
    return list(pairs), front[0] if front else None, feet


def _said(found: Sequence[Exchange], first_frame: int) -> str:
    """Return which labels are exchanged where; those exchanged in the same frames together."""
    where: dict[str, list[str]] = {}
    for exchange in found:
        runs = [f"{a + first_frame}-{b - 1 + first_frame}" for a, b in stretches(exchange.frames)]
        text = "in all frames" if exchange.whole else "in frames " + _first_few(runs, ", ")
        text += "" if exchange.certain else " or in all others"
        where.setdefault(text, []).append(f"{exchange.first} and {exchange.second}")
    return _first_few([f"{', '.join(pairs)} {text}" for text, pairs in where.items()], "; ")


def _first_few(texts: Sequence[str], between: str) -> str:
    more = [f"and {len(texts) - MOST_SAID} more"] if len(texts) > MOST_SAID else []
    return between.join([*texts[:MOST_SAID], *more])
