"""The mean curve of a group with its 95 % confidence band, by condition.

1. A person is one sample: cycles are averaged by side, sides by person, and the band is over people.
2. The band shows how certain the mean is; it narrows with more people. The standard deviation in the report shows how
   people differ; it does not narrow.
3. The dark band contains the true mean at each single percent with 95 %. Somewhere along the cycle the mean leaves it
   in far more than 5 % of studies. The light band contains the whole curve with 95 %: it is wider by the threshold of
   random field theory (Pataky 2010) over that of t.
4. Overlapping bands are not a test if the same people walked under both conditions; use compare_curves.py.

``python docs/examples/group_means.py [output.svg] [STUDY]`` draws the figure, of a simulated study or of yours.
"""

from __future__ import annotations

import sys
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

HOUSE = Path(__file__).resolve().parents[2]
Array = NDArray[np.float64]

# change these for your study
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


def main(output: Path, study: xr.Dataset | None = None) -> dict[str, Band]:
    """Draw the figure and return the band of each condition with three people or more."""
    study = group_study() if study is None else study
    curve = study[VARIABLE].sel(joint=JOINT, angle=ANGLE)
    means = mean_curves(curve).mean("side")
    people = {str(name): means.sel(condition=name).dropna("participant") for name in means.condition.values}
    bands = {name: band(curves.values) for name, curves in people.items() if curves.sizes["participant"] > 2}

    figure = Figure((5.5, 3.6), layout="constrained")
    panel = figure.subplots()
    phase = means.phase.values
    for i, (name, (mean, each, whole, count)) in enumerate(bands.items()):
        panel.plot(phase, mean, color=f"C{i}", label=f"{name}, {count} people")
        for half in (each, whole):
            panel.fill_between(phase, mean - half, mean + half, color=f"C{i}", alpha=0.2, linewidth=0)
    panel.set(title=f"{JOINT} {ANGLE}", xlabel="% of the gait cycle", ylabel=curve.attrs["units"], xlim=(0, 100))
    if bands:
        panel.legend(fontsize="small")
    with mpl.rc_context({"svg.hashsalt": "group_means"}):
        figure.savefig(output, metadata={"Date": None})
    return bands


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else HOUSE / "docs" / "images" / "group_means.svg"
    own = load_study(sys.argv[2], kinetics_only=True) if len(sys.argv) > 2 else None
    for name, found in main(target, own).items():
        print(name, found.people, "people; largest half width", found.at_each.max(), found.of_all.max())  # noqa: T201
