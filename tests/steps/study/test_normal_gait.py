"""The published gait that is shipped: healthy children walk in it, unless a sign or an axis is turned round."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

from pipeline.tables.reference_curves import (
    COMPONENTS,
    Curves,
    Key,
    ReferenceCurve,
    at_speed,
    reference_file,
    reference_of,
)
from pipeline.variables.gait_profile import turns
from tests.support.studies.run_steps import ResultsOf, ResultsOfLab, Session, gathered

Array = NDArray[np.float64]
HEALTHY = ("HC032A", "HC036A", "HC040A", "sub-02", "sub-03")  # typically developing children of one laboratory
TURNS = ("HC032A18", "HC036A23", "HC040A40")  # trials
SAGITTAL = [
    ("pelvis_angle", "flexion"),
    *(("joint_angle", joint, "flexion") for joint in ("hip", "knee", "ankle")),
    *(("joint_moment_jcs", joint, "flexion") for joint in ("hip", "knee", "ankle")),
    *(("joint_power", joint) for joint in ("hip", "knee", "ankle")),
    *(("ground_force", axis) for axis in "xy"),
]
SHAPELESS = [  # nearly constant over the cycle, or with as much crosstalk from knee flexion as movement
    ("pelvis_angle", "flexion"), ("foot_progression",), ("joint_angle", "hip", "rotation"),
    ("joint_angle", "knee", "adduction"), ("joint_angle", "knee", "rotation"),
]  # fmt: skip
SHARE_INSIDE = 0.8  # of samples within 2 SD; 0.95 for the people of a band themselves
ALIKE = 0.7  # correlation: half of the variance of a curve is that of the reference
TEXTS = [reference_file(name, study_path=Path()).read_text() for name in ("schwartz2008", "pinzone2014")]
SCHWARTZ, PINZONE = (reference_of(text, where="") for text in TEXTS)
CurvesAt = Callable[[float], Curves]


class Walker(NamedTuple):
    """Median dimensionless speed of a person, and the complete cycles (cycle, 51) of each curve."""

    speed: float
    cycles: dict[Key, Array]


@pytest.fixture(scope="module")
def walked(labs: Path, results_of: ResultsOf, results_of_lab: ResultsOfLab) -> dict[str, Walker]:
    """Return the straight walks of all people of two folders: five healthy children, a child, two adults."""
    straight = {
        name: Session(one.calibration, {trial: steps for trial, steps in one.trials.items() if trial not in TURNS})
        for name, one in results_of_lab("children")[1].items()
    }
    sessions = straight | results_of(labs / "studies" / "plug_in_gait")
    walks = gathered(sessions, reference=TEXTS[0])[0]
    keys = schwartz(0.43).keys() | pinzone(0.43).keys()
    return {
        str(person): Walker(float(np.nanmedian(mine.reference_speed)), {key: cycles_of(mine, key) for key in keys})
        for person, mine in walks.groupby("participant")
    }


def cycles_of(walks: xr.Dataset, key: Key) -> Array:
    """Return the complete cycles (cycle, 51) of a curve."""
    labels = dict(zip(COMPONENTS[key[0]], key[1:], strict=True))
    cycles: Array = np.asarray(walks[key[0]].sel(labels).transpose("cycle", "phase").values[:, ::2], dtype=float)
    return cycles[np.isfinite(cycles).all(axis=1)]


class Compared(NamedTuple):
    """Share of samples within 2 SD, and the mean curves of a person and of the reference."""

    inside: float
    own: Array
    normal: Array


def compared(walked: Mapping[str, Walker], curves_at: CurvesAt) -> dict[Key, dict[str, Compared]]:
    """Compare each curve of each person."""
    found: dict[Key, dict[str, Compared]] = {}
    for person, walker in walked.items():
        for key, (_, mean, sd) in curves_at(walker.speed).items():
            cycles = walker.cycles[key]
            inside = np.abs(cycles - mean) <= 2 * np.array(sd)
            if len(cycles):  # one of the adults has no cycle with kinetics
                found.setdefault(key, {})[person] = Compared(inside.mean(), cycles.mean(axis=0), np.array(mean))
    return found


def faults(found: dict[Key, dict[str, Compared]]) -> Iterator[str]:
    """Yield the curves in which the healthy children do not walk as the reference does.

    Sagittal curves must be inside the band. Many others are so turned round, too, as their bands are wide and about
    zero: those with a shape must have the shape of the reference.
    """
    for key, of_people in found.items():
        inside, own, normal = zip(*(of_people[person] for person in HEALTHY), strict=True)
        if key in SAGITTAL and np.mean(inside) < SHARE_INSIDE:
            yield f"{' '.join(key)}: {np.mean(inside):.0%} inside"
        alike = np.corrcoef(np.mean(own, axis=0), np.mean(normal, axis=0))[0, 1]
        if key not in SHAPELESS and alike < ALIKE:
            yield f"{' '.join(key)}: r {alike:.2f}"


def schwartz(speed: float) -> Curves:
    return at_speed(SCHWARTZ, speed)


def pinzone(_: float) -> Curves:
    return PINZONE[None]


@pytest.mark.parametrize("curves_at", [schwartz, pinzone])
def test_healthy_children_walk_in_the_band(walked: dict[str, Walker], curves_at: CurvesAt) -> None:
    """Print the share of samples within 2 SD of each person and curve, in percent."""
    found = compared(walked, curves_at)
    people = [*HEALTHY, *sorted(walked.keys() - {*HEALTHY})]
    print(f"\n{'':34}{'healthy':>8}", *(f"{person:>7}" for person in people))  # noqa: T201
    for key, of_people in found.items():
        shares = {person: 100 * each.inside for person, each in of_people.items()}
        cells = [np.mean([shares[person] for person in HEALTHY]), *(shares.get(person, np.nan) for person in people)]
        print(f"{' '.join(key):34}", *(f"{cell:7.0f}" for cell in cells))  # noqa: T201
    assert [*faults(found)] == []


def test_turns_of_real_children_have_no_scores(results_of_lab: ResultsOfLab) -> None:
    """Strides of straight walks have scores of health; before they were left out, turns had up to 45 degrees."""
    found = gathered(results_of_lab("children")[1], reference=TEXTS[0])[0]
    turning = turns(found.turning_angle.values, found.progression_offset.values)
    score, straight = found.gait_profile_score.values, ~np.isin(found.trial.values, TURNS)
    assert np.isnan(score[turning]).all()
    assert np.nanmax(score) < 15
    assert np.isfinite(score[straight]).sum() >= 10
    assert turning[~straight].sum() >= 10
    assert turning[straight].sum() <= 1  # of the first stride of HC040A, from standing


def turned(curves: Curves, key: Key) -> Curves:
    """Return the curves with one of another sign."""
    phase, mean, sd = curves[key]
    return curves | {key: ReferenceCurve(phase, [-value for value in mean], sd)}


def exchanged(curves: Curves, one: Key, other: Key) -> Curves:
    """Return the curves with two exchanged."""
    return curves | {one: curves[other], other: curves[one]}


@pytest.mark.parametrize(
    ("curves_at", "key"),
    [
        *((schwartz, key) for key in schwartz(0.43) if key not in SHAPELESS or key in SAGITTAL),
        (pinzone, ("joint_moment_jcs", "ankle", "rotation")),
    ],
)
def test_a_sign_turned_round_is_found(walked: dict[str, Walker], curves_at: CurvesAt, key: Key) -> None:
    found = [*faults(compared(walked, lambda speed: turned(curves_at(speed), key)))]
    assert any(fault.startswith(" ".join(key)) for fault in found)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("ground_force", "x"), ("ground_force", "y")),
        (("pelvis_angle", "flexion"), ("pelvis_angle", "adduction")),
        (("pelvis_angle", "adduction"), ("pelvis_angle", "rotation")),
        (("joint_angle", "hip", "flexion"), ("joint_angle", "hip", "adduction")),
        (("joint_moment_jcs", "hip", "flexion"), ("joint_moment_jcs", "hip", "adduction")),
        (("joint_moment_jcs", "knee", "flexion"), ("joint_moment_jcs", "knee", "adduction")),
        (("joint_angle", "knee", "flexion"), ("joint_angle", "ankle", "flexion")),
        (("joint_power", "hip"), ("joint_power", "knee")),
    ],
)
def test_two_axes_or_joints_exchanged_are_found(walked: dict[str, Walker], one: Key, other: Key) -> None:
    assert [*faults(compared(walked, lambda speed: exchanged(schwartz(speed), one, other)))]
