"""The judges of contacts, in their order, which is the physics; and the checks that need no module of their own.

A judge is a row: what it judges, the codes of its verdicts, and a function that takes contacts and all that the walk
shows, and returns the contacts. Severity, limit and source of each code are in
:data:`pipeline.variables.verdict_table.VERDICTS`. The first refusal of a contact counts.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...conventions import STANDARD_GRAVITY_M_S2, UP
from ...dynamics.vectors import cross, length
from ...json_text import from_text
from ...plates.sole import HALF_SOLE_M, TIP_SHARE
from ...plates.wrench import centre_of_pressure, heights_over
from ...variables.stance_verdicts import Verdict
from ...variables.verdict_table import ACCEPTED, REFUSED_BY_HAND
from . import broken_signals, by_hand, foot_on_plate, time_offset
from .body_motion import Shown
from .feet import Foot
from .plate_contacts import Contact, Loaded, between, with_loads
from .plate_faults import forces, placement

# the ankle from the heel marker: a quarter of the way to the toe marker, and as high over them in an adult
ANKLE_SHARE, ANKLE_HEIGHT_M = 0.25, 0.06
# Largest moment that an unknown baseline may make: that of a centre of pressure 2 mm off, as it is in a sound plate (1
# to 3 mm, Collins et al. 2009, Gait Posture 29:59-64). Its lever is the height of the hip; LEG_M: where that is unseen.
# BRISK: the largest load of brisk walking in body weights (Nilsson and Thorstensson 1989, Acta Physiol Scand
# 136:217-227). UNLOADED_S: as long as the baseline is averaged over. WANDERING_N: beyond it real plates change by up to
# 5 N under a load, by 1.5 below.
UNKNOWN_N_M_KG, LEG_M, BRISK, UNLOADED_S, WANDERING_N = 0.02, 1.0, 1.15, 0.15, 1.0
# where a marker swings by 2 cm at 6 Hz, a spline errs by 0.1 mm over a gap of this length, and by 10 mm over 0.1 s
FILLED_S = 0.03
# The lower of heel and toe marker over the plate while the foot stands: .5 to 8 cm in shoes and without, 3 more on the
# toes; plates of a sound laboratory lie within 3 mm (Holden et al. 2003), three of which are allowed below.
# STANDS: of a contact, the shares between which the foot does.
LOWEST_M, HIGHEST_M, STANDS = -0.005, 0.11, (0.25, 0.5)
# How far beyond a sole, whose toes press until it leaves the ground, a load may be: two standard deviations of the toes
# (1 cm), of where a foot presses from step to step (7 mm, as in :data:`.plate_faults.laws.LAWS`) and of a centre of
# pressure under a tenth of the load, FIRM_N at least (5 mm: 1 N and .3 N m of a baseline). PUSHES: of a contact, the
# shares between which a foot presses with its ball, mostly alone; LATE: the last.
BEYOND_M, FIRM, FIRM_N, PUSHES, LATE = 0.025, 0.1, 60.0, (0.6, 0.8), (0.8, 1.0)


def faults_of_channels(shown: Shown) -> list[Verdict | None]:
    """Return the refusal of each plate with a channel that cannot be read."""
    faults = zip(shown.numbers, shown.data["plate_fault"].tolist(), strict=True)
    return [Verdict.of("plate_faulty", number=number, fault=fault) if fault else None for number, fault in faults]


def upside_down(shown: Shown) -> list[Verdict | None]:
    """Return the refusal of each plate on which loads pull."""
    return placement.pushing_down(shown.data["plate_force"][..., 1], shown.numbers)


def misread_corners(shown: Shown) -> Sequence[Verdict | None]:
    """Return the refusal of each plate that the steps of the whole session show turned or mirrored."""
    return shown.motion.misread


def reject_drifting(contacts: Sequence[Contact], shown: Shown) -> list[Contact]:
    """Return the contacts, rejected if a plate's unknown drift is too large."""
    drift_n, most_n = np.abs(shown.data["plate_drift"]), shown.settings.max_drift_n  # NaN if never unloaded
    worst = [float(np.fmax.reduce(drift_n[list(contact.plates)], initial=0.0)) for contact in contacts]
    of = zip(contacts, worst, strict=True)
    return [contact.refuse("plate_drifts", newtons=own_n) if own_n > most_n else contact for contact, own_n in of]


