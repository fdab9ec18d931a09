"""Inputs of the step ``cycles`` from walks with known angles, loads and distances."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.conventions import CHAIN, LOADS, SEGMENTS, SIDES, STANDARD_GRAVITY_M_S2
from pipeline.dynamics.interaction_torques import MOTIONS
from pipeline.steps.kinetics.cross_checks import CAUSES, FORMULATIONS
from pipeline.variables.rows import DOUBT
from pipeline.variables.schema import separate_metrics
from pipeline.variables.stance_verdicts import Verdict, reason_columns
from tests.support.settings import settings_of
from tests.support.steps import cycles
from tests.support.studies.corrected import correction
from tests.support.studies.step_results import described_trial
from tests.support.walks.as_clean import HALF_WIDTH_M, SPEED_M_S, STANCE_S, STRIDE_S, Walk, cleaned, vertical

Array = NDArray[np.float64]

MASS_KG = 70.0
LEG_M = np.array([[0.05, 0.04, 0], [0.05, 0.46, 0], [0.05, 0.86, 0]])  # ankle, knee and hip centre from the heel
COM_M = np.array([[0.04, -0.03, 0.01], [0, -0.18, 0], [0, -0.17, 0], [np.nan] * 3])
MASSES = np.array([[2.0], [1]]) * [1.0, 3.3, 7]  # kg; the left leg weighs twice as much as the right one
JOINTS, ANGLES = ["ankle", "knee", "hip"], ["flexion", "adduction", "rotation"]
PHASE = np.arange(101)
ROUNDING = 1e-9
VECTOR = ("time", "side", "joint")
KINETICS = ("joint_moment_jcs", "joint_force", "joint_power", "foot_power", "ankle_foot_power", "ground_force")


class Trial(dict[str, xr.Dataset]):
    """The datasets that ``cycles`` takes, by name."""

    def cut(self, *, left_out: Any = (), **settings: Any) -> xr.Dataset:
        """Return the trial's cycles, with each metric by name too."""
        inputs = [self[name] for name in ("kinetics", "kinematics", "contacts", "clean", "calibrate")]
        cut = cycles(*inputs, settings=settings_of("cycles", **settings), corrections=left_out_by_hand(left_out))
        result = described_trial("cycles", cut)
        return result.assign(separate_metrics(result.metric.values, result.metric_value.values))


def left_out_by_hand(cycles_left_out: Iterable[tuple[str, float, str]]) -> list[dict[str, str]]:
    """Return rows of corrections.tsv from side, start in s and reason."""
    return [
        correction("leave_out_cycle", side=side, time_s=repr(start_s), reason=reason)
        for side, start_s, reason in cycles_left_out
    ]


def amplitude(joint: int, axis: int) -> float:
    return 10.0 * (joint + 1) + axis


def wave(known: Walk, time: Array, side: str) -> Array:
    """Return the sine of a side's gait phase (time,)."""
    stride = known.of(side)[1].start_s - known.of(side)[0].start_s
    return np.asarray(np.sin(2 * np.pi * (time - known.of(side)[0].start_s) / stride))


def trial(known: Walk, *, reasons: Mapping[int, str] | None = None) -> Trial:
    """Return a walk as input of ``cycles``; ``reasons`` rejects footfalls by number.

    Angles and kinetics are sines of the phase, of another size for each joint and axis; kinetics are those per body
    mass times the mass.
    """
    clean = cleaned(known)
    clean = clean.assign_coords(cutoff_hz=("marker", np.full(clean.sizes["marker"], 10.0)))
    time = clean.time.values
    phase = np.stack([wave(known, time, side) for side in SIDES], axis=1)
    sizes = np.array([[amplitude(joint, axis) for axis in range(3)] for joint in range(3)])
    curves = phase[:, :, None, None] * sizes
    contacts = touched(known, time, reasons or {})
    return Trial(
        kinetics=solved(curves).assign_coords(time=time),
        kinematics=upright(clean, contacts.ground_force.values.sum(axis=1)).assign(
            joint_angle=((*VECTOR, "angle"), curves),
            pelvis_angle=(("time", "side", "angle"), curves[:, :, 0]),
            foot_progression=(("time", "side"), curves[:, :, 0, 0]),
            implausible=(("time", "side"), np.zeros((len(time), 2), dtype=np.int8)),
            leg_refused=("side", np.array(["", ""])),
            knee_axis_error=("side", np.zeros(2)),
            knee_axis_in_step=("side", np.zeros(2)),
            fit_residual=(("time", "side", "segment"), np.full((len(time), 2, 4), [0.003, 0.004, np.nan, 1.0])),
            knee_marker_unseen=("side", [0.02, np.inf]),
        ),
        contacts=contacts,
        clean=clean,
        calibrate=body(),
    )


