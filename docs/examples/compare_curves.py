"""Compare two conditions over the gait cycle by statistical parametric mapping.

Where in the cycle does the ankle moment differ between comfortable and fast walking? A t test at each of 101 percents
finds a difference in far more than 5 % of studies without any. Statistical parametric mapping (Friston et al. 2007; for
gait Pataky 2010) uses as threshold the largest t that curves of this smoothness reach by chance.

1. A person is one sample. Cycles are averaged first, by participant, side and condition: fifteen cycles of one person
   are not fifteen people. Counting them as such gives "effects" in many studies without any.
2. Unequal counts: every person has the same weight, however many cycles were measured. A side counts only if the person
   has it under both conditions, so that the difference is never one between sides. A person without such a side is left
   out. Where people lack samples, the test is of the percents that all have; who lacks most of them is left out.
3. The simulated study of 12 people has a difference between 40 and 60 % only; the test finds it there.
4. Each further curve increases the risk of a false result: for k curves divide ALPHA by k (Bonferroni).

``python docs/examples/compare_curves.py [output.svg] [STUDY]`` draws the figure, of a simulated study or of yours:

    python docs/examples/compare_curves.py knee.svg path/to/study --joint knee --conditions barefoot shoes
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import spm1d
import xarray as xr
from matplotlib.figure import Figure

from gaitlab import load_study, mean_curves
from gaitlab.pipeline.demo.group import group_study
from gaitlab.pipeline.errors import UserError
from gaitlab.pipeline.extras.statistics.curve_test import largest_block

HOUSE = Path(__file__).resolve().parents[2]

VARIABLE, JOINT, ANGLE = "joint_moment_jcs", "ankle", "flexion"
ALPHA = 0.05


def two_conditions(study: xr.Dataset, names: Sequence[str] | None) -> tuple[str, str]:
    """Return the names, or the two conditions of a study in order of its trials.

    Raises:
        UserError: the study has more or fewer than two and none are named, or it lacks one that is named.
    """
    known = [*dict.fromkeys(study.condition.values.tolist())]
    wanted = [*(names or known)]
    if len({*wanted}) != 2 or not {*wanted} <= {*known}:
        what = f"the study's conditions are {', '.join(known)}" + (f", not {' and '.join(wanted)}" if names else "")
        raise UserError("--conditions", what, "name two of them")
    return wanted[0], wanted[1]


def paired(curve: xr.DataArray, conditions: tuple[str, str]) -> xr.DataArray:
    """Return the mean curves ``(condition, participant, phase)`` of people with both.

    Raises:
        UserError: fewer than three people have both, too few for a test.
    """
    there = np.isin(curve.condition, conditions)
    means = mean_curves(curve.isel(cycle=there))
    if set(conditions) <= set(means.condition.values):
        means = means.sel(condition=[*conditions])
        known = means.notnull()
        on_both = known.any("phase").all("condition")
        means = means.where(on_both).mean("side").where((known | ~on_both).all(["side", "condition"]))
        people, samples = largest_block(means.notnull().all("condition").transpose("participant", "phase").values)
        means = means.isel(participant=people, phase=samples)
        if means.sizes["participant"] >= 3:
            return means.transpose("condition", "participant", "phase")
    what = f"fewer than 3 participants walked {' and '.join(conditions)} with valid cycles of one side"
    raise UserError("--conditions", what, "choose others, or record more people")


def main(
    output: Path,
    study: xr.Dataset | None = None,
    *,
    conditions: Sequence[str] | None = None,
    variable: str = VARIABLE,
    joint: str = JOINT,
    angle: str = ANGLE,
) -> dict[str, Any]:
    """Draw the figure and return participants, threshold and clusters above it."""
    study = group_study() if study is None else study
    compared = two_conditions(study, conditions)
    curve = study[variable].sel(joint=joint, angle=angle)
    means = paired(curve, compared)
    before, after = means.values
    test = spm1d.stats.ttest_paired(after, before).inference(ALPHA, two_tailed=True, interp=True)

    phase = means.phase.values
    figure = Figure((9, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for values, name, colour in zip((before, after), compared, ("0.4", "C0"), strict=True):
        left.plot(phase, values.T, color=colour, linewidth=0.5, alpha=0.5)
        left.plot(phase, values.mean(axis=0), color=colour, linewidth=2, label=name)
    left.set(title=f"{joint} {angle}, {before.shape[0]} people", ylabel=curve.attrs["units"])
    left.legend(fontsize="small")
    right.plot(phase, test.z, "k")
    for side in (-1, 1):
        right.axhline(side * test.zstar, color="C3", linestyle="--")
    right.fill_between(
        phase, test.z, np.sign(test.z) * test.zstar, where=np.abs(test.z) > test.zstar, color="C3", alpha=0.3
    )
    right.set(title=f"paired t, threshold for {ALPHA:.0%} of whole curves", ylabel="t")
    for panel in (left, right):
        panel.set(xlabel="% of the gait cycle", xlim=(0, 100))
    with mpl.rc_context({"svg.hashsalt": "compare_curves"}):
        figure.savefig(output, metadata={"Date": None})

    return {
        "participants": means.participant.values,
        "left out": np.setdiff1d(study.participant, means.participant),
        "percents": (float(phase[0]), float(phase[-1])),
        "threshold of t": float(test.zstar),
        "clusters, from % to %, p": [(*map(float, c.endpoints), float(c.P)) for c in test.clusters],
    }


def arguments() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = HOUSE / "docs" / "images" / "compare_curves.svg"
    parser.add_argument("output", nargs="?", type=Path, default=default, help=f"the figure; default: {default}")
    parser.add_argument("study", nargs="?", help="a study's directory, or its study.nc; default: a simulated study")
    parser.add_argument("--variable", default=VARIABLE, choices=["joint_moment_jcs", "joint_angle"], help="the curve")
    parser.add_argument("--joint", default=JOINT, choices=["ankle", "knee", "hip"])
    parser.add_argument("--angle", default=ANGLE, choices=["flexion", "adduction", "rotation"])
    parser.add_argument("--conditions", nargs=2, metavar="NAME", help="two of the study; default: its two")
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
        found = main(
            given.output,
            own,
            conditions=given.conditions,
            variable=given.variable,
            joint=given.joint,
            angle=given.angle,
        )
    except UserError as error:
        raise SystemExit(f"error: {error}") from None
    for name in ("participants", "left out"):
        print(f"{name}: {', '.join(found[name]) or 'none'}")  # noqa: T201
    print("tested from {:.0f} to {:.0f} %".format(*found["percents"]))  # noqa: T201
    print(f"threshold of t: {found['threshold of t']:.3g}")  # noqa: T201
    for start, end, p in found["clusters, from % to %, p"]:
        print(f"difference from {start:.0f} to {end:.0f} %, p {p:.2g}")  # noqa: T201
