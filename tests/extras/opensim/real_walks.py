"""Contact forces of real and generated walks with OpenSim's Gait2392, and what they rest on.

``python -m tests.extras.opensim.real_walks`` prints the table of docs/muscles.md; names of studies or labs after it, or
folders of studies, restrict it to these. It needs OpenSim and the real recordings. The first row is OpenSim's own
example, with the model, motion, forces and actuators that its authors made.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray as xr

from pipeline.arrays import Array
from pipeline.conventions import JOINTS, STANDARD_GRAVITY_M_S2
from pipeline.extras.opensim.muscle_variables import NEAR_LIMIT
from pipeline.extras.opensim.muscles.checks import doubt_of
from pipeline.extras.opensim.muscles.opensim_run import share_moments
from pipeline.extras.opensim.muscles.scaled_model import opensim
from pipeline.extras.opensim.muscles.step import muscles
from pipeline.extras.opensim.setup_files import OF_SIDE, SCALED_MODEL, Walk
from pipeline.results import netcdf
from pipeline.trials.usable_walks import some_trials
from tests.extras.opensim.round_trip import prepared
from tests.support.checkout import SHARED, copy_study
from tests.support.settings import settings_of
from tests.support.studies.small_study import run_steps

EXAMPLE = "opensim"
PEOPLE = (EXAMPLE, "demo", "gait2354", "plug_in_gait", "children")
PUBLIC = SHARED / "data" / "muscles_gait2392"
MODEL = PUBLIC / "gait2392_thelen2003muscle.osim"
INPUTS = ("cycles", "kinematics", "contacts", "calibrate")
MOST_WALKS = 1  # of a session, the first that have kinetics
OURS = {  # coordinate of the model: joint, angle, sign
    "ankle_angle": ("ankle", "flexion", 1),
    "knee_angle": ("knee", "flexion", -1),
    "hip_flexion": ("hip", "flexion", 1),
    "hip_adduction": ("hip", "adduction", 1),
}
SHOWN = ("hip", "knee", "ankle")
# of the example: whole stances of both legs; one row of the motion in ten, as its set-up files have it
SPAN_S, INTERVAL = (0.6, 2.0), 10
HEADINGS = (
    "walk", "m/s", "cycles with forces, with kinetics", *(f"{joint}, body weights" for joint in SHOWN),
    "hip flexor; abductor moment then, N m/kg", "reserves, %", "doubted", "at their limit then",
)  # fmt: skip


class Loads(NamedTuple):
    """What a leg bears in a cycle."""

    peaks: dict[str, float]  # largest contact force by joint, body weights
    moments: tuple[float, float]  # hip flexion and abduction when the hip bears most, N m/kg
    at_limit: tuple[str, ...]  # muscles at their limit then


def example(folder: Path) -> Iterator[str]:
    """Yield the row of each leg in OpenSim's own example."""
    for path in PUBLIC.iterdir():
        shutil.copyfile(path, folder / path.name)
    shutil.copyfile(PUBLIC / "subject01_simbody_adjusted_StaticOp.osim", folder / SCALED_MODEL)
    found = share_moments(
        folder, Walk("subject01_walk1_Kinematics.sto", "foot_floor_loads.xml", SPAN_S), interval=INTERVAL,
        actuators="gait2392_SO_weak_Residual_Actuators.xml", activation_exponent=2,
        joints=[f"{joint}_{end}" for joint in JOINTS for end in OF_SIDE.values()],
    )  # fmt: skip
    model = opensim().Model(str(folder / SCALED_MODEL))
    mass_kg = model.getTotalMass(model.initSystem())
    for end in OF_SIDE.values():
        force = np.stack([found.force_of_joint(f"{joint}_{end}").T for joint in JOINTS]) / mass_kg
        moments = [found.moment[f"hip_{name}_{end}_moment"] / mass_kg for name in ("flexion", "adduction")]
        activation = {name[:-2]: values for name, values in found.activation.items() if name.endswith(f"_{end}")}
        levels, names = np.stack([*activation.values()]), [*activation]
        leg, doubt = loads_of(force, np.stack(moments), levels, names), doubt_of(force, levels, names)
        yield row(f"OpenSim's example, {end}", [leg], "as gait2354", "1, 1", "none", f"{int(doubt is not None)} of 1")


def loads_of(contact: Array, moments: Array, activation: Array, names: list[str]) -> Loads:
    """Return what a leg bears.

    Args:
        contact: (joint, axis, instant), N/kg.
        moments: of hip flexion and adduction (2, instant), N m/kg.
        activation: (muscle, instant).
        names: of the muscles.
    """
    weights = np.linalg.norm(contact, axis=1) / STANDARD_GRAVITY_M_S2
    at = int(weights[JOINTS.index("hip")].argmax())
    at_limit = tuple(name for name, level in zip(names, activation[:, at], strict=True) if level >= NEAR_LIMIT)
    peaks = dict(zip(JOINTS, weights.max(axis=-1).tolist(), strict=True))
    return Loads(peaks, (float(moments[0, at]), float(-moments[1, at])), at_limit)


