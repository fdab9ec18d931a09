"""Verdicts: which stances of a trial have valid kinetics, and why others have not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...arrays import Array, Flags
from ...body.plausibility import REMEDY_IN_MOTION, reason_of_flag
from ...conventions import CHAIN, SAME_STRIKE_S, SIDES, STANDARD_GRAVITY_M_S2
from ...errors import ERROR, Problem
from ...person.size_findings import MASS_WRONG
from ...signals.filters import interval_s
from ...tables.corrections import COLUMNS, UnfitError
from ...tables.tsv import Row
from ...trials.session import AnyTrial, Trial
from ...variables.cycle_variables import KNEE_AXIS, RESIDUALS
from ...variables.session_variables import DOUBT
from ...variables.stance_verdicts import (
    ACCEPTED,
    BY_HAND,
    JUDGEMENTS,
    LEG_REFUSED,
    accepted,
    doubt,
    is_accepted,
    joined,
    refusal,
)
from ...vocabulary.event_names import OFF, STRIKE
from . import momentum
from .normalisation import residual_share, root_mean_square_and_peak

STANCE_TEXTS = ("side", "plates", "reason", "code", "doubt", "doubt_code")
Strike = tuple[str, float]  # side, instant in s
NEAR_AN_END = 4  # of `missing`
# standard deviations of vertical momentum; a mass that is 12 % wrong shows as three to four
CARRIES_THE_MASS = 2.0
ACCEPT = "accept_contact"  # kind of correction


@dataclass(frozen=True)
class Stances:
    """Every stance of a trial."""

    # start, end: (stance,), s
    start: Array
    end: Array
    # side, plates, reason, code, doubt, doubt_code: (stance,) text; reason and its code are empty if the kinetics are
    # valid, doubt and its codes if they are not, or not doubted
    side: NDArray[np.str_]
    plates: NDArray[np.str_]
    reason: NDArray[np.str_]
    code: NDArray[np.str_]
    doubt: NDArray[np.str_]
    doubt_code: NDArray[np.str_]
    used: Flags  # (stance,), whether the kinetics are valid, and not doubted if doubts leave them out
    disagreement: Array  # (stance,), largest difference between the formulations of the trial's joint moments, N m
    forward_closure: Array  # (stance, joint), of the stance's side, degrees
    energy_closure: Array  # (stance, segment), of the stance's side, W
    residual: Array  # (stance, figure), of :data:`pipeline.variables.cycle_variables.RESIDUALS` in their units
    knee_axis: Array  # (stance, figure), of :data:`pipeline.variables.cycle_variables.KNEE_AXIS`, of the stance's side
    # (stance,), whether it has a foot strike and a foot off, each so far from a gap and from the ends of the recording
    # that the kinetics are not affected by them
    ended: Flags

    @property
    def whole(self) -> Flags:
        """Return which stances have both ends and valid kinetics."""
        return np.asarray(self.ended & (self.code == ""))

    @property
    def row(self) -> NDArray[np.intp]:
        """Return the index of each stance's side."""
        return np.asarray(np.searchsorted(SIDES, self.side))

    @classmethod
    def join(cls, trials: Iterable[Stances]) -> Stances:
        """Return the stances of all trials."""
        return cls(*(np.concatenate(parts) for parts in zip(*(vars(one).values() for one in trials), strict=True)))

    def variables(self) -> dict[str, Any]:
        """Return the variables of cycles.nc along ``stance``."""
        return {
            "stance_whole": ("stance", self.whole),
            "stance_used": ("stance", self.used),
            "stance_start": ("stance", self.start),
            "stance_end": ("stance", self.end),
            "stance_disagreement": ("stance", self.disagreement),
            "stance_forward_closure": (("stance", "joint"), self.forward_closure),
            "stance_energy_closure": (("stance", "segment"), self.energy_closure),
            **{f"stance_{name}": ("stance", one) for name, one in zip(RESIDUALS, self.residual.T, strict=True)},
            **{f"stance_{name}": ("stance", one) for name, one in zip(KNEE_AXIS, self.knee_axis.T, strict=True)},
        }

    def coordinates(self) -> dict[str, Any]:
        """Return the text coordinates of cycles.nc along ``stance``."""
        return {f"stance_{name}": ("stance", getattr(self, name)) for name in STANCE_TEXTS}

    def from_strike(self, strike: Strike) -> NDArray[np.intp]:
        """Return the numbers of the stances that begin with a foot strike."""
        side, start_s = strike
        return np.flatnonzero((self.side == side) & (np.abs(self.start - start_s) < SAME_STRIKE_S))

    def without_cycle(self, strikes: Sequence[Strike]) -> list[Strike]:
        """Return the strikes of the stances at which none of the given cycles begins."""
        followed = {i for strike in strikes for i in self.from_strike(strike).tolist()}
        every = zip(self.side.tolist(), self.start.tolist(), self.ended.tolist(), strict=True)
        return [(side, start_s) for i, (side, start_s, ended) in enumerate(every) if ended and i not in followed]

    def verdict_of(self, strike: Strike, by_hand: Mapping[Strike, Problem]) -> tuple[bool, str, str, str]:
        """Return whether the kinetics of the cycle from a strike are used; why not, and doubts and their codes."""
        mine = self.from_strike(strike)
        if strike in by_hand or not mine.size:
            return False, by_hand.get(strike, refusal("no_stance")).what, "", ""
        i = int(mine[0])
        return bool(self.used[i]), str(self.reason[i]), str(self.doubt[i]), str(self.doubt_code[i])

    def without(self, refusals: Mapping[Strike, Problem]) -> Stances:
        """Return the stances with those of the strikes refused."""
        reasons, codes = self.reason.tolist(), self.code.tolist()
        for strike, reason in refusals.items():
            for i in self.from_strike(strike):
                reasons[i], codes[i] = reason.what, reason.code
        refused = replace(self, reason=np.array(reasons, dtype=str), code=np.array(codes, dtype=str))
        valid = refused.code == ""
        doubts = [np.where(valid, text, "") for text in (self.doubt, self.doubt_code)]
        return replace(refused, doubt=doubts[0], doubt_code=doubts[1], used=self.used & valid)


