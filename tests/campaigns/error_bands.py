"""How often bands and standard uncertainties hold, in copies of generated walks with errors of the stated sizes.

``python -m tests.campaigns error_bands`` prints the table of docs/validation.md.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import xarray as xr

from pipeline.body.body_model import BodyModel
from pipeline.body.segment_poses import turn_about_y
from pipeline.body.static_results import parse_results
from pipeline.conventions import ANGLES, JOINTS, SIDE_SIGN, SIDES
from pipeline.errors import UserError
from pipeline.results.averages import standard_uncertainty
from pipeline.results.metric_errors import USUALLY_HELD
from pipeline.uncertainty import spread
from pipeline.variables.metrics import WITH_ERRORS
from pipeline.workflow import settings
from pipeline.workflow.strict_yaml import read_yaml
from tests.campaigns.runner import Report
from tests.support.settings import settings_of
from tests.support.steps import cycles, kinematics, kinetics
from tests.support.studies.noisy_copies import METHODS, SIZES, Array, Generated, compared, generated, perturbed
from tests.support.studies.run_steps import run_study

SEED = 4000
SHORT = {"copies": 2, "walks": 1, "draws": 10, "methods": ("segments",)}
# by kind, the variable of a curve and the axes over which it is averaged: cycles and phases
KINDS = {"angle": ("joint_angle", (0, 3)), "moment": ("joint_moment_jcs", (0, 3)), "power": ("joint_power", (0, 2))}
RIGID: dict[str, Any] = {"kinematics": {"method": "segments"}}  # each segment follows its own markers
KAM1 = "peak_knee_abductor_moment_first"


def campaign(
    copies: int, walks: int, draws: int, method: str, *, injected: Mapping[str, float] = SIZES,
    stated: Mapping[str, float] = SIZES, seed: int = SEED,
) -> pd.DataFrame:  # fmt: skip
    """Return of each copy and quantity the share of instants, or of cycles, that the band holds, and mean squares.

    The mean squares are those of the error and of its stated standard deviation.

    Args:
        injected, stated: sizes of the errors in the copies, and of those that are drawn.
    """
    rows = []
    each = -(-copies // walks)
    for number in range(walks):
        exact, truth = exact_walk(seed + number), exact_cycles(seed + number, method)
        for i in range(min(each, copies - number * each)):
            copy = perturbed(exact, injected, np.random.default_rng([seed, number, i]))
            found = copy.results(method, draws=draws, seed=f"{seed} {number} {i}", sizes=stated)
            rows += [{"copy": (number, i), **row} for row in _rows(compared(found, truth))]
    return pd.DataFrame(rows)


FOLDER = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # of the walks that are kept for further campaigns


@lru_cache(maxsize=10)
def exact_walk(number: int) -> Generated:
    return generated(Path(FOLDER.name) / str(number), number)


@lru_cache(maxsize=10)
def exact_cycles(number: int, method: str) -> xr.Dataset:
    return exact_walk(number).results(method)["cycles"]


def _rows(found: Mapping[str, tuple[Array, Array, Array]]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for kind, (variable, over) in KINDS.items():
        inside, off, spread = (_mean(part, over) for part in _squared(found[variable]))
        for place in np.ndindex(inside.shape):
            name = " ".join(names[k] for names, k in zip((JOINTS, ANGLES), place, strict=False))
            numbers = {"held": inside[place], "error2": off[place], "stated2": spread[place]}
            rows.append({"kind": kind, "quantity": name, **numbers})
    for name in WITH_ERRORS:
        held, error2, stated2 = (float(_mean(part, (0,))) for part in _squared(found[name]))
        rows.append({"kind": "metric", "quantity": name, "held": held, "error2": error2, "stated2": stated2})
    return rows


def _squared(parts: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    inside, off, spread = parts
    return inside, off**2, spread**2


def _mean(values: Array, axis: tuple[int, ...]) -> Array:
    known = np.isfinite(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0).sum(axis=axis) / known.sum(axis=axis))


def pooled(table: pd.DataFrame) -> pd.DataFrame:
    """Return by kind and quantity the percentage held, and the ratio of true over stated error, over all copies."""
    mean = table.groupby(["kind", "quantity"])[["held", "error2", "stated2"]].mean()
    ratio = np.sqrt(mean.error2 / mean.stated2)
    return pd.DataFrame({"held": 100 * mean.held, "true over stated": ratio})


@dataclass(frozen=True)
class Recorded:
    """A walk of the step ``clean``, its contacts and calibration, and the body model."""

    clean: xr.Dataset
    contacts: xr.Dataset
    calibration: xr.Dataset
    model: BodyModel
    chosen: Mapping[str, Any]  # settings

    def results(self, *, draws: int = 0, seed: str = "") -> dict[str, xr.Dataset]:
        """Return the results of the steps from kinematics to cycles."""
        own = {step: dict(self.chosen[step]) for step in ("kinematics", "kinetics", "cycles")}
        own["kinetics"] |= {"uncertainty_draws": draws}
        of = {step: settings_of(step, **values) for step, values in own.items()}
        moved = kinematics(self.clean, self.calibration, body_model=self.model, settings=of["kinematics"])
        moved.attrs["source_sha256"] = seed
        loaded = kinetics(moved, self.contacts, self.calibration, settings=of["kinetics"])
        cut = cycles(loaded, moved, self.contacts, self.clean, self.calibration, settings=of["cycles"])
        return {"kinematics": moved, "kinetics": loaded, "cycles": cut}


def turned(study: Path, degrees: float, draws: int) -> pd.DataFrame:
    """Return KAM1 of each cycle of a study, its standard uncertainty, and its change by turned knee axes, N m/kg.

    Both knee axes are turned inwards about the thighs, and a joint centre on a chord with its axis; in walks of Plug-in
    Gait that state their static results, these. A walk is left out if the turned axis is refused.
    """
    chosen, model = settings.load_settings(
        settings.merged(read_yaml(study / "study.yaml"), RIGID), where="study.yaml", study_path=study
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


def main(
    report: Report, *, copies: int = 1000, walks: int = 50, draws: int = 100, methods: tuple[str, ...] = METHODS
) -> None:
    """Report how often bands hold the truth, by method and kind, then each quantity, and metrics that are unusual."""
    for method in methods:
        with patch.object(spread, "SHARE_DRAWS", 2):  # nobody looks at the shares
            found = pooled(campaign(copies, walks, draws, method)).dropna()
        report.table("method", "kind", "held, %", "least", "most", "true over stated")
        for kind in (*KINDS, "metric"):
            mine = found.loc[kind]
            ordered = mine.held.sort_values()
            ends = [f"{ordered.iloc[i]:.1f} {ordered.index[i]}" for i in (0, -1)]
            report.row(method, kind, f"{mine.held.mean():.1f}", *ends, f"{mine['true over stated'].median():.2f}")
        report.text(found.round(2).to_string())
        held = found.loc["metric"].held.round(1)
        report.text(f"{method} {held[(held < USUALLY_HELD[0]) | (held > USUALLY_HELD[1])].to_dict()}")
