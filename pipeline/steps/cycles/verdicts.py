"""The judges of stances, in their order: which have valid kinetics, which are doubted, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...body.plausibility import REMEDY_IN_MOTION, reason_of_flag
from ...conventions import JOINTS, NO_STATIC
from ...errors import ERROR
from ...json_text import from_text
from ...person.size_findings import LEAST_KNEE_PER_ANKLE, MASS_WRONG
from ...tables.corrections import UnfitError
from ...trials.usable_walks import has_model
from ...variables.cycle_variables import RESIDUALS
from ...variables.stance_verdicts import Verdict, is_accepted, verdicts_in
from ...variables.verdict_table import ACCEPTED, LEG_REFUSED, VERDICTS
from . import knee_checks
from .momentum import single_support
from .shown import LEAST_JUDGED, NOT_SEEN, Shown
from .stances import Stances

# Percent of a stance with known moments, below which it is refused. Peaks of moments and forces are sought in the first
# or the second half of a stance, so that less than half shows none for certain. Single support, where the momentum of
# the body judges plates, is the middle two thirds of a stance: half of it, from either end, holds a third of that.
LEAST_SEEN, WHOLE = 50.0, 100.0
# Percent of a stance at either end in which a leg may be implausible as in the swing beside it: by the skin's motion it
# errs most where it is most bent or the foot hangs. In walking it is double support.
LIKE_SWING = 100 / 6
# standard deviations of vertical momentum; a mass that is 12 % wrong shows as three to four
CARRIES_THE_MASS = 2.0


def refuse_leg(shown: Shown, i: int) -> Verdict | None:
    """Return the refusal of a stance of a leg that is refused in the whole trial."""
    reason = shown.kinematics["leg_refused"].values.tolist()[shown.row[i]]
    return Verdict.of(LEG_REFUSED, reason=reason) if reason and has_model(shown.calibrate) else None


def refused_contact(shown: Shown, i: int) -> Verdict | None:
    """Return the refusal of a stance by the step contacts."""
    return next(iter(verdicts_in(str(shown.contacts.variables["reason_values"].values[i]))), None)


def refuse_disagreement(shown: Shown, _: int) -> Verdict | None:
    """Return the refusal of a stance in a trial of which the formulations of the moments differ."""
    too_large = shown.disagreement_n_m > shown.settings.max_disagreement_n_m
    return Verdict.of("formulations_differ", n_m=shown.disagreement_n_m) if too_large else None


def refuse_low_peak(shown: Shown, i: int) -> Verdict | None:
    """Return the refusal of a stance with a too small peak of the vertical force, unless the recording cuts it off."""
    time, (_, start, end) = shown.contacts.variables["time"].values, shown.stances
    peak = float(np.max(shown.body_weights[shown.frames[i], shown.row[i]], initial=0))
    complete = start[i] > time[0] and end[i] < time[-1]
    if complete and peak < shown.settings.min_peak_force_body_weights:
        return Verdict.of("force_too_low", body_weights=peak)
    return None


def refuse_without_static(shown: Shown, _: int) -> Verdict | None:
    """Return the refusal of a stance in a session without a static trial; nothing speaks against its force."""
    return None if has_model(shown.calibrate) else Verdict.of(NO_STATIC)


def refuse_implausible_leg(shown: Shown, i: int) -> Verdict | None:
    """Return the refusal of a stance in which no person has such a leg, unless that is beside its swings alone."""
    time, (_, start, end) = shown.contacts.variables["time"].values, shown.stances
    flags = shown.implausible[i]
    percent = 100 * (time[shown.frames[i]] - start[i]) / (end[i] - start[i])
    at_strike = (percent < LIKE_SWING) & (start[i] > time[0])
    at_off = (percent > 100 - LIKE_SWING) & (end[i] < time[-1])
    if not shown.hides(i) or not flags[~at_strike & ~at_off].any():
        return None
    what = reason_of_flag(int(np.bincount(flags)[1:].argmax()) + 1, str(shown.stances[0][i]))
    share = 100 * (flags > 0).mean()
    return Verdict.of("leg_implausible", what=what, percent=share, remedy=REMEDY_IN_MOTION)


def refuse_near_an_end(shown: Shown, i: int) -> Verdict | None:
    """Return the refusal of a stance of which ends of the recording or of gaps alone leave too little known."""
    if shown.seen_percent[i] < LEAST_SEEN and not shown.is_lost(i).any():
        ms = 1000 * shown.clean.attrs["uncertain_end_s"]
        return Verdict.of("near_an_end", percent=shown.seen_percent[i], ms=ms)
    return None


def refuse_hidden(shown: Shown, i: int) -> Verdict | None:
    """Return the refusal of a stance in which unseen markers leave too little known, or those seen give no pose."""
    lost = shown.is_lost(i)
    if not lost.any():
        return None
    clean, calibrate, (sides, start, end) = shown.clean, shown.calibrate, shown.stances
    side, time, names = sides[i], clean["time"].values, clean["marker"].values
    own = ~np.char.endswith(names.astype(str), {"left": "_right", "right": "_left"}[side])
    unseen = np.isnan(clean["marker_position"].values[(time >= start[i]) & (time <= end[i])][:, own]).any(axis=2)
    in_gaps = (shown.missing[i] == NOT_SEEN) & unseen.any(axis=1)
    if shown.seen_percent[i] >= LEAST_SEEN and in_gaps[lost].all():
        return None
    of_side = calibrate.cluster_marker.values[calibrate.cluster_side.values == side]
    absent = [f"{name}_{side}" for name in of_side if f"{name}_{side}" in clean.attrs["landmarks_absent"].split()]
    if hidden := sorted({*names[own][unseen.any(axis=0)].tolist(), *absent}):
        return Verdict.of("markers_not_seen", percent=shown.seen_percent[i], markers=", ".join(hidden))
    why = shown.kinematics.attrs.get("doubt") or "are they where the static trial has them?"
    return Verdict.of("leg_without_pose", why=why)


def refuse_by_momentum(shown: Shown, i: int) -> Verdict | None:
    """Return the refusal of a stance by the momentum of the body."""
    return shown.by_momentum[i][0]


def refuse_by_session(shown: Shown, i: int) -> Verdict | None:
    """Return the refusal of a stance by the momentum of the body in all trials of the session."""
    found = () if shown.settings.hands_bear_weight else shown.by_session[i]
    return next((one for one in found if not one.is_doubt), None)


def doubts_of_contact(shown: Shown, i: int) -> Iterable[Verdict]:
    """Return the doubts about a stance by the step contacts; none of one whose acceptance is not applied here.

    Such a stance is refused by this step, or nothing else speaks against it.
    """
    touched = shown.contacts.variables
    if is_accepted(str(touched["doubt_code"].values[i])) and not shown.accepted[i]:
        return ()
    return verdicts_in(str(touched["doubt_values"].values[i]))


def doubts_of_trial(shown: Shown, i: int) -> Iterable[Verdict]:
    """Return the doubts about the trial by earlier steps that concern the leg of a stance."""
    steps, side = (shown.clean, shown.kinematics, shown.kinetics), str(shown.stances[0][i])
    every = [one for step in steps for one in verdicts_in(step.attrs.get("doubt_values", ""))]
    return [one for one in every if one.concerns(side)]


def doubt_mass(shown: Shown, _: int) -> Iterator[Verdict]:
    """Yield the doubt about all stances of a trial if the stated mass is further off than plates can err.

    Not if half of the stances carry that mass: then a plate of the session is wrong, and not the mass.
    """
    findings = from_text(shown.calibrate.attrs.get("findings", ""))
    wrong = [one["what"] for one in findings if (one["code"], one["severity"]) == (MASS_WRONG, ERROR)]
    if not wrong or shown.settings.hands_bear_weight:
        return
    known = (off := single_support.deviations(shown.figures))[np.isfinite(off)]
    if not known.size or abs(np.median(known)) >= CARRIES_THE_MASS:
        yield from (Verdict.of("mass_disagrees", what=what) for what in wrong)


def doubt_widths(shown: Shown, i: int) -> Iterator[Verdict]:
    """Yield the doubt about a stance of a leg of which the widths put the knee nearer to its marker than the ankle."""
    if not has_model(shown.calibrate):
        return
    radius_m = shown.calibrate.variables["chord_radius"].values[shown.row[i]]  # NaN where no width places the centre
    knee_m, ankle_m = (radius_m[JOINTS.index(joint)] for joint in ("knee", "ankle"))
    if knee_m < LEAST_KNEE_PER_ANKLE * ankle_m:
        side = str(shown.stances[0][i])
        yield Verdict.of("joint_widths_exchanged", side=side, knee=1000 * knee_m, ankle=1000 * ankle_m)


def doubt_shaken_knee(shown: Shown, i: int) -> Iterator[Verdict]:
    """Yield the doubt about a stance in which the knee marker shakes as at no other time, and no cluster poses it."""
    if not (shakes := shown.knee_shakes[shown.row[i]]).size:
        return
    side, start, end = (part[i] for part in shown.stances)
    times, most_m = knee_checks.strongest_shake(shakes, shown.clean["time"].values, start, end)
    if times > knee_checks.TIMES:
        yield Verdict.of("knee_marker_shaken", side=str(side), mm=1000 * most_m, times=times)


def doubts_of_session(shown: Shown, i: int) -> Iterable[Verdict]:
    """Return the doubts about a stance by the momentum of the body in all stances of the session."""
    return () if shown.settings.hands_bear_weight else [one for one in shown.by_session[i] if one.is_doubt]


def doubt_by_momentum(shown: Shown, i: int) -> Iterable[Verdict]:
    """Return the doubts about a stance by the momentum of the body in it."""
    return shown.by_momentum[i][1]


def doubt_part(shown: Shown, i: int) -> Iterator[Verdict]:
    """Yield the doubt about a stance that is known in part, and of which no law of momentum judges that part."""
    figures = dict(zip(RESIDUALS, shown.told[i].tolist(), strict=True))
    judged = np.isfinite(figures["momentum_ratio"]) or figures["residual_known_percent"] >= LEAST_JUDGED
    if shown.seen_percent[i] < WHOLE and not judged and has_model(shown.calibrate):
        yield Verdict.of("part_unjudged", percent=shown.seen_percent[i])


class Judge(NamedTuple):
    """A judge of stances: the codes of its verdicts, and its function of what a trial shows and a stance's number."""

    codes: tuple[str, ...]
    judge: Callable[[Shown, int], Verdict | None]


