"""``gaitlab show``: overview of an output file, numbers of a variable, plain messages for mistakes."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from pipeline.__main__ import main
from pipeline.commands.show import CURVE_WIDTH, LEVELS, show
from pipeline.results import netcdf
from pipeline.trials.session import join_trials
from tests.support.studies.rejected import rejection

TIME = np.arange(240) / 100


def walk(*, shift: float = 0.0) -> xr.Dataset:
    """Return powers of three closed forms: a ramp, a constant and a peak; a quarter of one side is missing."""
    peak = np.exp(-(((TIME - 1.8) / 0.1) ** 2))
    power = np.stack([np.stack([TIME, np.full(240, 5.0), peak], axis=1)] * 2, axis=1) + shift
    power[:60, 1] = np.nan
    power_is = {"units": "W", "long_name": "joint power, generation positive"}
    fill_is = {"flag_values": np.array([0, 1], np.int8), "flag_meanings": "none spline", "long_name": "what was done"}
    return xr.Dataset(
        {
            "joint_power": (("time", "side", "joint"), power, power_is),
            "fill": (("time", "side"), np.broadcast_to((TIME >= 1.8)[:, None], (240, 2)).astype(np.int8), fill_is),
        },
        {
            "time": ("time", TIME, {"units": "s"}),
            "side": ["left", "right"],
            "joint": ["ankle", "knee", "hip"],
            "event_source": ("event", ["plate", "c3d", "plate"]),
        },
    )


@pytest.fixture
def session(tmp_path: Path) -> Path:
    gone = rejection("gone.c3d: no such file", {}).dataset()
    trials = join_trials({"walk_1": walk(), "walk_2": walk(shift=-3.0), "gone": gone})
    for name in ("joint_power", "fill", "time"):
        trials[name].attrs = walk()[name].attrs
    netcdf.save(tmp_path / "kinetics.nc", trials.assign_attrs(title="Joint powers"))
    return tmp_path / "kinetics.nc"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Return four cycles: each condition and side has its own number."""
    data = xr.Dataset(
        {"cadence": ("cycle", [100.0, 110, 120, 130, 140], {"units": "min-1"})},
        {"condition": ("cycle", [*["slow"] * 3, *["fast"] * 2]), "side": ("cycle", ["left", "left", *["right"] * 3])},
    )
    netcdf.save(tmp_path / "study.nc", data)
    return tmp_path / "study.nc"


def table(text: str) -> list[list[str]]:
    """Return the cells of the last table of a text; a curve keeps its blanks."""
    return [line.split(maxsplit=8) for line in text.rsplit("\n\n", maxsplit=1)[-1].splitlines()]


def looked(path: Path, *, trial: str | None = None, variable: str | None = None) -> str:
    return show(path, trial=trial, variable=variable, width=100, levels=LEVELS)


# --- the overview -----------------------------------------------------------------------------------------------------


def test_overview_names_trials_labels_and_variables(session: Path) -> None:
    text = looked(session)
    assert "Joint powers" in text
    assert "rejected: gone.c3d: no such file" in text
    assert "ankle knee hip" in text
    assert "0 to 2.39 s" in text
    (line,) = [line for line in text.splitlines() if line.startswith("joint_power ")]
    # over both walks: from the foot of the peak less 3 to the constant; 60 of 240 frames of one of two sides
    assert line.split()[1:] == ["W", "-3", "to", "5", "12.5", "%"]
    assert "(time, side, joint) joint power, generation positive" in text
    assert max(map(len, text.splitlines())) <= 100


def test_every_file_of_a_study_is_shown(small_study: Path) -> None:
    files = [*(small_study / "data" / "demo" / "derived").rglob("*.nc")]
    assert {"contacts.nc", "cycles.nc", "study.nc"} <= {file.name for file in files}
    assert [file.name for file in files if "dimension" not in looked(file)] == []


def test_one_trial_is_shown_alone(session: Path) -> None:
    text = looked(session, trial="walk_2")
    assert "walk_1" not in text
    assert "-3 to 2 " in text


# --- the numbers of a variable ----------------------------------------------------------------------------------------


def test_numbers_are_those_of_each_side_and_joint(session: Path) -> None:
    rows = table(looked(session, trial="walk_1", variable="joint_power"))
    assert rows[0][:4] == ["trial", "side", "joint", "mean"]
    assert len(rows) == 1 + 2 * 3
    ramp = rows[1]
    assert ramp[:3] == ["walk_1", "left", "ankle"]
    assert [float(cell) for cell in ramp[3:6]] == [1.195, 0, 2.39]  # mean, least and largest of 0, 0.01 ... 2.39
    assert rows[5][:8] == ["walk_1", "right", "knee", "5", "5", "5", "25", "%"]


