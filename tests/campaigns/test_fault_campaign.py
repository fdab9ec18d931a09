"""The table of faults in docs/validation.md: all of it with ``FULL=1``, else some doses of each fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaigns.fault_campaign import CLEAN_WALKS, NOTHING_REAL, Real, alarms, faults, real_ones
from tests.support.checkout import FULL
from tests.support.faults.body_models import model_rows
from tests.support.faults.outcomes import ALL, FLAGGED, HARMLESS, MISSED, REPAIRED, Row

DOSES, EVERY, CLEAN = (ALL, 1, CLEAN_WALKS) if FULL else ((0, 1, 9, 19), 12, 6)
LEAST_FOUND, MOST_FALSE = 0.95, 0.01
LEAST_FOUND_REAL = {  # reasons in docs/validation.md
    "plate shifted": 0.6,
    "one plate out of time": 0.93,
    "plate jumps under load": 0.75,
    "marker dropped": 0.9,
}


@pytest.fixture(scope="module")
def real() -> Real:
    return real_ones()


def share_found(results: list[str]) -> float:
    return sum(result in (FLAGGED, REPAIRED, HARMLESS) for result in results) / len(results)


def enough(results: list[str], least: float) -> float:
    """Return the share that must be found; if there are few doses, one may be missed."""
    return least if FULL else min(least, 1 - 1 / len(results))


@pytest.fixture(scope="module")
def rows(real: Real, tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    return [*faults(tmp_path_factory.mktemp("faults"), real, DOSES, every=EVERY)]


def test_faults_in_generated_walks_are_flagged_or_repaired(rows: list[Row]) -> None:
    for row in rows:
        assert share_found(row.generated) >= enough(row.generated, LEAST_FOUND), row


def test_faults_in_all_ways_of_moving_are_flagged_or_repaired(rows: list[Row]) -> None:
    results = [result for row in rows for result in row.moving]
    assert results
    assert share_found(results) >= LEAST_FOUND, [(row.fault, row.moving) for row in rows if row.moving]


def test_no_fault_of_a_model_passes_with_wrong_legs(rows: list[Row]) -> None:
    names = [row.fault for row in model_rows(())]
    of_models = [row for row in rows if row.fault in names]
    assert [row.fault for row in of_models] == names
    assert [row for row in of_models if MISSED in row.generated] == []


@pytest.mark.usefixtures("shared")
def test_faults_in_real_walks_are_flagged_or_repaired(rows: list[Row]) -> None:
    for row in rows:
        if row.real:
            assert share_found(row.real) >= enough(row.real, LEAST_FOUND_REAL.get(row.fault, LEAST_FOUND)), row


def test_no_alarm_on_clean_walks(tmp_path: Path) -> None:
    for what, (names, count) in alarms(tmp_path, NOTHING_REAL, clean_walks=CLEAN).items():
        assert len(names) <= MOST_FALSE * count, (what, names)


@pytest.mark.usefixtures("shared")
def test_no_alarm_on_clean_real_walks(real: Real, tmp_path: Path) -> None:
    assert {what: names for what, (names, _) in alarms(tmp_path, real, clean_walks=0).items() if names} == {}
