"""Pictures of refused stances: what is drawn is where it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr

from pipeline.plates.sole import SOLE_STARTS_M
from pipeline.steps.report.refused_stances import MOST_PICTURES, MOST_POINTS, pictures_of
from pipeline.trials.session import join_trials

TIME = np.arange(100) / 100
PRESSED_M = np.stack([np.linspace(0.1, 0.3, 100), np.zeros(100), np.full(100, 0.05)], axis=1)
HEEL_M, TOE_M, OTHER_M = (0.05, 0.02, 0.05), (0.25, 0.02, 0.05), (0.9, 0.02, -0.1)


def plate_at(x: float) -> list[list[float]]:
    return [[x + 0.6, 0, 0.2], [x, 0, 0.2], [x, 0, -0.2], [x + 0.6, 0, -0.2]]


def clean(**attributes: Any) -> xr.Dataset:
    """Return a session in which the left foot rests on plate 2 of three and the right one far ahead."""
    force = np.zeros((100, 3, 3))
    force[:, 1, 1] = np.where(TIME > 0.1, 700.0, 10.0)
    markers = {"heel_left": HEEL_M, "toe_left": TOE_M, "heel_right": OTHER_M, "toe_right": np.add(OTHER_M, [0.2, 0, 0])}
    position = np.broadcast_to(np.array([*markers.values()]), (100, 4, 3))
    plate = ("time", "plate", "axis")
    trial = xr.Dataset(
        {
            "marker_position": (("time", "marker", "axis"), position),
            "plate_corner": (("plate", "corner", "axis"), [plate_at(-5), plate_at(0), plate_at(0.7)]),
            "plate_force": (plate, force),
            "plate_moment": (plate, np.cross(PRESSED_M[:, None], force)),
        },
        {"time": TIME, "marker": [*markers], "plate": [1, 2, 3], "axis": [*"xyz"], "corner": [1, 2, 3, 4]},
        {"direction_of_travel": "forwards", "role": "gait"} | attributes,
    )
    return join_trials({"walk": trial})


def cycles(code: str = "two_feet_on_plate", plates: str = "2", count: int = 1) -> xr.Dataset:
    texts = {"side": "left", "plates": plates, "code": code, "reason": "two <b>feet</b>", "doubt_code": ""}
    return xr.Dataset(
        coords={
            **{f"stance_{name}": ("stance", [text] * count) for name, text in texts.items()},
            "trial": ["walk"],
            "stance_trial": ("stance", np.zeros(count, dtype=int)),
            "stance_start": ("stance", np.full(count, 0.05)),
            "stance_end": ("stance", np.full(count, 0.95)),
        }
    )


def points(text: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([[float(part) for part in pair.split(",")] for pair in text.split()])


def test_soles_plates_and_path_are_drawn_from_above_in_centimetres() -> None:
    (picture,), further = pictures_of({"s": cycles()}, {"s": clean()})
    assert further == 0
    assert [(plate.number, plate.pressed) for plate in picture.plates] == [("2", True), ("3", False)]
    np.testing.assert_allclose(points(picture.plates[0].outline), [[60, 20], [0, 20], [0, -20], [60, -20]])
    path = points(picture.path)
    assert len(path) == MOST_POINTS
    loaded = PRESSED_M[(TIME > 0.1) & (TIME <= 0.95)]
    np.testing.assert_allclose(path[[0, -1]], 100 * loaded[[0, -1]][:, [0, 2]], atol=0.05)
    assert [side for side, _ in picture.soles] == ["left", "right", "right"]
    np.testing.assert_allclose(points(picture.soles[0][1])[0], [100 * (HEEL_M[0] + SOLE_STARTS_M), 5], atol=0.05)
    left, top, width, height = picture.view
    for drawn in (path, *(points(outline) for _, outline in picture.soles), points(picture.plates[0].outline)):
        assert (drawn > [left, top]).all()
        assert (drawn < [left + width, top + height]).all()
    assert (picture.ahead, picture.side, picture.reason) == (1, "left", "two <b>feet</b>")


@pytest.mark.parametrize(("code", "plates"), [("", "2"), ("no_plate", ""), ("left_out_by_hand", "2")])
def test_only_refused_contacts_have_pictures(code: str, plates: str) -> None:
    """No file of plates is asked for without one."""
    assert pictures_of({"s": cycles(code, plates), "lost": xr.Dataset()}, {}) == ([], 0)


def test_a_page_has_so_many_pictures_at_most_and_says_how_many_are_left() -> None:
    drawn, further = pictures_of({"s": cycles(count=MOST_PICTURES), "t": cycles(count=3)}, {"s": clean()})
    assert (len(drawn), further) == (MOST_PICTURES, 3)


def test_unseen_feet_and_unloaded_plates_are_not_drawn() -> None:
    data = clean(direction_of_travel="backwards")
    data["marker_position"] = data.marker_position * np.nan
    data["plate_force"] = data.plate_force * 0
    (picture,), _ = pictures_of({"s": cycles()}, {"s": data})
    assert (picture.soles, picture.path, picture.ahead) == ([], "", -1)
