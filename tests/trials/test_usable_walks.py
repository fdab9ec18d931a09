"""The walks of a session that a step can use: those rejected before and by the step, their results, portions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import xarray as xr

from pipeline.conventions import NO_STATIC
from pipeline.errors import Problem, UserError
from pipeline.trials.session import Trial, join_trials, one_trial, rejected_by, spans_of, trials_of
from pipeline.trials.usable_walks import UsableWalks, batches, has_model, reject, some_trials
from tests.support.studies.ragged_trials import LOST, REASON, ragged_trial
from tests.support.studies.rejected import rejection

NAMES = ["a", "b", "c", "d"]
MODEL = xr.Dataset(attrs={"factor": 2.0})


def trial(name: str, level: float) -> xr.Dataset:
    count = 3 + NAMES.index(name)
    values = {"level": ("time", np.full(count, level)), "event_time": ("event", np.arange(2.0))}
    return xr.Dataset(values, {"time": np.arange(count) / 100}, {"source": f"{name}.c3d", "source_sha256": name})


def session(level: float, **rejected: str) -> xr.Dataset:
    made = {name: trial(name, level + i) for i, name in enumerate(NAMES)}
    return join_trials(made | {name: rejection(why, {"source": f"{name}.c3d"}) for name, why in rejected.items()})


def product(first: xr.Dataset, second: xr.Dataset, model: xr.Dataset) -> xr.Dataset:
    walks = UsableWalks.of(first, second, model)
    if not walks.names:
        return walks.complete(xr.Dataset())
    first, second = walks.take(first), walks.take(second)
    assert (first.trial.values == second.trial.values).all()
    for data in (first, second):
        assert not (data.rejected != "").any()
        np.testing.assert_array_equal(np.unique(data.sample_trial), np.arange(data.sizes["trial"]))
    values = first.level.values * second.level.values * model.attrs["factor"]
    means = [values[span].mean() for span in spans_of(first, "sample")]
    about = {"count": ("trial", np.array([span.stop - span.start for span in spans_of(first, "sample")]))}
    return walks.complete(xr.Dataset({"product": ("sample", values), "mean": ("trial", np.array(means))}, about))


def products(found: xr.Dataset) -> dict[str, float]:
    return {name: float(one_trial(found, name)["product"].values[-1]) for name in found.trial.values}


def test_a_session_is_its_trials() -> None:
    found = product(session(1.0), session(10.0), MODEL)
    assert products(found) == {"a": 20, "b": 44, "c": 72, "d": 104}
    for i, name in enumerate(NAMES):
        alone = product(join_trials({name: trial(name, 1.0 + i)}), join_trials({name: trial(name, 10.0 + i)}), MODEL)
        xr.testing.assert_identical(one_trial(alone, name), one_trial(found, name))
        assert alone.source.values.tolist() == [f"{name}.c3d"]


@pytest.mark.parametrize("here", [0, 1])
def test_a_trial_rejected_in_one_input_stays_rejected(here: int) -> None:
    """Its samples in the other input are left out; the trial's source is known from the first."""
    inputs = [session(1.0), session(10.0)]
    inputs[here] = session([1.0, 10.0][here], b="no markers")
    first, second = inputs
    found = product(first, second, MODEL)
    assert found.rejected.values.tolist() == ["", "no markers", "", ""]
    assert np.isnan(found["mean"].values[1])
    assert found.coords["count"].values.tolist() == [3, 0, 5, 6]
    assert found.source.values.tolist() == [f"{name}.c3d" for name in NAMES]
    assert one_trial(found, "b").attrs["rejected"] == "no markers"
    assert np.unique(found.sample_trial).tolist() == [0, 2, 3]
    assert one_trial(found, "c")["product"].values.tolist() == [72] * 5


def test_the_first_reason_is_kept() -> None:
    found = product(session(1.0, b="first"), session(10.0, b="second", d="third"), MODEL)
    assert found.rejected.values.tolist() == ["", "first", "", "third"]


def test_without_a_model_every_trial_is_rejected() -> None:
    found = product(session(1.0), session(10.0, a="hidden"), xr.Dataset(attrs={"rejected": "no static trial"}))
    assert found.rejected.values.tolist() == ["hidden", *["no static trial"] * 3]
    assert not found.data_vars
    assert found.source.values.tolist() == [f"{name}.c3d" for name in NAMES]


