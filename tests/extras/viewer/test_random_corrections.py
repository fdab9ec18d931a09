"""The short form of the campaign of random corrections."""

from pathlib import Path

from tests.extras.viewer.random_corrections import campaign


def test_random_corrections_are_applied_or_refused(small_study: Path, tmp_path: Path) -> None:
    counts = campaign(small_study / "data" / "demo", tmp_path, 12, seed=7)
    assert {what for _, what in counts} >= {"applied", "refused by the table", "refused by a step"}
