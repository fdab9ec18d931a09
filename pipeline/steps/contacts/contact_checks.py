"""Checks of contacts: reject or doubt those with a wrong place, plate or time for a step of their foot."""

from collections.abc import Sequence

import numpy as np

from ...arrays import Array, Flags
from ...json_text import from_text
from .feet import Foot
from .plate_contacts import Contact, Loaded

# the ankle from the heel marker: a quarter of the way to the toe marker, and as high over them in an adult
ANKLE_SHARE, ANKLE_HEIGHT_M = 0.25, 0.06
# of one newton, a hip 1 m above the plate has 1 N m, .015 N m/kg of an adult; as long as the baseline is averaged over
WANDERING_N, UNLOADED_S = 1.0, 0.15
# where a marker swings by 2 cm at 6 Hz, a spline errs by 0.1 mm over a gap of this length, and by 10 mm over 0.1 s
FILLED_S = 0.03


def judge_breaks(contact: Contact, motion_breaks: str) -> Contact:
    """Return the contact, refused if frames are lost in it, doubted if markers stand still in it for long.

    Whether the plates lost the same time as the markers is not known. A longer gap than :data:`FILLED_S` is filled, but
    not as exactly as it was measured.

    Args:
        contact: of one foot.
        motion_breaks: the variable of the step ``clean``.
    """
    for kind, first_s, last_s in from_text(motion_breaks):
        if first_s <= contact.to_s and last_s >= contact.from_s:
            if kind == "lost":
                contact = contact.refuse("frames_lost", second=first_s)
            elif last_s - first_s > FILLED_S:
                contact = contact.doubted("markers_frozen", first=first_s, last=last_s)
    return contact


def reject_drifting(contacts: Sequence[Contact], drift: Array, *, max_drift_n: float) -> list[Contact]:
    """Return the contacts, rejected if a plate's unknown drift (plate,), N, NaN if never unloaded, is too large."""
    worst = [float(np.fmax.reduce(np.abs(drift[list(contact.plates)]), initial=0.0)) for contact in contacts]
    return [
        contact.refuse("plate_drifts", newtons=drifted) if drifted > max_drift_n else contact
        for contact, drifted in zip(contacts, worst, strict=True)
    ]


def doubt_unknown_baselines(
    contacts: Sequence[Contact], time: Array, wander: Array, edges_known: Flags, numbers: Sequence[int]
) -> list[Contact]:
    """Return the contacts of single plates, doubted if the plate's baseline under them is not known.

    A load may shift the baseline, most of all of a piezo-electric plate. Where the plate is seen unloaded before and
    after the load, that is measured; else only a plate that reads the same wherever it is unloaded can be trusted.

    Args:
        contacts: on one plate each.
        time: (time,), s.
        wander: (plate,) range of what the plate reads unloaded, N; NaN if that is not seen for long enough.
        edges_known: (plate,) whether it is a plate; loads without edges have been worked on by the lab's software.
        numbers: of the plates.
    """

    def judged(contact: Contact) -> Contact:
        (plate,) = contact.plates
        seen = {"before": contact.from_s - time[0] > UNLOADED_S, "after": time[-1] - contact.to_s > UNLOADED_S}
        if not edges_known[plate] or all(seen.values()) or wander[plate] <= WANDERING_N:
            return contact
        when = " and ".join(word for word, is_seen in seen.items() if not is_seen)
        return contact.doubted("plate_baseline_unknown", number=numbers[plate], when=when)

    return [judged(contact) for contact in contacts]


def reject_implausible(
    loaded: Loaded,
    time: Array,
    foot: Foot | None,
    *,
    max_cop_distance_m: float,
    max_lever_arm_m: float,
) -> Contact:
    """Return the contact, rejected if its force cannot be that of a step of this foot.

    Args:
        loaded: of one foot.
        time: (time,), s.
        foot: the foot.
        max_cop_distance_m: largest distance of the centre of pressure from the line heel-toe, m.
        max_lever_arm_m: largest median distance of the force's line from the ankle, while loaded.
    """
    contact = loaded.contact
    if contact.reason or contact.forced or foot is None:
        return contact
    if contact.cop_distance_m > max_cop_distance_m:
        return contact.refuse("force_off_foot", cm=100 * contact.cop_distance_m)
    inside = contact.frames(time)
    time, force, moment, heel, toe = (of[inside] for of in (time, loaded.force, loaded.moment, foot.heel, foot.toe))
    firm = force[:, 1] > 0.5 * np.max(force[:, 1], initial=0.0)
    ankle = (heel + ANKLE_SHARE * (toe - heel) + [0, ANKLE_HEIGHT_M, 0])[firm]
    about_ankle = moment[firm] - np.cross(ankle, force[firm])
    arm = np.linalg.norm(about_ankle, axis=1) / np.linalg.norm(force[firm], axis=1)
    arm = arm[np.isfinite(arm)]
    if arm.size and (lever := float(np.median(arm))) > max_lever_arm_m:
        return contact.refuse("force_off_ankle", cm=100 * lever)
    return contact
