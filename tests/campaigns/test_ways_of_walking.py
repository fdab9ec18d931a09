"""Other walks over the plates: one foot on two plates, two feet on one, diagonal, backwards.

Each is derived from a recorded walk; its joint moments must be the same, or missing for the two feet on one plate.
"""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

from pipeline.plates.wrench import at_instants, centre_of_pressure
from pipeline.workflow import settings
from pipeline.workflow.strict_yaml import read_yaml
from tests.support.checkout import DEMO
from tests.support.settings import settings_of
from tests.support.steps import contacts, kinematics, kinetics
from tests.support.studies.run_steps import ResultsOf

Array = NDArray[np.float64]
CHOSEN, MODEL = settings.load_settings(read_yaml(DEMO / "study.yaml"), where="study.yaml", study_path=DEMO)
ROUNDING_NM = 1e-6  # the same forces summed in another order, and filtered derivatives of metres rounded at 1e-16


@pytest.fixture(scope="module")
def walked(results_of: ResultsOf) -> tuple[xr.Dataset, xr.Dataset]:
    """Return a walk of the demonstration study after ``clean``, and the calibration."""
    session = results_of(DEMO)["sub-01"]
    return session.trials["comfortable_01"]["clean"], session.calibration


def solved(trial: xr.Dataset, calibration: xr.Dataset, **changes: float) -> tuple[xr.Dataset, xr.Dataset]:
    touched = contacts(trial, settings=settings_of("contacts", **CHOSEN["contacts"] | changes))
    moved = kinematics(trial, calibration, body_model=MODEL, settings=settings_of("kinematics", **CHOSEN["kinematics"]))
    return touched, kinetics(moved, touched, calibration, settings=settings_of("kinetics", **CHOSEN["kinetics"]))


@pytest.fixture(scope="module")
def plain(walked: tuple[xr.Dataset, xr.Dataset]) -> tuple[xr.Dataset, xr.Dataset]:
    touched, loaded = solved(*walked)
    assert touched.valid.sum() >= 3
    return touched, loaded


def same_moments(found: xr.Dataset, expected: xr.Dataset) -> None:
    wanted = expected.joint_moment.values
    assert np.isfinite(wanted).sum() > 1000
    np.testing.assert_allclose(found.joint_moment.values, wanted, rtol=0, atol=ROUNDING_NM)


def test_one_foot_over_two_plates(walked: tuple[xr.Dataset, xr.Dataset], plain: tuple[xr.Dataset, xr.Dataset]) -> None:
    """The first plate is split under the foot; its halves share the force as a beam does."""
    trial, calibration = walked
    corner, force = trial.plate_corner.values[0], trial.plate_force.values[:, 0]
    cop, free = centre_of_pressure(force, trial.plate_moment.values[:, 0], corner)
    loaded = np.isfinite(cop).all(axis=1) & (force[:, 1] > 20)
    saw = float(np.median(cop[loaded, 0]))
    ends = np.array([cop[loaded, 0].min() - 0.02, cop[loaded, 0].max() + 0.02])  # of the sole
    front = np.clip((np.where(loaded, cop[:, 0], saw) - ends[0]) / (ends[1] - ends[0]), 0, 1)
    halves = []
    for end, share in ((ends[0], 1 - front), (ends[1], front)):
        place = np.where(loaded[:, None], cop, 0.0)
        place[:, 0] = end
        part = share[:, None] * force
        moment = np.cross(place, part) + (share * np.nan_to_num(free))[:, None] * [0.0, 1.0, 0.0]
        plate = corner.copy()
        inner = np.argsort(np.abs(plate[:, 0] - end))[2:]
        plate[inner, 0] = saw
        halves.append(
            (part, np.where(loaded[:, None], moment, share[:, None] * trial.plate_moment.values[:, 0]), plate)
        )
    sawn = with_plates(trial, halves, instead_of=[0])
    touched, loaded_again = solved(sawn, calibration)
    assert "1 2" in {str(plates) for plates in touched.plates.values[touched.valid.values]}
    assert touched.valid.sum() == plain[0].valid.sum()
    same_moments(loaded_again, plain[1])


def test_two_feet_on_one_plate(walked: tuple[xr.Dataset, xr.Dataset], plain: tuple[xr.Dataset, xr.Dataset]) -> None:
    """The first two plates are joined: both stances are rejected; the third step is unchanged."""
    trial, calibration = walked
    both = trial.plate_corner.values[:2].reshape(-1, 3)
    (x0, y, z0), (x1, _, z1) = both.min(axis=0), both.max(axis=0)
    large = np.array([[x1, y, z1], [x0, y, z1], [x0, y, z0], [x1, y, z0]])
    sums = [trial[name].values[:, :2].sum(axis=1) for name in ("plate_force", "plate_moment")]
    touched, loaded = solved(with_plates(trial, [(sums[0], sums[1], large)], instead_of=[0, 1]), calibration)
    shared = touched.reason_code.values == "two_feet_on_plate"
    assert shared.sum() == 2
    assert touched.valid.sum() == plain[0].valid.sum() - 2
    for row in np.flatnonzero(shared):
        side = str(touched.contact_side.values[row])
        start_s, end_s = float(touched.contact_start[row]), float(touched.contact_end[row])
        inside = loaded.joint_moment.sel(side=side, time=slice(start_s + 0.03, end_s - 0.03))
        assert np.isnan(inside).all()
    (row,) = np.flatnonzero(touched.valid.values)
    side, span = (
        str(touched.contact_side.values[row]),
        slice(float(touched.contact_start[row]), float(touched.contact_end[row])),
    )
    mine, before = (found.joint_moment.sel(side=side, time=span).values for found in (loaded, plain[1]))
    np.testing.assert_allclose(mine, before, atol=ROUNDING_NM)


