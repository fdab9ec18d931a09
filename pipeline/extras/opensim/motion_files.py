"""Text files that OpenSim reads or writes: markers (.trc) and tables over time (.mot, .sto)."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ...arrays import Array

Columns = dict[str, Array]
MM_PER_M = 1000.0
TIME = "%.8f"  # s; at a foot strike, 10 kN/s, the last digit is 0.1 mN


def trc(name: str, time: Array, markers: Mapping[str, Array], *, rate_hz: float) -> str:
    """Return a marker file in mm; missing samples are ``nan``, which all of OpenSim's readers take.

    Args:
        time: (time,), s.
        markers: positions (time, 3) by name, m, x forward, y up, z to the right.
    """
    count, labels = len(time), [*markers]
    frames = np.rint(time * rate_hz) + 1
    header = [
        f"PathFileType\t4\t(X/Y/Z)\t{name}",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames",
        f"{rate_hz:.6f}\t{rate_hz:.6f}\t{count}\t{len(labels)}\tmm\t{rate_hz:.6f}\t{frames[0]:.0f}\t{count}",
        "Frame#\tTime\t" + "\t\t\t".join(labels),
        "\t\t" + "\t".join(f"{axis}{i}" for i in range(1, len(labels) + 1) for axis in "XYZ"),
        "",
    ]
    rows = np.column_stack([frames, time, *(MM_PER_M * position for position in markers.values())])
    return "\n".join(header) + "\n" + _rows(rows, ["%d", TIME, *["%.5f"] * (rows.shape[1] - 2)])


def mot(name: str, columns: Mapping[str, Array]) -> str:
    """Return a table over time of columns (time,) by name, ``time`` (s) first; angles in degrees."""
    rows = np.column_stack([*columns.values()])
    header = [name, "version=1", f"nRows={len(rows)}", f"nColumns={len(columns)}", "inDegrees=yes", "endheader"]
    return "\n".join([*header, "\t".join(columns)]) + "\n" + _rows(rows, [TIME, *["%.9g"] * (len(columns) - 1)])


def read_table(path: Path) -> Columns:
    """Return the columns (time,) of a table that a tool of OpenSim has written, by name, ``time`` first."""
    lines = path.read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip() == "endheader") + 1
    rows = np.loadtxt(lines[start + 1 :], ndmin=2)
    return dict(zip(lines[start].split(), rows.T, strict=True))


def _rows(values: Array, formats: Sequence[str]) -> str:
    text = io.StringIO()
    np.savetxt(text, values, fmt=list(formats), delimiter="\t")
    return text.getvalue()
