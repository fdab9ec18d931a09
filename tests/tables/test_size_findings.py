"""Days of recording, and sizes that recordings contradict, without a file."""

from __future__ import annotations

import math

import pytest

from pipeline.tables.size_findings import Shown, of_sizes
from pipeline.tables.study_tables import recorded_on

G = 9.80665


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (Shown({}, 74.6 * G, [], math.nan), "mass_kg is 90, but the plates under the static trial show 74.6"),
        (
            Shown({}, math.nan, [75 * G, 74 * G, 20 * G], math.nan),
            "mass_kg is 90, but steps on the plates show about 74.0",
        ),
        (Shown({"mass_kg": 74.6}, math.nan, [], math.nan), "mass_kg is 90, but the C3D files state 74.6"),
        (Shown({}, 84 * G, [], math.nan), ""),  # 7 %: clothes, shoes
        (Shown({}, math.nan, [], 1.3), "height_m is 1.7, but heel and ASIS of the static trial are 1.30 m apart"),
    ],
)
def test_sizes_are_compared_with_what_recordings_show(shown: Shown, expected: str) -> None:
    row = {"participant_id": "p1", "mass_kg": "90", "height_m": "1.7"}
    assert "; ".join(one.what for one in of_sizes(row, shown, segment_table="dempster")) == expected


@pytest.mark.parametrize(
    ("rows", "person", "expected"),
    [
        ([{"acq_time": "2024-05-12T09:30:00"}, {"acq_time": "2024-05-12T09:41:00"}], {}, "2024-05-12"),
        ([{"date": "12.5.2024"}, {"date": "n/a"}], {"date": "1.1.2020"}, "12.5.2024"),
        ([{"file": "a.c3d"}], {"acq_time": "2024-05-12"}, "2024-05-12"),
        ([{"acq_time": "n/a"}], {}, ""),
    ],
)
def test_the_day_of_recording_is_that_of_the_tables(
    rows: list[dict[str, str]], person: dict[str, str], expected: str
) -> None:
    assert recorded_on(rows, person) == expected
