"""Step ``cycles``: curves and metrics of walks whose every angle, load and distance is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray
from recordings import (
    HALF_WIDTH_M,
    PEAK_N,
    SIDES,
    SPEED_M_S,
    STANCE_S,
    STRIDE_S,
    Walk,
    cleaned,
    vertical,
    walk,
)

from pipeline.agreement import CAUSES, FORMULATIONS, LOADS
from pipeline.cycles import cycles
from pipeline.dynamics.limb import MOTIONS
from pipeline.effective_mass import effective_foot_mass
from pipeline.errors import UserError
from pipeline.leg import CHAIN, SEGMENTS, legs_of
from pipeline.peaks import peaks
from pipeline.settings import CONFIG, read_yaml
from pipeline.spatiotemporal import support
from pipeline.vocabulary import METRICS, ON_REQUEST, described

Array = NDArray[np.float64]

MASS_KG = 70.0
SETTINGS: dict[str, Any] = read_yaml(CONFIG / "default.yaml")["cycles"]
LEG_M = np.array([[0.05, 0.04, 0], [0.05, 0.46, 0], [0.05, 0.86, 0]])  # ankle, knee and hip centre from the heel
COM_M = np.array([[0.04, -0.03, 0.01], [0, -0.18, 0], [0, -0.17, 0], [np.nan] * 3])
MASSES = np.array([[2.0], [1]]) * [1.0, 3.3, 7]  # kg; the left leg weighs twice as much as the right one
JOINTS, ANGLES = ["ankle", "knee", "hip"], ["flexion", "adduction", "rotation"]
PHASE = np.arange(101)
ROUNDING = 1e-9
KINETICS = ("joint_moment_jcs", "joint_force", "joint_power", "ground_force")


class Trial(dict[str, xr.Dataset]):
    """The datasets that ``cycles`` takes, by name."""

    def cut(self, **settings: Any) -> xr.Dataset:
        """Return the trial's cycles, checked against the vocabulary."""
        inputs = [self[name] for name in ("kinetics", "kinematics", "contacts", "clean", "calibrate")]
        return described("cycles", cycles(*inputs, **(SETTINGS | settings)))


def amplitude(joint: int, axis: int) -> float:
    return 10.0 * (joint + 1) + axis


def wave(known: Walk, time: Array, side: str) -> Array:
    """Return the sine of a side's gait phase (time,)."""
    stride = known.of(side)[1].start_s - known.of(side)[0].start_s
    return np.asarray(np.sin(2 * np.pi * (time - known.of(side)[0].start_s) / stride))


def trial(known: Walk, *, reasons: Mapping[int, str] | None = None) -> Trial:
    """Return a walk as the steps before leave it; ``reasons`` makes footfalls of ``seen()`` invalid.

    Angles and kinetics are sines of the phase, of another size for each joint and axis; kinetics are those per body
    mass times the mass.
    """
    clean = cleaned(known)
    time = clean.time.values
    phase = np.stack([wave(known, time, side) for side in SIDES], axis=1)
    sizes = np.array([[amplitude(joint, axis) for axis in range(3)] for joint in range(3)])
    curves = phase[:, :, None, None] * sizes
    joints = ("time", "side", "joint")
    coordinates = {
        "time": time, "side": list(SIDES), "joint": JOINTS, "segment": list(CHAIN), "angle": ANGLES,
        "axis": list("xyz"), "local_axis": list("xyz"), "cause": list(CAUSES), "motion": list(MOTIONS),
        "formulation": list(FORMULATIONS), "load": list(LOADS), "percentile": [2.5, 97.5], "error_source": ["a", "b"],
    }  # fmt: skip
    kinetics = {"joint_moment": "local_axis", "joint_moment_jcs": "angle", "joint_force": "axis"}
    shares = np.arange(1.0, 11).reshape(len(CAUSES), len(MOTIONS))
    return Trial(
        kinetics=xr.Dataset(
            {name: ((*joints, last), MASS_KG * curves) for name, last in kinetics.items()}
            | {
                "joint_power": (joints, MASS_KG * curves[..., 0]),
                "interaction_torque": (
                    (*joints, "angle", "cause", "motion"),
                    np.multiply.outer(MASS_KG * curves, shares),
                ),
                "joint_moment_band": ((*joints, "angle", "percentile"), np.multiply.outer(MASS_KG * curves, [1, 2])),
                "joint_power_band": ((*joints, "percentile"), np.multiply.outer(MASS_KG * curves[..., 0], [1, 2])),
                "joint_moment_variance_share": ((*joints, "angle", "error_source"), np.full((*curves.shape, 2), 0.5)),
                "disagreement": (("formulation", "load"), np.full((3, 2), 1e-12)),
                "forward_closure": (("side", "joint", "angle"), np.arange(18.0).reshape(2, 3, 3)),
                "energy_closure": (("side", "segment"), np.arange(6.0).reshape(2, 3)),
            },
            coordinates,
        ),
        kinematics=upright(clean).assign(
            joint_angle=((*joints, "angle"), curves),
            pelvis_angle=(("time", "side", "angle"), curves[:, :, 0]),
            foot_progression=(("time", "side"), curves[:, :, 0, 0]),
        ),
        contacts=touched(known, time, reasons or {}),
        clean=clean,
        calibrate=xr.Dataset(
            {
                "segment_mass": (("side", "segment"), MASSES),
                "segment_inertia": (
                    ("side", "segment", "local_axis", "local_axis_2"),
                    MASSES[..., None, None] * np.diag([0.004, 0.003, 0.005]),
                ),
            },
            coords={
                "cluster_marker": ("cluster", ["heel", "toe"] * 2),
                "cluster_side": ("cluster", ["left", "left", "right", "right"]),
            },
            attrs={"body_mass_kg": MASS_KG, "body_height_m": 1.7},
        ),
    )