@pytest.mark.parametrize("degrees", [-35.0, 20.0])
def test_a_diagonal_walk(
    walked: tuple[xr.Dataset, xr.Dataset], plain: tuple[xr.Dataset, xr.Dataset], degrees: float
) -> None:
    """Person and plates are rotated relative to the lab axes."""
    trial, calibration = walked
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    turn = np.array([[cos, 0, sin], [0, 1, 0], [-sin, 0, cos]])
    vectors = ("marker_position", "plate_force", "plate_moment", "plate_corner")
    touched, loaded = solved(
        trial.assign({name: trial[name].copy(data=trial[name].values @ turn.T) for name in vectors}), calibration
    )
    assert touched.valid.sum() == plain[0].valid.sum()
    same_moments(loaded, plain[1])


def test_walking_backwards(walked: tuple[xr.Dataset, xr.Dataset], plain: tuple[xr.Dataset, xr.Dataset]) -> None:
    """Time reversed: velocities change their sign, accelerations and forces do not, nor what the joints must do.

    The usual delays between plate and markers are those of walking forwards, some 40 ms more at foot off than at foot
    strike: backwards the plates seem 45 ms out of time.
    """
    trial, calibration = walked
    back = trial.isel(time=slice(None, None, -1), plate_time=slice(None, None, -1), event=slice(0))
    times = {name: float(trial.time[0] + trial.time[-1]) - back[name] for name in ("time", "plate_time")}
    back = back.assign_coords(times).assign_attrs(direction_of_travel="backwards")
    touched, loaded = solved(back, calibration, max_time_offset_s=0.05)
    forth, again = plain[1].joint_moment.values, loaded.joint_moment.values[::-1]
    known = np.isfinite(forth) & np.isfinite(again)
    assert known.sum() > 0.8 * np.isfinite(forth).sum(), "events from motion differ backwards"
    np.testing.assert_allclose(again[known], forth[known], rtol=0, atol=ROUNDING_NM)
    assert touched.valid.sum() == plain[0].valid.sum()


def with_plates(trial: xr.Dataset, plates: list[tuple[Array, Array, Array]], *, instead_of: list[int]) -> xr.Dataset:
    """Return a trial with other plates, force, moment (time, 3) and corners (4, 3), before those kept.

    All plates are sampled at the marker instants.
    """
    kept = [i for i in range(trial.sizes["plate"]) if i not in instead_of]
    force, moment = (np.stack([plate[i] for plate in plates], axis=1) for i in (0, 1))
    corner = np.stack([plate[2] for plate in plates])
    time = trial.time.values
    unfiltered = at_instants(trial.vertical_force.values[:, kept, None], trial.plate_time.values, time)[..., 0]
    whole = {
        "plate_force": np.concatenate([force, trial.plate_force.values[:, kept]], axis=1),
        "plate_moment": np.concatenate([moment, trial.plate_moment.values[:, kept]], axis=1),
        "plate_corner": np.concatenate([corner, trial.plate_corner.values[kept]]),
        "vertical_force": np.concatenate([force[..., 1], unfiltered], axis=1),
        "vertical_force_filtered": np.concatenate([force[..., 1], trial.plate_force.values[:, kept, 1]], axis=1),
        "plate_baseline": np.zeros((len(plates) + len(kept), 3)),
        "plate_drift": np.zeros(len(plates) + len(kept)),
        "plate_wander": np.zeros(len(plates) + len(kept)),
        "plate_prediction_error": np.zeros(len(plates) + len(kept)),
        "plate_wander_of_moment": np.zeros(len(plates) + len(kept)),
        "plate_prediction_error_of_moment": np.zeros(len(plates) + len(kept)),
        "plate_edges_known": np.ones(len(plates) + len(kept), dtype=bool),
        "plate_fault": np.full(len(plates) + len(kept), ""),
    }
    bare = trial.drop_dims(["plate", "plate_time"])
    dims = {name: trial[name].dims for name in whole}
    numbers = np.arange(1, len(plates) + len(kept) + 1, dtype=np.int32)
    return bare.assign({name: (dims[name], values) for name, values in whole.items()}).assign_coords(
        plate=numbers, plate_time=time
    )
