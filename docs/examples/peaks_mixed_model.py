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

``python docs/examples/peaks_mixed_model.py [output.svg] [STUDY]`` draws the figure, of a simulated study or of yours.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import statsmodels.formula.api as smf
import xarray as xr
from matplotlib.figure import Figure
from scipy import stats

from gaitlab import load_study
from gaitlab.pipeline.demo.group import group_study
from gaitlab.pipeline.errors import UserError

HOUSE = Path(__file__).resolve().parents[2]

# change these for your study
METRIC = "peak_ankle_plantarflexor_moment"
CONDITIONS = ("comfortable", "fast")


def main(output: Path, study: xr.Dataset | None = None) -> dict[str, Any]:
    """Draw the figure and return the effect, its interval and p, and the spreads.

    Raises:
        UserError: fewer than three people have both conditions.
    """
    study = group_study() if study is None else study
    rows = study[[METRIC]].reset_coords()[[METRIC, "participant", "condition"]].to_dataframe().dropna()
    rows = rows[rows.condition.isin(CONDITIONS)]
    rows["second"] = (rows.condition == CONDITIONS[1]).astype(float)
    people = int((rows.groupby("participant").condition.nunique() == 2).sum())
    if people < 3:
        what = f"fewer than 3 participants have {METRIC} in {' and '.join(CONDITIONS)}"
        raise UserError("study.nc", what, "choose other CONDITIONS")

    # in units of the standard deviation, which suits the optimiser
    scale = rows[METRIC].std()
    rows["scaled"] = (rows[METRIC] - rows[METRIC].mean()) / scale
    fit = smf.mixedlm("scaled ~ second", rows, groups="participant", re_formula="~second").fit()
    effect, error = (float(part["second"]) * scale for part in (fit.params, fit.bse))
    reach = stats.t.ppf(0.975, people - 1) * error

    figure = Figure((5, 3.6), layout="constrained")
    panel = figure.subplots()
    for _, means in rows.groupby(["participant", "condition"])[METRIC].mean().unstack().iterrows():
        panel.plot([0, 1], means[[*CONDITIONS]], "o-", color="0.7", markersize=3)
    middle = float(fit.params["Intercept"]) * scale + rows[METRIC].mean()
    panel.plot([0, 1], [middle, middle + effect], color="C0", linewidth=2)
    panel.errorbar(1.1, middle + effect, reach, color="C0", capsize=4, fmt="o")
    panel.set(xticks=[0, 1], xticklabels=CONDITIONS, ylabel=study[METRIC].attrs["units"])
    panel.set(title=METRIC.replace("_", " "))
    with mpl.rc_context({"svg.hashsalt": "peaks_mixed_model"}):
        figure.savefig(output, metadata={"Date": None})

    spread = np.sqrt(np.diag(fit.cov_re)) * scale
    return {
        "cycles, and participants with both conditions": (len(rows), people),
        "effect": effect,
        "95 % interval": (effect - reach, effect + reach),
        "p": float(2 * stats.t.sf(abs(effect / error), people - 1)),
        "standard deviation between people, of their response, of cycles": (*spread, np.sqrt(fit.scale) * scale),
    }


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else HOUSE / "docs" / "images" / "peaks_mixed_model.svg"
    own = load_study(sys.argv[2]) if len(sys.argv) > 2 else None
    for name, value in main(target, own).items():
        print(name, value)  # noqa: T201