def upright(clean: xr.Dataset) -> xr.Dataset:
    """Return poses of legs that stand upright over their heels wherever these are, at rest."""
    heel = np.stack([clean.marker_position.sel(marker=f"heel_{side}").values for side in SIDES], axis=1)
    centre = heel[:, :, None] + LEG_M
    com = np.concatenate([centre, centre[:, :, -1:]], axis=2) + COM_M
    rotation = np.broadcast_to(np.eye(3), (*com.shape, 3))
    dims = ("time", "side", "segment")
    places = {"com": ("segment", com), "joint_centre": ("joint", centre)}
    return xr.Dataset(
        {"rotation": ((*dims, "local_axis", "axis"), rotation), "com_position": ((*dims, "axis"), com)}
        | {"joint_centre": (("time", "side", "joint", "axis"), centre)}
        | {
            f"{name}_{rate}": (("time", "side", part, "axis"), 0 * place)
            for name, (part, place) in places.items()
            for rate in ("velocity", "acceleration")
        }
        | dict.fromkeys(("angular_velocity", "angular_acceleration"), ((*dims, "local_axis"), 0 * com)),
        {
            "time": clean.time, "side": list(SIDES), "segment": list(SEGMENTS), "joint": JOINTS, "angle": ANGLES,
            "axis": list("xyz"), "local_axis": list("xyz"),
        },
        {"smallest_floating_axis": 0.1},
    )  # fmt: skip


def touched(known: Walk, time: Array, reasons: Mapping[int, str]) -> xr.Dataset:
    """Return what ``contacts`` finds in a walk: every footfall of the trial on plate 1, or invalid for a reason."""
    end = float(time[-1])
    steps = [step for step in known.steps if step.end_s > time[0] and step.start_s < end]
    bad = {known.seen()[number]: reason for number, reason in reasons.items()}
    events = sorted(
        (instant, kind, step.side)
        for step in steps
        for instant, kind in ((step.start_s, "foot_strike"), (step.end_s, "foot_off"))
        if time[0] < instant < end
    )
    vertical_force = np.stack([sum(vertical(step, time) for step in known.of(side)) for side in SIDES], axis=1)
    return xr.Dataset(
        {
            "ground_force": (("time", "side", "axis"), vertical_force[..., None] * [0.0, 1.0, 0.0]),
            "ground_moment": (("time", "side", "axis"), np.zeros((*vertical_force.shape, 3))),
            "contact_start": ("contact", [max(step.start_s, time[0]) for step in steps]),
            "contact_end": ("contact", [min(step.end_s, end) for step in steps]),
            "event_time": ("event", [instant for instant, _, _ in events]),
        },
        {
            "time": time, "side": list(SIDES), "axis": list("xyz"),
            "contact_side": ("contact", [step.side for step in steps]),
            "plates": ("contact", ["" if step in bad else "1" for step in steps]),
            "reason": ("contact", [bad.get(step, "") for step in steps]),
            "event": [kind for _, kind, _ in events],
            "event_side": ("event", [side for _, _, side in events]),
        },
    )  # fmt: skip


