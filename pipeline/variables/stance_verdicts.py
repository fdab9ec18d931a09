"""The verdict on a stance or a trial, as quality.csv, the report and the end of a run state it."""

from __future__ import annotations

USED, NOT_ON_A_PLATE, REFUSED = "used", "not on a plate", "refused"
BY_HAND = "left out by hand: "


def verdict_of(reason: str, plates: str) -> str:
    """Return the verdict on a stance: the kinetics of one that no plate measured are not lost, they never were.

    Args:
        reason: why its kinetics are not valid; empty if they are.
        plates: the plates that were loaded by the foot; empty if none was.
    """
    if not reason:
        return USED
    return REFUSED if plates or reason.startswith(BY_HAND) else NOT_ON_A_PLATE
