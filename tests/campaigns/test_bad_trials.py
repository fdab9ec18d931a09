"""Ten trials, seven of them bad, each in its way; ``python -m tests.campaigns.bad_trials`` runs a hundred."""

from __future__ import annotations

from pathlib import Path

from tests.campaigns.bad_trials import BAD, judged, results, spoil, write_study


def test_bad_trials_cost_themselves_alone_and_are_told(tmp_path: Path) -> None:
    clean = results(write_study(tmp_path / "clean", sessions=2, trials=5))
    study = write_study(tmp_path / "spoilt", sessions=2, trials=5)
    bad = spoil(study, len(BAD), seed=1)
    found = judged(clean, results(study), bad)
    assert found.wrong == []
    assert (found.same, found.told) == (3, 7)