def leave_out_by_hand(strikes: Sequence[Strike], rows: Iterable[Mapping[str, str]]) -> dict[Strike, Problem]:
    """Return the strikes of the cycles and stances that the user leaves out, with the refusals.

    Args:
        strikes: strikes at which the trial's cycles, and stances without one, begin.
        rows: of corrections.tsv.

    Raises:
        UnfitError: no cycle or stance of that side starts at that instant.
    """
    refusals = {}
    for row in rows:
        side, start_s = row["side"], float(row["time_s"])
        starts = [start for of, start in strikes if of == side]
        nearest = min(starts, key=lambda start: abs(start - start_s), default=np.inf)
        if abs(nearest - start_s) >= SAME_STRIKE_S:
            listed = ", ".join(f"{start:.2f}" for start in starts) or "none"
            what = f"no {side} cycle or stance starts at {start_s:g} s"
            raise UnfitError(row, what, f"correct time_s, those of that side start at {listed} s")
        refusals[side, nearest] = refusal(BY_HAND, reason=row["reason"])
    return refusals


def judge_stances(
    kinetics: AnyTrial,
    kinematics: AnyTrial,
    contacts: AnyTrial,
    clean: AnyTrial,
    calibrate: xr.Dataset,
    *,
    shown: momentum.Support,
    doubts: Sequence[Sequence[Problem]],
    knee_axis: Array,
    min_peak_force_body_weights: float,
    max_disagreement_n_m: float,
    hands_bear_weight: bool,
    doubted_stances: str,
    corrections: Sequence[Row] = (),
) -> Stances:
    """Return every stance with its verdict.

    Args:
        shown, doubts: what the momentum of the body shows of each stance, and doubts by that of the whole session.
        knee_axis: (side, figure), :func:`.knee_axis.knee_axis_figures`.
        corrections: of the trial, to name one that does not fit.

    The others are those of the step ``cycles``.

    Raises:
        UnfitError: a contact that is accepted by hand cannot be, or need not.
    """
    touched, solved = contacts.variables, kinetics.variables
    sides, starts, ends = (touched[f"contact_{name}"].values for name in ("side", "start", "end"))
    of_moments = solved["disagreement"].values[:, solved["load"].values.tolist().index("moment")]
    disagreement = float(np.fmax.reduce(of_moments))
    refusals = _refuse_by_leg_or_contact(contacts, kinematics)
    time = touched["time"].values
    frames = [(time >= start) & (time <= end) for start, end in zip(starts, ends, strict=True)]
    mass_kg = float(calibrate.attrs["body_mass_kg"])
    vertical = touched["ground_force"].values[..., 1] / (mass_kg * STANDARD_GRAVITY_M_S2)
    solvable, missing = _solvable_and_missing(kinetics)
    row = [SIDES.index(str(side)) for side in sides]
    figures = _residuals(kinetics, kinematics, calibrate, shown, frames, row)
    trunk = momentum.sees_trunk(kinematics) and bool(kinetics.attrs.get("residual_with_trunk", 0))
    whole_body = momentum.judged(np.nan * figures if hands_bear_weight else figures, mass_kg, trunk=trunk)
    by_hand = np.array([is_accepted(codes) for codes in touched["doubt_code"].values.tolist()], dtype=bool)
    low: list[Problem | None] = [None] * len(by_hand)
    for i in (i for i, reason in enumerate(refusals) if not reason):
        peak = float(np.max(vertical[frames[i], row[i]], initial=0))
        complete = starts[i] > time[0] and ends[i] < time[-1]
        if complete and peak < min_peak_force_body_weights:
            low[i] = refusal("force_too_low", body_weights=peak)
        if disagreement > max_disagreement_n_m:
            refusals[i] = refusal("formulations_differ", n_m=disagreement)
        elif low[i] and not by_hand[i]:
            refusals[i] = low[i]
        elif not solvable[frames[i], row[i]].all():
            flags = kinematics["implausible"].values[frames[i], row[i]]
            hidden = _refuse_hidden(clean, kinematics, calibrate, str(sides[i]), starts[i], ends[i])
            if (missing[frames[i], row[i]] == NEAR_AN_END).all(where=~solvable[frames[i], row[i]]):
                hidden = refusal("near_an_end", ms=1000 * clean.attrs["uncertain_end_s"])
            refusals[i] = _refuse_pose(flags, str(sides[i])) or hidden
        else:
            refusals[i] = whole_body[i][0]
    refusals, overruled = _overrule([*zip(refusals, low, strict=True)], contacts, corrections)
    reason, code = _texts(refusals)
    of_mass = [] if hands_bear_weight else [*_doubt_mass(calibrate, figures)]
    # doubts of this step's witnesses about each stance
    pooled = [[] if hands_bear_weight else each for each in doubts]
    own = [
        [*against, *of_mass, *together, *mine]
        for against, (_, mine), together in zip(overruled, whole_body, pooled, strict=True)
    ]
    doubt, doubt_code = _texts(_doubts(contacts, (clean, kinematics, kinetics), own, code))
    _refuse_needless(doubt_code, contacts, corrections)
    closure = np.sqrt((solved["forward_closure"].values ** 2).mean(axis=-1))
    return Stances(
        starts,
        ends,
        sides.astype(str),
        touched["plates"].values.astype(str),
        reason,
        code,
        doubt,
        doubt_code,
        (code == "") & ((doubt_code == "") | by_hand | (doubted_stances == "use")),
        np.full(len(row), disagreement),
        closure[row],
        solved["energy_closure"].values[row],
        figures,
        knee_axis[row],
        _happens(contacts, STRIKE, sides, starts)
        & _happens(contacts, OFF, sides, ends)
        & _are_surrounded(starts, ends, time, solvable[:, row], code == ""),
    )


