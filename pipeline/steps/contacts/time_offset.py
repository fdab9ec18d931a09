"""Time offset between plates and markers: of each plate in a trial, and of a session."""

from collections.abc import Iterable, Sequence
from statistics import median

import numpy as np
import xarray as xr

from ...arrays import Array
from ...plates.wrench import at_instants, centre_of_pressure
from ...signals.filters import interval_s
from ...trials.session import spans_of
from ...variables.stance_verdicts import Verdict, doubt_columns, verdicts_in
from ...variables.verdict_table import ACCEPTED
from .body_motion import Shown
from .feet import OFF_LATE_S, STRIKE_LATE_S, Feet
from .plate_contacts import Contact, Loaded, between, with_loads

# without the force's line, one end alone must be that far off: a slow foot or an impact takes 30 to 60 ms between force
# and marker at one end
ONE_END_S = 0.08
# twice 60 ms: a load that begins so much later than its foot rests, and ends earlier, is not all that the foot bears
ENDS_APART_S = 0.12
NOT_IN_TIME = "plates_not_in_time"
# rest and line, or start and end, known to some 15 ms each, agree if both are that far off to the same side
AGREED_S = 0.015
# a pelvis that passes over the foot at this speed tells time to 0.04 s: its middle is some 3 cm from the centre of mass
PASSING_M_S = 0.8
MIDDLE = 0.2  # shares of a contact that are left out at both ends, in which the other foot bears the body too
# how much each differs between people, s: their feet come to rest sooner, their trunk leans, their pelvis moves
# otherwise than their centre of mass. In walks of 20 laboratories 16, 17 and 14 ms, independent of each other
OF_PEOPLE_S = 0.014
# how much the mean of both ends of a rest differs between the steps of a person, s: the ground stops a foot within 20
# to 40 ms, and steps differ by a part of that. SD 3.0 ms in pairs of steps of ten sessions of six laboratories, 7 in
# the worst. Generated people have up to 10: of them one shift of 15 ms in 17 is taken for none with one step on each
# side, one in six with three
OF_STEPS_S = 0.004
# standard errors beyond which a session is doubted, as one sound session in fifty is by chance, and a trial refused
SPREADS, SURE_SPREADS = 2.33, 4.0
FARTHEST_S, STEP_S, ALIKE = 0.08, 0.002, 0.9
WITNESSES = ("rest_lead", "line_lead", "acceleration_lead")


def time_offsets(
    contacts: Sequence[Loaded], time: Array, feet: Feet, pelvis: Array, *, max_time_offset_s: float
) -> tuple[float, dict[tuple[int, ...], float]]:
    """Return by how many seconds all plates are ahead of the markers, and each one more than that, by plates.

    Two witnesses: a foot on the ground is at rest, with usual delays at both ends; and the force's line passes the
    body's centre of mass. A slow foot is at rest too early and too long; an impact, an early push-off or a lean of the
    trunk change one of the two; a clock changes both ends and the line by the same time. So rest and line must agree,
    and their mean counts (median over the contacts of a plate). Where the pelvis does not pass over the foot, on a belt
    or in slow walking, both ends must agree. People's delays differ more than those of a
    person's steps: so a plate is compared with what is usual in the trial, and that with what is usual in people.

    Args:
        contacts: of one foot each.
        time: (time,), s.
        feet: by side.
        pelvis: its middle (time, 3), m, NaN if unseen.
        max_time_offset_s: smaller offsets of all plates together are the person's.
    """
    listed: dict[tuple[int, ...], list[list[float]]] = {}
    for loaded in contacts:
        if ends := rest_leads(loaded.contact, feet):
            listed.setdefault(loaded.contact.plates, []).append([*ends, line_ahead_s(loaded, time, pelvis)])
    leads = {plates: _medians(np.array(rows)) for plates, rows in listed.items()}
    known = [lead for lead in leads.values() if np.isfinite(lead[:2]).all()]
    # of two plates that which is less off in the mean
    nearest = min(known, key=lambda lead: abs(np.nanmean([lead[:2].mean(), lead[2]])), default=np.zeros(3))
    usual = _medians(np.array(known)) if len(known) > 2 else nearest
    clock_s = _agree_on(usual)
    clock_s = clock_s if abs(clock_s) > max_time_offset_s else 0.0
    return clock_s, {plates: _agree_on(lead - np.nan_to_num(usual)) for plates, lead in leads.items()}


def _medians(rows: Array) -> Array:
    """Return the medians of witnesses (contact, 3); of the ends of whole contacts, if there are any."""
    whole = np.isfinite(rows[:, :2]).all(axis=1)
    rows = rows[whole] if whole.any() else rows
    return np.array([median(seen) if (seen := column[np.isfinite(column)].tolist()) else np.nan for column in rows.T])