def doubt_unknown_baselines(contacts: Sequence[Contact], shown: Shown) -> list[Contact]:
    """Return the contacts of single plates, doubted if the plate's baseline under them is not known.

    A load may shift the baseline, most of all of a piezo-electric plate. Where the plate is seen unloaded before and
    after the load, that is measured. Else the plate itself tells how far the baseline may be from what one side of the
    load shows: by its other loads in the session, of which both sides are seen, or, without these, by how much it reads
    different forces and moments where it is unloaded. Loads without edges have been worked on by the lab's software.
    """
    time, edges_known, pelvis = shown.time, shown.edges_known, shown.motion.pelvis[:, UP]
    wander = np.stack([shown.data["plate_wander"], shown.data["plate_wander_of_moment"]], axis=-1)
    unsteady, errors = wander[:, :1] > WANDERING_N, shown.motion.prediction_error
    unknown = np.where(np.isfinite(errors), errors, np.where(unsteady, np.inf, wander))
    judged = [*contacts]
    for i, contact in enumerate(contacts):
        (plate,) = contact.plates
        seen = {"before": contact.from_s - time[0] > UNLOADED_S, "after": time[-1] - contact.to_s > UNLOADED_S}
        if all(seen.values()) or not edges_known[plate]:
            continue
        inside = contact.frames(time)
        mass_kg = np.nanmax(shown.data["plate_force"][inside, plate, UP], initial=0.0) / BRISK / STANDARD_GRAVITY_M_S2
        hip = pelvis[inside][np.isfinite(pelvis[inside])]
        height_m = np.median(hip) - shown.corners[plate, :, UP].mean() if hip.size else LEG_M
        if not unknown[plate] @ [height_m, 1.0] <= UNKNOWN_N_M_KG * mass_kg:
            when = " and ".join(word for word, is_seen in seen.items() if not is_seen)
            judged[i] = contact.doubted("plate_baseline_unknown", number=shown.numbers[plate], when=when)
    return judged


def judge_forces(contacts: Sequence[Contact], shown: Shown) -> list[Contact]:
    """Return the contacts, rejected or doubted by the forces of all steps on their plates."""
    steps = [step for step in shown.motion.steps if not shown.refused_plates[step.plate]]
    return forces.judge_plates(contacts, shown.time, steps, shown.corners, shown.numbers, shown.motion.channels)


def doubt_heights(contacts: Sequence[Contact], shown: Shown) -> list[Contact]:
    """Return the contacts, doubted if the foot stands below the top of its plate, or hangs over it."""
    judged = [*contacts]
    for i, contact in enumerate(contacts if shown.settings.misread_plates == "reject" else ()):
        foot, plates = shown.feet.get(contact.side), [*contact.plates]
        if contact.reason or foot is None or not shown.edges_known[plates].all():
            continue
        lasts_s = contact.end_s - contact.start_s
        stands = between(shown.time, *(contact.start_s + share * lasts_s for share in STANDS))
        heights = [heights_over(mark[stands], shown.corners[plates[:1]]) for mark in (foot.heel, foot.toe)]
        lower_m = float(np.median(np.fmin(*heights))) if stands.stop > stands.start else np.nan
        if not LOWEST_M <= np.nan_to_num(lower_m) <= HIGHEST_M:
            judged[i] = contact.doubted("plate_height_suspect", number=shown.numbers[plates[0]], cm=100 * lower_m)
    return judged


def doubt_beyond_toes(contacts: Sequence[Contact], shown: Shown) -> list[Contact]:
    """Return the contacts, whole ones doubted if late in them the force presses beyond the sole of their foot."""
    judged = [*contacts]
    for i, loaded in enumerate(with_loads(contacts, shown.data) if shown.settings.misread_plates == "reject" else ()):
        contact, foot = loaded.contact, shown.feet.get(loaded.contact.side)
        if contact.reason or foot is None or not (contact.begins and contact.ends):
            continue
        beyond_m = _beyond_sole(loaded, shown.time, foot)
        if beyond_m > BEYOND_M:
            judged[i] = contact.doubted("force_beyond_toes", cm=100 * beyond_m)
    return judged


