"""Steps as tests call them: on a session, or on one trial over ``time``.

A rejection of that trial is raised as UserError, and so is a correction that is not applied.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import xarray as xr

from pipeline.errors import UserError
from pipeline.steps.clean import step as cleaning
from pipeline.steps.contacts import step as touching
from pipeline.steps.cycles import step as cutting
from pipeline.steps.kinematics import step as moving
from pipeline.steps.kinetics import step as loading
from pipeline.tables.corrections import UNFIT, WHY, in_results, where_of
from pipeline.trials.session import join_trials, one_trial

TRIAL = "walk"
OF_ONE_TRIAL = (
    "corrections",
    "plates_left",
    "plates_right",
    "belt_speed_m_s",
    "hands_bear_weight",
)  # arguments that by_trial gives


def _run(step: Callable[..., xr.Dataset], *inputs: xr.Dataset, **arguments: Any) -> xr.Dataset:
    if any("trial" in data.dims for data in inputs):
        return step(*inputs, **arguments)
    if cells := {name: arguments.pop(name) for name in OF_ONE_TRIAL if name in arguments}:
        arguments["by_trial"] = {TRIAL: cells}
    session = [join_trials({TRIAL: data.assign_attrs(role="gait")}) if "time" in data.dims else data for data in inputs]
    found = step(*session, **arguments)
    for row in in_results([found.attrs])[1]:
        raise UserError(where_of(row), row[WHY], "", UNFIT)
    result = one_trial(found, TRIAL)
    refuse_rejected(result)
    return result


def refuse_rejected(trial: xr.Dataset) -> None:
    """Raise UserError for a trial that is rejected."""
    if "rejected" in trial.attrs:
        raise UserError("", trial.attrs["rejected"], "", trial.attrs["rejected_code"])


clean = partial(_run, cleaning.clean)
contacts = partial(_run, touching.contacts)
kinematics = partial(_run, moving.kinematics)
kinetics = partial(_run, loading.kinetics)
cycles = partial(_run, cutting.cycles)
