"""Swing of recordings with results of Plug-in Gait: which radii of gyration these show, and how they compare with ours.

In swing nothing but the motion of the limb makes moments of knee and hip, so that their size is that of the inertia.
Some software takes Dempster's radii about the proximal end as if about the centre of mass
(config/segment_parameters.yaml, ``dempster_proximal_radii``).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.conventions import ANKLE, CHAIN, HIP, JOINTS, KNEE, SIDES, STANDARD_GRAVITY_M_S2
from pipeline.signals.filters import low_pass
from pipeline.signals.time_normalisation import at_phases, phase_frames
from pipeline.steps.cycles.peaks_and_work import peaks
from pipeline.workflow import settings
from tests.support.settings import settings_of
from tests.support.steps import kinetics
from tests.support.studies.references import Reference, compared, reference_of, rms

Array = NDArray[np.float64]
RADII = TRUE, PROXIMAL = "dempster", "dempster_proximal_radii"
CUTOFF_HZ = 10.0  # of both results, so that the noise of their derivatives does not count
BESIDE_S = 0.02  # beside stance and the ends of a recording, where that filter brings in what is not swing
OF_FOOT = 0.1  # N m/kg about the ankle: 1.5 % of the body's mass at 0.1 m, accelerated by up to 5 g
BURSTS = {"h3": "peak_power_h3", "k4": "peak_power_k4"}


class Loads(NamedTuple):
    """Moments on the flexion axes of the distal segments, N m/kg, and powers, W/kg; both (time, side, joint)."""

    moment: Array
    power: Array

    def filtered(self, time: Array) -> Loads:
        """Return these loads through the filter of the comparison."""
        rate_hz = (len(time) - 1) / (time[-1] - time[0])
        return Loads(*(low_pass(each, rate_hz=rate_hz, cutoff_hz=CUTOFF_HZ, order=4) for each in self))


def with_radii(calibration: xr.Dataset, table: str) -> xr.Dataset:
    """Return a calibration by Dempster's table with the tensors of another one that differs in its radii alone."""
    rows = settings.segment_table(table)["n/a"]
    length, mass = (calibration[f"segment_{name}"].values[..., None] for name in ("length", "mass"))
    moments = mass * (np.array([rows[segment]["radii"] for segment in CHAIN]) * length) ** 2
    return calibration.assign(segment_inertia=calibration.segment_inertia.copy(data=moments[..., None] * np.eye(3)))


def solve(steps: Mapping[str, xr.Dataset], calibration: xr.Dataset, table: str, *, grounded: bool = True) -> xr.Dataset:
    """Return the kinetics of a walk with the radii of a table; without ground reactions if not ``grounded``."""
    contacts = steps["contacts"]
    if not grounded:
        contacts = contacts.assign({name: 0 * contacts[name].fillna(0) for name in ("ground_force", "ground_moment")})
    return kinetics(steps["kinematics"], contacts, with_radii(calibration, table), settings=settings_of("kinetics"))


def ours(loaded: xr.Dataset, mass_kg: float) -> Loads:
    """Return computed loads, filtered."""
    loads = Loads(loaded.joint_moment.values[..., 2] / mass_kg, loaded.joint_power.values / mass_kg)
    return loads.filtered(loaded.time.values)


def theirs(reference: Reference, time: Array) -> Loads:
    """Return stored loads, filtered."""
    moment = np.array([[reference.moment[side, f"{joint} flexion"] for joint in JOINTS] for side in SIDES])
    moment = np.where(moment == 0, np.nan, moment)  # what the file does not know
    power = [[reference.power[side, joint] for joint in JOINTS] for side in SIDES]
    return Loads(*(np.moveaxis(np.array(each, dtype=float), 2, 0) for each in (moment, power))).filtered(time)


def swings(steps: Mapping[str, xr.Dataset], stored: Loads, computed: Loads) -> NDArray[np.bool_]:
    """Return where each foot swings (time, side), in the file and here, and moments of knee and hip are known.

    Where the file gives a foot that swings the force of the other's plate, its ankle moment is larger than a foot's
    weight and inertia make it.
    """
    time = steps["kinematics"].time.values
    known = np.isfinite([each[..., KNEE:] for each in (*stored, *computed)]).all(axis=(0, -1))
    free = (steps["contacts"].ground_force.values == 0).all(axis=-1) & ~(np.abs(stored.moment[..., ANKLE]) > OF_FOOT)
    reach = round(BESIDE_S / np.median(np.diff(time)))
    padded = np.pad(~(known & free), ((reach, reach), (0, 0)), constant_values=True)
    beside = [padded[shift : shift + len(time)] for shift in range(2 * reach + 1)]
    return np.asarray(~np.array(beside).any(axis=0))


def radii_shown(steps: Mapping[str, xr.Dataset], calibration: xr.Dataset, reference: Reference) -> str:
    """Return the table of radii with which moments of the knee in swing are nearest to the stored ones."""
    slopes = {table: loads_in_swing(steps, calibration, reference, table)["knee moment slope"] for table in RADII}
    return nearest_radii(slopes)


def nearest_radii(slopes: Mapping[str, float]) -> str:
    """Return the table of which the slope, stored over computed moments of the knee, is nearest to 1."""
    return min(slopes, key=lambda table: abs(np.log(slopes[table])))


def against_stored(
    study: Path, shared: Path, calibration: xr.Dataset, steps: Mapping[str, xr.Dataset], *,
    cutoff_hz: float | None = None,
) -> list[dict[str, float | str]]:  # fmt: skip
    """Return the rows of :func:`compared` of a walk, with the radii of gyration that its file shows in swing."""
    mass_kg = calibration.attrs["body_mass_kg"]
    reference = reference_of(study / steps["read"].attrs["source"], shared, steps, mass_kg=mass_kg)
    assert reference is not None
    shown = radii_shown(steps, calibration, reference)
    found = {**steps, "kinetics": solve(steps, calibration, shown)}
    return compared(reference, found, mass_kg=mass_kg, cutoff_hz=cutoff_hz)


