"""Analog channels stored as integers, signed or unsigned, with offsets, scales and a common gain."""

from __future__ import annotations

import struct
from pathlib import Path

import ezc3d
import numpy as np
import pytest

from pipeline.c3d.reader import read_c3d

VALUES = np.array([[0.0, 10, -20, 1000, -5000], [1, 2, 3, -4000, 12000]])  # (channel, sample)
SCALES, GAIN = [0.5, -0.25], 2.0


def with_counts(path: Path, *, offset: int, unsigned: bool) -> Path:
    """Write a file of 16-bit integers by converting the real numbers that ezc3d writes."""
    file = ezc3d.c3d()
    point, analog = file["parameters"]["POINT"], file["parameters"]["ANALOG"]
    point["LABELS"]["value"], point["UNITS"]["value"] = ["A"], ["mm"]
    point["RATE"]["value"] = analog["RATE"]["value"] = [100.0]
    analog["LABELS"]["value"], analog["SCALE"]["value"], analog["GEN_SCALE"]["value"] = ["a", "b"], SCALES, [GAIN]
    analog["OFFSET"]["value"] = np.zeros(2, dtype=int)
    analog["FORMAT"]["value"], analog["BITS"]["value"] = ["UNSIGNED" if unsigned else "SIGNED"], np.array([16])
    file["data"]["points"], file["data"]["analogs"] = np.full((4, 1, 5), 100.0), VALUES[None]
    file.write(str(path))
    content = bytearray(path.read_bytes())
    start = 512 * (struct.unpack_from("<h", content, 16)[0] - 1)
    stored = np.frombuffer(content[start : start + 4 * 5 * 6], "<f4").reshape(5, 6)
    scale = content.index(b"SCALE", content.index(b"POINT")) + 5 + 4
    struct.pack_into("<f", content, 12, 0.1)  # POINT:SCALE, in the header and as parameter: positive means integers
    struct.pack_into("<f", content, scale, 0.1)
    offsets = content.index(b"OFFSET", content.index(b"ANALOG")) + 6 + 5
    struct.pack_into("<2H", content, offsets, offset, offset)
    counts = np.hstack([np.rint(stored[:, :3] / 0.1), stored[:, 3:4], np.rint(stored[:, 4:]) + offset])
    path.write_bytes(bytes(content[:start]) + (counts.astype(int) % 65536).astype("<u2").tobytes())
    return path


@pytest.mark.parametrize(
    ("offset", "unsigned"), [(0, False), (2048, False), (32767, True), (32768, True), (30000, True)]
)
def test_counts_are_converted_to_values(tmp_path: Path, offset: int, unsigned: bool) -> None:
    recording = read_c3d(with_counts(tmp_path / "counts.c3d", offset=offset, unsigned=unsigned))
    np.testing.assert_allclose(recording.analog.T, VALUES, rtol=0, atol=1e-9)  # whole counts, exact scales
    np.testing.assert_allclose(recording.markers, 0.1, rtol=0, atol=1e-6)
