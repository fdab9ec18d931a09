"""``gaitlab write-c3d``: write results into copies of the recordings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import xarray as xr

from .. import __version__
from ..c3d.plug_in_gait import Output, gait_events, model_outputs, upper_outputs
from ..c3d.writer import write_c3d
from ..errors import UserError, join_some, nearest, without_problems
from ..results import netcdf
from ..tables import study_tables
from ..trials.session import separate
from ..whole_body import plug_in_gait as upper
from ..workflow import checksums
from ..workflow.job_keys import Study
from ..workflow.open_study import look_at
from .shared.exported_files import C3D_COPIES

MOST_LISTED = 6  # sessions in a message


def write_c3d_files(study_path: Path, *, session: str | None, anonymous: bool) -> str:
    """Write ``derived/<session>/c3d/<trial>.c3d`` for every gait trial with results.

    Args:
        anonymous: whether to leave out free text of the recordings, which may name people.

    Returns:
        A line for each file that is written, and one with the reason for each trial without one.

    Raises:
        UserError: wrong settings or tables, no such session, or a session without results.
    """
    study = without_problems(look_at(study_path))
    if session is not None and session not in study.sessions:
        remedy = nearest(session, study.sessions) or f"expected one of {join_some([*study.sessions], MOST_LISTED)}"
        raise UserError(str(study_path), f"no session '{session}' in trials.tsv", remedy)
    written: list[Path] = []
    left_out: list[str] = []
    for name in study.sessions if session is None else [session]:
        files, lines = _write_session(study, name, anonymous=anonymous)
        written += files
        left_out += lines
    left_out = [f"left out: {line}" for line in left_out]
    return "\n".join([*map(str, written), *left_out, f"{len(written)} files written."])


def _write_session(study: Study, session: str, *, anonymous: bool) -> tuple[list[Path], list[str]]:
    derived = study.path / "derived"
    folder = derived / session
    steps = {step: folder / f"{step}.nc" for step in ("kinematics", "kinetics", "contacts", "calibrate")}
    if absent := [path for path in steps.values() if not path.exists()]:
        raise UserError(str(absent[0]), "no such file", "run the workflow first")
    made_from = checksums.as_written(derived, steps.values())
    calibration = netcdf.load(steps.pop("calibrate"))
    recorded = separate(netcdf.load(folder / "read.nc"))
    results = {step: separate(netcdf.load(path)) for step, path in steps.items()}
    written, left_out = [], []
    for row in (row for row in study.sessions[session] if row["role"] == "gait"):
        trial = {step: groups[row["trial"]] for step, groups in results.items() if row["trial"] in groups}
        reasons = [part.attrs["rejected"] for part in trial.values() if "rejected" in part.attrs]
        if Path(row["file"]).suffix.lower() in study_tables.MARKER_FILES:
            reasons = [*reasons, f"{row['file']} is no C3D file, of which a copy could be written"]
        if reasons or len(trial) < len(results):
            left_out.append(f"{session} {row['trial']}: {[*reasons, 'no results'][0]}")
            continue
        outputs = _outputs(trial, recorded[row["trial"]], body_mass_kg=float(calibration.attrs["body_mass_kg"]))
        target = folder / C3D_COPIES / f"{row['trial']}.c3d"
        person = study_tables.person_of(row, study.participants)
        write_c3d(
            study.path / row["file"], target, outputs, gait_events(trial["contacts"]), **person, anonymous=anonymous
        )
        checksums.record(
            derived,
            [target],
            inputs=made_from,
            key={"pipeline": __version__, "anonymous": anonymous},
            command=["write-c3d", *(["--anonymous"] if anonymous else [])],
        )
        written.append(target)
    for copy in sorted((folder / C3D_COPIES).glob("*.c3d")):  # of trials that have no results any more
        name = copy.relative_to(derived).as_posix()
        if copy not in written and checksums.recorded(derived, name):
            copy.unlink()
            checksums.forget(derived, name)
    return written, left_out


def _outputs(trial: Mapping[str, xr.Dataset], read: xr.Dataset, *, body_mass_kg: float) -> list[Output]:
    """Return the outputs of a walk, those of trunk and arms among them if they have moments."""
    about: dict[str, Any] = {"body_mass_kg": body_mass_kg, "lab_rotation": read.lab_rotation.values}
    moved, loaded = trial["kinematics"], trial["kinetics"]
    outputs = model_outputs(moved, loaded, trial["contacts"], **about)
    if "upper_joint_moment" in loaded:
        outputs += upper_outputs(upper.angles(moved), upper.moments(moved, loaded), moved, loaded, **about)
    return outputs
