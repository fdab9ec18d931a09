"""Body weight from plates in walks of known weight."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.c3d.reader import read_c3d
from pipeline.conventions import STANDARD_GRAVITY_M_S2
from pipeline.person.body_weight import standing_weight_n, vertical_forces, walking_weights_n
from pipeline.steps.read.plates_and_channels import decode_plates

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
    found = walking_weights_n(vertical_forces(force, plates), RATE_HZ)
    # the threshold of 4 % of the peak shortens double supports
    assert found == pytest.approx([WEIGHT_N], rel=0.03)


def test_a_foot_half_on_its_plate_gives_no_weight() -> None:
    assert walking_weights_n(walk((0.5, 0.5 + STRIDE_S / 2), (1.0, 0.6)), RATE_HZ) == []


def test_steps_without_double_support_give_no_weight() -> None:
    """A run has a flight between the steps, and what a plate shows then depends on more than the weight."""
    assert walking_weights_n(walk((0.5, 0.5 + STANCE_S)), RATE_HZ) == []


def test_no_load_no_weight() -> None:
    assert walking_weights_n(np.zeros((3000, 2)), RATE_HZ) == []
    assert walking_weights_n(np.empty((0, 0)), RATE_HZ) == []


@pytest.mark.parametrize(
    ("file", "mass_kg"),
    [
        ("labs/heel_in_static/P21989/2198928.c3d", 13.5),
        ("labs/children/HC032A/Straight/HC032A03.c3d", 60.3),
        ("labs/children/HC036A/Straight/HC036A10.c3d", 33.0),
        ("labs/kad_fmc/MH0222/MH0222_BP06.c3d", 81.0),
        ("labs/kad_sydney/S4-AM/S4-AMGait04.c3d", 53.5),
        ("studies/plug_in_gait/sub-02/HC002D06.c3d", 32.1),
    ],
)
def test_children_and_adults_within_6_percent(shared: Path, file: str, mass_kg: float) -> None:
    recording = read_c3d(shared / file)
    plates = decode_plates(recording, np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]))
    weights = walking_weights_n(vertical_forces(plates.force, plates.corners), recording.analog_rate_hz)
    assert np.median(weights) / STANDARD_GRAVITY_M_S2 == pytest.approx(mass_kg, rel=0.06)


@pytest.mark.parametrize("turns", range(4))
def test_weight_is_known_only_with_both_feet_on_plates(turns: int) -> None:
    """Feet on two plates of 0.4 x 0.6 m, 300 and 400 N; a third plate drifts by 50 N; any file axes."""
    rotation = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]]) if turns else np.eye(3)
    rotation = np.linalg.matrix_power(rotation, turns)
    quad = np.array([[0.6, 0, 0.4], [0, 0, 0.4], [0, 0, 0], [0.6, 0, 0]])
    corners = np.stack([quad, quad + np.array([0, 0, 0.5]), quad + np.array([1, 0, 0])])
    force = np.zeros((50, 3, 3))
    force[..., 1] = [300, 400, 50]
    feet = {"heel_left": (0.1, 0.2), "toe_left": (0.3, 0.2), "heel_right": (0.1, 0.7), "toe_right": (0.3, 0.7)}
    points = {name: np.tile([x, 0.05, z], (5, 1)) @ rotation for name, (x, z) in feet.items()}
    known = np.ones(3, dtype=bool)
    assert standing_weight_n(points, rotation, force, corners, known) == pytest.approx(700)
    points["toe_right"] = points["toe_right"] + np.array([0.4, 0, 0]) @ rotation  # beyond the edge
    assert np.isnan(standing_weight_n(points, rotation, force, corners, known))


@pytest.mark.parametrize("one_plate", [False, True])
@pytest.mark.parametrize(("left_n", "known"), [(300, True), (350, True), (0, False), (700, False)])
def test_loads_without_plates_show_the_weight_if_both_feet_bear_it(one_plate: bool, left_n: float, known: bool) -> None:
    """As in files of OpenSim: forces and where they press, 0.2 m ahead of the heels; under each foot, or under both."""
    feet = {"heel_left": (0.1, 0.2), "toe_left": (0.3, 0.2), "heel_right": (0.1, 0.5), "toe_right": (0.3, 0.5)}
    points = {name: np.tile([x, 0.05, z], (5, 1)) for name, (x, z) in feet.items()}
    loads = np.array([left_n, 700 - left_n, 0])
    places = np.array([[0.2, 0, 0.2], [0.2, 0, 0.5], [0, 0, 0]])
    if one_plate:
        loads, places = np.array([700]), (loads @ places / 700)[None]
    force = np.zeros((50, len(loads), 3))
    force[..., 1] = loads
    quad = np.array([[0.3, 0, 0.3], [-0.3, 0, 0.3], [-0.3, 0, -0.3], [0.3, 0, -0.3]])
    corners = places[:, None] + quad
    weight_n = standing_weight_n(points, np.eye(3), force, corners, np.zeros(len(loads), dtype=bool))
    assert weight_n == pytest.approx(700) if known else np.isnan(weight_n)
    corners[..., 0] += 1.0  # by another origin
    assert np.isnan(standing_weight_n(points, np.eye(3), force, corners, np.zeros(len(loads), dtype=bool)))
