"""Judges of contacts by the breaks of their plates' signals, which `pipeline.plates.signal_breaks` finds."""

from collections.abc import Iterator, Sequence

import numpy as np

from ...json_text import from_text
from ...plates.signal_breaks import Break
from .body_motion import Shown
from .plate_contacts import Contact

BESIDE_S = 0.02  # a drop-out cuts a stance in two: these are its contacts
TOGETHER_S = 0.05  # markers that lose frames as near to it may have lost the same: :func:`.contact_checks.judge_breaks`
OVER_EDGES = ("foot_partly_off_plate", "foot_on_two_plates", "two_feet_on_plate")


def _breaks_in(shown: Shown) -> Iterator[tuple[int, Break, float]]:
    """Yield the number of the plate, the break, and the instant of its first sample, s."""
    for number, *values in from_text(shown.plate_breaks):
        gap = Break(*values)
        yield number, gap, float(shown.data["plate_time"][gap.first])


def reject_broken(contacts: Sequence[Contact], shown: Shown) -> list[Contact]:
    """Return the contacts, rejected if the signal of one of their plates breaks in them or beside."""
    judged = [*contacts]
    for number, gap, from_s in _breaks_in(shown):
        to_s = float(shown.data["plate_time"][max(gap.first, gap.last)])
        when = f"from {from_s:.3f} to {to_s:.3f} s" if gap.comes_back else f"at {from_s:.3f} s"
        facts = {"number": number, "when": when, "second": from_s, "newtons": gap.newtons, "ms": 1000 * gap.lost_s}
        for i, contact in enumerate(judged):
            on_it = number in [shown.numbers[plate] for plate in contact.plates]
            if on_it and contact.from_s <= to_s + BESIDE_S and contact.to_s >= from_s - BESIDE_S:
                judged[i] = contact.refuse("plate_loses_time" if gap.lost_s else "plate_drops_out", **facts)
    return judged


def doubt_after_loss(contacts: Sequence[Contact], shown: Shown) -> list[Contact]:
    """Return the stances, doubted if they end after plates alone have lost time: these may be ahead of the markers.

    A plate that is refused, as of a faulty channel, tells no time; nor do the steps in load under a foot that may roll
    over its edge.
    """
    refused = [number for number, verdict in zip(shown.numbers, shown.refused_plates, strict=False) if verdict]
    frames_s = [first_s for kind, first_s, _ in from_text(shown.motion_breaks) if kind == "lost"]
    losses = [
        (second, {"number": number, "second": second, "ms": 1000 * gap.lost_s})
        for number, gap, second in _breaks_in(shown)
        if gap.lost_s
        and number not in refused
        and all(abs(second - at_s) > TOGETHER_S for at_s in frames_s)
        and not any(_over_edge(contact, number, second, shown) for contact in contacts)
    ]
    first_s, loss = min(losses, key=lambda loss: loss[0], default=(np.inf, {}))
    return [
        contact.doubted("plate_time_lost_before", **loss) if contact.plates and contact.to_s > first_s else contact
        for contact in contacts
    ]


def _over_edge(contact: Contact, number: int, second: float, shown: Shown) -> bool:
    """Return whether a contact has a foot on a plate at an instant, s, that is not alone and wholly on its plates."""
    is_there = contact.from_s <= second <= contact.to_s and number in [shown.numbers[i] for i in contact.plates]
    return is_there and contact.reason is not None and contact.reason.code in OVER_EDGES
