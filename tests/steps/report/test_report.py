"""The report: its numbers against closed forms."""

from __future__ import annotations

import re
import time
from pathlib import Path

import numpy as np
import pytest

from pipeline.results import netcdf
from pipeline.steps.report import metric_tables
from pipeline.steps.report.curves.panels import panels_of
from pipeline.steps.report.quality import CHECKS, checks
from pipeline.steps.report.tables import in_words
from pipeline.variables.cycle_variables import IDENTITY
from pipeline.variables.metrics import METRICS
from pipeline.variables.stance_verdicts import Verdict, reason_columns
from tests.support.studies.for_report import (
    CONDITION_GAIN,
    JOINTS,
    REPEATS,
    SHIFT,
    SIDE_GAIN,
    WOBBLE,
    Made,
    Page,
    amplitude,
    curve_of,
    made,
    mean_flexion,
    trial_cycles,
    with_errors,
)
from tests.support.studies.rejected import rejection
from tests.support.studies.typed_rows import typed

# rounding to four digits: half a unit of the fourth digit
ROUNDING = 5.1e-4


def test_study_curves_are_the_mean_and_spread_of_participants(three_people: Made) -> None:
    (figures,) = Page(three_people.overview()).figures()
    angle = {"ankle": "Ankle dorsiflexion", "knee": "Knee flexion", "hip": "Hip flexion"}
    power = {"ankle": "Ankle power of a rigid foot", "knee": "Knee power", "hip": "Hip power"}
    for joint in JOINTS:
        for side in SIDE_GAIN:
            for condition in CONDITION_GAIN:
                for title in (angle[joint], f"{joint.capitalize()} flexion moment", power[joint]):
                    curve = curve_of(figures, title, side, condition)
                    # pooled cycles would differ: sub-03 has more cycles than sub-01; 1e-12 for zero itself
                    expected = mean_flexion(joint, side, condition)
                    np.testing.assert_allclose(curve["mean"], expected, rtol=0, atol=ROUNDING * np.abs(expected).max())
                    np.testing.assert_allclose(curve["sd"], 2.0, rtol=ROUNDING)
                    assert curve["n"] == 3


def test_each_panel_shows_its_own_component(three_people: Made) -> None:
    (figures,) = Page(three_people.overview()).figures()
    expected = {
        "Knee adduction moment": amplitude("knee", "adduction"),
        "Hip rotation": amplitude("hip", "rotation"),
        # pelvis angles and forces have the flexion amplitudes of ankle, knee, hip
        "Pelvic obliquity": amplitude("knee", "flexion"),
        "Fore-aft force": amplitude("ankle", "flexion"),
        "Vertical force": amplitude("knee", "flexion"),
        "Lateral force": amplitude("hip", "flexion"),
        "Foot progression": 1.0,
    }
    for title, size in expected.items():
        assert curve_of(figures, title, "left", "slow")["mean"][25] == pytest.approx(size, rel=ROUNDING)
    panels = panels_of(three_people.study, moment_signs="stored")
    assert [figure["title"] for figure in figures] == [panel.title for panel in panels]
    assert len({(panel.variable, *panel.component.values()) for panel in panels}) == len(panels) == 31


def test_a_participants_curves_are_the_mean_and_spread_of_cycles(three_people: Made) -> None:
    for person in SHIFT:
        (figures,) = Page(three_people.person(person)).figures()
        curve = curve_of(figures, "Knee flexion", "right", "slow")
        n = REPEATS[person]
        expected = mean_flexion("knee", "right", "slow") + SHIFT[person]
        np.testing.assert_allclose(curve["mean"], expected, rtol=0, atol=ROUNDING * np.abs(expected).max())
        if n < 3:
            assert set(curve["sd"]) == {None}
        else:
            np.testing.assert_allclose(curve["sd"], WOBBLE * np.sqrt(n / (n - 1)), rtol=ROUNDING)
        assert curve["n"] == n


def test_cycles_without_kinetics_count_for_angles_only(three_people: Made) -> None:
    (figures,) = Page(three_people.person("sub-03")).figures()
    assert curve_of(figures, "Ankle dorsiflexion", "left", "fast")["n"] == 12
    assert curve_of(figures, "Ankle flexion moment", "left", "fast")["n"] == 6


