"""The examples on groups and conditions: they find an effect where it is, and no more than they say."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spm1d
import xarray as xr
from scipy import stats

from docs.examples import compare_curves, group_means, peaks_mixed_model
from gaitlab.pipeline.errors import UserError as ErrorOfExamples
from pipeline.demo.group import CONDITIONS, effect_shape, group_study, push_off
from pipeline.results import netcdf
from tests.support.checkout import HOUSE
from tests.support.walks.person import close

ANKLE = {"joint": "ankle", "angle": "flexion"}
METRIC = "peak_ankle_plantarflexor_moment"
PEOPLE = 12
PERCENT = np.arange(101.0)


# --- curves -----------------------------------------------------------------------------------------------------------


def many_studies(count: int, effect_n_m_kg: float, seed: int) -> tuple[np.ndarray, xr.Dataset]:
    """Return the paired curves ``(condition, study, participant, phase)`` of independent studies, and their cycles."""
    study = group_study(participants=count * PEOPLE, effect_n_m_kg=effect_n_m_kg, cycles=(2, 9), seed=seed)
    curves = compare_curves.paired(study.joint_moment_jcs.sel(ANKLE), CONDITIONS)
    return curves.values.reshape(2, count, PEOPLE, -1), study


def rejects(test: Any) -> bool:
    """Return whether a curve of t reaches its threshold, which is never below that of a single t."""
    reached = np.abs(test.z).max() > stats.t.ppf(0.975, test.df[1])
    return bool(reached and test.inference(0.05, two_tailed=True).h0reject)


def test_effect_is_found_where_it_is(tmp_path: Path) -> None:
    found = compare_curves.main(tmp_path / "x.svg")
    assert len(found["participants"]) == PEOPLE
    ((start, end, p),) = found["clusters, from % to %, p"]
    assert 40 <= start < 50 < end <= 60
    assert p < 0.05
    # a second formulation: every change of sign of the differences; it assumes neither normality nor smoothness
    before, after = compare_curves.paired(group_study().joint_moment_jcs.sel(ANKLE), CONDITIONS).values
    signs = np.array(np.meshgrid(*[[1, -1]] * PEOPLE)).reshape(PEOPLE, -1).T
    sums, squares = signs @ (after - before), ((after - before) ** 2).sum(axis=0)
    largest = np.abs(sums / np.sqrt(PEOPLE * (squares - sums**2 / PEOPLE) / (PEOPLE - 1))).max(axis=1)
    # the permutations see the effect too, which widens their tails: within a tenth
    assert found["threshold of t"] == pytest.approx(np.quantile(largest, 0.95), rel=0.1)


def test_without_an_effect_one_study_in_twenty_finds_one() -> None:
    count = 200
    (before, after), study = many_studies(count, effect_n_m_kg=0, seed=1)
    rate = np.mean([rejects(spm1d.stats.ttest_paired(a, b)) for a, b in zip(after, before, strict=True)])
    assert abs(rate - 0.05) < 2 * np.sqrt(0.05 * 0.95 / count)  # two standard deviations of the count
    # the two mistakes that the example warns of
    pointwise = np.abs(stats.ttest_rel(after, before, axis=1).statistic).max(axis=1) > stats.t.ppf(0.975, PEOPLE - 1)
    assert pointwise.mean() > 0.2
    number = np.unique(study.participant, return_inverse=True)[1] // PEOPLE
    curve, fast = study.joint_moment_jcs.sel(ANKLE).values, study.condition.values == "fast"
    of_cycles = [
        rejects(spm1d.stats.ttest2(curve[(number == i) & fast], curve[(number == i) & ~fast], equal_var=True))
        for i in range(60)
    ]
    assert np.mean(of_cycles) > 0.15


def test_pairs_are_of_the_same_people_and_sides() -> None:
    study = group_study(participants=5)
    gone = (study.participant == "p02") & (study.condition == "fast")
    gone |= (study.participant == "p03") & (study.condition == "fast") & (study.side == "left")
    curve = study.joint_moment_jcs.sel(ANKLE).where(~gone)  # as kinetics that could not be used
    pairs = compare_curves.paired(curve, CONDITIONS)
    assert [*pairs.participant.values] == ["p01", "p03", "p04", "p05"]
    own = (study.participant == "p03") & (study.side == "right") & (study.condition == "comfortable")
    close(pairs.sel(participant="p03", condition="comfortable"), curve[own.values].mean("cycle"))
    with pytest.raises(ErrorOfExamples, match="fewer than 3 participants"):
        compare_curves.paired(curve[np.isin(study.participant, ["p01", "p02", "p03"])], CONDITIONS)
    with pytest.raises(ErrorOfExamples, match="comfortable and uphill"):
        compare_curves.paired(curve, ("comfortable", "uphill"))


def test_bands_hold_the_truth_as_often_as_they_say() -> None:
    count = 100
    curves, _ = many_studies(count, effect_n_m_kg=0, seed=2)
    bands = [group_means.band(people) for people in curves[0]]
    away = np.abs([band.mean - push_off() for band in bands])
    at_each, of_all = (np.array([getattr(band, name) for band in bands]) for name in ("at_each", "of_all"))
    # 101 percents of a curve are about four independent ones: two standard deviations of 400 and of 100
    assert (away <= at_each).mean() == pytest.approx(0.95, abs=0.022)
    assert (away <= of_all).all(axis=1).mean() == pytest.approx(0.95, abs=0.044)
    assert (away <= at_each).all(axis=1).mean() < 0.8  # the narrower band does not reach this


def test_group_means_of_each_condition(tmp_path: Path) -> None:
    found = group_means.main(tmp_path / "x.svg", group_study(participants=60, seed=3))
    assert {name: band.people for name, band in found.items()} == dict.fromkeys(CONDITIONS, 60)
    difference = found["fast"].mean - found["comfortable"].mean
    # standard error of the difference: sqrt(2) * 0.06 / sqrt(60) and a share of the cycles' own
    close(difference, -0.2 * effect_shape(), 0.06)
    assert group_means.main(tmp_path / "x.svg", group_study(participants=2)) == {}  # two people are no group


# --- peaks ------------------------------------------------------------------------------------------------------------


def test_mixed_model_of_equal_counts_is_the_paired_t_test(tmp_path: Path) -> None:
    study = group_study(cycles=(6, 6), seed=4)
    found = peaks_mixed_model.main(tmp_path / "x.svg", study)
    assert found["cycles, and participants with both conditions"] == (12 * PEOPLE, PEOPLE)
    means = study[METRIC].to_dataframe().groupby(["condition", "participant"])[METRIC].mean()
    expected = stats.ttest_rel(means["fast"], means["comfortable"])
    # both are exact; the likelihood is maximised to about 1e-4 of the spread
    assert found["effect"] == pytest.approx((means["fast"] - means["comfortable"]).mean(), rel=1e-3)
    close(found["95 % interval"], [*expected.confidence_interval()], 1e-3)
    assert found["p"] == pytest.approx(expected.pvalue, rel=0.05)


def test_mixed_model_that_cannot_be_fitted_is_remarked(tmp_path: Path) -> None:
    """One cycle per person and condition cannot tell the response of people from the spread of cycles."""
    found = peaks_mixed_model.main(tmp_path / "x.svg", group_study(participants=3, cycles=(1, 1)))
    assert "do not use interval and p" in found["remark"]
    assert "remark" not in peaks_mixed_model.main(tmp_path / "x.svg", group_study(cycles=(6, 6)))


def test_mixed_model_with_unequal_counts_and_without_effect(tmp_path: Path) -> None:
    found = peaks_mixed_model.main(tmp_path / "x.svg")
    assert found["p"] < 0.01
    people, response, cycles = found["standard deviation between people, of their response, of cycles"]
    assert people > cycles > response > 0
    start, end = peaks_mixed_model.main(tmp_path / "x.svg", group_study(effect_n_m_kg=0))["95 % interval"]
    assert start < 0 < end
    with pytest.raises(ErrorOfExamples, match="fewer than 3 participants have peak_ankle"):
        peaks_mixed_model.main(tmp_path / "x.svg", group_study(participants=2))


# --- figures, and the same in R ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("example", [compare_curves, group_means, peaks_mixed_model])
def test_figures_are_drawn_alike_each_time(example: Any, tmp_path: Path) -> None:
    for name in ("once.svg", "twice.svg"):
        example.main(tmp_path / name)
    assert b"<svg" in (tmp_path / "once.svg").read_bytes()
    assert (tmp_path / "once.svg").read_bytes() == (tmp_path / "twice.svg").read_bytes()


def test_r_infers_the_same(tmp_path: Path) -> None:
    rscript = shutil.which("Rscript")
    if rscript is None or subprocess.run([rscript, "-e", "library(ncdf4)"], check=False).returncode:
        pytest.skip("needs R with ncdf4")
    study = group_study()
    netcdf.save(tmp_path / "study.nc", study)
    command = [rscript, str(HOUSE / "docs" / "examples" / "statistics.R"), str(tmp_path / "study.nc")]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    def numbers(pattern: str) -> list[float]:
        return [float(text) for text in re.findall(pattern, printed)[0]]

    curves = compare_curves.paired(study.joint_moment_jcs.sel(ANKLE), CONDITIONS).values
    widths = [group_means.band(people).at_each.max() for people in curves]
    close(numbers(r"width of the bands (\S+) (\S+)"), widths, 1e-6)  # R prints seven digits
    peaks = compare_curves.paired(study[METRIC].expand_dims(phase=[0], axis=1), CONDITIONS).values[..., 0]
    expected = stats.ttest_rel(peaks[1], peaks[0])
    effect, p = numbers(r"peak: difference (\S+) .* p (\S+)")
    close(effect, (peaks[1] - peaks[0]).mean(), 1e-6)
    assert p == pytest.approx(expected.pvalue, rel=1e-5)
    start, end = numbers(r"curves differ from (\S+) to (\S+) %")
    assert 40 <= start < 50 < end <= 60
