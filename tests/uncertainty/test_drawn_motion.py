"""Errors of measurement: effect of noise, turned axes and misplaced centres, and what draws share."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
import xarray as xr

from pipeline.body.legs import Legs, legs_of
from pipeline.signals.filters import low_pass
from pipeline.signals.splines import angular_rates, derivatives, noise_spectrum
from pipeline.trials.session import join_trials
from pipeline.uncertainty.drawn_motion import DrawnSession, moments_and_powers
from pipeline.uncertainty.error_draws import SOURCES, DrawnFrom, ErrorDraws
from tests.support.studies.noisy_copies import SIZES
from tests.support.walks.person import (
    BODY_MODELS,
    GRAVITY,
    Array,
    body_model,
    calibrated,
    close,
    landmarks,
    standing,
    walk,
)
from tests.support.walks.person_on_ground import CALIBRATION, ground, moving

TIME = np.arange(120) / 100
NONE = dict.fromkeys(SIZES, 0.0)
OF = {
    "marker_noise": ["marker_mm"],
    "soft_tissue": [f"{segment}_soft_tissue_deg" for segment in ("foot", "shank", "thigh", "pelvis")],
    "segment_axes": ["pelvis_marker_mm", "knee_axis_deg", "ankle_axis_deg", "foot_axes_deg"],
    "joint_centres": ["ankle_centre_mm", "knee_centre_mm", "hip_centre_mm"],
    "centre_of_pressure": ["centre_of_pressure_mm"],
    "segment_parameters": ["segment_mass_percent", "segment_com_percent", "segment_inertia_percent"],
}
STRIDE_S, STRIKE_S = np.array([1.0]), np.array([[0.1, 0.6]])


def only(source: str, scale: float = 1.0) -> dict[str, float]:
    """Return the default sizes of a source, the others 0."""
    return {name: scale * size if name in OF[source] else 0.0 for name, size in SIZES.items()}


@pytest.fixture(scope="module")
def motion() -> xr.Dataset:
    """Return the walking person as a session of one trial, of which markers went through a filter."""
    points = {
        name: low_pass(where, rate_hz=100.0, cutoff_hz=10.0, order=4) for name, where in landmarks(walk(TIME)).items()
    }
    moved = moving(points, time=TIME).assign_attrs(marker_cutoff_hz=10.0, source_sha256="a")
    return join_trials({"walk": moved})


def draws(
    motion: xr.Dataset, sizes: Mapping[str, float], count: int = 3, calibration: xr.Dataset = CALIBRATION
) -> ErrorDraws:
    return ErrorDraws(DrawnFrom(count, sizes, calibration, motion, STRIDE_S, STRIKE_S))


def moments(motion: xr.Dataset, sizes: Mapping[str, float], count: int = 3, seed: str = "a") -> Array:
    """Return the moments (draw, time, side, joint, angle) with errors."""
    motion = motion.assign_coords(source_sha256=("trial", [seed]))
    contacts = join_trials({"walk": ground(TIME).assign_coords(time=TIME)})
    source = DrawnFrom(count, sizes, CALIBRATION, motion, STRIDE_S, STRIKE_S)
    session = DrawnSession(source, loads(motion), contacts, gravity_m_s2=GRAVITY)
    return np.array([drawn["joint_moment_jcs"].values for _, drawn in session])


def loads(motion: xr.Dataset) -> xr.Dataset:
    moment, power = moments_and_powers(legs(motion))
    dims = ("sample", "side", "joint")
    return xr.Dataset({
        "joint_moment_jcs": ((*dims, "angle"), moment),
        "joint_power": (dims, power),
        "foot_power": (dims[:2], power[:, :, 0]),
    })  # fmt: skip


def legs(motion: xr.Dataset) -> Legs:
    contacts = join_trials({"walk": ground(TIME).assign_coords(time=TIME)})
    return legs_of(motion, contacts, CALIBRATION, gravity_m_s2=GRAVITY, smallest_floating_axis=0.1)


# ---- effect of noise


@pytest.mark.parametrize(("cutoff_hz", "order"), [(10.0, 4), (6.0, 2), (20.0, 8), (None, 4)])
def test_noise_of_rates_is_that_of_the_filter_and_spline_in_use(cutoff_hz: float | None, order: int) -> None:
    """The variance of filtered white noise is the sum of squares of the filter's impulse response."""
    impulse, time = np.zeros((801, 1)), np.arange(801) / 100
    impulse[400] = 1
    answer = low_pass(impulse, rate_hz=100.0, cutoff_hz=cutoff_hz, order=order)
    answers = np.hstack([answer, *derivatives(answer, time)])[100:-100]
    found = noise_spectrum(np.nan if cutoff_hz is None else cutoff_hz, 100.0, order=order)
    rates = np.stack([np.ones_like(found.w), found.first, found.second])
    close((found.power * rates**2).mean(axis=1) / (answers**2).sum(axis=0), np.ones(3), 1e-9)


