"""The time by which plates are ahead of the markers, from the feet's rest, the force's line and the pelvis."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from pipeline.steps.contacts.time_offset import WITNESSES, acceleration_ahead_s, later_plates, with_time_offset
from pipeline.variables.stance_verdicts import Verdict, doubt_columns
from tests.support.plates.stances import found
from tests.support.settings import settings_of
from tests.support.steps import clean
from tests.support.walks.moving_on_plates import BODY_MODEL, recorded


@pytest.mark.parametrize("ahead_s", [-0.03, 0.0, 0.02])
def test_the_force_is_found_ahead_of_the_acceleration(ahead_s: float) -> None:
    """In single support the centre of mass rises and falls as a wave of 2 Hz does, with noise of a tenth of it."""
    time = np.arange(300) / 100
    force = 700 + 300 * np.cos(4 * np.pi * (time + ahead_s))
    upward = 4 * np.cos(4 * np.pi * time) + 0.4 * np.random.default_rng(1).normal(size=time.size)
    assert acceleration_ahead_s(time, force, upward, 1.0, 1.4) == pytest.approx(ahead_s, abs=0.006)


def test_a_force_unlike_the_acceleration_tells_nothing() -> None:
    time = np.arange(300) / 100
    noise = np.random.default_rng(2).normal(size=time.size)
    assert np.isnan(acceleration_ahead_s(time, 700 + 100 * np.cos(4 * np.pi * time), noise, 1.0, 1.4))


@pytest.mark.parametrize("shift_s", [-0.02, 0.02])
def test_a_shift_of_the_plates_is_the_change_of_the_offset(shift_s: float) -> None:
    spoke = 0
    for way, seed in (("straight", 1012), ("straight", 1023), ("straight", 1034), ("curved", 1014), ("curved", 1025)):
        raw = recorded(way, seed).trial
        late = raw.copy(deep=True)
        samples = round(shift_s / float(raw.plate_time[1] - raw.plate_time[0]))
        for name in ("plate_force", "plate_moment"):
            late[name].values[:] = np.roll(raw[name].values, -samples, axis=0)
        before, after = (
            found(clean(each, body_model=BODY_MODEL, settings=settings_of("clean"))) for each in (raw, late)
        )
        assert "plates_not_in_time" not in " ".join(before.doubt_code.values.tolist())
        offsets = [each.attrs.get("time_offset", np.nan) for each in (before, after)]
        if np.isfinite(offsets).all():
            spoke += 1
            # the filter of 10 Hz moves a foot's rest and the plates' signals alike, but an end by a sample or two
            assert offsets[1] - offsets[0] == pytest.approx(shift_s, abs=0.005)
    assert spoke >= 2


@pytest.mark.parametrize(
    ("leads_ms", "doubted"),
    [
        ((20, 22, 18), True),
        ((-20, -22, -18), True),
        ((14, 15, 13), False),
        ((60, -5, 5), False),
        ((40, 30, np.nan), False),
    ],
)
def test_offsets_beyond_their_error_are_doubted(leads_ms: tuple[float, float, float], doubted: bool) -> None:
    """Three witnesses of 14 ms each have an error of 8; a belt or a slow walk has two witnesses, which tell nothing."""
    session = xr.Dataset(
        {name: ("trial", [lead / 1000, np.nan]) for name, lead in zip(WITNESSES, leads_ms, strict=True)},
        {
            name: ("contact", texts)
            for name, texts in doubt_columns([[], [Verdict.of("markers_frozen", first=1.0, last=2.0)]]).items()
        },
    )
    judged = with_time_offset(session, doubted_s=0.015)
    assert judged.doubt_code.values.tolist() == (
        ["plates_not_in_time", "markers_frozen plates_not_in_time"] if doubted else ["", "markers_frozen"]
    )
    assert np.isfinite(judged.time_offset.values).all() == np.isfinite(leads_ms).all()


@pytest.mark.parametrize("seconds", [-0.02, 0.013])
def test_what_plates_measured_is_taken_later(seconds: float) -> None:
    """Forces at the frames and the instants of the plates' own samples alike, in each trial by itself."""
    time = np.concatenate([np.arange(50) / 100, 3 + np.arange(40) / 100])
    force, moment = (np.stack([a + b * time] * 3, axis=-1)[:, None] for a, b in ((100, 700), (-5, 30)))
    vector = ("sample", "plate", "axis")
    session = xr.Dataset(
        {"time": ("sample", time), "plate_force": (vector, force), "plate_moment": (vector, moment)},
        {
            "trial": ["first", "second"],
            "sample_trial": ("sample", [0] * 50 + [1] * 40),
            "plate_time": ("plate_sample", time),
        },
    )
    later = later_plates(session, seconds)
    np.testing.assert_allclose(later.plate_time, time + seconds)
    inside = np.r_[3:47, 53:87]  # the others go on beyond an end
    for name, rate in (("plate_force", 700), ("plate_moment", 30)):
        changed = (later[name] - session[name]).values[inside]
        np.testing.assert_allclose(changed, -rate * seconds, rtol=1e-9)


@pytest.mark.parametrize("shift_s", [-0.03, 0.03])
def test_a_setting_takes_the_offset_of_a_session_back(shift_s: float) -> None:
    """Then forces and contacts are where they were without it, within what the witnesses knew before."""
    raw = recorded("straight", 1012).trial
    late = raw.copy(deep=True)
    samples = round(shift_s / float(raw.plate_time[1] - raw.plate_time[0]))
    for name in ("plate_force", "plate_moment"):
        late[name].values[:] = np.roll(raw[name].values, -samples, axis=0)
    cleaned = [clean(each, body_model=BODY_MODEL, settings=settings_of("clean")) for each in (raw, late)]
    before = found(cleaned[0])
    doubted, corrected = (found(cleaned[1], time_offset=what, max_time_offset_s=0.06) for what in ("doubt", "correct"))
    assert "plates_not_in_time" in " ".join(doubted.doubt_code.values.tolist())
    assert "plates_not_in_time" not in " ".join(corrected.doubt_code.values.tolist())
    assert (before.time_offset_corrected, doubted.time_offset_corrected) == (0, 0)
    assert corrected.time_offset_corrected == doubted.time_offset
    assert doubted.time_offset == pytest.approx(before.time_offset + shift_s, abs=0.01)
    on_plate = [each.isel(contact=each.plates.values != "") for each in (before, corrected)]
    starts = [each.contact_start.values for each in on_plate]
    np.testing.assert_allclose(starts[1] - starts[0], before.time_offset, atol=0.01)
    away = [np.nanmean(np.abs(each.ground_force - before.ground_force)) for each in (doubted, corrected)]
    assert away[1] < away[0] / 4  # what is left is the 4 ms by which the witnesses of this walk err, of 30
