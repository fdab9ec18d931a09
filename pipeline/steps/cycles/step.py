"""Step ``cycles``: gait cycles as curves over 0-100 %, with metrics and verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...arrays import Array, Flags
from ...body.skeleton import body_height_m
from ...conventions import LONGEST_SWING_S, SIDES
from ...errors import Problem, UserError
from ...plates.incline import VERTICAL, uphill
from ...signals.time_normalisation import PHASE, PhaseFrames, at_phases, phase_frames
from ...tables.corrections import apply_fitting, attributes_of, in_results
from ...tables.study_tables import HANDS
from ...tables.tsv import Row
from ...trials.session import AnyTrial, Trial, spans_of, trials_of
from ...trials.usable_walks import UsableWalks, reject
from ...uncertainty.spread import CutCycles, spread_over_draws
from ...variables.cycle_variables import LABELS_OF_TRUNK, REPAIRED
from ...variables.metrics import DRAWN, METRICS, WITH_ERRORS
from ...variables.schema import stack_metrics, with_dims
from ...variables.stance_verdicts import Verdict, doubt_columns, reason_columns
from ...whole_body.loads import moments_of_sides
from . import body_momentum, momentum, momentum_faults, muscles
from .balance import balance, turn_to_line
from .effective_mass import at_foot_strikes
from .knee_axis import knee_axis_figures
from .normalisation import IN_STANCE, dimensionless, further, leg_lengths, per_height, residual_share
from .peaks_and_work import impulses, peaks, ranges, work
from .progression import SEGMENT, along_line, headings, progression_angles
from .settings import Settings
from .spatiotemporal import Heels, spatiotemporal, support, turning_angle
from .stances import Stances, Strike, leave_out_by_hand, of_whole_stances
from .verdicts import Shown, acceptances_of, judge_stances

RESIDUAL, EMG, FROM_LEGS = "pelvis_residual", "emg_envelope", "waist_moment_from_legs"
LEAVE_OUT = "leave_out_cycle"  # kind of correction
ANGLES = ("joint_angle", "pelvis_angle", "foot_progression", "upper_angle")


class Cycles(NamedTuple):
    """Gait cycles in order of time, all (cycle,): side, strikes and foot off (or NaN), s."""

    side: NDArray[np.str_]
    start_s: Array
    off_s: Array
    end_s: Array

    @property
    def row(self) -> NDArray[np.intp]:
        """Return the index of each cycle's side."""
        return np.asarray(np.searchsorted(SIDES, self.side))

    @property
    def strikes(self) -> list[Strike]:
        """Return the foot strike that starts each cycle."""
        return [*zip(self.side.tolist(), self.start_s.tolist(), strict=True)]

    @property
    def span_s(self) -> Array:
        """Return the foot strikes (cycle, 2) that start and end each cycle, s."""
        return np.stack([self.start_s, self.end_s], axis=1)


