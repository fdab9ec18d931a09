"""Text files for OpenSim: markers (.trc), tables over time (.mot) and the columns of external loads in these."""

import io
from collections.abc import Mapping, Sequence

import numpy as np

from ...arrays import Array
from ...dynamics.vectors import cross
from .setup_files import OF_SIDE

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


def load_columns(side: str, force: Array, moment: Array, point: Array) -> Columns:
    """Return the columns of the external load on a foot, all (time, 3), lab axes.

    Args:
        force: N, and its ``moment`` about the origin, N m; both 0 without load.
        point: where the force acts, m; where it is NaN the nearest one in time is taken, and the torque is the whole
            moment about it.
    """
    known = np.flatnonzero(np.isfinite(point[:, 0]))
    nearest = np.interp(np.arange(len(point)), known, np.arange(len(known))) if known.size else known
    point = point[known[np.rint(nearest).astype(int)]] if known.size else np.zeros_like(point)
    end = OF_SIDE[side]
    vectors = {f"force_{end}_v": force, f"force_{end}_p": point, f"torque_{end}_": moment - cross(point, force)}
    return {f"ground_{name}{axis}": values[:, i] for name, values in vectors.items() for i, axis in enumerate("xyz")}


def _rows(values: Array, formats: Sequence[str]) -> str:
    text = io.StringIO()
    np.savetxt(text, values, fmt=list(formats), delimiter="\t")
    return text.getvalue()
