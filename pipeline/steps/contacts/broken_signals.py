"""Judges of contacts by the breaks of their plates' signals, which `pipeline.plates.signal_breaks` finds."""

from collections.abc import Sequence

from ...json_text import from_text
from ...plates.signal_breaks import Break
from .body_motion import Shown
from .plate_contacts import Contact

BESIDE_S = 0.02  # a drop-out cuts a stance in two: these are its contacts
TOGETHER_S = 0.05  # markers that lose frames as near to it may have lost the same: :func:`.contact_checks.judge_breaks`


def reject_broken(contacts: Sequence[Contact], shown: Shown) -> list[Contact]:
    """Return the contacts of single plates, rejected if the plate's signal breaks in them or beside."""
    judged, instants = [*contacts], shown.data["plate_time"]
    for number, *values in from_text(shown.plate_breaks):
        one = Break(*values)
        from_s, to_s = float(instants[one.first]), float(instants[max(one.first, one.last)])
        when = f"from {from_s:.3f} to {to_s:.3f} s" if one.comes_back else f"at {from_s:.3f} s"
        for i, contact in enumerate(judged):
            (plate,) = contact.plates
            if shown.numbers[plate] != number or contact.from_s > to_s + BESIDE_S or contact.to_s < from_s - BESIDE_S:
                continue
            code = "plate_loses_time" if one.lost_s else "plate_drops_out"
            facts = {"number": number, "when": when, "newtons": one.newtons}
            judged[i] = contact.refuse(code, **facts, ms=1000 * one.lost_s, second=from_s)
    return judged


def doubt_after_loss(contacts: Sequence[Contact], shown: Shown) -> list[Contact]:
    """Return the stances, doubted if plates alone have lost time before: they may be ahead of the markers since."""
    frames_s = [first_s for kind, first_s, _ in from_text(shown.motion_breaks) if kind == "lost"]
    lost = []
    for number, *values in from_text(shown.plate_breaks):
        one = Break(*values)
        second = float(shown.data["plate_time"][one.first])
        if one.lost_s and all(abs(second - frame_s) > TOGETHER_S for frame_s in frames_s):
            lost.append((second, number, one.lost_s))
    judged = [*contacts]
    for i, contact in enumerate(contacts if lost else ()):
        second, number, lost_s = min(lost)
        if contact.plates and contact.from_s > second:
            judged[i] = contact.doubted("plate_time_lost_before", number=number, second=second, ms=1000 * lost_s)
    return judged
