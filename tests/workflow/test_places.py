"""Places of a study where no run can write, and its name: refused by one line each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.__main__ import main
from pipeline.commands.check.command import check
from pipeline.errors import UserError
from pipeline.workflow.open_study import open_study
from pipeline.workflow.places import refuse_name
from tests.support.checkout import DEMO, copy_study
from tests.support.files.changes import edit
from tests.support.files.hostile_texts import everything_in

FOLDERS = (
    *(".snakemake", ".snakemake/locks", ".snakemake/metadata", ".snakemake/log"),
    *("derived", "derived/sub-01", "derived/report", "derived/checksums", "derived/checksums/sub-02"),
    *("logs", "logs/sub-01"),
)


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


@pytest.mark.parametrize("make", [dangling, loop, file, link_to_file])
@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_into_which_no_run_can_write_is_named(
    tmp_path: Path, folder: str, make: Callable[[Path], None]
) -> None:
    study = copy_study(DEMO, tmp_path / "study")
    (study / folder).parent.mkdir(parents=True, exist_ok=True)
    make(study / folder)
    before = everything_in(study)
    (line,) = refusals(study)
    assert line.startswith(f"{study / folder}: ")
    assert line.count("; ") == 1, "where, what and a remedy"
    assert everything_in(study) == before


def test_every_wrong_folder_is_named_once_beside_all_other_problems(tmp_path: Path) -> None:
    study = copy_study(DEMO, tmp_path / "study")
    dangling(study / "derived")
    file(study / "logs")
    edit(study / "study.yaml", "body_model: isb_clusters", "body_model: isb_cluster")
    found = refusals(study)
    assert [line.partition(": ")[0] for line in found] == ["study.yaml", str(study / "derived"), str(study / "logs")]


def test_folders_may_be_links_to_folders_elsewhere(tmp_path: Path) -> None:
    study = copy_study(DEMO, tmp_path / "study")
    for name in ("derived", "logs", ".snakemake"):
        (tmp_path / "large disk" / name).mkdir(parents=True)
        (study / name).symlink_to(tmp_path / "large disk" / name)
    assert check(study) == []
    open_study(study)


@pytest.mark.parametrize("name", ["{1}", "{session}", "a{b", "{{x}}", "{a,b}", "a\\b"])
def test_a_study_with_a_name_that_no_run_understands_is_refused_by_every_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """Also below such a folder: what is read as a wildcard is the whole path."""
    for study in (copy_study(DEMO, tmp_path / name), copy_study(DEMO, tmp_path / f"in {name}" / "study")):
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
    assert check(copy_study(DEMO, tmp_path / name)) == []
