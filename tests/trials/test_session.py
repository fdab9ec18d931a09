"""A session's trials in one dataset: each comes back as it was, also from a file and with plain xarray."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from pipeline.errors import UserError
from pipeline.results import netcdf
from pipeline.results.session_file import load_trial
from pipeline.trials.session import UNITED, VERDICT, facts_of_trials, join_trials, one_trial, separate, spans_of
from tests.support.studies.ragged_trials import LOST, REASON, SESSIONS, ragged_trial


def same(found: xr.Dataset, expected: xr.Dataset) -> None:
    xr.testing.assert_identical(found, expected)
    for name, variable in expected.variables.items():
        kinds = [one.dtype.kind.replace("O", "U") for one in (found.variables[name], variable)]  # text as objects
        assert kinds[0] == kinds[1], name
    assert found.indexes.keys() == expected.indexes.keys()


@pytest.mark.parametrize("trials", SESSIONS.values(), ids=SESSIONS)
def test_each_trial_comes_back(trials: dict[str, xr.Dataset], tmp_path: Path) -> None:
    session = join_trials(trials)
    netcdf.save(tmp_path / "clean.nc", session)
    for found in (separate(session), separate(netcdf.load(tmp_path / "clean.nc"))):
        assert [*found] == [*trials]
        for name, trial in trials.items():
            same(found[name], trial)


@pytest.mark.parametrize("trials", SESSIONS.values(), ids=SESSIONS)
def test_a_session_from_its_trials_is_the_same(trials: dict[str, xr.Dataset], tmp_path: Path) -> None:
    """In memory, after reading (which gives text as objects), and after writing that again."""
    session = join_trials(trials)
    same(join_trials(separate(session)), session)
    netcdf.save(tmp_path / "once.nc", session)
    again = join_trials(separate(netcdf.load(tmp_path / "once.nc")))
    same(again, session)
    netcdf.save(tmp_path / "twice.nc", again)
    same(netcdf.load(tmp_path / "twice.nc"), session)


@pytest.mark.parametrize("trials", SESSIONS.values(), ids=SESSIONS)
def test_elements_are_those_of_their_trial(trials: dict[str, xr.Dataset]) -> None:
    session = join_trials(trials)
    assert session.trial.values.tolist() == [*trials]
    if all("rejected" in trial.attrs for trial in trials.values()):
        assert set(session.dims) == {"trial"}
        return
    for dim, own in (("sample", "time"), ("plate_sample", "plate_time"), ("event", "event"), ("contact", "contact")):
        counts = [trial.sizes.get(own, 0) for trial in trials.values()]
        assert [span.stop - span.start for span in spans_of(session, dim)] == counts
        assert np.bincount(session[f"{dim}_trial"], minlength=len(trials)).tolist() == counts
    for dim in UNITED:
        for order, trial in zip(session[f"{dim}_order"].values, trials.values(), strict=True):
            own = [] if "rejected" in trial.attrs else trial[dim].values.tolist()
            shown = sorted(zip(order[order > 0], session[dim].values[order > 0].tolist(), strict=True))
            assert shown == [*enumerate(own, 1)]


def test_a_trial_is_a_view() -> None:
    """Where it has the session's markers in the session's order; the memory of a session is not taken twice."""
    session = join_trials({"a": ragged_trial(1), "b": ragged_trial(1)})
    trial = one_trial(session, "b")
    for name in ("marker_position", "plate_force", "joint_moment", "plate_corner"):
        assert np.shares_memory(trial[name].values, session[name].values), name


def test_what_a_trial_lacks_is_blank() -> None:
    trials = {"all": ragged_trial(1, markers=5, plates=3), "few": ragged_trial(2, markers=2, plates=1), "lost": LOST}
    session = join_trials(trials)
    absent = ~np.isin(session.marker.values, trials["few"].marker.values)
    span = spans_of(session, "sample")[1]
    assert np.isnan(session.marker_position.values[span][:, absent]).all()
    assert (session.fill.values[span][:, absent] == 0).all()
    assert (session.label.values[1, absent] == "").all()
    assert np.isnan(session.plate_drift.values[1]).sum() == 2
    assert np.isnan(session.lab_rotation.values[2]).all()


def test_facts_are_those_of_each_trial() -> None:
    trials = {"a": ragged_trial(1), "lost": LOST, "b": ragged_trial(2).assign_attrs(filled_frames=17)}
    facts = facts_of_trials(join_trials(trials))
    assert [*facts] == ["a", "lost", "b"]
    assert facts["b"] == trials["b"].attrs | dict.fromkeys(VERDICT, "")
    assert facts["a"] == trials["a"].attrs | dict.fromkeys(VERDICT, ""), "nothing is known of its frames"
    assert facts["lost"] == LOST.attrs | {"note": ""}


# --- as users open it -------------------------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path: Path) -> Path:
    session = join_trials({"walk_1": ragged_trial(1), "lost": LOST, "walk_2": ragged_trial(2)})
    session["joint_moment"].attrs["units"] = session["time"].attrs["units"] = "as saved"
    netcdf.save(tmp_path / "kinetics.nc", session.assign_attrs(title="Joint moments"))
    return tmp_path / "kinetics.nc"


def test_plain_xarray_groups_by_trial(path: Path) -> None:
    ds = xr.open_dataset(path)
    moment = ds.joint_moment.assign_coords(trial=ds.trial[ds.sample_trial])
    largest = moment.groupby("trial").max()
    assert largest.trial.values.tolist() == ["walk_1", "walk_2"]
    for name in ("walk_1", "walk_2"):
        expected = load_trial(path, name).joint_moment.max("time")
        np.testing.assert_array_equal(largest.sel(trial=name), expected)
    np.testing.assert_array_equal(ds.time[(ds.sample_trial == 2).values], ragged_trial(2).time)


def test_an_unknown_trial_is_named() -> None:
    with pytest.raises(ValueError, match="no trial other"):
        one_trial(xr.Dataset(coords={"trial": ["walk"]}), "other")


def test_load_trial_gives_one_trial_with_units(path: Path) -> None:
    trial = load_trial(str(path), "walk_2")
    assert trial.joint_moment.attrs == {"units": "as saved"}
    assert trial.time.attrs == {"units": "as saved"}
    xr.testing.assert_equal(trial, ragged_trial(2))
    assert trial.attrs == ragged_trial(2).attrs


@pytest.mark.parametrize(
    ("file", "name", "message"),
    [
        ("kinetics.nc", "walk1", r"kinetics\.nc: no trial 'walk1'; did you mean 'walk_1'\?"),
        ("kinetics.nc", "zzz", r"no trial 'zzz'; it has walk_1, lost, walk_2"),
        ("kinetics.nc", "lost", rf"trial 'lost' was rejected: {REASON}; choose another trial"),
        ("absent.nc", "walk_1", r"absent\.nc: no such file; create it with"),
        ("calibrate.nc", "walk_1", r"calibrate\.nc: no trial 'walk_1'; it has none"),
        ("cut.nc", "walk_1", r"cut\.nc: damaged .*; remove it and run again"),
    ],
)
def test_load_trial_says_what_is_wrong(path: Path, file: str, name: str, message: str) -> None:
    netcdf.save(path.with_name("calibrate.nc"), xr.Dataset({"segment_mass": ("segment", [1.0])}))
    path.with_name("cut.nc").write_bytes(path.read_bytes()[:3000])
    with pytest.raises(UserError, match=message):
        load_trial(path.with_name(file), name)
