"""Formulations of the legs: they agree, also on real recordings, and detect errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pipeline.body.legs import Legs
from pipeline.conventions import JOINTS
from pipeline.dynamics import block_matrix, kernel
from pipeline.dynamics.vectors import rotate
from pipeline.steps.kinetics import cross_checks, step
from tests.support.studies.run_steps import ResultsOf
from tests.support.walks.person import Array, close
from tests.support.walks.person_on_ground import AGREED, ground, largest, legs, loaded, loads, moved

STUDIES = ("exact", "functional", "gait2354", "plug_in_gait")


@pytest.fixture(scope="module")
def own() -> Legs:
    return legs()


@pytest.fixture(scope="module")
def solved(own: Legs) -> cross_checks.Loads:
    """Return the stored loads."""
    found = loaded()
    in_lab = rotate(np.swapaxes(own.rotation[:, :, :3], -1, -2), found.joint_moment.values)
    return cross_checks.Loads(found.joint_force.values, in_lab, found.joint_moment_jcs.values * own.signs)


def test_all_formulations_agree_to_rounding() -> None:
    found = loaded()
    assert list(found.formulation.values) == list(cross_checks.FORMULATIONS)
    assert np.isfinite(found.disagreement).all()
    assert largest(found.disagreement) < AGREED
    assert largest(found.joint_moment) > 100


@pytest.mark.parametrize("part", ["force", "moment", "torque"])
@pytest.mark.parametrize("wrong", ["solved", *cross_checks.FORMULATIONS])
def test_a_wrong_number_in_one_frame_is_detected(own: Legs, solved: cross_checks.Loads, wrong: str, part: str) -> None:
    """1e-5 N or N m at one instant of one joint, in the formulation that is wrong and in no other."""
    chain = cross_checks.open_chain(own)
    all_loads = {
        "block_matrix": cross_checks.one_system(own),
        "wrenches": cross_checks.wrenches_on_the_shank(own),
        "recursion": chain.recursion,
        "closed_form": chain.closed_form,
        "solved": solved,
    }
    changed = getattr(all_loads[wrong], part).copy()
    changed[77, 1, 2, 0] += 1e-5
    all_loads[wrong] = all_loads[wrong]._replace(**{part: changed})
    found = cross_checks.disagreement(all_loads.pop("solved"), dict(reversed(all_loads.items())))
    assert found.shape == (len(own.com), 4, 2)
    assert np.delete(found, 77, axis=0).max() < AGREED
    expected = np.zeros((4, 2))
    rows = slice(None) if wrong == "solved" else cross_checks.FORMULATIONS.index(wrong)
    expected[rows, 0 if part == "force" else 1] = 1e-5
    close(found[77], expected, AGREED)


def test_an_error_of_the_solver_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    """The solver alone lacks w x I w at the ankle; a vector in lab axes has a component of 1 / sqrt(3) of it."""
    solve = kernel.inverse_dynamics_by_term

    def without_velocity(segments: kernel.Segments) -> tuple[Array, Array]:
        force, moment = solve(segments)
        moment[:, :, 1, 0] = 0
        return force, moment

    left_out = largest(loaded().joint_moment_term.sel(joint="ankle", term="velocity"))
    monkeypatch.setattr(step, "inverse_dynamics_by_term", without_velocity)
    found = loads(moved(), ground()).disagreement
    assert left_out > 1e-3
    assert (found.sel(load="moment") > 0.57 * left_out).all()
    assert largest(found.sel(load="force")) < AGREED


FOOT, SHANK, THIGH = (6 * np.arange(3))[:, None] + np.arange(3)  # rows and columns of the forces
MOMENT = 3  # from there to those of the moments


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        (FOOT + MOMENT, FOOT), (SHANK + MOMENT, FOOT), (SHANK + MOMENT, SHANK), (THIGH + MOMENT, SHANK),
        (THIGH + MOMENT, THIGH), (SHANK + MOMENT, FOOT + MOMENT), (SHANK, FOOT),
    ],
)  # fmt: skip
def test_a_wrong_sign_of_any_block_is_detected(rows: Array, columns: Array, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of S(r) of each arm, of the moment and of the force of the segment below: in the row of the matrix alone."""
    assemble = block_matrix.system_matrix

    def with_wrong_sign(segments: kernel.Segments) -> Array:
        matrix = assemble(segments)
        matrix[..., rows[:, None], columns] *= -1
        return matrix

    monkeypatch.setattr(block_matrix, "system_matrix", with_wrong_sign)
    found = loads(moved(), ground()).disagreement
    assert float(found.sel(formulation="block_matrix", load="moment")) > 10  # arms of 0.1 m and forces of 600 N
    assert largest(found.sel(formulation=found.formulation != "block_matrix")) < AGREED


