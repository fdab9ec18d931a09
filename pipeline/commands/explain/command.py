"""``python -m pipeline explain``: where one gait cycle of ``study.nc`` comes from, back to frames and force plates.

Every number is read from the study's files; nothing is computed anew but counts, ranges and frame numbers.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

import xarray as xr

from ...errors import UserError
from ...results import netcdf
from ...results.study_file import load_study, study_path
from ...tables.terminal_table import aligned
from .cycle_record import Blocks, Story, gathered
from .sections import data_sections, method_sections

WIDTH = 100
INDENT = "  "


def explain(path: Path, *, cycle: int | None) -> str:
    """Return the story of a cycle in lines of 100 characters; without a number, which cycles there are.

    Raises:
        UserError: no study.nc, no such cycle, or files of its session are gone or of another run.
    """
    file = study_path(path)
    if not netcdf.is_netcdf(file):
        raise UserError(str(file), "not a NetCDF file", "give the study.nc of a study's derived folder")
    study = load_study(file)
    if cycle is None:
        return f"{file}: cycles, of which --cycle N tells the story\n\n{_listed(study)}"
    if cycle not in study.cycle.values:
        remedy = f"give 0 to {study.sizes['cycle'] - 1}" if study.sizes["cycle"] else "the study has no cycle"
        raise UserError(str(file), f"no cycle {cycle}", remedy)
    story = gathered(file, study, cycle)
    parts = {f"Cycle {cycle} of {file}": _summary(story)} | data_sections(story) | method_sections(story)
    return "\n\n".join(f"{title}\n{_indented(blocks)}" for title, blocks in parts.items())


def _listed(study: xr.Dataset) -> str:
    names = ("cycle", "session", "trial", "condition", "side", "start_time", "end_time", "kinetics_valid")
    columns = [[f"{v:.3f}" if isinstance(v, float) else str(v) for v in study[name].values.tolist()] for name in names]
    return aligned([list(names), *map(list, zip(*columns, strict=True))], width=WIDTH)


def _summary(story: Story) -> Blocks:
    """Yield whose cycle it is, and whether its kinetics are used."""
    told = {name: story.cycle[name].item() for name in ("participant", "session", "trial", "condition", "side")}
    yield ", ".join(f"{name} {value}" for name, value in told.items())
    reason = story.cycle.reason.item()
    yield f"kinetics left out: {reason}" if reason else "kinetics used; angles and distances too"


def _indented(blocks: Blocks) -> str:
    """Return texts, wrapped, and tables below each other."""
    wrapper = textwrap.TextWrapper(WIDTH, initial_indent=INDENT, subsequent_indent=2 * INDENT, break_on_hyphens=False)
    return "\n".join(
        wrapper.fill(block)
        if isinstance(block, str)
        else textwrap.indent(aligned(block, width=WIDTH - len(INDENT)), INDENT)
        for block in blocks
    )