def _refuse_needless(doubt_code: NDArray[np.str_], contacts: AnyTrial, rows: Sequence[Row]) -> None:
    """Raise UnfitError if a stance is accepted by hand that nothing speaks against."""
    for i in np.flatnonzero(doubt_code == ACCEPTED):
        raise UnfitError(_acceptance(contacts, int(i), rows), "the contact is used already", "give another one")


def acceptances_of(contacts: AnyTrial, stated: Iterable[Row]) -> list[Row]:
    """Return the correction of each stance that is accepted by hand: as stated, else as far as contacts.nc knows it."""
    codes, rows = contacts["doubt_code"].values.tolist(), [*stated]
    return [_acceptance(contacts, i, rows) for i, own in enumerate(codes) if is_accepted(own)]


def _acceptance(contacts: AnyTrial, i: int, rows: Sequence[Row]) -> Row:
    """Return the correction that accepts a stance by its number, see :func:`acceptances_of`."""
    side, start_s = str(contacts["contact_side"].values[i]), float(contacts["contact_start"].values[i])
    for row in rows:
        if (row["kind"], row["side"]) == (ACCEPT, side) and abs(float(row["time_s"]) - start_s) < SAME_STRIKE_S:
            return row
    return dict.fromkeys(COLUMNS, "") | {"kind": ACCEPT, "side": side, "time_s": f"{start_s:.3f}"}


