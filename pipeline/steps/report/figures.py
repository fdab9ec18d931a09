"""Figures of the report: the panels, and the mean curve and spread in each.

Colours are in templates/report.css, the line style of each condition in :data:`DASHES`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypedDict

import numpy as np
import xarray as xr

from ...conventions import FROM_HIP, SIDES
from ...results.averages import Array, Text, average
from ...results.cycle_variables import STANCE, STANCE_CURVES
from ...results.schema import VARIABLES
from ...signals.time_normalisation import PHASE
from ...tables.reference_curves import Key, Reference, key_of
from .json_numbers import select, shortened

UNITS = {
    "degree": "deg",
    "percent": "%",
    "min-1": "steps/min",
    "m s-1": "m/s",
    "N kg-1": "N/kg",
    "N m kg-1": "N m/kg",
    "W kg-1": "W/kg",
    "J kg-1": "J/kg",
    "N m s kg-1": "N m s/kg",
    "1": "",
}  # of CF, as the report writes them


def plain_unit(cf: str) -> str:
    """Return a CF unit as the report writes it."""
    return UNITS.get(cf, cf)


class Panel(NamedTuple):
    """A panel: a component of a variable and the meaning of its sign."""

    group: str
    title: str
    variable: str
    component: dict[str, str]
    sign: str


ANGLE_PANELS = {
    ("pelvis", "flexion"): ("Pelvic tilt", "posterior < 0 < anterior"),
    ("pelvis", "adduction"): ("Pelvic obliquity", "side down < 0 < side up"),
    ("pelvis", "rotation"): ("Pelvic rotation", "side back < 0 < forward"),
    ("hip", "flexion"): ("Hip flexion", "extension < 0 < flexion"),
    ("hip", "adduction"): ("Hip adduction", "abduction < 0 < adduction"),
    ("hip", "rotation"): ("Hip rotation", "external < 0 < internal"),
    ("knee", "flexion"): ("Knee flexion", "extension < 0 < flexion"),
    ("knee", "adduction"): ("Knee adduction", "valgus < 0 < varus"),
    ("knee", "rotation"): ("Knee rotation", "external < 0 < internal"),
    ("ankle", "flexion"): ("Ankle dorsiflexion", "plantar < 0 < dorsal"),
    ("ankle", "adduction"): ("Ankle inversion", "eversion < 0 < inversion"),
}
MOMENT_SIGNS = {
    ("hip", "flexion"): "extensor < 0 < flexor",
    ("hip", "adduction"): "abductor < 0 < adductor",
    ("hip", "rotation"): "external < 0 < internal",
    ("knee", "flexion"): "extensor < 0 < flexor",
    ("knee", "adduction"): "abductor < 0 < adductor",
    ("knee", "rotation"): "external < 0 < internal",
    ("ankle", "flexion"): "plantar < 0 < dorsal",
    ("ankle", "adduction"): "evertor < 0 < invertor",
    ("ankle", "rotation"): "external < 0 < internal",
}
FORCE_PANELS = {
    "x": ("Fore-aft force", "braking < 0 < propulsion"),
    "y": ("Vertical force", "downward < 0 < upward"),
    "z": ("Lateral force", "to the left < 0 < right"),
}


def _panels() -> Iterator[Panel]:
    group = "Angles"
    for (joint, angle), (title, sign) in ANGLE_PANELS.items():
        if joint == "pelvis":
            yield Panel(group, title, "pelvis_angle", {"angle": angle}, sign)
        else:
            yield Panel(group, title, "joint_angle", {"joint": joint, "angle": angle}, sign)
    yield Panel(group, "Foot progression", "foot_progression", {}, "toes out < 0 < toes in")
    for (joint, angle), sign in MOMENT_SIGNS.items():
        title = f"{joint.capitalize()} {angle} moment"
        yield Panel("Internal moments", title, "joint_moment_jcs", {"joint": joint, "angle": angle}, sign)
    for joint in FROM_HIP:
        sign = "absorption < 0 < generation"
        yield Panel("Powers", f"{joint.capitalize()} power", "joint_power", {"joint": joint}, sign)
    for axis, (title, sign) in FORCE_PANELS.items():
        yield Panel("Ground reaction force", title, "ground_force", {"axis": axis}, sign)


PANELS = tuple(_panels())

# line styles of the conditions, as SVG dashes
DASHES = ("", "8px,4px", "2px,3px", "9px,3px,2px,3px", "14px,4px", "14px,3px,2px,3px,2px,3px")
BANDS = {"joint_moment_jcs": "joint_moment_band", "joint_power": "joint_power_band"}


class Cycles(NamedTuple):
    """Curves (cycle, panel, phase), foot off (cycle,) in percent, labels (cycle,); of stances, over stance.

    Band: if errors were drawn, their lower and upper percentile (cycle, panel, 2, phase), only of moments and powers.
    """

    curve: Array
    foot_off: Array
    participant: Text
    condition: Text
    side: Text
    band: Array | None
    over: str = "gait cycle"

    def of(self, participant: str) -> Cycles:
        """Return one participant's cycles."""
        mine = self.participant == participant
        parts = {name: values[mine] for name, values in self._asdict().items() if isinstance(values, np.ndarray)}
        return self._replace(**parts)


