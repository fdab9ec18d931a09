"""Files that exports leave beside the results, and the record of what each was made from."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ... import __version__
from ...workflow import checksums

C3D_COPIES = "c3d"  # in the folder of a session's results
PARQUET_TABLES = ("metrics", "quality")
PDF, SINGLE_PAGES, SPREADSHEETS = "pdf", "single", "tables"  # folders in derived/
MADE_FROM = "SourceSHA256"


def record_files(
    derived: Path, written: Iterable[Path], inputs: Mapping[str, str], command: Sequence[str], output: Path | None
) -> None:
    """Record what a command has written and what from, where that is below the ``derived`` of a study.

    Args:
        derived: of the study. A folder without records, in which study.nc may be a copy, gets none.
        written: files, with a sidecar or without one, or folders of files.
        inputs: the SHA-256 of results, by name, before they were read.
        command: its words, without the place that the user has chosen.
        output: this place.
    """
    derived = derived.absolute()
    if not (derived / checksums.FOLDER).is_dir():
        return
    place = output.absolute() if output else None
    if place and place.is_relative_to(derived):
        command = [*command, "--output", f"derived/{place.relative_to(derived).as_posix()}"]
    for each in map(Path.absolute, written):
        files = [file for file in each.rglob("*") if file.is_file()] if each.is_dir() else [each]
        files += [sidecar(each)] if sidecar(each).is_file() else []
        checksums.record(derived, files, inputs=inputs, key={"pipeline": __version__}, command=command)


def sidecar(table: Path) -> Path:
    """Return the path of the data dictionary of an exported table."""
    return table.with_name(f"{table.name}.json")