@pytest.fixture(scope="module")
def known() -> Walk:
    return walk(strides=3)


# --- curves ----------------------------------------------------------------------------------------------------


def test_a_cycle_lasts_from_strike_to_strike(known: Walk) -> None:
    """In order of time; the trial's first and last stances, which it cuts, begin no whole cycle."""
    result = trial(known).cut()
    strikes = [(step, following) for side in SIDES for step, following in pairs(known, side)]
    expected = sorted((step.start_s, following.start_s, step.side) for step, following in strikes)
    got = zip(result.start_time.values, result.end_time.values, result.side.values, strict=True)
    assert [(start, end, str(side)) for start, end, side in got] == expected
    assert len(expected) == 5
    np.testing.assert_array_equal(result.phase, PHASE)


def pairs(known: Walk, side: str) -> list[tuple[Any, Any]]:
    """Return footfalls of a side with their successors, both struck within the trial."""
    steps = [step for step in known.of(side) if known.start_s < step.start_s < known.end_s - 0.01]
    return list(zip(steps, steps[1:], strict=False))


def test_curves_are_linear_between_frames(known: Walk) -> None:
    """A stride of 1.1 s has phases between frames: numpy's interpolation, and the sine to its second difference."""
    made = trial(known)
    result = made.cut()
    time = made["clean"].time.values
    chord = (2 * np.pi / STRIDE_S * 0.01) ** 2 / 8  # how far a sine of amplitude 1 leaves its chord over a frame
    for i in range(result.sizes["cycle"]):
        row = result.isel(cycle=i)
        instants = np.linspace(float(row.start_time), float(row.end_time), 101)
        linear = np.interp(instants, time, wave(known, time, str(row.side.item())))
        for joint in range(3):
            for axis in range(3):
                curve = row.joint_angle.values[joint, axis] / amplitude(joint, axis)
                np.testing.assert_allclose(curve, linear, rtol=0, atol=ROUNDING)
                np.testing.assert_allclose(curve, np.sin(2 * np.pi * PHASE / 100), rtol=0, atol=chord + ROUNDING)


def test_curves_are_exact_where_phases_are_frames() -> None:
    """A stride of 1 s at 100 frames a second."""
    result = trial(walk(stride_s=1.0)).cut()
    expected = amplitude(1, 0) * np.sin(2 * np.pi * PHASE / 100)
    for curve in result.joint_angle.values[:, 1, 0]:
        np.testing.assert_allclose(curve, expected, rtol=0, atol=ROUNDING)