class Curve(TypedDict):
    """Mean and standard deviation along the phase; n is the largest number averaged.

    Unknown values are None. Band: the mean lower and upper percentile of the errors.
    """

    side: str
    condition: str
    dash: str
    n: int
    foot_off: float | None
    mean: list[float | None]
    sd: list[float | None]
    band: list[list[float | None]] | None


class Band(TypedDict):
    """Mean and standard deviation of the reference, None outside its range."""

    mean: list[float | None]
    sd: list[float | None]


class Figure(TypedDict):
    """A panel with its curves and the reference, ready for JSON."""

    group: str
    title: str
    unit: str
    sign: str
    over: str
    curves: list[Curve]
    reference: Band | None


def cycles_of(study: xr.Dataset) -> Cycles:
    """Return the cycles of a study for the figures."""
    curves = [select(study, panel.variable, "cycle", "phase", **panel.component) for panel in PANELS]
    participant, condition, side = (
        select(study, name, "cycle").astype(str) for name in ("participant", "condition", "side")
    )
    foot_off = select(study, "stance_share", "cycle").astype(float)
    return Cycles(np.stack(curves, axis=1).astype(float), foot_off, participant, condition, side, _bands(study))


def stances_of(study: xr.Dataset) -> Cycles:
    """Return the whole stances of a study for the figures; panels without curves over stance are NaN."""
    curve = np.full((study.sizes.get("stance", 0), len(PANELS), len(PHASE)), np.nan)
    for i, panel in enumerate(PANELS):
        if f"{panel.variable}{STANCE}" in STANCE_CURVES:
            curve[:, i] = select(study, f"{panel.variable}{STANCE}", "stance", "stance_phase", **panel.component)
    participant, condition, side = (
        select(study, f"{name}{STANCE}", "stance").astype(str) for name in ("participant", "condition", "side")
    )
    return Cycles(curve, np.full(len(curve), np.nan), participant, condition, side, None, "stance")


def _bands(study: xr.Dataset) -> Array | None:
    if "joint_moment_band" not in study:
        return None
    result = np.full((study.sizes["cycle"], len(PANELS), 2, len(PHASE)), np.nan)
    for i, panel in enumerate(PANELS):
        if panel.variable in BANDS:
            band = select(study, BANDS[panel.variable], "cycle", "percentile", "phase", **panel.component)
            result[:, i] = band[:, [0, -1]]
    return result


def dash_styles(conditions: list[str]) -> dict[str, str]:
    """Return the line style of each condition; empty for a solid line."""
    return {name: DASHES[i % len(DASHES)] for i, name in enumerate(conditions)}


def figures(
    cycles: Cycles, *, dashes: Mapping[str, str], reference: Mapping[Key, Reference], over_participants: bool
) -> list[Figure]:
    """Average the cycles per side and condition.

    Args:
        cycles: the cycles to average, of a study or of one participant.
        dashes: line style of each condition, in order.
        reference: reference curves.
        over_participants: whether to average the participants' means instead of the cycles.

    Returns:
        One figure per panel, without curves that have no known sample.
    """
    result = [
        Figure(
            group=p.group,
            title=p.title,
            unit=plain_unit(VARIABLES["study"][p.variable].units),
            sign=p.sign,
            over=cycles.over,
            curves=[],
            reference=_band(reference.get(key_of(p.variable, p.component))),
        )
        for p in PANELS
    ]
    for condition, dash in dashes.items():
        for side in SIDES:
            mine = (cycles.condition == condition) & (cycles.side == side)
            people = cycles.participant[mine] if over_participants else None
            mean, sd, n = average(cycles.curve[mine], people)
            off = average(cycles.foot_off[mine], people).mean
            means, sds = shortened(mean), shortened(sd)
            bands = [None] * len(result)
            if cycles.band is not None:
                band = average(cycles.band[mine], people)
                bands = [shortened(part) if n.any() else None for part, n in zip(band.mean, band.n, strict=True)]
            for i, figure in enumerate(result):
                if n[i].any():
                    count = int(n[i].max())
                    curve = Curve(
                        side=side, condition=condition, dash=dash, n=count, foot_off=shortened(off),
                        mean=means[i], sd=sds[i], band=bands[i],
                    )  # fmt: skip
                    figure["curves"].append(curve)
    return result


def _band(curve: Reference | None) -> Band | None:
    if curve is None:
        return None
    mean, sd = (np.interp(PHASE, curve.phase, values, left=np.nan, right=np.nan) for values in (curve.mean, curve.sd))
    return Band(mean=shortened(mean), sd=shortened(sd))


def spoken(figure: Figure) -> str:
    """Return a figure in words, for screen readers."""
    text = f"{figure['title']} over the {figure['over']}, {figure['unit']}, {figure['sign']}."
    for curve in figure["curves"]:
        known = [(value, phase) for phase, value in enumerate(curve["mean"]) if value is not None]
        (low, at_low), (high, at_high) = min(known), max(known)
        text += f" {curve['side']}, {curve['condition']}:"
        text += f" from {low:.3g} at {at_low} % to {high:.3g} at {at_high} %."
    return text