def hide(made: Trial, side: str, first_s: float, last_s: float, *, why: int) -> None:
    """Make moments of a side unknown between two instants, for a reason of ``missing`` in kinetics.nc."""
    place = {"side": side, "time": slice(first_s, last_s)}
    hidden = {name: made["kinetics"][name].copy() for name in ("joint_moment", "joint_moment_jcs", "joint_power")}
    for values in hidden.values():
        values.loc[place] = np.nan
    causes = made["kinetics"]["missing"].copy()
    causes.loc[place] = why
    made["kinetics"] = made["kinetics"].assign(hidden | {"missing": causes})
    made["clean"] = made["clean"].assign_attrs(uncertain_end_s=0.08)


def solved(curves: Array) -> xr.Dataset:
    """Return a result of ``kinetics`` with all loads per body mass equal to curves."""
    moment, shares = MASS_KG * curves, np.arange(1.0, 11).reshape(len(CAUSES), len(MOTIONS))
    kinetics = {"joint_moment": "local_axis", "joint_moment_jcs": "angle", "joint_force": "axis"}
    return xr.Dataset(
        {name: ((*VECTOR, last), moment) for name, last in kinetics.items()}
        | {
            "joint_power": (VECTOR, moment[..., 0]),
            "foot_power": (VECTOR[:2], moment[..., 0, 1]),
            "ankle_foot_power": (VECTOR[:2], moment[..., 0, 2]),
            "interaction_torque": ((*VECTOR, "angle", "cause", "motion"), np.multiply.outer(moment, shares)),
            **{f"pelvis_residual_{load}": (("time", "axis"), 0.01 * moment[:, 0, 0]) for load in LOADS},
            "missing": (VECTOR, np.isnan(moment).any(axis=-1).astype(np.int8)),
            "disagreement": (("formulation", "load"), np.full((len(FORMULATIONS), 2), 1e-12)),
            "forward_closure": (("side", "joint", "angle"), np.arange(18.0).reshape(2, 3, 3)),
            "energy_closure": (("side", "segment"), np.arange(6.0).reshape(2, 3)),
        },
        {
            "side": list(SIDES), "joint": JOINTS, "segment": list(CHAIN), "angle": ANGLES,
            "axis": list("xyz"), "local_axis": list("xyz"), "cause": list(CAUSES), "motion": list(MOTIONS),
            "formulation": list(FORMULATIONS), "load": list(LOADS),
        },
    )  # fmt: skip


def body() -> xr.Dataset:
    """Return a result of ``calibrate`` with clusters of two markers at each foot."""
    inertia = MASSES[..., None, None] * np.diag([0.004, 0.003, 0.005])
    return xr.Dataset(
        {
            "segment_mass": (("side", "segment"), MASSES),
            "segment_inertia": (("side", "segment", "local_axis", "local_axis_2"), inertia),
            "joint_distance": (("side", "segment"), np.array([[np.nan, 0.4, 0.42]] * 2)),
            "chord_radius": (("side", "joint"), np.array([[0.042, 0.058, np.nan]] * 2)),
        },
        {
            "segment": list(CHAIN),
            "cluster_marker": ("cluster", ["heel", "toe"] * 2),
            "cluster_side": ("cluster", ["left", "left", "right", "right"]),
        },
        {"body_mass_kg": MASS_KG, "body_height_m": 1.7},
    )


