"""Scripts and formulas in labels, conditions and cells: shown as text, never run."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path
from string import ascii_uppercase

import ezc3d
import numpy as np
import pandas as pd
import pytest
import xarray as xr

from pipeline.__main__ import main
from pipeline.commands.export.command import export_as
from pipeline.steps.read.step import read_trial as read
from pipeline.tables.csv_files import csv_of, guard, unguard
from pipeline.workflow import settings
from tests.support.checkout import HOUSE
from tests.support.files.hostile_texts import FORMULAS, SCRIPTS
from tests.support.studies.for_report import Page, made, trial_cycles
from tests.support.studies.typed_rows import rows_of

NUMBERS = ("-0.12", "+3", "1e-5", "-1e-5", "-inf", "0.5")


def report_of(texts: tuple[str, ...]) -> list[Page]:
    """Return the pages of the report of a study with these texts in every place for text."""
    trials = {text: trial_cycles("sub-01", text, ["left"]) for text in texts[:15]}
    trials |= {text: xr.Dataset(attrs={"rejected": text}) for text in texts[15:]}
    study = made({"sub-01": trials}, {text: text for text in texts}, **{text: text for text in texts})
    study.study.attrs |= dict.fromkeys(("history", "pipeline_version"), texts[0])
    study.study.attrs |= {
        name: json.dumps(dict(zip(texts, texts, strict=True))) for name in ("settings", "source_sha256")
    }
    return [Page(html) for html in study.pages(title=texts[1]).values()]


def test_no_script_of_a_study_runs_in_its_report() -> None:
    """Elements, names of attributes and scripts are those of a report with harmless texts."""
    words = tuple(f"text {ascii_uppercase[i // 26]}{ascii_uppercase[i % 26]}" for i in range(len(SCRIPTS)))

    def structure(page: Page) -> Counter[tuple[str, ...]]:
        return Counter((tag, *sorted(attributes)) for tag, attributes in page.tags)

    for hostile, harmless in zip(report_of(SCRIPTS), report_of(words), strict=True):
        assert structure(hostile) == structure(harmless)
        assert hostile.programs() == harmless.programs()
        for name in ("href", "src", "action", "http-equiv"):
            assert not [value for _, a in hostile.tags if "evil" in (value := a.get(name) or "") or "alert" in value]
        for text in SCRIPTS:
            assert " ".join(text.split()) in hostile.words


def test_labels_of_a_file_are_shown_as_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Marker labels of a real file: read, drawn by ``body-model``, listed by ``show``."""
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


# --- spreadsheets -------------------------------------------------------------------------------------------------


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
    assert all(unguard(str(guard(cell))) == cell for cell in (*FORMULAS, *NUMBERS, *SCRIPTS, "", "'", "it's"))


def test_a_table_of_a_study_with_formulas_is_shown_and_not_run(tmp_path: Path) -> None:
    trials = {"walk": trial_cycles("sub-01", FORMULAS[1], ["left"])}
    study = made({"sub-01": trials}, {"walk": FORMULAS[1]}, group=FORMULAS[4])
    study.study.to_netcdf(tmp_path / "study.nc")
    export_as(tmp_path / "study.nc", form="csv")
    path = tmp_path / "study.csv"
    with path.open(encoding="utf-8", newline="") as handle:
        row = next(csv.DictReader(handle))
    assert (row["condition"], row["group"]) == (f"'{FORMULAS[1]}", f"'{FORMULAS[4]}")
    float(row["value"])
