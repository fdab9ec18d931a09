"""Body weight from plates in walks of known weight."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.plates.body_weight import vertical_forces, walking_weights_n

Array = NDArray[np.float64]
RATE_HZ, WEIGHT_N, STRIDE_S = 1000.0, 700.0, 1.1
STANCE_S = 0.62 * STRIDE_S


def walk(starts_s: tuple[float, ...], shares: tuple[float, ...] = (1.0, 1.0)) -> Array:
    """Return the vertical force (sample, plate) of one stance on each plate.

    Two humps, scaled so that a periodic walk carries the weight: the impulse of a stance is weight times half a stride.
    """
    time = np.arange(0, 3, 1 / RATE_HZ)
    columns = []
    for start_s, share in zip(starts_s, shares, strict=True):
        phase = (time - start_s) / STANCE_S
        shape = np.where((phase > 0) & (phase < 1), np.sin(np.pi * phase) + 0.3 * np.sin(3 * np.pi * phase), 0.0)
        columns.append(share * shape * WEIGHT_N * STRIDE_S / 2 / (shape.sum() / RATE_HZ))
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("drift_n", [0.0, 40.0, -70.0])
def test_two_steps_give_the_weight(drift_n: float) -> None:
    plates = np.array([[[0, 0.5, 0], [0.5, 0.5, 0], [0.5, 0, 0], [0, 0, 0]]] * 2)  # z into the floor
    force = (walk((0.5, 0.5 + STRIDE_S / 2)) + drift_n)[..., None] * [0, 0, 1]
    good, rough = walking_weights_n(vertical_forces(force, plates), RATE_HZ)
    # a threshold at 4 % of the peak shortens a stance by 2 %
    assert good == pytest.approx([WEIGHT_N], rel=0.02)
    assert rough == pytest.approx([WEIGHT_N] * 2, rel=0.04)


def test_a_foot_half_on_its_plate_gives_a_rough_weight() -> None:
    good, rough = walking_weights_n(walk((0.5, 0.5 + STRIDE_S / 2), (1.0, 0.6)), RATE_HZ)
    assert good == []
    assert rough == pytest.approx([WEIGHT_N], rel=0.04)  # the whole step alone


def test_no_load_no_weight() -> None:
    assert walking_weights_n(np.zeros((3000, 2)), RATE_HZ) == ([], [])
    assert walking_weights_n(np.empty((0, 0)), RATE_HZ) == ([], [])