def _beyond_sole(loaded: Loaded, time: Array, foot: Foot) -> float:
    """Return by how much the centre of pressure leaves the sole late in a contact at most, m; NaN if unknown.

    The sole lies where the foot stands, or has moved from there with its belt. Where it is in its markers, and the
    plate in the lab, shows the place of the push: with it and without, the smaller of both counts.
    """
    contact, force = loaded.contact, loaded.force
    share = (time - contact.start_s) / (contact.end_s - contact.start_s)
    firm = force[:, UP] > max(FIRM * np.max(force[contact.frames(time), UP], initial=0.0), FIRM_N)
    stands, pushes, late = (
        np.flatnonzero((share >= first) & (share <= last) & firm) for first, last in (STANDS, PUSHES, LATE)
    )
    if not (stands.size and pushes.size and late.size):
        return np.nan
    heel, toe, velocity = (of[stands].mean(axis=0) for of in (foot.heel, foot.toe, foot.velocity[1]))
    x, z = (toe - heel)[::2]
    length_m, places = float(np.hypot(x, z)), []
    for part in (pushes, late):
        pressed, _ = centre_of_pressure(force[part], loaded.moment[part], loaded.corners)
        from_toe = pressed - toe - np.outer(time[part] - time[stands].mean(), velocity)
        places.append(from_toe[:, ::2] @ [[x, -z], [z, x]] / length_m)  # ahead and aside
    ahead, aside = np.stack([places[1], places[1] - places[0].mean(axis=0)], axis=-1).swapaxes(0, 1)
    away = np.hypot(np.maximum(ahead - TIP_SHARE * length_m + HALF_SOLE_M, 0), aside) - HALF_SOLE_M
    return float(away.max(axis=0).min())


def reject_implausible(contacts: Sequence[Contact], shown: Shown) -> list[Contact]:
    """Return the contacts, rejected if their force cannot be that of a step of their foot."""
    judged, settings = [*contacts], shown.settings
    for i, (contact, force, moment, _) in enumerate(with_loads(contacts, shown.data)):
        foot = shown.feet.get(contact.side)
        if contact.reason or contact.forced or foot is None:
            continue
        if contact.cop_distance_m > settings.max_cop_distance_m:
            judged[i] = contact.refuse("force_off_foot", cm=100 * contact.cop_distance_m)
            continue
        inside = contact.frames(shown.time)
        arm_m = _lever_arm(force[inside], moment[inside], foot.heel[inside], foot.toe[inside])
        if arm_m > settings.max_lever_arm_m:
            judged[i] = contact.refuse("force_off_ankle", cm=100 * arm_m)
    return judged


def _lever_arm(force: Array, moment: Array, heel: Array, toe: Array) -> float:
    """Return the median distance of the force's line from the ankle, while loaded, m; NaN if unknown."""
    firm = force[:, 1] > 0.5 * np.max(force[:, 1], initial=0.0)
    ankle = (heel + ANKLE_SHARE * (toe - heel) + [0, ANKLE_HEIGHT_M, 0])[firm]
    about_ankle = moment[firm] - cross(ankle, force[firm])
    arm_m = length(about_ankle) / length(force[firm])
    arm_m = arm_m[np.isfinite(arm_m)]
    return float(np.median(arm_m)) if arm_m.size else np.nan


def judge_breaks(contacts: Sequence[Contact], shown: Shown) -> list[Contact]:
    """Return the stances, refused if frames are lost in them, doubted after that, and if markers stand still in them.

    Plates and markers of a trial start together, so that stances before are surely in step. Those after are if the feet
    rest there as long after their contacts as before: then the plates lost the same time. A longer gap than
    :data:`FILLED_S` is filled, but not as exactly as it was measured.
    """
    judged, breaks = [*contacts], from_text(shown.motion_breaks)
    if not breaks:
        return judged
    lost_s = np.array(sorted(first_s for kind, first_s, _ in breaks if kind == "lost"))
    part = np.array([np.searchsorted(lost_s, contact.from_s) for contact in contacts])  # how many are before it
    whole = np.array([part[i] == np.searchsorted(lost_s, contact.to_s) for i, contact in enumerate(contacts)])
    known = [bool(contact.plates) and not contact.reason for contact in contacts] & whole
    leads_s = np.array([np.mean(time_offset.rest_leads(contact, shown.feet) or np.nan) for contact in contacts])
    most_s = shown.settings.doubted_time_offset_s
    for i, contact in enumerate(contacts):
        if part[i] and contact.plates:
            before_s, after_s = leads_s[known & (part == 0)], leads_s[known & (part == part[i])]
            if not time_offset.are_in_step(before_s, after_s, most_s=most_s):
                judged[i] = judged[i].doubted("frames_lost_before", second=float(lost_s[part[i] - 1]))
        for kind, first_s, last_s in breaks:
            if first_s > contact.to_s or last_s < contact.from_s:
                continue
            if kind == "lost":
                judged[i] = judged[i].refuse("frames_lost", second=first_s)
            elif last_s - first_s > FILLED_S:
                judged[i] = judged[i].doubted("markers_frozen", first=first_s, last=last_s)
    return judged


