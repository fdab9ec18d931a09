"""Force plates: against ezc3d, OpenSim and c3d.org's worked example on real files, against statics on made ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import ezc3d
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pipeline.plates import (
    CHANNELS_OF_TYPE,
    Plate,
    centre_of_pressure,
    decode,
    moment_unit_n_m,
    plates_from_parameters,
    zero_frames,
)

Array = NDArray[np.float64]

ROUNDING = 1e-10  # double arithmetic in another order: 1e-14 measured, lever arms of 10 m allowed for
IDENTITY_CORNERS = np.array([[1.0, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])  # plate axes = file axes, middle at 0


def open_c3d(path: Path, *, with_platforms: bool = True) -> tuple[Array, dict[str, Any], float, list[Any]]:
    """Return analog (samples, channels), FORCE_PLATFORM values, metres per length unit and ezc3d's platforms."""
    content = ezc3d.c3d(str(path), extract_forceplat_data=with_platforms)
    values = {k: v["value"] for k, v in content["parameters"]["FORCE_PLATFORM"].items() if k != "__METADATA__"}
    analog = content["data"]["analogs"][0].T
    length_unit_m = {"mm": 1e-3, "m": 1.0}[content["parameters"]["POINT"]["UNITS"]["value"][0]]
    return analog, values, length_unit_m, content["data"].get("platform", [])


def assert_close(actual: Array, expected: Array, relative: float = ROUNDING) -> None:
    """Compare with a tolerance relative to the largest expected value."""
    np.testing.assert_allclose(actual, expected, rtol=0, atol=relative * max(np.abs(expected).max(initial=0), 1e-12))


def about_centre(force: Array, moment: Array, plate: Plate, length_unit_m: float) -> Array:
    """Return the moment about the mean of the corners, as ezc3d has it."""
    return moment - np.cross(plate.corners.mean(axis=0) * length_unit_m, force)


# ---- real files


@pytest.mark.parametrize(
    "files",
    [
        "studies/exact/*/walk*",
        "studies/functional/*/*",
        "studies/gait2354/*/walk*",
        "studies/plug_in_gait/*/*",
        "data/c3dorg_sample10_types/*",
        "data/c3dparser_AUC/*",
        "data/codamotion_type3/*",
        "data/opensim_walking/*",
        "data/qualisys_cast/*",
        "data/odd/labels_all_starred_10plates*",
        "data/odd/unzeroed_baseline_plates*",
        "data/odd/16bit*",
    ],
)
def test_real_files_equal_ezc3d(shared: Path, files: str) -> None:
    compared = 0
    for path in sorted(path for path in shared.glob(files) if path.suffix.lower() == ".c3d"):
        analog, values, unit, platforms = open_c3d(path)
        plates = plates_from_parameters(values, channel_count=analog.shape[1])
        for plate, platform in zip(plates, platforms, strict=True):
            force, moment = decode(analog, plate, length_unit_m=unit, moment_unit_n_m=unit)
            assert_close(force, platform["force"].T)
            assert_close(about_centre(force, moment, plate, unit), platform["moment"].T * unit)
            loaded = np.abs(platform["force"][2]) > 20  # below, both divide noise by noise
            cop, _ = centre_of_pressure(force[loaded], moment[loaded], plate.corners * unit)
            assert_close(cop, platform["center_of_pressure"].T[loaded] * unit)
            compared += 1
    assert compared


def test_origin_above_a_type_3_plate_differs_from_ezc3d_in_the_sensor_distances_only(shared: Path) -> None:
    analog, values, unit, platforms = open_c3d(shared / "data/odd/type3_bad_scale_24kN.c3d")
    for plate, platform in zip(plates_from_parameters(values), platforms, strict=True):
        np.testing.assert_array_equal(plate.origin, [270, 360, -32.5])
        force, moment = decode(analog, plate, length_unit_m=unit, moment_unit_n_m=unit)
        assert_close(force, platform["force"].T)
        assert np.abs(about_centre(force, moment, plate, unit) - platform["moment"].T * unit).max() > 1
        turned = replace(plate, origin=plate.origin * [-1, -1, 1])
        force, moment = decode(analog, turned, length_unit_m=unit, moment_unit_n_m=unit)
        assert_close(about_centre(force, moment, plate, unit), platform["moment"].T * unit)


