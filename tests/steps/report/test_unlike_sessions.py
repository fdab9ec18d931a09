"""Sessions that differ from the others of a study."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pipeline.steps.report.quality import FEWEST_SESSIONS, WITNESSES, medians_of_sessions, unlike_the_others
from tests.support.studies.typed_rows import typed

SEED, SESSIONS, STANCES = 5, 20, 6


def rows(sessions: int, *, gains: dict[int, float]) -> pd.DataFrame:
    """Return rows of quality.csv of sound sessions, and the ratio times a gain in some; a stance lacks its figures."""
    rng = np.random.default_rng(SEED)
    found: list[dict[str, str]] = []
    for number in range(sessions):
        of_session = rng.normal(1, 0.02)  # mass and plates
        for stance in range(STANCES):
            figures = dict.fromkeys(WITNESSES, "" if stance == 0 else f"{rng.normal(10, 1):.3g}")
            ratio = gains.get(number, 1.0) * rng.normal(of_session, 0.03)
            figures["momentum_ratio"] = "" if stance == 0 else f"{ratio:.3g}"
            found.append({"session": f"s{number:02d}", "side": "left", **figures})
    return typed("quality", [*found, {"session": "s99", "side": "", **dict.fromkeys(WITNESSES, "")}])


def test_a_session_with_other_plates_is_named_with_both_medians() -> None:
    table = unlike_the_others(medians_of_sessions(rows(SESSIONS, gains={3: 1.15})))
    ((session, title, its, others),) = table.rows
    assert (session, title) == ("s03", WITNESSES["momentum_ratio"][0])
    assert float(its) == pytest.approx(1.15, abs=0.06)
    assert float(others) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize(("sessions", "gains"), [(SESSIONS, {}), (FEWEST_SESSIONS - 1, {3: 1.3}), (0, {})])
def test_alike_or_few_sessions_are_not_named(sessions: int, gains: dict[int, float]) -> None:
    assert unlike_the_others(medians_of_sessions(rows(sessions, gains=gains))).rows == []
