"""Malicious settings give plain messages; nothing is run or written."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pipeline.errors import UserError
from pipeline.workflow.open_study import look_at
from tests.support.checkout import HOUSE
from tests.support.files.hostile_texts import LONG, everything_in

YAML = (
    "[" * 100_000,
    "{" * 9000,
    "- " * 9000,
    "a: &a [*a]",
    "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]",
    "<<: {body_model: x}",
    "a: 1\na: 2",
    "body_model: !!python/object/apply:os.system [id]",
    "body_model: !!python/name:os.system",
    "body_model: !!binary '!'",
    "body_model: 2001-99-99",
    "body_model: !!float abc",
    "body_model: !!timestamp abc",
    f"body_model: {'1' * 5000}",
    f"body_model: {LONG}",
    'body_model: "a\\0b"',
    'body_model: "\\e[2J"',
    "body_model: a\0b",
    "? [a]\n: b",
    "null: 1",
    "1: 1",
    "body_model: /etc/passwd",
    "body_model: ../../etc/passwd",
    "body_model: .",
    "body_model: /dev/zero",
    "body_model: '~root'",
    *(
        f"body_model: isb_clusters\n{line}"
        for line in (
            "clean: {marker_cutoff_hz: .nan}",
            "clean: {max_gap_s: .inf}",
            f"clean: {{max_gap_s: 0x{'f' * 400}}}",
            'report: {title: "\\u202e"}',
            f"report: {{title: {LONG}}}",
            "report: {title: [x]}",
            "study: {reference: /dev/zero}",
            "study: {reference: ../normative/schwartz2008}",
            "study: {reference: schwarz2008}",
            "report: {reference: schwartz2008}",
            "study: {reference: /etc/passwd}",
            "study: {reference: derived/study.nc}",
            f"study: {{reference: {LONG}}}",
            "study: {reference: ../../nowhere.nc}",
            '"\\e[2J": 1',
            "__class__: x",
            "clean: {__init__: 1}",
        )
    ),
)


@pytest.mark.parametrize("text", YAML, ids=lambda text: ascii(text)[-30:])
def test_malicious_settings_give_plain_lines(tmp_path: Path, text: str) -> None:
    study = tmp_path / "study"
    study.mkdir()
    for table in (HOUSE / "data" / "demo").glob("*.tsv"):
        shutil.copy(table, study)
    (study / "study.yaml").write_text(text, encoding="utf-8")
    before = everything_in(tmp_path)
    problems = str(UserError.of(look_at(study)[1])).splitlines()
    assert problems
    assert all(line.isprintable() for line in problems)
    assert everything_in(tmp_path) == before
