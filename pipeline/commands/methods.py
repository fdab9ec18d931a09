"""``gaitlab methods``: the methods of a computed study in sentences to paste into a paper."""

from pathlib import Path

from ..results import netcdf
from ..results.study_file import study_path
from ..variables.methods_text import describe_methods


def methods(path: Path) -> str:
    """Return the methods of a study, given its folder or its study.nc; refuse one without results."""
    file = study_path(path)
    sessions = dict.fromkeys(netcdf.load(file, ("leg_length",)).variables["session"].values.tolist())
    models = [file.parent / str(session) / "calibrate.nc" for session in sessions]
    return describe_methods(netcdf.attributes(file), [netcdf.attributes(model) for model in models if model.is_file()])
