"""Balance of the whole body: closed forms of the pendulum, and of bodies that move together."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pipeline.whole_body.balance import Bodies, angular_momentum, centre_of_mass, extrapolated

Array = NDArray[np.float64]


def bodies(seed: int = 0, count: int = 4) -> Bodies:
    """Return some bodies that move and turn by chance, at five instants."""
    rng, shape = np.random.default_rng(seed), (5, count)
    inertia = np.array([np.diag(rng.uniform(0.01, 0.2, 3)) for _ in range(count)])
    rotation = Rotation.random(5 * count, rng=rng).as_matrix().reshape(*shape, 3, 3)
    motion = [rng.normal(size=(*shape, 3)) for _ in range(4)]
    return Bodies(rng.uniform(1, 30, count), inertia, rotation, *motion)


def test_the_extrapolated_centre_of_a_falling_pendulum_moves_away_as_its_exponential() -> None:
    """Near upright x'' = x g / l, so that from rest x = cosh(w t) with w = sqrt(g / l), and x + x' / w = exp(w t)."""
    length_m, gravity_m_s2 = 0.9, 9.81
    w, time = np.sqrt(gravity_m_s2 / length_m), np.linspace(0, 1, 11)[:, None]
    position, velocity = np.cosh(w * time) * [1, 0, 0], w * np.sinh(w * time) * [1, 0, 0]
    found = extrapolated(position, velocity, np.full(11, length_m), gravity_m_s2)
    np.testing.assert_allclose(found, np.exp(w * time) * [1, 0, 0], rtol=1e-12)


@pytest.mark.parametrize("part", ["position", "velocity"])
def test_the_momentum_of_each_part_does_not_depend_on_the_observer(part: str) -> None:
    """It is about the centre of mass, and by velocities against it."""
    here = bodies()
    moved = here._replace(**{part: getattr(here, part) + np.array([0.7, -0.2, 1.5])})
    np.testing.assert_allclose(angular_momentum(moved), angular_momentum(here), atol=1e-12)


def test_the_momentum_of_a_rigid_body_is_its_inertia_times_its_angular_velocity() -> None:
    """Of two masses at the ends of a rod that turns about its middle: m r^2 w each; and their own spin."""
    at = np.array([[[0.5, 0, 0], [-0.5, 0, 0]]])
    spin = np.array([0.0, 3.0, 0.0])
    still = np.zeros((1, 2, 3))
    mass, upright = np.array([2.0, 2.0]), np.eye(3) + np.zeros((1, 2, 3, 3))
    rod = Bodies(mass, np.zeros((2, 3, 3)), upright, still, at, np.cross(spin, at), still)
    np.testing.assert_allclose(angular_momentum(rod), [[[0, 1.5, 0], [0, 1.5, 0]]])
    turned = Rotation.from_euler("z", 90, degrees=True).as_matrix()  # its x along lab -y
    own = rod._replace(inertia=np.array([np.diag([0.1, 0.2, 0.4])] * 2), rotation=turned + np.zeros((1, 2, 3, 3)))
    own = own._replace(spin=still + np.array([1.0, 0.0, 0.0]), velocity=still)
    np.testing.assert_allclose(angular_momentum(own), [[[0, -0.1, 0]] * 2], atol=1e-15)


def test_the_centre_of_mass_is_the_mean_by_mass() -> None:
    here = bodies()
    for found, of in zip(centre_of_mass(here), (here.position, here.velocity, here.acceleration), strict=True):
        np.testing.assert_allclose(found, np.average(of, axis=1, weights=here.mass))
