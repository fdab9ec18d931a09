"""Reference curves: read as written, shown in the right panel, every mistake in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import UserError
from pipeline.steps.report.curves.panels import panels_of
from pipeline.tables.reference_curves import COMPONENTS, ReferenceCurve, key_of, read_reference, reference_of
from pipeline.variables.schema import VARIABLES
from pipeline.workflow.open_study import look_at
from tests.support.checkout import HOUSE
from tests.support.studies.for_report import Page, three_people

HEADER = "variable,joint,angle,phase,mean,sd\n"
WITH_SPEED = f"speed,{HEADER}"
SPEEDS_AND_PHASES = ((0.2, 0), (0.2, 50), (0.4, 0), (0.4, 60))
KNEE = "joint_angle,knee,flexion,20,10,4\njoint_angle,knee,flexion,60,50,8\n"


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_a_curve_is_read_as_written(separator: str) -> None:
    curves = reference_of((HEADER + KNEE).replace(",", separator), where="normal.csv")
    assert curves == {None: {("joint_angle", "knee", "flexion"): ReferenceCurve([20, 60], [10, 50], [4, 8])}}


def test_every_panel_can_have_a_reference_in_the_studys_dimensions() -> None:
    panels = [*panels_of(three_people().study, moment_signs="stored")]
    assert {panel.variable for panel in panels} - COMPONENTS.keys() == {
        "pelvis_residual",
        "foot_power",
        "ankle_foot_power",
    }
    for panel in (panel for panel in panels if panel.variable in COMPONENTS):
        assert key_of(panel.variable, panel.component)[0] == panel.variable
        dims = VARIABLES["study"][panel.variable].dims
        assert dims == ("cycle", *COMPONENTS[panel.variable], "phase")


def test_the_band_is_in_its_panel_within_the_range_of_the_table() -> None:
    table = HEADER + KNEE + "ground_force,,y,0,1,1\nground_force,,y,100,3,1\nfoot_progression,n/a,,0,5,2\n"
    table += "foot_progression,,,100,7,2\n"
    html = three_people().person(reference=table)
    bands = {figure["title"]: band for figure in Page(html).figures()[0] for band in figure["reference"]}
    knee = bands["Knee flexion"]
    assert set(knee["mean"][:20] + knee["mean"][61:]) == {None}
    # linear between the table's phases
    np.testing.assert_allclose(knee["mean"][20:61], np.linspace(10, 50, 41))
    np.testing.assert_allclose(knee["sd"][20:61], np.linspace(4, 8, 41))
    assert bands["Vertical force"]["mean"][50] == pytest.approx(2)
    assert bands["Foot progression"]["mean"][50] == pytest.approx(6)
    assert [*bands] == ["Knee flexion", "Foot progression", "Vertical force"]
    assert 'data-hides="reference"' in html
    assert 'data-hides="reference"' not in three_people().person()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "column 'variable' is missing"),
        (HEADER, "no curves"),
        (HEADER.replace("mean", "maen") + KNEE, "column 'mean' is missing"),
        (HEADER + "joint_angel,knee,flexion,0,1,1\n", "line 2: variable is 'joint_angel'; did you mean 'joint_angle'?"),
        (HEADER + "joint_angle,kne,flexion,0,1,1\n", "joint of joint_angle is 'kne'; expected ankle, knee, hip"),
        (HEADER + "joint_power,knee,flexion,0,1,1\n", "angle of joint_power is 'flexion'; expected nothing"),
        (HEADER + KNEE + "joint_angle,knee,flexion,60,1,1\n", "line 4: phase 60 comes after 60; sort"),
        (HEADER + "joint_angle,knee,flexion,101,1,1\n", "phase is '101'; expected 0 to 100"),
        (HEADER + "joint_angle,knee,flexion,0,,1\n", "mean is ''; expected a number"),
        (HEADER + "joint_angle,knee,flexion,0,1,-1\n", "sd is '-1'; expected a number, 0 or more"),
        (HEADER + "joint_angle,knee,flexion,0,1,1\n", "joint_angle knee flexion has one phase only"),
        (WITH_SPEED + ",joint_angle,knee,flexion,0,1,1\n", "speed is ''; expected a dimensionless speed, 0 or more"),
        (
            WITH_SPEED + "".join(f"{speed},joint_angle,knee,flexion,{x},1,1\n" for speed, x in SPEEDS_AND_PHASES),
            "speed 0.4 has other curves or phases than speed 0.2; give the same curves",
        ),
        (HEADER + "joint_angle,knee,flexion,0\n", "mean is ''; expected a number"),
    ],
)
def test_each_mistake_is_one_plain_line(text: str, expected: str) -> None:
    with pytest.raises(UserError) as found:
        reference_of(text, where="normal.csv")
    assert expected in str(found.value)
    assert all(line.startswith("normal.csv") for line in str(found.value).splitlines())


def test_many_mistakes_are_counted_not_all_listed() -> None:
    with pytest.raises(UserError, match="92 more problems"):
        reference_of(HEADER + "x,,,0,1,1\n" * 100, where="normal.csv")


def test_a_reference_is_checked_before_a_run(tmp_path: Path) -> None:
    """A table with a mistake, no file, an output of the study itself; another study's is fine."""
    for name in ("participants.tsv", "trials.tsv"):
        (tmp_path / name).write_bytes((HOUSE / "data" / "demo" / name).read_bytes())
    (tmp_path / "bad.csv").write_text(HEADER)
    (tmp_path / "others.nc").touch()
    expected = {
        "others.nc": "", "bad.csv": "bad.csv: no curves", "none.nc": "no such file", "none.csv": "no such file",
        "derived/study.nc": "is an output of this study itself",
    }  # fmt: skip
    for reference, words in expected.items():
        settings = f"body_model: isb_clusters\nstudy:\n  reference: {reference}\n"
        (tmp_path / "study.yaml").write_text(settings)
        problems = [problem for problem in look_at(tmp_path)[1] if reference in problem.where]
        assert len(problems) == bool(words), problems
        assert all(words in str(problem) for problem in problems)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_table_that_a_spreadsheet_has_saved_is_read(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "normal.txt"
    path.write_text((HEADER + KNEE).replace(",", "\t"), encoding=encoding)
    assert read_reference(path, setting="study.reference") == (reference_of(HEADER + KNEE, where=""), {})


def test_a_missing_or_binary_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^study\.reference.*cannot be read"):
        read_reference(tmp_path / "none.csv", setting="study.reference")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="not UTF-8"):
        read_reference(tmp_path / "binary.csv", setting="study.reference")
