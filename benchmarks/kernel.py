"""The block-matrix solution of foot and shank against the ways it is usually written."""

from __future__ import annotations

import numpy as np

from benchmarks.timing import best_s
from pipeline.dynamics import block_matrix

FRAMES = 100_000
FEW = 1_000


def measure(frames: int = FRAMES) -> dict[str, float]:
    """Return the microseconds a frame, and how many times as long the alternatives take."""
    random = np.random.default_rng(0)
    rotation = np.linalg.qr(random.normal(size=(frames, 2, 3, 3)))[0]
    vectors = [random.normal(size=(frames, 2, 3)) for _ in range(7)]
    mass, inertia = np.array([1.0, 3.0]), np.tile(np.diag([0.01, 0.02, 0.03]), (2, 1, 1))
    acceleration, velocity, turning, force, moment, proximal, distal = vectors
    gravity = np.array([0.0, -9.81, 0.0])

    def ours() -> object:
        return block_matrix.inverse_dynamics(
            rotation, mass, inertia, acceleration, velocity, turning, proximal, distal, force, moment, gravity
        )

    rows = block_matrix.right_hand_sides(
        rotation, mass, inertia, acceleration, velocity, turning, force, moment, gravity
    )
    stacked = np.concatenate([row.sum(axis=1) for row in rows], axis=-1).reshape(frames, 12)

    def batched() -> object:
        return np.linalg.solve(block_matrix.system_matrix(rotation, proximal, distal), stacked[..., None])

    def per_frame() -> object:
        return [
            np.linalg.inv(block_matrix.system_matrix(rotation[i], proximal[i], distal[i])) @ stacked[i]
            for i in range(FEW)
        ]

    own = best_s(ours) / frames
    return {
        "kernel, foot and shank with four terms, microseconds a frame": own * 1e6,
        "batched numpy.linalg.solve over the kernel": best_s(batched, runs=3) / frames / own,
        "inverse in every frame over the kernel": best_s(per_frame, runs=3) / FEW / own,
        "kernel over a plain copy of its inputs": own
        / (best_s(lambda: [v.copy() for v in (rotation, *vectors)]) / frames),
    }