def test_metric_table_gives_mean_and_sd_over_participants(three_people: Made) -> None:
    words = Page(three_people.overview()).words
    # metrics are 1 + shift: mean 1, SD 2; stance share 60 + shift
    assert re.search(r"Stride time\W+s\s+1\.00 \(2\.00\)", words)
    assert re.search(r"Stance share\W+60\.0 \(2\.0\)", words)
    for name in METRICS:
        assert metric_tables.title_of(name) in words


def test_what_clinics_read_first_is_the_first_table_and_stands_nowhere_else(three_people: Made) -> None:
    words = Page(three_people.person()).words
    first, _, rest = words.partition("Main numbers: mean")[2].partition("Times and distances")
    for name in ("Walking speed", "Step width", "Peak knee abductor moment, first", "Peak ankle power"):
        assert f" {name} " in first
        assert not re.search(rf" {name}\s+(m|m/s|W/kg|N m/kg) ", rest)
    assert " Stride time " in rest


def test_the_day_of_recording_is_at_the_top_or_said_to_be_unknown(three_people: Made) -> None:
    assert "Recorded 2024-05-12" in Page(three_people.person()).words
    assert "Date of recording not stated" in Page(three_people._replace(day="").person()).words


def test_only_joints_have_error_bands(three_people: Made) -> None:
    assert "errors" not in Page(three_people.overview()).words
    study = with_errors(three_people.study, below=0.5, above=1.5)
    for page in map(Page, three_people._replace(study=study).pages().values()):
        (figures,) = page.figures()
        for figure in figures:
            of_joint = figure["title"].startswith(("Hip", "Knee", "Ankle"))
            drawn = figure["group"] in ("Internal moments", "Powers") or (figure["group"] == "Angles" and of_joint)
            for curve in figure["curves"]:
                assert (curve["band"] is not None) == drawn
                if drawn:
                    low, high = np.array(curve["band"]) - np.array(curve["mean"])
                    # three numbers of up to 50, each rounded to four digits
                    np.testing.assert_allclose(low, -0.5, atol=0.02)
                    np.testing.assert_allclose(high, 1.5, atol=0.02)
        assert "Dotted lines enclose 95 %" in page.words
        assert len(re.findall(r"Knee flexion moment\s+10\s+20\s+30\s+40 ", page.words)) == 1


def test_the_overview_has_means_and_symmetry_of_each_participant(three_people: Made) -> None:
    words = Page(three_people.overview()).words
    # metrics are 1 + shift on both sides, stance share 60 + shift: symmetry 0, whatever the size
    assert re.search(r"sub-03\s+sub-03\s+slow\s+left\s+6\s+3\.00\s", words)
    assert re.search(r"sub-03\s+sub-03\s+slow\s+0\.0\s+0\.0\s", words)
    words = Page(three_people.person("sub-03")).words
    assert re.search(r"Stance share\W+62\.0 \(0\.5\)\s+62\.0 \(0\.5\)\s+0\.0\s+0\.0\s", words)
    # of phases and of what crosses zero the difference alone
    assert re.search(r"Phase of peak hip flexion\W+(\S+ \(\S+\)\s+){2}0\.0\s+n/a\s", words)


def test_everything_rejected_is_named_and_counted(three_people: Made) -> None:
    words = Page(three_people.overview()).words
    summary = "3 participants, 3 sessions; 7 of 8 trials used; 48 of 54 plate contacts used, 6 refused;"
    assert f"{summary} 48 of 54 gait cycles with kinetics." in words
    # reasons of one code are counted as one: no trial, six contacts
    assert re.search(r"two feet on the plate\s+0\s+6 ", words)
    words = Page(three_people.person("sub-01")).words
    assert re.search(r"walk_3\s+whole trial\s+walk_3.c3d: the file ends early", words)
    words = Page(three_people.person("sub-03")).words
    which = ", ".join(f"left {start}.00 to {start}.60 s on plate 1 2" for start in range(6))
    assert re.search(re.escape("6 of 6 plate contacts") + r"\s+" + re.escape(f"two feet on plate 1: {which}"), words)


