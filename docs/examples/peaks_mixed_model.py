"""Compare a peak between two conditions by a mixed model of every cycle.

How much larger is the push-off moment of the ankle in fast walking? Each cycle is a row. The model has the effect of
the condition, the level of each person (random intercept), the response of each person (random slope), and the
variation between cycles.

1. Without the random slope, the cycles of a person would count as independent samples of the response, and the interval
   would be too narrow (Barr et al. 2013).
2. Unequal counts are no problem: a person with many cycles is known better, and gets only the additional weight that
   this justifies. A person with only one condition still contributes.
3. The response varies between people, so its uncertainty is that of a mean of that many people: p and interval use t
   with one degree of freedom less than people, not the normal distribution that is printed by default. If all have
   equally many cycles this is the paired t test on the people's means.

``python docs/examples/peaks_mixed_model.py [output.svg] [STUDY]`` draws the figure, of a simulated study or of yours:

    python docs/examples/peaks_mixed_model.py knee.svg path/to/study --metric KAM1 --conditions barefoot shoes
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import statsmodels.formula.api as smf
import xarray as xr
from matplotlib.figure import Figure
from scipy import stats

from gaitlab import find_metric, load_study
from gaitlab.pipeline.demo.group import group_study
from gaitlab.pipeline.errors import UserError
from gaitlab.pipeline.variables.metrics import METRICS

HOUSE = Path(__file__).resolve().parents[2]

METRIC = "peak_ankle_plantarflexor_moment"


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


def main(
    output: Path, study: xr.Dataset | None = None, *, conditions: Sequence[str] | None = None, metric: str = METRIC
) -> dict[str, Any]:
    """Draw the figure and return the effect, its interval and p, and the spreads.

    Raises:
        UserError: fewer than three people have both conditions; the metric is a phase, which lies on a circle.
    """
    study = group_study() if study is None else study
    first, second = two_conditions(study, conditions)
    if metric.startswith("phase_of_"):
        raise UserError("--metric", f"{metric} is a phase, where 0 and 100 % are the same", "choose another metric")
    rows = study[[metric]].reset_coords()[[metric, "participant", "condition"]].to_dataframe().dropna()
    rows = rows[rows.condition.isin([first, second])]
    rows["second"] = (rows.condition == second).astype(float)
    people = int((rows.groupby("participant").condition.nunique() == 2).sum())
    if people < 3:
        what = f"fewer than 3 participants have {metric} in {first} and {second}"
        raise UserError("--conditions", what, "choose others, or record more people")

    # in units of the standard deviation, which suits the optimiser
    scale = rows[metric].std()
    rows["scaled"] = (rows[metric] - rows[metric].mean()) / scale
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = smf.mixedlm("scaled ~ second", rows, groups="participant", re_formula="~second").fit()
    failed = not fit.converged or any("not positive" in str(each.message) for each in caught)
    remark = "the model did not converge: too few people or cycles for its three spreads; do not use interval and p"
    effect, error = (float(part["second"]) * scale for part in (fit.params, fit.bse))
    reach = stats.t.ppf(0.975, people - 1) * error

    figure = Figure((5, 3.6), layout="constrained")
    panel = figure.subplots()
    for _, means in rows.groupby(["participant", "condition"])[metric].mean().unstack().iterrows():
        panel.plot([0, 1], means[[first, second]], "o-", color="0.7", markersize=3)
    middle = float(fit.params["Intercept"]) * scale + rows[metric].mean()
    panel.plot([0, 1], [middle, middle + effect], color="C0", linewidth=2)
    panel.errorbar(1.1, middle + effect, reach, color="C0", capsize=4, fmt="o")
    panel.set(xticks=[0, 1], xticklabels=[first, second], ylabel=study[metric].attrs["units"])
    panel.set(title=metric.replace("_", " "))
    with mpl.rc_context({"svg.hashsalt": "peaks_mixed_model"}):
        figure.savefig(output, metadata={"Date": None})

    spread = np.sqrt(np.diag(fit.cov_re)) * scale
    return {
        **({"remark": remark} if failed else {}),
        "cycles, and participants with both conditions": (len(rows), people),
        "effect": effect,
        "95 % interval": (effect - reach, effect + reach),
        "p": float(2 * stats.t.sf(abs(effect / error), people - 1)),
        "standard deviation between people, of their response, of cycles": (*spread, np.sqrt(fit.scale) * scale),
    }


def arguments() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = HOUSE / "docs" / "images" / "peaks_mixed_model.svg"
    parser.add_argument("output", nargs="?", type=Path, default=default, help=f"the figure; default: {default}")
    parser.add_argument("study", nargs="?", help="a study's directory, or its study.nc; default: a simulated study")
    parser.add_argument(
        "--metric", default=METRIC, help="name or alias of the metric, such as KAM1; default: %(default)s"
    )
    parser.add_argument("--conditions", nargs=2, metavar="NAME", help="two of the study; default: its two")
    given = parser.parse_args()
    if given.output.is_dir() or given.output.suffix == ".nc":
        parser.error("give the name of the figure first, then the study")
    if not given.study and given.metric != METRIC:
        parser.error("the simulated study has the ankle's flexion moment alone, give a study")
    return given


if __name__ == "__main__":
    given = arguments()
    try:
        own = load_study(given.study) if given.study else None
        metric = find_metric(given.metric)[0]
        found = main(given.output, own, conditions=given.conditions, metric=metric)
    except UserError as error:
        raise SystemExit(f"error: {error}") from None
    print(f"{metric}, {METRICS[metric].units}")  # noqa: T201
    for name, value in found.items():
        numbers = ", ".join(f"{number:.4g}" for number in np.atleast_1d(value)) if name != "remark" else value
        print(f"{name}: {numbers}")  # noqa: T201
