"""Decoding of force plates against ezc3d, OpenSim, c3d.org's worked example, and statics of generated plates."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipeline.plates.parameters import CHANNELS_OF_TYPE, plates_from_parameters
from pipeline.plates.wrench import centre_of_pressure, decode, in_newtons, moment_unit_n_m
from tests.support.plates.known_loads import ROUNDING, Bench, about_centre, assert_close, open_c3d

IDENTITY_CORNERS = np.array([[1.0, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])  # plate axes = file axes, middle at 0


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
    """Type 2 has no cross-talk: it equals type 4 with the diagonal of its matrix, to the scales' precision."""
    folder = shared / "data/c3dorg_sample10_types"
    (two, values_two, unit, _), (four, values_four, _, _) = (
        open_c3d(folder / name, with_platforms=False) for name in ("TYPE-2a.c3d", "TYPE-4a.c3d")
    )
    for plain, full in zip(plates_from_parameters(values_two), plates_from_parameters(values_four), strict=True):
        assert full.cal_matrix is not None
        diagonal = replace(full, cal_matrix=np.diag(np.diag(full.cal_matrix)))
        units = {"length_unit_m": unit, "moment_unit_n_m": unit}
        of_two, of_diagonal, of_four = (
            decode(analog, plate, **units) for analog, plate in ((two, plain), (four, diagonal), (four, full))
        )
        for ours, theirs in zip(of_two, of_diagonal, strict=True):
            # the scales of type 2 and the matrix of type 4 differ by 0.15 % (1.507 and 1.505): so may the wrench
            assert (np.abs(ours - theirs).max(axis=0) < 0.0015 * np.ptp(theirs, axis=0)).all()
        cross_talk = np.abs(of_diagonal[0] - of_four[0]).max(axis=0) / np.ptp(of_four[0], axis=0)
        assert 0 < cross_talk.max() < 0.025
        loaded = of_four[0][:, 2] > 50
        corners_m = full.corners * unit
        cops, free = zip(
            *(centre_of_pressure(f[loaded], m[loaded], corners_m) for f, m in (of_two, of_diagonal)), strict=True
        )
        assert np.abs(cops[0] - cops[1]).max() < 0.5e-3  # 0.15 % of a lever arm of 0.3 m
        assert np.abs(free[0] - free[1]).max() < 0.05


# ---- generated plates

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


@pytest.mark.parametrize("first_corner", range(4))
def test_the_same_load_on_any_plate(first_corner: int) -> None:
    """Types 1 to 4, corners counted from any of the four, plates in any pose."""
    for seed in range(10):
        plain = np.hstack(Bench(2, seed).decode())
        for kind in CHANNELS_OF_TYPE:
            assert_close(np.hstack(Bench(kind, seed, first_corner=first_corner).decode()), plain)


@KINDS
def test_channels_in_any_order(kind: int) -> None:
    bench = Bench(kind, seed=3)
    columns = np.random.default_rng(kind).permutation(20)[: bench.readings.shape[1]]
    elsewhere = np.full((len(bench.readings), 20), np.nan)
    elsewhere[:, columns] = bench.readings
    parameters = bench.parameters() | {"CHANNEL": columns[:, None] + 1}
    bench.readings = elsewhere
    assert_close(np.hstack(bench.decode(parameters)), np.hstack([bench.force, bench.moment]))


def test_only_a_missing_sample_is_missing() -> None:
    bench = Bench(2, seed=7)
    bench.readings[3, 4] = np.nan
    force, moment = bench.decode()
    np.testing.assert_array_equal(np.isnan(moment).any(axis=1), np.arange(len(force)) == 3)
    assert np.isnan([force[3], moment[3]]).all()


def test_without_pressure_the_centre_is_missing() -> None:
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


# ---- units


@pytest.mark.parametrize(
    ("length_unit_m", "label", "truth"),
    [
        (1e-3, "Nmm", 1e-3),
        (1e-3, "V", 1e-3),
        (1e-3, "", 1e-3),
        (1e-3, "N.m", 1e-3),  # the label is wrong
        (1e-3, "Nm", 1.0),
        (1e-3, "", 1.0),  # no label
        (1e-3, "V", 1.0),
        (1.0, "", 1e-3),
        (1.0, "Nm", 1.0),
        (1.0, "Nmm", 1e-3),
        (1.0, "N*mm", 1.0),  # the label is wrong
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


@pytest.mark.parametrize(("label", "truth"), [("Nmm", 1e-3), ("Ncm", 1e-2), ("", 1e-2)])
def test_a_foot_in_the_middle_shows_no_factor_of_ten(label: str, truth: float) -> None:
    """In centimetres, N mm taken for N cm still press on the plate there: what the file says counts."""
    plate = plates_from_parameters(Bench(2, 1, 1e-2).parameters())[0]
    readings = np.zeros((50, 6))
    readings[:, 2], readings[:, 3] = -700, 700 * 0.01 / truth  # 10 mm from the middle
    found = moment_unit_n_m(plate, [label] * 6, length_unit_m=1e-2, analog=readings)
    assert found == truth


@pytest.mark.parametrize(
    ("force_unit", "moment_unit", "truth"),
    [
        ("kN", "", 1000.0),  # kN m
        ("kN", "kN", 1.0),  # kN mm
        ("kN", "Nm", 1.0),
        ("kgf", "", 9.80665),
        ("kg", "kg", 1.0),  # N m: only the forces are in kilograms
        ("lb", "lb", 4.448222 * 0.0254),
        ("lb", "", 4.448222 * 0.3048),
        ("lb", "Nm", 1.0),
    ],
)
def test_moments_beside_forces_in_another_unit(force_unit: str, moment_unit: str, truth: float) -> None:
    """A foot presses 0.1 m from the middle; its forces are in N here, by the unit that the file states."""
    plate = plates_from_parameters(Bench(2, 1, 1e-3).parameters())[0]
    readings = np.zeros((50, 6))
    readings[:, 2], readings[:, 3] = -700, 700 * 0.1 / truth
    found = moment_unit_n_m(plate, [force_unit] * 3 + [moment_unit] * 3, length_unit_m=1e-3, analog=readings)
    assert found == pytest.approx(truth)


@pytest.mark.parametrize(("spike", "peak_n"), [(0.0, 700.0), (-30.0, 700.0)])
def test_a_spike_does_not_undo_the_unit(spike: float, peak_n: float) -> None:
    plate = plates_from_parameters(Bench(2, 1).parameters())[0]
    readings = np.zeros((4000, 6))
    readings[:, 2], readings[100, 2] = -0.7, spike
    found = in_newtons(readings, plate, ["kN"] * 6)
    assert np.median(-found[:, 2]) == pytest.approx(peak_n)
    assert np.median(-in_newtons(1000 * readings, plate, ["kN"] * 6)[:, 2]) == pytest.approx(peak_n)


def test_without_load_or_data_the_moment_unit_is_the_standards() -> None:
    bench = Bench(2, 1)
    plate = plates_from_parameters(bench.parameters())[0]
    assert moment_unit_n_m(plate, ["Nm"] * 6, length_unit_m=1e-3) == 1e-3
    assert moment_unit_n_m(plate, ["Nm"] * 6, length_unit_m=1e-3, analog=bench.readings * 0) == 1e-3
    assert moment_unit_n_m(plate, [], length_unit_m=1e-3, analog=bench.readings) == 1e-3
