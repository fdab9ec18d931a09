"""The ends of visible stretches."""

from __future__ import annotations

import numpy as np

from pipeline.signals.filters import near_ends


def test_near_ends_are_the_first_and_last_samples_of_each_stretch() -> None:
    seen = np.array([[True] * 9, [True, True, True, True, False, True, True, False, False]]).T
    text = ["".join("x" if near else "." for near in column) for column in near_ends(seen, 2).T]
    assert text == ["xx.....xx", "xxxxxxxxx"]
    assert ["".join("x" if near else "." for near in column) for column in near_ends(seen, 1).T] == [
        "x.......x",
        "x..xxxxxx",
    ]
    np.testing.assert_array_equal(near_ends(seen, 0), ~seen)
