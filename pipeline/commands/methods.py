"""``gaitlab methods``: the methods of a computed study in sentences to paste into a paper."""

from pathlib import Path

from ..errors import UserError
from ..results import netcdf
from ..variables.methods_text import describe_methods

STUDY = Path("derived", "study.nc")


def methods(path: Path) -> str:
    """Return the methods of a study, given its folder or its study.nc; refuse one without results."""
    file = next((each for each in (path / STUDY, path / STUDY.name, path) if each.is_file()), None)
    if file is None:
        raise UserError(str(path / STUDY), "no such file", "compute the study first: gaitlab run")
    sessions = dict.fromkeys(netcdf.load(file, ("leg_length",)).variables["session"].values.tolist())
    models = [file.parent / str(session) / "calibrate.nc" for session in sessions]
    return describe_methods(netcdf.attributes(file), [netcdf.attributes(model) for model in models if model.is_file()])
