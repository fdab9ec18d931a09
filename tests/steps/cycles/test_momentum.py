"""Momentum of the whole body against the vertical force in single support, and the verdict by it."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

from pipeline.conventions import HIP, SIDES, STANDARD_GRAVITY_M_S2, UP
from pipeline.steps.cycles.momentum import single_support
from pipeline.steps.cycles.momentum.single_support import (
    ALONG_M_S2,
    ASIDE_M_S2,
    FORCE,
    GAIN,
    MASS,
    MOMENT,
    SCALES,
    SEEN_M_S2,
    UNSEEN_M_S2,
    Support,
    doubts_of_session,
    in_single_support,
)
from pipeline.steps.cycles.step import cycles
from pipeline.trials.session import join_trials
from pipeline.variables.cycle_variables import RESIDUALS
from tests.support.settings import settings_of
from tests.support.studies.run_steps import ResultsOf
from tests.support.walks.as_clean import Walk, walk
from tests.support.walks.for_cycles import MASS_KG, MASSES, Trial, trial
from tests.support.walks.running import run

Array = NDArray[np.float64]

# The other foot lifts and lands between frames of 10 ms, where forces, some .3 body weights, change by a tenth of that
NUMERICAL = 3e-3


def moved(known: Walk) -> Trial:
    """Return a walk or run of which the centre of mass moves by the forces; the legs sway, the hips make up for it.

    Each step is a half-sine; the body weighs as much as the steps bear on average.
    """
    made = trial(known)
    time = made["contacts"].time.values
    force = made["contacts"].ground_force.values[..., UP]
    mass_kg = float(made["calibrate"].attrs["body_mass_kg"])
    step_s = np.diff([step.start_s for step in known.steps]).mean()
    first = known.steps[0]
    force *= mass_kg * STANDARD_GRAVITY_M_S2 * step_s * np.pi / 2 / (first.end_s - first.start_s) / 800.0
    rate = force.sum(axis=1) / mass_kg - STANDARD_GRAVITY_M_S2
    velocity = np.append(0, np.cumsum((rate[1:] + rate[:-1]) / 2 * np.diff(time)))
    share, sway = MASSES.sum() / mass_kg, 0.3 * np.sin(5 * time)
    made["kinematics"].com_velocity.values[..., UP] = sway[:, None, None]
    for name in ("com_acceleration", "joint_centre_acceleration"):
        made["kinematics"][name].values[..., UP] = rate[:, None, None]
    made["kinematics"].joint_centre_velocity.values[:, :, HIP, UP] = ((velocity - share * sway) / (1 - share))[:, None]
    return made


def judged(made: Trial) -> Support:
    return in_single_support(made["kinematics"], made["contacts"], made["calibrate"])


@pytest.mark.parametrize("known", [walk(strides=3), walk(belt_m_s=1.2), run(), run(belt=True)])
def test_force_that_moves_the_body_is_what_it_needs(known: Walk) -> None:
    found = judged(moved(known))
    inner = np.isfinite(found.ratio)
    assert inner.sum() >= 3
    np.testing.assert_allclose(found.ratio[inner], 1, atol=NUMERICAL)


@pytest.mark.parametrize(("gain", "mass"), [(0.7, 1), (1.3, 1), (1, 1.3), (1, 0.8)])
def test_ratio_is_gain_per_mass(gain: float, mass: float) -> None:
    """The legs' share of a wrong mass is wrong with it."""
    made = moved(walk(strides=3))
    made["contacts"].ground_force.values[:] *= gain
    made["calibrate"].attrs["body_mass_kg"] *= mass
    made["calibrate"].segment_mass.values[:] *= mass
    ratio = judged(made).ratio
    np.testing.assert_allclose(ratio[np.isfinite(ratio)], gain / mass, rtol=NUMERICAL)


