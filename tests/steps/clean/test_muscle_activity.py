"""Envelopes of muscles from the channels of C3D files, trial by trial and over the cycles of a study."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import ezc3d
import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

from pipeline.commands.export.long_table import long_table
from pipeline.steps.read.step import read, read_trial
from pipeline.steps.study.step import per_participant, study
from pipeline.trials.left_out import from_text
from pipeline.trials.session import join_trials, one_trial
from pipeline.variables.cycle_variables import WITH_EMG
from pipeline.variables.metrics import co_contraction_name
from pipeline.variables.schema import describe
from pipeline.variables.session_variables import WITH_EMG as EMG_OF_TRIALS
from pipeline.workflow import settings
from pipeline.workflow.strict_yaml import read_yaml
from tests.support.checkout import DEMO, copy_study
from tests.support.files.emg import add_channels, electromyogram
from tests.support.settings import settings_of
from tests.support.steps import clean, cycles
from tests.support.studies.rejected import rejection
from tests.support.studies.run_steps import run_study
from tests.support.studies.two_people import ALONE, sessions, stored, trial

Array = NDArray[np.float64]
CHOSEN, MODEL = settings.load_settings(read_yaml(DEMO / "study.yaml"), where="study.yaml", study_path=DEMO)
TIME = np.arange(2500) / 1000  # s, analog samples of comfortable_01
# 1 Hz passes 6 Hz, and a rectified 90 Hz sine sampled at 1000 Hz has its mean 2 / pi, within 1 %; ends aside
CLOSE: dict[str, Any] = {"rtol": 0.02}
INNER = slice(30, -30)  # frames


def amplitude(time: Any, *, shift_s: float = 0.0) -> Any:
    return 1 + 0.95 * np.sin(2 * np.pi * (time - shift_s))


def wave(volts: float, *, shift_s: float = 0.0) -> Array:
    """Return a channel with an envelope of 2 / pi times the amplitude."""
    return np.asarray(volts * amplitude(TIME, shift_s=shift_s) * np.sin(2 * np.pi * 90 * TIME))


def walk(tmp_path: Path, channels: Mapping[str, tuple[str, Array]], name: str = "walk") -> xr.Dataset:
    """Return a walk of the demonstration with these analog channels, as read."""
    path = tmp_path / f"{name}.c3d"
    shutil.copy(DEMO / "sub-01" / "comfortable_01.c3d", path)
    if channels:
        add_channels(path, channels)
    read = read_trial(path, body_model=MODEL, **CHOSEN["read"])
    return read.assign_attrs(role="gait", source=path.name)


def cleaned(read: xr.Dataset, **changes: Any) -> xr.Dataset:
    return clean(read, body_model=MODEL, settings=settings_of("clean", **CHOSEN["clean"] | changes))


@cache
def without_channels() -> xr.Dataset:
    return cleaned(read_trial(DEMO / "sub-01" / "comfortable_01.c3d", body_model=MODEL, **CHOSEN["read"]))


def test_envelopes_are_in_millivolts_at_the_marker_instants(tmp_path: Path) -> None:
    channels = {"LTA": ("V", wave(0.002)), "R Soleus": ("mV", wave(3, shift_s=0.3)), "Sol L": ("uV", wave(500))}
    found = cleaned(walk(tmp_path, channels))
    assert set(found.muscle.values) == {"tibialis_anterior", "soleus"}
    start_s = found.time.values[0]
    expected = {
        ("left", "tibialis_anterior"): 2 * amplitude(found.time.values - start_s),
        ("right", "soleus"): 3 * amplitude(found.time.values - start_s, shift_s=0.3),
        ("left", "soleus"): 0.5 * amplitude(found.time.values - start_s),
    }
    for (side, muscle), size in expected.items():
        envelope = found.emg_envelope.sel(side=side, muscle=muscle).values
        np.testing.assert_allclose(envelope[INNER], 2 / np.pi * size[INNER], atol=0.02 * size.max(), **CLOSE)
    assert np.isnan(found.emg_envelope.sel(side="right", muscle="tibialis_anterior")).all()
    assert "emg_left_out" not in found.attrs  # as no channel is left out


def test_a_trial_without_emg_is_cleaned_as_before(tmp_path: Path) -> None:
    found = cleaned(walk(tmp_path, {"EMG1": ("V", wave(1)), "Trigger": ("V", wave(2))}))
    assert not {"emg_envelope", "muscle", "side"} & {*found.variables}
    xr.testing.assert_equal(found, without_channels())
    with_emg = cleaned(walk(tmp_path, {"LTA": ("V", wave(1)), "LRF": ("V", wave(1))}))
    assert "emg_envelope" in with_emg
    xr.testing.assert_equal(with_emg.drop_dims(["muscle", "burst"]).drop_vars("side"), without_channels())


def test_trials_of_a_session_may_have_different_channels(tmp_path: Path) -> None:
    channels: dict[str, dict[str, tuple[str, Array]]] = {
        "two": {"LTA": ("V", wave(1)), "R VL": ("V", wave(2))},
        "none": {},
        "other": {"R Vast Lat": ("V", wave(3)), "R RF": ("V", wave(4))},
        "refused": {"Left soleus": ("V", np.random.default_rng(0).normal(size=len(TIME)))},
    }
    session = cleaned(join_trials({name: walk(tmp_path, own, name) for name, own in channels.items()}))
    stored_session = describe("clean", session)
    assert set(session.muscle.values) == {"tibialis_anterior", "vastus_lateralis", "rectus_femoris"}
    assert stored_session.emg_envelope.attrs["units"] == "mV"
    parts = {name: one_trial(stored_session, name) for name in channels}
    assert list(parts["two"].muscle.values) == ["tibialis_anterior", "vastus_lateralis"]
    assert parts["none"].sizes["muscle"] == parts["refused"].sizes["muscle"] == 0
    for name, size in (("two", 2), ("other", 3)):
        envelope = parts[name].emg_envelope.sel(side="right", muscle="vastus_lateralis")
        np.testing.assert_allclose(envelope.max(), 1.95e3 * size * 2 / np.pi, **CLOSE)
    (refused,) = from_text(parts["refused"].attrs["emg_left_out"])
    assert (refused.which, refused.code) == (["Left soleus"], "steady")


def test_the_settings_name_channels_and_leave_some_out(tmp_path: Path) -> None:
    channels = {"EMG1": ("V", wave(1)), "EMG 2": ("V", wave(2)), "LTA": ("V", wave(3)), "RTA": ("V", wave(4))}
    named = {"EMG1": "left soleus", "EMG 2": "right multifidus lumbar", "LTA": None, "EMG77": "left gracilis"}
    found = cleaned(walk(tmp_path, channels), emg_channels=named)
    assert list(found.muscle.values) == ["soleus", "multifidus_lumbar", "tibialis_anterior"]
    assert np.isnan(found.emg_envelope.sel(side="left", muscle="tibialis_anterior")).all()
    found = cleaned(walk(tmp_path, channels), emg_channels={"LTA": "right soleus"})
    known = found.emg_envelope.dropna("muscle", how="all").max("time")
    assert known.sel(side="right", muscle="soleus") > 1000
    assert np.isnan(found.emg_envelope.sel(side="left")).all(), "a label that the settings name counts no more"


def test_channels_that_cannot_be_used_are_listed_with_the_reason(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).normal(size=len(TIME))
    channels = {
        "L TA": ("N", wave(1)), "L Soleus": ("V", noise), "R Soleus": ("V", noise), "R VM": ("V", wave(9).clip(-1, 1)),
        "R RF": ("V", wave(1)), "Voltage.RRF": ("V", wave(2)), "R VL": ("V", wave(1)), "EMG9": ("g", wave(1)),
    }  # fmt: skip
    found = cleaned(walk(tmp_path, channels), emg_channels={"EMG9": "left gracilis"})
    assert list(found.muscle.values) == ["vastus_lateralis"]
    left_out = from_text(found.attrs["emg_left_out"])
    assert {each.code for each in left_out} == {"several_channels", "no_voltage", "steady", "clipped"}
    reasons = {", ".join(each.which): each.words for each in left_out}
    assert reasons == {
        "EMG9": "its unit is 'g', not V, mV or uV",
        "L Soleus, R Soleus": "no activity, the envelope hardly changes, as that of noise or mains hum",
        "R VM": reasons["R VM"],
        "R RF, Voltage.RRF": "one of 2 channels of right rectus femoris, see clean.emg_channels",
    }
    assert reasons["R VM"].startswith("clipped, ")
    slow = walk(tmp_path, channels)
    slow = slow.isel(plate_time=slice(None, None, 5))
    found = cleaned(slow)
    assert "emg_envelope" not in found
    (too_slow,) = (each for each in from_text(found.attrs["emg_left_out"]) if each.code == "rate_too_low")
    assert "R VL" in too_slow.which
    assert too_slow.words == "200 samples per second, EMG needs 400"


@pytest.fixture(scope="module")
def with_emg(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, xr.Dataset]]:
    """Return the steps of a walk of the demonstration by whether it has EMG."""
    found = {}
    for name in ("without", "with"):
        folder = copy_study(DEMO, tmp_path_factory.mktemp("emg") / name)
        rows = (folder / "trials.tsv").read_text().splitlines()
        (folder / "trials.tsv").write_text("\n".join(rows[:3]) + "\n")
        if name == "with":
            channels = {
                "L Tib Ant": ("V", wave(0.001)),
                "R Tib Ant": ("V", wave(0.003)),
                "R Soleus": ("V", wave(0.002)),
            }
            add_channels(folder / "sub-01" / "comfortable_01.c3d", channels)
        (session,) = run_study(folder, {}).values()
        found[name] = session.trials["comfortable_01"] | {"calibrate": session.calibration}
    return found


def test_cycles_have_the_envelopes_of_their_side(with_emg: dict[str, dict[str, xr.Dataset]]) -> None:
    cycles, time = with_emg["with"]["cycles"], with_emg["with"]["clean"].time.values
    assert cycles.emg_envelope.dims == ("cycle", "muscle", "phase")
    assert set(cycles.side.values) == {"left", "right"}
    for number, side in enumerate(cycles.side.values):
        one = cycles.isel(cycle=number)
        instants = float(one.start_time) + np.linspace(0, 1, 101) * float(one.end_time - one.start_time) - time[0]
        size = {"left": 1, "right": 3}[side] * amplitude(instants) * 2 / np.pi
        found = one.emg_envelope.sel(muscle="tibialis_anterior").values
        np.testing.assert_allclose(found, size, atol=0.1)  # 2 % of the peak, and the ends of the recording
        assert np.isnan(one.emg_envelope.sel(muscle="soleus")).all() == (side == "left")


def test_emg_changes_no_other_result(with_emg: dict[str, dict[str, xr.Dataset]]) -> None:
    own = [*EMG_OF_TRIALS, *WITH_EMG, "burst_side", "burst_muscle", "muscle", "side"]
    for step in ("clean", "contacts", "kinematics", "kinetics", "cycles"):
        before, after = with_emg["without"][step], with_emg["with"][step]
        extra = [name for name in own if name in after and name not in before]
        assert ("emg_envelope" in extra) == (step in ("clean", "cycles"))
        xr.testing.assert_equal(after.drop_vars(extra), before)


def with_muscles(level: float, muscles: list[str]) -> xr.Dataset:
    """Return a trial of cycles.nc with constant envelopes: ``level`` and the place of the muscle."""
    cut = trial(level, "rl")
    values = np.ones((2, len(muscles), 101)) * (level + np.arange(len(muscles)))[:, None]
    return cut.assign(emg_envelope=(("cycle", "muscle", "phase"), values)).assign_coords(muscle=muscles)


def test_sessions_of_a_study_may_have_different_muscles() -> None:
    cycles = {
        "s1": {"fast_1": with_muscles(10, ["soleus", "multifidus"])},
        "s2": {"fast_1": with_muscles(30, ["rectus_femoris", "soleus"])},
    }
    found = describe("study", study(stored(cycles), sessions=sessions(cycles), **ALONE)[0])
    assert list(found.muscle.values) == ["rectus_femoris", "soleus", "multifidus"], "from the hip, then others"
    expected = [[np.nan, 10, 11]] * 2 + [[30, 31, np.nan]] * 2
    np.testing.assert_array_equal(found.emg_envelope.isel(phase=50), expected)
    table = long_table(found.drop_dims("stance"))
    rows = table[(table.variable == "emg_envelope") & (table.phase == 50) & (table.muscle == "soleus")]
    assert list(rows.value) == [10, 10, 31, 31]
    assert set(rows.units) == {"mV"}
    onsets = (("cycle", "muscle", "activity"), np.full((4, 3, 2), 12.0), {"units": "percent"})
    table = long_table(found.drop_dims("stance").assign(emg_onset=onsets))
    assert table[table.variable == "emg_onset"].activity.value_counts().tolist() == [12, 12]
    assert table[table.variable == "emg_envelope"].activity.isna().all()


def test_a_session_without_muscles_beside_one_with_them() -> None:
    cycles = {"s1": {"fast_1": trial(10, "rl")}, "s2": {"fast_1": with_muscles(30, ["soleus"])}}
    found = study(stored(cycles), sessions=sessions(cycles), **ALONE)[0]
    np.testing.assert_array_equal(found.emg_envelope.isel(phase=0)[:, 0], [np.nan, np.nan, 30, 30])
    alone = {"s1": cycles["s1"]}
    assert "muscle" not in study(stored(alone), sessions=sessions(alone), **ALONE)[0].variables


def test_normalised_muscles_and_pairs_of_a_study(tmp_path: Path) -> None:
    pairs = ["tibialis anterior - soleus"]
    name = co_contraction_name(pairs[0])
    index = {name: ("cycle", np.array([30.0, 40]))}
    strong = with_muscles(30, ["soleus"])
    strong = strong.assign(emg_normalised=10 * strong.emg_envelope, emg_divisor=(("cycle", "muscle"), [[10.0], [10]]))
    cycles = {"s1": {"fast_1": trial(10, "rl").assign(index)}, "s2": {"fast_1": strong.assign(index)}}
    found, metrics, _ = study(stored(cycles), sessions=sessions(cycles), emg_pairs=pairs, **ALONE)
    described = describe("study", found)
    assert described.emg_normalised.attrs["units"] == "percent"
    np.testing.assert_array_equal(found.emg_divisor[:, 0], [np.nan, np.nan, 10, 10])
    np.testing.assert_array_equal(metrics[name], [30, 40, 30, 40])
    means, _ = per_participant(metrics)
    np.testing.assert_allclose(means[name], metrics.groupby(["participant", "side"], sort=False)[name].mean())
    refused = {"s1": {"fast_1": rejection("no", {}).dataset()}}
    _, empty, _ = study(stored(refused), sessions=sessions(refused), emg_pairs=pairs, **ALONE)
    assert [*empty.columns] == [*metrics.columns], "parts of a study have the same columns"


def test_real_gastrocnemius_and_tibialis_are_active_when_they_should_be(shared: Path) -> None:
    """In walking the calf works in stance and the shank's front from swing to loading (Perry 1992, chapter 4)."""
    count = 0
    folder = shared / "studies" / "plug_in_gait"
    for session in run_study(folder, {}).values():
        for steps in session.trials.values():
            cycles = steps["cycles"]
            for muscle in cycles.muscle.values if "muscle" in cycles.dims else ():
                curves = cycles.emg_envelope.sel(muscle=muscle).values
                mean = curves[np.isfinite(curves).all(axis=1)].mean(axis=0) if len(curves) else np.full(101, np.nan)
                if np.isnan(mean).any():
                    continue
                stance, rest = mean[20:50].mean(), np.r_[mean[65:], mean[:10]].mean()
                if muscle.startswith("gastrocnemius"):
                    assert stance > 2 * rest
                    count += 1
                elif muscle == "tibialis_anterior":
                    assert rest > 2 * stance
                    count += 1
    assert count >= 8


