"""The figures of the report: which there are, and the mean curve and its spread that each one shows."""

from __future__ import annotations

import math
from typing import NamedTuple, TypedDict

import numpy as np
import xarray as xr

from pipeline.averages import Array, Text, average
from pipeline.vocabulary import VARIABLES

SIDES = ("left", "right")
DASHES = ("", "8px,4px", "2px,3px", "9px,3px,2px,3px", "14px,4px", "14px,3px,2px,3px,2px,3px")
UNITS = {
    "degree": "deg",
    "percent": "%",
    "min-1": "steps/min",
    "m s-1": "m/s",
    "N kg-1": "N/kg",
    "N m kg-1": "N m/kg",
    "W kg-1": "W/kg",
}


class Panel(NamedTuple):
    """What a figure shows: a component of a variable of the study, and what its sign means."""

    group: str
    title: str
    variable: str
    component: dict[str, str]
    sign: str


def _angle(joint: str, sign: str) -> Panel:
    component = {"joint": joint, "angle": "flexion"}
    return Panel("Joint angles", f"{joint.capitalize()} flexion angle", "joint_angle", component, sign)


def _moment(joint: str, angle: str, sign: str) -> Panel:
    component = {"joint": joint, "angle": angle}
    return Panel("Internal joint moments", f"{joint.capitalize()} {angle} moment", "joint_moment_jcs", component, sign)


def _power(joint: str) -> Panel:
    sign = "absorption < 0 < generation"
    return Panel("Joint powers", f"{joint.capitalize()} power", "joint_power", {"joint": joint}, sign)


def _force(title: str, axis: str, sign: str) -> Panel:
    return Panel("Ground reaction force", title, "ground_force", {"axis": axis}, sign)


PANELS = (
    _angle("ankle", "plantarflexion < 0 < dorsiflexion"),
    _angle("knee", "extension < 0 < flexion"),
    _angle("hip", "extension < 0 < flexion"),
    _moment("ankle", "flexion", "plantarflexor < 0 < dorsiflexor"),
    _moment("knee", "flexion", "extensor < 0 < flexor"),
    _moment("hip", "flexion", "extensor < 0 < flexor"),
    _moment("knee", "adduction", "abductor < 0 < adductor"),
    _moment("hip", "adduction", "abductor < 0 < adductor"),
    _power("ankle"),
    _power("knee"),
    _power("hip"),
    _force("Vertical force", "y", "downward < 0 < upward"),
    _force("Fore-aft force", "x", "braking < 0 < propulsion"),
)


class Cycles(NamedTuple):
    """Curves (cycle, panel, phase), end of stance (cycle,) in percent, and whose cycles they are (cycle,)."""

    curve: Array
    foot_off: Array
    participant: Text
    condition: Text
    side: Text

    def of(self, participant: str) -> Cycles:
        """Return one participant's cycles."""
        mine = self.participant == participant
        return Cycles(*(values[mine] for values in self))


class Curve(TypedDict):
    """Mean and standard deviation along the phase; None where unknown. n counts cycles or participants.

    Where some lack samples, n is the largest along the phase.
    """

    side: str
    condition: str
    dash: str
    n: int
    foot_off: float | None
    mean: list[float | None]
    sd: list[float | None]


class Figure(TypedDict):
    """A panel with its curves, ready for JSON."""

    group: str
    title: str
    unit: str
    sign: str
    curves: list[Curve]


def cycles_of(study: xr.Dataset) -> Cycles:
    """Take from a study what the figures show."""
    curves = [study[panel.variable].sel(panel.component).transpose("cycle", "phase").values for panel in PANELS]
    about = (study[name].values.astype(str) for name in ("participant", "condition", "side"))
    return Cycles(np.stack(curves, axis=1).astype(float), study.stance_share.values.astype(float), *about)


def dash_styles(conditions: list[str]) -> dict[str, str]:
    """Return the dashes of each condition's lines, as SVG writes them; empty for a solid line."""
    return {name: DASHES[i % len(DASHES)] for i, name in enumerate(conditions)}


def figures(cycles: Cycles, *, dashes: dict[str, str], over_participants: bool) -> list[Figure]:
    """Average the cycles per side and condition.

    Args:
        cycles: the cycles to average, of a study or of one participant.
        dashes: the study's conditions in their order, each with its dash style.
        over_participants: whether to average the participants' means instead of the cycles.

    Returns:
        One figure per panel; a curve without a single known sample is left out of it.
    """
    result = [
        Figure(
            group=p.group,
            title=p.title,
            unit=UNITS[VARIABLES["study"][p.variable].units],
            sign=p.sign,
            curves=[],
        )
        for p in PANELS
    ]
    for condition, dash in dashes.items():
        for side in SIDES:
            mine = (cycles.condition == condition) & (cycles.side == side)
            people = cycles.participant[mine]
            curve = average(cycles.curve[mine], people, over_participants=over_participants)
            foot_off = average(cycles.foot_off[mine], people, over_participants=over_participants)
            for figure, mean, sd, n in zip(result, *curve, strict=True):
                if n.any():
                    figure["curves"].append(
                        Curve(
                            side=side,
                            condition=condition,
                            dash=dash,
                            n=int(n.max()),
                            foot_off=_rounded(foot_off.mean[None])[0],
                            mean=_rounded(mean),
                            sd=_rounded(sd),
                        )
                    )
    return result


def spoken(figure: Figure) -> str:
    """Return a figure in words, for those who do not see it."""
    text = f"{figure['title']} over the gait cycle, {figure['unit']}, {figure['sign']}."
    for curve in figure["curves"]:
        known = [(value, phase) for phase, value in enumerate(curve["mean"]) if value is not None]
        (low, at_low), (high, at_high) = min(known), max(known)
        text += f" {curve['side']}, {curve['condition']}:"
        text += f" from {low:.3g} at {at_low} % to {high:.3g} at {at_high} %."
    return text


def _rounded(values: Array) -> list[float | None]:
    """Return values to four significant digits, for a page of sane size; None where unknown."""
    return [float(f"{value:.4g}") if math.isfinite(value) else None for value in values.tolist()]