class CutTrial(NamedTuple):
    """A trial, or all trials of a session, cut into cycles."""

    cycles: Cycles  # its cycles
    stances: Stances  # its stances, each with its verdict
    valid: Flags  # (cycle,), whether its kinetics are used
    reason: tuple[Verdict | None, ...]  # of each cycle, why it has no valid kinetics; None if it has
    doubts: tuple[tuple[Verdict, ...], ...]  # about the kinetics of each cycle
    gone: Flags  # (cycle,), whether the user leaves it out
    # distances, phases: (cycle,) by name: metrics of :mod:`pipeline.steps.cycles.spatiotemporal`
    distances: dict[str, Array]
    phases: dict[str, Array]
    # the frames around 0-100 % of each cycle (``phase``), those from its foot strike to foot off (``stance_phase``),
    # and those of each whole stance (``whole_stance``)
    frames: dict[str, PhaseFrames]
    strike: NDArray[np.intp]  # (cycle,), frame of the foot strike
    heading: Array  # (cycle,), direction from which the angles of progression are measured, to the left of lab x, rad
    stance_heading: Array  # (stance,), that of the nearest cycle of its side

    @classmethod
    def join(cls, walks: Sequence[CutTrial], first: Sequence[int]) -> CutTrial:
        """Return the walks of a session as one, given the first frame of each among all frames."""
        return cls(
            Cycles(*map(np.concatenate, zip(*(walk.cycles for walk in walks), strict=True))),
            Stances.join([walk.stances for walk in walks]),
            valid=np.concatenate([walk.valid for walk in walks]),
            reason=tuple(reason for walk in walks for reason in walk.reason),
            doubts=tuple(doubts for walk in walks for doubts in walk.doubts),
            gone=np.concatenate([walk.gone for walk in walks]),
            distances=_chain([walk.distances for walk in walks]),
            phases=_chain([walk.phases for walk in walks]),
            frames={
                along: PhaseFrames.join(walk.frames[along].later(n) for walk, n in zip(walks, first, strict=True))
                for along in walks[0].frames
            },
            strike=np.concatenate([walk.strike + n for walk, n in zip(walks, first, strict=True)]),
            heading=np.concatenate([walk.heading for walk in walks]),
            stance_heading=np.concatenate([walk.stance_heading for walk in walks]),
        )

    @property
    def without_kinetics(self) -> Flags:
        """Return which cycles have no valid kinetics."""
        return np.array([reason is not None for reason in self.reason], dtype=bool)

    @property
    def without_force(self) -> Flags:
        """Return which cycles have no ground force that can be used."""
        return np.array([reason is not None and not reason.leaves_force for reason in self.reason], dtype=bool)

    def coordinates(self) -> dict[str, Any]:
        """Return the coordinates of cycles.nc along ``cycle`` and ``stance``."""
        of_cycles = {
            "side": self.cycles.side,
            "start_time": self.cycles.start_s,
            "end_time": self.cycles.end_s,
            "kinetics_valid": self.valid,
            **reason_columns(self.reason),
            **doubt_columns(self.doubts),
        }
        return {name: ("cycle", values) for name, values in of_cycles.items()} | self.stances.coordinates()


