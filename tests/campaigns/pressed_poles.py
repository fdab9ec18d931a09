"""A pole on generated plates with each fault: how many are called good, look and bad.

``python -m tests.campaigns pressed_poles`` prints the table of docs/validation.md (2 minutes).
"""

from __future__ import annotations

from tests.campaigns.runner import Report
from tests.support.plates.pressed_pole import FAULTS, of_pressed, pressed_pole

SHORT = {"seeds": 2}


def main(report: Report, *, seeds: int = 40) -> None:
    """Report the verdicts on a plate with each fault, five times as many on a sound one."""
    ends = list[tuple[str, str]]()
    for name, change in FAULTS.items():
        for seed in range(5 * seeds if name == "sound" else seeds):
            ends.append((name, of_pressed(change(pressed_pole(seed)), report.folder).verdict))
    report.counts("the file's plate", ends, ("good", "look", "bad"))
    alarms = sum(name == "sound" and end != "good" for name, end in ends)
    report.allow(0, alarms, 5 * seeds, "sound plates not called good")