def of_session(folder: Path, name: str) -> Iterator[str]:
    """Yield the row of a session, and print on the other screen how well the model's moments are met and the cost."""
    inputs = [netcdf.load(folder / f"{step}.nc") for step in INPUTS]
    cycles = inputs[0]
    valid = cycles.kinetics_valid.values if "cycle" in cycles.dims else np.zeros(0, dtype=bool)
    walks = [*dict.fromkeys(cycles.trial.values[cycles.cycle_trial.values[valid]].tolist())] if valid.any() else []
    if not walks:
        yield f"| {name} | " + " | ".join(["", "none with kinetics", *[""] * (len(HEADINGS) - 3)]) + " |"
        return
    inputs = [some_trials(data, walks[:MOST_WALKS]) if "trial" in data.dims else data for data in inputs]
    start_s = time.process_time()
    with tempfile.TemporaryDirectory() as scratch:
        found = muscles(*inputs, settings=settings_of("muscles", opensim=True, model=str(MODEL)), folder=Path(scratch))
    report(name, found, inputs[0], time.process_time() - start_s)
    loaded = found.muscle_reason_code.values != "no_kinetics"
    kept = found.muscle_reason.values == ""
    names = found.model_muscle.values.tolist()
    legs = [
        loads_of(
            one.joint_contact_force.values,
            one.model_moment.sel(coordinate=["hip_flexion", "hip_adduction"]).values,
            one.activation.values,
            names,
        )
        for one in (found.isel(cycle=i) for i in np.flatnonzero(kept))
    ]
    shares = found.reserve_share.max("joint").values[loaded]
    speed = float(inputs[0].metric_value.sel(metric="walking_speed").values[loaded].mean())
    doubted = f"{(found.muscle_doubt.values != '').sum()} of {kept.sum()}"
    counts, reserves = f"{kept.sum()}, {loaded.sum()}", f"{np.median(shares):.1f}, {shares.max():.0f}"
    yield row(name, legs, f"{speed:.2f}", counts, reserves, doubted)


def row(name: str, legs: list[Loads], speed: str, counts: str, reserves: str, doubted: str) -> str:
    """Return the row of the table for some legs: medians, with the lowest and the largest of several."""
    cells = [spread([leg.peaks[joint] for leg in legs]) for joint in SHOWN]
    moments = "; ".join(spread([leg.moments[i] for leg in legs], digits=2) for i in range(2))
    most = [name for leg in legs for name in leg.at_limit]
    at_limit = ", ".join(sorted({*most}, key=lambda one: (-most.count(one), one))[:4])
    return f"| {' | '.join([name, speed, counts, *cells, moments, reserves, doubted, at_limit])} |"


def spread(values: list[float], digits: int = 1) -> str:
    """Return ``median (lowest to largest)`` of several values, or the only one; empty without any."""
    if len(values) < 2:
        return "".join(f"{value:.{digits}f}" for value in values)
    return f"{np.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def report(name: str, found: xr.Dataset, cycles: xr.Dataset, cpu_s: float) -> None:
    """Print, beside the table, what is known of the fit of a session."""
    apart = ", ".join(f"{key} {value:.3f}" for key, value in apart_from_study(found, cycles).items())
    sys.stderr.write(
        f"{name}: {cpu_s:.0f} CPU s; pelvis {found.attrs['opensim_pelvis_spines']}, turned by "
        f"{found.attrs['opensim_pelvis_tilt']:.1f} degrees; scale {found.attrs['opensim_model_scale']}\n"
        f"  muscles and reserves miss {found.muscle_moment_error.max():.3f} % of the joint's largest moment; "
        f"points miss {1000 * found.model_misfit.mean():.1f} mm; from the study's moments, N m/kg: {apart}\n"
        + "".join(f"  {why}\n" for why in {*found.muscle_reason.values.tolist(), *found.muscle_doubt.values.tolist()})
    )


def apart_from_study(found: xr.Dataset, cycles: xr.Dataset) -> dict[str, float]:
    """Return the root mean square difference of the moments in all cycles with kinetics by coordinate, N m/kg."""
    moments = {
        name: (sign * found.model_moment.sel(coordinate=name), cycles.joint_moment_jcs.sel(joint=joint, angle=angle))
        for name, (joint, angle, sign) in OURS.items()
    }
    return {name: float(np.sqrt(np.nanmean((a.values - b.values) ** 2))) for name, (a, b) in moments.items()}


def as_markdown(names: Iterable[str]) -> Iterator[str]:
    """Yield the lines of the table, a row for each session; ``opensim`` is OpenSim's own example."""
    yield f"| {' | '.join(HEADINGS)} |"
    yield "|---" * len(HEADINGS) + "|"
    for name in names:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / "study"
            if name == EXAMPLE:
                folder.mkdir()
                yield from example(folder)
                continue
            study = copy_study(Path(name), folder) if Path(name).is_dir() else prepared(name, folder)
            run_steps(study)
            for file in sorted(study.glob("derived/*/cycles.nc")):
                yield from of_session(file.parent, f"{Path(name).name} {file.parent.name}")


if __name__ == "__main__":
    for line in as_markdown(sys.argv[1:] or PEOPLE):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
