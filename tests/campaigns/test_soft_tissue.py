"""Soft-tissue motion in two generated walks; ``python -m tests.campaigns soft_tissue`` compares twenty."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.campaigns.runner import Report
from tests.campaigns.soft_tissue import (
    JOINT_TYPES,
    LABELS,
    UNITS,
    Found,
    campaign,
    errors,
    in_short,
    medians,
    one_by_one,
    write_study,
)

METHODS = {name: JOINT_TYPES[name] for name in ("segments", "knee hinge")}


def test_rigid_segments_have_the_exact_answer(tmp_path: Path) -> None:
    """Without filters, noise and soft-tissue motion; the files are rounded to 0.1 micrometres."""
    truth = write_study(tmp_path, 0, soft_tissue=0.0, noise=0.0)
    found = errors(tmp_path, truth, {"clean": {"marker_cutoff_hz": None, "force_cutoff_hz": None}})
    for (name, component), error in found.items():
        assert error < 0.001, f"{name}, {component}, in {UNITS[name]}"


@pytest.fixture(scope="module")
def found() -> Found:
    return campaign(METHODS, range(2))


def test_linked_legs_have_less_of_the_motion_of_the_skin(found: Found) -> None:
    segments, linked = (medians(found[name]) for name in METHODS)
    for joint in ("ankle", "knee"):
        assert segments["joint_centre", joint] > 2  # mm: the walks have soft-tissue motion
        # less than 0.6 in the median of twenty walks
        assert linked["joint_centre", joint] < 0.8 * segments["joint_centre", joint]
    for angle in ("knee adduction", "hip adduction", "ankle adduction"):
        assert linked["joint_angle", angle] < segments["joint_angle", angle]
    assert linked["joint_moment_jcs", "knee adduction"] < segments["joint_moment_jcs", "knee adduction"]


def test_the_tables_show_every_quantity(found: Found, tmp_path: Path) -> None:
    each, short = Report(tmp_path), Report(tmp_path)
    one_by_one(each, found)
    assert [len(row) for row in each.rows] == [3] * (3 + 9 + 3 + 9 + 3)
    in_short(short, found)
    assert [label for label, _ in short.rows] == [*LABELS.values()]
