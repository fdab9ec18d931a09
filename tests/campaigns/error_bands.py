"""How often bands and standard uncertainties hold, in copies of generated walks with errors of the stated sizes.

``python -m tests.campaigns.error_bands [COPIES [WALKS [DRAWS]]]`` prints the table of docs/validation.md.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from pipeline.body.segment_poses import turn_about_y
from pipeline.body.static_results import parse_results
from pipeline.conventions import ANGLES, JOINTS, SIDE_SIGN, SIDES
from pipeline.errors import UserError
from pipeline.results.averages import standard_uncertainty
from pipeline.uncertainty import spread
from pipeline.variables.metrics import WITH_ERRORS
from pipeline.workflow import settings
from tests.support.studies.noisy_copies import RIGID, SIZES, Array, Recorded, generated, held, perturbed
from tests.support.studies.run_steps import run_study

SEED = 4000
KAM1 = "peak_knee_abductor_moment_first"


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


def turned(study: Path, degrees: float, draws: int) -> pd.DataFrame:
    """Return KAM1 of each cycle of a study, its standard uncertainty, and its change by turned knee axes, N m/kg.

    Both knee axes are turned inwards about the thighs, and a joint centre on a chord with its axis; in walks of Plug-in
    Gait that state their static results, these. A walk is left out if the turned axis is refused.
    """
    chosen, model = settings.load_settings(
        settings.merged(settings.read_yaml(study / "study.yaml"), RIGID), where="study.yaml", study_path=study
    )
    rows = []
    for name, session in run_study(study, RIGID).items():
        for trial, steps in session.trials.items():
            walk = Recorded(steps["clean"], steps["contacts"], session.calibration, model, chosen)
            stated = {side: each._asdict() for side, each in parse_results(walk.clean.attrs["static_results"]).items()}
            for of_side in stated.values():
                of_side["thigh_rotation"] += np.radians(degrees)
            clean = walk.clean.assign_attrs(static_results=json.dumps(stated) if stated else "")
            other = replace(walk, clean=clean, calibration=with_turned_knees(session.calibration, degrees))
            try:
                found, off = walk.results(draws=draws, seed=trial)["cycles"], other.results()["cycles"]
            except UserError:
                continue
            if found.sizes.get("cycle"):
                rows += _changes(name, trial, found, off)
    return pd.DataFrame(rows).dropna()


def _changes(session: str, trial: str, found: xr.Dataset, off: xr.Dataset) -> list[dict[str, Any]]:
    kam, other = (cut.metric_value.sel(metric=KAM1).values for cut in (found, off))
    spread = standard_uncertainty(found.metric_draw.sel(metric=KAM1).values - kam[:, None])
    share = found.joint_moment_variance_share.sel(joint="knee", angle="adduction").mean(("cycle", "phase"))
    shares = dict(zip(share.error_source.values.tolist(), share.values.tolist(), strict=True))
    return [
        {"session": session, "trial": trial, "kam1": kam[i], "u": spread[i], "change": other[i] - kam[i], **shares}
        for i in range(len(kam))
    ]


def with_turned_knees(calibration: xr.Dataset, degrees: float) -> xr.Dataset:
    """Return a calibration with both knee axes turned inwards about the thighs."""
    model = calibration.copy(deep=True)
    thigh, knee = model.pose.values.tolist().index("thigh"), model.joint.values.tolist().index("knee")
    for i, side in enumerate(SIDES):
        turn = turn_about_y(SIDE_SIGN[side] * np.radians(degrees))
        mine = (model.cluster_side.values == side) & (model.cluster_segment.values == "thigh")
        model.cluster_position.values[mine] = model.cluster_position.values[mine] @ turn.T
        if np.isfinite(model.chord_rotation.values[i, knee]) and not model.joint_carrier.values[i, knee]:
            model.chord_rotation.values[i, knee] += np.radians(degrees)
        elif not mine.any():
            model.technical_rotation.values[i, thigh] = turn @ model.technical_rotation.values[i, thigh]
    return model


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
