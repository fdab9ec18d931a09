"""Which sessions are repeated measurements: visits that are named, else several sessions of one visit."""

from __future__ import annotations

import pytest

from pipeline.extras.statistics.repeatability.design import design_of
from tests.extras.statistics.repeated import repeated_study, without

Rows = dict[str, dict[str, str]]


def rows_of(people: int, visits: int, assessors: int = 1) -> Rows:
    return repeated_study(people, visits, assessors)[1]


def test_a_treatment_between_visits_is_no_repetition() -> None:
    rows = rows_of(10, 2)
    assert design_of(rows, []) is None
    named = design_of(rows, ["v0", "v1"])
    assert named is not None
    assert (named.factors, named.people, len(named.cells)) == (("visit",), 10, 20)
    assert design_of(rows, ["v0"]) is None


def test_a_session_without_a_visit_is_a_visit_of_its_own() -> None:
    rows = {name: {"participant_id": row["participant_id"]} for name, row in rows_of(5, 3).items()}
    assert design_of(rows, []) is None
    assert design_of({}, ["v0"]) is None


@pytest.mark.parametrize(("assessor", "factors"), [("x", ()), ("", ()), ("a{}", ("assessor",))])
def test_sessions_of_one_visit_are_repeated(assessor: str, factors: tuple[str, ...]) -> None:
    rows = rows_of(6, 2, 2)
    for name, row in rows.items():
        row["assessor"] = assessor.format(name[-1])
    found = design_of(rows, [])
    assert found is not None
    assert found.factors == factors
    assert {name[-3] for name in found.cells} == {"0"}  # the first visit
    assert len(found.cells) == 12


def test_two_sessions_by_each_of_two_assessors_are_both_factors() -> None:
    rows = {name: row | {"visit": "only"} for name, row in rows_of(5, 2, 2).items()}
    found = design_of(rows, [])
    assert found is not None
    assert found.factors == ("visit", "assessor")
    assert len({*found.cells.values()}) == 20


def test_an_assessor_that_follows_from_the_visit_is_no_factor() -> None:
    for assessors in (4, 2):
        rows = rows_of(6, 4)
        for name, row in rows.items():
            row["assessor"] = f"a{int(name[-3]) % assessors}"
        found = design_of(rows, ["v0", "v1", "v2", "v3"])
        assert found is not None
        assert found.factors == ("visit",)
    crossed = design_of(rows_of(6, 2, 2), ["v0", "v1"])
    assert crossed is not None
    assert crossed.factors == ("visit", "assessor")


def test_people_measured_once_take_no_part_and_three_are_needed() -> None:
    rows = without(rows_of(4, 2), "p0_1_0")
    found = design_of(rows, ["v0", "v1"])
    assert found is not None
    assert {cell[0] for cell in found.cells.values()} == {"p1", "p2", "p3"}
    assert design_of(without(rows, "p1_0_0"), ["v0", "v1"]) is None
