"""Judges of contacts by the breaks of their plates' signals, which `pipeline.plates.signal_breaks` finds."""

from collections.abc import Sequence

from ...json_text import from_text
from ...plates.signal_breaks import Break
from .body_motion import Shown
from .plate_contacts import Contact

BESIDE_S = 0.02  # a drop-out cuts a stance in two: these are its contacts
TOGETHER_S = 0.05  # markers that lose frames as near to it may have lost the same: :func:`.contact_checks.judge_breaks`
LOSES_TIME = "plate_loses_time"


def reject_broken(contacts: Sequence[Contact], shown: Shown) -> list[Contact]:
    """Return the contacts, rejected if the signal of one of their plates breaks in them or beside."""
    judged, instants = [*contacts], shown.data["plate_time"]
    for number, *values in from_text(shown.plate_breaks):
        one = Break(*values)
        from_s, to_s = float(instants[one.first]), float(instants[max(one.first, one.last)])
        when = f"from {from_s:.3f} to {to_s:.3f} s" if one.comes_back else f"at {from_s:.3f} s"
        facts = {"number": number, "when": when, "second": from_s, "newtons": one.newtons, "ms": 1000 * one.lost_s}
        for i, contact in enumerate(judged):
            on_it = number in [shown.numbers[plate] for plate in contact.plates]
            if on_it and contact.from_s <= to_s + BESIDE_S and contact.to_s >= from_s - BESIDE_S:
                judged[i] = contact.refuse(LOSES_TIME if one.lost_s else "plate_drops_out", **facts)
    return judged


def doubt_after_loss(contacts: Sequence[Contact], shown: Shown) -> list[Contact]:
    """Return the stances, doubted if plates alone have lost time before: they may be ahead of the markers since."""
    frames_s = [first_s for kind, first_s, _ in from_text(shown.motion_breaks) if kind == "lost"]
    losses = [contact.reason.values for contact in contacts if contact.reason and contact.reason.code == LOSES_TIME]
    alone = [one for one in losses if all(abs(float(one["second"]) - at_s) > TOGETHER_S for at_s in frames_s)]
    first = min(alone, key=lambda one: float(one["second"]), default=None)
    return [
        contact.doubted("plate_time_lost_before", **first)
        if first and contact.plates and contact.from_s > float(first["second"])
        else contact
        for contact in contacts
    ]