def accepting_only(contacts: Trial, rows: Sequence[Row]) -> Trial:
    """Return the contacts of a trial of which no stance is accepted by hand but those of some corrections."""
    codes = contacts["doubt_code"].values.tolist()
    others = [is_accepted(own) and _acceptance(contacts, i, rows) not in rows for i, own in enumerate(codes)]
    if not any(others):
        return contacts
    texts = {
        name: xr.Variable(("contact",), np.where(others, "", contacts[name].values)) for name in ("doubt", "doubt_code")
    }
    return replace(contacts, variables={**contacts.variables, **texts})


def _solvable_and_missing(kinetics: AnyTrial) -> tuple[Flags, NDArray[np.int8]]:
    """Return where moments and axes of the ankle are known (time, side), and what is missing elsewhere."""
    at_ankle = kinetics["joint"].values.tolist().index("ankle")
    # linked legs know the ankle's centre without a marker of the shank, but not its axes
    both = np.stack([kinetics[name].values[:, :, at_ankle] for name in ("joint_moment", "joint_moment_jcs")])
    return np.isfinite(both).all(axis=(0, -1)), kinetics["missing"].values[:, :, at_ankle]


def _overrule(
    refusals: Sequence[tuple[Problem | None, Problem | None]], contacts: AnyTrial, rows: Sequence[Row]
) -> tuple[list[Problem | None], list[list[Problem]]]:
    """Return the refusal of each stance after those that a person has accepted, and what these were refused for.

    Args:
        refusals: of each stance, and the one by its peak force, which no accepted stance has as the first.
        rows: of corrections.tsv.

    Raises:
        UnfitError: a stance that is accepted cannot be.
    """
    kept, overruled = [first for first, _ in refusals], [list[Problem]() for _ in refusals]
    for i, codes in enumerate(contacts["doubt_code"].values.tolist()):
        if is_accepted(codes):
            if (first := refusals[i][0]) and first.code not in JUDGEMENTS:
                row = _acceptance(contacts, i, rows)
                raise UnfitError(row, f"no person can accept it: {first.what}", "correct the cause")
            against = [each for each in refusals[i] if each]
            kept[i], overruled[i] = None, accepted("", against)[1:]
    return kept, overruled


def _texts(problems: Iterable[Problem | None]) -> tuple[NDArray[np.str_], NDArray[np.str_]]:
    """Return words and codes of problems, empty for None."""
    every = [(problem.what, problem.code) if problem else ("", "") for problem in problems]
    return np.array([what for what, _ in every], dtype=str), np.array([code for _, code in every], dtype=str)


def _are_surrounded(start: Array, end: Array, time: Array, solvable: Flags, valid: Flags) -> Flags:
    """Return which stances the recording surrounds by a frame, with known kinetics there too where they are valid.

    Args:
        start, end, valid: (stance,).
        solvable: (time, stance).
    """
    from_s, to_s = start - interval_s(time), end + interval_s(time)
    surrounded = np.asarray((from_s >= time[0]) & (to_s <= time[-1]))
    for i in np.flatnonzero(surrounded & valid).tolist():
        surrounded[i] = solvable[(time >= from_s[i]) & (time <= to_s[i]), i].all()
    return surrounded


def _residuals(
    kinetics: AnyTrial,
    kinematics: AnyTrial,
    calibrate: xr.Dataset,
    shown: momentum.Support,
    frames: Sequence[Flags],
    sides: Sequence[int],
) -> Array:
    """Return (stance, figure) of ``RESIDUALS`` in :mod:`pipeline.variables.cycle_variables`, by frames and side."""
    share, misfit = residual_share(kinetics, calibrate), kinematics["fit_residual"].values[:, :, : len(CHAIN)]
    figures = [
        [*root_mean_square_and_peak(share[inside]), _root_mean_square_mm(misfit[inside, side]), *of_momentum]
        for inside, side, *of_momentum in zip(frames, sides, *shown[:-1], strict=True)
    ]
    return np.array(figures).reshape(-1, len(RESIDUALS))


