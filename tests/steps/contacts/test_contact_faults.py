"""Stances on plates with wrong parameters, and unusual walks that must not be rejected.

``fault_campaign.py`` counts how often each fault is found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from pipeline.body.body_model import BodyModel
from pipeline.steps.read.step import read_trial as read
from pipeline.trials.session import join_trials, separate
from tests.support.faults.plates import Stance, on_plates
from tests.support.plates.stances import STOPS_AT_ONCE, found, stance, under
from tests.support.settings import settings_of
from tests.support.steps import clean, contacts
from tests.support.walks import as_clean
from tests.support.walks.as_clean import FOOT_M, SPEED_M_S, Rectangle, Walk, as_stored, cleaned, walk
from tests.support.walks.on_plates import BODY_MODEL, jumping, late, mirrored, negative, raw_walk, reread, shifted
from tests.support.walks.real import CHOSEN, label
from tests.support.walks.running import run, run_cleaned

ASIDE = np.array([0.0, 0.0, 0.06])


@pytest.fixture(scope="module")
def known() -> Walk:
    return walk(strides=3)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> xr.Dataset:
    raw = raw_walk(tmp_path_factory.mktemp("walk"), 5)
    return clean(raw, body_model=BODY_MODEL, settings=settings_of("clean"))


FAULTS: dict[str, Callable[[xr.Dataset, int], xr.Dataset]] = {
    "turned by 180 degrees": lambda trial, plate: reread(trial, plate, [2, 3, 0, 1]),
    "turned by 90 degrees": lambda trial, plate: reread(trial, plate, [1, 2, 3, 0]),
    "mirrored": lambda trial, plate: mirrored(trial, plate, 0),
    "pushes down": lambda trial, plate: reread(trial, plate, [1, 0, 3, 2]),
    "pushes down by": negative,
    "shifted": lambda trial, plate: shifted(trial, plate, ASIDE),
}


# --- reasons ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("plate", [0, 2])
def test_only_the_stance_on_the_faulty_plate_has_the_reason(
    known: Walk, plated: xr.Dataset, fault: str, plate: int
) -> None:
    trial = found(FAULTS[fault](plated, plate))
    rows = [stance(trial, step) for step in known.seen()]
    assert [row["valid"] for row in rows] == [number != plate for number in range(len(rows))]
    assert rows[plate]["plates"] == str(plate + 1)
    assert fault in rows[plate]["reason"]
    assert rows[plate]["reason"].startswith(f"plate {plate + 1} ")


def test_a_misread_plate_is_misread_in_all_trials_of_its_session(plated: xr.Dataset) -> None:
    """In the second trial the left foot is not seen, so that no step of it can be judged."""
    turned = as_stored(FAULTS["turned by 180 degrees"](plated, 0))
    unseen = turned.assign(marker_position=turned.marker_position.where(turned.marker != "toe_left"))
    alone = {str(plates): str(reason) for _, plates, reason, *_ in on_plates(unseen)}
    assert "seems" not in alone["1"]
    session = separate(contacts(join_trials({"seen": turned, "unseen": unseen}), settings=settings_of("contacts")))
    for trial in session.values():
        reasons = [
            str(reason)
            for plates, reason in zip(trial.plates.values, trial.reason.values, strict=True)
            if plates == "1"
        ]
        assert ["turned by 180 degrees" in reason for reason in reasons] == [True]


@pytest.mark.parametrize("fault", FAULTS)
def test_assigned_plates_are_checked_for_their_placement(known: Walk, plated: xr.Dataset, fault: str) -> None:
    step = known.seen()[0]
    row = stance(found(FAULTS[fault](plated, 0), plates_right="1 3 5"), step)
    assert (row["plates"], row["valid"]) == ("1", False)
    assert fault in row["reason"]


def test_a_misplaced_plate_that_is_left_out_has_no_effect(known: Walk, plated: xr.Dataset) -> None:
    trial = found(FAULTS["shifted"](plated, 0), plates_right="none")
    assert [stance(trial, step)["reason_code"] for step in known.seen() if step.side == "right"] == [
        "plate_given_to_other_foot"
    ] * 3


def test_the_check_of_placement_can_be_ignored(known: Walk, plated: xr.Dataset) -> None:
    """Except for a plate that pulls at the foot."""
    for fault, code in (("shifted", ""), ("pushes down", "plate_pushes_down")):
        row = stance(found(FAULTS[fault](plated, 0), misread_plates="ignore"), known.seen()[0])
        assert (row["reason_code"], row["valid"]) == (code, not code)


def test_time_comes_before_place(known: Walk) -> None:
    """On a belt a late plate has its centre of pressure away from the foot, but its place is right."""
    tread = walk(strides=3, belt_m_s=SPEED_M_S)
    trial = found(late(cleaned(tread, [Rectangle(-1, 1, 0, 0.5), Rectangle(-1, 1, -0.5, 0)]), 0, 0.1))
    for step in tread.seen():
        row = stance(trial, step)
        assert row["reason_code"] == ("plate_out_of_time" if step.side == "right" else "")
        assert row["valid"] == (step.side == "left")


# --- no faults -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("back_m", "front_m"), [(0.1, -0.08), (0.1, -0.04), (-0.07, 0.1)])
@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_foot_partly_off_its_plate_does_not_shift_it(known: Walk, back_m: float, front_m: float, which: int) -> None:
    plates = [under(step) for step in known.seen()]
    plates[which] = under(known.seen()[which], back_m=back_m, front_m=front_m)
    trial = found(cleaned(known, plates))
    codes = [stance(trial, step)["reason_code"] for step in known.seen()]
    assert codes == ["foot_partly_off_plate" if number == which else "" for number in range(len(codes))]


@pytest.mark.parametrize("joint_m", [0.06, 0.1, 0.15])
def test_a_foot_across_two_plates_shifts_neither(known: Walk, joint_m: float) -> None:
    first, *others = known.seen()
    halves = [under(first, front_m=joint_m - FOOT_M), under(first, back_m=-joint_m)]
    trial = found(cleaned(known, [*halves, *(under(step) for step in others)]))
    assert [stance(trial, step)["reason"] for step in known.seen()] == [""] * len(known.seen())


def backwards(trial: xr.Dataset) -> xr.Dataset:
    """Return a trial with time reversed, which equals walking backwards."""
    turned = trial.isel(time=slice(None, None, -1), plate_time=slice(None, None, -1))
    times = {name: float(trial[name][-1] + trial[name][0]) - turned[name] for name in ("time", "plate_time")}
    travel = {"none": "none", "forwards": "backwards"}[trial.attrs["direction_of_travel"]]
    return turned.assign_coords(times).assign_attrs(direction_of_travel=travel)


def test_walking_backwards_is_no_fault(generated: xr.Dataset, plated: xr.Dataset) -> None:
    """Some plates have two feet, because motion alone gives no events; these do not count."""
    assert {row.code for row in on_plates(backwards(generated))} <= {"", "two_feet_on_plate"}
    back = backwards(plated)
    assert [row.reason for row in on_plates(back, **STOPS_AT_ONCE)] == [""] * plated.sizes["plate"]
    turned = on_plates(reread(back, 1, [2, 3, 0, 1]), **STOPS_AT_ONCE)
    assert "2" not in {row.plates for row in turned if not row.reason}
    assert len([row for row in turned if not row.reason]) == plated.sizes["plate"] - 1


@pytest.mark.parametrize("way", [lambda trial: trial, backwards], ids=["forwards", "backwards"])
def test_belts(way: Callable[[xr.Dataset], xr.Dataset]) -> None:
    """Forwards and backwards on correct belts and on a wrong one."""
    tread = walk(strides=3, belt_m_s=SPEED_M_S)
    trial = way(cleaned(tread, [Rectangle(-1, 1, 0, 0.5), Rectangle(-1, 1, -0.5, 0)]))
    assert [row.reason for row in on_plates(trial)] == [""] * len(on_plates(trial))
    turned = on_plates(reread(trial, 0, [2, 3, 0, 1]))
    assert {row.plates for row in turned if "turned by 180 degrees" in row.reason} == {"1"}
    assert {row.plates for row in turned if not row.reason} == {"2"}


@pytest.mark.parametrize("sole_m", [(0.03, 0.17), (0.13, 0.19)], ids=["heel", "forefoot"])
def test_runners_on_heels_and_on_toes(monkeypatch: pytest.MonkeyPatch, sole_m: tuple[float, float]) -> None:
    monkeypatch.setattr(as_clean, "SOLE_M", sole_m)
    upright = run()
    middle_m = sum(sole_m) / 2  # below the body in the middle of the stance
    runner = replace(upright, steps=tuple(step._replace(x=step.x - middle_m) for step in upright.steps))
    trial = run_cleaned(runner, [under(step) for step in runner.seen()])
    rows = on_plates(trial, **STOPS_AT_ONCE)
    assert [(row.reason, row.doubt) for row in rows] == [("", "")] * len(runner.seen())


def test_little_braking_and_sideways_force(monkeypatch: pytest.MonkeyPatch, known: Walk) -> None:
    """A quarter of the usual one turns no plate; none at all is that of dead channels, as the body passes the foot."""
    monkeypatch.setattr(as_clean, "INWARDS", 0.0)
    for drive, codes in ((0.05, {""}), (0.0, {"plate_forces_wrong"})):
        monkeypatch.setattr(as_clean, "DRIVE", drive)
        trial = cleaned(known, [under(step) for step in known.seen()])
        assert {row.code for row in on_plates(trial)} == codes


@pytest.mark.filterwarnings("error")
def test_few_plates_and_missing_samples(known: Walk, plated: xr.Dataset) -> None:
    assert on_plates(cleaned(known)) == []
    assert [row.reason for row in on_plates(plated.isel(plate=[1]))] == [""]
    holed = plated.copy(deep=True)
    for name in ("plate_force", "plate_moment", "vertical_force"):
        holed[name].values[:, 1] = np.nan
        holed[name].values[:50, 2] = np.nan
    codes = [stance(found(holed), step)["reason_code"] for step in known.seen()]
    assert codes == ["no_plate" if number == 1 else "" for number in range(len(codes))]


def test_a_jump_is_reported_as_drift(tmp_path: Path) -> None:
    raw = jumping(raw_walk(tmp_path, 7), 1, 60)
    codes = [row.code for row in on_plates(clean(raw, body_model=BODY_MODEL, settings=settings_of("clean")))]
    assert codes == ["", "plate_drifts", ""]


# --- idle plates -----------------------------------------------------------------------------------------------


def after_cleaning(raw: xr.Dataset, model: BodyModel = BODY_MODEL) -> list[Stance]:
    return on_plates(clean(raw, body_model=model, settings=settings_of("clean")))


def test_an_idle_plate_takes_no_part_in_contacts(shared: Path) -> None:
    """Plate 1 reads 44 to 48 N though nobody steps on it; the right foot is whole on plate 2, of which Mz2 is dead."""
    file, model = shared / "labs/plate_channels/IS070607/analogfpscale03.c3d", label("ASI", "HEE", "{side}TOE")
    assert after_cleaning(read(file, body_model=model, **CHOSEN["read"]), model) == [
        Stance(
            "right", "2", "plate 2: channel Mz2 stays within 79 while the vertical force moves by 600 N", "plate_faulty"
        )
    ]


@pytest.mark.parametrize("level", [46.0, 300.0, -200.0])
@pytest.mark.parametrize("drift", [0.0, 200.0, -200.0])
def test_an_idle_plate_beside_the_path_may_read_anything(tmp_path: Path, level: float, drift: float) -> None:
    """A fourth plate, 65 cm beside the first, which feet pass but do not meet."""
    walked = raw_walk(tmp_path, 5)
    raw = walked.isel(plate=[0, 1, 2, 0]).assign_coords(plate=[1, 2, 3, 4]).copy(deep=True)
    raw.plate_corner.values[3] += [0, 0, 0.65]
    force = np.random.default_rng(1).normal(0, 1, (raw.sizes["plate_time"], 3))
    force[:, 1] += level + drift * np.linspace(0, 1, len(force))
    raw.plate_force.values[:, 3] = force
    raw.plate_moment.values[:, 3] = np.cross(raw.plate_corner.values[3].mean(axis=0), force)
    stances = after_cleaning(raw)
    assert stances == after_cleaning(walked)
    assert [each.reason for each in stances] == ["", "", ""]