def test_drawn_noise_has_the_size_of_its_spectrum(motion: xr.Dataset) -> None:
    """All waves at all instants: of 60 draws the variances are known to some 5 %, of high rates to 15 %."""
    errors = draws(motion, only("marker_noise"), 60)
    turn = np.array([errors.errors(draw, ("marker_noise",)).turn for draw in range(60)])
    spectrum = noise_spectrum(10.0, 100.0, order=4)
    gain = CALIBRATION.segment_turn_per_marker.sel(pose=["foot", "shank", "thigh", "pelvis"]).values
    size = 0.5e-3 * np.sqrt(np.square(gain).sum(axis=(-2, -1)))
    for rate, expected in enumerate((np.ones_like(spectrum.w), spectrum.first**2, spectrum.second**2)):
        found = turn[:, rate].std(axis=(0, 1)) / size
        close(found.mean() / np.sqrt((spectrum.power * expected).mean()), 1.0, 0.15)


@pytest.mark.parametrize("name", BODY_MODELS)
def test_markers_displaced_together_move_the_skeleton(name: str) -> None:
    """All by one vector: no segment rotates, and every origin and joint centre moves with them."""
    model = calibrated(body_model(name), standing())
    close(model.segment_turn_per_marker.sum("marker"), 0, 1e-6)
    for variable in ("segment_origin_per_marker", "joint_centre_per_marker"):
        together = model[variable].sum("marker").values  # a turn from lab to segment axes, of that segment
        close(together @ np.swapaxes(together, -1, -2), np.broadcast_to(np.eye(3), together.shape), 1e-6)


def test_turns_of_a_cluster_are_those_of_least_squares() -> None:
    """Covariance of the turn of fitted points a: the inverse of the sum of |a|2 - a aT (Woltring et al. 1985)."""
    mine = (CALIBRATION.cluster_side == "left") & (CALIBRATION.cluster_segment == "shank")
    a = CALIBRATION.cluster_position.values[mine.values]
    a = a - a.mean(axis=0)
    expected = np.linalg.inv((a**2).sum() * np.eye(3) - a.T @ a)
    gain = CALIBRATION.segment_turn_per_marker.sel(side="left", pose="shank").values.reshape(3, -1)
    close(gain @ gain.T / np.trace(expected), expected / np.trace(expected), 1e-6)  # central differences of 0.01 mm


# ---- effect of errors


def test_without_errors_a_draw_is_the_measurement(motion: xr.Dataset) -> None:
    close(moments(motion, NONE, 2), np.stack([moments_and_powers(legs(motion))[0]] * 2), 1e-9)


@pytest.mark.parametrize("source", SOURCES)
def test_spread_is_that_of_first_order_propagation(source: str, motion: xr.Dataset) -> None:
    """The same draws scaled by 1/1000, and the result by 1000; at this size the second order is some percent."""
    whole, small = (moments(motion, only(source, scale), 60).std(axis=0) for scale in (1, 1e-3))
    known = whole > 0.05  # N m
    assert known.mean() > 0.5
    ratio = 1e3 * small[known] / whole[known]
    assert abs(np.median(ratio) - 1) < 0.03
    assert np.quantile(np.abs(ratio - 1), 0.95) < 0.2


def test_a_turned_knee_axis_turns_moments_of_both_neighbours_and_keeps_their_size(motion: xr.Dataset) -> None:
    """Joint centres of a cluster stay, so the knee's moment as a vector does; the ankle lies beyond the thigh."""
    found = moments(motion, NONE | {"knee_axis_deg": 5.0})
    off = np.abs(found - moments_and_powers(legs(motion))[0]).max(axis=(0, 1, 2))
    assert off[0].max() < 1e-9
    assert (off[1:].max(axis=-1) > 0.2).all()


def test_a_pelvis_marker_that_is_never_seen_leaves_the_others(motion: xr.Dataset) -> None:
    """A landmark without a known distance from the ASIS says nothing of the pelvis' depth."""
    hidden = CALIBRATION.copy(deep=True)
    landmarks = hidden.landmark.values.tolist()
    for name in {"psis_left", "sacrum", "asis_right"} & {*landmarks}:
        hidden.static_distance.values[landmarks.index(name)] = hidden.static_distance.values[
            :, landmarks.index(name)
        ] = np.nan
    turn = draws(motion, SIZES, calibration=hidden).errors(0, ["segment_axes"]).turn
    assert np.isfinite(turn).all()


def test_the_knee_centre_of_a_chord_hangs_on_its_axis(motion: xr.Dataset) -> None:
    """With z to the right, an axis turned by a about y moves a centre at r medial of the marker by -r a along x."""
    radius = CALIBRATION.chord_radius.copy(data=np.full((2, 3), 0.05))
    errors = draws(motion, NONE | {"knee_axis_deg": 5.0}, calibration=CALIBRATION.assign(chord_radius=radius))
    found = errors.errors(1, ("segment_axes",))
    for i, outwards in enumerate((-1, 1)):
        turn = found.turn[0, 0, i, 2]
        close(found.centre[0, i, 1], np.cross(turn, [0, 0, -outwards * 0.05]), 1e-12)