def test_a_stance_without_a_plate_is_no_rejection() -> None:
    """Steps of a walk beyond its plates, in which real refusals would drown."""
    plain = trial_cycles("sub-02", "slow", ["left", "right"])
    count = plain.sizes["stance"]
    reasons = reason_columns(map(Verdict.of, ["two_feet_on_plate", *["no_plate"] * (count - 2)]))
    texts = {name: [*column, ""] for name, column in reasons.items()} | {"plates": ["1", *[""] * (count - 2), "2"]}
    texts["code"] = texts.pop("reason_code")
    walk = plain.assign_coords({f"stance_{name}": ("stance", text) for name, text in texts.items()})
    study = made({"sub-02": {"walk": walk}}, {"walk": "slow"})
    assert "1 of 2 plate contacts used, 1 refused; 6 stances not on a plate;" in Page(study.overview()).words
    assert "no plate" not in "".join(study.pages().values())
    refused = r"walk\s+1 of 2 plate contacts\s+two feet on the plate: left 0.00 to 0.60 s on plate 1 "
    assert re.search(refused, Page(study.person("sub-02")).words)


def test_each_trial_has_a_row_of_repairs_and_checks(three_people: Made) -> None:
    words = Page(three_people.person()).words
    row = r"sub-01\s+walk_1\s+17\s+swapped labels corrected: LKNE and RKNE\s+2e-13\s+0.2\s+0.2\s+0.2\s+0.1"
    assert re.search(row, words)


def test_filled_gaps_and_removed_spikes_are_listed() -> None:
    mended = {"filled_frames": 17, "filled_by_spline": 12, "filled_by_cluster": 5, "filled_by_neighbours": 0}
    row = {"session": "s1", "trial": "walk", "side": "left", **dict.fromkeys(CHECKS, "")}
    (cells,) = checks(typed("quality", [row]), {"s1": {"walk": mended | {"spikes_removed": 3}}}).rows
    assert cells[2:4] == ["17 (12 spline, 5 cluster)", "spikes removed: 3"]


def test_the_page_shows_provenance(three_people: Made) -> None:
    words = Page(three_people.overview()).words
    assert '"marker_cutoff_hz": 10' in words
    for text in ("version 0.1.0", "study: pipeline 0.1.0", "sub-01/walk.c3d", "ab" * 32, "control"):
        assert text in words


def test_missing_samples_are_left_out_not_zero() -> None:
    trial = trial_cycles("sub-01", "slow", ["left"])
    trial["joint_angle"][0, :, :, :20] = np.nan
    trial["joint_angle"][:, :, :, 50] = np.nan
    trial["joint_power"][:] = np.inf
    trial.metric_value.loc[{"metric": "step_width"}][0] = np.nan
    trial.metric_value.loc[{"metric": "step_length"}] = np.nan
    html = made({"sub-01": {"walk": trial}}, {"walk": "slow"}).person()
    (figures,) = Page(html).figures()
    curve = curve_of(figures, "Hip flexion", "left", "slow")
    assert curve["mean"][50] is None
    assert set(curve["sd"][:20]) == {None}  # one cycle is left there
    assert curve["mean"][10] == pytest.approx(mean_flexion("hip", "left", "slow")[10] - 2.0 - WOBBLE, rel=ROUNDING)
    assert not next(figure for figure in figures if figure["title"] == "Hip power")["curves"]
    assert "Not available in any cycle: Hip power, Knee power, Ankle power of a rigid foot." in Page(html).words
    words = Page(html).words
    assert "slow, left (n 2)" in words
    # the other cycle's: 1 + shift - wobble
    assert re.search(r"Step width\W+m\s+-1\.500, n 1 ", words)
    assert re.search(r"Step length\W+m\s+n/a ", words)


