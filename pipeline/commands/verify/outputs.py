"""Outputs of steps that are missing, damaged or outdated, and recordings that have changed since they were used."""

import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from ...errors import Problem, UserError
from ...json_text import object_in
from ...results import netcdf
from ...step import every_step
from ...workflow import checksums
from ...workflow.digests import sha256
from ...workflow.job_keys import Study
from ...workflow.jobs.session_job import sources_of
from ...workflow.preparation import changed_parts
from ...workflow.settings import is_file
from .remedies import fault_of, several

Sources = dict[str, str]  # the SHA-256 of recordings by name
Records = Mapping[str, checksums.Record | None]  # of outputs by name


def digests_of(files: Iterable[Path]) -> dict[Path, str]:
    """Return the SHA-256 of the files that exist, read in parallel; of an unreadable one why it is, which differs."""
    here = [file for file in dict.fromkeys(files) if is_file(file)]

    def digest(file: Path) -> str:
        try:
            return sha256(file)
        except OSError as error:  # such as a failing disk
            return str(error)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(here, pool.map(digest, here), strict=True))


def find_sources(
    study: Study, step: str, session: str | None, record: checksums.Record, made_from: Mapping[str, Sources]
) -> Sources | None:
    """Return the recordings behind an output by its record, None if unknown.

    For the step that reads them they are the present recordings if its key names them, for a later step those of its
    inputs.
    """
    if "recordings" in every_step()[step].takes:
        key = study.content_of_key(step, session)
        if checksums.made_with(key)["trials"] != record.made_with.get("trials"):
            return None
        return sources_of(key["trials"])
    if not record.inputs or any(name not in made_from for name in record.inputs):
        return None
    return {file: digest for name in record.inputs for file, digest in made_from[name].items()}


def look_at_output(
    derived: Path, name: str, digests: Mapping[Path, str], records: Records, recorded: Sources | None
) -> tuple[tuple[str, str] | None, Sources | None]:
    """Return the fault of an output file with its code, and its sources if known.

    A file is opened only if its record is missing or incomplete.
    """
    path, record = derived / name, records[name]
    if path not in digests:
        return ("missing", "result_missing"), None
    if record and record.sha256 != digests[path]:
        code = "table_changed" if path.suffix == ".csv" else "result_changed"  # noticed by a run
        noticed = checksums.differs_in_date(derived, name)
        return (("changed since it was written", code) if noticed else (checksums.CHANGED, "result_damaged")), None
    made = record.inputs.items() if record else ()
    another = [other for other, digest in made if (now := records.get(other)) and now.sha256 != digest]
    sources = {} if path.suffix != ".nc" else recorded
    if record is None or another or sources is None:
        try:
            sources = object_in(netcdf.attributes(path), "source_sha256") if path.suffix == ".nc" else {}
        except (UserError, ValueError) as error:
            what = error.problems[0].what if isinstance(error, UserError) else f"damaged ({error})"
            return (what, "result_damaged"), None
    if record is None:
        return ("no record of what was written", "result_without_record"), sources
    if another:
        return (f"made from an earlier derived/{another[0]}", "result_of_earlier_input"), sources
    return None, sources


def find_outdated(
    study: Study, step: str, session: str | None, record: checksums.Record | None, sources: Mapping[str, str] | None
) -> tuple[str, str] | None:
    """Return which parts of the key of an output have changed since, and the code of that.

    With the recordings as they were (``sources``): changed ones have rows of their own.
    """
    if any(study.sha256.get(name) != digest for name, digest in (sources or {}).items()):
        study = replace(study, sha256={**study.sha256, **(sources or {})})
    now = checksums.made_with(study.content_of_key(step, session))
    changed = changed_parts(step, record.made_with if record else {}, now)
    what = f"settings, tables or code have changed since: {', '.join(changed)}"
    return (what, "result_outdated") if changed else None


def find_changed_recordings(
    folder: Path, made_from: Mapping[str, Sources], digests: dict[Path, str]
) -> Iterator[Problem]:
    """Yield the recordings that have changed since results were made from them."""
    then: dict[str, dict[str, str]] = {}
    for output, sources in made_from.items():
        for file, digest in sources.items():
            then.setdefault(file, {})[output] = digest
    digests |= digests_of(folder / file for file in then if folder / file not in digests)
    for file, by_output in sorted(then.items()):
        now = digests.get(folder / file)
        stale = [output for output, digest in by_output.items() if digest != now]
        if stale:
            made = f"{several(f'derived/{stale[0]}', len(stale))} {'was' if len(stale) == 1 else 'were'}"
            how, code = ("gone", "recording_missing") if now is None else ("changed", "recording_changed")
            yield fault_of(file, f"{how} since {made} made from it", code)
