"""Contacts as records: of one foot on several plates, accepted by hand, with missing samples; events that are moved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pipeline.errors import UserError
from pipeline.steps.contacts.body_motion import Shown
from pipeline.steps.contacts.by_hand import correct_events, judge
from pipeline.steps.contacts.events import GaitEvent, Stance
from pipeline.steps.contacts.feet import feet_of
from pipeline.steps.contacts.foot_on_plate import combine, reject_shared
from pipeline.steps.contacts.plate_contacts import Contact, detect
from pipeline.variables.stance_verdicts import Verdict
from tests.support.studies.corrected import correction
from tests.support.walks.shown import shown_walk

DRIFTS = Verdict.of("plate_drifts", newtons=50.0)


def contact(plate: int, start_s: float, end_s: float) -> Contact:
    """Return a contact of the left foot, whose force rises and falls within 20 ms before and after it."""
    return Contact((plate,), start_s, end_s, start_s - 0.02, end_s + 0.02, "left")


def shown(row: dict[str, str], contacts: list[Contact]) -> Shown:
    """Return a walk with a correction, and contacts of its feet with plates."""
    return shown_walk(np.arange(3.0), np.zeros((2, 4, 3)), {}, corrections=[row], contacts=contacts)


def test_a_foot_on_two_plates_is_loaded_from_the_first_to_the_last() -> None:
    first, second = contact(0, 1.0, 1.4), contact(1, 1.2, 1.7)
    (both,) = combine([second, first])
    assert both == replace(first, plates=(0, 1), end_s=1.7, to_s=1.72)
    assert combine([first, contact(1, 1.5, 1.9)]) == [first, contact(1, 1.5, 1.9)]


@pytest.mark.parametrize("plates_s", [[(1.0, 1.7), (1.1, 1.3)], [(1.0, 1.4), (1.2, 1.7)], [(1.0, 1.3), (1.31, 1.7)]])
def test_a_stance_that_plates_bear_throughout_is_accepted(plates_s: list[tuple[float, float]]) -> None:
    """A plate that the foot meets for a moment, while another bears it, makes no gap."""
    own = [replace(contact(plate, *span), reason=DRIFTS) for plate, span in enumerate(plates_s)]
    stance = replace(contact(0, 1.0, 1.7), reason=DRIFTS)
    row = correction("accept_contact", side="left", time_s="1.0")
    (judged,) = judge([stance], shown(row, own))
    assert (judged.plates, judged.reason) == ((0, 1), None)


def test_a_stance_that_plates_bear_in_part_is_not_accepted() -> None:
    own = [replace(contact(plate, *span), reason=DRIFTS) for plate, span in enumerate([(1.0, 1.3), (1.5, 1.7)])]
    row = correction("accept_contact", side="left", time_s="1.0")
    with pytest.raises(UserError, match="in only a part of its stance"):
        judge([replace(contact(0, 1.0, 1.7), reason=DRIFTS)], shown(row, own))


@pytest.mark.parametrize(
    ("kind", "time_s", "to_s", "passes"),
    [
        ("move_foot_off", "1.6", "0.9", True),
        ("move_foot_strike", "1.0", "1.7", True),
        ("move_foot_off", "1.6", "1.1", False),
        ("move_foot_strike", "1.0", "0.8", False),
    ],
)
def test_no_event_is_moved_past_another_in_either_direction(kind: str, time_s: str, to_s: str, passes: bool) -> None:
    events = {"left": [GaitEvent(1.0, "foot_strike", "plate"), GaitEvent(1.6, "foot_off", "plate")], "right": []}
    row = correction(kind, side="left", time_s=time_s, to_s=to_s)
    if passes:
        with pytest.raises(UserError, match="another event of the foot is passed"):
            correct_events(events, [row], first_s=0.0, last_s=3.0)
    else:
        moved = correct_events(events, [row], first_s=0.0, last_s=3.0)["left"]
        assert float(to_s) in [event.time_s for event in moved]


@pytest.mark.parametrize(("sample", "code"), [(199, "plate_signal_missing"), (700, "plate_signal_missing"), (195, "")])
def test_a_load_next_to_a_missing_sample_is_refused(sample: int, code: str) -> None:
    """It may have begun, or ended, in the gap: the first loaded sample is 200, the last 699."""
    time = np.arange(1000) / 1000
    vertical = np.where((time >= 0.2) & (time < 0.7), 700.0, 0.0)
    vertical[sample] = np.nan
    (found,) = detect(time, vertical, np.nan_to_num(vertical), 0, threshold_n=20.0, min_contact_s=0.1)
    assert (found.reason.code if found.reason else "") == code


@pytest.mark.parametrize(("overlap_s", "is_shared"), [(0.03, False), (0.08, True)])
def test_another_foot_on_the_plate_for_longer_than_a_twentieth_of_a_second_shares_it(
    overlap_s: float, is_shared: bool
) -> None:
    """Feet side by side on one plate; the right one comes before the left one has left."""
    time, corners = np.arange(200) / 100, np.array([[[0.5, 0, 0.3], [-0.5, 0, 0.3], [-0.5, 0, -0.3], [0.5, 0, -0.3]]])
    still = np.ones((200, 1))
    points = {
        f"{end}_{side}": still * [x, 0.05, z]
        for end, x in (("heel", -0.1), ("toe", 0.1))
        for side, z in (("left", -0.1), ("right", 0.1))
    }
    feet = feet_of(points, time, corners, travel="forwards")
    stances = {"left": [Stance(0.2, 1.0)], "right": [Stance(1.0 - overlap_s, 1.8)]}
    (judged,) = reject_shared([contact(0, 0.2, 1.0)], shown_walk(time, corners, feet, stances=stances))
    assert (judged.reason.code if judged.reason else "") == ("two_feet_on_plate" if is_shared else "")
