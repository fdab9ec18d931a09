"""Single faults of known dose in generated and real walks, and their outcomes in a table.

``python -m tests.campaigns fault_campaign`` prints the table of docs/validation.md: 20 doses of each fault, 200 clean
walks, and real walks, if any (see conftest.py). ``test_fault_campaign.py`` tests it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import xarray as xr

from pipeline.body.body_model import BodyModel
from pipeline.errors import UserError
from pipeline.steps.clean.marker_repair import SPIKE
from tests.campaigns.runner import Report
from tests.support.checkout import SHARED
from tests.support.faults.body_masses import Weighed, sessions, size_rows, weighed
from tests.support.faults.body_models import model_rows
from tests.support.faults.markers import marker_rows
from tests.support.faults.outcomes import ALL, FLAGGED, HARMLESS, REFUSED, REPAIRED, Row
from tests.support.faults.plates import CORRECTLY_REJECTED, judged, plate_rows
from tests.support.walks import as_read
from tests.support.walks.on_plates import raw_walk
from tests.support.walks.person import BODY_MODELS
from tests.support.walks.real import FILES, raw_walks

CLEAN_WALKS = 200
SHORT = {"doses": 2, "every": 8, "clean_walks": 4}
# a recording of raw markers with three spikes, confirmed by eye
SPIKES = "sub-01/FunctionalWalk.c3d"


class Real(NamedTuple):
    """Real walks of step ``read`` by file; trials with all markers; sessions of known mass."""

    plates: dict[str, xr.Dataset]
    markers: list[tuple[str, xr.Dataset, BodyModel]]
    sizes: list[Weighed]


NOTHING_REAL = Real({}, [], [])


def real_ones() -> Real:
    """Return the real walks, nothing without the folder with recordings."""
    if not (SHARED / "studies").is_dir():
        return NOTHING_REAL
    return Real(raw_walks(SHARED), list(as_read.real_walks(SHARED)), sessions(SHARED))


def faults(folder: Path, real: Real, doses: Sequence[int] = ALL, *, every: int = 1) -> Iterator[Row]:
    """Yield a row for each fault.

    Args:
        folder: for temporary files.
        real: real walks.
        doses: numbers of the doses put into generated walks.
        every: use one in so many of the real plates and walks.
    """
    yield from plate_rows(folder, doses, real.plates, every)
    yield from marker_rows(doses, [(trial, model) for _, trial, model in real.markers[::every]])
    yield from size_rows(folder, doses, real.sizes[::every])
    yield from model_rows(doses)


def alarms(folder: Path, real: Real, *, clean_walks: int = CLEAN_WALKS) -> dict[str, tuple[list[str], int]]:
    """Return, by kind of check, the false alarms and the number of clean trials."""
    found: dict[str, tuple[list[str], int]] = {}
    stances = {str(number): judged(raw_walk(folder, number)) for number in range(clean_walks)}
    wrong = [name for name, rows in stances.items() if len(rows) != 3 or any(row.reason for row in rows)]
    found["plates, generated"] = wrong, clean_walks
    others = {file: raw for file, raw in real.plates.items() if not file.startswith("studies/")}
    stances = {file: judged(raw, FILES[file]) for file, raw in others.items()}
    stances |= {file: judged(trial, model) for file, trial, model in real.markers}
    wrong = [
        name
        for name, rows in stances.items()
        if any(row.reason and (Path(name).stem, row.side, row.code) not in CORRECTLY_REJECTED for row in rows)
    ]
    found["plates, real"] = wrong, len(stances)
    walks = [(str(seed), *as_read.generated(BODY_MODELS[seed % 4], seed)) for seed in range(clean_walks)]
    for name, trials in (("markers, generated", walks), ("markers, real", real.markers)):
        found[name] = [which for which, trial, model in trials if _touched(which, trial, model)], len(trials)
    people = [weighed(folder, 5000 + number) for number in range(clean_walks)]
    for name, weighings in (("mass, generated", people), ("mass, real", real.sizes)):
        found[name] = [findings for one in weighings if (findings := one.findings(1.0))], len(weighings)
    return found


def _touched(name: str, trial: xr.Dataset, model: BodyModel) -> bool:
    """Return whether step ``clean`` finds exchanged labels or spikes where there are none."""
    try:
        after = as_read.cleaned(trial, model)
    except UserError:
        return True
    return bool(after.attrs["labels_exchanged_back"] or (name != SPIKES and (after.fill == SPIKE).any()))


def main(report: Report, *, doses: int = len(ALL), every: int = 1, clean_walks: int = CLEAN_WALKS) -> None:
    """Report what becomes of each fault, and the false alarms.

    Args:
        doses: number of doses of each fault.
        every: use one in so many of the real plates and walks.
    """
    kinds = {FLAGGED: "flagged", REPAIRED: "repaired", REFUSED: "refused otherwise", HARMLESS: "harmless"}
    real = real_ones()
    report.table("fault", "doses", "straight walks", "all ways of moving", "real walks")
    for row in faults(report.folder, real, ALL[:: -(-len(ALL) // doses)], every=every):
        cells = []
        for results in (row.generated, row.moving, row.real):
            counts = [f"{results.count(kind)} {text}" for kind, text in kinds.items() if kind in results]
            cells.append(f"{', '.join(counts)} of {len(results)}" if results else "")
        report.row(row.fault, row.doses, *cells)
    found = alarms(report.folder, real, clean_walks=clean_walks)
    for what in ("plates", "markers", "mass"):
        cells = []
        for where in ("generated", "real"):
            names, count = found[f"{what}, {where}"]
            cells.append(f"{len(names)} alarms in {count} {' '.join(names)}".strip())
        report.row(f"none: {what}", "", cells[0], "", cells[1])
