"""The examples of docs/examples that use the teaching modules: the numbers in their text are right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import optimize

from docs.examples import (
    controlled_pendulum,
    double_pendulum,
    double_pendulum_3d,
    exercises,
    hill_muscle,
    moment_arms,
    muscle_forces,
    open_chain,
    reaching,
    reaching_simulated,
)
from tests.support.walks.person import ROUNDING, close


def test_double_pendulum(tmp_path: Path) -> None:
    found = double_pendulum.main(tmp_path / "x.svg")
    close(found["period of the modes, s"], 2 * np.pi / np.sqrt(9.81 / 0.5 * (2 + np.sqrt(2) * np.array([-1, 1]))))
    close(found["period of the modes, s"], [1.85, 0.77], 0.005)
    assert found["energy at the start, J"] == pytest.approx(9.81 * (0.5 + 1))
    assert found["change of energy in 20 s, J"] < 1e-8
    coarse, fine = found["energy gained by Euler in 1 s, J"]
    assert coarse > fine > 0
    coarse, fine = found["error of Euler after 1 s, rad"]
    assert coarse / fine == pytest.approx(2, rel=0.05)  # the next order is 1 ms over 0.1 s of it
    start, end = found["neighbours apart, first 5 s and last 5 s, rad"]
    assert start < 1e-3
    assert end > 1


def test_exercises(tmp_path: Path) -> None:
    found = exercises.main(tmp_path / "x.svg")
    close(*found["torque at the end, and m g d, N m"])
    close(found["largest torque, N m, and when, s"], [3.63, 0.1335], 0.005)
    # steps good to 1e-10, and the link is stable while it hangs
    close(found["angle after the torque of the rise, rad"], [0, 0], 1e-8)
    assert found["highest angle under a constant torque, degrees"] == pytest.approx(85.6, abs=0.05)
    work, height = found["work there, and energy of height, J"]
    assert work == pytest.approx(height, rel=1e-6)  # the highest of 1001 instants misses the top by less
    share = optimize.minimize_scalar(lambda q: -(1 - np.cos(q)) / q, bounds=(1, 3)).fun
    assert found["torque to go over the top, N m"] == pytest.approx(-share * 1.5 * 0.22 * 9.81, rel=1e-6)
    assert found["a. first link at rest"][0] < -0.5
    assert found["a. first link at rest"][1] == 0
    close(found["b. straight"], [0, 0])
    assert found["c. stiff elbow"][0] == 0
    assert found["c. stiff elbow"][1] > 0.2
    assert abs(found["d. 2 q1 + q2 = 180 degrees"][0]) < ROUNDING < found["d. 2 q1 + q2 = 180 degrees"][1]
    assert found["way of the tip across the line, m"] < ROUNDING
    for by_energy, by_recursion in found["machines"].values():
        close(by_energy, by_recursion)


def test_reach(tmp_path: Path) -> None:
    found = reaching.main(tmp_path / "x.svg")
    assert found["peak speed over mean speed"] == pytest.approx(15 / 8)
    slow, fast = (found[f"peak torques on the table, {pace}, N m"] for pace in ("slow", "fast"))
    assert (fast > 1).all()
    close(fast / slow, [64, 64])
    assert found["largest departure of any term from 64 times, N m"] < ROUNDING
    close(found["share of gravity in the shoulder's peak, slow and fast"], [0.99, 0.50], 0.005)
    assert found["elbow torque by the shoulder's acceleration, fast, N m"] > 1


def test_reach_simulated_from_its_torques(tmp_path: Path) -> None:
    found = reaching_simulated.main(tmp_path / "x.svg")
    assert found["straight start"].startswith("reach, at 0.000 s: the limb is straight")
    close(found["elbow by differences of 100, 1000, 10 000 samples, rad/s2"], [338, 835, 2656], 0.5)
    away = found["largest distance from the path, m"]
    for duration_s in (reaching_simulated.SLOW_S, reaching_simulated.FAST_S):
        # steps good to 1e-9; an arm that is held up multiplies errors by some 100 in 4 s
        assert away[duration_s, "all torques"] < 1e-7
        assert away[duration_s, "with feedback"] < 0.0005
    assert away[4.0, "101 torques"] == pytest.approx(0.65, abs=0.01)
    assert away[0.5, "101 torques"] == pytest.approx(0.004, abs=0.0005)


def test_controlled_pendulum(tmp_path: Path) -> None:
    found = controlled_pendulum.main(tmp_path / "x.svg")
    assert found["offset without integral"] > 0.05
    assert abs(found["its torque, from the weight's, N m"]) < ROUNDING
    assert abs(found["offset with integral"]) < 1e-8  # 10 s are 15 time constants of .6 s, and steps good to 1e-10
    assert 0.01 < found["largest error of the lower rod in the last 5 s"] < np.radians(8)
    assert found["swing of the upper rod in the last 5 s"] > 1
    close(found["misprint: both angles off after .5 s"], [0.334, 0.211], 0.0005)
    assert found["misprint: both angles off after 1 s"][0] == pytest.approx(1.25, abs=0.005)
    right, wrong = found["change of energy in 1 s, right and misprinted, J"]
    assert right < 1e-8
    assert wrong == pytest.approx(6.1, abs=0.05)


def test_moment_arms(tmp_path: Path) -> None:
    found = moment_arms.main(tmp_path / "x.svg")
    for name in ("lever and virtual work", "flexor and triangle"):
        assert found[f"largest difference of {name}"] < ROUNDING
    assert found["largest difference of arms and slopes of the length"] < 1e-9  # steps of 1e-5 rad, squared
    assert found["largest arm of the flexor"] == pytest.approx(moment_arms.BELOW, rel=1e-3)  # at whole degrees
    highest = np.degrees(np.arccos(-moment_arms.BELOW / moment_arms.ABOVE))
    assert found["elbow there, degrees"] == pytest.approx(highest, abs=0.5)
    assert found["change of the arm at the shoulder"] < ROUNDING
    assert (found["arms over both joints at 90 degrees"] > 0.03).all()


def test_open_chain(tmp_path: Path) -> None:
    found = open_chain.main(tmp_path / "x.svg")
    for name in ("recursion, from the closed form", "recursion, from the sum of the terms", "J^T f, from the torques"):
        assert found[f"{name}, N m"] < ROUNDING
    assert found["M' - 2 C plus its transpose"] < 1e-7  # differences with steps of 1e-5
    close(found["mass along and across the forearm at 90 degrees, kg"], [2.2, 0.5], 0.05)
    assert found["largest mass at 10 degrees from straight, kg"] == pytest.approx(40, abs=0.5)


def test_double_pendulum_in_space(tmp_path: Path) -> None:
    found = double_pendulum_3d.main(tmp_path / "x.svg")
    assert found["largest term of the free motion, N m"] > 10
    conserved = ("change of energy in 5 s, J", "change of angular momentum, kg m2/s")
    same = [name for name in found if "recursion" in name or "closed form" in name or "planar" in name]
    assert len(same) == 5
    for name in (*conserved, *same):
        assert found[name] < ROUNDING, name
    # steps good to 1e-12; a pendulum that is driven as open loop multiplies errors by some 1000 in 1 s
    assert found["simulation, from the chosen motion, rad"] < 1e-8


def test_hill_muscle(tmp_path: Path) -> None:
    found = hill_muscle.main(tmp_path / "x.svg")
    close(found["force at half of the largest velocity in shortening, a tenth in lengthening"], [1 / 6, 9 / 7])
    for tendon in ("rigid", "compliant"):
        assert found["work less change of energy, J"][tendon] < ROUNDING
        assert found["work at the end, J"][tendon] == pytest.approx(9.8, abs=0.1)
    close([found["half of the largest force, s"][tendon] for tendon in ("rigid", "compliant")], [0.056, 0.066], 1e-9)
    assert found["most in the tendon, J"] == pytest.approx(0.9, abs=0.05)


def test_muscle_forces(tmp_path: Path) -> None:
    found = muscle_forces.main(tmp_path / "x.svg")
    assert found["torques of the muscles, from those of the reach, N m"] < ROUNDING
    assert 0.1 < found["largest stress, share of the limit"] < 1
    assert found["least number of silent muscles"] == 2
    induced = found["induced by 100 N at ankle, knee and hip, rad/s2"]
    ankle, knee, _ = induced["soleus"]
    assert -knee > ankle > 0
    ankle, knee, hip = induced["gastrocnemius"]
    assert (ankle > 0, knee < 0, hip < 0) == (True, True, True)
    assert muscle_forces.LEG["gastrocnemius"][1] > 0  # its torque at the knee is one of flexion
