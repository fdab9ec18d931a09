"""How often bands and standard uncertainties hold, in copies of generated walks with errors of the stated sizes.

``python -m tests.campaigns.error_bands [COPIES [WALKS [DRAWS]]]`` prints the table of docs/validation.md.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from pipeline.conventions import ANGLES, JOINTS
from pipeline.uncertainty import spread
from pipeline.variables.metrics import WITH_ERRORS
from tests.support.studies.noisy_copies import SIZES, Array, generated, held, perturbed

SEED = 4000


def campaign(
    copies: int, walks: int, draws: int, *, injected: Mapping[str, float] = SIZES, seed: int = SEED
) -> pd.DataFrame:
    """Return the share of instants, or of cycles, that each band holds (copy, quantity)."""
    rows = []
    each = -(-copies // walks)
    for number in range(walks):
        with tempfile.TemporaryDirectory() as folder:
            trial = generated(Path(folder), seed + number)
        exact = trial.results()
        base, truth = exact["kinematics"], exact["cycles"]
        base.attrs["stride_s"] = float(np.median(truth.end_time - truth.start_time))
        for i in range(min(each, copies - number * each)):
            rng = np.random.default_rng([seed, number, i])
            found = perturbed(trial, base, injected, rng).results(draws=draws, seed=f"{seed} {number} {i}")
            rows.append(_row(held(found, truth)))
    return pd.DataFrame(rows)


def _row(inside: Mapping[str, Array]) -> dict[str, float]:
    row: dict[str, float] = {}
    for name, variable in (("angle", "joint_angle"), ("moment", "joint_moment_jcs")):
        values = _mean(inside[variable], (0, 3))
        row |= {f"{name}: {j} {a}": float(values[m, n]) for m, j in enumerate(JOINTS) for n, a in enumerate(ANGLES)}
    values = _mean(inside["joint_power"], (0, 2))
    row |= {f"power: {joint}": float(values[m]) for m, joint in enumerate(JOINTS)}
    return row | {f"metric: {name}": float(_mean(inside[name], (0,))) for name in WITH_ERRORS}


def _mean(values: Array, axis: tuple[int, ...]) -> Array:
    known = np.isfinite(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0).sum(axis=axis) / known.sum(axis=axis))


def pooled(table: pd.DataFrame) -> pd.Series:
    """Return the mean over the copies of each quantity, percent."""
    return 100 * table.mean()


def main(copies: int, walks: int, draws: int) -> None:
    spread.SHARE_DRAWS = 2  # nobody looks at the shares
    table = campaign(copies, walks, draws)
    shares = pooled(table)
    for kind in ("angle", "moment", "power", "metric"):
        mine = shares[shares.index.str.startswith(f"{kind}: ")].dropna()
        outside = ", ".join(f"{name} {value:.1f}" for name, value in mine[(mine < 90) | (mine > 99)].items())
        least, most = (
            f"{value:.1f} {name}" for name, value in ((mine.idxmin(), mine.min()), (mine.idxmax(), mine.max()))
        )
        print(f"| {kind} | {mine.mean():.1f} | {least} | {most} | {outside} |")  # noqa: T201
    print(shares.round(1).to_string())  # noqa: T201


if __name__ == "__main__":
    main(*(int(text) for text in sys.argv[1:]) if len(sys.argv) > 3 else (1000, 50, 100))