def test_opensim_decodes_the_same_wrench(shared: Path) -> None:
    folder = shared / "data/opensim_walking"
    analog, values, unit, _ = open_c3d(folder / "walking2.c3d", with_platforms=False)
    centre, at_cop = (
        np.loadtxt(folder / name, skiprows=6) for name in ("std_walking2_grfs.sto", "std_cop_walking2_grfs.sto")
    )
    samples = np.rint(centre[:, 0] * 2000).astype(int)  # OpenSim's table holds every 100th sample, 2000 a second
    assert len(samples) > 90
    for index, plate in enumerate(plates_from_parameters(values)):
        force, moment = decode(analog[samples], plate, length_unit_m=unit, moment_unit_n_m=unit)
        theirs = centre[:, 1 + 9 * index : 10 + 9 * index]
        single = 1e-6  # corners and readings of the file are single precision, the table has 8 decimals
        assert_close(force, theirs[:, :3], single)
        assert_close(about_centre(force, moment, plate, unit), theirs[:, 6:] * unit, single)
        loaded = np.abs(force[:, 2]) > 20
        assert loaded.sum() > 5
        theirs = at_cop[loaded, 1 + 9 * index : 10 + 9 * index] * unit
        cop, free = centre_of_pressure(force[loaded], moment[loaded], plate.corners * unit)
        assert_close(cop, theirs[:, 3:6], single)
        assert_close(free, theirs[:, 8], 1e-5)  # a small difference of large products


def test_worked_example_of_a_type_4_plate(shared: Path) -> None:
    """TYPE-4.xls of c3d.org's sample 10, frames 2, 4, 6 and 15: channels 953 counts off zero, calibrated.

    The workbook's matrix has -4.609 for Mz by Fz, the file +4.609: that one sign is taken from the workbook.
    """
    _, values, unit, _ = open_c3d(shared / "data/c3dorg_sample10_types/TYPE-4.C3D", with_platforms=False)
    assert values["CAL_MATRIX"][5, 2, 0] == pytest.approx(4.609)
    values["CAL_MATRIX"][5, 2, 0] *= -1
    plate = replace(plates_from_parameters(values)[0], corners=IDENTITY_CORNERS, origin=np.zeros(3))
    counts = np.array([[953.0, 0, 0, 0, 0, 0], [0, 0, 953, 0, 0, 0], [0, 0, 0, 0, 953, 0], [953, 953, 953, 0, 0, 0]])
    readings = counts * [-0.122206254, -0.122206254, -0.122138172, -0.122206254, -0.122206254, -0.122206254]
    expected = np.array(
        [
            [-177.7969868, -1.628401762, -5.301769525, 498.95832424, 639.86974704, -332.6198257],
            [-0.010413302, 1.0632543187, -697.0083441, -1540.288982, -1542.299907, 536.53488687],
            [-0.262339767, 0.1336419514, -0.008031186, 195.89265343, -86139.29385, -237.7745885],
            [-177.2674107, -179.7555992, -700.1546749, -3039.786518, -1562.513433, 1326.4905421],
        ]
    )
    force, moment = decode(readings, plate, length_unit_m=unit, moment_unit_n_m=unit)
    rounding = 0.0006 * np.abs(readings).sum(axis=1, keepdims=True)  # the file's matrix has three decimals
    assert (np.abs(force - expected[:, :3]) <= rounding).all()
    assert (np.abs(moment / unit - expected[:, 3:]) <= rounding).all()


def test_one_trial_stored_as_type_2_and_as_type_4_agrees(shared: Path) -> None:
    wrenches = []
    for name in ("TYPE-2a.c3d", "TYPE-4a.c3d"):
        analog, values, unit, _ = open_c3d(shared / "data/c3dorg_sample10_types" / name, with_platforms=False)
        plate = plates_from_parameters(values)[0]
        wrenches.append(np.hstack(decode(analog, plate, length_unit_m=unit, moment_unit_n_m=unit)))
    diagonal, full = wrenches
    # type 2 leaves out the cross-talk, up to 2 % of the diagonal of this plate's matrix
    assert np.abs(diagonal - full).max(axis=0)[:3].max() < 0.02 * np.abs(full[:, 2]).max()
    assert 0 < np.abs(diagonal - full).max(axis=0)[3:].max() < 0.02 * np.abs(full[:, 3:]).max()


# ---- made plates: a wrench is encoded by statics, sensor by sensor