def test_noise_of_real_amplifiers_is_no_muscle(shared: Path) -> None:
    """In HC040A's walk no electrode was connected: the same amplitude and a white spectrum in all channels."""
    path = shared / "labs" / "children" / "HC040A" / "Straight" / "HC040A14.c3d"
    model = settings.load_body_model("plug_in_gait", where="", study_path=path)
    read = read_trial(path, body_model=model, **CHOSEN["read"])
    found = clean(read, body_model=model, settings=settings_of("clean", **CHOSEN["clean"]))
    assert "emg_envelope" not in found
    labels = [label for each in from_text(found.attrs["emg_left_out"]) for label in each.which]
    assert "Voltage.L Rect" in labels
    assert not any("Spare" in label for label in labels)


def contraction(volts: float) -> Array:
    """Return a channel that is active for 1 s, with a peak of 50 ms twice as large that 0.5 s do not show in full."""
    amplitude = np.where((TIME > 0.8) & (TIME < 1.8), 1.0, 0.02) + np.where((TIME > 1.2) & (TIME < 1.25), 1.0, 0)
    return np.asarray(volts * amplitude * np.sin(2 * np.pi * 90 * TIME))


def test_a_reference_trial_gives_the_highest_half_second_to_all_walks(tmp_path: Path) -> None:
    walks = {"L TA": ("V", wave(1)), "R TA": ("V", wave(1)), "R Soleus": ("V", wave(1))}
    lost = np.where(TIME % 0.45 < 0.15, 0.0, contraction(9))  # no half second of it is whole
    session = {
        "one": walk(tmp_path, walks, "one"),
        "two": walk(tmp_path, {"Left tibialis anterior": ("V", wave(2))}, "two"),
        "strong": walk(
            tmp_path,
            {"Left tibialis anterior": ("V", contraction(5)), "Right tibialis anterior": ("mV", contraction(7))},
            "strong",
        ),
        "weak": walk(tmp_path, {"L TA": ("V", contraction(3)), "L VL": ("V", contraction(3))}, "weak"),
        "lost": walk(tmp_path, {"L TA": ("V", lost), "R Soleus": ("V", lost)}, "lost"),
    }
    for name in ("strong", "weak", "lost"):
        session[name].attrs["role"] = "emg_reference"
    found = cleaned(join_trials(session))
    assert list(found.trial.values) == ["one", "two"], "they are no walks"
    assert list(found.muscle.values) == ["tibialis_anterior", "soleus"]
    reference = found.emg_reference.transpose("trial", "muscle", "side").values
    # 0.5 s with 0.05 s of twice the amplitude: 1.1 times that of the plateau
    level = 1.1 * 2 / np.pi
    np.testing.assert_allclose(reference[0], [[5e3 * level, 7 * level], [np.nan, np.nan]], rtol=0.02)
    np.testing.assert_allclose(reference[1, 0], [5e3 * level, np.nan], rtol=0.02)
    without = cleaned(join_trials({name: session[name] for name in ("one", "two")}))
    assert np.isnan(without.emg_reference).all()