def _root_mean_square_mm(distance_m: Array) -> float:
    """Return the root mean square of distances in mm; NaN where none is known."""
    seen_m = distance_m[np.isfinite(distance_m)]
    return 1000 * float(np.sqrt(np.mean(seen_m**2))) if seen_m.size else np.nan


def _refuse_by_leg_or_contact(contacts: AnyTrial, kinematics: AnyTrial) -> list[Problem | None]:
    """Return why each stance is refused by its leg or by its contact; None if it is not."""
    of_leg = dict(zip(SIDES, kinematics["leg_refused"].values.tolist(), strict=True))
    columns = (contacts.variables[name].values.tolist() for name in ("contact_side", "reason", "reason_code"))
    return [
        refusal(LEG_REFUSED, reason=of_leg[side]) if of_leg[side] else Problem("", reason, "", code) if code else None
        for side, reason, code in zip(*columns, strict=True)
    ]


def _doubts(
    contacts: AnyTrial, steps: Iterable[AnyTrial], own: Iterable[Iterable[Problem]], code: NDArray[np.str_]
) -> list[Problem]:
    """Return the doubts about each stance, joined: of its contact, of steps about the trial, its own; none if refused.

    Args:
        own: of each stance.
        code: (stance,) of the refusal, empty without one.
    """
    of_trial = [Problem("", step.attrs.get("doubt", ""), "", step.attrs.get("doubt_code", "")) for step in steps]
    columns = (contacts.variables[name].values.tolist() for name in DOUBT)
    return [
        joined([] if refused else [Problem("", words, "", codes), *of_trial, *mine])
        for words, codes, mine, refused in zip(*columns, own, code, strict=True)
    ]


def _doubt_mass(calibrate: xr.Dataset, figures: Array) -> Iterator[Problem]:
    """Yield the doubt about all stances of a trial if the stated mass is further off than plates can err.

    Not if half of the stances carry that mass: then a plate of the session is wrong, and not the mass.
    """
    off = momentum.deviations(figures)
    known = off[np.isfinite(off)]
    if known.size and abs(np.median(known)) < CARRIES_THE_MASS:
        return
    for finding in json.loads(calibrate.attrs.get("findings", "[]")):
        if (finding["code"], finding["severity"]) == (MASS_WRONG, ERROR):
            yield doubt("mass_disagrees", what=finding["what"])


def _refuse_pose(flags: NDArray[np.int8], side: str) -> Problem | None:
    """Return why the pose of a leg is refused in a stance; None if it is not."""
    if not flags.any():
        return None
    most = int(np.bincount(flags)[1:].argmax()) + 1
    share = 100 * (flags > 0).mean()
    return refusal("leg_implausible", what=reason_of_flag(most, side), percent=share, remedy=REMEDY_IN_MOTION)


def _happens(contacts: AnyTrial, kind: str, side: NDArray[Any], instant_s: Array) -> Flags:
    """Return whether an event of a kind and side (...,) happens at instants (...,), to 0.05 s."""
    events = contacts.variables
    here = np.abs(events["event_time"].values - instant_s[:, None]) < SAME_STRIKE_S
    here &= (events["event"].values == kind) & (events["event_side"].values == side[:, None])
    return np.asarray(here.any(axis=1))


def _refuse_hidden(
    clean: AnyTrial, kinematics: AnyTrial, calibrate: xr.Dataset, side: str, start_s: float, end_s: float
) -> Problem:
    """Return the refusal of a stance that names the markers not seen in it, or why those seen give no pose."""
    other = {"left": "_right", "right": "_left"}[side]
    inside = (clean["time"].values >= start_s) & (clean["time"].values <= end_s)
    unseen = np.isnan(clean["marker_position"].values[inside]).any(axis=(0, 2))
    gaps = clean["marker"].values[unseen].tolist()
    of_side = calibrate.cluster_marker.values[calibrate.cluster_side.values == side]
    absent = [f"{name}_{side}" for name in of_side if f"{name}_{side}" in clean.attrs["landmarks_absent"].split()]
    hidden = sorted({name for name in (*gaps, *absent) if not name.endswith(other)})
    if hidden:
        return refusal("markers_not_seen", markers=", ".join(hidden))
    return refusal("leg_without_pose", why=kinematics.attrs.get("doubt") or "are they where the static trial has them?")
