"""Whether two recordings show one motion, whatever their formats, units and axes."""

import numpy as np

from ...steps.read.recording_contents import Contents

FEWEST_MARKERS = 3
SAME_M = 1e-3  # text files are rounded to 0.1 mm or finer; nobody stands twice on one place to a millimetre


def show_same_motion(one: Contents, other: Contents) -> bool:
    """Return whether the markers of one are among those of the other, as far from the lab origin in the frames kept.

    Both recordings have as many frames. Axes that are exchanged or turned, as OpenSim's are, change no distance.
    """
    labels = one.visible
    if one.frame_count != other.frame_count or len(labels) < FEWEST_MARKERS or not {*labels} <= {*other.visible}:
        return False
    away = [
        np.linalg.norm(file.recording.markers[:, [file.recording.labels.index(label) for label in labels]], axis=-1)
        for file in (one, other)
    ]
    apart = np.abs(away[0] - away[1])
    return bool(np.isfinite(apart).any() and np.nanmax(apart) < SAME_M)