def test_a_reference_trial_needs_no_markers(tmp_path: Path) -> None:
    path = tmp_path / "mvc.c3d"
    shutil.copy(DEMO / "sub-01" / "comfortable_01.c3d", path)
    add_channels(path, {"L TA": ("V", contraction(5))})
    file = ezc3d.c3d(str(path))
    file["data"]["points"][:] = np.nan
    file.write(str(path))
    row = {"trial": "mvc", "file": str(path), "sha256": "", "forces": "", "subject": "", "participant": "sub-01"}
    for role, usable in (("emg_reference", True), ("gait", False)):
        found = read([{**row, "role": role}], body_model=MODEL, settings=settings_of("read", **CHOSEN["read"]))
        assert (found.rejected.values[0] == "") == usable
    bare = ezc3d.c3d()
    bare["data"]["points"] = np.empty((4, 0, 250))
    bare["data"]["analogs"] = np.stack([contraction(5), contraction(7)])[None]
    for group, rate_hz, labels in (("POINT", 100.0, []), ("ANALOG", 1000.0, ["L TA", "L VL"])):
        bare["parameters"][group]["RATE"]["value"], bare["parameters"][group]["LABELS"]["value"] = [rate_hz], labels
    bare["parameters"]["ANALOG"]["UNITS"]["value"] = ["V", "V"]
    bare.write(str(path))
    found = read([{**row, "role": "emg_reference"}], body_model=MODEL, settings=settings_of("read", **CHOSEN["read"]))
    session = join_trials(
        {"one": walk(tmp_path, {"L TA": ("V", wave(1)), "L VL": ("V", wave(1))}, "one"), "mvc": one_trial(found, "mvc")}
    )
    reference = cleaned(session).emg_reference.sel(side="left").values
    np.testing.assert_allclose(reference, [[5e3 * 1.1 * 2 / np.pi, 7e3 * 1.1 * 2 / np.pi]], rtol=0.02)