class Bench:
    """A plate in a random pose and a random load on it: pressure at a point of the top plus a free moment."""

    def __init__(self, kind: int, seed: int, length_unit_m: float = 1e-3) -> None:
        rng = np.random.default_rng(seed)
        self.kind, self.unit = kind, length_unit_m
        self.axes = Rotation.random(rng=rng).as_matrix()
        self.middle_m = rng.uniform(-3, 3, 3)
        half = rng.uniform(0.2, 0.9, 2)
        quadrants = np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])
        self.corners_m = self.middle_m + (quadrants * [*half, 0]) @ self.axes.T
        self.top = -self.axes[:, 2]
        samples = 50
        self.force = rng.normal(size=(samples, 3)) * 100 + 700 * self.top
        self.cop = self.middle_m + (rng.uniform(-1, 1, (samples, 3)) * [*half, 0]) @ self.axes.T
        self.free = rng.normal(size=samples) * 10
        self.moment = np.cross(self.cop, self.force) + self.free[:, None] * self.top
        if kind == 3:
            self.origin_m = np.array([*half * 0.8, -rng.uniform(0.02, 0.1)])
        else:
            self.origin_m = rng.uniform(-1, 1, 3) * 0.01 - [0, 0, 0.05]
        self.cal_matrix = np.diag([1.5, 1.5, 6, 700, 700, 400]) + rng.normal(size=(6, 6)) * 0.1
        self.readings = getattr(self, f"_type_{kind}")(rng)

    def _in_plate(self, vectors: Array) -> Array:
        return np.array([[vector @ axis for axis in self.axes.T] for vector in vectors])

    def _type_1(self, _: np.random.Generator) -> Array:
        in_plane = self._in_plate(self.cop - self.middle_m)[:, :2] / self.unit
        return np.column_stack([self._in_plate(self.force), in_plane, -self.free / self.unit])

    def _type_2(self, _: np.random.Generator) -> Array:
        sensor = self.middle_m - self.axes @ self.origin_m
        moment = np.cross(self.cop - sensor, self.force) + self.free[:, None] * self.top
        return np.column_stack([self._in_plate(self.force), self._in_plate(moment) / self.unit])

    def _type_3(self, rng: np.random.Generator) -> Array:
        """Put a force into each of eight sensors so that they add up to the load; two directions are free."""
        a, b, az0 = self.origin_m
        places = [[0, b], [0, -b], [a, 0], [-a, 0], [a, b], [-a, b], [-a, -b], [a, -b]]
        directions = np.eye(3)[[0, 0, 1, 1, 2, 2, 2, 2]]
        at = np.array([[x, y, -az0] for x, y in places])  # from the middle of the top, z into the plate
        effect = np.vstack([directions.T, np.cross(at, directions).T])
        moment = np.cross(self.cop - self.middle_m, self.force) + self.free[:, None] * self.top
        load = np.column_stack([self._in_plate(self.force), self._in_plate(moment)])
        free_play = np.linalg.svd(effect)[2][6:]
        readings: Array = load @ np.linalg.pinv(effect).T + rng.normal(size=(len(load), 2)) * 100 @ free_play
        return readings

    def _type_4(self, rng: np.random.Generator) -> Array:
        readings: Array = np.linalg.solve(self.cal_matrix, self._type_2(rng).T).T.astype(float)
        return readings

    def parameters(self) -> dict[str, Any]:
        return {
            "USED": np.array([1]),
            "TYPE": np.array([self.kind]),
            "CORNERS": (self.corners_m / self.unit).T[:, :, None],
            "ORIGIN": (self.origin_m / self.unit)[:, None],
            "CHANNEL": np.arange(1, self.readings.shape[1] + 1)[:, None],
            "CAL_MATRIX": self.cal_matrix[:, :, None],
            "ZERO": np.array([1, 10]),
        }

    def decode(self, parameters: dict[str, Any] | None = None) -> tuple[Array, Array]:
        plate = plates_from_parameters(parameters or self.parameters())[0]
        return decode(self.readings, plate, length_unit_m=self.unit, moment_unit_n_m=self.unit)

    def write(self, path: Path) -> None:
        content = ezc3d.c3d()
        parameters = content["parameters"]
        samples, channels = self.readings.shape
        parameters["POINT"]["LABELS"]["value"] = ["A"]
        parameters["POINT"]["RATE"]["value"] = parameters["ANALOG"]["RATE"]["value"] = [100.0]
        parameters["POINT"]["UNITS"]["value"] = [{1e-3: "mm", 1.0: "m"}[self.unit]]
        parameters["ANALOG"]["LABELS"]["value"] = [f"C{i}" for i in range(channels)]
        content["data"]["points"] = np.ones((4, 1, samples))
        content["data"]["analogs"] = self.readings.T[None]
        for name, value in self.parameters().items():
            parameters["FORCE_PLATFORM"][name]["value"] = value
        content.write(str(path))


