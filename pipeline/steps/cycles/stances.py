"""The stances of a trial with their verdicts, whether or not a whole gait cycle follows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, Flags
from ...conventions import SAME_STRIKE_S, SIDES
from ...tables.corrections import UnfitError
from ...variables.cycle_variables import KNEE_AXIS, RESIDUALS, SEEN
from ...variables.stance_verdicts import Verdict, doubt_columns, reason_columns
from ...variables.verdict_table import BY_HAND

Strike = tuple[str, float]  # side, instant in s


@dataclass(frozen=True)
class Stances:
    """Every stance of a trial."""

    # start, end: (stance,), s
    start: Array
    end: Array
    # side, plates: (stance,) text
    side: NDArray[np.str_]
    plates: NDArray[np.str_]
    reason: tuple[Verdict | None, ...]  # of each stance, why its kinetics are not valid; None if they are
    doubts: tuple[tuple[Verdict, ...], ...]  # about each stance; none if it is refused
    used: Flags  # (stance,), whether the kinetics are valid, and not doubted if doubts leave them out
    disagreement: Array  # (stance,), largest difference between the formulations of the trial's joint moments, N m
    forward_closure: Array  # (stance, joint), of the stance's side, degrees
    energy_closure: Array  # (stance, segment), of the stance's side, W
    residual: Array  # (stance, figure), of :data:`pipeline.variables.cycle_variables.RESIDUALS` in their units
    knee_axis: Array  # (stance, figure), of :data:`pipeline.variables.cycle_variables.KNEE_AXIS`, of the stance's side
    seen_percent: Array  # (stance,), share of the stance with known moments of the ankle
    ended: Flags  # (stance,), whether it has a foot strike and a foot off, and the recording goes on beyond both

    @property
    def valid(self) -> Flags:
        """Return which stances have valid kinetics."""
        return np.array([reason is None for reason in self.reason], dtype=bool)

    @property
    def whole(self) -> Flags:
        """Return which stances have both ends and valid kinetics, or at least a ground force that can be used."""
        measured = np.array([one is None or one.leaves_force for one in self.reason], dtype=bool)
        return np.asarray(self.ended & measured)

    @property
    def row(self) -> NDArray[np.intp]:
        """Return the index of each stance's side."""
        return np.asarray(np.searchsorted(SIDES, self.side))

    @classmethod
    def join(cls, trials: Sequence[Stances]) -> Stances:
        """Return the stances of all trials."""
        every: dict[str, Any] = {}
        for field in fields(cls):
            parts = [getattr(one, field.name) for one in trials]
            every[field.name] = tuple(chain(*parts)) if field.name in ("reason", "doubts") else np.concatenate(parts)
        return cls(**every)

    def variables(self) -> dict[str, Any]:
        """Return the variables of cycles.nc along ``stance``."""
        return {
            "stance_whole": ("stance", self.whole),
            "stance_used": ("stance", self.used),
            "stance_start": ("stance", self.start),
            "stance_end": ("stance", self.end),
            SEEN: ("stance", self.seen_percent),
            "stance_disagreement": ("stance", self.disagreement),
            "stance_forward_closure": (("stance", "joint"), self.forward_closure),
            "stance_energy_closure": (("stance", "segment"), self.energy_closure),
            **{f"stance_{name}": ("stance", one) for name, one in zip(RESIDUALS, self.residual.T, strict=True)},
            **{f"stance_{name}": ("stance", one) for name, one in zip(KNEE_AXIS, self.knee_axis.T, strict=True)},
        }

    def coordinates(self) -> dict[str, Any]:
        """Return the text coordinates of cycles.nc along ``stance``."""
        texts = {"side": self.side, "plates": self.plates, **reason_columns(self.reason), **doubt_columns(self.doubts)}
        texts["code"] = texts.pop("reason_code")
        return {f"stance_{name}": ("stance", values) for name, values in texts.items()}

    def from_strike(self, strike: Strike) -> NDArray[np.intp]:
        """Return the numbers of the stances that begin with a foot strike."""
        side, start_s = strike
        return np.flatnonzero((self.side == side) & (np.abs(self.start - start_s) < SAME_STRIKE_S))

    def without_cycle(self, strikes: Sequence[Strike]) -> list[Strike]:
        """Return the strikes of the stances at which none of the given cycles begins."""
        followed = {i for strike in strikes for i in self.from_strike(strike).tolist()}
        every = zip(self.side.tolist(), self.start.tolist(), self.ended.tolist(), strict=True)
        return [(side, start_s) for i, (side, start_s, ended) in enumerate(every) if ended and i not in followed]

    def verdict_of(
        self, strike: Strike, by_hand: Mapping[Strike, Verdict]
    ) -> tuple[bool, Verdict | None, tuple[Verdict, ...]]:
        """Return whether the kinetics of the cycle from a strike are used; why not, and the doubts about them."""
        mine = self.from_strike(strike)
        if strike in by_hand or not mine.size:
            return False, by_hand.get(strike, Verdict.of("no_stance")), ()
        i = int(mine[0])
        return bool(self.used[i]), self.reason[i], self.doubts[i]

    def without(self, refusals: Mapping[Strike, Verdict]) -> Stances:
        """Return the stances with those of the strikes refused."""
        reasons, doubts = [*self.reason], [*self.doubts]
        for strike, reason in refusals.items():
            for i in self.from_strike(strike):
                reasons[i], doubts[i] = reason, ()
        refused = replace(self, reason=tuple(reasons), doubts=tuple(doubts))
        return replace(refused, used=self.used & refused.valid)


def leave_out_by_hand(strikes: Sequence[Strike], rows: Iterable[Mapping[str, str]]) -> dict[Strike, Verdict]:
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
        refusals[side, nearest] = Verdict.of(BY_HAND, reason=row["reason"])
    return refusals
