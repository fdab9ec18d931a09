"""The judges of stances, in their order: which have valid kinetics, which are doubted, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...arrays import Array, Flags
from ...body.plausibility import REMEDY_IN_MOTION, reason_of_flag
from ...conventions import CHAIN, JOINTS, NO_STATIC, SAME_STRIKE_S, SIDES, STANDARD_GRAVITY_M_S2
from ...errors import ERROR
from ...json_text import from_text
from ...person.size_findings import LEAST_KNEE_PER_ANKLE, MASS_WRONG
from ...signals.filters import interval_s
from ...tables.corrections import COLUMNS, UnfitError
from ...tables.tsv import Row
from ...trials.session import AnyTrial
from ...trials.usable_walks import has_model
from ...variables.cycle_variables import RESIDUALS
from ...variables.stance_verdicts import Verdict, is_accepted, verdicts_in
from ...variables.verdict_table import ACCEPTED, LEG_REFUSED, VERDICTS
from ...vocabulary.event_names import OFF, STRIKE
from . import body_momentum, knee_checks, momentum
from .normalisation import residual_share, root_mean_square_and_peak
from .settings import Settings
from .stances import Stances

# of `missing`: 0 where moments are known
NOT_SEEN, NEAR_AN_END = 1, 4
# Percent of a stance with known moments, below which it is refused. Peaks of moments and forces are sought in the first
# or the second half of a stance, so that less than half shows none for certain. Single support, where the momentum of
# the body judges plates, is the middle two thirds of a stance: half of it, from either end, holds a third of that.
LEAST_SEEN, WHOLE = 50.0, 100.0
# Percent of a stance at either end in which a leg may be implausible as in the swing beside it: by the skin's motion it
# errs most where it is most bent or the foot hangs. In walking it is double support.
LIKE_SWING = 100 / 6
# Percent of a stance in which the residual at the pelvis must be known to judge a part of it. The trunk sways at some 2
# Hz, unseen; over less than a quarter of its period, .13 s, a root mean square is that of one phase of the sway. A
# quarter of a stance of .6 s is just longer.
LEAST_JUDGED = 25.0
# standard deviations of vertical momentum; a mass that is 12 % wrong shows as three to four
CARRIES_THE_MASS = 2.0
ACCEPT = "accept_contact"  # kind of correction


@dataclass(frozen=True, eq=False)
class Shown:
    """What a trial shows of its stances: all that their judges know."""

    # the trial's results of these steps
    kinetics: AnyTrial
    kinematics: AnyTrial
    contacts: AnyTrial
    clean: AnyTrial
    calibrate: xr.Dataset
    settings: Settings
    support: momentum.Support  # what the force of each stance shows in single support
    known: body_momentum.Known | None  # what its intervals with known loads show
    by_session: Sequence[Sequence[Verdict]]  # of each stance, doubts and refusals by the momentum of the whole session
    corrections: Sequence[Row]  # of the trial, among them those of all contacts that a person accepts

    @cached_property
    def stances(self) -> tuple[NDArray[np.str_], Array, Array]:
        """Return side, start and end of each stance (stance,), s."""
        side, start, end = (self.contacts.variables[f"contact_{name}"].values for name in ("side", "start", "end"))
        return side.astype(str), start, end

    @cached_property
    def row(self) -> list[int]:
        """Return the index of each stance's side."""
        return [SIDES.index(side) for side in self.stances[0].tolist()]

    @cached_property
    def frames(self) -> list[Flags]:
        """Return the frames (time,) of each stance."""
        time = self.contacts.variables["time"].values
        return [(time >= start) & (time <= end) for start, end in zip(*self.stances[1:], strict=True)]

    @cached_property
    def accepted(self) -> list[bool]:
        """Return whether a person accepts each stance, by a correction of the trial."""
        codes = self.contacts.variables["doubt_code"].values.tolist()
        return [is_accepted(own) and self.acceptance(i) in self.corrections for i, own in enumerate(codes)]

    @cached_property
    def mass_kg(self) -> float:
        """Return the body mass."""
        return float(self.calibrate.attrs["body_mass_kg"])

    @cached_property
    def disagreement_n_m(self) -> float:
        """Return the largest difference between the formulations of the trial's joint moments."""
        solved = self.kinetics.variables
        of_moments = solved["disagreement"].values[:, solved["load"].values.tolist().index("moment")]
        return float(np.fmax.reduce(of_moments))

    @cached_property
    def body_weights(self) -> Array:
        """Return the vertical force (time, side) in body weights."""
        vertical = self.contacts.variables["ground_force"].values[..., 1]
        return np.asarray(vertical / (self.mass_kg * STANDARD_GRAVITY_M_S2))

    @cached_property
    def missing(self) -> list[NDArray[np.int8]]:
        """Return why moments of the ankle are unknown in the frames of each stance, 0 where they are known.

        It is ``missing`` of kinetics.nc, which all later steps have as NaN.
        """
        at_ankle = int(self.kinetics["joint"].values.tolist().index("ankle"))
        why = self.kinetics["missing"].values[:, :, at_ankle]
        return [why[inside, side] for inside, side in zip(self.frames, self.row, strict=True)]

    @cached_property
    def implausible(self) -> list[NDArray[np.int8]]:
        """Return the measure that no leg has in the frames of each stance, 0 where there is none."""
        flags = self.kinematics["implausible"].values
        return [flags[inside, side] for inside, side in zip(self.frames, self.row, strict=True)]

    def is_lost(self, i: int) -> Flags:
        """Return in which frames of a stance moments are unknown, but not by an end, a gap or an implausible leg."""
        return np.asarray(~np.isin(self.missing[i], (0, NEAR_AN_END)) & (self.implausible[i] == 0))

    @cached_property
    def seen_percent(self) -> Array:
        """Return the share of each stance with known moments of the ankle (stance,), percent.

        A stance that an end of the recording cuts off counts as long as the usual one of the trial, if that is longer.
        """
        time, (_, start, end) = self.contacts.variables["time"].values, self.stances
        lasts_s, cut = end - start, (start <= time[0]) | (end >= time[-1])
        usual_s = np.median(lasts_s[~cut]) if (~cut).any() else np.max(lasts_s, initial=0.0)
        known_s = lasts_s * [np.mean(why == 0) if why.size else 0.0 for why in self.missing]
        return np.asarray(np.round(100 * known_s / np.where(cut, np.fmax(lasts_s, usual_s), lasts_s), 2))

    @cached_property
    def knee_shakes(self) -> list[Array]:
        """Return how each side's knee marker shakes (time, distance), m; no column where clusters pose the leg."""
        clusters = self.calibrate.variables["cluster_marker"].values.tolist() if has_model(self.calibrate) else []
        if not has_model(self.calibrate) or any(name.startswith(("thigh", "shank")) for name in clusters):
            return [np.empty((len(self.clean["time"].values), 0))] * len(SIDES)
        return [knee_checks.fast_distances(self.clean, self.kinematics, side) for side in SIDES]

    @cached_property
    def figures(self) -> Array:
        """Return (stance, figure) of ``RESIDUALS`` in :mod:`pipeline.variables.cycle_variables`."""
        share = residual_share(self.kinetics, self.calibrate)
        misfit = self.kinematics["fit_residual"].values[:, :, : len(CHAIN)]
        unseen_mm = 1000 * self.kinematics["knee_marker_unseen"].values
        of_body = body_momentum.figures_of(self.known, len(self.row)).T
        figures = [
            [
                *root_mean_square_and_peak(share[inside]),
                _root_mean_square_mm(misfit[inside, side]),
                unseen_mm[side],
                *of_momentum,
            ]
            for inside, side, *of_momentum in zip(self.frames, self.row, *self.support[:-1], *of_body, strict=True)
        ]
        return np.array(figures).reshape(-1, len(RESIDUALS))

    @cached_property
    def told(self) -> Array:
        """Return the figures by which momentum judges: none of them if hands bear weight, too.

        A residual that is known in less than :data:`LEAST_JUDGED` of the stance is not among them.
        """
        if self.settings.hands_bear_weight:
            return np.nan * self.figures
        of_residual = [name.startswith(("residual_force", "residual_moment")) for name in RESIDUALS]
        briefly = self.figures[:, [*RESIDUALS].index("residual_known_percent")] < LEAST_JUDGED
        return np.where(briefly[:, None] & np.array(of_residual), np.nan, self.figures)

    @cached_property
    def by_momentum(self) -> list[tuple[Verdict | None, list[Verdict]]]:
        """Return refusal and doubts of each stance by the momentum of the body, which hands may bear too."""
        trunk = momentum.sees_trunk(self.kinematics) and bool(self.kinetics.attrs.get("residual_with_trunk", 0))
        return momentum.judged(self.told, self.mass_kg, trunk=trunk)

    def acceptance(self, i: int) -> Row:
        """Return the correction that accepts a stance."""
        return acceptance_of(self.contacts, i, self.corrections)

    def hides(self, i: int) -> bool:
        """Return whether moments of the ankle are unknown somewhere in a stance."""
        return bool(self.missing[i].any())


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
    known = (off := momentum.deviations(shown.figures))[np.isfinite(off)]
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
    time = shown.contacts.variables["time"].values
    valid = np.array([refusal is None for refusal in refusals], dtype=bool)
    doubted = np.array([bool(each) for each in doubts], dtype=bool) & ~np.array(shown.accepted, dtype=bool)
    closure = np.sqrt((solved["forward_closure"].values ** 2).mean(axis=-1))
    surrounded = (start - interval_s(time) >= time[0]) & (end + interval_s(time) <= time[-1])
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
        ended=_happens(shown.contacts, STRIKE, side, start) & _happens(shown.contacts, OFF, side, end) & surrounded,
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


