"""A pole on generated plates with each fault: how many are called good, look and bad.

``python -m tests.campaigns.pressed_poles`` prints the table of docs/validation.md (2 minutes).
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.support.plates.pressed_pole import FAULTS, of_pressed, pressed_pole

SEEDS = range(40)


def main() -> None:
    """Print the table."""
    sys.stdout.write("| the file's plate | good | look | bad |\n|---|---|---|---|\n")
    with tempfile.TemporaryDirectory() as folder:
        for name, change in FAULTS.items():
            seeds = range(200) if name == "sound" else SEEDS
            count = Counter(of_pressed(change(pressed_pole(seed)), Path(folder)).verdict for seed in seeds)
            sys.stdout.write(f"| {name} | {count['good']} | {count['look']} | {count['bad']} |\n")


if __name__ == "__main__":
    main()
