"""The job of repeatability is there only where a study has repeated measurements."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import xarray as xr

from pipeline import __version__
from pipeline.errors import UserError
from pipeline.extras.statistics.repeatability.cells import design_in
from pipeline.extras.statistics.repeatability.command import repeatability_of
from pipeline.extras.statistics.repeatability.detectable import detectable_changes, table_of
from pipeline.results import netcdf
from pipeline.workflow.open_study import look_at, open_study, outputs_of
from tests.commands.test_compare import with_visits
from tests.support.checkout import DRY_RUN, jobs_in, snakemake
from tests.workflow.test_scale import stub_study

NONE = {"repeatability": {"table": None}}
OF_REPEATABILITY = {f"repeatability.{ending}" for ending in ("nc", "csv", "json")}


@pytest.fixture
def visited(tmp_path: Path) -> Path:
    """Return a study of four people with two visits each."""
    study = stub_study(tmp_path / "study", sessions=4, trials=1)
    header, *rows = (study / "trials.tsv").read_text().splitlines()
    pairs = [row.partition("\t")[::2] for row in rows]
    visits = [f"{person}\t{person}_{visit}\t{rest}" for person, rest in pairs for visit in ("pre", "post")]
    header = header.replace("participant_id", "participant_id\tsession")
    (study / "trials.tsv").write_text("\n".join([header, *visits]) + "\n")
    names = dict.fromkeys("\t".join(row.split("\t")[:2]) for row in visits)
    lines = [f"{name}\t{name.rpartition('_')[2]}\tAB" for name in names]
    (study / "sessions.tsv").write_text("\n".join(["participant_id\tsession\tvisit\tassessor", *lines]) + "\n")
    return study


def test_visits_are_repeated_only_where_they_are_named(visited: Path) -> None:
    before = outputs_of(open_study(visited))
    assert not OF_REPEATABILITY & before.keys()
    named = open_study(visited, overrides={"repeatability": {"visits": ["pre", "post"]}})
    assert outputs_of(named).keys() - before.keys() == OF_REPEATABILITY
    assert named.key("repeatability")(None) != open_study(visited).key("repeatability")(None)
    assert named.key("study")(None) == open_study(visited).key("study")(None)  # it does not depend on it
    one = open_study(visited, overrides={"repeatability": {"visits": ["pre"]}})
    assert outputs_of(one).keys() == before.keys()
    (visited / "sessions.tsv").unlink()
    assert outputs_of(open_study(visited)).keys() == before.keys()


def test_the_overview_waits_for_it_only_where_it_is_made(visited: Path) -> None:
    settings = visited / "study.yaml"
    plain = settings.read_text()
    for visits, waits in (("[pre]", False), ("[pre, post]", True)):
        settings.write_text(f"{plain}\nrepeatability:\n  visits: {visits}\n")
        plan = snakemake(visited, "derived/report.html", *DRY_RUN)
        assert plan.returncode == 0, plan.stderr
        assert ("repeatability" in jobs_in(plan.stdout + plan.stderr)) is waits


def test_two_assessors_at_one_visit_need_no_name(visited: Path) -> None:
    table = visited / "sessions.tsv"
    text = table.read_text().replace("\tpost\tAB", "\tbase\tCD").replace("\tpre\tAB", "\tbase\tAB")
    table.write_text(text)
    found = open_study(visited)
    assert outputs_of(found).keys() >= OF_REPEATABILITY
    design = design_in(found)
    assert design is not None
    assert design.factors == ("assessor",)


def test_an_unknown_visit_is_refused_with_the_nearest(visited: Path) -> None:
    with pytest.raises(UserError, match=r"repeatability.visits: pots.*did you mean 'post'"):
        open_study(visited, overrides={"repeatability": {"visits": ["pre", "pots"]}})


def test_a_repeatability_of_other_definitions_is_refused(visited: Path) -> None:
    (visited / "lab.csv").write_text("condition,side,metric,mdc\nwalk,left,walking_speed,0.1\n")
    named = {"repeatability": {"table": "lab.csv"}}
    own = open_study(visited, overrides=named)
    assert own.body_model is not None
    used = {**own.settings, "body_model": own.body_model.name}
    for model in ("isb_clusters", "plug_in_gait"):
        about = {"settings": json.dumps(used | {"body_model": model}), "pipeline_version": __version__}
        netcdf.save(visited / "lab.nc", xr.Dataset(attrs=about))
        if model == used["body_model"]:
            open_study(visited, overrides=named)
        else:
            with pytest.raises(UserError, match="made with body_model plug_in_gait, this study with isb_clusters"):
                open_study(visited, overrides=named)


def test_a_setting_by_both_of_its_names_is_refused(visited: Path) -> None:
    with (visited / "study.yaml").open("a") as handle:
        handle.write("\nrepeatability: {table: lab.csv}\nreport: {repeatability: other.csv}\n")
    with pytest.raises(UserError, match=r"report.repeatability'; it is 'repeatability.table' now"):
        open_study(visited)


def test_the_command_says_what_to_record_until_people_are_measured_again(
    visited: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = visited / "study.yaml"
    plain = settings.read_text()
    cases = {
        "": "repeatability.visits: names no visits.*name those of pre, post",
        "\nrepeatability:\n  visits: [pre]\n": "repeatability.visits: pre: fewer than 3 people.*in sessions.tsv",
        "\nrepeatability:\n  visits: [pre, post]\n": "repeatability.csv: no such file; run the workflow first",
    }
    for text, message in cases.items():
        settings.write_text(plain + text)
        with pytest.raises(UserError, match=message):
            repeatability_of(visited)
    (visited / "derived").mkdir()
    (visited / "derived" / "repeatability.csv").write_text("metric,icc,sem\nstance_time,0.9,0.1\n")  # no main metric
    with pytest.raises(UserError, match=r"repeatability.csv: has no number of a main metric"):
        repeatability_of(visited)
    columns = dict.fromkeys(("icc", "sem", "mdc", "within_person_sd", "icc_bias", "sem_bias_percent"), "0.5")
    columns |= {f"{name}{end}": "0.25" for name in ("icc", "mdc") for end in ("_lower", "_upper")}
    columns |= {"metric": "walking_speed", "units": "m s-1", "condition": "walk", "side": "left", "people": "4"}
    columns |= {"model": "ICC(1)", "visits": "", "assessors": ""}
    (visited / "derived" / "repeatability.csv").write_text("\n".join(map(",".join, (columns, columns.values()))))
    monkeypatch.setenv("COLUMNS", "200")
    printed = " ".join(repeatability_of(visited).split())
    assert "walking_speed m s-1 walk left 4 0.50 (0.25 to 0.25) 0.50 0.50 (0.25 to 0.25) 0.50" in printed
    assert "ICC(1): one-way" in printed
    assert "Few people (n 4)" in printed
    settings.write_text(plain)
    (visited / "sessions.tsv").unlink()
    with pytest.raises(UserError, match=r"sessions.tsv: has no sessions.*measure 3 people or more twice"):
        repeatability_of(visited)


@pytest.mark.parametrize("section", ["repeatability:\n  table", "report:\n  repeatability"])
def test_a_table_of_another_study_is_part_of_the_pages_of_several_visits(demo: Path, section: str) -> None:
    """Also by the name that the setting had."""
    study = with_visits(demo)
    table = "condition,side,metric,units,mdc\nfast,left,cadence,min-1,4.5\nfast,left,step_width,m,\n"
    file = study / "other" / "repeatability.csv"
    with (study / "study.yaml").open("a") as handle:
        handle.write(f"{section}: other/repeatability.csv\n")
    (problem,) = look_at(study)[1]
    assert str(problem).startswith("repeatability.table: other/repeatability.csv: no such file")
    file.parent.mkdir()
    file.write_text("a,b\n1,2\n")
    (problem,) = look_at(study)[1]
    assert "is not a repeatability.csv" in str(problem)
    file.write_text(table)
    opened, problems = look_at(study)
    assert not problems
    before = opened.content_of_key("page", "sub-01")
    (needs,) = before["needs"].values()
    assert needs["file"] == "other/repeatability.csv"
    file.write_text(table.replace("4.5", "4.6"))
    assert look_at(study)[0].content_of_key("page", "sub-01") != before
    netcdf.save(file.with_suffix(".nc"), xr.Dataset())
    (needs,) = look_at(study)[0].content_of_key("page", "sub-01")["needs"].values()
    assert {*needs} == {"file", "sha256", "curves"}
    file.with_suffix(".nc").unlink()
    assert opened.content_of_key("report", None) == open_study(study, overrides=NONE).content_of_key("report", None)
    assert detectable_changes(table_of([file])) == {"fast": {"left": {"cadence": 4.6}}}
