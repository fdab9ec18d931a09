"""Places of a study where no run can write, its name, and paths that leave it: refused by one line each."""

from __future__ import annotations

import errno
import itertools
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.__main__ import main
from pipeline.commands.check.command import check
from pipeline.errors import UserError
from pipeline.workflow import declared_settings
from pipeline.workflow.open_study import look_at, open_study
from pipeline.workflow.places import find_wrong_places, refuse_name
from pipeline.workflow.settings import CONFIG, load_body_model, schema
from tests.campaigns.interruptions import write_tiny_study
from tests.support.files.changes import edit
from tests.support.files.hostile_texts import everything_in

FOLDERS = (
    *(".snakemake", ".snakemake/locks", ".snakemake/metadata", ".snakemake/log"),
    *("derived", "derived/sub-01", "derived/report", "derived/checksums", "derived/checksums/sub-01"),
    *("logs", "logs/sub-01"),
)
IN_STUDY, ANYWHERE = "path_in_study", "path"  # formats of the schema


def dangling(place: Path) -> None:
    place.symlink_to(place.parent / "not_there")


def loop(place: Path) -> None:
    place.symlink_to(place.name)


def file(place: Path) -> None:
    place.write_text("some notes")


def link_to_file(place: Path) -> None:
    (place.parent / "some_file").write_text("some notes")
    place.symlink_to("some_file")


def refusals(study: Path) -> list[str]:
    """Return the lines with which a run is refused, and assert that ``check`` has the same."""
    with pytest.raises(UserError) as raised:
        open_study(study)
    lines = str(raised.value).splitlines()
    assert [str(finding) for finding in check(study) if finding.severity == "error"] == lines
    return lines


@pytest.mark.parametrize(("folder", "make"), [*zip(FOLDERS, itertools.cycle([dangling, loop, file, link_to_file]))])
def test_a_folder_into_which_no_run_can_write_is_named(
    tmp_path: Path, folder: str, make: Callable[[Path], None]
) -> None:
    study = write_tiny_study(tmp_path / "study")
    (study / folder).parent.mkdir(parents=True, exist_ok=True)
    make(study / folder)
    before = everything_in(study)
    (line,) = refusals(study)
    assert line.startswith(f"{study / folder}: ")
    assert line.count("; ") == 1, "where, what and a remedy"
    assert everything_in(study) == before


@pytest.mark.parametrize(("fault", "named"), [(errno.EACCES, True), (errno.EIO, True), (errno.ENAMETOOLONG, False)])
def test_a_folder_that_cannot_be_looked_at_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: int, named: bool
) -> None:
    """As a link into another person's folder; the tables refuse names that are too long."""
    study = write_tiny_study(tmp_path / "study")
    opened, is_dir = look_at(study)[0], Path.is_dir

    def closed(path: Path) -> bool:
        if path == study / "derived":
            raise OSError(fault, os.strerror(fault), str(path))
        return is_dir(path)

    monkeypatch.setattr(Path, "is_dir", closed)
    lines = [str(problem) for problem in find_wrong_places(opened)]
    start = f"{study / 'derived'}: cannot be written to ({os.strerror(fault)}); "
    assert [line.startswith(start) for line in lines] == [True] * named


def test_every_wrong_folder_is_named_once_beside_all_other_problems(tmp_path: Path) -> None:
    study = write_tiny_study(tmp_path / "study")
    dangling(study / "derived")
    file(study / "logs")
    edit(study / "study.yaml", "body_model: isb_clusters", "body_model: isb_cluster")
    found = refusals(study)
    assert [line.partition(": ")[0] for line in found] == ["study.yaml", str(study / "derived"), str(study / "logs")]


def test_folders_may_be_links_to_folders_elsewhere(tmp_path: Path) -> None:
    study = write_tiny_study(tmp_path / "study")
    for name in ("derived", "logs", ".snakemake"):
        (tmp_path / "large disk" / name).mkdir(parents=True)
        (study / name).symlink_to(tmp_path / "large disk" / name)
    assert check(study) == []
    open_study(study)


@pytest.mark.parametrize("name", ["{1}", "{session}/study", "a{b", "{{x}}/study", "{a,b}", "a\\b", "a\\b/study"])
def test_a_study_with_a_name_that_no_run_understands_is_refused_by_init_check_and_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """Also below such a folder: what is read as a wildcard is the whole path."""
    study = write_tiny_study(tmp_path / name)
    (line,) = refusals(study)
    assert line.startswith(f"{study}: ")
    assert "rename" in line
    for table in ("participants.tsv", "trials.tsv", "study.yaml"):
        (study / table).unlink()
    assert main(["init", str(study)]) == 1
    assert "rename" in capsys.readouterr().err
    assert not (study / "trials.tsv").exists()


