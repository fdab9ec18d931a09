"""Trials that test plates, as ``check`` and ``init`` see them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipeline.commands.check.command import check
from pipeline.commands.init.command import WRITTEN, initialise
from pipeline.commands.shared.trial_roles import guess_role
from pipeline.plates.loaded_pole import PlateTest
from pipeline.tables import tsv
from tests.support.plates.pressed_pole import pressed_pole
from tests.support.studies.check_findings import about
from tests.support.studies.contents import moving

POLE = PlateTest(18.0, 1.5, [18.0, 0.0, 0.0], [25.0, 24.0], 300.0, 5.0, 4)


def listed(study: Path, name: str) -> str:
    """Add a trial of role equipment and return its file."""
    with (study / "trials.tsv").open("a") as table:
        table.write(f"sub-01\t{name}\tsub-01/{name}.c3d\tequipment\tn/a\n")
    return f"sub-01/{name}.c3d"


def test_a_sound_plate_is_no_finding(demo: Path) -> None:
    pressed_pole(4).write(demo / listed(demo, "pole"))
    assert check(demo) == []


@pytest.mark.parametrize(
    ("shift_m", "tilt_deg", "severity", "words"),
    [
        (0.007, 25.0, "warning", ": look; the force passes the tip"),
        (0.02, 25.0, "error", ": bad; the force passes the tip on average by ("),
        (0.0, 5.0, "warning", "is not tested, the pole was tilted too little"),
    ],
)
def test_a_doubtful_plate_is_found(demo: Path, shift_m: float, tilt_deg: float, severity: str, words: str) -> None:
    trial = pressed_pole(5, tilt_deg=tilt_deg)
    name = listed(demo, "pole")
    trial.with_corners(trial.plates[trial.plate].corners + np.array([shift_m, 0, 0])).write(demo / name)
    finding = about(check(demo), name)
    assert (finding.severity, finding.code) == (severity, "plate_test_failed")
    assert finding.what.startswith(f"plate {trial.plate + 1}: ")
    assert words in finding.what


def test_a_walk_tests_no_plate(demo: Path) -> None:
    with (demo / "trials.tsv").open("a") as table:
        table.write("sub-01\tpole\tsub-01/fast_01.c3d\tequipment\tn/a\n")
    assert "markers of a person are seen" in about(check(demo), "sub-01/fast_01.c3d").what


def test_init_proposes_the_role_for_a_pole_on_a_plate_alone(demo: Path) -> None:
    for name in WRITTEN:
        (demo / name).unlink(missing_ok=True)
    pressed_pole(4).write(demo / "sub-01" / "poker.c3d")
    lifted = pressed_pole(4)
    for channel in range(6):
        lifted = lifted.with_gain(channel, 0.0)
    lifted.write(demo / "sub-01" / "wand.c3d")
    initialise(demo)
    roles = {row["file"]: row["role"] for row in tsv.read_table(demo / "trials.tsv", required=("file", "role"))}
    assert roles.pop("sub-01/poker.c3d") == "equipment"
    assert roles.pop("sub-01/wand.c3d") == "exclude"
    assert {*roles.values()} == {"static", "gait"}


@pytest.mark.parametrize(
    ("test", "role"),
    [
        (POLE, "equipment"),
        (POLE._replace(markers=2), "gait"),  # two markers that keep their distance are on any segment
        (POLE._replace(position_mm=80.0), "gait"),  # a shank over a foot
        (POLE._replace(direction_deg=18.0), "gait"),
    ],
)
def test_a_leg_without_known_labels_is_no_pole(test: PlateTest, role: str) -> None:
    assert guess_role(moving("a.c3d", plate_tests={1: test}), "any", (), labelled=False) == role
