"""``gaitlab explain``: how a gait cycle or stance was computed, from the frames and force plates of its recording.

Every number is read from the study's files; only counts, ranges and frame numbers are computed.
"""

import textwrap
from pathlib import Path

import xarray as xr

from ...errors import UserError
from ...results import netcdf
from ...results.study_file import load_study, study_path
from ...tables.terminal_table import align
from .cycle_record import Blocks, CycleRecord, cycle_record
from .sections import sections

WIDTH = 100
INDENT = "  "


def explain(path: Path, *, cycle: int | None = None, stance: int | None = None) -> str:
    """Return how a cycle, or a stance, was computed; without a number, the list of cycles, and of stances without one.

    Raises:
        UserError: no study.nc, no such cycle or stance, or files of its session are missing or from another run.
    """
    file = study_path(path)
    if not netcdf.is_netcdf(file):
        raise UserError(str(file), "not a NetCDF file", "give the study.nc of a study's derived folder")
    part, number = ("cycle", cycle) if stance is None else ("stance", stance)
    study = load_study(file, doubted=True) if part == "cycle" else _stances(file)
    if "doubt_code" not in study.coords:
        raise UserError(str(file), "has no doubts", "it is of an earlier version, run the workflow again")
    if number is None:
        return f"{file}: cycles; --cycle N explains one\n\n{_list_cycles(study)}{_list_lone_stances(_stances(file))}"
    if number not in study.cycle.values:
        remedy = f"give 0 to {study.sizes['cycle'] - 1}" if study.sizes["cycle"] else f"the study has no {part}"
        raise UserError(str(file), f"no {part} {number}", remedy)
    record = cycle_record(file, study, number)
    parts = {f"{part.capitalize()} {number} of {file}": _summary(record)} | sections(record)
    return "\n\n".join(f"{title}\n{_indent(blocks)}" for title, blocks in parts.items())


def _stances(file: Path) -> xr.Dataset:
    """Return the whole stances of a study as if they were cycles; ``alone``: whether no whole cycle begins with it."""
    stances = load_study(file, part="stance", doubted=True)
    alone = ("cycle", stances.cycle.values < 0)
    rows = stances.drop_vars("cycle").rename(stance="cycle", stance_phase="phase")
    return rows.assign_coords(alone=alone, reason=("cycle", [""] * rows.sizes["cycle"]))


def _list_lone_stances(stances: xr.Dataset) -> str:
    """Return the list of the stances without a whole cycle; empty if there are none."""
    alone = stances.isel(cycle=stances.alone.values)
    if not alone.sizes["cycle"]:
        return ""
    return f"\n\nstances without a whole cycle; --stance N explains one\n\n{_list_cycles(alone, part='stance')}"


def _list_cycles(study: xr.Dataset, *, part: str = "cycle") -> str:
    names = ["cycle", "session", "trial", "condition", "side", "start_time", "end_time", "kinetics_valid"]
    names += ["doubt_code"] * bool((study["doubt_code"] != "").any())
    columns = [[f"{v:.3f}" if isinstance(v, float) else str(v) for v in study[name].values.tolist()] for name in names]
    return align([[part, *names[1:]], *map(list, zip(*columns, strict=True))], width=WIDTH)


def _summary(record: CycleRecord) -> Blocks:
    """Yield participant, session, trial and side, and whether kinetics are used."""
    identity = {name: record.cycle[name].item() for name in ("participant", "session", "trial", "condition", "side")}
    yield ", ".join(f"{name} {value}" for name, value in identity.items())
    reason, doubt = record.cycle.reason.item(), record.cycle.doubt.item()
    used = "used" if record.cycle.kinetics_valid.item() else "in no mean"
    doubted = f"kinetics doubted, {used}: {doubt}" if doubt else "kinetics used; angles and distances too"
    yield f"kinetics left out: {reason}" if reason else doubted


def _indent(blocks: Blocks) -> str:
    """Return the texts, wrapped, and the tables of a section."""
    wrapper = textwrap.TextWrapper(WIDTH, initial_indent=INDENT, subsequent_indent=2 * INDENT, break_on_hyphens=False)
    return "\n".join(
        wrapper.fill(block)
        if isinstance(block, str)
        else textwrap.indent(align(block, width=WIDTH - len(INDENT)), INDENT)
        for block in blocks
    )
