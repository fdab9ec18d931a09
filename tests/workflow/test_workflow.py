"""The workflow as a user runs it: what comes out, what an error looks like."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import ezc3d
import numpy as np
import pytest
import xarray as xr

from pipeline.__main__ import main
from pipeline.results import netcdf
from pipeline.trials.session import separate
from pipeline.workflow.open_study import open_study
from pipeline.workflow.places import folders_of_a_run
from tests.support.checkout import HOUSE, copy_study, keep_rows, run_study, snakemake
from tests.support.files.changes import edit, relabel, rewrite, set_parameter
from tests.support.step_names import SESSION_STEPS
from tests.support.studies.typed_rows import rows_of


def test_a_run_prints_a_line_for_each_step_and_what_was_used(run_of_two: Path, finished: Path) -> None:
    said, progress = ((run_of_two / name).read_text() for name in ("stdout", "stderr"))
    assert said.splitlines() == [
        "4 of 4 trials used, 12 of 12 plate contacts used; 12 stances not on a plate.",
        f"Report: {finished}/derived/report.html",
    ]
    lines = progress.splitlines()
    assert "19 steps to do in 2 sessions; each has a log in logs/." in lines
    assert lines[-1].startswith("19 of 19 steps, 2 of 2 sessions done: ")  # the report or a page
    assert sum(" steps, " in line for line in lines) == 19
    assert len(lines) == 1 + 19  # of what Snakemake says itself little is left, and no control characters
    assert progress.replace("\n", "").isprintable()


def test_a_run_makes_no_folder_that_is_not_looked_at_before(finished: Path) -> None:
    made = {folder for place in ("derived", "logs") for folder in finished.glob(f"{place}/**/")}
    made |= {*finished.glob(".snakemake/*/")}
    assert len(made) > 10
    assert {folder.relative_to(finished).as_posix() for folder in made} <= {*folders_of_a_run(open_study(finished))}


def test_every_output_is_there_and_says_where_it_comes_from(finished: Path) -> None:
    derived = finished / "derived"
    for session in ("sub-01", "sub-02"):
        for step in (*SESSION_STEPS, "representative"):
            with xr.open_dataset(derived / session / f"{step}.nc") as file:
                assert {"Conventions", "title", "history", "pipeline_version", "settings", "source_sha256"} <= set(
                    file.attrs
                )
                assert ("cycles" if step == "representative" else step) in json.loads(file.attrs["settings"])
                assert {str(dim) for dim in file.dims} - {str(name) for name in file.coords} <= {
                    *("sample", "plate_sample", "contact", "stance", "whole_stance", "cycle")
                }, step
    names = ("metrics", "quality", "participants", "symmetry")
    tables = {f"{name}.{form}" for name in names for form in ("csv", "json")}
    others = {"sub-01", "sub-02", "study.nc", "report.html", "report", "checksums", "run.json"}
    assert {path.name for path in derived.iterdir()} == tables | others


def test_results_go_back_into_copies_of_the_recordings(finished: Path, tmp_path: Path) -> None:
    """One copy per walk; the pipeline reads it as it reads the recording, and ezc3d the moment that is stored."""
    study = shutil.copytree(finished, tmp_path / "study")
    assert main(["write-c3d", str(study), "--session", "sub-01"]) == 0
    assert not (study / "derived/sub-02/c3d").exists()
    trials = separate(netcdf.load(study / "derived/sub-01/kinetics.nc"))
    moments = {name: trial.joint_moment for name, trial in trials.items()}
    copies = sorted((study / "derived/sub-01/c3d").iterdir())
    assert [path.stem for path in copies] == sorted(moments)
    mass_kg = xr.load_dataset(study / "derived/sub-01/calibrate.nc").attrs["body_mass_kg"]
    for path in copies:
        content = ezc3d.c3d(str(path))
        column = content["parameters"]["POINT"]["LABELS"]["value"].index("RKneeMoment")
        got = content["data"]["points"][0, column] * mass_kg / 1000
        expected = moments[path.stem].sel(side="right", joint="knee", local_axis="z").values
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-4)  # 32 bits of 100 N m


def test_it_runs_from_elsewhere(study: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    result = snakemake(study, "--snakefile", str(HOUSE / "Snakefile"), cwd=elsewhere)
    assert result.returncode == 0, result.stderr
    assert "Nothing to be done" in result.stderr


def stopped(study: Path) -> str:
    """Run a study that must be refused before any job and return what was printed."""
    result = run_study(study)
    text = result.stdout + result.stderr
    assert result.returncode != 0
    assert "Traceback" not in text
    assert "to do" not in text
    assert "Snakefile" not in text
    return text


def test_misspelt_names_stop_the_run_with_the_nearest_known_one(study: Path) -> None:
    (study / "study.yaml").write_text("body_model: isb_cluster\nclean: {marker_cutof_hz: 6}\n")
    edit(study / "participants.tsv", "mass_kg", "mas_kg")
    text = stopped(study)
    assert "unknown key 'clean.marker_cutof_hz'; did you mean 'marker_cutoff_hz'?" in text
    assert "did you mean 'isb_clusters'?" in text
    assert "column 'mass_kg' is missing; rename the column 'mas_kg'" in text


def test_a_wrong_directory_is_refused(tmp_path: Path) -> None:
    assert "no such folder" in stopped(tmp_path / "nowhere")


def test_results_without_their_records_are_not_trusted(study: Path) -> None:
    shutil.rmtree(study / ".snakemake")
    assert "--forceall" in stopped(study)


def quality(study: Path) -> list[dict[str, str]]:
    return rows_of((study / "derived" / "quality.csv").read_text())


def test_bad_input_costs_only_itself_and_is_said(study: Path) -> None:
    """A cut file, an absent file, text in place of C3D, a participant without mass: each one plain line."""
    cut = study / "sub-01" / "comfortable_01.c3d"
    cut.write_bytes(cut.read_bytes()[: cut.stat().st_size // 2])
    (study / "sub-01" / "fast_01.c3d").unlink()
    edit(study / "participants.tsv", "sub-02\t61.2", "sub-02\tn/a")
    with (study / "trials.tsv").open("a") as table:
        table.write("sub-01\tnotes\tsub-01/notes.c3d\tgait\tfast\n")
    (study / "sub-01" / "notes.c3d").write_text("not a recording" * 100)
    for path in study.glob("sub-02/*.c3d"):
        set_parameter(path, "PROCESSING", "Bodymass", [0.0])
    result = run_study(study)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "Exit code 1, because no trial could be used." in result.stdout
    reasons = {(row["session"], row["trial"]): row["reason"] for row in quality(study) if not row["side"]}
    assert "cut off" in reasons["sub-01", "comfortable_01"]
    assert "no such file" in reasons["sub-01", "fast_01"]
    assert "not a C3D file" in reasons["sub-01", "notes"]
    assert "mass_kg" in reasons["sub-02", "comfortable_01"]
    assert "0 of 5 trials used" in result.stdout
    assert "Traceback" not in result.stdout + result.stderr
    strict = run_study(study, "--config", "run={fail_on_rejection: true}")
    assert "Nothing to do" in strict.stderr
    assert strict.returncode == 1


def test_a_missing_marker_static_trial_or_plate_without_channels_is_named(study: Path) -> None:
    """They cost the leg, the session and the stances on that plate, no more; each says what would be right."""

    def renumber(content: ezc3d.c3d) -> None:
        content["parameters"]["FORCE_PLATFORM"]["CHANNEL"]["value"] += 900

    rewrite(study / "sub-01/static.c3d", relabel(RLML="RLMX"))
    rewrite(study / "sub-02/fast_01.c3d", renumber)
    with (study / "trials.tsv").open("a") as table:
        table.write("sub-03\tfast_01\tsub-02/fast_01.c3d\tgait\tfast\n")
    with (study / "participants.tsv").open("a") as table:
        table.write("sub-03\t70\t1.7\tF\tolder\t60\n")
    result = run_study(study)
    assert result.returncode == 0, result.stdout + result.stderr
    rows = quality(study)
    lost = {row["reason"] for row in rows if (row["session"], row["side"]) == ("sub-01", "right")}
    assert len(lost) == 1
    assert "sub-01/static.c3d: no marker for lateral malleolus right" in min(lost)
    assert "did you mean 'RLMX'?" in min(lost)
    assert any((row["session"], row["side"], row["verdict"]) == ("sub-01", "left", "used") for row in rows)
    unplated = {row["reason"] for row in rows if row["session"] == "sub-02" and row["trial"] == "fast_01"}
    assert any("plate 1 is left out" in reason for reason in unplated), unplated
    assert any(row["verdict"] == "used" for row in rows if row["trial"] == "comfortable_01")
    assert all(row["side"] for row in rows), "no trial is rejected"
    assert any(row["session"] == "sub-03" for row in rows), "its events and stances are there"


def test_equal_inputs_give_equal_bytes(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In another place, on another number of cores, and by workers that are started by spawn.

    Spawn is the way of macOS and Windows, where a process cannot be forked safely.
    """
    monkeypatch.setenv("GAITLAB_START_METHOD", "spawn")
    other = copy_study(finished, tmp_path / "other place")
    result = run_study(other, "--cores", "1", started=True)
    assert result.returncode == 0, result.stdout + result.stderr
    for path in sorted((finished / "derived").rglob("*.*")):
        twin = other / path.relative_to(finished)
        assert path.read_bytes() == twin.read_bytes(), path.name


