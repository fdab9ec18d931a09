"""Parts of a joint moment in the report: they sum to its line, body mass divides them."""

from __future__ import annotations

import numpy as np
import xarray as xr

from pipeline.steps.report.one_walk import contributions
from tests.support.studies.for_report import ANGLES, CAUSES, JOINTS, PHASE, TERMS

# four significant digits are kept of parts of up to 200 N m, five of them in a sum
ROUNDING_N_M = 5 * 0.05


def shown() -> xr.Dataset:
    """Return parts of up to 200 N m."""
    rng = np.random.default_rng(1)
    labels = {"term": TERMS, "cause": CAUSES}
    parts = {
        f"joint_moment_by_{kind}": (
            ("side", "joint", "angle", kind, "phase"),
            rng.uniform(-200, 200, (2, 3, 3, len(names), len(PHASE))),
        )
        for kind, names in labels.items()
    }
    return xr.Dataset(parts, {"side": ["left", "right"], "joint": JOINTS, "angle": ANGLES, "phase": PHASE, **labels})


def test_parts_sum_to_the_line_and_mass_divides_them() -> None:
    trial = shown()
    absolute, relative = (
        contributions(trial, side="right", mass_kg=mass_kg, moment_signs="stored") for mass_kg in (None, 50.0)
    )
    assert (absolute["unit"], relative["unit"]) == ("N m", "N m/kg")
    pairs = {"term": (absolute["terms"], relative["terms"]), "cause": (absolute["causes"], relative["causes"])}
    for kind, (whole, divided) in pairs.items():
        assert whole["names"] == trial[kind].values.tolist()
        expected = trial[f"joint_moment_by_{kind}"].sel(side="right")
        parts, total = (np.array(whole[name], dtype=float) for name in ("parts", "total"))
        np.testing.assert_allclose(parts, np.moveaxis(expected.values, 2, 0), atol=0.05)
        np.testing.assert_allclose(total, expected.sum(kind), atol=0.5)
        np.testing.assert_allclose(parts.sum(axis=0), total, atol=0.5 + ROUNDING_N_M)
        np.testing.assert_allclose(50 * np.array(divided["parts"], dtype=float), parts, atol=50 * 5.1e-5 + 5.1e-3)


def test_clinical_signs_are_the_opposite_of_the_stored_ones_with_words_that_say_so() -> None:
    stored, clinical = (
        contributions(shown(), side="left", mass_kg=None, moment_signs=signs) for signs in ("stored", "clinical")
    )
    for kind in ("terms", "causes"):
        for name in ("parts", "total"):
            assert np.array_equal(np.array(stored[kind][name]), -np.array(clinical[kind][name]))
    knee, flexion = stored["joints"].index("knee"), stored["angles"].index("flexion")
    assert stored["signs"][knee][flexion] == "extensor < 0 < flexor"
    assert clinical["signs"][knee][flexion] == "flexor < 0 < extensor"
    assert clinical["titles"][knee][flexion] == "Knee extensor moment"
