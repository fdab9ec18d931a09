"""The short form of the campaign of random corrections."""

from pathlib import Path

from tests.extras.viewer.random_corrections import campaign


def test_random_corrections_are_applied_or_refused(tmp_path: Path) -> None:
    counts = campaign(tmp_path, 12, seed=7)
    assert {what for _, what in counts} >= {"applied", "refused by the table", "refused by a step"}