def _agree_on(lead: Array) -> float:
    """Return the offset on which witnesses (start, end, line) agree; NaN is unknown."""
    ends, line = lead[:2][np.isfinite(lead[:2])].tolist(), float(lead[2])
    if not ends:
        return 0.0
    rest = float(np.mean(ends))
    if np.isfinite(line):
        together = rest * line > 0 and min(abs(rest), abs(line)) > AGREED_S
        return (rest + line) / 2 if together else 0.0
    if len(ends) == 2:
        return rest if ends[0] * ends[1] > 0 and min(map(abs, ends)) > AGREED_S else 0.0
    return rest if abs(rest) > ONE_END_S else 0.0


def line_ahead_s(loaded: Loaded, time: Array, pelvis: Array) -> float:
    """Return by how much earlier the pelvis is where the force's line passes, s; NaN if it does not tell."""
    inside = loaded.contact.frames(time)
    left_out = round(MIDDLE * (inside.stop - inside.start))
    inside = slice(inside.start + left_out, inside.stop - left_out)
    if inside.stop - inside.start < 3:
        return np.nan
    force, middle = loaded.force[inside], pelvis[inside]
    pressed, _ = centre_of_pressure(force, loaded.moment[inside], loaded.corners)
    line = pressed + (middle - pressed)[:, 1:2] * force / force[:, 1:2] - middle
    moved = (middle[-1] - middle[0])[::2] / (time[inside.stop - 1] - time[inside.start])
    speed = float(np.hypot(*moved))
    return float(line.mean(axis=0)[::2] @ moved / speed**2) if speed > PASSING_M_S else np.nan


def rest_leads(contact: Contact, feet: Feet) -> tuple[float, float] | None:
    """Return by how much later than usual the foot rests at start and end of a contact, s; NaN of an end unseen.

    It is the rest that overlaps the contact most; None without any.
    """

    def overlap(rest: tuple[float, float]) -> float:
        return min(rest[1], contact.end_s) - max(rest[0], contact.start_s)

    rest = max(feet[contact.side].rests, key=overlap, default=None) if contact.side in feet else None
    if not rest or overlap(rest) <= 0:
        return None
    start_s, end_s = rest[0] - contact.start_s - STRIKE_LATE_S, rest[1] - contact.end_s - OFF_LATE_S
    return start_s if contact.begins else np.nan, end_s if contact.ends else np.nan


def rest_lead_s(contact: Contact, feet: Feet) -> float:
    """Return by how much later than usual the foot of a contact rests, the mean of both ends; NaN if unknown.

    Of a contact that is refused, or doubted for another reason than its time, also if somebody accepts it, nothing is
    known: its load may not be all that the foot bears.
    """
    whole = not contact.reason and all(one.code in (NOT_IN_TIME, ACCEPTED) for one in contact.doubts)
    start_s, end_s = (rest_leads(contact, feet) if whole else None) or (np.nan, np.nan)
    return (start_s + end_s) / 2 if abs(end_s - start_s) < ENDS_APART_S else np.nan


def are_in_step(before_s: Array, after_s: Array, *, most_s: float) -> bool:
    """Return whether leads (contact,) before and after lost frames show that plates and markers are still in step.

    The difference of their means, and :data:`SPREADS` of its standard errors, must be within what a session is doubted
    for. A frame lost by the markers alone that is shorter than this changes moments by as little.
    """
    before_s, after_s = (leads[np.isfinite(leads)] for leads in (before_s, after_s))
    if not before_s.size or not after_s.size:
        return False
    error_s = OF_STEPS_S * np.sqrt(1 / before_s.size + 1 / after_s.size)
    return bool(abs(after_s.mean() - before_s.mean()) + SPREADS * error_s < most_s)


def witnesses(
    contacts: Iterable[Loaded], every: Sequence[Contact], time: Array, feet: Feet, pelvis: Array, force: Array
) -> dict[str, float]:
    """Return the witnesses of a trial, the median over its stances, s; NaN of one that does not speak.

    When the foot rests, with usual delays at both ends; when the force's line passes the pelvis; and when the vertical
    force, in single support, is as the vertical acceleration of the pelvis.

    Args:
        contacts: good ones.
        every: all stances of both feet.
        time: (time,), s.
        feet: by side.
        pelvis: its middle (time, 3), m, NaN if unseen.
        force: vertical, of all plates together (time,), N.
    """
    step_s = interval_s(time)
    upward = np.gradient(np.gradient(pelvis[:, 1], step_s), step_s) if len(time) > 2 else np.full(len(time), np.nan)
    rows = []
    for loaded in contacts:
        contact = loaded.contact
        ends = rest_leads(contact, feet) or (np.nan,)
        others = [other for other in every if other.side != contact.side]
        half = (contact.start_s + contact.end_s) / 2
        alone_s = max((o.end_s for o in others if o.start_s < half), default=-np.inf)
        until_s = min((o.start_s for o in others if o.start_s > half), default=np.inf)
        known = contact.start_s < alone_s < until_s < contact.end_s
        accelerated = acceleration_ahead_s(time, force, upward, alone_s, until_s) if known else np.nan
        rows.append([float(np.mean(ends)), line_ahead_s(loaded, time, pelvis), accelerated])
    columns = np.array(rows).reshape(-1, len(WITNESSES)).T
    seen = [column[np.isfinite(column)] for column in columns]
    return {name: float(np.median(one)) if one.size else np.nan for name, one in zip(WITNESSES, seen, strict=True)}