def test_an_error_of_the_hip_centre_tilts_the_thigh(motion: xr.Dataset) -> None:
    """The long axis of the thigh, from knee to hip, turns as its upper end moves."""
    found = draws(motion, NONE | {"hip_centre_mm": 8.0}).errors(0, ("joint_centres",))
    length = CALIBRATION.joint_distance.sel(segment="thigh").values
    for i in range(2):
        moved = np.cross(found.turn[0, 0, i, 2], [0, length[i], 0])
        close(moved, found.centre[0, i, 2] * [1, 0, 1], 1e-12)
        close(found.turn[0, 0, i, :2], np.zeros((2, 3)), 1e-12)


def test_soft_tissue_has_its_size_over_a_stride_and_its_rates(motion: xr.Dataset) -> None:
    """Root mean square of many draws; rates are those of finite differences."""
    errors = draws(motion, only("soft_tissue"), 300)
    turn = np.array([errors.errors(draw, ("soft_tissue",)).turn for draw in range(300)])
    sizes = [np.radians(SIZES[f"{segment}_soft_tissue_deg"]) for segment in ("foot", "shank", "thigh", "pelvis")]
    close(np.sqrt((turn[:, 0] ** 2).mean(axis=(0, 1, 2, 4))) / sizes, np.ones(4), 0.06)
    close(np.gradient(turn[0, 0], 0.01, axis=0)[1:-1], turn[0, 1, 1:-1], 2e-3)
    close(np.gradient(turn[0, 1], 0.01, axis=0)[1:-1], turn[0, 2, 1:-1], 2e-2)


def test_sides_share_the_pelvis_and_the_tables(motion: xr.Dataset) -> None:
    errors = draws(motion, SIZES).errors(0, ("segment_axes", "segment_parameters"))
    np.testing.assert_array_equal(errors.turn[:, :, 0, 3], errors.turn[:, :, 1, 3])
    np.testing.assert_array_equal(errors.mass[0], errors.mass[1])
    assert (errors.turn[0, :, 0, 2, 1] != errors.turn[0, :, 1, 2, 1]).all()


def test_trials_of_a_session_share_the_errors_of_the_person(motion: xr.Dataset) -> None:
    """Of another static trial they are others; errors of a trial depend on its file alone."""
    other = motion.assign_coords(source_sha256=("trial", ["b"]))
    elsewhere = CALIBRATION.assign(static_distance=CALIBRATION.static_distance + 0.001)
    one, same, two = (draws(*of) for of in ((motion, SIZES), (other, SIZES), (motion, SIZES, 3, elsewhere)))
    for source in SOURCES:
        first, second, third = (
            np.concatenate([np.ravel(part) for part in each.errors(2, (source,))]) for each in (one, same, two)
        )
        of_trial = source in ("marker_noise", "centre_of_pressure")
        assert np.array_equal(first, second) != of_trial, source
        assert np.array_equal(first, third) == of_trial, source


def test_more_draws_keep_the_first_ones(motion: xr.Dataset) -> None:
    few, many = draws(motion, SIZES, 3).errors(2), draws(motion, SIZES, 9).errors(2)
    for one, other in zip(few, many, strict=True):
        np.testing.assert_array_equal(one, other)


# ---- rates belong to the motion


@pytest.mark.parametrize("scale", [0.05, 1.0])
def test_rates_with_errors_are_the_derivatives_of_the_motion_with_errors(motion: xr.Dataset, scale: float) -> None:
    """Of soft tissue, which moves, turned by a tenth of a degree and as it is.

    What the derivatives of the markers miss is the same with and without errors, and cancels.
    """
    contacts = join_trials({"walk": ground(TIME).assign_coords(time=TIME)})
    source = DrawnFrom(1, only("soft_tissue", scale), CALIBRATION, motion, STRIDE_S, STRIKE_S)
    session = DrawnSession(source, loads(motion), contacts, gravity_m_s2=GRAVITY)
    without, drawn = legs(motion), session.legs(0, ("soft_tissue",))
    inside = slice(10, -10)  # a spline is less exact near its ends

    def rates(of: Legs) -> dict[str, tuple[Array, Array]]:
        """Return angular velocity and acceleration, velocity and acceleration: as stated, and by derivatives."""
        spins = angular_rates(of.rotation, *derivatives(of.rotation, TIME))
        spin, spin_rate = (np.einsum("...ji,...j->...i", of.rotation, local) for local in spins)
        velocity, acceleration = derivatives(of.com, TIME)
        return {
            "spin": (of.spin, spin),
            "spin_rate": (of.spin_rate, spin_rate),
            "velocity": (of.com_velocity, velocity),
            "acceleration": (of.com_acceleration, acceleration),
        }

    before, after = rates(without), rates(drawn)
    for name in before:
        stated, derived = ((after[name][i] - before[name][i])[inside] for i in range(2))
        # the spline's ends; without the turning of the segment itself the angular acceleration is off by a third
        assert np.abs(stated - derived).max() < 0.01 * np.abs(derived).max(), name
