"""Soft-tissue motion: how the markers of a walker slide on the skin over the bones.

Each segment's cluster moves and turns against its bone in proportion to the flexion of the adjacent joints from quiet
standing, and wobbles after foot strike; each marker adds a motion of its own. Directions are random but belong to the
person, as soft-tissue motion is repeatable within people and not among them (Leardini et al. 2005, Gait Posture
21:212-225). Clusters mainly move as a whole, and with knee flexion (Barré et al. 2017, J Biomech 62:21-26).
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from ..arrays import Array
from ..conventions import CHAIN, SIDES
from .body import markers_in_segments
from .legs import Pose
from .walk import Walk, standing


@dataclass(frozen=True)
class Tissue:
    """Ranges between people of a cluster's motion when its joints pass through the ranges of walking.

    ``shift_mm`` of the cluster's middle, ``turn_deg`` of the cluster, ``own_mm`` of each marker; ``turn_about``:
    how much of a turn is about the segment's x, y and z axes.
    """

    shift_mm: tuple[float, float]
    turn_deg: tuple[float, float]
    own_mm: tuple[float, float]
    turn_about: tuple[float, float, float] = (1.0, 1.0, 1.0)


# Against fluoroscopy in walking: the thigh's cluster moves by up to 18 mm and 10 degrees, the shank's by 17 mm and 7
# degrees, markers within a cluster by 4 to 16 mm (Ancillao et al. 2021, Hum Mov Sci 80:102866); markers of the foot by
# up to 9 mm (Roach et al. 2021, Gait Posture 85:258-265). Quoted from memory of the reviews of Leardini et al. (2005)
# and Peters et al. (2010, Gait Posture 31:1-8): thigh 10 to 30 mm, shank 5 to 15 mm and 8 degrees, mainly about its
# long axis. The pelvis' figures are assumptions for slim adults.
TISSUE = {
    "foot": Tissue((2.0, 5.0), (1.0, 3.0), (2.0, 5.0)),
    "shank": Tissue((5.0, 10.0), (4.0, 8.0), (2.0, 4.0), turn_about=(0.3, 1.0, 0.3)),
    "thigh": Tissue((10.0, 20.0), (5.0, 9.0), (4.0, 8.0), turn_about=(0.6, 1.0, 0.6)),
    "pelvis": Tissue((2.0, 6.0), (0.5, 2.0), (2.0, 4.0)),
}
RANGE_DEG = {"ankle": 30.0, "knee": 60.0, "hip": 42.0}  # of flexion in normal walking (Winter 1991)

# After foot strike, as a share of the motion with full flexion: assumptions. Muscles vibrate at 10 to 50 Hz, less the
# larger they are, and stop within some 0.1 s (from memory: Wakeling & Nigg 2001, J Appl Physiol 90:412-420).
WOBBLE = 0.2
WOBBLE_HZ = (9.0, 15.0)
ONSET_S, DECAY_S = 0.01, 0.05


def skin_motion(walk: Walk, body: Pose, time: Array) -> dict[str, Array]:
    """Return label -> displacement (time, 3) of each marker from its place on the bone, ISB lab axes, m."""
    rng = np.random.default_rng([walk.walker.marker_seed, 7])
    bent = _flexion(body) - _flexion(standing(walk.walker, time[:1]))
    bent /= np.radians(list(RANGE_DEG.values()))
    clusters: dict[tuple[str, int], dict[str, Array]] = {}  # of the markers' places in segment axes
    for label, (segment, side, place) in markers_in_segments(walk.walker).items():
        clusters.setdefault((segment, 0 if segment == "pelvis" else side), {})[label] = place
    displacements: dict[str, Array] = {}
    for (segment, side), places in clusters.items():
        if segment == "pelvis":
            rotation, bends, struck = body.pelvis_rotation, bent[:, :, 2], walk.strike
        else:
            i = CHAIN.index(segment)
            rotation, bends = body.rotation[:, side, i], bent[:, side, max(i - 1, 0) : i + 1]
            struck = walk.strike[walk.side == side]
        wobble = _wobble(time[:, None] - struck, rng.uniform(*WOBBLE_HZ)).sum(axis=1)
        signals = np.column_stack([bends / np.sqrt(bends.shape[1]), WOBBLE * wobble])
        slides = _slides(np.stack(list(places.values())), signals, TISSUE[segment], rng)
        in_lab = np.einsum("tij,tmj->mti", rotation, slides)
        displacements |= dict(zip(places, in_lab, strict=True))
    return displacements


def _flexion(body: Pose) -> Array:
    """Return the angle (time, side, joint) of the distal about the proximal z axis, rad; its sign is that of z."""
    pelvis = np.repeat(body.pelvis_rotation[:, None, None], len(SIDES), axis=1)
    proximal = np.concatenate([body.rotation[:, :, 1:], pelvis], axis=2)
    y = np.einsum("...ji,...j->...i", proximal, body.rotation[..., 1])
    return np.asarray(np.arctan2(-y[..., 0], y[..., 1]))


def _wobble(since_s: Array, frequency_hz: float) -> Array:
    """Return a damped oscillation of about size 1 at times since the strike, smooth at its start.

    The onset is the probability of a gamma distribution of order 4, so that three derivatives are continuous.
    """
    since = np.clip(since_s, 0, None)
    u = since / ONSET_S
    onset = 1 - (1 + u + u**2 / 2 + u**3 / 6) * np.exp(-u)
    return np.asarray(onset * np.exp(-since / DECAY_S) * np.sin(2 * np.pi * frequency_hz * since))


def _slides(places: Array, signals: Array, tissue: Tissue, rng: np.random.Generator) -> Array:
    """Return the displacements (time, marker, 3) in segment axes of markers at ``places`` (marker, 3), m.

    Each of the ``signals`` (time, signal) drives a shift, a turn and each marker in directions of its own.
    """
    count = signals.shape[1]
    shift = rng.uniform(*tissue.shift_mm) / 1e3 * _directions(rng, (count,))
    turn = np.radians(rng.uniform(*tissue.turn_deg)) * _directions(rng, (count,), tissue.turn_about)
    wobble = rng.uniform(*tissue.own_mm) / 1e3 * _directions(rng, (count, len(places)))
    arms = places - places.mean(axis=0)
    turned = np.einsum("tij,mj->tmi", Rotation.from_rotvec(signals @ turn).as_matrix(), arms) - arms
    return np.asarray(turned + (signals @ shift)[:, None] + np.einsum("tk,kmi->tmi", signals, wobble))


def _directions(rng: np.random.Generator, shape: tuple[int, ...], along: tuple[float, ...] = (1.0, 1.0, 1.0)) -> Array:
    """Return random unit vectors (shape, 3), mostly along the axes of larger ``along``."""
    vectors = np.array(along) * rng.normal(size=(*shape, 3))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))