KINDS = pytest.mark.parametrize("kind", sorted(CHANNELS_OF_TYPE))


@KINDS
@pytest.mark.parametrize("length_unit_m", [1e-3, 1.0])
def test_a_known_load_is_decoded_in_any_pose(kind: int, length_unit_m: float) -> None:
    for seed in range(20):
        bench = Bench(kind, seed, length_unit_m)
        force, moment = bench.decode()
        assert_close(force, bench.force)
        assert_close(moment, bench.moment)
        cop, free = centre_of_pressure(force, moment, bench.corners_m)
        assert_close(cop, bench.cop)
        # M.F / F.n is a difference of products some hundred times as large
        assert_close(free, bench.free, 100 * ROUNDING)


@KINDS
def test_a_written_file_reads_the_same_by_ezc3d(kind: int, tmp_path: Path) -> None:
    """Any pose, all types, a baseline window set: ezc3d takes none off; its type 1 moment has the opposite sign."""
    Bench(kind, seed=kind).write(tmp_path / "plate.c3d")
    analog, values, unit, [platform] = open_c3d(tmp_path / "plate.c3d")
    assert zero_frames(values) == (1, 10)
    [plate] = plates_from_parameters(values, channel_count=analog.shape[1])
    force, moment = decode(analog, plate, length_unit_m=unit, moment_unit_n_m=unit)
    assert_close(force, platform["force"].T)
    sign = -1 if kind == 1 else 1
    assert_close(about_centre(force, moment, plate, unit), sign * platform["moment"].T * unit)
    cop, _ = centre_of_pressure(force, moment, plate.corners * unit)
    assert_close(cop, platform["center_of_pressure"].T * unit)


@pytest.mark.parametrize("kind", [2, 3, 4])
def test_a_positive_origin_z_is_put_right(kind: int) -> None:
    bench = Bench(kind, seed=5)
    parameters = bench.parameters()
    turned = [1, 1, -1] if kind == 3 else [-1, -1, -1]
    parameters["ORIGIN"] = parameters["ORIGIN"] * np.array(turned)[:, None]
    assert_close(bench.decode(parameters)[1], bench.moment)


def test_a_matrix_stored_by_row_is_turned() -> None:
    bench = Bench(4, seed=6)
    parameters = bench.parameters() | {"CAL_MATRIX": bench.cal_matrix.T[:, :, None], "MATRIX_STORE": ["BYROW"]}
    assert_close(bench.decode(parameters)[1], bench.moment)
    wrong = bench.decode(parameters | {"MATRIX_STORE": ["BYCOLUMN"]})[1]
    assert np.abs(wrong - bench.moment).max() > 1


def test_a_missing_sample_is_missing_and_no_other() -> None:
    bench = Bench(2, seed=7)
    bench.readings[3, 4] = np.nan
    force, moment = bench.decode()
    np.testing.assert_array_equal(np.isnan(moment).any(axis=1), np.arange(len(force)) == 3)
    assert np.isnan([force[3], moment[3]]).all()


def test_no_pressure_no_centre() -> None:
    bench = Bench(2, seed=8)
    bench.force[0] = 0
    cop, free = centre_of_pressure(bench.force, bench.moment, bench.corners_m)
    assert np.isnan(cop[0]).all()
    assert np.isnan(free[0])
    assert np.isfinite(cop[1:]).all()


def test_centre_of_pressure_takes_any_leading_shape() -> None:
    bench = Bench(2, seed=9)
    cop, free = centre_of_pressure(bench.force.reshape(5, 10, 3), bench.moment.reshape(5, 10, 3), bench.corners_m)
    assert_close(cop.reshape(-1, 3), bench.cop)
    assert free.shape == (5, 10)


# ---- what a file may lack


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


