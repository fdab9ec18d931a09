"""What the step reads, and a trial as it is cut into gait cycles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...arrays import Array, Flags
from ...conventions import LONGEST_SWING_S, SIDES
from ...signals.time_normalisation import PhaseFrames
from ...trials.session import AnyTrial, Trial, trials_of
from ...variables.stance_verdicts import Verdict, doubt_columns, reason_columns
from .stances import Stances, Strike

Walk = TypeVar("Walk", Trial, xr.Dataset)


class Inputs(NamedTuple, Generic[Walk]):
    """The results of earlier steps, of one walk or of all usable walks of a session."""

    kinetics: Walk
    kinematics: Walk
    contacts: Walk
    clean: Walk
    calibrate: xr.Dataset  # of the session

    @property
    def mass_kg(self) -> float:
        """Return the body mass."""
        return float(self.calibrate.attrs["body_mass_kg"])


def inputs_of_walks(session: Inputs[xr.Dataset]) -> dict[str, Inputs[Trial]]:
    """Return the results of each walk by name."""
    kinetics, kinematics, contacts, clean = (trials_of(result) for result in session[:4])
    return {
        name: Inputs(walk, kinematics[name], contacts[name], clean[name], session.calibrate)
        for name, walk in kinetics.items()
    }


def marker_of_feet(clean: AnyTrial, name: str) -> Array:
    """Return the marker ``heel`` or ``toe`` of both feet (sample, side, 3), lab axes, m; NaN if it is in no trial."""
    names, position = clean["marker"].values.tolist(), clean["marker_position"].values
    unseen = np.full((len(position), 3), np.nan)
    wanted = [f"{name}_{side}" for side in SIDES]
    return np.stack([position[:, names.index(one)] if one in names else unseen for one in wanted], axis=1)


class Cycles(NamedTuple):
    """Gait cycles in order of time, all (cycle,): side, strikes and foot off (or NaN), s."""

    side: NDArray[np.str_]
    start_s: Array
    off_s: Array
    end_s: Array

    @classmethod
    def of(cls, contacts: AnyTrial, longest_s: float) -> Cycles:
        """Return the cycles of a trial between successive strikes with at most one foot off."""
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
        times = np.array([one[1:] for one in rows], dtype=float).reshape(-1, 3)
        return cls(np.array([side for side, *_ in rows], dtype=str), *times.T)

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
    # trial, stance_trial: (cycle,), (stance,), index of the trial in a session, 0 in a trial by itself
    trial: NDArray[np.int32]
    stance_trial: NDArray[np.int32]
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
            trial=np.concatenate([walk.trial + np.int32(i) for i, walk in enumerate(walks)]),
            stance_trial=np.concatenate([walk.stance_trial + np.int32(i) for i, walk in enumerate(walks)]),
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

    def leave_out(self, arrays: Iterable[Array]) -> None:
        """Set arrays (cycle, ...) to NaN in the cycles that the user leaves out."""
        for array in arrays:
            array[self.gone] = np.nan

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


def _chain(parts: Sequence[Mapping[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Return arrays of all trials, one after the other, by name."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
