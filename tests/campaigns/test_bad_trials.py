"""Ten trials, seven of them bad; ``python -m tests.campaigns.bad_trials`` runs 100."""

from __future__ import annotations

from pathlib import Path

from tests.campaigns.bad_trials import BAD, judged, results, spoil, write_study


def test_bad_trials_have_a_reason_and_do_not_affect_the_others(tmp_path: Path) -> None:
    clean = results(write_study(tmp_path / "clean", sessions=2, trials=5))
    study = write_study(tmp_path / "spoilt", sessions=2, trials=5)
    bad = spoil(study, len(BAD), seed=1)
    found = judged(clean, results(study), bad)
    assert found.wrong == []
    assert (found.same, found.explained) == (3, 7)