def test_stances_are_shown_where_no_whole_cycle_has_kinetics() -> None:
    """Sub-02 has a stance without a cycle too, but also cycles with kinetics: it is only counted."""
    both = ["left", "right"]
    trials = {
        "sub-01": {"walk": trial_cycles("sub-01", "slow", both, valid=False, reason="no plate", alone=3)},
        "sub-02": {"walk": trial_cycles("sub-02", "slow", both, alone=1)},
        "sub-03": {"walk": trial_cycles("sub-03", "slow", [], alone=2)},
    }
    pages = {name: Page(made(trials, {"walk": "slow"}).person(name)) for name in trials}
    for name, count in {"sub-01": "3", "sub-02": "1", "sub-03": "2"}.items():
        assert re.search(
            rf"{name}\s+look\s+{name}.* {count}\s+70", Page(made(trials, {"walk": "slow"}).overview()).words
        )
    shown = {name: [{figure["over"] for figure in group} for group in page.figures()] for name, page in pages.items()}
    assert shown == {"sub-01": [{"gait cycle"}, {"stance"}], "sub-02": [{"gait cycle"}], "sub-03": [{"stance"}]}
    page = pages["sub-01"]
    curve = curve_of(page.figures()[1], "Ankle power of a rigid foot", "right", "slow")
    assert (curve["n"], curve["foot_off"]) == (3, None)
    np.testing.assert_allclose(curve["mean"], 101)
    assert {figure["title"] for figure in page.figures()[1]} >= {"Hip flexion", "Knee flexion moment", "Vertical force"}
    assert re.search(r"Peak vertical force\W+N/kg\s+101\.00 \(1\.00\)", page.words)
    assert not re.search(r"Stride time\W+s\s+101", page.words)


def test_a_study_of_one_person_without_a_cycle_shows_the_stances() -> None:
    page = Page(made({"sub-01": {"walk": trial_cycles("sub-01", "slow", [], alone=3)}}, {"walk": "slow"}).person())
    (figures,) = page.figures()
    assert curve_of(figures, "Ankle power of a rigid foot", "right", "slow")["n"] == 3
    assert re.search(r"Gait cycles with kinetics\s+not checked\s+none\s", page.words)


def test_a_study_without_cycles_shows_the_reasons() -> None:
    trials = {"sub-01": {"walk": rejection("no marker 'LKNE'", {}).dataset()}}
    study = made(trials, {"walk": "slow"})
    assert "no marker 'LKNE'" in Page(study.person()).words
    assert not Page(study.person()).figures()
    page = Page(study.overview())
    assert "1 participant, 1 session; 0 of 1 trial used; 0 of 0 plate contacts used; 0 of 0 gait cycles" in page.words
    assert re.search(r"no marker 'LKNE'\s+1\s+0\s+1\s", page.words)
    assert not page.figures()


def test_equal_studies_give_equal_pages_also_after_a_file(three_people: Made, tmp_path: Path) -> None:
    netcdf.save(tmp_path / "study.nc", three_people.study)
    loaded = three_people._replace(study=netcdf.load(tmp_path / "study.nc"))
    assert three_people.pages() == three_people.pages() == loaded.pages()


def test_pages_do_not_depend_on_the_parts_that_they_are_made_from(three_people: Made) -> None:
    """Byte for byte: means and deviations of parts differ by rounding, which no figure shows.

    The overview is made from parts; a page of a person has one.
    """
    errors = with_errors(three_people.study, below=1.0, above=3.0)
    for study in (three_people, three_people._replace(study=errors)):
        one, two, every = (study.pages(at_a_time=count, only="report.html") for count in (1, 2, 3))
        assert one == two == every


def test_two_hundred_cycles_take_less_than_a_second() -> None:
    many = {f"walk_{i}": trial_cycles("sub-02", "slow", ["left", "right"]) for i in range(25)}
    large = made({"sub-02": many}, dict.fromkeys(many, "slow"))
    assert large.study.sizes["cycle"] == 200
    start = time.process_time()
    large.pages()
    assert time.process_time() - start < 1.0


def test_the_person_is_described_in_words_without_sizes_of_the_legs_and_sources() -> None:
    cells = {
        "age_years": "27", "group": "younger", "knee_width_left_m": "0.11", "leg_length_right_m": "0.85",
        "mass_kg": "74.6", "mass_source": "C3D file", "sex": "n/a",
    }  # fmt: skip
    row = {"session": "a", IDENTITY[-1]: "", **cells, next(iter(METRICS)): "1"}
    assert in_words(typed("metrics", [row])) == "age 27 years, group younger, mass 74.6 kg"
