"""The order of the filters, and the ends of visible stretches."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.signals.filters import low_pass, near_ends


def test_near_ends_are_the_first_and_last_samples_of_each_stretch() -> None:
    seen = np.array([[True] * 9, [True, True, True, True, False, True, True, False, False]]).T
    text = ["".join("x" if near else "." for near in column) for column in near_ends(seen, 2).T]
    assert text == ["xx.....xx", "xxxxxxxxx"]
    assert ["".join("x" if near else "." for near in column) for column in near_ends(seen, 1).T] == [
        "x.......x",
        "x..xxxxxx",
    ]
    np.testing.assert_array_equal(near_ends(seen, 0), ~seen)


@pytest.mark.parametrize("order", [2, 4, 8])
@pytest.mark.parametrize("frequency_hz", [3.0, 6.0, 12.0])
def test_the_order_is_that_of_both_passes_together(order: int, frequency_hz: float) -> None:
    """The gain of the whole filter is 1 / (1 + (sqrt(2) - 1) (f / fc)^order), with tan(pi f / fs) for f."""
    time = np.arange(2000) / 100
    wave = np.sin(2 * np.pi * frequency_hz * time)
    smooth = low_pass(wave[:, None], rate_hz=100.0, cutoff_hz=6.0, order=order)[:, 0]
    ratio = np.tan(np.pi * frequency_hz / 100) / np.tan(np.pi * 6.0 / 100)
    gain = 1 / (1 + (np.sqrt(2) - 1) * ratio**order)
    np.testing.assert_allclose(smooth[500:-500], gain * wave[500:-500], atol=1e-6)