class Doubter(NamedTuple):
    """A judge of stances that has doubts."""

    codes: tuple[str, ...]
    judge: Callable[[Shown, int], Iterable[Verdict]]


# In this order; the first refusal counts. A leg that is none, and a contact that cannot be used, are known before the
# moments. Then these must agree with each other, the foot must bear the body, and enough of the stance must be known.
# Only such a stance can be held against the momentum of the body.
STANCE_JUDGES = (
    Judge((LEG_REFUSED,), refuse_leg),
    Judge((), refused_contact),  # whatever the step contacts finds
    Judge(("formulations_differ",), refuse_disagreement),
    Judge(("force_too_low",), refuse_low_peak),
    Judge((NO_STATIC,), refuse_without_static),
    Judge(("leg_implausible",), refuse_implausible_leg),
    Judge(("near_an_end",), refuse_near_an_end),
    Judge(("markers_not_seen", "leg_without_pose"), refuse_hidden),
    Judge(("momentum_disagrees", "direction_disagrees", "residual_disagrees"), refuse_by_momentum),
    Judge(("body_momentum_disagrees",), refuse_by_session),
)
# doubts of earlier steps, then, after what a person has overruled, those of this step
EARLIER_DOUBTS = (Doubter((), doubts_of_contact), Doubter((), doubts_of_trial))
STANCE_DOUBTS = (
    Doubter(("mass_disagrees",), doubt_mass),
    Doubter(("joint_widths_exchanged",), doubt_widths),
    Doubter(("knee_marker_shaken",), doubt_shaken_knee),
    Doubter(("plate_late", "momentum_doubted", "body_momentum_doubted"), doubts_of_session),
    Doubter(("direction_doubted", "residual_doubted", "rate_doubted"), doubt_by_momentum),
    Doubter(("part_unjudged",), doubt_part),
)


