"""Markers hidden and labels exchanged by hand."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.errors import UserError
from pipeline.steps.clean.corrected_markers import correct_markers
from pipeline.trials.session import Trial
from tests.support.studies.corrected import correction

LABELS = ["LKNE", "RKNE", "LANK", "never"]


def recorded() -> Trial:
    """Return 2 s at 100 Hz from 0.5 s on; the last marker is never seen."""
    time = 0.5 + np.arange(200) / 100
    position = np.random.default_rng(1).normal(size=(200, 4, 3))
    position[:, 3] = np.nan
    return Trial.of(
        {"marker_position": (("time", "marker", "axis"), position)},
        {"time": time, "marker": np.array(LABELS), "axis": ["x", "y", "z"]},
        {"marker_rate_hz": 100.0},
    )


def test_labels_exchanged_twice_are_as_recorded_and_the_input_stays() -> None:
    before, first = recorded(), recorded()
    row = correction("exchange_labels", time_s="1.0", to_s="1.25", given="LKNE, LANK")
    once = correct_markers(first, [row])
    swapped = (once["marker_position"].values != before["marker_position"].values)[:, :3].any(axis=(1, 2))
    np.testing.assert_array_equal(np.flatnonzero(swapped), np.arange(50, 76))
    np.testing.assert_array_equal(once["marker_position"].values[50:76, 2], before["marker_position"].values[50:76, 0])
    np.testing.assert_array_equal(first["marker_position"].values, before["marker_position"].values)
    twice = correct_markers(once, [row])
    np.testing.assert_array_equal(twice["marker_position"].values, before["marker_position"].values)
    assert (twice.attrs, twice.coords) == (before.attrs, before.coords)
    assert correct_markers(first, []) is first


def test_a_marker_is_hidden_for_its_part_alone() -> None:
    before = recorded()
    after = correct_markers(before, [correction("hide_marker", time_s="0.5", to_s="0.6", given="RKNE")])
    hidden = np.isnan(after["marker_position"].values) & ~np.isnan(before["marker_position"].values)
    assert hidden[:11, 1].all()
    assert hidden.sum() == 11 * 3


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"given": "LKNEE"}, "no marker is labelled 'LKNEE'; did you mean 'LKNE'?"),
        ({"given": "never"}, "never not seen from 1 to 2 s; give other times, or remove the row"),
        ({"time_s": "9", "to_s": "10"}, "no frame is from 9 to 10 s; give times from 0.500 to 2.490 s"),
        ({"time_s": "2", "to_s": "1"}, "no frame is from 2 to 1 s"),
    ],
)
def test_a_correction_that_fits_no_marker_says_so(cells: dict[str, str], message: str) -> None:
    row = correction("hide_marker", **{"time_s": "1", "to_s": "2", "given": "LKNE"} | cells)
    with pytest.raises(UserError) as refused:
        correct_markers(recorded(), [row])
    assert message in str(refused.value)
