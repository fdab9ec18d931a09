"""Loads without a plate, as files of OpenSim state them: the area on which one pressed, in place of corners."""

import numpy as np

from ..arrays import Array, Flags
from ..conventions import LOADED_SHARE
from .wrench import LOADED_N

# a foot's length: a foot is nowhere farther than that from where it presses
REACH_M = 0.3
# a foot that bears weight pushes the ground down: the force leans by less than 30 degrees even in sprinting and turning
LEAST_UPRIGHT = np.cos(np.radians(45))


def find_pressed_area(force: Array, point: Array) -> Array:
    """Return the corners (4, 3) of the level rectangle on which a load pressed, with a foot's length around it.

    It is no plate: its edges say nothing about where the foot may be.

    Args:
        force, point: (sample, 3), N and m, lab axes, y up.
    """
    places = point[_is_loaded(force)]
    places = places[np.isfinite(places).all(axis=1)]
    low, high = (places.min(axis=0), places.max(axis=0)) if len(places) else np.zeros((2, 3))
    height = float(np.median(places[:, 1])) if len(places) else 0.0
    (back, _, left), (front, _, right) = low - REACH_M, high + REACH_M
    return np.array([[front, height, right], [back, height, right], [back, height, left], [front, height, left]])


def sideways(force: Array) -> str:
    """Return what is wrong with a load (sample, 3), N, lab axes, that does not point up or down, or an empty text."""
    mean = force[_is_loaded(force)].mean(axis=0) if _is_loaded(force).any() else np.array([0.0, 1.0, 0.0])
    if abs(mean[1]) >= LEAST_UPRIGHT * np.linalg.norm(mean):
        return ""
    return "its force points sideways, by the axes of the markers: are they those of the forces?"


def _is_loaded(force: Array) -> Flags:
    size = np.sqrt((force * force).sum(axis=1))
    return np.asarray(size > max(LOADED_N, LOADED_SHARE * np.fmax.reduce(size, initial=0.0)))
