"""``gaitlab export --opensim``: files with which OpenSim goes on from a computed study."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from .... import __version__
from ....errors import UserError
from ....results import netcdf
from ....results.whole_files import write_whole
from ....text_template import fill_in
from ....workflow import checksums
from ....workflow.open_study import look_at
from ..declaration import FOLDER
from .model import MarkerNames, marker_names, read_model
from .session_files import NO_LOAD, Choices, stance_rows, write_session

STANCES, README = "stances.tsv", Path(__file__).with_name("readme.txt")
STEPS = ("read", "calibrate", "clean", "contacts", "kinematics")
PLACE_OF_MODEL = "model.osim"  # in the folder, if none is given
COLUMNS = ("session", "trial", "side", "start_s", "end_s", "loaded", "reason", "doubt")


def hand_over(
    path: Path, *, output: Path | None, model: Path | None, markers: Path | None, angles: bool, filter_forces: bool
) -> str:
    """Write the files of :func:`export_opensim`, and return what trials lack and what to do next."""
    readme_path, lacking = export_opensim(
        path, output=output, model=model, markers=markers, angles=angles, filter_forces=filter_forces
    )
    return "\n".join([*lacking, f"Next: the three commands in {readme_path}"])


def export_opensim(
    path: Path,
    *,
    output: Path | None = None,
    model: Path | None = None,
    markers: Path | None = None,
    angles: bool = False,
    filter_forces: bool = False,
) -> tuple[Path, list[str]]:
    """Write marker files, ground reactions and setup files of every session.

    Args:
        model: the generic model to scale, named in the setup files; markers that it lacks get no task.
        markers: a table that names the model's marker of each label.

    Returns:
        The README, and one line with the reason for each trial that lacks something.

    Raises:
        UserError: wrong settings, tables, model or names, or a session without results.
    """
    study, problems = look_at(path)
    if problems or study.body_model is None:
        raise UserError.of(problems)
    derived = path / "derived"
    folder = output or derived / FOLDER.folder
    choices = Choices(
        marker_names(markers) if markers else MarkerNames({}, {}),
        read_model(model) if model else None,
        model or folder / PLACE_OF_MODEL,
        angles=angles,
        filter_forces=filter_forces,
    )
    checksums.begin(derived, [folder / FOLDER.record])
    inputs: dict[str, str] = {}
    table, lacking, by_reason = ["\t".join(COLUMNS)], list[str](), dict[str, tuple[str, str]]()
    for session in study.sessions:
        paths = {step: derived / session / f"{step}.nc" for step in STEPS}
        if absent := [file for file in paths.values() if not file.exists()]:
            raise UserError(str(absent[0]), "no such file", "run the workflow first")
        results = {step: netcdf.load(file) for step, file in paths.items()}
        inputs |= checksums.as_written(derived, paths.values())
        for trial, reason in write_session(folder / session, results, study.body_model, choices).items():
            lacking += [f"{session} {trial}: {reason}"] if reason else []
            by_reason.setdefault(reason, (session, trial))
        table += stance_rows(session, results["contacts"])
    lacking += _find_left_over(folder, study.sessions)
    write_whole(folder / STANCES, "\n".join([*table, ""]).encode())
    session, trial = by_reason.get("", by_reason.get(NO_LOAD, ("", "")))
    readme = fill_in(
        README,
        place_of_model="" if model else choices.model_path.name,
        session=session or "SESSION",
        trial=trial or "TRIAL",
        filtered=filter_forces,
    )
    write_whole(folder / FOLDER.record, readme.encode())
    checksums.record(derived, [folder / FOLDER.record], inputs=inputs, key={"pipeline": __version__})
    return folder / FOLDER.record, lacking


def _find_left_over(folder: Path, sessions: Mapping[str, Iterable[Mapping[str, str]]]) -> Iterator[str]:
    """Yield a line for each trial of the folder that is no walk of the study, given the rows of its sessions."""
    walks = {(session, row["trial"]) for session, rows in sessions.items() for row in rows if row["role"] == "gait"}
    for file in sorted(folder.glob("*/*_ik.xml")):
        session, trial = file.parent.name, file.name.removesuffix("_ik.xml")
        if (session, trial) not in walks and file.with_name(f"{trial}.trc").exists():
            yield f"{session} {trial}: no walk of the study any more; delete its files in {file.parent}"
