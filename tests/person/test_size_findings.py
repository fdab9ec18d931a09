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
        (SessionSizes({}, 85 * G, [], UNKNOWN), ""),  # 6 %: clothes, shoes
        (
            SessionSizes({"mass_kg": 90}, 83 * G, [84 * G], UNKNOWN),
            "mass_kg is 90, but the plates under the static trial show 83.0 (steps on the plates show about 84.0, "
            "the C3D files state 90.0)",
        ),
        (SessionSizes({}, UNKNOWN, [], 1.3), "height_m is 1.7, but heel and ASIS of the static trial are 1.30 m apart"),
    ],
)
def test_sizes_are_compared_with_what_recordings_show(shown: SessionSizes, expected: str) -> None:
    row = {"participant_id": "p1", "mass_kg": "90", "height_m": "1.7"}
    assert "; ".join(one.what for one in check_sizes(row, shown, segment_table="dempster")) == expected


@pytest.mark.parametrize(
    ("shown", "severities"),
    [
        (SessionSizes({}, 84.5 * G, [], UNKNOWN), []),  # 6.5 %
        (SessionSizes({}, 82.5 * G, [], UNKNOWN), ["warning"]),  # 9 %, which the momentum of walks doubts as well
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


@pytest.mark.parametrize(("knee_m", "ankle_m", "found"), [(0.059, 0.111, True), (0.111, 0.059, False)])
def test_a_knee_narrower_than_its_ankle_is_an_error(knee_m: float, ankle_m: float, found: bool) -> None:
    """Widths of an adult, exchanged; in the files or in the table."""
    sizes = {"mass_kg": 60.0, "knee_width_left_m": knee_m, "ankle_width_left_m": ankle_m}
    cells = {name: str(value) for name, value in sizes.items()}
    for row, stated in (({}, sizes), (cells, {})):
        shown = SessionSizes(stated, float("nan"), [], float("nan"))
        problems = [*check_sizes({"participant_id": "p", "sex": "F", **row}, shown, segment_table="de_leva")]
        assert [(one.code, one.severity) for one in problems] == [("joint_widths_exchanged", "warning")] * found


@pytest.mark.parametrize(
    ("mass_kg", "found", "says"),
    [("81", "plates_show_two_masses", "69.8 kg under the static trial, about 78.1 in steps"),
     ("77.5", "plates_show_two_masses", "69.8 kg under the static trial, about 78.1 in steps"),
     ("69.8", "mass_unlike_recordings", "steps on the plates show about 78.1 (the plates under the static trial")],
)  # fmt: skip
def test_where_static_trial_and_steps_show_two_masses_the_steps_count(mass_kg: str, found: str, says: str) -> None:
    """Their loads are used: a foot may stand beside the plates in the static trial."""
    shown = SessionSizes({}, 69.8 * G, [78.0 * G, 78.2 * G], UNKNOWN)
    (finding,) = check_sizes({"participant_id": "p1", "mass_kg": mass_kg}, shown, segment_table="dempster")
    assert (finding.code, finding.severity) == (found, "warning")
    assert says in finding.what


@pytest.mark.parametrize("kg", [25.0, 60.0, 120.0])
def test_the_mass_that_a_finding_names_would_agree(kg: float) -> None:
    for shown in (SessionSizes({}, kg * G, [], UNKNOWN), SessionSizes({}, UNKNOWN, [kg * G], UNKNOWN)):
        wrong = {"participant_id": "p1", "mass_kg": str(1.2 * kg)}
        (finding,) = check_sizes(wrong, shown, segment_table="dempster")
        named = finding.remedy.split("; ")[1].split()[0]
        assert not [*check_sizes(wrong | {"mass_kg": named}, shown, segment_table="dempster")]
