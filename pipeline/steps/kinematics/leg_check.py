"""Legs that no person has: refused in a stretch, or in all of a trial, with the reason."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...arrays import Array, Flags
from ...body.landmarks import Points
from ...body.plausibility import REMEDY_IN_MOTION, implausible, knee_axis_error, measures, reason_of, reason_of_axis
from ...body.skeleton import Skeleton
from ...conventions import SIDES
from ...errors import Problem
from ...signals.filters import interval_s, stretches
from ...variables.verdict_table import LEG_REFUSED

# of the calibration
USED = ("segment", "landmark", "landmark_2", "joint_distance", "static_distance", "leg_refused")
# two standard deviations of the knee's rotation between people, degrees: a knee axis is refused from 25 on, where a
# shank that is turned, too, is 25 from this one
LARGEST_TORSION_DEG = 15.0
SHORTEST_S = 0.1  # of a stretch that is refused: shorter ones are artefacts of single markers


class Verdicts(NamedTuple):
    """Verdicts on both legs in some trials."""

    # (time, side), of :func:`pipeline.body.plausibility.implausible`, 0 in stretches that are too short
    implausible: NDArray[np.int8]
    leg_refused: NDArray[np.str_]  # (trial, side), why the leg is refused in all of the trial; empty if it is not
    knee_refused: NDArray[np.str_]  # the same of the knee alone, of which the axis is turned
    # knee_axis_error, knee_axis_in_step: (trial, side), of :func:`pipeline.body.plausibility.knee_axis_error`
    knee_axis_error: Array
    knee_axis_in_step: Array

    def hide(self, side: int, spans: Sequence[slice]) -> Flags:
        """Return (time,) whether nothing of a side is shown."""
        mask = self.implausible[:, side] > 0
        for span, reason in zip(spans, self.leg_refused[:, side].tolist(), strict=True):
            mask[span] |= bool(reason)
        return mask

    def refused(self, names: Sequence[str]) -> dict[str, Problem]:
        """Return the problems of the trials of which neither leg can be used, by name."""
        reasons = zip(names, self.leg_refused.tolist(), strict=True)
        return {name: Problem("", "; ".join(both), "", "leg_implausible") for name, both in reasons if all(both)}


class Leg(NamedTuple):
    """What a trial shows of a leg: all that its judges know."""

    side: str
    measured: Mapping[str, Array]  # (time,) by name, of :func:`pipeline.body.plausibility.measures`
    implausible: NDArray[np.int8]  # (time,), 0 where no measure is out of its limits
    # turn_deg, in_step: of the knee's axis, :func:`pipeline.body.plausibility.knee_axis_error`
    turn_deg: float
    in_step: float

    @property
    def shank_is_turned(self) -> bool:
        """Whether the shank is turned with the thigh, by the knee's rotation; its ankle is wrong, then, too.

        A thigh that is turned alone is rotated against the shank by as much as the knee's axis is turned.
        """
        rotation_deg = abs(float(np.nanmedian(self.measured["knee rotation"])))
        return not abs(rotation_deg - abs(self.turn_deg)) <= LARGEST_TORSION_DEG  # true if unknown


def refuse_often(leg: Leg) -> str:
    """Return the reason to refuse a leg of which a measure is often out of its limits."""
    return reason_of(leg.measured, leg.side) if leg.implausible.any() else ""


def refuse_turned_leg(leg: Leg) -> str:
    """Return the reason to refuse a leg of which the knee's axis and the shank are turned."""
    reason = reason_of_axis(leg.turn_deg, leg.in_step, leg.side)
    return reason if reason and leg.shank_is_turned else ""


def refuse_turned_knee(leg: Leg) -> str:
    """Return the reason to refuse the knee alone, of which the axis is turned about the thigh.

    That gives another knee, and turns the thigh about its long axis. Foot, shank, both ends of the thigh and the ground
    force stay where they are: so ankle and hip are kept.
    """
    reason = reason_of_axis(leg.turn_deg, leg.in_step, leg.side)
    return reason if reason and not leg.shank_is_turned else ""


class Judge(NamedTuple):
    """A judge of a leg in a whole trial: the codes of its stances, and of a trial without another leg; the reason."""

    codes: tuple[str, ...]
    judge: Callable[[Leg], str]


LEG_JUDGES = (  # the first reason counts
    Judge((LEG_REFUSED, "leg_implausible"), refuse_often),
    Judge((LEG_REFUSED, "leg_implausible"), refuse_turned_leg),
)


def judge_legs(
    points: Points, legs: Mapping[str, Skeleton], calibrate: xr.Dataset, time: Array, spans: Sequence[slice]
) -> Verdicts:
    """Return the verdicts on both legs.

    Args:
        points: landmarks (time, 3), m.
        time: (time,), s.
        spans: instants of each trial.
    """
    static = {name: calibrate.variables[name].values.tolist() for name in USED}
    pairs = [(one, other) for one in static["landmark"] for other in static["landmark_2"]]
    distances = dict(zip(pairs, itertools.chain(*static["static_distance"]), strict=True))
    flags = np.zeros((len(time), len(SIDES)), dtype=np.int8)
    refused, knees = [[*static["leg_refused"]] for _ in spans], [[""] * len(SIDES) for _ in spans]
    axis = np.full((2, len(spans), len(SIDES)), np.nan)
    for column, side in enumerate(SIDES):
        if static["leg_refused"][column]:
            continue
        lengths = dict(zip(static["segment"], static["joint_distance"][column], strict=True))
        measured = measures(points, legs[side], side, lengths, distances)
        flags[:, column] = implausible(measured)
        for row, span in enumerate(spans):
            part = {name: values[span] for name, values in measured.items()}
            axis[:, row, column] = knee_axis_error(part)
            leg = Leg(side, part, flags[span, column], *axis[:, row, column].tolist())
            reason = next(filter(None, (one.judge(leg) for one in LEG_JUDGES)), "")
            refused[row][column] = f"{reason}; {REMEDY_IN_MOTION}" if reason else ""
            knees[row][column] = refuse_turned_knee(leg)
            for start, stop in stretches(flags[span, column] > 0):
                if (stop - start) * interval_s(time[span]) < SHORTEST_S:  # too short to be refused
                    flags[span, column][start:stop] = 0
    return Verdicts(flags, np.array(refused, dtype=str), np.array(knees, dtype=str), *axis)