def test_padding_of_the_channel_table_is_dropped() -> None:
    plates = plates_from_parameters(two_plates(), channel_count=12)
    assert [plate.problem for plate in plates] == ["", ""]
    assert [list(plate.channels) for plate in plates] == [[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]]


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        (with_second("TYPE", 5), "type 5 is not supported; export the plate as type 2"),
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
def test_a_plate_that_cannot_be_decoded_says_why_and_costs_no_other(parameters: dict[str, Any], reason: str) -> None:
    if "sensor distances" in reason:
        parameters["CHANNEL"][:, 1] = np.arange(5, 13)
    first, second = plates_from_parameters(parameters, channel_count=12)
    assert first.problem == ""
    assert second.problem.startswith("force plate 2: ")
    assert reason in second.problem
    assert second.number == 2


@pytest.mark.parametrize("kind", [5, np.nan])
def test_a_plate_after_an_unusable_one_is_kept(kind: float) -> None:
    parameters = two_plates()
    parameters["TYPE"] = np.array([kind, 4.0])
    first, second = plates_from_parameters(parameters, channel_count=12)
    assert first.problem.startswith("force plate 1: ")
    assert second.problem == ""
    assert second.type == 4


def test_one_corner_left_at_zero_is_seen() -> None:
    parameters = Bench(2, 3).parameters()
    parameters["CORNERS"][:, 2] = 0
    assert "rectangle" in plates_from_parameters(parameters)[0].problem


def test_more_plates_used_than_described() -> None:
    plates = plates_from_parameters(two_plates() | {"USED": np.array([3])}, channel_count=12)
    assert [bool(plate.problem) for plate in plates] == [False, False, True]


def test_a_damaged_number_of_plates_does_not_run_away() -> None:
    assert len(plates_from_parameters({"USED": np.array([30000])})) == 255  # what a C3D array can hold


def test_where_used_is_missing_the_types_count() -> None:
    values = two_plates()
    del values["USED"]
    assert [plate.problem for plate in plates_from_parameters(values, channel_count=12)] == ["", ""]


def test_fewer_plates_used_than_described() -> None:
    assert len(plates_from_parameters(two_plates() | {"USED": np.array([1])})) == 1


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
    assert all("CHANNEL has 6 rows" in plate.problem for plate in plates)
    analog, values, _, _ = open_c3d(shared / "data/odd/type1_no_analog_sample28_type1.c3d", with_platforms=False)
    [plate] = plates_from_parameters(values, channel_count=analog.shape[1])
    assert "the file has 0" in plate.problem


# ---- units and baseline


@pytest.mark.parametrize(
    ("length_unit_m", "label", "truth"),
    [
        (1e-3, "Nmm", 1e-3),
        (1e-3, "V", 1e-3),
        (1e-3, "", 1e-3),
        (1e-3, "N.m", 1e-3),  # the label lies
        (1e-3, "Nm", 1.0),
        (1.0, "Nm", 1.0),
        (1.0, "Nmm", 1e-3),
        (1.0, "N*mm", 1.0),  # the label lies
    ],
)
@pytest.mark.parametrize("kind", [2, 4])
def test_moment_unit(kind: int, length_unit_m: float, label: str, truth: float) -> None:
    for seed in range(10):
        bench = Bench(kind, seed, length_unit_m)
        rescale = np.array([1, 1, 1, *[length_unit_m / truth] * 3])
        plate = plates_from_parameters(bench.parameters())[0]
        if plate.cal_matrix is None:
            bench.readings *= rescale
        else:
            plate = replace(plate, cal_matrix=np.diag(rescale) @ plate.cal_matrix)
        found = moment_unit_n_m(plate, [label] * 6, length_unit_m=length_unit_m, analog=bench.readings)
        assert found == truth
        _, moment = decode(bench.readings, plate, length_unit_m=length_unit_m, moment_unit_n_m=found)
        assert_close(moment, bench.moment)


def test_without_load_or_data_the_moment_unit_is_the_standards() -> None:
    bench = Bench(2, 1)
    plate = plates_from_parameters(bench.parameters())[0]
    assert moment_unit_n_m(plate, ["Nm"] * 6, length_unit_m=1e-3) == 1e-3
    assert moment_unit_n_m(plate, ["Nm"] * 6, length_unit_m=1e-3, analog=bench.readings * 0) == 1e-3
    assert moment_unit_n_m(plate, [], length_unit_m=1e-3, analog=bench.readings) == 1e-3


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