def upright(clean: xr.Dataset, force: Array) -> xr.Dataset:
    """Return poses of vertical legs at rest above the heels, with the accelerations that a force (time, 3) makes."""
    rates = {"velocity": 0 * force, "acceleration": force / MASS_KG - [0, STANDARD_GRAVITY_M_S2, 0]}
    heel = np.stack([clean.marker_position.sel(marker=f"heel_{side}").values for side in SIDES], axis=1)
    centre = heel[:, :, None] + LEG_M
    com = np.concatenate([centre, centre[:, :, -1:]], axis=2) + COM_M
    rotation = np.broadcast_to(np.eye(3), (*com.shape, 3))
    dims = ("time", "side", "segment")
    places = {"com": ("segment", com), "joint_centre": ("joint", centre)}
    return xr.Dataset(
        {"rotation": ((*dims, "local_axis", "axis"), rotation), "com_position": ((*dims, "axis"), com)}
        | {"joint_centre": (("time", "side", "joint", "axis"), centre)}
        | {
            f"{name}_{rate}": (("time", "side", part, "axis"), 0 * place + of_body[:, None, None])
            for name, (part, place) in places.items()
            for rate, of_body in rates.items()
        }
        | dict.fromkeys(("angular_velocity", "angular_acceleration"), ((*dims, "local_axis"), 0 * com)),
        {
            "time": clean.time, "side": list(SIDES), "segment": list(SEGMENTS), "joint": JOINTS, "angle": ANGLES,
            "axis": list("xyz"), "local_axis": list("xyz"),
        },
        {"smallest_floating_axis": 0.1, "line_of_progression": "lab"},
    )  # fmt: skip


def touched(known: Walk, time: Array, reasons: Mapping[int, str]) -> xr.Dataset:
    """Return a result of ``contacts``: footfalls on plate 1 or with a reason, by its code."""
    end = float(time[-1])
    steps = [step for step in known.steps if step.end_s > time[0] and step.start_s < end]
    bad = {known.seen()[number]: Verdict.of(code) for number, code in reasons.items()}
    events = sorted(
        (instant, kind, step.side)
        for step in steps
        for instant, kind in ((step.start_s, "foot_strike"), (step.end_s, "foot_off"))
        if time[0] < instant < end
    )
    vertical_force = np.stack([sum(vertical(step, time) for step in known.of(side)) for side in SIDES], axis=1)
    return xr.Dataset(
        {
            "ground_force": (("time", "side", "axis"), vertical_force[..., None] * [0.0, 1.0, 0.0]),
            "ground_moment": (("time", "side", "axis"), np.zeros((*vertical_force.shape, 3))),
            "contact_start": ("contact", [max(step.start_s, time[0]) for step in steps]),
            "contact_end": ("contact", [min(step.end_s, end) for step in steps]),
            "event_time": ("event", [instant for instant, _, _ in events]),
            "belt_speed": ("side", np.full(2, known.belt_m_s)),
        },
        {
            "time": time, "side": list(SIDES), "axis": list("xyz"),
            "contact_side": ("contact", [step.side for step in steps]),
            "plates": ("contact", ["" if step in bad else "1" for step in steps]),
            "valid": ("contact", [step not in bad for step in steps]),
            **{
                name: ("contact", texts)
                for name, texts in reason_columns(map(bad.get, steps)).items()
            },
            **dict.fromkeys(DOUBT, ("contact", [""] * len(steps))),
            "event": [kind for _, kind, _ in events],
            "event_side": ("event", [side for _, _, side in events]),
        },
    )  # fmt: skip


def pairs(known: Walk, side: str) -> list[tuple[Any, Any]]:
    """Return footfalls of a side with their successors, both struck within the trial."""
    steps = [step for step in known.of(side) if known.start_s < step.start_s < known.end_s - 0.01]
    return list(zip(steps, steps[1:], strict=False))


EVEN = {
    "stride_time": STRIDE_S,
    "stance_time": STANCE_S,
    "stance_share": 100 * STANCE_S / STRIDE_S,
    "cadence": 2 * 60 / STRIDE_S,
    "stride_length": SPEED_M_S * STRIDE_S,
    "step_length": SPEED_M_S * STRIDE_S / 2,
    "step_width": 2 * HALF_WIDTH_M,
    "walking_speed": SPEED_M_S,
    "step_time": STRIDE_S / 2,
    "single_support_share": 100 * (STRIDE_S - STANCE_S) / STRIDE_S,  # while the other foot swings
    "double_support_share": 100 * (2 * STANCE_S - STRIDE_S) / STRIDE_S,
}


def assert_metrics(result: xr.Dataset, **expected: float) -> None:
    for name, value in expected.items():
        np.testing.assert_allclose(result[name], value, rtol=0, atol=1e-6, err_msg=name)
