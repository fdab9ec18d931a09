"""Texts that mean harm: in ids, file names, labels, cells, settings. None is executed, written outside, or live."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
from collections import Counter
from pathlib import Path
from string import ascii_uppercase

import ezc3d
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import HOUSE, snakemake
from report_studies import Page, made, trial_cycles

from pipeline import settings, tables
from pipeline.__main__ import main
from pipeline.csv_text import csv_of, guard, rows_of, unguarded
from pipeline.errors import UserError
from pipeline.export import export
from pipeline.read import read
from pipeline.vocabulary import VARIABLES
from pipeline.workflow import look_at

SEEN, UNSEEN, LONG = "seen_by_a_shell", "a character that cannot be seen", "x" * 5000
IDS = (
    *(
        "../x",
        "../../etc/passwd",
        "/etc/passwd",
        "a/b",
        "a\\b",
        "..",
        ".",
        "",
        " ",
        "~root",
        "C:",
        "con.",
        "-rf",
        "--help",
    ),
    *(
        f"$(touch {SEEN})",
        f"`touch {SEEN}`",
        f"x;touch {SEEN}",
        f"x|touch {SEEN}",
        f"x&touch {SEEN}",
        f"x>{SEEN}",
        "$HOME",
    ),
    *(
        "{session}",
        "{wildcards.session}",
        "{{ 7 * 7 }}",
        "{0.__class__}",
        "%s%n",
        "a b",
        "a'b",
        'a"b',
        "*",
        "?",
        "[a-z]",
    ),
    *(
        "<script>alert(1)</script>",
        "=1+1",
        "@SUM(A1)",
        "+1",
        "a|b",
        "a,b",
        "a=b",
        "#",
        "!",
        "a:b",
        "s3://x/y",
        "http://x",
    ),
    *("é", "\uff41", "\u0430", "x\0y", "x\x1b[2J", "x\u202ey", "x\u2028y", LONG),
)
FILES = (
    *(
        f"$(touch {SEEN}).c3d",
        f"`touch {SEEN}`.c3d",
        f"x;touch {SEEN};.c3d",
        f"x|touch {SEEN}.c3d",
        f"&touch {SEEN}&.c3d",
    ),
    *(
        "-rf.c3d",
        "--help.c3d",
        "=1+1.c3d",
        "@SUM(A1).c3d",
        "+1.c3d",
        "{session}.c3d",
        "{}.c3d",
        "{{7*7}}.c3d",
        "%s%n.c3d",
    ),
    *("a b.c3d", "a'b.c3d", 'a"b.c3d', '"".c3d', "*.c3d", "?.c3d", "[a-z].c3d", "~.c3d", "#.c3d", "!x.c3d"),
    *("<script>alert(1)<", "script>.c3d", "é.c3d", "\uff41.c3d", "a,b;c.c3d", "a=b.c3d", "a:b.c3d", "x" * 250 + ".c3d"),
)
SCRIPTS = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    '"><script>alert(1)</script>',
    "' onmouseover='alert(1)",
    '" autofocus onfocus="alert(1)',
    "javascript:alert(1)",
    "<a href=javascript:alert(1)>x</a>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<!--<script>",
    "--><script>alert(1)</script>",
    "]]><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "<base href=//evil.example/>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "<link rel=stylesheet href=//evil.example>",
    "<form action=//evil.example><input>",
    "<object data=//evil.example>",
    "<math><mtext></p><script>alert(1)</script>",
    "{{ 7 * 7 }}",
    "{% for x in range(9) %}x{% endfor %}",
    "${alert(1)}",
    "%{y}<b>",
    "\\u003cscript\\u003ealert(1)\\u003c/script\\u003e",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<x-evil onload=alert(1)>",
)
FORMULAS = (
    "=1+1",
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    '=HYPERLINK("http://x","y")',
    "\uff1d1+1",
    "'=1",
    "''+x",
)
NUMBERS = ("-0.12", "+3", "1e-5", "-1e-5", "-inf", "0.5")
PARTICIPANTS, TRIALS = (
    ("participant_id", "mass_kg", "height_m", "sex"),
    ("participant_id", "trial", "file", "role", "condition"),
)


def write(path: Path, *rows: tuple[str, ...]) -> Path:
    text = io.StringIO()
    csv.writer(text, delimiter="\t", lineterminator="\n").writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


def everything_in(folder: Path) -> set[str]:
    return {str(Path(place) / name) for place, folders, files in os.walk(folder) for name in (*folders, *files)}


# --- ids, cells and columns of the tables ------------------------------------------------------------------------


@pytest.mark.parametrize("name", IDS, ids=lambda name: ascii(name)[:24])
def test_ids_that_are_no_plain_names_are_refused(tmp_path: Path, name: str) -> None:
    """Everything below derived/ is called after an id; that of a participant, a session, a trial has one rule."""
    _, problems = tables.participants_of(write(tmp_path / "participants.tsv", PARTICIPANTS, (name, "70", "1.7", "M")))
    assert problems
    header = (*TRIALS, "session")
    for row in (
        (name, "w", "w.c3d", "gait", "x", ""),
        ("a", name, "w.c3d", "gait", "x", ""),
        ("a", "w", "w.c3d", "gait", "x", name),
    ):
        if row[-1].strip() or name not in row[-1:]:
            _, problems = tables.trials_of(write(tmp_path / "trials.tsv", header, row), {"a": {}})
            assert problems
            assert all(line.isprintable() for line in str(UserError("\n".join(problems))).splitlines())


@pytest.mark.parametrize("column", ["condition", "file"])
def test_cells_with_unseen_characters_or_pages_of_text_are_refused(tmp_path: Path, column: str) -> None:
    for text in ("a\nb", "a\0b", "a\x1b[31mb", "a\u202eb", "a\u2066b", "a\u2028b", LONG):
        row = dict(zip(TRIALS, ("a", "w", "w.c3d", "gait", "x"), strict=True)) | {column: text}
        _, problems = tables.trials_of(write(tmp_path / "trials.tsv", TRIALS, tuple(row.values())), {"a": {}})
        assert any(f"row 1: {column} has" in problem for problem in problems)
    for text in ("\u0634\u200c\u0647", "👩\u200d🔬", "a\u00a0b", "é"):  # joiners and blanks that languages need
        row = dict(zip(TRIALS, ("a", "w", "w.c3d", "gait", "x"), strict=True)) | {column: text}
        assert tables.trials_of(write(tmp_path / "trials.tsv", TRIALS, tuple(row.values())), {"a": {}})[1] == []


@pytest.mark.parametrize("column", ["a/b", "=1+1", "-x", "<b>", "a\x1b", "x" * 65, "../x"])
def test_columns_that_cannot_be_coordinates_are_refused(tmp_path: Path, column: str) -> None:
    path = write(tmp_path / "participants.tsv", (*PARTICIPANTS, column), ("a", "70", "1.7", "M", "1"))
    assert len(tables.participants_of(path)[1]) == 1


def test_columns_with_the_name_of_anything_in_a_study_are_refused(tmp_path: Path) -> None:
    taken = {name for variable, parts in VARIABLES["study"].items() for name in (variable, *parts.dims)}
    path = write(tmp_path / "participants.tsv", (*PARTICIPANTS, *taken), ("a", "70", "1.7", "M", *("1" for _ in taken)))
    problems = "\n".join(tables.participants_of(path)[1])
    assert not [name for name in taken if f"'{name}'" not in problems]


# --- file names --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a study with one recording under many names, prepared by ``init``."""
    study = tmp_path_factory.mktemp("hostile") / "study"
    for name in FILES:
        path = study / "sub-01" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(HOUSE / "data/demo/sub-01/static.c3d", path)
    assert main(["init", str(study)]) == 0
    return study


