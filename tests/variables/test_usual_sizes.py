"""The sizes below which an index of symmetry compares two measurements of nearly nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipeline.conventions import ANGLES, JOINTS
from pipeline.steps.cycles.peaks_and_work import impulses, peaks, work
from pipeline.tables.reference_curves import at_speed, key_of, reference_file, reference_of
from pipeline.variables.metrics import METRICS, USUAL_SIZE

FREE, SLOW = 0.4294, 0.2902  # dimensionless speeds


def sizes(speed: float) -> dict[str, float]:
    """Return the metrics of the mean curves of children at a speed."""
    curves = at_speed(reference_of(reference_file("schwartz2008", study_path=Path()).read_text(), where=""), speed)

    def row(variable: str, **labels: str) -> np.ndarray:
        curve = curves.get(key_of(variable, labels))
        return np.interp(np.arange(101), curve.phase, curve.mean) if curve else np.full(101, np.nan)

    means = {
        "joint_power": np.stack([row("joint_power", joint=joint) for joint in JOINTS])[None],
        **dict.fromkeys(("foot_power", "ankle_foot_power"), np.full((1, 101), np.nan)),  # published by nobody
        "ground_force": np.stack([row("ground_force", axis=axis) for axis in "xyz"])[None],
        **{
            name: np.stack([[row(name, joint=joint, angle=angle) for angle in ANGLES] for joint in JOINTS])[None]
            for name in ("joint_angle", "joint_moment_jcs")
        },
    }
    share = np.array([60.0])
    found = peaks(means, stance_share=share) | work(means, stance_share=share)
    found |= impulses(means, stance_share=share, stride_s=np.array([1.0]))
    return {name: abs(float(values[0])) for name, values in found.items()}


def test_usual_sizes_are_those_of_the_mean_curves_of_children() -> None:
    """To two digits. At free speed the hip extensors have no peak of their own."""
    free, slow = sizes(FREE), sizes(SLOW)
    for name, size in USUAL_SIZE.items():
        assert METRICS[name].kind == "size"
        found = slow[name] if name == "peak_hip_extensor_moment" else free[name]
        assert found == pytest.approx(size, rel=0.05), name
