"""Panels of EMG envelopes: on the pages of those who have them, with channels that are not used."""

from __future__ import annotations

import json

import numpy as np
import pytest
import xarray as xr

from pipeline.steps.report.curves.panels import MUSCLES
from pipeline.trials.left_out import LeftOut, as_text
from tests.support.studies.for_report import Made, Page, curve_of, three_people

HAS = {"sub-01": ["soleus", "biceps_femoris"], "sub-03": ["rectus_femoris"]}
MUSCLE_ORDER = ["rectus_femoris", "biceps_femoris", "soleus"]
LEFT_OUT = (
    LeftOut(["L TA", "R: TA; 2"], "steady", "no activity: noise; or hum"),
    LeftOut(["Voltage.L Gast"], "no_voltage", "its unit is 'N', not V, mV or uV"),
)


def with_muscles(made: Made) -> Made:
    """Return a study with constant envelopes, mV: .1 for a left cycle, .2 for a right one, and .01 times its number."""
    study = made.study
    level = np.where(study.side == "left", 0.1, 0.2) + 0.01 * np.arange(study.sizes["cycle"])
    values = np.full((study.sizes["cycle"], len(MUSCLE_ORDER), 101), np.nan)
    for person, muscles in HAS.items():
        for muscle in muscles:
            mine = study.participant.values == person
            values[mine, MUSCLE_ORDER.index(muscle)] = level[mine, None]
    study = study.assign(emg_envelope=(("cycle", "muscle", "phase"), values)).assign_coords(muscle=MUSCLE_ORDER)
    trials = made.cycles["sub-01"].trial.values
    notes = xr.Variable("trial", np.array([as_text(LEFT_OUT) if name == "walk_1" else "" for name in trials]))
    return made._replace(study=study, cycles=made.cycles | {"sub-01": made.cycles["sub-01"].assign(emg_left_out=notes)})


@pytest.fixture(scope="module")
def study() -> Made:
    return with_muscles(three_people())


def test_each_person_has_the_panels_of_the_own_muscles(study: Made) -> None:
    for person in study.participants:
        page = Page(study.person(person))
        titles = [figure["title"] for figure in page.figures()[0] if figure["group"] == MUSCLES]
        expected = [name.replace("_", " ").capitalize() for name in MUSCLE_ORDER if name in HAS.get(person, [])]
        assert titles == expected
        assert (MUSCLES in page.words) == (person in HAS), "no word on EMG for those without"
        others = {"Soleus", "Biceps femoris", "Rectus femoris"} - {*expected}
        assert not any(other in study.person(person) for other in others), "nothing of another's muscles"


def test_curves_are_means_of_the_side_in_millivolts(study: Made) -> None:
    figures, data = Page(study.person("sub-01")).figures()[0], study.study
    for side in ("left", "right"):
        curve = curve_of(figures, "Soleus", side, "slow")
        mine = (data.participant == "sub-01") & (data.side == side) & (data.condition == "slow")
        expected = float(data.emg_envelope.sel(muscle="soleus").isel(phase=0).where(mine).mean())
        np.testing.assert_allclose(curve["mean"], expected, rtol=0, atol=5.1e-4 * np.abs(expected).max())
        assert curve["n"] == 2
    (figure,) = [figure for figure in figures if figure["title"] == "Soleus"]
    assert (figure["unit"], figure["limits"], figure["reference"]) == ("mV", None, [])


def test_millivolts_are_not_averaged_over_people(study: Made) -> None:
    page = Page(study.overview())
    assert all(figure["group"] != MUSCLES for figure in page.figures()[0])
    assert "EMG" not in page.words


def test_channels_that_are_not_used_are_listed_with_reason_and_trials(study: Made) -> None:
    words = Page(study.person("sub-01")).words
    table = words[words.index("EMG channels that are not used") :]
    for each in LEFT_OUT:
        assert f"{', '.join(each.which)} {each.words} walk_1" in table
    assert "EMG channels" not in Page(study.person("sub-03")).words


def with_bursts(made: Made, **more: float) -> Made:
    """Return a study with bursts: at 10 to 20 % and from 90 % on in all cycles, but none of the right biceps."""
    study = with_muscles(made).study
    shape = (study.sizes["cycle"], len(MUSCLE_ORDER))
    on, off = np.full((*shape, 5), np.nan), np.full((*shape, 5), np.nan)
    on[..., 0], off[..., 0], on[..., 1] = 10, 20, 90
    odd = np.arange(shape[0]) % 2 == 1
    on[odd, :, 2], off[odd, :, 2] = 50, 60  # in every second cycle of a person, condition and side, or in less
    share = np.where(
        (study.side.values[:, None] == "right") & (np.array(MUSCLE_ORDER) == "biceps_femoris"), np.nan, 20.0
    )
    dims = ("cycle", "muscle")
    bursts = {
        "emg_onset": ((*dims, "activity"), on),
        "emg_offset": ((*dims, "activity"), off),
        "emg_active": (dims, share),
    }
    levels = {name: study.emg_envelope * factor for name, factor in more.items()}
    return with_muscles(made)._replace(study=study.assign(bursts | levels))


def test_bars_show_when_a_muscle_is_active_and_words_when_that_is_unknown() -> None:
    page = Page(with_bursts(three_people()).person("sub-01"))
    for side, title in (("left", "Biceps femoris"), ("right", "Soleus")):
        bars = curve_of(page.figures()[0], title, side, "slow")["active"]
        assert [10, 20] in bars
        assert bars[-1] == [90, 100]
    assert curve_of(page.figures()[0], "Biceps femoris", "right", "slow")["active"] is None
    assert "right, slow: no onset" in page.words
    assert "left, slow: no onset" not in page.words


def test_normalised_envelopes_have_percent_and_a_place_in_the_overview() -> None:
    made = with_bursts(three_people(), emg_normalised=1000.0)
    page, overview = Page(made.person("sub-01")), Page(made.overview())
    (figure,) = [figure for figure in page.figures()[0] if figure["title"] == "Soleus"]
    assert (figure["unit"], figure["sign"]) == ("%", "linear envelope, normalised")
    assert "as recorded" not in page.words
    assert {figure["title"] for figure in overview.figures()[0] if figure["group"] == MUSCLES} >= {"Soleus"}
    assert "no onset" not in overview.words
    assert ("Bars at the bottom" in page.words, "Bars at the bottom" in overview.words) == (True, False)
    plain = Page(with_bursts(three_people()).person("sub-01"))
    (figure,) = [figure for figure in plain.figures()[0] if figure["title"] == "Soleus"]
    assert (figure["unit"], figure["sign"]) == ("mV", "linear envelope, as recorded")


@pytest.mark.parametrize(("chosen", "words"), [("peak", "highest value"), ("reference", "highest mean over 0.5 s")])
def test_the_page_says_what_muscles_are_divided_by(chosen: str, words: str) -> None:
    made = with_bursts(three_people(), emg_normalised=1000.0)
    used = json.dumps({"cycles": {"emg_normalisation": chosen}})
    made = made._replace(study=made.study.assign_attrs(settings=used))
    assert f"in percent of its {words}" in Page(made.person("sub-01")).words