def test_curves_follow_the_numbers(session: Path) -> None:
    text = looked(session, trial="walk_1", variable="joint_power").splitlines()
    ramp, flat, peak = (line[-CURVE_WIDTH:] for line in text[-6:-3])
    assert list(ramp) == sorted(ramp)
    assert (ramp[0], ramp[-1]) == (LEVELS[0], LEVELS[-1])
    assert len(set(flat)) == 1
    # ten frames a character: the peak at 1.8 s is between characters 17 and 18
    assert set(np.flatnonzero(np.array(list(peak)) == LEVELS[-1])) <= {17, 18}
    assert peak.count(LEVELS[0]) > 15
    hidden = text[-3][-CURVE_WIDTH:]
    assert hidden[:6] == " " * 6
    assert hidden[6:].strip() == hidden[6:]


def test_all_walks_are_shown_in_rows(session: Path) -> None:
    rows = table(looked(session, variable="joint_power"))
    assert [row[0] for row in rows[1:]] == ["walk_1"] * 6 + ["walk_2"] * 6


def test_cycles_have_a_row_per_condition_and_side(study: Path) -> None:
    rows = table(looked(study, variable="cadence"))
    assert rows[0] == ["condition", "side", "mean", "min", "max", "missing"]
    means = {(row[0], row[1]): float(row[2]) for row in rows[1:]}
    assert means == {("slow", "left"): 105, ("slow", "right"): 120, ("fast", "right"): 135}


def test_study_is_shown_by_its_directory(study: Path) -> None:
    (study.parent / "derived").mkdir()
    inside = study.rename(study.parent / "derived" / "study.nc")
    expected = looked(inside, variable="cadence")
    assert looked(study.parent, variable="cadence") == looked(inside.parent, variable="cadence") == expected


def test_a_metric_is_shown_by_a_name_that_the_field_uses(study: Path) -> None:
    names = ("peak_knee_abductor_moment", "peak_knee_abductor_moment_first")
    data = netcdf.load(study).assign({name: ("cycle", np.full(5, 0.5), {"units": "N m kg-1"}) for name in names})
    netcdf.save(study, data)
    text = looked(study, variable="KAM")
    assert "\n\npeak_knee_abductor_moment [N m kg-1]" in text
    assert "Also found by 'KAM': peak_knee_abductor_moment_first\n" in text
    assert "Also found" not in looked(study, variable="KAM1")
    assert "\n\npeak_knee_abductor_moment_first" in looked(study, variable="first peak knee adduction moment")


def test_flags_show_their_shares_and_text_its_counts(session: Path) -> None:
    rows = table(looked(session, trial="walk_1", variable="fill"))
    assert rows[0] == ["trial", "side", "none", "spline"]
    assert rows[1] == ["walk_1", "left", "75", "%", "25", "%"]
    assert "c3d (1), plate (2)" in looked(session, variable="event_source")


# --- the command ------------------------------------------------------------------------------------------------------


def test_terminal_without_the_characters_gets_no_curve(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii", write_through=True))
    assert main(["show", str(session), "--variable", "joint_power"]) == 0
    assert b"along time" not in written.getvalue()
    assert b"1.195" in written.getvalue()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["kinetics.nc", "--trial", "walk1"], "no trial 'walk1'; did you mean 'walk_1'?"),
        (["kinetics.nc", "--trial", "zzz"], "no trial 'zzz'; expected one of walk_1, walk_2, gone"),
        (["kinetics.nc", "--variable", "joint_pover"], "no variable 'joint_pover'; did you mean 'joint_power'?"),
        (["kinetics.nc", "--trial", "gone", "--variable", "fill"], "gone was rejected: gone.c3d: no such file"),
        (["study.nc", "--trial", "walk_1"], "has no trials; leave --trial out"),
        (["absent.nc"], "no such file"),
        ([".."], "is a folder; give a result"),
        (["table.csv"], "not a NetCDF file"),
        (["cut.nc"], "damaged"),
    ],
)
def test_a_mistake_gives_one_line(
    arguments: list[str],
    expected: str,
    session: Path,
    study: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(session.parent)
    Path("table.csv").write_text("a,b\n1,2\n")
    Path("cut.nc").write_bytes(session.read_bytes()[:3000])
    assert study.is_file()
    assert main(["show", *arguments]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1
    assert expected in printed.err