def loads_in_swing(
    steps: Mapping[str, xr.Dataset], calibration: xr.Dataset, reference: Reference, table: str
) -> dict[str, float]:
    """Return slopes (stored over computed, by least squares through zero) and RMS differences in swing of both legs.

    Of moments (N m/kg) and powers (W/kg) of knee and hip, computed with the radii of a table.
    """
    stored = theirs(reference, steps["kinematics"].time.values)
    computed = ours(solve(steps, calibration, table, grounded=False), calibration.attrs["body_mass_kg"])
    return _fit(stored, computed, swings(steps, stored, computed))


def compared_in_swing(
    steps: Mapping[str, xr.Dataset], calibration: xr.Dataset, reference: Reference, table: str
) -> dict[str, float]:
    """Return :func:`loads_in_swing` with means over the cycles with kinetics of :data:`BURSTS`, stored and computed."""
    mass_kg = calibration.attrs["body_mass_kg"]
    stored = theirs(reference, steps["kinematics"].time.values).power
    result = loads_in_swing(steps, calibration, reference, table)
    tops = [bursts(steps, power) for power in (stored, ours(solve(steps, calibration, table), mass_kg).power)]
    for name in BURSTS:
        both = np.isfinite([top[name] for top in tops]).all(axis=0)
        for of, top in zip(("stored", "computed"), tops, strict=True):
            result[f"{name} {of}"] = float(top[name][both].mean()) if both.any() else np.nan
    return result


def by_points(
    points: Mapping[str, Array], steps: Mapping[str, xr.Dataset], reference: Reference, table: str
) -> dict[str, float]:
    """Return the comparison of moments by nothing but joint centres and toes that the file states.

    Rods of Dempster's masses between the points; no orientation of a segment, no filter, no result of the steps but
    when a foot is on the ground. With u along a rod its angular momentum changes by m (rho L)^2 u x u''.
    """
    rows, time = settings.segment_table(table)["n/a"], steps["kinematics"].time.values
    moment = np.full((len(time), len(SIDES), len(JOINTS)), np.nan)
    for i, letter in enumerate("LR"):
        ankle, knee, hip, toe = (_seen(points[letter + name]) for name in ("TIO", "FEO", "FEP", "TOE"))
        needed = []
        for segment, proximal, distal in (("foot", ankle, toe), ("shank", knee, ankle), ("thigh", hip, knee)):
            rod, row = distal - proximal, rows[segment]
            length, com = np.linalg.norm(rod, axis=1, keepdims=True), proximal + row["com"] * rod
            radius, along = max(row["radii"]) * np.nanmedian(length), rod / length
            force = row["mass"] * (_second(com, time) + np.array([0, 0, STANDARD_GRAVITY_M_S2]))
            needed.append((com, force, row["mass"] * radius**2 * np.cross(along, _second(along, time))))
        for j, (name, centre) in enumerate((("TI", knee), ("FE", hip)), start=1):
            lateral = _seen(points[f"{letter}{name}L"]) - _seen(points[f"{letter}{name}O"])
            total = sum(np.cross(com - centre, force) + spin for com, force, spin in needed[: j + 1])
            moment[:, i, j] = -(total * lateral).sum(axis=1) / np.linalg.norm(lateral, axis=1)
    stored, computed = theirs(reference, time), Loads(moment, moment).filtered(time)
    return _fit(stored, computed, swings(steps, stored, computed))


def _seen(point: Array) -> Array:
    """Return a point of a file (time, 3) in m, NaN where it is not known."""
    return np.where((point == 0).all(axis=1, keepdims=True), np.nan, point / 1000)


def _second(values: Array, time: Array) -> Array:
    return differences_twice(values, time)[1]


def differences_twice(values: Array, time: Array) -> tuple[Array, Array]:
    """Return derivatives (time, ...) by central differences, the second of the first, as nearest to the files."""
    step_s = (time[-1] - time[0]) / (len(time) - 1)
    first = np.gradient(values, step_s, axis=0)
    return first, np.gradient(first, step_s, axis=0)


def _fit(stored: Loads, computed: Loads, swing: NDArray[np.bool_]) -> dict[str, float]:
    result = {}
    for name, joint in (("knee", KNEE), ("hip", HIP)):
        for quantity, a, b in zip(Loads._fields, stored, computed, strict=True):
            y, x = a[swing][:, joint], b[swing][:, joint]
            result[f"{name} {quantity} slope"] = float(x @ y / (x @ x)) if swing.any() else np.nan
            result[f"{name} {quantity} rms"] = rms(x - y)
    return result


def bursts(steps: Mapping[str, xr.Dataset], power: Array) -> dict[str, Array]:
    """Return the bursts of powers (time, side, joint), W/kg, by name, in the cycles with kinetics."""
    cut = steps["cycles"]
    frames = phase_frames(steps["kinematics"].time.values, cut.start_time.values, cut.end_time.values)
    row = np.array([SIDES.index(side) for side in cut.side.values], dtype=int)
    curves = {
        name: cut[name].values for name in ("joint_angle", "joint_moment_jcs", "ankle_foot_power", "ground_force")
    }
    found = peaks(curves | {"joint_power": at_phases(power, frames, row)}, stance_share=cut.stance_share.values)
    return {name: found[metric][cut.kinetics_valid.values] for name, metric in BURSTS.items()}