def acceptances_of(contacts: AnyTrial, stated: Iterable[Row]) -> list[Row]:
    """Return the correction of each stance that is accepted by hand: as stated, else as far as contacts.nc knows it."""
    codes, rows = contacts.variables["doubt_code"].values.tolist(), [*stated]
    return [acceptance_of(contacts, i, rows) for i, own in enumerate(codes) if is_accepted(own)]


def acceptance_of(contacts: AnyTrial, i: int, rows: Iterable[Row]) -> Row:
    """Return the correction that accepts a stance by its number, see :func:`acceptances_of`."""
    touched = contacts.variables
    side, start_s = str(touched["contact_side"].values[i]), float(touched["contact_start"].values[i])
    for row in rows:
        if (row["kind"], row["side"]) == (ACCEPT, side) and abs(float(row["time_s"]) - start_s) < SAME_STRIKE_S:
            return row
    return dict.fromkeys(COLUMNS, "") | {"kind": ACCEPT, "side": side, "time_s": f"{start_s:.3f}"}


def _root_mean_square_mm(distance_m: Array) -> float:
    """Return the root mean square of distances in mm; NaN where none is known."""
    seen_m = distance_m[np.isfinite(distance_m)]
    return 1000 * float(np.sqrt(np.mean(seen_m**2))) if seen_m.size else np.nan


def _happens(contacts: AnyTrial, kind: str, side: NDArray[Any], instant_s: Array) -> Flags:
    """Return whether an event of a kind and side (...,) happens at instants (...,), to 0.05 s."""
    events = contacts.variables
    here = np.abs(events["event_time"].values - instant_s[:, None]) < SAME_STRIKE_S
    here &= (events["event"].values == kind) & (events["event_side"].values == side[:, None])
    return np.asarray(here.any(axis=1))