def cycles(
    kinetics: xr.Dataset,
    kinematics: xr.Dataset,
    contacts: xr.Dataset,
    clean: xr.Dataset,
    calibrate: xr.Dataset,
    *,
    settings: Settings,
    by_trial: Mapping[str, Mapping[str, Any]] | None = None,
) -> xr.Dataset:
    """Cut walks into gait cycles.

    Args:
        settings: of the step; for ``further_curves`` see :mod:`pipeline.steps.cycles.normalisation`.
        by_trial: of some trials, by name: ``corrections``, rows of corrections.tsv, with cycles, or stances without
            one, to leave out; ``hands_bear_weight``, in place of the setting.

    Returns:
        The variables of :data:`pipeline.variables.cycle_variables.CYCLES`. Along ``stance`` is every stance with its
        verdict and the checks of its side, along ``whole_stance`` those with both ends and valid kinetics, whether or
        not a whole cycle follows. Kinetics that are not valid, and all curves of a cycle left out, are NaN. The
        attribute ``corrections_not_applied`` has the corrections that do not fit: a cycle or stance to leave out does
        not exist, or a contact that is accepted by hand cannot be, or need not.
    """
    walks = UsableWalks.of(kinetics, kinematics, contacts, clean, calibrate)
    if not walks.names:
        return walks.complete(xr.Dataset())
    parts = [trials_of(walks.take(data)) for data in (kinetics, kinematics, contacts, clean)]
    stated, _ = in_results([contacts.attrs])
    stated_of = {name: (by_trial or {}).get(name, {}) for name in walks.names}
    rows = {
        name: [
            *stated_of[name].get("corrections", ()),
            *acceptances_of(parts[2][name], [row for row in stated if row["trial"] == name]),
        ]
        for name in walks.names
    }
    by_hands = {name: bool(own.get(HANDS, settings.hands_bear_weight)) for name, own in stated_of.items()}
    cut, refused, unfit = _cut_walks(
        {name: [of[name] for of in parts] for name in walks.names}, calibrate, settings, rows, by_hands
    )
    if refused:  # the others are judged without them
        kinetics = reject(kinetics, refused)
        return cycles(kinetics, kinematics, contacts, clean, calibrate, settings=settings, by_trial=by_trial)
    kinetics, kinematics, contacts, clean = map(walks.take, (kinetics, kinematics, contacts, clean))
    walk = CutTrial.join(cut, [span.start for span in spans_of(contacts, "sample")])
    places = np.arange(len(cut), dtype=np.int32)
    trial = np.repeat(places, [len(one.gone) for one in cut])  # of each cycle
    stance_trial = np.repeat(places, [len(one.stances.start) for one in cut])
    quantities = _quantities(kinetics, kinematics, contacts, clean, calibrate, settings.further_curves)
    mass_kg, lengths = float(calibrate.attrs["body_mass_kg"]), leg_lengths(kinematics)
    curves = _curves(quantities, walk, kinematics, mass_kg)
    struck_kg = at_foot_strikes(
        walk.strike, walk.cycles.row, kinematics, contacts, clean, calibrate,
        smallest_floating_axis=float(kinematics.variables["smallest_floating_axis"].values[0]),
    )  # fmt: skip
    for array in (struck_kg, *curves.values()):
        array[walk.gone] = np.nan
    of_muscles = muscles.of_cycles(
        curves.get(EMG), clean, trial, walk.cycles.side, walk.cycles.row, walk.cycles.span_s,
        normalisation=settings.emg_normalisation, pairs=settings.emg_pairs,
    )  # fmt: skip
    numbers = _metrics(curves, walk, lengths[trial, walk.cycles.row], float(calibrate.attrs["body_height_m"]))
    of_balance, more = _balance(kinematics, contacts, clean, walk, trial, mass_kg * body_height_m(calibrate))
    numbers, curves = numbers | more, curves | of_balance
    errors, along = _over_draws((kinetics, kinematics, contacts, calibrate), walk, trial)
    metrics, names = stack_metrics(numbers | {"effective_foot_mass": struck_kg})
    whole, row = walk.stances.whole, walk.stances.row
    of_stances = of_whole_stances(
        quantities, walk.frames["whole_stance"], row[whole], walk.stance_heading[whole],
        duration_s=(walk.stances.end - walk.stances.start)[whole],
        leg_length_m=lengths[stance_trial, row][whole],
        mass_kg=mass_kg,
    )  # fmt: skip
    repairs = {name: clean.variables[name] for name in REPAIRED if name in clean.variables}
    dims = dict.fromkeys(str(dim) for quantity in quantities.values() for dim in quantity.dims[2:])
    dims = {dim: None for dim in dims if dim not in LABELS_OF_TRUNK} | ({"axis": None} if of_balance else {})
    result = xr.Dataset(
        {
            **with_dims("cycles", curves | errors | of_stances | of_muscles),
            **metrics,
            **walk.stances.variables(),
            **repairs,
        },
        {
            **{dim: (clean if dim == "muscle" else kinetics).variables[dim] for dim in (*dims, "segment")},
            **dict.fromkeys(("phase", "stance_phase"), PHASE),
            **(LABELS_OF_TRUNK if of_balance else {}),
            **walk.coordinates(),
            **names,
            **along,
            "cycle_trial": ("cycle", trial),
            "stance_trial": ("stance", stance_trial),
            "whole_stance_trial": ("whole_stance", stance_trial[whole]),
        },
    )
    return walks.complete(result).assign_attrs(attributes_of(unfit))


