"""Copies of a trial with random errors of the assumed sizes, and how often the bands contain the right answer.

``python tests/support/studies/noisy_copies.py STUDY COPIES`` prints the table of docs/validation.md.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).resolve().parents[3])]

from pipeline.body.body_model import BodyModel
from pipeline.signals.filters import low_pass
from pipeline.steps.kinematics.step import kinematics
from pipeline.steps.kinetics.step import kinetics
from pipeline.workflow.settings import CONFIG, read_yaml
from tests.support.settings import settings_of

SETTINGS: Mapping[str, Any] = read_yaml(CONFIG / "default.yaml")
SIZES: Mapping[str, float] = SETTINGS["kinetics"]["uncertainty_sizes"]
SOURCES: Mapping[str, Sequence[str]] = {
    "marker_noise": ["marker_mm"],
    "joint_centres": ["ankle_centre_mm", "knee_centre_mm", "hip_centre_mm"],
    "centre_of_pressure": ["centre_of_pressure_mm"],
    "segment_parameters": ["segment_mass_percent", "segment_com_percent", "segment_inertia_percent"],
}
END_S = 0.15  # at the ends of a recording, filter and spline are less accurate


@dataclass(frozen=True)
class Recorded:
    """A trial of the step ``clean``, its contacts and calibration, and the body model."""

    clean: xr.Dataset
    contacts: xr.Dataset
    calibration: xr.Dataset
    model: BodyModel


def only(*sources: str) -> dict[str, float]:
    """Return the default sizes of some sources, the others 0."""
    kept = [name for source in sources for name in SOURCES[source]]
    return {name: size if name in kept else 0.0 for name, size in SIZES.items()}


def loads(trial: Recorded, *, draws: int = 0, sizes: Mapping[str, float] = SIZES, seed: str = "") -> xr.Dataset:
    """Return the kinetics of a trial."""
    moved = kinematics(
        trial.clean,
        trial.calibration,
        body_model=trial.model,
        settings=settings_of("kinematics", **SETTINGS["kinematics"]),
    )
    moved.attrs["source_sha256"] = seed
    return kinetics(
        moved,
        trial.contacts,
        trial.calibration,
        settings=settings_of(
            "kinetics", **SETTINGS["kinetics"] | {"uncertainty_draws": draws, "uncertainty_sizes": sizes}
        ),
    )


def perturbed(trial: Recorded, sizes: Mapping[str, float], rng: np.random.Generator) -> Recorded:
    """Return a copy with a random error of everything, drawn independently of the pipeline's code.

    Noise of the markers is white and filtered as the trial was; a contact has its own offset of the centre of pressure.
    """
    clean, contacts, model = trial.clean.copy(), trial.contacts.copy(), trial.calibration.copy()
    noise = sizes["marker_mm"] / 1000 * rng.standard_normal(clean.marker_position.shape)
    cutoff_hz = float(clean.cutoff_hz[0])
    clean["marker_position"] = clean.marker_position + low_pass(
        noise,
        rate_hz=1 / float(np.diff(clean.time[:2])[0]),
        cutoff_hz=cutoff_hz if np.isfinite(cutoff_hz) else None,
        order=int(clean.attrs["marker_filter_order"]),
    )
    force = contacts.ground_force.values
    strikes = np.diff((force[..., 1] != 0).astype(int), axis=0, prepend=0) == 1
    number = np.cumsum(strikes, axis=0)
    offset = sizes["centre_of_pressure_mm"] / 1000 * rng.standard_normal((number.max() + 1, 2, 3)) * (1, 0, 1)
    contacts["ground_moment"] = contacts.ground_moment + np.cross(offset[number, [0, 1]], force)
    off_m = np.array([sizes[f"{joint}_centre_mm"] / 1000 for joint in model.joint.values])[:, None]
    model["joint_position"] = model.joint_position + off_m * rng.standard_normal(model.joint_position.shape)
    shape = model.segment_mass.shape
    share = {name: sizes[f"segment_{name}_percent"] / 100 for name in ("mass", "com", "inertia")}
    model["segment_mass"] = model.segment_mass * np.exp(share["mass"] * rng.standard_normal(shape))
    reach = np.linalg.norm(model.segment_com.values, axis=-1, keepdims=True)
    model["segment_com"] = model.segment_com + share["com"] * reach * rng.standard_normal((*shape, 3))
    factor = np.exp(share["inertia"] * rng.standard_normal(shape))
    model["segment_inertia"] = model.segment_inertia * factor[..., None, None]
    return Recorded(clean, contacts, model, trial.model)


def held(
    trials: Sequence[Recorded],
    truths: Sequence[xr.Dataset],
    *,
    copies: int,
    draws: int,
    sizes: Mapping[str, float] = SIZES,
    injected: Mapping[str, float] | None = None,
    seed: int = 0,
) -> xr.Dataset:
    """Return how often bands of perturbed copies contain the right moment and power, by joint (and angle).

    The copies have errors of the sizes that the bands assume, or ``injected`` ones.
    """
    rows = []
    for i in range(copies):
        which = i % len(trials)
        rng = np.random.default_rng([seed, i])
        copy = perturbed(trials[which], injected or sizes, rng)
        found = loads(copy, draws=draws, sizes=sizes, seed=f"{seed} {i}")
        time = found.time.values
        inner = (time > time[0] + END_S) & (time < time[-1] - END_S)
        row = {}
        for name in ("joint_moment_jcs", "joint_power"):
            right = truths[which][name][inner]
            band = found[name.removesuffix("_jcs") + "_band"][inner]
            low, high = band.isel(percentile=0), band.isel(percentile=1)
            # a source without effect on a load gives a band of zero width
            known = np.isfinite(right) & (high - low > 1e-6)
            inside = ((low <= right) & (right <= high)).where(known)
            row[name] = inside.mean(("time", "side"))
        rows.append(xr.Dataset(row))
    return xr.concat(rows, "copy")


def recorded(study: Path, overrides: Mapping[str, Any]) -> list[Recorded]:
    """Return the gait trials of a study."""
    from pipeline.workflow import settings
    from tests.support.studies.run_steps import run_study

    own = settings.merged(settings.read_yaml(study / "study.yaml"), overrides)
    _, model = settings.load_settings(own, where="study.yaml", study_path=study)
    return [
        Recorded(steps["clean"], steps["contacts"], session.calibration, model)
        for session in run_study(study, overrides).values()
        for steps in session.trials.values()
    ]


def main(study: Path, copies: int) -> None:
    trials = recorded(study, {})
    truths = [loads(trial) for trial in trials]
    exact = [loads(trial) for trial in recorded(study, {"clean": {"marker_cutoff_hz": None, "force_cutoff_hz": None}})]
    kinds = {"all": (truths, SIZES), "all, against unfiltered": (exact, SIZES)}
    kinds |= {source: (truths, only(source)) for source in SOURCES}
    for name, (right, sizes) in kinds.items():
        result = held(trials, right, copies=copies, draws=200, sizes=sizes).mean("copy")
        moment, power = (float(result[load].mean()) for load in ("joint_moment_jcs", "joint_power"))
        print(f"{name}: moments {moment:.3f}, powers {power:.3f}")  # noqa: T201
        print(result.joint_moment_jcs.to_pandas().round(3), flush=True)  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
