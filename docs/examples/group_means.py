"""The mean curve of a group with its 95 % confidence band, by condition.

1. A person is one sample: cycles are averaged by side, sides by person, and the band is over people.
2. The band shows how certain the mean is; it narrows with more people. The standard deviation in the report shows how
   people differ; it does not narrow.
3. The dark band contains the true mean at each single percent with 95 %. Somewhere along the cycle the mean leaves it
   in far more than 5 % of studies. The light band contains the whole curve with 95 %: it is wider by the threshold of
   random field theory (Pataky 2010) over that of t.
4. Overlapping bands are not a test if the same people walked under both conditions; use compare_curves.py.

``python docs/examples/group_means.py [output.svg] [STUDY]`` draws the figure, of a simulated study or of yours:

    python docs/examples/group_means.py knee.svg path/to/study --joint knee
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
import spm1d
import xarray as xr
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

from gaitlab import load_study, mean_curves
from gaitlab.pipeline.demo.group import group_study
from gaitlab.pipeline.errors import UserError
from gaitlab.pipeline.extras.statistics.curve_test import largest_block

HOUSE = Path(__file__).resolve().parents[2]
Array = NDArray[np.float64]

VARIABLE, JOINT, ANGLE = "joint_moment_jcs", "ankle", "flexion"
LEVEL = 0.95


class Band(NamedTuple):
    """Mean ``(phase)``, half widths at each percent and of the whole curve, people."""

    mean: Array
    at_each: Array
    of_all: Array
    people: int


def band(curves: Array) -> Band:
    """Return the band of curves ``(participant, phase)``, one per person."""
    people = curves.shape[0]
    error = curves.std(axis=0, ddof=1) / np.sqrt(people)
    whole = spm1d.stats.ttest(curves).inference(1 - LEVEL, two_tailed=True).zstar
    each = stats.t.ppf((1 + LEVEL) / 2, people - 1)
    return Band(curves.mean(axis=0), each * error, whole * error, people)


def complete(means: xr.DataArray) -> xr.DataArray:
    """Return the people and percents (participant, phase) without a missing sample, as many as there are."""
    kept, samples = largest_block(means.transpose("participant", "phase").notnull().values)
    return means.isel(participant=kept, phase=samples)


def main(
    output: Path,
    study: xr.Dataset | None = None,
    *,
    variable: str = VARIABLE,
    joint: str = JOINT,
    angle: str = ANGLE,
) -> dict[str, Band]:
    """Draw the figure and return the band of each condition with three people or more."""
    study = group_study() if study is None else study
    curve = study[variable].sel(joint=joint, angle=angle)
    means = mean_curves(curve).mean("side")
    people = {str(name): complete(means.sel(condition=name)) for name in means.condition.values}
    bands = {name: band(curves.values) for name, curves in people.items() if curves.sizes["participant"] > 2}

    figure = Figure((5.5, 3.6), layout="constrained")
    panel = figure.subplots()
    for i, (name, (mean, each, whole, count)) in enumerate(bands.items()):
        phase = people[name].phase.values
        panel.plot(phase, mean, color=f"C{i}", label=f"{name}, {count} people")
        for half in (each, whole):
            panel.fill_between(phase, mean - half, mean + half, color=f"C{i}", alpha=0.2, linewidth=0)
    panel.set(title=f"{joint} {angle}", xlabel="% of the gait cycle", ylabel=curve.attrs["units"], xlim=(0, 100))
    if bands:
        panel.legend(fontsize="small")
    with mpl.rc_context({"svg.hashsalt": "group_means"}):
        figure.savefig(output, metadata={"Date": None})
    return bands


def arguments() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = HOUSE / "docs" / "images" / "group_means.svg"
    parser.add_argument("output", nargs="?", type=Path, default=default, help=f"the figure; default: {default}")
    parser.add_argument("study", nargs="?", help="a study's directory, or its study.nc; default: a simulated study")
    parser.add_argument("--variable", default=VARIABLE, choices=["joint_moment_jcs", "joint_angle"], help="the curve")
    parser.add_argument("--joint", default=JOINT, choices=["ankle", "knee", "hip"])
    parser.add_argument("--angle", default=ANGLE, choices=["flexion", "adduction", "rotation"])
    given = parser.parse_args()
    if given.output.is_dir() or given.output.suffix == ".nc":
        parser.error("give the name of the figure first, then the study")
    if not given.study and (given.variable, given.joint, given.angle) != (VARIABLE, JOINT, ANGLE):
        parser.error("the simulated study has the ankle's flexion moment alone, give a study")
    return given


if __name__ == "__main__":
    given = arguments()
    try:
        own = load_study(given.study, kinetics_only=True) if given.study else None
        found = main(given.output, own, variable=given.variable, joint=given.joint, angle=given.angle)
    except UserError as error:
        raise SystemExit(f"error: {error}") from None
    for name, one in found.items():
        widths = f"{one.at_each.max():.3g} at each percent, {one.of_all.max():.3g} for the whole curve"
        print(f"{name}: {one.people} people; largest half width {widths}")  # noqa: T201
    if not found:
        print("no condition has three people or more: no band")  # noqa: T201
