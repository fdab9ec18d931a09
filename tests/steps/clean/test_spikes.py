"""Spikes, injected into generated and real walks; none are found elsewhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.steps.clean.marker_repair import SPIKE, find_spikes
from tests.support.checkout import FULL
from tests.support.walks.as_read import cleaned, generated, real_walks, used
from tests.support.walks.person import BODY_MODELS

Array = NDArray[np.float64]
SPIKE_M = 0.01


def walk(seed: int) -> Array:
    trial, model = generated(BODY_MODELS[seed % 4], seed)
    return np.stack(list(used(trial, model)[0].values()), axis=1)


def spiked(position: Array, seed: int, *, size_m: float, frames: int) -> tuple[Array, NDArray[np.bool_]]:
    rng = np.random.default_rng(seed)
    where = np.zeros(position.shape[:2], dtype=bool)
    start = rng.integers(5, len(position) - frames - 5)
    where[start : start + frames, rng.integers(position.shape[1])] = True
    direction = rng.normal(size=3)
    return position + where[..., None] * size_m * direction / np.linalg.norm(direction), where


def test_clean_walks_have_none() -> None:
    assert not any(find_spikes(walk(seed), spike_m=SPIKE_M).any() for seed in range(200 if FULL else 40))


@pytest.mark.parametrize("frames", [1, 2, 3, 5])
def test_spikes_are_found_to_the_sample(frames: int) -> None:
    """40 to 100 mm; three times the roughness of a foot in swing at 60 frames a second is about 30 mm."""
    hits = []
    for dose, size_m in enumerate(np.linspace(0.04, 0.1, 20)):
        position, where = spiked(walk(500 + dose), dose, size_m=float(size_m), frames=frames)
        hits.append((find_spikes(position, spike_m=SPIKE_M) == where).all())
    assert np.mean(hits) >= 0.95


def test_small_spikes_of_a_smooth_path_are_found() -> None:
    time = np.arange(300) / 100
    path = np.stack([time, 0.1 * np.sin(3 * time), 0 * time], axis=1)[:, None]
    for size_m, found in ((0.012, True), (0.008, False)):
        position, where = spiked(path, 1, size_m=size_m, frames=1)
        np.testing.assert_array_equal(find_spikes(position, spike_m=SPIKE_M), where if found else False)


def test_a_path_that_does_not_return_is_not_a_spike() -> None:
    path = walk(3)
    path[80:, 2] += 0.1
    assert not find_spikes(path, spike_m=SPIKE_M).any()


@pytest.mark.parametrize("gap", [-4, -3, 2, 3])
@pytest.mark.parametrize("step_m", [0.05, 0.1])
def test_a_step_beside_a_gap_is_not_a_spike(gap: int, step_m: float) -> None:
    """Of a marker that moves smoothly; in the frame from which it steps, or beside, two frames are unseen."""
    time = np.arange(300) / 100
    path = np.stack([1.2 * time, 0.05 * np.sin(2 * np.pi * time), 0.1 + step_m * (time >= 1.5)], axis=-1)[:, None]
    path += 3e-4 * np.random.default_rng(2).normal(size=path.shape)
    path[150 + gap : 152 + gap] = np.nan
    assert not find_spikes(path, spike_m=SPIKE_M).any()


@pytest.mark.parametrize("frames", [1, 2])
def test_a_spike_at_the_edge_of_a_gap_is_found(frames: int) -> None:
    path = walk(0)
    path[60:90, 4] = np.nan
    path[90 : 90 + frames, 4] += [0.0, 0.08, 0.0]
    found = find_spikes(path, spike_m=SPIKE_M)
    assert list(np.argwhere(found)[:, 0]) == list(range(90, 90 + frames))


def test_clean_fills_and_records_a_spike() -> None:
    trial, model = generated("isb_clusters", 8)
    faulty = trial.copy(deep=True)
    faulty.marker_position.loc[{"marker": "LHEE"}][70:72] += 0.05
    right, result = cleaned(trial, model), cleaned(faulty, model)
    assert list(np.flatnonzero(result.fill.sel(marker="heel_left") == SPIKE)) == [70, 71]
    assert result.attrs["filled_frames"] == 2
    near = 0.003  # m, error of two samples rebuilt from the foot's other markers, with noise of 1 mm
    np.testing.assert_allclose(result.marker_position, right.marker_position, rtol=0, atol=near)
    assert not cleaned(faulty, model, spike_m=None).fill.any()


def test_spikes_of_real_walks_are_the_known_ones(shared: Path) -> None:
    """One recording has four, confirmed by eye: LF03, RT01, RT05 of `functional`, and RHEE where it jumps by 4 cm."""
    found: dict[tuple[str, str], list[int]] = {}
    for file, trial, model in real_walks(shared):
        points, _ = used(trial, model)
        spikes = find_spikes(np.stack(list(points.values()), axis=1), spike_m=SPIKE_M)
        for i in np.flatnonzero(spikes.any(axis=0)):
            found[file, list(points)[i]] = np.flatnonzero(spikes[:, i]).tolist()
    walk_ = "sub-01/FunctionalWalk.c3d"
    assert found == {(walk_, "LF03"): [13], (walk_, "RT01"): [120], (walk_, "RT05"): [76], (walk_, "RHEE"): [26]}


def test_a_jump_is_judged_alike_in_each_part_of_a_recording(shared: Path) -> None:
    """Right heel of `functional`, in parts of a second or more, of different roughness."""
    (trial, model), *_ = [(trial, model) for file, trial, model in real_walks(shared) if "FunctionalWalk" in file]
    heel = used(trial, model)[0]["RHEE"][:, None]
    for first, last in ((0, 438), (0, 200), (0, 120), (10, 300), (17, 438)):
        spikes = find_spikes(heel[first:last], spike_m=SPIKE_M)
        assert (np.flatnonzero(spikes) + first).tolist() == [26], (first, last)