def acceleration_ahead_s(time: Array, force: Array, upward: Array, start_s: float, end_s: float) -> float:
    """Return by how much earlier than the acceleration (time,) the force is most alike, s; NaN if it is not."""
    inside = between(time, start_s, end_s)
    leads = np.arange(-FARTHEST_S, FARTHEST_S + STEP_S / 2, STEP_S)
    accelerations = upward[inside]
    if len(accelerations) < 8 or not np.isfinite(accelerations).all():
        return np.nan
    shifted = np.interp(time[inside] - leads[:, None], time, force)
    shifted = shifted - shifted.mean(axis=1, keepdims=True)
    centred = accelerations - accelerations.mean()
    size = np.linalg.norm(shifted, axis=1) * np.linalg.norm(centred)
    alike = np.divide(shifted @ centred, size, out=np.zeros(len(leads)), where=size > 0)
    best = int(np.argmax(alike))
    return float(leads[best]) if alike[best] > ALIKE and 0 < best < len(leads) - 1 else np.nan


def offset_of_session(contacts: xr.Dataset) -> tuple[float, float]:
    """Return by how many seconds the plates of a session are ahead of the markers, and the standard error.

    It is the mean of the witnesses, each the median over the trials; unknown if one of them does not speak, as on a
    belt, in slow walking and in running.
    """
    if WITNESSES[0] not in contacts.variables:  # all trials are rejected
        return np.nan, np.nan
    columns = [contacts.variables[name].values for name in WITNESSES]
    leads = [float(np.median(seen)) if (seen := column[np.isfinite(column)]).size else np.nan for column in columns]
    offset_s = float(np.mean(leads))
    error_s = max(OF_PEOPLE_S, float(np.std(leads, ddof=1))) / np.sqrt(len(leads)) if np.isfinite(offset_s) else np.nan
    return offset_s, error_s


def is_large(offset_s: float, error_s: float, *, doubted_s: float) -> bool:
    """Return whether the offset of a session is beyond ``doubted_s`` and :data:`SPREADS` standard errors."""
    return abs(offset_s) > max(doubted_s, SPREADS * error_s)


def later_plates(clean: xr.Dataset, seconds: float) -> xr.Dataset:
    """Return a session of the step ``clean`` with all that plates measured so much later."""
    time, moved = clean.variables["time"].values, {}
    for name in ("plate_force", "plate_moment"):
        values = clean.variables[name].values
        parts = [at_instants(values[span], time[span] + seconds, time[span]) for span in spans_of(clean, "sample")]
        moved[name] = (clean.variables[name].dims, np.concatenate(parts))
    instants = clean.variables["plate_time"]
    return clean.assign(moved).assign_coords(plate_time=(instants.dims, instants.values + seconds))


def with_time_offset(contacts: xr.Dataset, *, doubted_s: float, corrected_s: float = 0.0) -> xr.Dataset:
    """Return the contacts of a session with the offset of its plates and its standard error; doubted if it is large.

    ``corrected_s``: by how much the plates were taken later before.
    """
    offset_s, error_s = offset_of_session(contacts)
    if WITNESSES[0] not in contacts.variables:
        return contacts
    facts = {"time_offset": offset_s, "time_offset_error": error_s, "time_offset_corrected": corrected_s}
    changed = {name: ("trial", np.full(contacts.sizes["trial"], value)) for name, value in facts.items()}
    if is_large(offset_s, error_s, doubted_s=doubted_s):
        mine = Verdict.of("plates_not_in_time", ms=abs(1000 * offset_s), error=1000 * error_s)
        before = contacts.variables["doubt_values"].values.tolist()
        columns = doubt_columns([*verdicts_in(text), mine] for text in before)
        return contacts.assign(changed).assign_coords({name: ("contact", texts) for name, texts in columns.items()})
    return contacts.assign(changed)


def reject_out_of_time(contacts: Sequence[Contact], shown: Shown) -> list[Contact]:
    """Return the contacts, rejected if the offset of their plate is too large, doubted if people may be so."""
    most_s, error_s = shown.settings.max_time_offset_s, OF_PEOPLE_S / np.sqrt(2)  # of two witnesses
    good = with_loads([contact for contact in contacts if not contact.reason], shown.data)
    clock_s, offsets = time_offsets(good, shown.time, shown.feet, shown.motion.pelvis, max_time_offset_s=most_s)
    judged = [*contacts]
    for i, contact in enumerate(contacts):
        own_s = offsets.get(contact.plates, -clock_s)
        offset_s = abs(clock_s + own_s)
        if offset_s > max(most_s, 0.0 if own_s else SURE_SPREADS * error_s):
            judged[i] = contact.refuse("plate_out_of_time", ms=1000 * offset_s)
        elif offset_s > most_s:
            judged[i] = contact.doubted(NOT_IN_TIME, ms=1000 * offset_s, error=1000 * error_s)
    return judged
