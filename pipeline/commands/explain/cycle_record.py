"""Everything that the files of a study hold about one gait cycle, or one stance."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...errors import UserError
from ...json_text import from_text, object_in
from ...results import netcdf
from ...step import steps_to
from ...tables.corrections import in_words
from ...trials.session import FILES, separate


class CycleRecord(NamedTuple):
    """One cycle with the results of each step for its trial."""

    derived: Path  # the folder of the results
    cycle: xr.Dataset  # the cycle, or stance, of study.nc, its coordinates as scalars
    steps: dict[str, xr.Dataset]  # the trial by step; the session's model for ``calibrate``
    static: xr.Dataset  # the static trial in read.nc
    settings: dict[str, Any]  # of every step
    rate_hz: float  # of the markers
    corrections: list[str]  # by hand, of the trial, in words

    @property
    def side(self) -> str:
        """Return the side of the cycle."""
        return str(self.cycle.side.item())

    @property
    def span_s(self) -> tuple[float, float]:
        """Return start and end of the cycle on the file's own time axis, s."""
        return float(self.cycle.start_time), float(self.cycle.end_time)

    def frame(self, time_s: float) -> float:
        """Return the frame number in the C3D file at an instant, with a decimal."""
        return round(1 + time_s * self.rate_hz, 1)

    def within(self, time: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return a mask of the instants within the cycle, ends included."""
        reach = 1e-6  # s, a rounding of times
        return np.asarray((time >= self.span_s[0] - reach) & (time <= self.span_s[1] + reach))


def cycle_record(file: Path, study: xr.Dataset, number: int) -> CycleRecord:
    """Return the record of a cycle from the session's files; refuse missing ones and those of another run."""
    cycle = study.isel(cycle=int(np.flatnonzero(study.cycle.values == number)[0]))
    session, trial = str(cycle.session.item()), str(cycle.trial.item())
    files = {step: file.parent / session / f"{step}.nc" for step in steps_to("cycles")}
    for path in files.values():
        if not path.is_file():
            what = f"no such file, which must be in the folder of {file.name}"
            raise UserError(str(path), what, "run the workflow again")
    groups = {step: separate(netcdf.load(path)) for step, path in files.items() if step != "calibrate"}
    model = netcdf.load(files["calibrate"])
    sources = object_in(study.attrs, "source_sha256")
    for step, trials in groups.items():
        one = trials.get(trial)
        about = one.attrs if one is not None else {"rejected": ""}
        made_from = {about[name]: about[f"{name}_sha256"] for name in FILES if about.get(name)}
        if "rejected" in about or not made_from.items() <= sources.items():
            raise UserError(str(files[step]), f"made from other recordings than {file.name}", "run the workflow again")
    steps = {step: trials[trial] for step, trials in groups.items()} | {"calibrate": model}
    static, rate_hz = groups["read"][model.attrs["static_trial"]], float(steps["read"].attrs["marker_rate_hz"])
    rows = from_text(study.attrs.get("corrections", ""))
    corrected = [in_words(row) for row in rows if (row["session"], row["trial"]) == (session, trial)]
    return CycleRecord(file.parent, cycle, steps, static, object_in(study.attrs, "settings"), rate_hz, corrected)