def judge_stances(shown: Shown, *, knee_axis: Array) -> Stances:
    """Return every stance of a trial with its verdict.

    Args:
        knee_axis: (side, figure), :func:`.knee_checks.knee_axis_figures`.

    Raises:
        UnfitError: a stance that is accepted by hand cannot be, or need not be.
    """
    refusals, doubts = [], []
    for i in range(len(shown.row)):
        refusal, overruled = _refuse(shown, i)
        earlier, later = ([v for one in of for v in one.judge(shown, i)] for of in (EARLIER_DOUBTS, STANCE_DOUBTS))
        refusals.append(refusal)
        measured = refusal is None or refusal.leaves_force
        doubts.append((*earlier, *overruled, *later) if measured else ())
        if {one.code for one in doubts[i]} == {ACCEPTED}:
            raise UnfitError(shown.acceptance(i), "the contact is used already", "give another one")
    (side, start, end), solved, row = shown.stances, shown.kinetics.variables, shown.row
    valid = np.array([refusal is None for refusal in refusals], dtype=bool)
    doubted = np.array([bool(each) for each in doubts], dtype=bool) & ~np.array(shown.accepted, dtype=bool)
    closure = np.sqrt((solved["forward_closure"].values ** 2).mean(axis=-1))
    return Stances(
        start=start,
        end=end,
        side=side,
        plates=shown.contacts.variables["plates"].values.astype(str),
        reason=tuple(refusals),
        doubts=tuple(doubts),
        used=valid & (~doubted | (shown.settings.doubted_stances == "use")),
        disagreement=np.full(len(row), shown.disagreement_n_m),
        forward_closure=closure[row],
        energy_closure=solved["energy_closure"].values[row],
        residual=shown.figures,
        knee_axis=knee_axis[row],
        seen_percent=shown.seen_percent,
        ended=shown.ended,
    )


def _refuse(shown: Shown, i: int) -> tuple[Verdict | None, list[Verdict]]:
    """Return why a stance is refused, None if it is not; and what one is refused for that a person accepts.

    Raises:
        UnfitError: no person can accept it.
    """
    overruled: list[Verdict] = []
    for one in STANCE_JUDGES:
        verdict = one.judge(shown, i)
        if verdict and not shown.accepted[i]:
            return verdict, []
        if verdict and not VERDICTS[verdict.code].judged:
            raise UnfitError(shown.acceptance(i), f"no person can accept it: {verdict.words}", "correct the cause")
        overruled += [verdict] if verdict else []
    return None, overruled[::-1]  # the judge that sees most is named first
