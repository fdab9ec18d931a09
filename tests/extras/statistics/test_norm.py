"""``gaitlab norm``: a file of a study's people, and the study that compares with it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pipeline import __version__
from pipeline.errors import UserError
from pipeline.extras.statistics.norm import write_norm
from pipeline.results import netcdf
from pipeline.results.definitions import about_people, definitions_of
from pipeline.steps.study.reference import describe_reference
from pipeline.tables.reference_curves import about_norm_file, numbers_of, reference_of
from pipeline.variables.metrics import METRICS
from pipeline.workflow.open_study import look_at
from tests.support.checkout import DEMO, copy_study
from tests.support.studies.for_report import SHIFT, Made, Page, made, mean_flexion, three_people, trial_cycles

AGES = {"sub-01": "21", "sub-02": "30.5", "sub-03": "n/a"}


@pytest.fixture(scope="module")
def controls() -> Made:
    walks = {"walk_1": "slow", "walk_2": "fast"}
    trials = {n: {w: trial_cycles(n, c, ["left", "right"]) for w, c in walks.items()} for n in SHIFT}
    sexes = {"sub-01": "M", "sub-02": "F", "sub-03": "F"}
    return made(trials, walks, {n: {"age_years": AGES[n], "sex": sexes[n]} for n in SHIFT})


@pytest.fixture
def folder(controls: Made, tmp_path: Path) -> Path:
    (tmp_path / "derived").mkdir()
    netcdf.save(tmp_path / "derived" / "study.nc", controls.study)
    return tmp_path


def test_the_file_has_means_over_people_of_curves_and_metrics(folder: Path) -> None:
    """The shifts of the three people are -2, 0, 2: metrics are 1 + shift, their SD is 2."""
    said = write_norm(folder, output=folder / "norm.tsv", condition="slow")
    text = (folder / "norm.tsv").read_text()
    assert said.startswith("Norm of 3 people (2 F, 1 M), 21 to 30.5 years (mean 25.8), 1 without age")
    curves = reference_of(text, where="norm.tsv")
    knee = curves[None]["joint_angle", "knee", "flexion"]
    expected = (mean_flexion("knee", "left", "slow") + mean_flexion("knee", "right", "slow")) / 2
    np.testing.assert_allclose(knee.mean, expected, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(knee.sd, 2, rtol=1e-5)
    numbers = numbers_of(curves)
    assert numbers["walking_speed"] == pytest.approx((1, 2))
    assert numbers["stance_share"] == pytest.approx((60, 2))
    assert {*numbers} == {*METRICS}
    about = about_norm_file(text)
    assert about["ages"] == [21, 30.5]
    assert about["definitions"]["clean.marker_cutoff_hz"] == 10
    assert "sub-0" not in text


def test_one_way_of_walking_of_enough_people_is_asked_for(folder: Path, controls: Made) -> None:
    for condition, words in ((None, "conditions are slow, fast; name one"), ("run", "slow, fast, not run")):
        with pytest.raises(UserError, match=words):
            write_norm(folder, output=folder / "x", condition=condition)
    with pytest.raises(UserError, match="groups are none, not control"):
        write_norm(folder, output=folder / "x", condition="slow", group="control")
    (folder / "here").touch()
    with pytest.raises(UserError, match="exists"):
        write_norm(folder, output=folder / "here", condition="slow")
    two = controls.part(["sub-01", "sub-02"])
    netcdf.save(folder / "derived" / "study.nc", two)
    with pytest.raises(UserError, match=r"2 people .* with gait cycles, 3 or more are needed"):
        write_norm(folder, output=folder / "x", condition="slow")


def test_patients_and_controls_are_no_norm_together(folder: Path, controls: Made) -> None:
    group = np.where(controls.study.participant == "sub-01", "patient", "control")
    netcdf.save(folder / "derived" / "study.nc", controls.study.assign_coords(group=("cycle", group)))
    with pytest.raises(UserError, match="groups are patient, control; name one"):
        write_norm(folder, output=folder / "x", condition="slow")
    with pytest.raises(UserError, match=r"2 people \(2 F\)"):
        write_norm(folder, output=folder / "x", condition="slow", group="control")


def test_a_page_shows_the_people_and_numbers_of_the_norm_and_who_is_of_another_age(folder: Path) -> None:
    write_norm(folder, output=folder / "norm.tsv", condition="slow")
    text = (folder / "norm.tsv").read_text()
    about = describe_reference("norm.tsv", text, {}, {}).about
    assert about["people"] == "the 3 people (2 F, 1 M), 21 to 30.5 years (mean 25.8), 1 without age of norm.tsv"
    assert about["remarks"] == []
    study = three_people()
    study = study._replace(study=study.study.assign_attrs(reference=json.dumps(about)))
    for age, words in (
        ("27", []),
        ("40", ["Normal gait of this age", "40 years old, the reference is of the 3 people"]),
    ):
        own = study._replace(metrics=_with_age(study.metrics, age))
        shown = " ".join(Page(own.person(reference=text)).words.split())
        assert "normal people, slow (n 3)" in shown.replace("\xa0", " ")
        assert "1.00 (2.00)" in shown
        assert ("Normal gait of this age" in shown) == bool(words)
        assert all(one in shown for one in words)


def _with_age(table: str, age: str) -> str:
    """Return metrics.csv with the column age_years after the group."""
    lines = [line.split(",") for line in table.splitlines()]
    place = lines[0].index("group") + 1
    rows = [[*line[:place], "age_years" if not i else age, *line[place:]] for i, line in enumerate(lines)]
    return "\n".join(map(",".join, rows)) + "\n"


def test_a_table_from_literature_is_accepted_and_said_to_be_of_unknown_definitions() -> None:
    text = "variable,joint,angle,phase,mean,sd\nwalking_speed,,,,1.3,0.1\n"
    (remark,) = describe_reference("table.csv", text, {}, {}).about["remarks"]
    assert "not known" in remark
    assert numbers_of(reference_of(text, where="table.csv")) == {"walking_speed": (1.3, 0.1)}
    with pytest.raises(UserError, match="line 4: walking_speed stands twice"):
        reference_of(f"# from a paper\n{text}walking_speed,,,,1.3,0.1\n", where="table.csv")


def test_a_norm_of_other_definitions_is_refused_before_any_job(tmp_path: Path) -> None:
    """With where, what and remedy; the same norm after the study has its settings is accepted."""
    study = copy_study(DEMO, tmp_path / "demo")
    settings = (study / "study.yaml").read_text()
    (study / "study.yaml").write_text(f"{settings}\nstudy: {{reference: norm.tsv}}\n")
    chosen, model = look_at(DEMO)[0].settings, "isb_clusters"
    steps = ("kinematics", "clean", "calibrate")
    attributes = {"settings": json.dumps({**{name: chosen[name] for name in steps}, "body_model": model})}
    own = definitions_of(attributes | {"pipeline_version": __version__})
    rows = "variable\tjoint\tangle\tphase\tmean\tsd\nwalking_speed\t\t\t\t1.3\t0.1\n"
    for changed, words in (
        ({}, []),
        (
            {"clean.marker_cutoff_hz": 6, "body_model": "cast"},
            ["body_model cast", "marker_cutoff_hz 6, this study with"],
        ),
    ):
        first = json.dumps({"people": "20 people", "count": 20, "definitions": own | changed})
        (study / "norm.tsv").write_text(f"# gaitlab norm {first}\n{rows}")
        problems = [str(problem) for problem in look_at(study)[1]]
        assert len(problems) == len(words)
        assert all(any(word in problem for problem in problems) for word in words)
    (study / "norm.tsv").write_text(rows.replace("walking_speed", "walking_sped"))
    (problem,) = look_at(study)[1]
    assert "no metric 'walking_sped'; did you mean 'walking_speed'" in str(problem)


def test_people_are_counted_once_whatever_their_cycles(controls: Made) -> None:
    assert about_people(controls.part(["sub-03"]))["people"] == "1 person (1 F)"
