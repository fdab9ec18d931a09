"""Data dictionaries describe every column of the tables, and metrics are found by the names that the field uses."""

from __future__ import annotations

import json
import re

import pytest

import gaitlab
from pipeline.errors import UserError
from pipeline.steps.study.step import per_participant
from pipeline.variables.data_dictionary import as_json, data_dictionary, find_metric
from pipeline.variables.metrics import METRICS, NUMBERS
from pipeline.workflow import settings
from tests.support.checkout import HOUSE
from tests.support.studies.two_people import gathered


@pytest.fixture(scope="module")
def dictionaries() -> dict[str, dict[str, dict[str, object]]]:
    """Return the dictionary of each table."""
    _, metrics, quality = gathered()
    means, symmetry = per_participant(metrics)
    tables = {"metrics": metrics, "quality": quality, "participants": means, "symmetry": symmetry}
    return {name: json.loads(as_json(data_dictionary(name, table.columns))) for name, table in tables.items()}


def test_every_column_is_described(dictionaries: dict[str, dict[str, dict[str, object]]]) -> None:
    for table, columns in dictionaries.items():
        for name, about in columns.items():
            assert about["LongName"], f"{table}: {name}"
            assert about["Description"], f"{table}: {name}"
            assert {*about} <= {
                "LongName", "Description", "Units", "Levels", "Kind", "Window", "Positive", "Source", "Aliases",
            }  # fmt: skip


def test_every_number_has_units(dictionaries: dict[str, dict[str, dict[str, object]]]) -> None:
    for table in ("metrics", "participants"):
        for name, metric in METRICS.items():
            assert dictionaries[table][name]["Units"] == metric.units
            assert dictionaries[table][name]["Kind"] == metric.kind
            assert dictionaries[table][name]["Window"] == metric.window.words
        given = {"mass_kg": "kg", "height_m": "m", "age_years": "year"}
        assert {name: dictionaries[table][name]["Units"] for name in given} == given
    means = dictionaries["participants"]
    assert means["peak_hip_flexion_sd"]["Units"] == "degree"
    assert "circular" in str(means["phase_of_peak_hip_flexion_sd"]["Description"])
    assert means["peak_hip_flexion_n"]["Units"] == "1"
    assert dictionaries["symmetry"]["symmetry_index"]["Units"] == "percent"
    assert dictionaries["quality"]["energy_closure_w"]["Units"] == "W"


def test_categories_have_levels(dictionaries: dict[str, dict[str, dict[str, object]]]) -> None:
    """Each value in the tables is one of them."""
    _, metrics, quality = gathered()
    _, symmetry = per_participant(metrics)
    for name, table in {"metrics": metrics, "quality": quality, "symmetry": symmetry}.items():
        for column, about in dictionaries[name].items():
            if "Levels" in about:
                assert {*map(str, table[column])} <= {*about["Levels"], ""}, f"{name}: {column}"  # type: ignore[misc]
    with_levels = {name for columns in dictionaries.values() for name, about in columns.items() if "Levels" in about}
    assert with_levels >= {"part", "side", "sex", "kinetics_valid", "verdict", "metric", "kind"}


@pytest.mark.parametrize("text", ["KAM", "kam", "knee adduction moment", "Knee-Adduction_Moment"])
def test_the_knee_adduction_moment_is_found_by_the_names_of_the_field(text: str) -> None:
    found = gaitlab.find_metric(text)
    assert found[0] == "peak_knee_abductor_moment"
    assert {"peak_knee_abductor_moment_first", "peak_knee_abductor_moment_second"} <= {*found}
    assert all("knee_abductor" in name for name in found)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("KAM1", "peak_knee_abductor_moment_first"),
        ("second peak knee adduction moment", "peak_knee_abductor_moment_second"),
        ("H3", "peak_power_h3"),
        ("work H3", "work_h3"),
        ("gait speed", "walking_speed"),
        ("GDI", "reference_deviation_index"),
        ("GPS", "gait_profile_score"),
        ("peak_hip_flexion", "peak_hip_flexion"),
    ],
)
def test_metrics_are_found_by_name_and_alias(text: str, first: str) -> None:
    assert find_metric(text)[0] == first


def test_every_alias_finds_its_metric_first_or_among_those_that_share_it() -> None:
    for name, metric in NUMBERS.items():
        assert find_metric(name)[0] == name
        for alias in metric.aliases:
            sharing = sum(alias in other.aliases for other in NUMBERS.values())
            assert name in find_metric(alias)[:sharing], alias


@pytest.mark.parametrize("text", ["", "  ", "knee_of_the_bee", "@"])
def test_an_unknown_metric_is_refused_with_a_remedy(text: str) -> None:
    with pytest.raises(UserError, match=re.escape(f"no metric is known as {text!r}; ")):
        find_metric(text)


def test_every_further_curve_is_described_on_the_page_of_outputs() -> None:
    """The values of cycles.further_curves: dimensions, units, meaning, and that they are there on request only."""
    text = (HOUSE / "docs" / "outputs.md").read_text(encoding="utf-8")
    curves = settings.schema("settings")["properties"]["cycles"]["properties"]["further_curves"]["items"]["enum"]
    assert len(curves) >= 18
    for name in curves:
        (row,) = re.findall(rf"^\| `{name}` \|.*only if `cycles\.further_curves` names it \|$", text, re.MULTILINE)
        *_, dims, units, _, meaning, _ = row.split("|")
        assert "(cycle, " in dims
        assert units.strip()
        assert len(meaning) > len("; only if `cycles.further_curves` names it")
