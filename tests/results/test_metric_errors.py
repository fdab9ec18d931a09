"""Standard uncertainties of the tables of metrics: of means, and of differences, in which shared errors cancel."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from pipeline.results.metric_errors import (
    HELD,
    USUALLY_HELD,
    errors_of_cycles,
    errors_of_means,
    exceptions_of,
    uncertainties,
    with_uncertainty,
)
from pipeline.variables.metrics import METRICS, WITH_ERRORS
from tests.support.checkout import HOUSE
from tests.support.studies.typed_rows import typed

PEAK, MOMENT, SPEED = "peak_knee_flexion", "peak_knee_abductor_moment_first", "walking_speed"
RANGE = "range_of_knee_flexion"
SIDES = ("left", "left", "right", "right")


def rows(unused: int | None = None) -> pd.DataFrame:
    cycles = (
        {
            "condition": "walk",
            "session": "one",
            "side": side,
            PEAK: "60",
            RANGE: "60",
            MOMENT: "" if i == unused else "0.5",
            SPEED: "1.2",
        }
        for i, side in enumerate(SIDES)
    )
    return typed("metrics", cycles)


def study(shared: float, own: float) -> xr.Dataset:
    """Return draws of which all cycles share an error, and each side and cycle has one of its own."""
    rng = np.random.default_rng(1)
    drawn = np.full((4, len(METRICS), 2000), np.nan)
    for name, value in ((PEAK, 60.0), (RANGE, 60.0), (MOMENT, 0.5), (SPEED, 1.2)):
        of_cycle = own * rng.standard_normal((4, 2000))
        drawn[:, [*METRICS].index(name)] = value + shared * rng.standard_normal(2000) + of_cycle
    return xr.Dataset({"metric_draw": (("cycle", "metric", "draw"), drawn)})


def test_a_mean_over_cycles_keeps_the_error_that_they_share() -> None:
    """2000 draws give a standard deviation to 1.6 %."""
    errors = errors_of_means(rows(), errors_of_cycles(study(3.0, 0.4), rows()))
    (found,) = uncertainties([PEAK], errors["walk", "left"])
    np.testing.assert_allclose(found, np.hypot(3, 0.4 / np.sqrt(2)), rtol=0.06)


def test_in_a_difference_of_the_sides_the_shared_error_cancels() -> None:
    errors = errors_of_means(rows(), errors_of_cycles(study(3.0, 0.4), rows()))
    (found,) = uncertainties([PEAK], errors["walk", "difference"])
    np.testing.assert_allclose(found, 0.4, rtol=0.06)


def test_a_symmetry_index_has_the_error_of_a_ratio() -> None:
    """Of equal sides of size 60 it is 100 (R - L) / 60 to the first order; speed has none."""
    errors = errors_of_means(rows(), errors_of_cycles(study(3.0, 0.4), rows()))
    index, speed = uncertainties([RANGE, SPEED], errors["walk", "symmetry_index"])
    np.testing.assert_allclose(index, 100 * 0.4 / 60, rtol=0.08)
    assert np.isnan(speed)


def test_sides_are_compared_within_each_session() -> None:
    """Session two has the right side only, so that it says nothing about the difference."""
    both = rows().assign(session=["one", "one", "one", "two"])
    drawn = errors_of_cycles(study(0.0, 0.4), both)
    assert drawn is not None
    of_peak = [*METRICS].index(PEAK)
    expected = drawn.errors[2, of_peak] - drawn.errors[:2, of_peak].mean(axis=0)
    np.testing.assert_allclose(errors_of_means(both, drawn)["walk", "difference"][of_peak], expected)


def test_only_metrics_with_errors_and_kinetics_in_use_have_one() -> None:
    """Speed has no error that is drawn; the moment of one cycle is not used, and has the error of the other."""
    errors = errors_of_means(rows(0), errors_of_cycles(study(0.0, 0.4), rows(0)))
    peak, moment, speed = uncertainties([PEAK, MOMENT, SPEED], errors["walk", "left"])
    np.testing.assert_allclose([peak, moment], [0.4 / np.sqrt(2), 0.4], rtol=0.06)
    assert np.isnan(speed)


def test_without_draws_a_cell_stays_as_it_is() -> None:
    assert errors_of_cycles(xr.Dataset({"time": ("cycle", np.zeros(4))}), rows()) is None
    assert errors_of_means(rows(), None) == {}
    assert with_uncertainty("58.8 (1.2)", uncertainties([PEAK], None)[0], 1) == "58.8 (1.2)"
    assert with_uncertainty("58.8 (1.2)", 0.71, 1).endswith("\N{NO-BREAK SPACE}0.7")


def test_metrics_that_are_held_too_seldom_or_too_often_are_those_of_the_campaign() -> None:
    """docs/validation.md has the table that the campaign prints; - stands for a metric that is held as usual."""
    text = (HOUSE / "docs" / "validation.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| `(\w+)` \| ([\d.-]+) \| ([\d.-]+) \|$", text, re.MULTILINE)
    documented = {
        method: {cells[0]: float(cells[place]) for cells in lines if cells[place] != "-"}
        for place, method in enumerate(("linked", "segments"), start=1)
    }
    assert documented == HELD
    for name, percent in ((name, percent) for held in HELD.values() for name, percent in held.items()):
        assert name in WITH_ERRORS
        assert not USUALLY_HELD[0] <= percent <= USUALLY_HELD[1]


@pytest.mark.parametrize("method", HELD)
def test_a_page_names_its_exceptions_once(method: str) -> None:
    found = exceptions_of(method, METRICS)
    named = ", ".join(filter(None, found))
    assert sorted(named.split(", ")) == sorted(
        f"{name.replace('_', ' ')} ({percent:g})" for name, percent in HELD[method].items()
    )
    assert exceptions_of(method, [SPEED]) == ("", "")
    assert exceptions_of("", METRICS) == ("", "")
