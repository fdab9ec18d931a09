"""The plate of a session that is late against the others, in walks whose body moves exactly by the loads."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

from pipeline.conventions import STANDARD_GRAVITY_M_S2, UP
from pipeline.steps.cycles.cut_trial import Inputs
from pipeline.steps.cycles.momentum.late_plates import find_late
from pipeline.steps.cycles.momentum.single_support import centre_of_mass
from pipeline.trials.session import Trial

Array = NDArray[np.float64]

MASS_KG, RATE_HZ, STEP_S, STANCE_S = 70.0, 100, 0.5, 0.6
LAGS_S, SLOW_S = {"1": 0.025}, 0.004  # a late plate; a spread of rests, as real people's


def load(time: Array, strike_s: float) -> Array:
    """Return the vertical force per mass of a stance with two humps (time,), N/kg."""
    at = (time - strike_s) / STANCE_S
    inside = (at > 0) & (at < 1)
    return np.where(inside, 12.0 * (np.sin(np.pi * at) + np.sin(3 * np.pi * at) / 3), 0.0)


def session(
    lags_s: dict[str, float], *, plates: str = "123", first: int = 0, walks: int = 1, rests: bool = True,
    momentum: bool = True, gains: dict[str, float] | None = None, mass: float = 1.0, steps: int = 6,
) -> list[Inputs[Trial]]:  # fmt: skip
    """Return walks of steps on plates in turn, whose loads are late in what the two witnesses see, or in one of them.

    ``mass``: what the table says per true mass. Only steps ``1`` to ``plates`` of each walk are on plates.
    """
    rng, made = np.random.default_rng(3), []
    for walk in range(walks):
        time = np.arange(0, STEP_S * (steps + 1), 1 / RATE_HZ)
        strikes = 0.2 + STEP_S * np.arange(-1, steps + 2)
        side = np.where((np.arange(len(strikes)) + first + walk) % 2, "right", "left")
        number = np.array([plates[i % len(plates)] for i in range(len(strikes))])
        lag_s = np.array([lags_s.get(name, 0.0) for name in number])
        shown = np.array([load(time - lag * momentum, at) for at, lag in zip(strikes, lag_s, strict=True)])
        shown *= MASS_KG * np.array([(gains or {}).get(name, 1.0) for name in number])[:, None]
        moves = np.cumsum(sum(load(time, at) for at in strikes) - STANDARD_GRAVITY_M_S2) / RATE_HZ
        moves -= np.polyval(np.polyfit(time, moves, 1), time)
        up = np.zeros((len(time), 2, 3))
        plate = np.zeros((len(time), len(plates), 3))
        for i, force in enumerate(shown):
            up[:, int(side[i] == "right"), UP] += force
            plate[:, plates.index(number[i]), UP] += force
        joints = np.zeros((len(time), 2, 3, 3))
        joints[..., UP] = moves[:, None, None]
        lead = -lag_s * rests + SLOW_S * rng.normal(size=len(strikes))
        contacts = Trial.of(
            {"ground_force": (("time", "side", "axis"), up), "contact_rest_lead": ("contact", lead)},
            {
                "time": time, "contact_side": ("contact", side), "plates": ("contact", number),
                "contact_start": ("contact", strikes + lag_s * momentum),
                "contact_end": ("contact", strikes + lag_s * momentum + STANCE_S),
                "valid": ("contact", np.ones(len(strikes), dtype=bool)),
            },
        )  # fmt: skip
        kinematics = Trial.of(
            {
                "joint_centre_velocity": (("time", "side", "joint", "axis"), joints),
                "com_velocity": (("time", "side", "segment", "axis"), joints),
            }
        )
        clean = Trial.of({"plate_force": (("time", "plate", "axis"), plate)}, {"plate": [int(one) for one in plates]})
        person = xr.Dataset(
            {"segment_mass": (("side", "segment"), np.zeros((2, 3)))}, attrs={"body_mass_kg": MASS_KG * mass}
        )
        made.append(Inputs(contacts, kinematics, contacts, clean, person))
    return made


def named(walks: list[Inputs[Trial]]) -> set[str]:
    found = find_late(walks)
    return found[0] if found else set()


@pytest.mark.parametrize("late", ["1", "2", "3"])
@pytest.mark.parametrize("lag_s", [0.025, -0.025])
def test_the_plate_is_named_with_the_size_of_its_delay(late: str, lag_s: float) -> None:
    """Rests scatter by 4 ms, so that four to six on each plate tell the delay to some 4 ms."""
    found = find_late(session({late: lag_s}, walks=2))
    assert found is not None
    plates, doubt = found
    assert plates == {late}
    words = doubt.words.split()
    assert words[:2] == ["plate", late]
    assert abs(float(words[3]) - 1e3 * abs(lag_s)) < 6
    assert words[7] == ("late" if lag_s > 0 else "early")


def test_of_two_plates_nobody_knows_which_is_late() -> None:
    found = find_late(session({"1": 0.03}, plates="12", walks=4))
    assert found is not None
    assert found[0] == {"1", "2"}
    assert " or plate " in found[1].words


@pytest.mark.parametrize("late", ["12", "13", "34"])
@pytest.mark.parametrize("lag_s", [0.025, 0.04])
def test_where_two_plates_are_late_all_may_be(late: str, lag_s: float) -> None:
    """One amplifier of two plates: the best single delay is that of a sound plate, early."""
    assert named(session(dict.fromkeys(late, lag_s), plates="1234", steps=8, walks=4)) == {*"1234"}
    assert named(session({late[0]: lag_s}, plates="1234", steps=8, walks=4)) == {late[0]}


def test_one_witness_alone_names_no_plate() -> None:
    assert named(session(LAGS_S, walks=2)) == {"1"}
    for lag_s in (0.012, 0.016, 0.02, 0.025, 0.04, 0.06):
        assert named(session({"1": lag_s}, walks=4, rests=False)) == set()
        assert named(session({"1": lag_s}, walks=4, momentum=False)) == set()


def test_all_plates_late_is_not_one_late_against_the_others() -> None:
    assert named(session(dict.fromkeys("123", 0.025), walks=2)) == set()


@pytest.mark.parametrize(("mass", "gain"), [(1.08, 1.0), (0.92, 1.0), (1.0, 1.08), (1.0, 0.92)])
@pytest.mark.parametrize("plates", ["12", "123"])
def test_a_wrong_mass_or_gain_is_no_delay(mass: float, gain: float, plates: str) -> None:
    """Not even beside slow rests of one plate, which are then the only witness."""
    for slow_s in (0.0, 0.012, -0.012):
        walks = session({"1": slow_s}, plates=plates, momentum=False, mass=mass, gains={"1": gain})
        assert named(walks) == set()


def test_a_session_on_one_plate_tells_nothing() -> None:
    assert named(session(LAGS_S, plates="1")) == set()
    assert named([]) == set()


def peak_bytes(call: Callable[[], object]) -> int:
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_thousands_of_stances_on_a_treadmill_take_no_matrix_of_them() -> None:
    """A matrix of all pairs of 800 stances would take 5 MB more than the motion of the body itself."""
    walks = session({"1": 0.03}, plates="12", steps=800)
    of_body = peak_bytes(lambda: centre_of_mass(walks[0].kinematics, walks[0].calibrate, "velocity"))
    assert find_late(walks) is not None
    assert peak_bytes(lambda: find_late(walks)) < of_body + 2e6