class PlateJudge(NamedTuple):
    """A judge of plates before their contacts are known."""

    codes: tuple[str, ...]
    judge: Callable[[Shown], Sequence[Verdict | None]]  # of each plate, None if it is not refused


class Judge(NamedTuple):
    """A judge of contacts."""

    of: str  # the kind of contacts that it judges, by the names below
    codes: tuple[str, ...]
    judge: Callable[[Sequence[Contact], Shown], Sequence[Contact]]


PLATE_JUDGES = (
    PlateJudge(("plate_faulty",), faults_of_channels),
    PlateJudge(("plate_pushes_down",), upside_down),
    PlateJudge(("plate_turned",), misread_corners),
)
ON_ONE_PLATE, OF_ONE_FOOT, OF_BOTH_FEET = "load on one plate", "contact of a foot", "contact beside the other foot"
OF_FORCE, STANCE = "force of a contact", "stance"
# A load is given to a foot first, and its plate must be unloaded to zero. The loads of a foot on several plates are one
# contact: the foot must lie on its plates, and be there when they are loaded. Contacts tell when each foot is on the
# ground, and with that whether the other one shares a plate; the rest is judged again without those. Only then can the
# forces of whole contacts tell of plates, and the place of a force of its foot. Last are the stances, of which the step
# finds the contact, or that there is none: whether the motion in them is measured, and what a person says who has seen
# them. The offset of all plates of a session in time is judged after all of its walks (:mod:`.time_offset`).
CONTACT_JUDGES = (
    Judge(ON_ONE_PLATE, ("contact_too_short", "feet_not_seen", "foot_without_markers", "force_off_foot",
                         "foot_not_over_given_plate", "plate_given_to_other_foot"), foot_on_plate.assign_feet),
    Judge(ON_ONE_PLATE, ("plate_drifts",), reject_drifting),
    Judge(ON_ONE_PLATE, ("plate_baseline_unknown",), doubt_unknown_baselines),
    Judge(OF_BOTH_FEET, ("other_foot_without_markers", "two_feet_on_plate", "foot_on_two_plates"),
          foot_on_plate.reject_shared),
    Judge(OF_ONE_FOOT, ("foot_partly_off_plate",), foot_on_plate.reject_partly_off),
    Judge(OF_ONE_FOOT, ("plate_drops_out", "plate_loses_time"), broken_signals.reject_broken),
    Judge(OF_ONE_FOOT, ("plate_out_of_time", "plates_not_in_time"), time_offset.reject_out_of_time),
    Judge(OF_FORCE, ("plate_shifted", "plates_shifted", "all_plates_shifted", "plate_shift_suspect",
                     "plate_channels_suspect", "plate_forces_wrong", "plate_forces_suspect"), judge_forces),
    Judge(OF_FORCE, ("plate_height_suspect",), doubt_heights),
    Judge(OF_FORCE, ("force_beyond_toes",), doubt_beyond_toes),
    Judge(OF_FORCE, ("force_off_foot", "force_off_ankle"), reject_implausible),
    Judge(STANCE, ("plate_time_lost_before",), broken_signals.doubt_after_loss),
    Judge(STANCE, ("frames_lost", "frames_lost_before", "markers_frozen"), judge_breaks),
    Judge(STANCE, (REFUSED_BY_HAND, ACCEPTED), by_hand.judge),
)  # fmt: skip


def refuse_plates(shown: Shown) -> Shown:
    """Return what a walk shows, with the first refusal of each plate."""
    every = zip(*(one.judge(shown) for one in PLATE_JUDGES), strict=True)
    return replace(shown, refused_plates=[next(filter(None, refusals), None) for refusals in every])


def judged(of: str, contacts: Sequence[Contact], shown: Shown) -> list[Contact]:
    """Return contacts after all judges of one kind of them, in their order."""
    for one in CONTACT_JUDGES:
        contacts = one.judge(contacts, shown) if one.of == of else contacts
    return [*contacts]