def test_bursts_have_the_times_of_the_file(tmp_path: Path) -> None:
    muscle = np.where(((TIME > 0.4) & (TIME < 0.7)) | ((TIME > 1.5) & (TIME < 2.1)), 1, 0.1)
    signal = electromyogram(muscle, rate_hz=1000, seed=4)
    found = cleaned(walk(tmp_path, {"L TA": ("V", signal), "R TA": ("V", wave(1))}))
    start_s = float(found.time[0])
    assert set(found.burst_side.values) == {"left"}
    assert set(found.burst_muscle.values) == {"tibialis_anterior"}
    np.testing.assert_allclose(found.burst_start, start_s + np.array([0.4, 1.5]), atol=0.02)
    np.testing.assert_allclose(found.burst_end, start_s + np.array([0.7, 2.1]), atol=0.02)
    assert float(found.emg_rest.sel(side="left", muscle="tibialis_anterior")) == pytest.approx(100, rel=0.3), "mV"
    assert np.isnan(found.emg_rest.sel(side="right", muscle="tibialis_anterior")), "a sine of changing height has none"


def test_normalised_envelopes_are_those_in_millivolts_by_one_number(with_emg: dict[str, dict[str, xr.Dataset]]) -> None:
    steps = with_emg["with"]
    inputs = [steps[name] for name in ("kinetics", "kinematics", "contacts", "clean", "calibrate")]
    plain = steps["cycles"]
    pair = "tibialis anterior - soleus"
    found = cycles(*inputs, settings=settings_of("cycles", emg_normalisation="peak", emg_pairs=[pair]))
    assert {*found.data_vars} - {*plain.data_vars} == {"emg_normalised", "emg_divisor", co_contraction_name(pair)}
    for name in {*found.data_vars} & {*plain.data_vars}:
        np.testing.assert_array_equal(found[name], plain[name])
    for side in ("left", "right"):
        mine = found.isel(cycle=found.side.values == side).sel(muscle="tibialis_anterior")
        divisor = float(mine.emg_envelope.max())
        np.testing.assert_allclose(mine.emg_divisor, divisor)
        np.testing.assert_allclose(mine.emg_normalised, 100 / divisor * mine.emg_envelope)
    assert (np.isfinite(found[co_contraction_name(pair)]) == (found.side == "right")).all(), "the left has no soleus"
