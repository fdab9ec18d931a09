"""Tables of results with the types that their columns declare."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pipeline.results.typed_tables import read_results, results_of_people

METRICS = """\
cycle,part,participant,session,side,start_time,kinetics_valid,doubt,site,mass_kg,cadence,cadence_u,doubted_numbers
0,cycle,001,001,left,0.5,True,,007,70.5,101.25,0.1,
1,cycle,001,001,right,1,False,'=a doubt,007,70.5,,,
,stance,003,003,left,2.5,True,,1e5,,99,0.2,"{""cadence"": 1}"
"""
SYMMETRY = "participant,metric,left,right,difference,symmetry_index\n001,cadence,100,101,1,0.995\n001,step_width,,,,\n"


def test_numbers_are_numbers_flags_flags_and_words_words() -> None:
    table = read_results("metrics", METRICS)
    assert table["participant"].tolist() == ["001", "001", "003"]
    assert table["site"].tolist() == ["007", "007", "1e5"]  # a column of participants.tsv
    assert table["kinetics_valid"].tolist() == [True, False, True]
    assert table["kinetics_valid"].dtype == bool
    assert table["start_time"].tolist() == [0.5, 1.0, 2.5]
    np.testing.assert_array_equal(table["cadence"], [101.25, np.nan, 99.0])
    assert table["doubt"].tolist() == ["", "=a doubt", ""]
    assert table["doubted_numbers"].tolist()[-1] == '{"cadence": 1}'
    assert "cadence_u" not in table
    symmetry = read_results("symmetry", SYMMETRY)
    assert {symmetry[name].dtype for name in ("left", "right", "difference", "symmetry_index")} == {np.dtype(float)}


def test_a_table_without_rows_has_its_columns_and_their_types() -> None:
    table = read_results("metrics", METRICS.partition("\n")[0])
    assert len(table) == 0
    assert table["cadence"].dtype == float
    assert table["kinetics_valid"].dtype == bool


def test_each_person_has_the_own_rows_and_may_have_none(tmp_path: Path) -> None:
    """More people than are read at a time, the first, one in the middle and the last without rows."""
    people = [f"{number:03}" for number in range(120)]
    header, line, *_ = METRICS.splitlines()
    lines = [line.replace("001,001", f"{name},{name}") for name in people if name not in ("000", "050", "119")]
    file = tmp_path / "metrics.csv"
    file.write_text("\n".join([header, *(text for one in lines for text in (one, one))]))
    tables = [*results_of_people("metrics", file, people)]
    assert [len(table) for table in tables] == [0, *[2] * 49, 0, *[2] * 68, 0]
    assert [table["participant"].unique().tolist() for table in tables if len(table)] == [
        [name] for name in people if name not in ("000", "050", "119")
    ]
    assert all({*table} == {*tables[1]} and (table.dtypes == tables[1].dtypes).all() for table in tables)
