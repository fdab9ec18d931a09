"""What the study that has everything has of the extra ``statistics``."""

from __future__ import annotations

from pathlib import Path

SETTINGS = """repeatability: {visits: [first, second], table: laboratory.csv}
curve_tests: {folder: tests}
"""
OTHER_VALUES = {
    "repeatability.visits": ["first"],
    "repeatability.table": "other.csv",
    "curve_tests.folder": "other_tests",
}
SLOW: dict[str, str] = {}
FILES = {
    **dict.fromkeys(("laboratory.csv", "other.csv"), "condition,side,metric,mdc\ncomfortable,left,walking_speed,0.1\n"),
    **dict.fromkeys(("tests/knee.svg", "other_tests/hip.svg"), '<svg xmlns="http://www.w3.org/2000/svg"/>\n'),
    **dict.fromkeys(("tests/knee.txt", "other_tests/hip.txt"), "p = 0.04\n"),
}


def write(study: Path) -> None:
    """Write tables of repeatability and compared curves into a study."""
    for name, text in FILES.items():
        (study / name).parent.mkdir(exist_ok=True)
        (study / name).write_text(text)