def test_files_of_any_name_are_listed_under_plain_ids(named: Path) -> None:
    participants = tables.read_participants(named / "participants.tsv")
    sessions = tables.read_trials(named / "trials.tsv", participants)
    with (named / "trials.tsv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle, delimiter="\t"))
    assert {(named / row["file"]).resolve() for row in rows} == {*named.rglob("*.c3d")}
    assert all(tables.IDENTIFIER.fullmatch(name) for row in rows for name in (row["participant_id"], row["trial"]))
    assert list(sessions) == ["sub-01"]
    assert main(["check", str(named)]) in (0, 1)


def test_the_workflow_runs_files_of_any_name(named: Path) -> None:
    """All in one job, which opens each by its name; then the run's own records say it is up to date."""
    before = everything_in(named.parent) | {str(named / SEEN)}
    text = (named / "trials.tsv").read_text(encoding="utf-8")
    (named / "trials.tsv").write_text(text.replace("\texclude\tn/a\t", "\tgait\twalk\t"), encoding="utf-8")
    target = "derived/sub-01/read.nc"
    result = snakemake(named, target)
    assert result.returncode == 0, result.stdout + result.stderr
    with xr.open_datatree(named / target) as tree:
        sources = {group.attrs["source"] for group in tree.children.values()}
        assert not any("rejected" in group.attrs for group in tree.children.values())
    assert len(sources) == len([*named.rglob("*.c3d")])
    new = {Path(path).relative_to(named).parts[0] for path in everything_in(named.parent) - before}
    assert new == {"derived", "logs", ".snakemake"}
    assert not [path for place in (HOUSE, named) for path in place.rglob(SEEN)]


@pytest.mark.parametrize(
    "name", [b"caf\xe9.c3d", b"a\\b.c3d", b"a\nb.c3d", b"a\tb.c3d", b"\x1b[31m.c3d", "a\u202eb.c3d".encode()]
)
def test_file_names_that_no_table_holds_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: bytes
) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_bytes(b"")
    assert main(["init", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "rename it" in said
    assert said.replace("\n", "").isprintable()
    assert len([*tmp_path.iterdir()]) == 1


# --- labels and texts in a report --------------------------------------------------------------------------------


def report_of(texts: tuple[str, ...]) -> Page:
    """Return the report of a study that has the texts wherever a study may have text."""
    trials = {text: trial_cycles("sub-01", text, ["left"]) for text in texts[:15]}
    trials |= {text: xr.Dataset(attrs={"rejected": text}) for text in texts[15:]}
    study = made({"sub-01": trials}, {text: text for text in texts}, **{text: text for text in texts})
    study.study.attrs |= dict.fromkeys(("history", "pipeline_version"), texts[0])
    study.study.attrs |= {
        name: json.dumps(dict(zip(texts, texts, strict=True))) for name in ("settings", "source_sha256")
    }
    return Page(study.page(title=texts[1]))


def test_no_script_of_a_study_lives_in_its_report() -> None:
    """Elements, their attributes' names, and the programs are those of a report of harmless texts."""
    hostile, harmless = (
        report_of(SCRIPTS),
        report_of(tuple(f"text {ascii_uppercase[i // 26]}{ascii_uppercase[i % 26]}" for i in range(len(SCRIPTS)))),
    )

    def structure(page: Page) -> Counter[tuple[str, ...]]:
        return Counter((tag, *sorted(attributes)) for tag, attributes in page.tags)

    assert structure(hostile) == structure(harmless)
    assert hostile.programs() == harmless.programs()
    for name in ("href", "src", "action", "http-equiv"):
        assert not [value for _, a in hostile.tags if "evil" in (value := a.get(name) or "") or "alert" in value]
    for text in SCRIPTS:
        assert " ".join(text.split()) in hostile.words


def test_labels_of_a_file_are_text_to_whoever_shows_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As marker labels of a real file: read, drawn in a page by ``body-model``, listed by ``show``."""
    content = ezc3d.c3d(str(HOUSE / "data/demo/sub-01/static.c3d"))
    labels = content["parameters"]["POINT"]["LABELS"]["value"]
    more = [*SCRIPTS, *FORMULAS, "\x1b[2J\x1b[31mred", "a\u202eb", "{side}", "%s%n"]
    content["parameters"]["POINT"]["LABELS"]["value"] = [*labels, *more]
    points = content["data"]["points"]
    content["data"]["points"] = np.concatenate(
        [points, np.resize(points[:, :1], (4, len(more), points.shape[2]))], axis=1
    )
    del content["data"]["meta_points"]
    path = tmp_path / "static.c3d"
    content.write(str(path))
    model = settings.load_body_model("isb_clusters", where="", study_path=tmp_path)
    markers = read(path, body_model=model, lab_axes="quarter_turn").marker.values
    assert {*SCRIPTS[:3]} <= {*markers}
    assert all(str(label).isprintable() for label in markers)
    assert main(["body-model", "isb_clusters", str(path), "--output", str(tmp_path / "page.html")]) == 0
    assert not {"x-evil", "iframe", "img", "base", "object"} & {
        tag for tag, _ in Page((tmp_path / "page.html").read_text()).tags
    }
    xr.Dataset({"x": 1}, attrs={"title": "\x1b[2J", "history": "a\u202eb"}).to_netcdf(tmp_path / "foreign.nc")
    assert main(["show", str(tmp_path / "foreign.nc")]) == 0
    assert capsys.readouterr().out.replace("\n", "").isprintable()


# --- spreadsheets ------------------------------------------------------------------------------------------------


def test_formulas_are_text_and_numbers_numbers_in_every_csv() -> None:
    rows = pd.DataFrame(
        {"condition": [*FORMULAS, *NUMBERS], "=x": -0.12, "valid": True, "kind": pd.Categorical(["=1"] * 14)}
    )
    text = csv_of(rows).decode()
    read_back = list(csv.DictReader(io.StringIO(text)))
    assert not [
        cell for row in read_back for cell in (*row, *row.values()) if guard(cell) != cell and not cell.startswith("'")
    ]
    assert [row["condition"] for row in read_back[len(FORMULAS) :]] == [*NUMBERS]
    assert {row["'=x"] for row in read_back} == {"-0.12"}
    assert pd.read_csv(io.StringIO(text))["'=x"].dtype == float
    assert [row["condition"] for row in rows_of(text)] == [*FORMULAS, *NUMBERS]
    assert all(unguarded(str(guard(cell))) == cell for cell in (*FORMULAS, *NUMBERS, *SCRIPTS, "", "'", "it's"))


def test_a_table_of_a_study_with_formulas_is_shown_and_not_run(tmp_path: Path) -> None:
    trials = {"walk": trial_cycles("sub-01", FORMULAS[1], ["left"])}
    study = made({"sub-01": trials}, {"walk": FORMULAS[1]}, group=FORMULAS[4])
    study.study.to_netcdf(tmp_path / "study.nc")
    path = export(tmp_path / "study.nc", form="csv")
    with path.open(encoding="utf-8", newline="") as handle:
        row = next(csv.DictReader(handle))
    assert (row["condition"], row["group"]) == (f"'{FORMULAS[1]}", f"'{FORMULAS[4]}")
    float(row["value"])


# --- settings ----------------------------------------------------------------------------------------------------

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
            "report: {reference: /dev/zero}",
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
def test_settings_that_mean_harm_are_plain_lines(tmp_path: Path, text: str) -> None:
    study = tmp_path / "study"
    study.mkdir()
    for table in (HOUSE / "data" / "demo").glob("*.tsv"):
        shutil.copy(table, study)
    (study / "study.yaml").write_text(text, encoding="utf-8")
    before = everything_in(tmp_path)
    problems = str(UserError("\n".join(look_at(study)[1]))).splitlines()
    assert problems
    assert all(line.isprintable() for line in problems)
    assert everything_in(tmp_path) == before