def test_what_is_not_known_is_not_compared() -> None:
    nothing = cross_checks.Loads(*np.full((3, 5, 2, 3, 3), np.nan))
    found = cross_checks.disagreement(nothing, dict.fromkeys(cross_checks.FORMULATIONS, nothing))
    assert found.shape == (5, 4, 2)
    assert np.isnan(found).all()


@pytest.mark.parametrize("names", [cross_checks.FORMULATIONS[1:], (*cross_checks.FORMULATIONS, "fifth"), ()])
def test_loads_of_other_formulations_are_refused(solved: cross_checks.Loads, names: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="instead of block_matrix"):
        cross_checks.disagreement(solved, dict.fromkeys(names, solved))


# ---- real recordings


@pytest.fixture(scope="module")
def checks(shared: Path, results_of: ResultsOf) -> pd.DataFrame:
    """Return one row per trial: the largest disagreement, closures and power."""
    rows = []
    for study in STUDIES:
        for name, session in results_of(shared / "studies" / study).items():
            for trial, steps in session.trials.items():
                found = steps["kinetics"]
                closure = np.sqrt((found.forward_closure**2).mean("angle")).max("side", skipna=True)
                rows.append(
                    {
                        "study": study,
                        "trial": f"{name} {trial}",
                        "force": float(found.disagreement.sel(load="force").max()),
                        "moment": float(found.disagreement.sel(load="moment").max()),
                        "block_matrix": float(found.disagreement.sel(formulation="block_matrix", load="moment")),
                        **{joint: float(closure.sel(joint=joint)) for joint in JOINTS},
                        "energy": float(found.energy_closure.max()),
                        "power": float(np.abs(found.joint_power).max()),
                    }
                )
    return pd.DataFrame(rows)


def test_formulations_agree_on_every_trial_of_real_recordings(checks: pd.DataFrame) -> None:
    """Noisy markers give large accelerations, not rounding; positions are in metres, forces in kilonewtons."""
    assert set(checks.study) == set(STUDIES)
    assert checks.moment.notna().all()
    assert (checks.moment < 1e-8).all()
    assert (checks.force < 1e-8).all()
    assert (checks.block_matrix < 1e-9).all()  # the same equations as those of the stored loads


def test_closures_of_the_exact_study_are_small(checks: pd.DataFrame) -> None:
    """Filtered at 10 Hz and sampled at 250 Hz, the spline misses (2 pi f h)^4 / 720, 6 10^-6, of accelerations.

    Under the body's weight the foot falls within a window by some thousandths of a degree of it.
    """
    exact = checks[checks.study == "exact"]
    assert (exact[[*JOINTS]] < 0.01).all(axis=None)
    assert (exact.energy < 0.005).all()


def test_closures_of_real_recordings_are_small(checks: pd.DataFrame) -> None:
    """At 60 to 120 Hz the same share is up to 2 10^-3 of accelerations: of powers, and of what turns the foot."""
    assert (checks.energy < 0.01 * checks.power).all()
    assert (checks[[*JOINTS]] < 5).all(axis=None)
    assert (checks.hip < checks.knee).all(), "the heavier, the steadier"
    assert (checks.knee < checks.ankle).all()
