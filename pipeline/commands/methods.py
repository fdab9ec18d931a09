"""``gaitlab methods``: the methods of a computed study in sentences to paste into a paper."""

import textwrap
from pathlib import Path

from ..results import netcdf
from ..results.study_file import study_path
from ..tables.terminal_table import text_width
from ..variables.methods_text import describe_methods


def methods(path: Path) -> str:
    """Return the methods of a study in lines, given its folder or its study.nc; refuse one without results."""
    file = study_path(path)
    sessions = dict.fromkeys(netcdf.load(file, ("leg_length",)).variables["session"].values.tolist())
    models = [file.parent / str(session) / "calibrate.nc" for session in sessions]
    text = describe_methods(netcdf.attributes(file), [netcdf.attributes(model) for model in models if model.is_file()])
    return textwrap.fill(text, text_width(), break_on_hyphens=False)
