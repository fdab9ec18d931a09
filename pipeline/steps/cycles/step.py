"""Step ``cycles``: gait cycles as curves over 0-100 %, with metrics and verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...arrays import Array
from ...body.effective_mass import effective_foot_mass
from ...body.legs import legs_of
from ...errors import Problem, UserError
from ...plates.incline import VERTICAL
from ...signals.time_normalisation import PHASE, phase_frames
from ...tables.corrections import apply_fitting, attributes_of, in_results
from ...tables.study_tables import HANDS
from ...tables.tsv import Row
from ...trials.session import Trial, spans_of
from ...trials.usable_walks import UsableWalks, reject
from ...variables.cycle_variables import LABELS_OF_TRUNK, REPAIRED
from ...variables.schema import stack_metrics, with_dims
from ...variables.stance_verdicts import Verdict
from . import muscles
from .acceptances import acceptances_of
from .balance import balance
from .curves import EMG, curves_of, headings, metrics_of, of_whole_stances, quantities_of, spread_of
from .cut_trial import CutTrial, Cycles, Inputs, inputs_of_walks, marker_of_feet
from .knee_checks import knee_axis_figures
from .momentum import known_intervals, laboratory_faults, late_plates, single_support
from .normalisation import leg_lengths
from .settings import Settings
from .shown import Shown
from .spatiotemporal import Heels, spatiotemporal, support
from .stances import leave_out_by_hand
from .verdicts import judge_stances

LEAVE_OUT = "leave_out_cycle"  # kind of correction


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
    session = Inputs(walks.take(kinetics), walks.take(kinematics), walks.take(contacts), walks.take(clean), calibrate)
    cut, refused, unfit = _cut_walks(session, settings, by_trial or {})
    if refused:  # the others are judged without them
        kinetics = reject(kinetics, refused)
        return cycles(kinetics, kinematics, contacts, clean, calibrate, settings=settings, by_trial=by_trial)
    walk = CutTrial.join(cut, [span.start for span in spans_of(session.contacts, "sample")])
    quantities = quantities_of(session, settings.further_curves)
    curves, of_muscles, metrics = _of_cycles(session, walk, quantities, settings)
    spread, along = spread_of(session, walk)
    stacked, names = stack_metrics(metrics)
    steps = (session.clean, session.contacts)
    repairs = {name: step.variables[name] for step in steps for name in REPAIRED if name in step.variables}
    whole = of_whole_stances(session, walk, quantities)
    trials = {
        "cycle_trial": ("cycle", walk.trial),
        "stance_trial": ("stance", walk.stance_trial),
        "whole_stance_trial": ("whole_stance", walk.stance_trial[walk.stances.whole]),
    }
    variables = with_dims("cycles", curves | spread | whole | of_muscles) | stacked | walk.stances.variables() | repairs
    balanced = "margin_of_stability" in curves
    dims = dict.fromkeys(str(dim) for quantity in quantities.values() for dim in quantity.dims[2:])
    dims = {dim: None for dim in dims if dim not in LABELS_OF_TRUNK} | ({"axis": None} if balanced else {})
    labels: dict[str, Any] = {
        dim: (session.clean if dim == "muscle" else session.kinetics).variables[dim] for dim in (*dims, "segment")
    }
    labels |= dict.fromkeys(("phase", "stance_phase"), PHASE) | (LABELS_OF_TRUNK if balanced else {})
    result = xr.Dataset(variables, labels | walk.coordinates() | names | along | trials)
    return walks.complete(result).assign_attrs(attributes_of(unfit))


def _of_cycles(
    session: Inputs[xr.Dataset], walk: CutTrial, quantities: Mapping[str, xr.Variable], settings: Settings
) -> tuple[dict[str, Array], dict[str, Array], dict[str, Array]]:
    """Return curves, what is told of muscles, and metrics of the cycles, by name."""
    curves = curves_of(quantities, walk, session.kinematics, session.mass_kg)
    leg_length_m = leg_lengths(session.kinematics)[walk.trial, walk.cycles.row]
    metrics = metrics_of(curves, walk, leg_length_m, float(session.calibrate.attrs["body_height_m"]))
    struck_kg = mass_at_strikes(session, walk.strike, walk.cycles.row)
    walk.leave_out([struck_kg])
    of_muscles = muscles.of_cycles(curves.get(EMG), session.clean, walk, settings)
    of_balance, more = balance(session, walk)
    return curves | of_balance, of_muscles, metrics | more | {"effective_foot_mass": struck_kg}


def _cut_walks(
    session: Inputs[xr.Dataset], settings: Settings, by_trial: Mapping[str, Mapping[str, Any]]
) -> tuple[list[CutTrial], dict[str, Problem], list[Row]]:
    """Return the cycles of each walk, by name the problems of those that cannot be cut, and unfit corrections."""
    walks = inputs_of_walks(session)
    applied, _ = in_results([session.contacts.attrs])
    stated = {name: by_trial.get(name, {}) for name in walks}
    own = {
        name: replace(settings, hands_bear_weight=bool(of.get(HANDS, settings.hands_bear_weight)))
        for name, of in stated.items()
    }
    cut, refused, unfit = [], {}, list[Row]()
    for (name, walk), shows in zip(walks.items(), _momentum(walks, own), strict=True):
        accepted = acceptances_of(walk.contacts, [row for row in applied if row["trial"] == name])
        divide = partial(_divide, walk, own[name], shows)
        try:
            divided, not_applied = apply_fitting(divide, [*stated[name].get("corrections", ()), *accepted])
        except UserError as error:
            refused[name] = error.problems[0]
            continue
        cut.append(divided)
        unfit += not_applied
    return cut, refused, unfit


def mass_at_strikes(session: Inputs[xr.Dataset], frames: NDArray[np.intp], row: NDArray[np.intp]) -> Array:
    """Return the effective foot mass (strike,) kg at heel or toe marker, whichever is lower over the ground.

    Args:
        frames: (strike,), frame of each foot strike.
        row: (strike,), index of its side.
    """
    kinematics, contacts = session.kinematics, session.contacts
    smallest = float(kinematics.variables["smallest_floating_axis"].values[0])
    legs = legs_of(
        kinematics, contacts, session.calibrate,
        gravity_m_s2=0.0, smallest_floating_axis=smallest, samples=frames,
    )  # fmt: skip
    heel, toe = (marker_of_feet(session.clean, name)[frames] for name in ("heel", "toe"))
    ground = contacts.variables.get("ground_normal")
    normal = VERTICAL if ground is None else ground.values[kinematics.variables["sample_trial"].values[frames]]
    is_toe = ((toe - heel) * normal[..., None, :]).sum(axis=-1) < 0
    lower = np.where(is_toe[..., None], toe, heel)
    mass = effective_foot_mass(legs, lower, normal)
    return np.asarray(mass[np.arange(len(frames)), row])


def _momentum(
    walks: Mapping[str, Inputs[Trial]], settings: Mapping[str, Settings]
) -> Iterator[tuple[single_support.Support, known_intervals.Known | None, Sequence[Sequence[Verdict]]]]:
    """Yield what the body's momentum shows of each walk: support, known intervals, what all say of each stance.

    A walk in which hands bear weight tells nothing of the mass and the plates of the session, and a plate that is out
    of step with the others nothing of mass and gains where it bears a part, but of what no delay explains.
    """
    mass_kg = next(iter(walks.values())).mass_kg
    plates = [walk.contacts["plates"].values for walk in walks.values()]
    shown = [
        single_support.in_single_support(walk.kinematics, walk.contacts, walk.calibrate) for walk in walks.values()
    ]
    alone = {name: walk for name, walk in walks.items() if not settings[name].hands_bear_weight}
    numbers, late = late_plates.find_late([*alone.values()]) or (set(), None)
    on_late = [np.array([not numbers.isdisjoint(text.split()) for text in each], dtype=bool) for each in plates]
    by_delay = [
        (one.share @ on > 0) & (abs(one.ratio - 1) < late_plates.BY_DELAY)
        for one, on in zip(shown, on_late, strict=True)
    ]
    telling = [
        one._replace(ratio=np.where((name not in alone) | explained, np.nan, one.ratio))
        for name, one, explained in zip(walks, shown, by_delay, strict=True)
    ]
    known = [
        known_intervals.known_intervals(walk.kinematics, walk.contacts, walk.clean, mass_kg) for walk in walks.values()
    ]
    of_support = single_support.doubts_of_session(telling, plates, mass_kg)
    of_body = laboratory_faults.verdicts_of_session(known, plates)
    for own, intervals, on, *both in zip(shown, known, on_late, of_support, of_body, strict=True):
        of_late = [[late] if late and one else [] for one in on.tolist()]
        yield own, intervals, [[*first, *then, *last] for first, then, last in zip(of_late, *both, strict=True)]


def _divide(
    walk: Inputs[Trial],
    settings: Settings,
    shows: tuple[single_support.Support, known_intervals.Known | None, Sequence[Sequence[Verdict]]],
    corrections: Sequence[Row],
) -> CutTrial:
    """Return the cycles of one walk; for ``shows`` and ``corrections`` see :class:`.verdicts.Shown`."""
    strides, time = Cycles.of(walk.contacts, settings.longest_cycle_s), walk.contacts.variables["time"].values
    judged = Shown(*walk, settings, *shows, corrections)
    every = judge_stances(judged, knee_axis=knee_axis_figures(walk.kinematics, strides.row, strides.span_s))
    left_out = [row for row in corrections if row["kind"] == LEAVE_OUT]
    alone = every.without_cycle(strides.strikes) if left_out else []
    by_hand = leave_out_by_hand([*strides.strikes, *alone], left_out)
    stances = every.without(by_hand)
    whole = stances.whole
    verdicts = [stances.verdict_of(strike, by_hand) for strike in strides.strikes]
    distances = spatiotemporal(
        Heels.of(walk.clean),
        walk.contacts,
        **strides._asdict(),
        belt_speed_m_s=walk.contacts["belt_speed"].values[strides.row],
    )
    heading = headings(walk.kinematics.attrs["line_of_progression"], distances["stride_direction"])
    offset = distances["stride_direction"] - np.degrees(heading)
    # of the nearest cycle of the same side, else of the other; 0 without any
    apart = np.abs(stances.start[:, None] - strides.start_s) + np.where(stances.side[:, None] == strides.side, 0, 1e6)
    of_stances = heading[apart.argmin(axis=1)] if heading.size else np.zeros(len(stances.start))
    return CutTrial(
        strides,
        stances,
        trial=np.zeros(len(verdicts), dtype=np.int32),
        stance_trial=np.zeros(len(stances.start), dtype=np.int32),
        valid=np.array([used for used, *_ in verdicts], dtype=bool),
        reason=tuple(reason for _, reason, _ in verdicts),
        doubts=tuple(of_stance for *_, of_stance in verdicts),
        gone=np.array([strike in by_hand for strike in strides.strikes], dtype=bool),
        distances=distances | {"progression_offset": offset},
        phases=support(walk.contacts, **strides._asdict()),
        frames={
            "phase": phase_frames(time, strides.start_s, strides.end_s),
            "stance_phase": phase_frames(time, strides.start_s, strides.off_s),
            "whole_stance": phase_frames(time, stances.start[whole], stances.end[whole]),
        },
        strike=np.abs(time - strides.start_s[:, None]).argmin(axis=1),
        heading=heading,
        stance_heading=of_stances,
    )
