"""Reading of parts of session files: only what is requested, and the same study as from whole datasets."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from pipeline.errors import UserError
from pipeline.results import netcdf
from pipeline.results.schema import VARIABLES
from pipeline.steps.study.step import LABELS, USED_ATTRIBUTES, study
from pipeline.workflow.open_study import open_study
from tests.support.outputs import write_outputs


def trial(level: float, count: int = 2) -> xr.Dataset:
    values = np.full((count, 2), level)
    return xr.Dataset(
        {"x": (("cycle", "joint"), values), "y": ("cycle", values[:, 0])},
        {"joint": ["knee", "hip"], "side": ("cycle", np.array(["left"] * count, dtype=str))},
        {"filled": 3, "source": "a.c3d", "role": "gait"},
    )


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Two sessions; the first begins with a rejected trial."""
    rejected = xr.Dataset(attrs={"rejected": "cut off", "role": "gait"})
    sessions = {"s1": {"lost": rejected, "a": trial(1), "b": trial(2, 0)}, "s2": {"a": trial(3), "c": trial(4, 5)}}
    for session, groups in sessions.items():
        netcdf.save_tree(tmp_path / session / "cycles.nc", groups, {"session": session})
    return {session: tmp_path / session / "cycles.nc" for session in sessions}


def test_parts_equal_the_datasets(files: dict[str, Path]) -> None:
    loaded = netcdf.load_parts(files, ("x", "y"))
    for session, path in files.items():
        groups, root = loaded[session]
        whole, about = netcdf.load_some(path, ("x", "y"))
        assert [*groups] == [*whole]
        assert root == about == {"session": session}
        for name, part in groups.items():
            xr.testing.assert_identical(netcdf.assembled(part), whole[name])
            assert {each: list(part.variables[each].values) for each in part.coordinates} == {
                each: list(whole[name][each].values) for each in whole[name].coords
            }


def test_labels_are_read_once_and_attributes_on_request(files: dict[str, Path]) -> None:
    loaded = netcdf.load_parts(files, ("x",), attributes=("rejected", "filled"), once={"joint"})
    groups = {(session, name): part for session, (parts, _) in loaded.items() for name, part in parts.items()}
    assert groups["s1", "lost"].attrs == {"rejected": "cut off"}
    assert not groups["s1", "lost"].variables
    assert {*groups["s1", "a"].variables} == {"x", "joint", "side"}
    for name in (("s1", "b"), ("s2", "a"), ("s2", "c")):
        assert {*groups[name].variables} == {"x", "side"}
        assert groups[name].attrs == {"filled": 3}
    assert groups["s2", "c"].variables["side"].values.tolist() == ["left"] * 5


def test_only_the_requested_trials_are_read(files: dict[str, Path]) -> None:
    loaded = netcdf.load_parts(files, ("x",), trials={"s1": (), "s2": {"c"}}, others=False)
    assert {session: [*groups] for session, (groups, _) in loaded.items()} == {"s1": [], "s2": ["c"]}


def test_a_trial_without_events_has_no_text_of_them(tmp_path: Path) -> None:
    """NumPy takes an empty list of labels for numbers; it must not affect other trials."""
    none = xr.Dataset({"event_time": ("event", np.empty(0))}, {"event": ("event", np.empty(0))})
    some = xr.Dataset({"event_time": ("event", [0.5])}, {"event": ("event", ["foot_strike"])})
    for first, last in ((none, some), (some, none)):
        netcdf.save_tree(tmp_path / "clean.nc", {"first": first, "last": last}, {})
        read, _ = netcdf.load_some(tmp_path / "clean.nc", ("event_time",))
        xr.testing.assert_identical(read["first"], first)
        xr.testing.assert_identical(read["last"], last)


def test_a_damaged_file_among_several_is_named(files: dict[str, Path]) -> None:
    content = files["s2"].read_bytes()
    files["s2"].write_bytes(content[: len(content) // 2])
    with pytest.raises(UserError, match=r"s2/cycles\.nc: damaged"):
        netcdf.load_parts(files, ("x",))


def test_a_study_from_parts_equals_one_from_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With draws, every further curve and a rejected trial."""
    path = write_outputs(tmp_path)
    monkeypatch.chdir(path)
    key: dict[str, Any] = json.loads(open_study(Path(), forced=True).key("study")(SimpleNamespace()))
    settings = key["settings"] | key["arguments"]
    file = Path("derived") / "sub-01" / "cycles.nc"
    loaded = netcdf.load_parts({"sub-01": file}, VARIABLES["cycles"], attributes=USED_ATTRIBUTES, once=LABELS)
    parts, _ = loaded["sub-01"]
    whole, _ = netcdf.load_tree(file)
    assert {"rejected" in group.attrs for group in whole.values()} == {True, False}
    (cycles, *tables), (as_cycles, *as_tables) = (study({"sub-01": groups}, **settings) for groups in (parts, whole))
    xr.testing.assert_equal(cycles, as_cycles)
    for table, as_table in zip(tables, as_tables, strict=True):
        pd.testing.assert_frame_equal(table, as_table)