@pytest.mark.parametrize(
    "name", ["100%", "*", "$(x)", "-x", "a}b", "a\nb", "q'u\"o", " blank ", "[a]", "~", "?", "#", "&", "é", "a:b"]
)
def test_other_names_of_studies_are_accepted(name: str, tmp_path: Path) -> None:
    refuse_name(tmp_path / name)
    assert check(write_tiny_study(tmp_path / name)) == []


# --- paths of settings ------------------------------------------------------------------------------------------------


def path_settings(kind: str) -> list[str]:
    sections = schema("settings")["properties"].items()
    every = {name: rule for name, rule in sections if "properties" not in rule}
    every |= {
        f"{section}.{name}": rule for section, rules in sections for name, rule in rules.get("properties", {}).items()
    }
    return [name for name, rule in every.items() if rule.get("format") == kind]


def test_every_setting_with_a_path_says_whether_it_may_leave_the_study() -> None:
    """Results of other studies may be anywhere."""
    sections = {"body_model", *declared_settings.sections()}  # without those of extras
    inside = ["body_model", "report.logo", "report.notes"]
    assert sorted(name for name in path_settings(IN_STUDY) if name.partition(".")[0] in sections) == inside
    assert [name for name in path_settings(ANYWHERE) if name.partition(".")[0] in sections] == ["study.reference"]


@pytest.mark.parametrize(
    "path",
    [
        *("../other", "/etc/passwd", "notes/../../other", "{folder}/other", "{folder}/study/study.yaml", ".."),
        *("../study/study.yaml", "//etc/passwd"),
    ],
)
def test_paths_that_leave_the_study_are_refused(tmp_path: Path, path: str) -> None:
    """Whatever is there: also what would be used from inside."""
    study, path = write_tiny_study(tmp_path / "study"), path.format(folder=tmp_path)
    (tmp_path / "other").mkdir()
    given: dict[str, Any] = {}
    for section, _, name in (setting.rpartition(".") for setting in path_settings(IN_STUDY)):
        (given.setdefault(section, {}) if section else given)[name] = path
    (study / "study.yaml").write_text(json.dumps(given))
    starts = [f"study.yaml: {setting} '{path}' is not inside the study" for setting in path_settings(IN_STUDY)]
    assert sorted(line.partition("; ")[0] for line in refusals(study)) == sorted(starts)


@pytest.mark.parametrize("target", ["../x.mot", "/x.mot"])
def test_tables_and_settings_have_the_same_words_for_it(tmp_path: Path, target: str) -> None:
    study = write_tiny_study(tmp_path / "study")
    (study / "study.yaml").write_text(f"body_model: isb_clusters\nreport:\n  logo: {target}\n")
    edit(study / "trials.tsv", "sub-01/comfortable_01.c3d", target)
    setting, table = (line.partition(f" '{target}' ") for line in refusals(study))
    assert (setting[0], table[0]) == ("study.yaml: report.logo", "trials.tsv: sub-01 comfortable_01: file")
    assert setting[2] == table[2] != ""


def test_a_link_in_the_study_may_lead_to_what_several_studies_share(tmp_path: Path) -> None:
    study, shared = write_tiny_study(tmp_path / "study"), tmp_path / "shared"
    (shared / "notes").mkdir(parents=True)
    (shared / "notes" / "sub-01_notes.txt").write_text("seen")
    model = (CONFIG / "body_models" / "isb_clusters.yaml").read_text()
    (shared / "ours.yaml").write_text(model.replace("name: isb_clusters", "name: ours"))
    for name in ("notes", "ours.yaml"):
        (study / name).symlink_to(shared / name)
    (study / "study.yaml").write_text("body_model: ours.yaml\nreport:\n  notes: notes\n")
    opened = open_study(study)
    assert opened.body_model is not None
    assert opened.body_model.name == "ours"
    assert opened.content_of_key("page", "sub-01")["arguments"]["texts"] == {"Notes": "seen"}


def test_a_body_model_extends_none_outside_of_the_study(tmp_path: Path) -> None:
    (tmp_path / "study").mkdir()
    (tmp_path / "base.yaml").write_text((CONFIG / "body_models" / "isb_clusters.yaml").read_text())
    (tmp_path / "study" / "ours.yaml").write_text("name: ours\ndescription: x\nextends: ../base.yaml\n")
    with pytest.raises(UserError, match=r"ours.yaml: extends '\.\./base.yaml' is not inside the study; "):
        load_body_model("ours.yaml", where="study.yaml", study_path=tmp_path / "study")