def test_a_model_that_only_lacks_a_static_trial_rejects_none() -> None:
    model = MODEL.assign_attrs(rejected="no static trial", rejected_code=NO_STATIC)
    found = product(session(1.0), session(10.0, a="hidden"), model)
    assert found.rejected.values.tolist() == ["hidden", "", "", ""]
    assert has_model(MODEL)
    assert not has_model(model)


def test_a_trial_that_a_step_rejects_costs_no_other() -> None:
    refused = {"c": Problem("", "refused", "mend it", "kind")}
    found = product(reject(session(1.0, a="hidden"), refused), session(10.0), MODEL)
    assert found.rejected.values.tolist() == ["hidden", "", "refused; mend it", ""]
    assert found.rejected_code.values.tolist()[1:] == ["", "kind", ""]
    assert one_trial(found, "d")["product"].values.tolist() == [104] * 6


def test_standing_trials_are_left_out() -> None:
    both = {name: trial(name, 1.0).assign_attrs(role=role) for name, role in (("a", "static"), ("b", "gait"))}
    found = product(join_trials(both), session(10.0), MODEL)
    assert products(found) == {"b": 22}


def test_trials_are_chosen_with_their_samples_and_events() -> None:
    whole = session(1.0, b="hidden")
    chosen = some_trials(whole, ["c", "d"])
    for name in ("c", "d"):
        xr.testing.assert_identical(one_trial(chosen, name), one_trial(whole, name))
    assert chosen.sizes["event"] == 4
    assert some_trials(whole, NAMES) is whole


def test_trials_that_are_neighbours_are_not_copied() -> None:
    whole = session(1.0, c="hidden")
    assert np.shares_memory(some_trials(whole, ["a", "b"]).level.values, whole.level.values)


def scaled(clean: xr.Dataset, factor: float) -> xr.Dataset:
    walks, results = UsableWalks.of(clean), {}
    for name, walk in trials_of(walks.take(clean)).items():
        try:
            if "Ünterarm" not in walk["marker"].values:
                raise UserError("Ünterarm", "not seen", "")
            results[name] = Trial.of(
                {"x": (walk["joint_moment"].dims, walk["joint_moment"].values * factor)}, {"time": walk["time"]}
            )
        except UserError as error:
            results[name] = rejected_by(error)
    return walks.complete(join_trials(results))


def test_walks_one_by_one() -> None:
    """A trial that fails, or was rejected before, costs no other; a static trial is left out."""
    trials = {
        "static": ragged_trial(1).assign_attrs(role="static"),
        "a": ragged_trial(2, markers=5),
        "lost": LOST,
        "b": ragged_trial(3, markers=5),
        "fails": ragged_trial(4, markers=5).drop_sel(marker="Ünterarm"),
    }
    found = scaled(join_trials(trials), 2.0)
    assert found.trial.values.tolist() == ["a", "lost", "b", "fails"]
    assert found.rejected.values.tolist() == ["", REASON, "", "Ünterarm: not seen"]
    assert found.source.values.tolist() == [trials[name].source for name in found.trial.values.tolist()]
    for name in ("a", "b"):
        np.testing.assert_array_equal(one_trial(found, name).x, 2 * trials[name].joint_moment)


def test_a_session_without_a_walk_that_can_be_used() -> None:
    """One by one, and together: the result has no variable."""
    lost = session(1.0, **dict.fromkeys(NAMES, "why"))
    for found in (scaled(lost, 2.0), product(lost, session(1.0), MODEL)):
        assert not found.data_vars
        assert found.rejected.values.tolist() == ["why"] * len(NAMES)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [([3, 3, 3], [2, 1]), ([2, 2, 2, 2], [3, 1]), ([9, 1, 1], [1, 2]), ([1], [1]), ([5, 5], [1, 1]), ([], [])],
)
def test_batches_are_whole_trials(counts: Sequence[int], expected: Sequence[int]) -> None:
    """At least five samples each, but for the last."""
    ends = np.cumsum([0, *counts]).tolist()
    spans = [slice(*pair) for pair in zip(ends[:-1], ends[1:], strict=True)]
    found = list(batches(spans, 5))
    assert [len(spans[part]) for part in found] == expected
    assert [span for part in found for span in spans[part]] == spans
