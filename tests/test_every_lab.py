"""Recordings of eight labs: ``init`` and ``check``, then a run, with nothing put in by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import copy_study
from labs import LABS, outcomes, set_up

from pipeline import settings, tables
from pipeline.check import check
from pipeline.file_facts import Facts, facts_of, opened
from pipeline.findings import Finding
from pipeline.size_findings import POUNDS_PER_KG, of_sizes

# joint widths, which these labs' files do not state and nobody can guess: angles and moments need them put in
WITHOUT_WIDTHS = ("codamotion 1997", "codamotion 2015", "sample10 2a, 4a")
UNKNOWN_LABELS = "sample10 2, 4"  # RF, LK, ...: no shipped body model has them
CLEAN = ("exact", "functional", "gait2354", "plug_in_gait")
DOSES = 20


@pytest.mark.parametrize("lab", LABS)
def test_every_walk_runs_or_is_told_why_not(shared: Path, tmp_path: Path, lab: str) -> None:
    errors = {finding.what for finding in set_up(shared, lab, tmp_path) if finding.severity == "error"}
    rows = list(outcomes(tmp_path, lab))
    assert rows
    assert all("" not in row.reasons for row in rows)  # each stance that is not used says why
    if lab == UNKNOWN_LABELS:
        assert any("no marker of body model" in what for what in errors)
        assert all("cannot tell where up is" in row.lost for row in rows)
        return
    if lab in WITHOUT_WIDTHS:
        assert any("knee_width_left_m" in what for what in errors)
        assert all("knee_width_left_m" in row.lost for row in rows)
        put_in_widths(tmp_path / "participants.tsv")
        rows = list(outcomes(tmp_path, lab))
    else:
        assert errors == set()
    assert all(row.cycles for row in rows)
    assert all(row.valid for row in rows)  # contacts at least: somebody steps on a plate in each of these walks


def put_in_widths(path: Path) -> None:
    """Put joint widths of an adult into the table, as the lab would measure them."""
    header, cells = (line.split("\t") for line in path.read_text().splitlines())
    widths = {"knee_width_left_m": "0.10", "knee_width_right_m": "0.10", "ankle_width_left_m": "0.07",
              "ankle_width_right_m": "0.07"}  # fmt: skip
    cells = [widths.get(name, cell) for name, cell in zip(header, cells, strict=True)]
    path.write_text("\t".join(header) + "\n" + "\t".join(cells) + "\n")


@pytest.mark.parametrize("lab", ["c3dparser_AUC", "qualisys_cast", "opensim_walking"])
def test_a_mass_that_plates_have_told_is_marked(shared: Path, tmp_path: Path, lab: str) -> None:
    findings = set_up(shared, lab, tmp_path)
    (row,) = tables.read_participants(tmp_path / "participants.tsv").values()
    assert row["mass_source"].startswith("estimate: plates")
    assert "mass_kg" in row["guessed"].split()
    assert 30 < float(row["mass_kg"]) < 90  # a child and two grown-ups
    assert any(finding.what == f"mass_kg is an {row['mass_source']}" for finding in findings)


Session = tuple[list[tables.Row], dict[str, Facts], dict[str, tables.Row], dict[str, Any], dict[str, Any]]


@pytest.fixture(scope="module")
def sessions(shared: Path) -> list[Session]:
    """Return, of every session of the clean studies: its rows, its files' facts, participants, settings, body model."""
    found = []
    for name in CLEAN:
        study = shared / "studies" / name
        own = settings.read_yaml(study / "study.yaml")
        chosen, model = settings.load_settings(own, where="study.yaml", study_path=study)
        participants = tables.read_participants(study / "participants.tsv")
        for rows in tables.read_trials(study / "trials.tsv", participants).values():
            facts = {row["file"]: facts_of(opened(study, row["file"]), model) for row in rows}
            found.append((rows, facts, participants, chosen, model))
    return found


def with_mass(session: Session, factor: float) -> list[Finding]:
    """Return what is found of sizes where a session's person has another mass in the table."""
    rows, facts, participants, chosen, model = session
    person = participants[rows[0]["participant_id"]]
    wrong = {**person, "mass_kg": f"{factor * float(person['mass_kg']):.4g}"}
    return list(of_sizes(rows, facts, {person["participant_id"]: wrong}, chosen, model))


def unstated(sessions: list[Session]) -> list[Session]:
    """Return the sessions as if their files did not state a mass, so that plates alone can tell it."""

    def without(facts: Facts) -> Facts:
        return replace(facts, sizes={name: value for name, value in facts.sizes.items() if name != "mass_kg"})

    return [(s[0], {name: without(told) for name, told in s[1].items()}, *s[2:]) for s in sessions]


def test_clean_studies_raise_no_alarm_about_sizes(sessions: list[Session]) -> None:
    assert [finding for session in sessions for finding in with_mass(session, 1.0)] == []


@pytest.mark.parametrize("stated", [True, False])
def test_pounds_are_told(sessions: list[Session], stated: bool) -> None:
    """Twenty doses: pounds as read from scales that are up to 5 % wrong, with clothes and shoes or without."""
    sessions = sessions if stated else unstated(sessions)
    for dose in range(DOSES):
        for session in sessions:
            findings = with_mass(session, POUNDS_PER_KG * (0.95 + 0.1 * dose / (DOSES - 1)))
            assert any(found.severity == "error" and "pounds?" in found.remedy for found in findings)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("stated", [True, False])
def test_a_wrong_mass_is_told(sessions: list[Session], sign: int, stated: bool) -> None:
    """From 15 % off in twenty steps to 72 %, at most one in twenty may pass; by plates alone if no file states it."""
    sessions = sessions if stated else unstated(sessions)
    assert [finding for session in sessions for finding in with_mass(session, 1.0)] == []
    flagged = [
        any("mass_kg is" in found.what for found in with_mass(session, 1 + sign * (0.15 + 0.03 * dose)))
        for dose in range(DOSES)
        for session in sessions
    ]
    assert sum(flagged) >= 0.95 * len(flagged)


@pytest.mark.parametrize("factor", [1000, 100])
def test_millimetres_and_centimetres_as_metres_are_told(tmp_path: Path, factor: int) -> None:
    """Twenty people from 1.0 to 1.95 m, each size by itself, in the wrong unit."""
    for dose in range(DOSES):
        height_m = 1.0 + 0.05 * dose
        sizes = {"marker_diameter_m": 0.014, "height_m": height_m}
        shares = {"knee_width_left_m": 0.06, "ankle_width_left_m": 0.042, "leg_length_left_m": 0.52}
        sizes |= {name: share * height_m for name, share in shares.items()}
        for wrong in sizes:
            given = {name: f"{value * (factor if name == wrong else 1):.4g}" for name, value in sizes.items()}
            cells = {"participant_id": "A1", "mass_kg": "50", "sex": "F"} | given
            path = tmp_path / "participants.tsv"
            path.write_text("\t".join(cells) + "\n" + "\t".join(cells.values()) + "\n")
            _, problems = tables.participants_of(path)
            assert any(f"{wrong} is" in problem for problem in problems)


def test_a_size_in_another_unit_is_answered_with_metres(shared: Path, tmp_path: Path) -> None:
    study = copy_study(shared / "studies" / "functional", tmp_path / "functional")
    text = (study / "participants.tsv").read_text().replace("1.68", "1680")
    (study / "participants.tsv").write_text(text)
    assert "give metres: mm? 1.68 m" in {finding.remedy for finding in check(study)}
