"""Bursts cut into cycles, divisors shared by a session, and co-contraction, against numbers by hand."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from pipeline.steps.cycles.muscles import MOST_BURSTS, activity, co_contractions, normalised

MUSCLES = ["soleus", "tibialis_anterior"]
# trial, side, muscle, start and end in s
BURSTS = [
    (0, "left", "soleus", 1.1, 1.5),
    (0, "left", "tibialis_anterior", 1.7, 2.2),  # over the foot strike at 2 s
    (0, "right", "soleus", 1.2, 1.4),
    (1, "left", "soleus", 1.3, 1.6),  # another trial
]
SPANS = np.array([[1.0, 2.0], [2.0, 4.0], [1.5, 2.5], [1.0, 2.0]])
TRIAL, SIDE, ROW = np.array([0, 0, 0, 1]), np.array(["left", "left", "right", "left"]), np.array([0, 0, 1, 0])


def cleaned(bursts: list[tuple[int, str, str, float, float]]) -> xr.Dataset:
    """Return what the step takes of clean.nc; the left tibialis of trial 1 has no rest, the right one no EMG."""
    columns = zip(("trial", "side", "muscle", "start", "end"), zip(*bursts, strict=True), strict=True)
    rest = np.ones((2, 2, 2))
    rest[1, 0, 1] = rest[:, 1, 1] = np.nan
    reference = np.broadcast_to([[4.0, 8.0], [5.0, np.nan]], (2, 2, 2))
    return xr.Dataset(
        {f"burst_{name}": ("burst", np.array(values)) for name, values in columns}
        | {"emg_rest": (("trial", "side", "muscle"), rest), "emg_reference": (("trial", "side", "muscle"), reference)},
        {"muscle": MUSCLES},
    )


def test_each_onset_and_offset_is_in_the_cycle_it_belongs_to() -> None:
    found = activity(cleaned(BURSTS), TRIAL, SIDE, ROW, SPANS)
    soleus, tibialis = ({name: values[:, i] for name, values in found.items()} for i in range(len(MUSCLES)))
    np.testing.assert_allclose(soleus["emg_onset"][:, 0], [10, np.nan, np.nan, 30])
    np.testing.assert_allclose(soleus["emg_offset"][:, 0], [50, np.nan, np.nan, 60])
    np.testing.assert_allclose(soleus["emg_active"], [40, 0, 0, 30], err_msg="0 if it is silent")
    np.testing.assert_allclose(tibialis["emg_onset"][:, 0], [70, np.nan, np.nan, np.nan])
    np.testing.assert_allclose(tibialis["emg_offset"][:, 0], [np.nan, 10, np.nan, np.nan], err_msg="0.2 s of 2 s")
    np.testing.assert_allclose(tibialis["emg_offset_time"][:, 0], [np.nan, 0.2, np.nan, np.nan])
    np.testing.assert_allclose(tibialis["emg_active"], [30, 10, np.nan, np.nan], err_msg="no EMG, no rest")
    assert np.isnan(soleus["emg_onset"][:, 1:]).all()


def test_of_many_bursts_the_longest_are_stored_in_order_of_time() -> None:
    lengths = np.array([0.05, 0.1, 0.04, 0.09, 0.06, 0.08, 0.07])
    starts = 1 + 0.13 * np.arange(len(lengths))
    bursts = [(0, "left", "soleus", float(a), float(a + b)) for a, b in zip(starts, lengths, strict=True)]
    found = activity(cleaned(bursts), TRIAL[:1], SIDE[:1], ROW[:1], SPANS[:1])
    kept = np.sort(np.argsort(-lengths)[:MOST_BURSTS])
    np.testing.assert_allclose(found["emg_onset_time"][0, 0], starts[kept] - 1)
    np.testing.assert_allclose(found["emg_active"][0, 0], 100 * lengths.sum())


@pytest.mark.parametrize(
    ("method", "soleus"), [("peak", [8.0, 8, 3, 8]), ("mean", [4.0, 4, 2, 4]), ("reference", [4.0, 4, 5, 4])]
)
def test_a_muscle_of_a_side_has_one_divisor_in_all_trials(method: str, soleus: list[float]) -> None:
    envelope = np.empty((4, 2, 3))
    envelope[:, 0] = [[1, 2, 3], [6, 7, 8], [1, 2, 3], [1, 3, 5]]  # the third cycle is of the right side
    envelope[:, 1] = np.nan
    found = normalised(envelope, cleaned(BURSTS), TRIAL, ROW, method)
    np.testing.assert_allclose(found["emg_divisor"][:, 0], soleus)
    np.testing.assert_allclose(found["emg_normalised"][0, 0], 100 / soleus[0] * np.array([1, 2, 3]))
    assert np.isnan(found["emg_normalised"][:, 1]).all()
    assert np.isnan(found["emg_divisor"][2, 1]), "the right tibialis anterior has neither EMG nor a reference"


def test_envelopes_of_left_out_cycles_do_not_count_in_the_divisor() -> None:
    envelope = np.array([[[1.0, 2]], [[np.nan] * 2], [[5, 5]], [[3, 4]]])
    divisor = normalised(envelope, cleaned(BURSTS), TRIAL, ROW, "mean")["emg_divisor"]
    np.testing.assert_allclose(divisor[:, 0], [2.5, 2.5, 5, 2.5])
    silent = normalised(np.zeros((4, 1, 2)), cleaned(BURSTS), TRIAL, ROW, "peak")
    assert np.isnan(silent["emg_normalised"]).all(), "no division by zero"


def test_pairs_without_both_muscles_have_no_index() -> None:
    curves = {"emg_normalised": np.array([[[0.0, 50, 100], [100, 50, 0]]])}
    pairs = ["tibialis anterior - soleus", "rectus femoris - hamstrings"]
    found = co_contractions(pairs, curves, MUSCLES, 1)
    # areas of both 100, the common one 50: two triangles of half the height
    np.testing.assert_allclose(found.pop("co_contraction_tibialis_anterior_soleus"), [50])
    ((name, values),) = found.items()
    assert name == "co_contraction_rectus_femoris_hamstrings"
    assert np.isnan(values).all()
