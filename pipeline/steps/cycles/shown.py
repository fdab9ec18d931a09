"""What a trial shows of its stances: all that their judges know (:mod:`.verdicts`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...arrays import Array, Flags
from ...conventions import CHAIN, SAME_STRIKE_S, SIDES, STANDARD_GRAVITY_M_S2
from ...signals.filters import interval_s
from ...tables.tsv import Row
from ...trials.session import AnyTrial
from ...trials.usable_walks import has_model
from ...variables.cycle_variables import RESIDUALS
from ...variables.stance_verdicts import Verdict, is_accepted
from ...vocabulary.event_names import OFF, STRIKE
from . import knee_checks
from .acceptances import acceptance_of
from .momentum import known_intervals, single_support
from .normalisation import residual_share, root_mean_square_and_peak
from .settings import Settings

# of `missing`: 0 where moments are known
NOT_SEEN, NEAR_AN_END = 1, 4
# Percent of a stance in which the residual at the pelvis must be known to judge a part of it. The trunk sways at some 2
# Hz, unseen; over less than a quarter of its period, .13 s, a root mean square is that of one phase of the sway. A
# quarter of a stance of .6 s is just longer.
LEAST_JUDGED = 25.0


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
    support: single_support.Support  # what the force of each stance shows in single support
    known: known_intervals.Known | None  # what its intervals with known loads show
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
    def ended(self) -> Flags:
        """Return whether each stance (stance,) has a strike and an off, and the recording goes on beyond both."""
        time, (side, start, end) = self.contacts.variables["time"].values, self.stances
        surrounded = (start - interval_s(time) >= time[0]) & (end + interval_s(time) <= time[-1])
        happen = _happens(self.contacts, STRIKE, side, start) & _happens(self.contacts, OFF, side, end)
        return np.asarray(happen & surrounded)

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
        of_body = known_intervals.figures_of(self.known, len(self.row)).T
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
        trunk = single_support.sees_trunk(self.kinematics) and bool(self.kinetics.attrs.get("residual_with_trunk", 0))
        return single_support.judged(self.told, self.mass_kg, trunk=trunk)

    def acceptance(self, i: int) -> Row:
        """Return the correction that accepts a stance."""
        return acceptance_of(self.contacts, i, self.corrections)

    def hides(self, i: int) -> bool:
        """Return whether moments of the ankle are unknown somewhere in a stance."""
        return bool(self.missing[i].any())


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
