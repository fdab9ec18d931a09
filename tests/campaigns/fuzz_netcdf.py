"""Hundreds of damaged results and their outcomes in a table.

``python -m tests.campaigns fuzz_netcdf`` prints the table of docs/reliability.md, from the session
files and study.nc of the demonstration study and their records. A job must refuse a damaged input with the remedy, or
read unchanged values. For comparison a separate process, which may crash, reads the file with NetCDF's own checksums
only. ``tests/commands/test_verify.py`` runs a short campaign.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import xarray as xr

from pipeline.errors import UserError
from pipeline.results import netcdf
from pipeline.results.whole_files import REMEDY
from pipeline.workflow import checksums
from tests.campaigns.runner import Report
from tests.support.studies.small_study import write_outputs

SHORT = {"mutants": 60}
KINDS = ("one bit", "one bit", "ten bits", "zeros", "noise", "a block moved", "cut off", "bytes added")
REFUSED, EQUAL, HARM = "refused, with the remedy", "read, unchanged", "HARM"
ALONE = {0: "refused", 1: "equal", 2: "other numbers", 3: "other error"}
LONGEST_S = 30


def mutant(content: bytes, kind: str, rng: np.random.Generator) -> bytes:
    """Return the content with one kind of damage, never unchanged."""
    changed = bytearray(content)
    at, count = int(rng.integers(len(content))), int(rng.choice([1, 64, 512, 4096]))
    if kind.endswith(("bit", "bits")):
        for place in rng.integers(len(content), size=1 if kind == "one bit" else 10):
            changed[place] ^= 1 << int(rng.integers(8))
    elif kind == "zeros":
        changed[at : at + count] = bytes(len(changed[at : at + count]))
    elif kind == "noise":
        changed[at : at + count] = rng.bytes(len(changed[at : at + count]))
    elif kind == "a block moved":
        to = int(rng.integers(len(content)))
        changed[to : to + count] = changed[at : at + count]
    elif kind == "cut off":
        del changed[at:]
    else:
        changed += rng.bytes(count)
    if changed == content:
        changed[at] ^= 255
    return bytes(changed)


def alone(path: Path, original: xr.Dataset) -> str:
    """Return the outcome of reading a file without its record; HDF5 may crash or hang."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        signal.alarm(LONGEST_S)
        code = 3
        try:
            code = 1 if netcdf.load(path).identical(original) else 2
        except UserError as error:
            code = 0 if str(error).endswith(REMEDY) else 3
        finally:
            os._exit(code)
    return ALONE.get(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), "crashed")


def outcome(derived: Path, name: str, original: xr.Dataset) -> str:
    """Return the outcome of a job with this output as input."""
    path = derived / name
    try:
        checksums.as_written(derived, [path])
    except UserError as error:
        return REFUSED if str(path) in str(error) and str(error).endswith(REMEDY) else HARM
    return EQUAL if netcdf.load(path).identical(original) else HARM


def campaign(derived: Path, *, mutants: int, seed: int) -> Iterator[tuple[str, str, str]]:
    """Yield kind of damage, outcome of a job, and of NetCDF alone; every tenth damages a record."""
    rng = np.random.default_rng(seed)
    names = [path.relative_to(derived).as_posix() for path in sorted(derived.rglob("*.nc"))]
    known = {name: netcdf.load(derived / name) for name in names}
    for number in range(mutants):
        name, kind = names[number % len(names)], str(rng.choice(KINDS))
        of_record = number % 10 == 9
        path = checksums.record_path(derived, name) if of_record else derived / name
        content = path.read_bytes()
        path.write_bytes(mutant(content, kind, rng))
        try:
            end = outcome(derived, name, known[name])
            by_netcdf = "" if of_record else alone(path, known[name])
        finally:
            path.write_bytes(content)
        yield ("a record" if of_record else kind), end, by_netcdf


def main(report: Report, *, mutants: int = 1000, seed: int = 1) -> None:
    """Report how jobs with damaged inputs end, and how NetCDF alone reads them, by kind of damage."""
    results = sorted(campaign(write_outputs(report.folder) / "derived", mutants=mutants, seed=seed))
    total = report.counts("damage", ((kind, end) for kind, end, _ in results))
    report.counts("damage, NetCDF alone", ((kind, end) for kind, _, end in results if end))
    report.allow(0, total[HARM], mutants, "jobs that take damaged numbers")