def test_kinetics_are_per_body_mass(known: Walk) -> None:
    result = trial(known).cut()
    for name in ("joint_moment_jcs", "joint_force"):
        np.testing.assert_allclose(result[name].values, result.joint_angle.values, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(result.joint_power.values, result.joint_angle.values[:, :, 0], rtol=0, atol=ROUNDING)
    # the top of the half sine lies between two frames
    np.testing.assert_allclose(result.peak_vertical_force, PEAK_N / MASS_KG, rtol=1e-3)


def test_an_invalid_stance_loses_its_kinetics_and_keeps_its_angles(known: Walk) -> None:
    """The second footfall seen, a left one, begins the second cycle."""
    result = trial(known, reasons={1: "two feet on the plate"}).cut()
    assert list(result.kinetics_valid.values) == [True, False, True, True, True]
    assert list(result.reason.values) == ["", "two feet on the plate", "", "", ""]
    for name in KINETICS:
        assert np.isnan(result[name][1]).all(), name
        assert np.isfinite(result[name].drop_isel(cycle=1)).all(), name
    assert np.isfinite(result.joint_angle).all()
    assert np.isnan(result.peak_ankle_power[1])
    assert np.isfinite(result.peak_knee_flexion).all()
    assert list(result.stance_reason.values).count("two feet on the plate") == 1
    assert list(result.stance_plates.values).count("") == 1


def test_a_cycle_left_out_by_hand_loses_its_curves_and_keeps_its_distances(known: Walk) -> None:
    """The start may be given to two digits; the stance that begins it is rejected for the same reason."""
    whole = trial(known).cut()
    start, side = float(whole.start_time[1]), str(whole.side[1].item())
    result = trial(known).cut(left_out=[(side, round(start, 2), "stumbled")])
    assert list(result.reason.values) == ["", "left out by hand: stumbled", "", "", ""]
    assert list(result.kinetics_valid.values) == [True, False, True, True, True]
    for name in (*KINETICS, "joint_angle", "pelvis_angle", "foot_progression", "effective_foot_mass", "work_a1"):
        assert np.isnan(result[name][1]).all(), name
        np.testing.assert_array_equal(result[name].drop_isel(cycle=1), whole[name].drop_isel(cycle=1), err_msg=name)
    assert np.isnan(result.range_of_knee_flexion[1])
    assert_metrics(result, **EVEN)
    rejected = result.stance_reason.values != ""
    assert list(result.stance_side.values[rejected]) == [side]
    assert list(result.stance_start.values[rejected]) == [start]


def test_a_cycle_to_be_left_out_must_be_there(known: Walk) -> None:
    """A strike 0.1 s away is another one, and the other side's does not count."""
    start = float(trial(known).cut().start_time[0])
    with pytest.raises(UserError, match=f"no right cycle starts at {start + 0.1:g} s.*start at {start:.2f}, "):
        trial(known).cut(left_out=[("right", start + 0.1, "stumbled")])
    with pytest.raises(UserError, match="no left cycle"):
        trial(known).cut(left_out=[("left", start, "stumbled")])


def test_a_stance_that_bears_too_little_is_not_believed(known: Walk) -> None:
    """800 N of 70 kg are 1.165 body weights: refused at 1.2. Stances that the trial cuts are not judged by peaks."""
    body_weights = PEAK_N / (MASS_KG * 9.80665)
    assert trial(known).cut(min_peak_force_body_weights=body_weights - 0.01).kinetics_valid.all()
    result = trial(known).cut(min_peak_force_body_weights=body_weights + 0.01)
    assert not result.kinetics_valid.any()
    assert set(result.reason.values) == {f"peak vertical force only {body_weights:.2f} body weights"}
    cut_by_the_trial = (result.stance_start <= 0) | (result.stance_end >= float(walk(strides=3).end_s) - 0.011)
    assert (result.stance_reason[cut_by_the_trial] == "").all()


def test_markers_missing_in_a_stance_are_named(known: Walk) -> None:
    made = trial(known)
    step = known.seen()[0]
    hidden = made["clean"].marker_position.copy()
    hidden.loc[{"marker": ["toe_right", "heel_left"], "time": slice(0.4, 0.5)}] = np.nan
    made["clean"] = made["clean"].assign(marker_position=hidden).assign_attrs(landmarks_absent="sacrum")
    moment = made["kinetics"].joint_moment.copy()
    moment.loc[{"side": "right", "time": slice(0.4, 0.5)}] = np.nan
    made["kinetics"] = made["kinetics"].assign(joint_moment=moment)
    result = made.cut()
    row = int(np.flatnonzero(result.stance_start == step.start_s)[0])
    assert result.stance_reason.values[row] == (
        "markers not seen during the stance: toe_right; fill the gap or use another trial"
    )
    assert (np.delete(result.stance_reason.values, row) == "").all()


def test_formulations_that_differ_cost_every_stance_of_the_trial(known: Walk) -> None:
    """One of them is enough, of the moments; a stance that has a reason keeps it."""
    made = trial(known, reasons={1: "two feet on the plate"})
    made["kinetics"].disagreement.loc[{"formulation": "recursion"}] = [0.5, 2.5e-5]
    assert made.cut(max_disagreement_n_m=2.6e-5).kinetics_valid.sum() == 4
    result = made.cut(max_disagreement_n_m=2.4e-5)
    assert not result.kinetics_valid.any()
    expected = "the formulations of the joint moments differ by 2.5e-05 N m"
    assert set(result.reason.values) == {expected, "two feet on the plate"}
    assert list(result.stance_reason.values).count(expected) == result.sizes["stance"] - 1
    for name in KINETICS:
        assert np.isnan(result[name]).all(), name
    assert np.isfinite(result.joint_angle).all()
    np.testing.assert_array_equal(result.stance_disagreement, 2.5e-5)


def test_the_forces_of_the_formulations_are_not_what_is_judged(known: Walk) -> None:
    made = trial(known)
    made["kinetics"].disagreement.loc[{"load": "force"}] = 1.0
    assert made.cut().kinetics_valid.all()


def test_every_stance_has_the_closures_of_its_side(known: Walk) -> None:
    """Of three angles the root mean square: 0, 1, 2 degrees at the left ankle, 15, 16, 17 at the right hip."""
    result = trial(known).cut()
    left = (result.stance_side == "left").values
    assert 0 < left.sum() < len(left)
    rows = {"left": [[0, 1, 2], [3, 4, 5], [6, 7, 8]], "right": [[9, 10, 11], [12, 13, 14], [15, 16, 17]]}
    for side, inside in (("left", left), ("right", ~left)):
        expected = [np.sqrt(np.mean(np.square(angles))) for angles in rows[side]]
        np.testing.assert_allclose(result.stance_forward_closure[inside], [expected] * inside.sum())
    np.testing.assert_array_equal(result.stance_energy_closure[left], [[0, 1, 2]] * left.sum())
    np.testing.assert_array_equal(result.stance_energy_closure[~left], [[3, 4, 5]] * (~left).sum())
    assert list(result.segment.values) == list(CHAIN)


def test_further_curves_are_there_on_request_only(known: Walk) -> None:
    made = trial(known, reasons={1: "two feet on the plate"})
    assert not set(made.cut().data_vars) & set(ON_REQUEST)
    assert "cause" not in made.cut().dims
    result = made.cut(further_curves=["interaction_torque"])
    assert set(result.data_vars) & set(ON_REQUEST) == {"interaction_torque"}
    assert list(result.cause.values) == list(CAUSES)
    assert list(result.motion.values) == list(MOTIONS)
    everything = made.cut(further_curves=list(ON_REQUEST))
    assert set(ON_REQUEST) <= set(everything.data_vars)
    for name in ON_REQUEST:
        assert np.isnan(everything[name][1]).all(), name
        assert np.isfinite(everything[name].drop_isel(cycle=1)).all(), name


def test_interaction_torques_are_per_body_mass(known: Walk) -> None:
    """Each share is its number times the curve of joint and angle, which is the angle's."""
    result = trial(known).cut(further_curves=["interaction_torque", "external_moment_jcs"])
    for i, cause in enumerate(CAUSES):
        for j, motion in enumerate(MOTIONS):
            share = result.interaction_torque.sel(cause=cause, motion=motion)
            np.testing.assert_allclose(share, (1 + 2 * i + j) * result.joint_angle, rtol=0, atol=ROUNDING)
    np.testing.assert_array_equal(result.external_moment_jcs, -result.joint_moment_jcs)


def test_bands_are_per_body_mass_and_shares_are_shares(known: Walk) -> None:
    names = ["joint_moment_band", "joint_power_band", "joint_moment_variance_share"]
    result = trial(known).cut(further_curves=names)
    for i in range(2):
        curve = result.joint_moment_band.isel(percentile=i)
        np.testing.assert_allclose(curve, (1 + i) * result.joint_moment_jcs, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(result.joint_moment_variance_share, 0.5, rtol=0, atol=ROUNDING)


def test_normalised_curves_and_metrics(known: Walk) -> None:
    """Legs of 0.82 m: moments over height and over g l, powers over g sqrt(g l); without a height NaN."""
    made = trial(known)
    made["calibrate"].attrs["body_height_m"] = 1.6
    names = ["joint_moment_per_height", "joint_moment_dimensionless", "joint_power_dimensionless"]
    result = made.cut(further_curves=names)
    leg_m, gravity = LEG_M[2, 1] - LEG_M[0, 1], 9.80665
    np.testing.assert_allclose(result.joint_moment_per_height, result.joint_moment_jcs / 1.6, rtol=1e-12)
    expected = result.joint_moment_jcs / (gravity * leg_m)
    np.testing.assert_allclose(result.joint_moment_dimensionless, expected, rtol=1e-12)
    expected = result.joint_power / (gravity * np.sqrt(gravity * leg_m))
    np.testing.assert_allclose(result.joint_power_dimensionless, expected, rtol=1e-12)
    expected = {
        "leg_length": leg_m, "walking_speed_dimensionless": SPEED_M_S / np.sqrt(gravity * leg_m),
        "step_length_dimensionless": SPEED_M_S * STRIDE_S / 2 / leg_m,
        "stride_time_dimensionless": STRIDE_S / np.sqrt(leg_m / gravity),
    }  # fmt: skip
    assert_metrics(result, **expected)
    made["calibrate"].attrs["body_height_m"] = np.nan
    assert np.isnan(made.cut(further_curves=names).joint_moment_per_height).all()


def test_missing_samples_stay_where_they_are() -> None:
    """Frames are phases here: the hidden frames are missing, their neighbours are not."""
    made = trial(walk(stride_s=1.0))
    start = float(made.cut().start_time[0])
    frame = round(start * 100)
    angle = made["kinematics"].joint_angle.copy()
    angle[frame + 20 : frame + 25, 1] = np.nan  # the first cycle is a right one
    made["kinematics"] = made["kinematics"].assign(joint_angle=angle)
    result = made.cut()
    missing = np.isnan(result.joint_angle[0]).all(("joint", "angle"))
    assert list(PHASE[missing]) == [20, 21, 22, 23, 24]
    assert np.isnan(result.joint_angle[0]).any(("joint", "angle")).sum() == 5
    assert np.isfinite(result.joint_angle[1]).all()
    assert float(result.peak_knee_flexion[0]) == pytest.approx(amplitude(1, 0) * np.sin(2 * np.pi * 0.25))


def test_a_longer_time_between_strikes_is_no_cycle(known: Walk) -> None:
    assert trial(known).cut(longest_cycle_s=STRIDE_S - 0.01).sizes["cycle"] == 0
    assert trial(known).cut(longest_cycle_s=STRIDE_S + 0.01).sizes["cycle"] == 5


def without_event(made: Trial, *, kind: str, time_s: float) -> Trial:
    contacts = made["contacts"]
    gone = (contacts.event.values == kind) & (contacts.event_time.values == time_s)
    assert gone.sum() == 1
    made["contacts"] = contacts.isel(event=~gone)
    return made


def test_a_missing_strike_is_not_bridged(known: Walk) -> None:
    """Two strides of the right foot with two foot offs between them are not one slow cycle."""
    second = pairs(known, "right")[0][1].start_s
    result = without_event(trial(known), kind="foot_strike", time_s=second).cut()
    durations = (result.end_time - result.start_time).values
    assert durations.max() == pytest.approx(STRIDE_S)
    assert list(result.side.values).count("right") == 1


def test_a_missing_foot_off_costs_only_the_stance_time(known: Walk) -> None:
    first_off = pairs(known, "right")[0][0].end_s
    result = without_event(trial(known), kind="foot_off", time_s=first_off).cut()
    assert result.sizes["cycle"] == 5
    assert np.isnan(result.stance_time[0])
    assert np.isfinite(result.stance_time[1:]).all()
    assert np.isfinite(result.stride_time).all()


def test_a_trial_without_events_has_no_cycles_but_its_stances(known: Walk) -> None:
    made = trial(known)
    made["contacts"] = made["contacts"].isel(event=slice(0))
    result = made.cut()
    assert result.sizes["cycle"] == 0
    assert result.sizes["stance"] == made["contacts"].sizes["contact"]
    assert result.joint_angle.shape == (0, 3, 3, 101)


# --- metrics ---------------------------------------------------------------------------------------------------


def assert_metrics(result: xr.Dataset, **expected: float) -> None:
    for name, value in expected.items():
        np.testing.assert_allclose(result[name], value, rtol=0, atol=1e-6, err_msg=name)


EVEN = {
    "stride_time": STRIDE_S,
    "stance_time": STANCE_S,
    "stance_share": 100 * STANCE_S / STRIDE_S,
    "cadence": 2 * 60 / STRIDE_S,
    "stride_length": SPEED_M_S * STRIDE_S,
    "step_length": SPEED_M_S * STRIDE_S / 2,
    "step_width": 2 * HALF_WIDTH_M,
    "walking_speed": SPEED_M_S,
    "step_time": STRIDE_S / 2,
    "single_support_share": 100 * (STRIDE_S - STANCE_S) / STRIDE_S,  # while the other foot swings
    "double_support_share": 100 * (2 * STANCE_S - STRIDE_S) / STRIDE_S,
}


def test_times_and_distances_over_ground(known: Walk) -> None:
    assert_metrics(trial(known).cut(), **EVEN)


def two_steps(**events: float) -> xr.Dataset:
    """Return events of the left foot by kind."""
    return xr.Dataset(
        {"event_time": ("event", list(events.values()))},
        {"event": list(events), "event_side": ("event", ["left"] * len(events))},
    )


def test_steps_of_different_length_and_a_foot_in_the_air() -> None:
    """A right cycle of 1 s: walking with a short left stance; running; skipping; one event of the left foot unseen."""
    right: dict[str, Any] = {"side": "right", "start_s": 1.0, "off_s": 1.7, "end_s": 2.0}
    walked = support(two_steps(foot_off=1.1, foot_strike=1.6), **right)
    assert walked == pytest.approx({"step_time": 0.4, "single_support_share": 50, "double_support_share": 20})
    run = support(two_steps(foot_strike=1.5, foot_off=1.8), **(right | {"off_s": 1.3}))
    assert run == pytest.approx({"step_time": 0.5, "single_support_share": 30, "double_support_share": 0})
    skipped = support(two_steps(foot_off=1.8, foot_strike=1.9), **right)
    assert np.isnan([skipped["single_support_share"], skipped["double_support_share"]]).all()
    unseen = support(two_steps(foot_strike=1.6), **right)
    assert unseen["step_time"] == pytest.approx(0.4)
    assert np.isnan([unseen["single_support_share"], unseen["double_support_share"]]).all()


def test_ranges_of_motion(known: Walk) -> None:
    """Of a sine of each joint and angle from trough to crest, the pelvis that of the ankle here; a gap costs them."""
    made = trial(known)
    result = made.cut()
    for joint, name in enumerate(JOINTS):
        for axis, angle in enumerate(ANGLES):
            # the crest lies at most half a phase, 1.8 degrees, from a sample, and on a chord
            expected = pytest.approx(2 * amplitude(joint, axis), rel=2e-3)
            assert list(result[f"range_of_{name}_{angle}"].values) == [expected] * 5
    np.testing.assert_array_equal(result.range_of_pelvis_obliquity, result.range_of_ankle_adduction)
    made["kinematics"].joint_angle.loc[{"joint": "knee", "side": "right", "time": slice(0.5, 0.6)}] = np.nan
    lost = np.isnan(made.cut().range_of_knee_flexion.values)
    assert list(lost) == [True, False, False, False, False]


def test_times_and_distances_on_a_treadmill_whose_speed_is_given() -> None:
    assert_metrics(trial(walk(strides=3, belt_m_s=SPEED_M_S)).cut(belt_speed_m_s=SPEED_M_S), **EVEN)


def test_the_speed_of_a_treadmill_is_that_of_the_standing_feet() -> None:
    assert_metrics(trial(walk(strides=3, belt_m_s=SPEED_M_S)).cut(), **EVEN)


def test_a_given_belt_speed_wins_over_the_estimate() -> None:
    result = trial(walk(strides=3, belt_m_s=SPEED_M_S)).cut(belt_speed_m_s=1.0)
    assert_metrics(result, walking_speed=1.0, stride_length=STRIDE_S)


def test_a_hidden_heel_costs_distances_not_times(known: Walk) -> None:
    made = trial(known)
    hidden = made["clean"].marker_position.copy()
    start = pairs(known, "right")[0][0].start_s
    hidden.loc[{"marker": "heel_right", "time": slice(start - 0.05, start + 0.05)}] = np.nan
    made["clean"] = made["clean"].assign(marker_position=hidden)
    first = made.cut().isel(cycle=0)
    assert np.isnan([first[name] for name in ("stride_length", "step_length", "step_width", "walking_speed")]).all()
    assert float(first.stride_time) == pytest.approx(STRIDE_S)
    assert float(first.stance_share) == pytest.approx(100 * STANCE_S / STRIDE_S)


def test_a_heel_that_was_never_seen_costs_distances_only(known: Walk) -> None:
    made = trial(known)
    made["clean"] = made["clean"].drop_sel(marker="heel_right")
    result = made.cut()
    assert np.isnan(result.stride_length[result.side == "right"]).all()
    assert_metrics(result.isel(cycle=result.side == "left"), stride_length=SPEED_M_S * STRIDE_S)
    assert_metrics(result, stride_time=STRIDE_S)


def test_effective_foot_mass_is_that_of_the_strike(known: Walk) -> None:
    """The leg stands alike over every heel, the left one weighs twice as much; kinetics need not be known."""
    made = trial(known, reasons={0: "two feet on the plate"})
    result = made.cut()
    legs = legs_of(made["kinematics"], made["contacts"], made["calibrate"], gravity_m_s2=0)
    right = effective_foot_mass(legs, legs.centre[:, :, 0] - LEG_M[0])[0, 1]
    expected = np.where(result.side == "left", 2 * right, right)
    np.testing.assert_allclose(result.effective_foot_mass, expected, rtol=1e-9)  # rounding metres from the origin


def test_a_shank_hidden_at_one_strike_costs_the_effective_mass_of_that_cycle(known: Walk) -> None:
    made = trial(known)
    start = pairs(known, "right")[0][0].start_s
    com = made["kinematics"].com_position.copy()
    com.loc[{"side": "right", "segment": "shank", "time": slice(start - 0.02, start + 0.02)}] = np.nan
    made["kinematics"] = made["kinematics"].assign(com_position=com)
    lost = np.isnan(made.cut().effective_foot_mass)
    assert list(lost.values) == [True, False, False, False, False]


def bump(centre: float, size: float) -> Array:
    """Return a curve over the cycle that is ``size`` at ``centre`` percent and nearly zero 15 percent away."""
    return np.asarray(size * np.exp(-(((PHASE - centre) / 5) ** 2)))


def test_every_peak_is_that_of_its_joint_sign_and_part_of_the_cycle() -> None:
    """Stance until 60 %: a larger bump of the same curve in the other part of the cycle does not count."""
    angle, moment = np.zeros((2, 3, 3, 101))
    angle[0, 0] = bump(45, 12) - bump(65, 20) + bump(85, 30)
    angle[1, 0] = bump(15, 18) + bump(45, 25) + bump(72, 62)
    angle[2, 0] = bump(0, 33) - bump(52, 11)
    moment[0, 0] = -bump(48, 1.4) + bump(5, 2.0)
    moment[1, 0] = -bump(14, 0.6) - bump(90, 0.9) + bump(40, 1.5)
    moment[1, 1] = -bump(20, 0.45) - bump(80, 0.8)
    moment[2, 0] = -bump(8, 0.7) + bump(50, 1.1)
    moment[2, 1] = -bump(30, 0.95) - bump(95, 1.3)
    power = np.stack([bump(54, 3.1) - bump(30, 5), bump(15, 9), bump(60, 9)])
    force = np.stack([bump(50, 20), bump(15, 11.5) + bump(48, 10.8), bump(50, 20)])
    expected = {
        "peak_ankle_dorsiflexion": 12, "peak_ankle_plantarflexion": 20, "peak_knee_flexion_stance": 18,
        "peak_knee_flexion": 62, "peak_hip_flexion": 33, "peak_hip_extension": 11,
        "peak_ankle_plantarflexor_moment": 1.4, "peak_knee_extensor_moment": 0.6, "peak_knee_abductor_moment": 0.45,
        "peak_hip_extensor_moment": 0.7, "peak_hip_abductor_moment": 0.95, "peak_ankle_power": 3.1,
        "peak_vertical_force": 11.5,
    }  # fmt: skip
    curves = {"joint_angle": angle, "joint_moment_jcs": moment, "joint_power": power, "ground_force": force}
    instants = dict(zip(expected, (45, 65, 15, 72, 0, 52, 48, 14, 20, 8, 30, 54, 15), strict=True))
    expected |= {f"phase_of_{name}": instant for name, instant in instants.items()}
    got = peaks(curves, stance_share=60.4)
    assert set(got) == {name for name in METRICS if "peak_" in name}
    assert got == pytest.approx(expected, rel=1e-3)  # what is left of one bump at the next
    assert peaks(curves, stance_share=np.nan) == pytest.approx(expected, rel=1e-3)


def test_peaks_of_what_is_missing_are_missing() -> None:
    nothing = {name: np.full((3, 3, 101), np.nan) for name in ("joint_angle", "joint_moment_jcs")}
    nothing |= {name: np.full((3, 101), np.nan) for name in ("joint_power", "ground_force")}
    assert np.isnan(list(peaks(nothing, stance_share=60).values())).all()
