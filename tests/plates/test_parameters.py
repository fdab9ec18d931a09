"""Plates from FORCE_PLATFORM: good ones are kept if others cannot be decoded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.plates.parameters import plates_from_parameters, zero_frames
from tests.support.plates.known_loads import Bench, assert_close, open_c3d


def two_plates() -> dict[str, Any]:
    """Return a good type 2 plate, then a good type 4 plate, in tables of eight rows, as the standard allows."""
    first, second = Bench(2, 1).parameters(), Bench(4, 2).parameters()
    joined = {k: np.concatenate([first[k], second[k]], axis=-1) for k in ("TYPE", "CORNERS", "ORIGIN", "CAL_MATRIX")}
    channel = np.zeros((8, 2), dtype=int)
    channel[:6] = np.arange(1, 13).reshape(2, 6).T
    return joined | {"USED": np.array([2]), "CHANNEL": channel, "ZERO": np.array([1, 0])}


def with_second(name: str, value: Any) -> dict[str, Any]:
    parameters = two_plates()
    parameters[name] = np.array(parameters[name], dtype=float)
    parameters[name][..., 1] = value
    return parameters


def test_padding_of_the_channel_table_is_ignored() -> None:
    plates = plates_from_parameters(two_plates(), channel_count=12)
    assert [plate.problem for plate in plates] == [None, None]
    assert [list(plate.channels) for plate in plates] == [[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]]


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        (with_second("TYPE", 5), "type 5 (eight sensors with a 6 x 8 calibration matrix) is not supported"),
        (with_second("TYPE", 6), "type 6 (twelve sensors with a 12 x 12 calibration matrix) is not supported"),
        (with_second("TYPE", 7), "type 7 (eight sensors with an 8 x 8 calibration matrix) is not supported"),
        (with_second("TYPE", 11), "type 11 (Kistler split-belt treadmill) is not supported"),
        (with_second("TYPE", 12), "type 12 (Kistler Gaitway treadmill) is not supported"),
        (with_second("TYPE", 21), "type 21 (AMTI stairs) is not supported"),
        (with_second("TYPE", 8), "type 8 is not supported; export the plate as type 2 (forces and moments)"),
        (with_second("TYPE", np.nan), "FORCE_PLATFORM:TYPE holds values that are not numbers"),
        (with_second("CORNERS", 0), "corners are not those of a rectangle"),
        (with_second("CORNERS", np.arange(12).reshape(3, 4)), "corners are not those of a rectangle"),
        (with_second("CORNERS", np.inf), "FORCE_PLATFORM:CORNERS holds values that are not numbers"),
        (with_second("ORIGIN", np.nan), "FORCE_PLATFORM:ORIGIN holds values that are not numbers"),
        (with_second("CHANNEL", 7), "6 different channels are needed, listed are 7, 7"),
        (with_second("CHANNEL", [7, 8, 9, 10, 11, 0, 0, 0]), "6 different channels are needed"),
        (with_second("CHANNEL", [7, 8, 9, 10, 11, 13, 0, 0]), "but the file has 12"),
        (with_second("CAL_MATRIX", 0), "FORCE_PLATFORM:CAL_MATRIX is singular"),
        (two_plates() | {"CAL_MATRIX": np.empty(0)}, "FORCE_PLATFORM:CAL_MATRIX does not hold its 6 x 6 values"),
        (two_plates() | {"CAL_MATRIX": np.ones((6, 8, 2))}, "FORCE_PLATFORM:CAL_MATRIX does not hold its 6 x 6"),
        (two_plates() | {"ORIGIN": two_plates()["ORIGIN"][:, :1]}, "FORCE_PLATFORM:ORIGIN does not hold its 3"),
        (with_second("TYPE", 3) | {"ORIGIN": np.zeros((3, 2))}, "lacks the sensor distances a and b"),
    ],
)
def test_a_plate_with_a_problem_does_not_affect_the_other(parameters: dict[str, Any], reason: str) -> None:
    if "sensor distances" in reason:
        parameters["CHANNEL"][:, 1] = np.arange(5, 13)
    first, second = plates_from_parameters(parameters, channel_count=12)
    assert first.problem is None
    assert str(second.problem).startswith("force plate 2: ")
    assert reason in str(second.problem)
    assert second.number == 2


@pytest.mark.parametrize("kind", [5, np.nan])
def test_a_plate_after_an_unusable_one_is_kept(kind: float) -> None:
    parameters = two_plates()
    parameters["TYPE"] = np.array([kind, 4.0])
    first, second = plates_from_parameters(parameters, channel_count=12)
    assert str(first.problem).startswith("force plate 1: ")
    assert second.problem is None
    assert second.type == 4


@pytest.mark.parametrize("unit_m", [1e-3, 1.0])
@pytest.mark.parametrize("wrong", [1e-3, 1e3])
def test_corners_in_another_unit_are_refused(unit_m: float, wrong: float) -> None:
    parameters = Bench(2, 4, unit_m).parameters()
    assert not plates_from_parameters(parameters, length_unit_m=unit_m)[0].problem
    parameters["CORNERS"] = parameters["CORNERS"] * wrong
    [plate] = plates_from_parameters(parameters, length_unit_m=unit_m)
    assert "give FORCE_PLATFORM:CORNERS in POINT:UNITS" in str(plate.problem)


def test_one_corner_left_at_zero_is_refused() -> None:
    parameters = Bench(2, 3).parameters()
    parameters["CORNERS"][:, 2] = 0
    assert "rectangle" in str(plates_from_parameters(parameters)[0].problem)


def test_more_plates_used_than_described() -> None:
    plates = plates_from_parameters(two_plates() | {"USED": np.array([3])}, channel_count=12)
    assert [bool(plate.problem) for plate in plates] == [False, False, True]


def test_a_damaged_number_of_plates_is_limited() -> None:
    assert len(plates_from_parameters({"USED": np.array([30000])})) == 255  # what a C3D array can hold


def test_without_used_the_types_are_counted() -> None:
    values = two_plates()
    del values["USED"]
    assert [plate.problem for plate in plates_from_parameters(values, channel_count=12)] == [None, None]


def test_fewer_plates_used_than_described() -> None:
    first, second = plates_from_parameters(two_plates() | {"USED": np.array([1])}, channel_count=12)
    assert not first.problem
    assert "USED is 1" in str(second.problem)


def test_a_plate_of_which_no_channel_is_read_is_refused() -> None:
    values = two_plates()
    unread = sorted(values["CHANNEL"][:6, 0].tolist())
    first, second = plates_from_parameters(values, channel_count=14, unread=unread)
    assert "of all its channels is 0" in str(first.problem)
    assert not second.problem
    assert not any(plate.problem for plate in plates_from_parameters(values, channel_count=14, unread=unread[1:]))


@pytest.mark.parametrize("used", [0, 1])
def test_a_second_type_without_corners_describes_no_plate(used: int) -> None:
    values = two_plates() | {"USED": np.array([used])}
    values["CORNERS"] = values["CORNERS"].copy()
    values["CORNERS"][..., 1] = 0
    problems = [plate.problem for plate in plates_from_parameters(values, channel_count=12)]
    assert len(problems) == 1


@pytest.mark.parametrize(("name", "words"), [("CHANNEL", "channels of plate"), ("CORNERS", "corners are those of")])
def test_two_plates_of_one_place_or_of_the_same_channels_are_refused(name: str, words: str) -> None:
    values = two_plates()
    values[name] = values[name].copy()
    values[name][..., 1] = values[name][..., 0]
    values["TYPE"] = np.array([2, 2])
    plates = plates_from_parameters(values, channel_count=12, length_unit_m=1e-3)
    assert [words in str(plate.problem) for plate in plates] == [True, True]


def test_a_plate_that_covers_two_others_is_their_sum() -> None:
    left, right = np.array([[0.0, 0, 0], [0, 0.4, 0], [0.6, 0.4, 0], [0.6, 0, 0]]), np.array([0, 0.42, 0])
    both = np.array([[0.0, 0, 0], [0, 0.82, 0], [0.6, 0.82, 0], [0.6, 0, 0]])
    used = {
        "USED": np.array([3]), "TYPE": np.array([2, 2, 2]), "ORIGIN": np.tile([[0.0], [0], [-0.04]], 3),
        "CORNERS": np.stack([left.T, (left + right).T, both.T], axis=-1),
        "CHANNEL": np.arange(1, 19).reshape(3, 6).T,
    }  # fmt: skip
    plates = plates_from_parameters(used, channel_count=18, length_unit_m=1.0)
    assert [bool(plate.problem) for plate in plates] == [False, False, True]
    assert "covers plates 1, 2" in str(plates[2].problem)


def test_three_plates_on_one_place_are_no_combined_plate() -> None:
    one = Bench(2, 1).parameters()
    three = {name: np.repeat(np.asarray(one[name]), 3, axis=-1) for name in ("TYPE", "CORNERS", "ORIGIN")}
    channels = np.arange(1, 19).reshape(3, 6).T
    used = {"USED": np.array([3]), "CHANNEL": channels}
    plates = plates_from_parameters(one | three | used, channel_count=18, length_unit_m=1e-3)
    assert all(plate.problem and "its corners are those of plate" in plate.problem.what for plate in plates)


def test_a_placeholder_is_no_plate_of_a_wrong_unit() -> None:
    """Vicon enters corners of 38.1 mm for plates that nobody has measured."""
    values = two_plates()
    values["CORNERS"] = values["CORNERS"].copy()
    values["CORNERS"][..., 1] = np.array([[38.1, 38.1, 0], [-38.1, 38.1, 0], [-38.1, -38.1, 0], [38.1, -38.1, 0]]).T
    first, second = plates_from_parameters(values, channel_count=12, length_unit_m=1e-3)
    assert not first.problem
    assert "placeholder" in str(second.problem)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"USED": np.array([0]), "TYPE": np.empty(0), "CORNERS": np.empty((3, 4, 0)), "CHANNEL": np.empty(0)},
        {"USED": np.array([-1])},
    ],
)
def test_no_plates(values: dict[str, Any]) -> None:
    assert plates_from_parameters(values) == []


def test_real_files_that_ezc3d_cannot_decode(shared: Path) -> None:
    analog, values, _, _ = open_c3d(shared / "data/odd/evart_fp_channel_not_filled.c3d", with_platforms=False)
    plates = plates_from_parameters(values, channel_count=analog.shape[1])
    # 28 channels in a table of 24: the type 4 plates' columns name channels of the type 3 plates
    assert all("CHANNEL has 6 rows" in str(plate.problem) for plate in plates)
    analog, values, _, _ = open_c3d(shared / "data/odd/type1_no_analog_sample28_type1.c3d", with_platforms=False)
    [plate] = plates_from_parameters(values, channel_count=analog.shape[1])
    assert "the file has 0" in str(plate.problem)


# ---- signs and orders


@pytest.mark.parametrize("kind", [2, 3, 4])
def test_a_positive_origin_z_is_corrected(kind: int) -> None:
    bench = Bench(kind, seed=5)
    parameters = bench.parameters()
    turned = [1, 1, -1] if kind == 3 else [-1, -1, -1]
    parameters["ORIGIN"] = parameters["ORIGIN"] * np.array(turned)[:, None]
    assert_close(bench.decode(parameters)[1], bench.moment)


def test_a_matrix_stored_by_row_is_transposed() -> None:
    bench = Bench(4, seed=6)
    parameters = bench.parameters() | {"CAL_MATRIX": bench.cal_matrix.T[:, :, None], "MATRIX_STORE": ["BYROW"]}
    assert_close(bench.decode(parameters)[1], bench.moment)
    wrong = bench.decode(parameters | {"MATRIX_STORE": ["BYCOLUMN"]})[1]
    assert np.abs(wrong - bench.moment).max() > 1


# ---- frames named as unloaded


@pytest.mark.parametrize(
    ("zero", "frames"),
    [
        ([1, 10], (1, 10)),
        ([0, 10], (1, 10)),
        ([5, 5], (5, 5)),
        ([1, 0], None),
        ([0, 0], None),
        ([9, 2], None),
        ([-3, -1], None),
        ([1], None),
        ([], None),
        ([np.nan, 5], None),
    ],
)
def test_zero_frames(zero: list[float], frames: tuple[int, int] | None) -> None:
    assert zero_frames({"ZERO": np.array(zero)}) == frames


def test_zero_frames_absent() -> None:
    assert zero_frames({}) is None