def test_without_a_static_trial_all_that_needs_no_model_is_the_same(finished: Path, tmp_path: Path) -> None:
    """Times, distances and plate forces to the bit; no angle, moment or power, and one line that says why."""
    without = copy_study(finished, tmp_path / "without")
    keep_rows(without, lambda row: "\tstatic\t" not in row)
    result = run_study(without)
    assert result.returncode == 0, result.stdout + result.stderr
    assert sum("no static trial that can be used" in line for line in result.stdout.splitlines()) == 1
    assert "4 of 4 trials used, 0 of 12 plate contacts used; 12 stances not on a plate." in result.stdout
    for session in ("sub-01", "sub-02"):
        whole, bare = (netcdf.load(study / "derived" / session / "contacts.nc") for study in (finished, without))
        xr.testing.assert_equal(whole, bare)
    rows, others = (rows_of((study / "derived/metrics.csv").read_text()) for study in (finished, without))
    needed = (*("walking_speed", "cadence", "step_length", "step_width", "stance_time", "double_support_share"),
              *("peak_vertical_force", "peak_propulsive_force", "impulse_of_braking_force"))  # fmt: skip
    assert len(rows) == len(others) > 0
    for row in rows:
        place = [row[name] for name in ("session", "trial", "side", "start_time")]
        (twin,) = (one for one in others if [one[name] for name in ("session", "trial", "side", "start_time")] == place)
        assert {name: twin[name] for name in needed} == {name: row[name] for name in needed}
        assert not twin["peak_knee_flexion"]
        assert not twin["peak_ankle_power"]
        assert not twin["leg_length"]
    assert any(row["peak_vertical_force"] for row in others)
    codes = {row["code"] for row in quality(without)}
    assert codes == {"no_static_trial", "no_plate"}
