"""Sizes that recordings contradict, without a file."""

from __future__ import annotations

import math

import pytest

from pipeline.person.size_findings import SessionSizes, check_sizes, find_differing_sizes

G, UNKNOWN = 9.80665, math.nan


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (SessionSizes({}, 74.6 * G, [], UNKNOWN), "mass_kg is 90, but the plates under the static trial show 74.6"),
        (
            SessionSizes({}, UNKNOWN, [75 * G, 74 * G, 20 * G], UNKNOWN),
            "mass_kg is 90, but steps on the plates show about 74.0",
        ),
        (SessionSizes({"mass_kg": 74.6}, UNKNOWN, [], UNKNOWN), "mass_kg is 90, but the C3D files state 74.6"),
        (SessionSizes({}, 84 * G, [], UNKNOWN), ""),  # 7 %: clothes, shoes
        (
            SessionSizes({}, UNKNOWN, [], 1.3),
            "height_m is 1.7, but heel and ASIS of the static trial are 1.30 m apart",
        ),
    ],
)
def test_sizes_are_compared_with_what_recordings_show(shown: SessionSizes, expected: str) -> None:
    row = {"participant_id": "p1", "mass_kg": "90", "height_m": "1.7"}
    assert "; ".join(one.what for one in check_sizes(row, shown, segment_table="dempster")) == expected


@pytest.mark.parametrize(
    ("shown", "severities"),
    [
        (SessionSizes({}, 82.5 * G, [], UNKNOWN), []),  # 9 %
        (SessionSizes({}, 81 * G, [], UNKNOWN), ["warning"]),  # 11 %
        (SessionSizes({}, 78 * G, [], UNKNOWN), ["error"]),  # 15 %
        (SessionSizes({}, 104 * G, [], UNKNOWN), ["error"]),  # -13 %
        (SessionSizes({}, UNKNOWN, [79 * G] * 3, UNKNOWN), ["warning"]),  # 14 %
        (SessionSizes({}, UNKNOWN, [77 * G] * 3, UNKNOWN), ["error"]),  # 17 %
        (SessionSizes({"mass_kg": 75}, UNKNOWN, [], UNKNOWN), ["warning"]),  # 20 %: the file may be wrong
        (SessionSizes({"mass_kg": 60}, UNKNOWN, [], UNKNOWN), ["error"]),  # 50 %: another person's or visit's
        (SessionSizes({"mass_kg": 60}, UNKNOWN, [60 * G] * 3, UNKNOWN), ["error"]),
        (SessionSizes({"mass_kg": 60}, UNKNOWN, [90 * G] * 3, UNKNOWN), ["warning"]),
    ],
)
def test_a_mass_further_off_than_plates_can_err_is_an_error(shown: SessionSizes, severities: list[str]) -> None:
    findings = [*check_sizes({"participant_id": "p1", "mass_kg": "90"}, shown, segment_table="dempster")]
    assert [finding.severity for finding in findings] == severities


@pytest.mark.parametrize(
    ("table", "stated_m", "found"),
    [({}, 0.097, False), ({}, 0.08, True), ({"knee_width_left_m": "0.1"}, 0.08, False), ({}, 0.0, False)],
)
def test_files_of_a_session_state_the_same_sizes(table: dict[str, str], stated_m: float, found: bool) -> None:
    files = {
        "static.c3d": {"knee_width_left_m": 0.1},
        "walk.c3d": {"knee_width_left_m": stated_m},
        "bare.c3d": {"mass_kg": -1.0},
    }
    problems = [*find_differing_sizes({"participant_id": "sub-01", **table}, files)]
    assert [problem.code for problem in problems] == ["sizes_differ_between_files"] * found
    assert all("walk.c3d 0.08" in problem.what for problem in problems)
