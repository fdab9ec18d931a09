"""A study of other people as reference: its mean curves as a table, and whether its angles mean the same."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from pipeline.averages import average
from pipeline.errors import UserError
from pipeline.reference_curves import COLUMNS, COMPONENTS

SAME = ("angle_convention", "static_offset")


def table_of(study: xr.Dataset) -> str:
    """Return the table of reference curves, see :mod:`pipeline.reference_curves`, of a study.

    Mean and standard deviation over participants; over cycles where there is one participant.
    """
    person = study.participant.values
    lines = ["\t".join(COLUMNS)]
    for variable, dims in COMPONENTS.items():
        curves = study[variable].transpose("cycle", *dims, "phase")
        for labels in itertools.product(*dims.values()):
            where = dict(zip(dims, labels, strict=True))
            mean, sd, _ = average(curves.sel(where).values, person, over_participants=len(np.unique(person)) > 1)
            cells = [variable, where.get("joint", ""), where.get("angle", where.get("axis", ""))]
            known = np.isfinite(mean) & np.isfinite(sd)
            if known.sum() > 1:
                rows = zip(study.phase.values[known], mean[known], sd[known], strict=True)
                lines += ["\t".join([*cells, *(f"{number:.6g}" for number in row)]) for row in rows]
    return "\n".join(lines) + "\n"


def differences(reference: Mapping[str, Any], own: Mapping[str, Any]) -> str:
    """Return what of the reference was made otherwise; empty where nothing is known to be.

    Args:
        reference, own: attributes of both files of the step ``study``, with their ``settings``.

    Raises:
        UserError: the joint angles of both are not the same quantity.
    """
    there, here = (json.loads(attributes.get("settings", "{}")) for attributes in (reference, own))
    for name in SAME:
        values = [made.get("kinematics", {}).get(name) for made in (there, here)]
        if None not in values and values[0] != values[1]:
            raise UserError(
                f"study.reference: was made with kinematics.{name} {values[0]}, this study with {values[1]}; "
                "angles of both are compared: make them alike"
            )
    models = [made.get("body_model") for made in (there, here)]
    return f"body_model {models[0]} there, {models[1]} here" if None not in models and models[0] != models[1] else ""
