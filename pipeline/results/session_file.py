"""A trial of a session's file, as scripts open it."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from ..errors import UserError, nearest
from ..trials.session import one_trial
from . import netcdf


def load_trial(path: str | Path, name: str) -> xr.Dataset:
    """Return one trial of a session's file over ``time``, its units included.

    Args:
        path: a file of a session, such as ``derived/sub-01/kinetics.nc``.
        name: the trial, as in trials.tsv.

    Returns:
        The variables of the trial, with ``time`` and ``plate_time`` in seconds instead of ``sample`` and
        ``plate_sample``. Single numbers and texts about the trial, such as ``source``, are attributes.

    Raises:
        UserError: the file is missing, damaged or without trials, or the trial is unknown or was rejected.

    Example:
        >>> walk = load_trial("data/demo/derived/sub-01/kinetics.nc", "fast_01")
        >>> power = walk.joint_power.sel(side="right", joint="ankle")
        >>> power.dims, power.units
        (('time',), 'W')
        >>> walk.attrs["source"]
        'sub-01/fast_01.c3d'
    """
    if not Path(path).is_file():
        raise UserError(str(path), "no such file", "create it with: gaitlab run STUDY")
    session = netcdf.load(Path(path))
    names = session["trial"].values.tolist() if "trial" in session.dims else []
    if name not in names:
        raise UserError(str(path), f"no trial '{name}'", nearest(name, names) or f"it has {', '.join(names) or 'none'}")
    trial = one_trial(session, name)
    if "rejected" in trial.attrs:
        raise UserError(str(path), f"trial '{name}' was rejected: {trial.attrs['rejected']}", "choose another trial")
    return trial