def _chain(parts: Sequence[Mapping[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Return arrays of all trials, one after the other, by name."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _cut_walks(
    trials: Mapping[str, Sequence[Trial]],
    calibrate: xr.Dataset,
    settings: Settings,
    corrections: Mapping[str, Sequence[Row]],
    by_hands: Mapping[str, bool],
) -> tuple[list[CutTrial], dict[str, Problem], list[Row]]:
    """Return the cycles of each walk, by name the problems of those that cannot be cut, and unfit corrections.

    ``trials`` has the walk in kinetics, kinematics, contacts and clean, ``by_hands`` whether hands bear weight in it:
    then it tells nothing of the mass and the plates of the session.
    """
    shown = [momentum.in_single_support(moved, touched, calibrate) for _, moved, touched, _ in trials.values()]
    plates = [touched["plates"].values for _, _, touched, _ in trials.values()]
    mass_kg = float(calibrate.attrs["body_mass_kg"])
    telling = [
        one._replace(ratio=np.full_like(one.ratio, np.nan)) if by_hands[name] else one
        for name, one in zip(trials, shown, strict=True)
    ]
    doubts = momentum.doubts_of_session(telling, plates, mass_kg)
    known = [
        body_momentum.known_intervals(moved, touched, cleaned, mass_kg)
        for _, moved, touched, cleaned in trials.values()
    ]
    placed = momentum_faults.verdicts_of_session(known, plates)
    cut, refused, unfit = [], {}, list[Row]()
    judged = [[[*first, *then] for first, then in zip(*of, strict=True)] for of in zip(doubts, placed, strict=True)]
    for (name, of), shows in zip(trials.items(), zip(shown, known, judged, strict=True), strict=True):
        own = replace(settings, hands_bear_weight=by_hands[name])
        divide = partial(_divide, *of, calibrate=calibrate, settings=own, shows=shows)
        try:
            divided, not_applied = apply_fitting(divide, corrections[name])
        except UserError as error:
            refused[name] = error.problems[0]
            continue
        cut.append(divided)
        unfit += not_applied
    return cut, refused, unfit


def _divide(
    kinetics: Trial,
    kinematics: Trial,
    contacts: Trial,
    clean: Trial,
    *,
    calibrate: xr.Dataset,
    settings: Settings,
    corrections: Sequence[Row],
    shows: tuple[momentum.Support, body_momentum.Known | None, Sequence[Sequence[Verdict]]],
) -> CutTrial:
    """Return the cycles of one trial; ``shows``: support, known intervals, and verdicts of the session on each stance.

    For the other arguments see :func:`cycles` and :class:`.verdicts.Shown`.
    """
    strides, time = _cycles(contacts, settings.longest_cycle_s), contacts.variables["time"].values
    carries, known, by_session = shows
    judged = Shown(kinetics, kinematics, contacts, clean, calibrate, settings, carries, known, by_session, corrections)
    every = judge_stances(judged, knee_axis=knee_axis_figures(kinematics, strides.row, strides.span_s))
    left_out = [row for row in corrections if row["kind"] == LEAVE_OUT]
    alone = every.without_cycle(strides.strikes) if left_out else []
    by_hand = leave_out_by_hand([*strides.strikes, *alone], left_out)
    stances = every.without(by_hand)
    whole = stances.whole
    verdicts = [stances.verdict_of(strike, by_hand) for strike in strides.strikes]
    distances = spatiotemporal(
        Heels.of(clean), contacts, **strides._asdict(), belt_speed_m_s=contacts["belt_speed"].values[strides.row]
    )
    heading = headings(kinematics.attrs["line_of_progression"], distances["stride_direction"])
    offset = distances["stride_direction"] - np.degrees(heading)
    return CutTrial(
        strides,
        stances,
        valid=np.array([used for used, *_ in verdicts], dtype=bool),
        reason=tuple(reason for _, reason, _ in verdicts),
        doubts=tuple(of_stance for *_, of_stance in verdicts),
        gone=np.array([strike in by_hand for strike in strides.strikes], dtype=bool),
        distances=distances | {"progression_offset": offset},
        phases=support(contacts, **strides._asdict()),
        frames={
            "phase": phase_frames(time, strides.start_s, strides.end_s),
            "stance_phase": phase_frames(time, strides.start_s, strides.off_s),
            "whole_stance": phase_frames(time, stances.start[whole], stances.end[whole]),
        },
        strike=np.abs(time - strides.start_s[:, None]).argmin(axis=1),
        heading=heading,
        stance_heading=_of_nearest(heading, strides, stances),
    )


def _of_nearest(heading: Array, strides: Cycles, stances: Stances) -> Array:
    """Return the heading (stance,) of the nearest cycle of the same side, else of the other; 0 without any."""
    apart = np.abs(stances.start[:, None] - strides.start_s) + np.where(stances.side[:, None] == strides.side, 0, 1e6)
    return heading[apart.argmin(axis=1)] if heading.size else np.zeros(len(stances.start))


def _cycles(contacts: AnyTrial, longest_s: float) -> Cycles:
    """Return the cycles between successive strikes with at most one foot off."""
    table = [contacts.variables[name].values.tolist() for name in ("event_time", "event", "event_side")]
    rows = []
    for side in SIDES:
        events = [(time_s, kind) for time_s, kind, of in zip(*table, strict=True) if of == side]
        strikes = [time_s for time_s, kind in events if kind == "foot_strike"]
        for start, end in zip(strikes, strikes[1:], strict=False):
            offs = [time_s for time_s, kind in events if kind == "foot_off" and start < time_s < end]
            swing = end - offs[-1] if offs else 0.0
            if end - start <= longest_s and len(offs) <= 1 and swing <= LONGEST_SWING_S:
                rows.append((side, start, offs[0] if offs else np.nan, end))
    rows.sort(key=lambda cycle: cycle[1])
    return Cycles(
        np.array([side for side, *_ in rows], dtype=str),
        *np.array([one[1:] for one in rows], dtype=float).reshape(-1, 3).T,
    )


def _quantities(
    kinetics: xr.Dataset,
    kinematics: xr.Dataset,
    contacts: xr.Dataset,
    clean: xr.Dataset,
    calibrate: xr.Dataset,
    further_curves: Sequence[str],
) -> dict[str, xr.Variable]:
    """Return the quantities (sample, side, ...) of all curves by name."""
    wanted = {name: kinematics.variables[name] for name in ANGLES if name in kinematics.variables}
    wanted |= {name: kinetics.variables[name] for name in ("joint_moment_jcs", "joint_force", "joint_power")}
    wanted |= {name: kinetics.variables[name] for name in ("foot_power", "ankle_foot_power")}
    wanted["ground_force"] = contacts.variables["ground_force"]
    share = residual_share(kinetics, calibrate)[:, None].repeat(len(SIDES), axis=1)
    wanted[RESIDUAL] = xr.Variable(("sample", "side", "load"), share)
    wanted |= {EMG: clean.variables[EMG]} if EMG in clean.variables else {}
    if "upper_joint_moment" in kinetics:
        moment = moments_of_sides(kinematics, kinetics.variables["upper_joint_moment"].values)
        wanted["upper_moment"] = xr.Variable(("sample", "side", "upper_load", "angle"), moment)
        wanted[FROM_LEGS] = _waist_from_legs(kinetics, kinematics)
    whole_cycle = [name for name in further_curves if not name.endswith(IN_STANCE)]
    wanted |= further(whole_cycle, kinetics, kinematics, calibrate)
    return wanted | {name: wanted[name.removesuffix(IN_STANCE)] for name in further_curves if name.endswith(IN_STANCE)}


def _waist_from_legs(kinetics: xr.Dataset, kinematics: xr.Dataset) -> xr.Variable:
    """Return the waist's moment by feet, legs and pelvis (sample, side, angle), N m; known where the residual is."""
    moment = moments_of_sides(kinematics, kinetics.variables[FROM_LEGS].values[:, None], ("waist",))[:, :, 0]
    known = np.isfinite(kinetics.variables["pelvis_residual_force"].values[:, 0])
    return xr.Variable(("sample", "side", "angle"), np.where(known[:, None, None], moment, np.nan))


def _curves(
    quantities: Mapping[str, xr.Variable], walk: CutTrial, kinematics: AnyTrial, mass_kg: float
) -> dict[str, Array]:
    """Return curves (cycle, ..., phase) of angles and envelopes, and of kinetics per body mass.

    ``..._in_stance`` is along ``stance_phase``, from foot strike to foot off.

    Args:
        quantities: (sample, side, ...) by name.
    """
    curves = {}
    for name, quantity in quantities.items():
        plain = name.removesuffix(IN_STANCE)
        frames = walk.frames["phase" if plain == name else "stance_phase"]
        if plain in SEGMENT and walk.heading.any():
            rows = progression_angles(plain, kinematics, frames, walk.cycles.row, walk.heading)
        else:
            rows = np.ascontiguousarray(at_phases(quantity.values, frames, walk.cycles.row))
        if plain == "upper_angle" and walk.heading.any():
            rows = turn_to_line(rows, kinematics, frames, walk.cycles.row, walk.heading)
        if plain == "ground_force":
            rows = along_line(rows, walk.heading)
        if plain not in (*ANGLES, EMG):
            rows /= 1 if plain == RESIDUAL else mass_kg
            if plain != "upper_moment":  # from hands and head down, it needs no ground force
                rows[walk.without_force if plain == "ground_force" else walk.without_kinetics] = np.nan
        curves[name] = rows
    return curves


def _balance(
    kinematics: xr.Dataset,
    contacts: xr.Dataset,
    clean: xr.Dataset,
    walk: CutTrial,
    trial: NDArray[np.int32],
    size_kg_m: float,
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return curves and metrics of the balance of the whole body, by :func:`.balance.balance`.

    Args:
        trial: (cycle,), index of the trial of each cycle.
        size_kg_m: body mass times body height.
    """
    ground = contacts.variables.get("ground_normal")
    along = uphill(np.tile(VERTICAL, (len(trial), 1)) if ground is None else ground.values[trial])
    belt_m_s = contacts.variables["belt_speed"].values[trial, walk.cycles.row, None] * along
    feet = {side: _foot(clean, side) for side in SIDES}
    curves, metrics = balance(
        kinematics, belt_m_s, feet, walk.frames["phase"], walk.cycles.row, walk.heading, walk.distances, size_kg_m
    )
    for array in (*curves.values(), *metrics.values()):
        array[walk.gone] = np.nan
    return curves, metrics


def _foot(clean: xr.Dataset, side: str) -> tuple[Array, Array]:
    """Return heel and toe (sample, 3) of a side, m; NaN if the marker is in no trial."""
    names, position = clean.variables["marker"].values.tolist(), clean.variables["marker_position"].values
    unseen = np.full((len(position), 3), np.nan)
    heel, toe = (position[:, names.index(n)] if n in names else unseen for n in (f"heel_{side}", f"toe_{side}"))
    return heel, toe


def _metrics(curves: Mapping[str, Array], walk: CutTrial, leg_length_m: Array, height_m: float) -> dict[str, Array]:
    """Return the metrics (cycle,) of all cycles, except the effective foot mass.

    Args:
        leg_length_m: (cycle,).
        height_m: body height, or NaN.
    """
    distances, share = walk.distances, walk.distances["stance_share"]
    return (
        distances
        | dimensionless(distances, leg_length_m=leg_length_m)
        | per_height(distances, height_m=height_m)
        | walk.phases
        | {"turning_angle": turning_angle(curves["pelvis_angle"], walk.cycles.side)}
        | peaks(curves, stance_share=share)
        | ranges(curves)
        | impulses(curves, stance_share=share, stride_s=distances["stride_time"])
        | work(curves, stance_share=share)
    )


def _over_draws(
    inputs: tuple[xr.Dataset, xr.Dataset, xr.Dataset, xr.Dataset], walk: CutTrial, trial: NDArray[np.int32]
) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return bands, shares of the sources of error, and metrics of each draw, and their coordinates; empty if off.

    Args:
        inputs: kinetics, kinematics, contacts, calibrate.
        trial: (cycle,), index of the trial of each cycle.
    """
    kinetics, _, contacts, calibrate = inputs
    if "uncertainty" not in kinetics.variables:
        return {}, {}
    mass_kg, unknown = float(calibrate.attrs["body_mass_kg"]), np.full(len(trial), np.nan)

    def cut(motion: Trial, loads: Trial) -> tuple[dict[str, Array], Array]:
        given = {name: (motion if name in ANGLES else loads).variables[name] for name in DRAWN}
        curves = _curves(given | {"ground_force": contacts.variables["ground_force"]}, walk, motion, mass_kg)
        for array in curves.values():
            array[walk.gone] = np.nan
        metrics = _metrics(curves, walk, unknown, np.nan)
        return curves, np.stack([metrics[name] if name in WITH_ERRORS else unknown for name in METRICS], axis=-1)

    out = walk.gone | walk.without_kinetics
    cycles = CutCycles(cut, trial, walk.cycles.row, walk.cycles.span_s, walk.frames["phase"], out)
    return spread_over_draws(*inputs, cycles)
