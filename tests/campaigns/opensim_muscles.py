"""Muscles by OpenSim on the demonstration study, or another that has been run.

``python -m tests.campaigns.opensim_muscles MODEL [STUDY] [STRENGTH]`` prints for each session what muscles and reserve
actuators miss of OpenSim's own moments, what the reserve actuators bear, how far the model's moments are from the
study's, and what the step costs.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import xarray as xr

from pipeline.results import netcdf
from pipeline.steps.muscles.step import muscles
from tests.support.checkout import DEMO
from tests.support.settings import settings_of

INPUTS = ("cycles", "kinematics", "contacts", "calibrate")
OURS = {  # coordinate of the model: joint, angle, sign
    "ankle_angle": ("ankle", "flexion", 1),
    "knee_angle": ("knee", "flexion", -1),
    "hip_flexion": ("hip", "flexion", 1),
    "hip_adduction": ("hip", "adduction", 1),
}


def apart_from_study(found: xr.Dataset, cycles: xr.Dataset) -> dict[str, float]:
    """Return the root mean square difference of the moments in all cycles with kinetics by coordinate, N m/kg."""
    moments = {
        name: (sign * found.model_moment.sel(coordinate=name), cycles.joint_moment_jcs.sel(joint=joint, angle=angle))
        for name, (joint, angle, sign) in OURS.items()
    }
    return {name: float(np.sqrt(np.nanmean((a.values - b.values) ** 2))) for name, (a, b) in moments.items()}


def figures(derived: Path, model: Path, **changes: float) -> Iterator[str]:
    """Yield the figures of each session of a study."""
    for folder in sorted(path.parent for path in derived.glob("*/cycles.nc")):
        inputs = [netcdf.load(folder / f"{name}.nc") for name in INPUTS]
        start_s = time.perf_counter()
        with tempfile.TemporaryDirectory() as scratch:
            settings = settings_of("muscles", opensim=True, model=str(model), **changes)
            found = muscles(*inputs, settings=settings, folder=Path(scratch))
        seconds, memory_mb = time.perf_counter() - start_s, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        loaded = found.muscle_reason_code.values != "no_kinetics"
        shares = found.reserve_share.max("joint").values[loaded]
        walks = len({*found.cycle_trial.values.tolist()})
        yield f"{folder.name}: {walks} walks, {len(loaded)} cycles, {loaded.sum()} with kinetics"
        yield f"  {seconds:.0f} s, {memory_mb:.0f} MB"
        yield f"  moments missed: {found.muscle_moment_error.max():.3f} % of the joint's largest (RMS, worst cycle)"
        above = f"above 5 % in {(shares > 5).sum()} cycles"
        yield f"  reserves: median {np.median(shares):.2f} %, most {shares.max():.1f} %, {above}"
        apart = apart_from_study(found, inputs[0])
        yield "  from the study, N m/kg: " + ", ".join(f"{name} {value:.3f}" for name, value in apart.items())
        yield f"  misfit of the points: {1000 * found.model_misfit.mean():.1f} mm"
        for joint in ("ankle", "knee", "hip"):
            peak = float(found[f"peak_contact_force_{joint}"].median())
            yield f"  peak contact force of the {joint}: {peak:.1f} body weights"


if __name__ == "__main__":
    osim, *more = sys.argv[1:]
    study = Path(more[0]) if more else DEMO
    changes = {"strength": float(more[1])} if len(more) > 1 else {}
    sys.stdout.writelines(f"{line}\n" for line in figures(study / "derived", Path(osim), **changes))
