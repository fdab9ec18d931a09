"""Rates of recordings: every one that a lab can set is read as it was set, whatever the file rounds."""

from __future__ import annotations

from pathlib import Path

import ezc3d
import numpy as np
import pytest

from pipeline.c3d.reader import read_c3d
from pipeline.opensim_files.trc import read_trc
from pipeline.recording import simplest_rate
from pipeline.signals.filters import low_pass
from tests.support.files.opensim import trc_text

# whole numbers, broadcast rates exactly and rounded, periods of whole milliseconds and microseconds, one camera's own
RATES_HZ = (50.0, 59.94, 60e3 / 1001, 100.0, 119.88, 120e3 / 1001, 149.85, 150e3 / 1001, 23.976, 24e3 / 1001, 29.97,
            47.952, 91.287, 179.82, 239.76, 240e3 / 1001, 1e3 / 3, 1e3 / 7, 1e6 / 8333, 33.3, 312.5, 500.0)  # fmt: skip
MINUTE_S = 60.0
LATE_S = 1e-9  # the largest error of an instant in a minute


def written(folder: Path, rate_hz: float, samples: int) -> Path:
    """Write a second of a marker and a channel at rates that C3D holds in single precision."""
    frames = int(np.ceil(rate_hz))
    file = ezc3d.c3d()
    point, analog = file["parameters"]["POINT"], file["parameters"]["ANALOG"]
    point["RATE"]["value"], analog["RATE"]["value"] = [rate_hz], [rate_hz * samples]
    point["LABELS"]["value"], analog["LABELS"]["value"] = ["LASI"], ["Fz"]
    file["data"]["points"] = np.ones((4, 1, frames))
    file["data"]["analogs"] = np.arange(frames * samples, dtype=float)[None, None]
    file.write(str(path := folder / "walk.c3d"))
    return path


@pytest.mark.parametrize("rate_hz", RATES_HZ)
def test_every_rate_of_a_c3d_file_is_read_as_it_was_set(tmp_path: Path, rate_hz: float) -> None:
    """Single precision alone shifts the last frame of a minute by some microseconds."""
    for samples in (1, 2, 3, 7, 10, 13, 20):
        found = read_c3d(written(tmp_path, rate_hz, samples))
        assert found.analog.shape == (len(found.markers) * samples, 1), samples
        np.testing.assert_array_equal(found.analog[:, 0], np.arange(len(found.analog)))
        for read_hz, set_hz in ((found.marker_rate_hz, rate_hz), (found.analog_rate_hz, rate_hz * samples)):
            last = MINUTE_S * set_hz
            assert abs(last / read_hz - last / set_hz) < LATE_S, (samples, read_hz)


@pytest.mark.parametrize("digits", [3, 6])
@pytest.mark.parametrize("rate_hz", RATES_HZ)
def test_every_rate_of_a_trc_file_is_read_as_it_was_set(tmp_path: Path, rate_hz: float, digits: int) -> None:
    """DataRate as programs write it: in full, with two decimals, in whole frames a second; times with some decimals."""
    frames = round(MINUTE_S * rate_hz) + 1
    lines = trc_text(["R.ASIS"], np.ones((frames, 1, 3)), rate_hz).splitlines()
    for i in range(6, 6 + frames):
        number, _, *cells = lines[i].split("\t")
        lines[i] = "\t".join([number, f"{(i - 6) / rate_hz:.{digits}f}", *cells])
    for stated in (f"{rate_hz!r}", f"{rate_hz:.2f}", f"{rate_hz:.0f}"):
        lines[2] = "\t".join([stated, stated, *lines[2].split("\t")[2:]])
        (path := tmp_path / "walk.trc").write_text("\n".join(lines) + "\n")
        found = read_trc(path)
        # what neither DataRate nor the times tell apart: the last digit of the time of the last frame
        allowed_s = LATE_S if stated == f"{rate_hz!r}" or digits == 6 else 10.0**-digits
        assert len(found.positions) == frames
        assert abs((frames - 1) / found.rate_hz - (frames - 1) / rate_hz) < allowed_s, (stated, found.rate_hz)


@pytest.mark.parametrize("rate_hz", RATES_HZ)
def test_forces_at_every_rate_are_filtered_alike(rate_hz: float) -> None:
    """A slow force passes, one far above the cut-off does not, whatever the rate; the edges of the filter left out."""
    for samples in (1, 7, 10, 20):
        force_hz = rate_hz * samples
        time_s = np.arange(round(6 * force_hz)) / force_hz
        inside = (time_s > 2) & (time_s < 4)
        slow, fast = (np.sin(2 * np.pi * hz * time_s) for hz in (0.5, 10.0))
        found = low_pass((slow + fast)[:, None], rate_hz=force_hz, cutoff_hz=2.0, order=4)[:, 0]
        # of two passes of second order: 1 / (1 + (f / fc)^4 C), 0.16 % of 10 Hz and 0.4 % off 0.5 Hz
        np.testing.assert_allclose(found[inside], slow[inside], atol=0.01)


def test_a_rate_that_no_clock_has_stays_as_it_is() -> None:
    assert simplest_rate(119.1234567, 1e-8) == 119.1234567
    assert simplest_rate(59.94, 1e-12) == 59.94