def test_nothing_is_said_without_the_other_foots_swing_a_force_or_the_hips() -> None:
    """A gap in one leg does not matter: its centre of mass is taken from the hips."""
    known = walk(strides=3)
    every = judged(moved(known)).ratio
    steps = [i for i in range(len(every)) if np.isfinite(every[i])]
    middle = steps[len(steps) // 2]
    assert np.isnan(every[[0, -1]]).all()  # the recording starts and ends in the other foot's swing
    for name, value in {"force": np.nan, "hips": np.nan, "leg": np.nan}.items():
        made = moved(known)
        start, end = (made["contacts"][f"contact_{of}"].values[middle] for of in ("start", "end"))
        inside = np.abs(made["contacts"].time.values - (start + end) / 2) < 0.3
        side = SIDES.index(str(made["contacts"].contact_side.values[middle]))
        parts = {
            "force": made["contacts"].ground_force.values[inside, side],
            "hips": made["kinematics"].joint_centre_velocity.values[inside],
            "leg": made["kinematics"].com_velocity.values[inside, 1 - side],
        }
        parts[name][:] = value
        made["contacts"].ground_force.values[inside, side] = parts["force"]
        made["kinematics"].joint_centre_velocity.values[inside] = parts["hips"]
        made["kinematics"].com_velocity.values[inside, 1 - side] = parts["leg"]
        assert np.isfinite(judged(made).ratio[middle]) == (name == "leg")


def test_nothing_is_said_where_a_stance_of_the_other_foot_was_not_seen() -> None:
    """Its foot was hidden, and on no plate: the swing seems to last over its stance, of which no force is known."""
    made = moved(walk(strides=3))
    contacts = made["contacts"]
    left = np.flatnonzero(contacts.contact_side.values == "left")
    lost = left[len(left) // 2]
    times = (contacts[f"contact_{of}"].values[lost] for of in ("start", "end"))
    first, last = np.searchsorted(contacts.time.values, [*times])
    contacts.ground_force.values[first : last + 1, SIDES.index("left")] = 0
    rest = contacts.isel(contact=np.arange(contacts.sizes["contact"]) != lost)
    ratio = in_single_support(made["kinematics"], rest, made["calibrate"]).ratio
    assert np.isnan(ratio[[lost - 1, lost]]).all()
    assert np.isfinite(ratio).any()
    np.testing.assert_allclose(ratio[np.isfinite(ratio)], 1, atol=NUMERICAL)


def test_a_short_support_says_less() -> None:
    slow, fast = (judged(moved(walk(strides=3, stride_s=stride_s))) for stride_s in (1.3, 1.0))
    assert np.nanmax(slow.deviation) < np.nanmin(fast.deviation)


@pytest.mark.parametrize("gain", [0.75, 0.885, 0.95, 1.05, 1.115, 1.25])
def test_stances_that_carry_too_little_or_too_much_are_refused_or_doubted(gain: float) -> None:
    made = moved(walk(strides=3))
    made["contacts"].ground_force.values[:] *= gain
    known = np.isfinite(judged(made).ratio)
    cut = made.cut()
    refused, doubted = not 0.8 < gain < 1.2, 0.06 < abs(gain - 1) < 0.2
    assert (cut.stance_code.values[known] == ("momentum_disagrees" if refused else "")).all()
    assert (cut.stance_doubt_code.values[known] == ("momentum_doubted" if doubted else "")).all()
    assert (cut.stance_code.values[~known] == "").all()
    np.testing.assert_allclose(cut.stance_momentum_ratio[known], gain, rtol=NUMERICAL)
    if refused:
        assert f"shows {100 * gain:.0f} % of the force" in str(cut.stance_reason.values[known][0])
    by_hands = made.cut(hands_bear_weight=True)
    assert (by_hands.stance_code == "").all()
    assert (by_hands.stance_doubt_code.values[by_hands.stance_seen_percent == 100] == "").all()


def test_a_walk_in_which_hands_bear_weight_tells_nothing_of_the_mass_in_others() -> None:
    """Hands bear a tenth of the weight in two of three walks; the column of trials.tsv wins over the setting."""
    leaning, upright = moved(walk(strides=3)), moved(walk(strides=3))
    leaning["contacts"].ground_force.values[:] *= 0.9
    walks = {"one": leaning, "other": leaning, "upright": upright}
    names = ("kinetics", "kinematics", "contacts", "clean")
    kinetics, kinematics, contacts, clean = (
        join_trials({walk: made[name].assign_attrs(role="gait") for walk, made in walks.items()}) for name in names
    )
    by_hands = {name: {"hands_bear_weight": name != "upright"} for name in walks}
    doubted = {}
    for stated, setting in ((False, False), (True, False), (True, True)):
        cells = by_hands if stated else None
        settings = settings_of("cycles", hands_bear_weight=setting)
        found = cycles(kinetics, kinematics, contacts, clean, upright["calibrate"], settings=settings, by_trial=cells)
        doubts = found.stance_doubt_code.values[found.stance_seen_percent.values == 100]
        doubted[stated, setting] = (doubts != "").any()
        assert (found.stance_code.values == "").all()
    assert doubted == {(False, False): True, (True, False): False, (True, True): False}


def test_sway_of_the_trunk_cancels_over_a_step_but_not_in_single_support() -> None:
    """The hips rise and fall against the centre of mass with each step, by 5 mm."""
    known = walk(strides=3)
    step_s = float(np.diff([step.start_s for step in known.steps]).mean())
    off = {}
    for alone in (False, True):
        made = moved(known)
        contacts = made["contacts"]
        sway = 0.005 * 2 * np.pi / step_s * np.sin(2 * np.pi * contacts.time.values / step_s)
        made["kinematics"].joint_centre_velocity.values[:, :, HIP, UP] += sway[:, None]
        if alone:  # forces of one foot only are known, before and after its other steps
            left = contacts.ground_force.values[:, SIDES.index("left")]
            left[left[:, UP] > 1.0] = np.nan
        found = judged(made)
        off[alone] = np.nanmax(np.abs(found.ratio - 1))
    assert off[False] < 2 * NUMERICAL
    assert off[True] > 5 * off[False]


SWAY = 0.015


def session(
    rng: np.random.Generator, *, gains: dict[str, float], mass: float = 1.0, bad: float = 1.0, each: int = 3
) -> tuple[list[Support], list[NDArray[np.str_]]]:
    """Return what stances show, ``each`` trials with one on every plate; ``bad`` is a factor of the first of all."""
    mass *= 1 + MASS * rng.normal()
    gain = np.array(list(gains.values())) * (1 + GAIN * rng.normal(size=len(gains)))
    shown = []
    for _ in range(each):
        ratio = gain / mass * (1 + SWAY * rng.normal(size=len(gain))) * ([bad] + [1.0] * (len(gain) - 1))
        bad, none = 1.0, np.full(len(gain), np.nan)
        deviation = np.full(len(gain), np.hypot(SCALES, SWAY))
        shown.append(Support(ratio, deviation, none, none, none, none, np.eye(len(gain))))
    return shown, [np.array([*gains])] * each


@pytest.mark.parametrize("gain", [0.85, 1.15])
def test_a_session_tells_gain_of_a_plate_wrong_mass_and_single_stance_apart(gain: float) -> None:
    rng, sound = np.random.default_rng(3), {"1": 1.0, "2": 1.0, "3": 1.0}
    faults: dict[str, dict[str, Any]] = {"gain": {"gains": sound | {"2": gain}}, "mass": {"gains": sound, "mass": gain}}
    faults["stance"] = {"gains": sound, "bad": gain - 0.1 if gain < 1 else gain + 0.1}
    right = {"gain": [[0, 1, 0]] * 3, "mass": [[1, 1, 1]] * 3, "stance": [[1, 0, 0], [0, 0, 0], [0, 0, 0]]}
    alike = dict.fromkeys(faults, 0)
    for _ in range(40):
        for name, fault in faults.items():
            found = doubts_of_session(*session(rng, **fault), 70.0)
            alike[name] += [[min(len(each), 1) for each in trial] for trial in found] == right[name]
    assert min(alike.values()) >= 36, alike


def test_a_session_finds_what_one_stance_cannot() -> None:
    """A gain of .9 is 3 to 4 standard deviations of one stance on each of two plates, 4 to 5 of three on each."""
    rng = np.random.default_rng(4)
    found = {1: 0, 3: 0}
    for each in found:
        for _ in range(100):
            doubts = doubts_of_session(*session(rng, gains={"1": 0.9, "2": 1.0}, each=each), 70.0)
            found[each] += all(trial[0] for trial in doubts)
    assert found[1] < found[3] - 5
    assert found[3] >= 90


def test_of_sound_sessions_one_stance_in_fifty_is_doubted_at_most() -> None:
    rng = np.random.default_rng(5)
    doubts = [
        bool(each)
        for number in range(600)
        for trial in doubts_of_session(*session(rng, gains={"1": 1.0, "2": 1.0}, each=1 + number % 4), 70.0)
        for each in trial
    ]
    assert np.mean(doubts) < 0.02


def test_thousands_of_stances_on_a_treadmill_need_no_matrix_of_all_pairs() -> None:
    """Such a matrix of 3,000 stances takes 72 MB, and more than a minute for several doubts."""
    shown, plates = session(np.random.default_rng(6), gains={"0": 1.0, "1": 1.0, "2": 0.8}, each=1000)
    tracemalloc.start()
    found = doubts_of_session(shown, plates, 70.0)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert all(trial[2] for trial in found)
    assert peak_bytes < 20e6


SOUND, DOUBT, REFUSAL = 0.8, 1.2, 2.5  # of the limits of doubt


def verdicts(made: Trial) -> set[tuple[str, str]]:
    """Return the codes of refusal and doubt of the stances with their single support in the recording."""
    known, cut = np.isfinite(judged(made).ratio), made.cut()
    codes, doubts = (cut[f"stance_{name}"].values[known].tolist() for name in ("code", "doubt_code"))
    return set(zip(codes, doubts, strict=True))


def expected(code: str, size: float) -> set[tuple[str, str]]:
    return {(f"{code}_disagrees", "")} if size == REFUSAL else {("", f"{code}_doubted" if size == DOUBT else "")}


@pytest.mark.parametrize("size", [SOUND, DOUBT, REFUSAL])
@pytest.mark.parametrize(("axis", "limit"), [(0, ALONG_M_S2), (2, ASIDE_M_S2)])
def test_a_force_that_turns_against_the_motion_is_doubted_or_refused(axis: int, limit: float, size: float) -> None:
    """On a belt, facing x, the body brakes and drives, or sways; a plate with a wrong sign shows the opposite."""
    made = moved(walk(strides=3, belt_m_s=1.2))
    sway = size * limit * np.where(np.arange(len(made["contacts"].time)) // 7 % 2, 1.0, -1.0)
    for side in range(2):
        bears = made["contacts"].ground_force.values[:, side, UP] > 0
        made["contacts"].ground_force.values[:, side, axis] = np.where(bears, sway * MASS_KG, 0.0)
    made["kinematics"].joint_centre_acceleration.values[:, :, HIP, axis] = sway[:, None]
    assert verdicts(made) == {("", "")}
    made["contacts"].ground_force.values[..., axis] *= -1
    assert verdicts(made) == expected("direction", size)


@pytest.mark.parametrize(("steps_hz", "doubted"), [(1.5, True), (2.0, True), (3.0, False)])
def test_trunk_and_arms_of_a_runner_turn_more_force_against_the_hips(steps_hz: float, doubted: bool) -> None:
    figures = np.full((1, len(RESIDUALS)), np.nan)
    figures[0, [[*RESIDUALS].index(name) for name in ("momentum_along", "steps_hz")]] = -1.5 * ALONG_M_S2, steps_hz
    ((refused, doubts),) = single_support.judged(figures, 70.0)
    assert (refused is None, [one.code for one in doubts]) == (True, ["direction_doubted"] * doubted)


@pytest.mark.parametrize("size", [SOUND, DOUBT, REFUSAL])
@pytest.mark.parametrize(("load", "limit"), [("force", FORCE), ("moment", MOMENT)])
def test_a_residual_beyond_trunk_and_arms_is_doubted_or_refused(load: str, limit: float, size: float) -> None:
    made = moved(walk(strides=3))
    weight_n = MASS_KG * STANDARD_GRAVITY_M_S2
    unit = weight_n * (1.0 if load == "force" else float(made["calibrate"].attrs["body_height_m"]))
    made["kinetics"][f"pelvis_residual_{load}"][:] = [0, size * limit / 100 * unit, 0]
    assert verdicts(made) == expected("residual", size)


@pytest.mark.parametrize(("factor", "size"), [(1.5, SOUND), (1 / 1.5, SOUND), (2.5, DOUBT), (0.4, SOUND), (4, DOUBT)])
def test_accelerations_of_another_rate_are_doubted(factor: float, size: float) -> None:
    """A rate stated as twice makes accelerations four times as large; trunk and arms may flatten them."""
    made = moved(walk(strides=3))
    for name in ("com_acceleration", "joint_centre_acceleration"):
        made["kinematics"][name].values[:] *= factor
    assert verdicts(made) == expected("rate", size)


@pytest.mark.parametrize(("hidden_m_s2", "told"), [(SEEN_M_S2, True), (UNSEEN_M_S2, False)])
def test_the_rate_of_a_flat_walk_is_told_where_the_trunk_is_seen(hidden_m_s2: float, told: bool) -> None:
    """Force varies by 1.2 m/s2, the motion by .3: with .75 more, in root mean square, the two differ by 1.5 times."""
    rises = np.zeros((101, 3))
    rises[:, UP] = np.sqrt(2) * np.sin(np.linspace(0, 2 * np.pi, 101))
    *_, varies = single_support._agreement(1.2 * rises, np.ones((101, 3)), 0.3 * rises, np.zeros((101, 3)), hidden_m_s2)
    assert np.isfinite(varies) == told


def test_the_two_wrong_plates_of_a_real_study_are_found_and_no_other(shared: Path, results_of: ResultsOf) -> None:
    """Plates that read .81 and .66 of the body's weight: ankle power .8 and .9 W/kg, 3.1 to 4.4 on the others."""
    found = {
        (name, str(side), str(plates)): str(code)
        for name, session in results_of(shared / "studies" / "plug_in_gait").items()
        for steps in session.trials.values()
        for side, plates, code in _stances(steps["cycles"])
        if plates and code in ("", "momentum_disagrees")
    }
    refused = [stance for stance, code in found.items() if code]
    assert refused == [("sub-05", "left", "1"), ("sub-06", "left", "2")]
    assert len(found) - len(refused) == 16


def _stances(cut: xr.Dataset) -> list[tuple[str, str, str]]:
    return list(zip(*(cut[f"stance_{name}"].values.tolist() for name in ("side", "plates", "code")), strict=True))
