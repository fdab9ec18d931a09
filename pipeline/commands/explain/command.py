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
from ...text_template import fill_in
from .cycle_record import cycle_record
from .sections import facts_of

WORDS = Path(__file__).with_name("explanation.txt")
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
        stances = _stances(file)
        lists = [f"{file}: cycles; --cycle N explains one", _list_cycles(study)]
        if (alone := stances.isel(cycle=stances.alone.values)).sizes["cycle"]:
            lists += ["stances without a whole cycle; --stance N explains one", _list_cycles(alone, part="stance")]
        return "\n\n".join(lists)
    if number not in study.cycle.values:
        remedy = f"give 0 to {study.sizes['cycle'] - 1}" if study.sizes["cycle"] else f"the study has no {part}"
        raise UserError(str(file), f"no {part} {number}", remedy)
    title = f"{part.capitalize()} {number} of {file}"
    facts = facts_of(cycle_record(file, study, number))

    def table(rows: list[list[str]]) -> str:
        return textwrap.indent(align(rows, width=WIDTH - len(INDENT)), INDENT)

    return _lay_out(fill_in(WORDS, title=title, table=table, **facts))


def _stances(file: Path) -> xr.Dataset:
    """Return the whole stances of a study as if they were cycles; ``alone``: whether no whole cycle begins with it."""
    stances = load_study(file, part="stance", doubted=True)
    alone = ("cycle", stances.cycle.values < 0)
    rows = stances.drop_vars("cycle").rename(stance="cycle", stance_phase="phase")
    return rows.assign_coords(alone=alone, reason=("cycle", [""] * rows.sizes["cycle"]))


def _list_cycles(study: xr.Dataset, *, part: str = "cycle") -> str:
    names = ["cycle", "session", "trial", "condition", "side", "start_time", "end_time", "kinetics_valid"]
    names += ["doubt_code"] * bool((study["doubt_code"] != "").any())
    columns = [[f"{v:.3f}" if isinstance(v, float) else str(v) for v in study[name].values.tolist()] for name in names]
    return align([[part, *names[1:]], *map(list, zip(*columns, strict=True))], width=WIDTH)


def _lay_out(text: str) -> str:
    """Return a text with its lines wrapped, below titles, which begin with "# "; tables are indented already."""
    wrapper = textwrap.TextWrapper(WIDTH, initial_indent=INDENT, subsequent_indent=2 * INDENT, break_on_hyphens=False)
    lines = [line for line in text.splitlines() if line.strip()]
    laid_out = (
        f"\n{line[2:]}" if line.startswith("# ") else line if line.startswith(INDENT) else wrapper.fill(line)
        for line in lines
    )
    return "\n".join(laid_out).lstrip("\n")
