"""Sound sessions of drawn people: a static trial and walks over plates, what is true of them, and their files.

:func:`sound_session` draws everything: person, way of moving, laboratory, marker set and the errors of markers and
plates, all within what sound laboratories have. The pipeline must use the stances that are valid, or say what a
recording lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline

from pipeline.body.body_model import BodyModel
from pipeline.body.joint_angles import SIGNS
from pipeline.demo.curves import Curve, rotation
from pipeline.recording import Recording
from pipeline.workflow.settings import load_settings
from tests.support.drawn import dynamics
from tests.support.drawn.dynamics import NUMBER, UP, Body, State, Total, turned
from tests.support.drawn.laboratory import (
    Laboratory,
    Skin,
    aimed,
    drawn_laboratory,
    drawn_skin,
    marker_paths,
    met_from,
    origins_of,
    read_out,
    slid,
)
from tests.support.drawn.people import ANKLE_HEIGHT, RADIUS_M, Drawn, drawn_person
from tests.support.drawn.walks import (
    FIRST_GROWS,
    FIRST_PEAK,
    HEEL_FIRST,
    PEAKS,
    PEAKS_GROW,
    Loads,
    Style,
    Walk,
    counted_of,
    walked,
)
from tests.support.faults.twins import Session
from tests.support.files.c3d_writer import Channels, write_c3d
from tests.support.walks.moving_on_plates import DEPTH_M, Z_UP, Top, Truth, carried_by, channels, truths_of
from tests.support.walks.moving_person import Motion
from tests.support.walks.ways_of_moving import ON_TOES, PACES, Pace, Rolling, steps_of, walking
from tests.support.walks.ways_of_moving import Person as Walker
from tests.support.whole_body.person import BODIES, SIDES

Array = NDArray[np.float64]

MODELS = ("isb_clusters", "plug_in_gait", "gait2354", "functional_clusters")
MEDIAL = ("medial_epicondyle", "medial_malleolus")  # worn in the static trial only, with half of the clusters
STATIC_S = 0.5
MASS_SD, HEIGHT_SD_M = 0.006, 0.007  # of participants.tsv: scales, clothes and shoes
GRID_HZ = 180.0  # at least, of the wrench that is interpolated to the samples of the plates: errors below 0.2 N and N m
FEWEST, MOST = 4, 6  # walks of a session
WALKS_A_SESSION = (FEWEST + MOST) / 2


# Largest joint moments, ankle, knee, hip, and vertical force of a foot: those of Schwartz et al. (2008) who walk
# fastest, and three standard deviations more; in crouch knees bear as much. Nobody is nearly in flight.
MOST_N_M_KG, MOST_N_KG, LEAST_N_KG = np.array([2.3, 1.9, 2.6]), 17.0, 2.5
TRIES, SHORTER = 25, 0.95


class Way(NamedTuple):
    """A way of moving: the plan's, its pace, how a foot rolls, more flexion of the knees, degrees, and its one side."""

    plan: str
    pace: Callable[[Walker, np.random.Generator], Pace]
    rolling: Rolling | None = None
    knee_deg: tuple[float, float] = (-2.0, 3.0)
    one_sided: bool = False


def _scaled(curve: Curve, factor: float, cycles: Array) -> Array:
    return factor * curve(cycles)


# the foot of a stiff leg rises less and turns less
STIFF = HEEL_FIRST._replace(
    pitch=partial(_scaled, HEEL_FIRST.pitch, 0.6), clearance=partial(_scaled, HEEL_FIRST.clearance, 0.6)
)
# Running and stairs are left out: a body that turns nothing in flight cannot be planned step by step. Knees of crouch
# bend by at least 15 to 30 degrees, a stiff one 8 to 20 less in swing than the other (Sutherland & Davids 1993).
WAYS = {
    "ordinary": Way("straight", walking((1.0, 1.4))),
    "slow": Way("slow", walking((0.5, 0.85))),
    "fast": Way("straight", walking((1.4, 1.65))),
    "crouch": Way(
        "straight", walking((0.6, 1.1)), HEEL_FIRST._replace(pitch=partial(_scaled, HEEL_FIRST.pitch, 0.75)), (15, 30)
    ),
    "toe walking": Way("on toes", walking((0.5, 1.0), ON_TOES), ON_TOES, (4, 10)),
    "stiff knee": Way("straight", walking((0.6, 1.0)), one_sided=True),
    "limping": Way("limping", PACES["limping"]),
    "turning": Way("turning", PACES["turning"]),
    "backwards": Way("straight", walking((0.5, 0.95))),
}
ORDINARY = 0.4  # share of sessions that are ordinary; the rest take the others in turn


class Sound(NamedTuple):
    """A sound session and what is true of it.

    ``session``: as the campaigns take it; ``way``; ``drawn``: the person; ``laboratory``; by file of its walks:
    ``walks``: the motions, ``truths``: the stances, ``moments`` (frame, side, joint, 3): exact joint moments in the
    joints' own axes with clinical signs, before any filter, N m/kg.
    """

    session: Session
    way: str
    drawn: Drawn
    laboratory: Laboratory
    walks: Mapping[str, Walk]
    truths: Mapping[str, list[Truth]]
    moments: Mapping[str, Array]


def sound_session(seed: int, *, way: str = "", noise: bool = True) -> Sound:
    """Return a drawn session; its way of moving, too, unless given; or the same one with exact cameras."""
    rng = np.random.default_rng([seed, 51])
    others = [name for name in WAYS if name != "ordinary"]
    way = way or ("ordinary" if rng.random() < ORDINARY else others[int(rng.integers(len(others)))])
    drawn = drawn_person(rng)
    pace, style, rolling = _habit(way, drawn, rng)
    laboratory, skin = drawn_laboratory(rng, pace.step_m), drawn_skin(drawn, rng)
    laboratory = laboratory if noise else laboratory._replace(noise_m=0.0)
    chosen, model = _settings(MODELS[int(rng.integers(len(MODELS)))])
    turns = rotation(1, np.radians(rng.choice([0, 90, 180, 270]) * np.ones(1)))[0]  # walk along X or Y of the file
    medial = model.name != "isb_clusters" or rng.random() < 0.5
    there_and_back, backwards = rng.random() < 0.5, way == "backwards"
    recordings, walks, truths, moments = {"static.c3d": _static(drawn, model, laboratory, turns, rng)}, {}, {}, {}
    for number in range(int(rng.integers(FEWEST, MOST + 1))):
        file, back = f"gait_{number + 1}.c3d", there_and_back and number % 2 == 1
        pace, walk = _walk(way, drawn, pace, style, rolling, rng)
        tops = met_from(laboratory.tops, back=back)
        walks[file] = walk = walk.moved(aimed(walk.plan, tops, rng))
        made = _measured(walk, laboratory, tops, rng)
        recordings[file] = _recording(
            walk, made, drawn, skin, laboratory, _labels(model, drawn, medial=medial), rng,
            to_lab=turns @ np.diag([-1.0, 1.0, -1.0]) if back else turns, turns=turns, backwards=backwards,
        )  # fmt: skip
        made = _reversed(made) if backwards else made
        truths[file], moments[file] = made.truths, made.moments
    roles = {file: "gait" if file in walks else "static" for file in recordings}
    about = {"participant_id": "sub-01", "condition": way.replace(" ", "_")}
    rows = [{**about, "trial": Path(file).stem, "file": file, "role": role} for file, role in roles.items()]
    session = Session(f"drawn {way} {seed}", rows, recordings, _participant(drawn, rng), (), model, chosen)
    return Sound(session, way, drawn, laboratory, walks, truths, moments)


def drawn_walk(seed: int, way: str) -> tuple[Drawn, Walk]:
    """Return a drawn person and one of her walks, without a laboratory."""
    rng = np.random.default_rng([seed, 52])
    drawn = drawn_person(rng)
    pace, style, rolling = _habit(way, drawn, rng)
    return drawn, _walk(way, drawn, pace, style, rolling, rng)[1]


@cache
def _settings(name: str) -> tuple[dict[str, Any], BodyModel]:
    return load_settings({"body_model": name}, where="tests", study_path=Path())


def _habit(way: str, drawn: Drawn, rng: np.random.Generator) -> tuple[Pace, Style, tuple[Rolling, Rolling] | None]:
    """Return how a person walks in all her walks."""
    of, lame = WAYS[way], int(rng.integers(2))
    pace = of.pace(drawn.walker, rng)
    speed = pace.step_m / pace.step_s / np.sqrt(drawn.walker.height_m / 1.75)
    knee = rng.uniform(*of.knee_deg, 2) if not of.one_sided else np.zeros(2)
    swing = 16 * np.sqrt(speed) * rng.uniform(0.5, 1.4)
    style = Style(
        knee_deg=(float(knee[0]), float(knee[1])), knee=float(rng.uniform(0.85, 1.15)),
        pelvis=(float(rng.normal(10.5, 4)), float(rng.uniform(2, 5)), float(rng.uniform(3, 7))),
        trunk=(float(rng.normal(3, 2.5) + (5 if way == "crouch" else 0)), float(rng.uniform(2, 6))),
        arms=(float(swing * rng.uniform(0.8, 1.1)), float(swing * rng.uniform(0.8, 1.1))),
        elbow_deg=float(rng.uniform(10, 40)), turns=float(rng.uniform(0.4, 1.6)),
        sway_deg=float(rng.uniform(0.5, 2) * (2 if way == "limping" else 1)),
    )  # fmt: skip
    first = of.rolling or HEEL_FIRST
    rolling = (first, STIFF if of.one_sided else first)
    if way == "limping":
        return pace, style, None
    return pace, style, (rolling[lame], rolling[1 - lame])


def _walk(
    way: str, drawn: Drawn, pace: Pace, style: Style, rolling: tuple[Rolling, Rolling] | None, rng: np.random.Generator
) -> tuple[Pace, Walk]:
    """Return a walk, and the pace for the next: one whose loads no person would bear is walked with shorter steps."""
    for _ in range(TRIES):
        own = pace._replace(
            step_m=pace.step_m * (1 + 0.02 * rng.normal()), step_s=pace.step_s * (1 + 0.015 * rng.normal())
        )
        plan = steps_of(WAYS[way].plan, drawn.walker, own, rng)
        speed = own.step_m / own.step_s / np.sqrt(drawn.walker.height_m / 1.75)
        peaks = PEAKS * (speed / 1.25) ** PEAKS_GROW * plan.peaks
        first = plan.first_peak + max(FIRST_PEAK + FIRST_GROWS * (speed - 1.25), 0.0)
        plan = replace(plan, rolling=rolling or plan.rolling, peaks=peaks, first_peak=first)
        walk = walked(drawn.whole, plan, style)
        if is_human(walk):
            return pace, walk
        pace = pace._replace(step_m=SHORTER * pace.step_m)
    msg = f"no {way} of this person is like people's"
    raise AssertionError(msg)


def is_human(walk: Walk) -> bool:
    """Return whether the loads of the recorded steps are within those of people, :data:`MOST_N_M_KG` and the others."""
    inner = walk.plan.inner
    time = np.arange(walk.plan.strike[inner.start], walk.plan.off[inner.stop - 1], 0.02)
    state, mass_kg = walk.at(time), walk.person.mass_kg
    loads = walk.on_feet(time, state.ground, state.joint[:, 0])
    moment = np.abs(joint_moments(walk, state, time)).max(axis=(0, 1, 3)) / mass_kg
    vertical, total = loads.force[..., 1].max() / mass_kg, state.ground.force[:, 1].min() / mass_kg
    return bool((moment < MOST_N_M_KG).all() and vertical < MOST_N_KG and total > LEAST_N_KG)


def _participant(drawn: Drawn, rng: np.random.Generator) -> dict[str, str]:
    mass_kg = drawn.whole.mass_kg * (1 + MASS_SD * float(np.clip(rng.normal(), -2.5, 2.5)))
    height_m = drawn.whole.height_m + HEIGHT_SD_M * rng.normal()
    cells = {"mass_kg": f"{mass_kg:.1f}", "height_m": f"{height_m:.2f}", "sex": drawn.sex}
    cells |= {"age_years": f"{drawn.age_years:.0f}", "marker_diameter_m": f"{2 * RADIUS_M:.3f}"}
    return {"participant_id": "sub-01"} | cells | {name: f"{size:.3f}" for name, size in drawn.sizes.items()}


# --- recordings ------------------------------------------------------------------------------------------------------


class _Measured(NamedTuple):
    """A walk in a laboratory.

    ``time`` (frame,) of the motion, s, and its ``state`` then; ``channels`` (sample, 6) of each plate, N and N m,
    without errors; ``truths``: the stances on the file's time axis; ``moments`` (frame, side, joint, 3): exact, N m/kg.
    """

    time: Array
    state: State
    channels: list[Array]
    truths: list[Truth]
    moments: Array


def _measured(walk: Walk, laboratory: Laboratory, tops: list[Top], rng: np.random.Generator) -> _Measured:
    """Return what cameras and plates see, some tenths of a second longer than the recorded steps."""
    plan, rate = walk.plan, laboratory.marker_hz
    start = plan.strike[plan.inner.start] - rng.uniform(0.1, 0.5)
    end = plan.off[plan.inner.stop - 1] + rng.uniform(0.1, 0.5)
    more = -int(-GRID_HZ // rate)
    grid = start + np.arange(int((end - start) * rate) * more) / (more * rate)
    every, time = walk.at(grid), grid[::more]
    parts = [getattr(every, name)[::more] for name in State.__dataclass_fields__ if name != "body"]
    state = State(every.body, *parts)
    analog = start + np.arange(len(time) * (laboratory.analog_hz // rate)) / laboratory.analog_hz
    inside = analog[analog <= grid[-1]]
    known = np.hstack([every.ground.force, every.ground.moment, every.joint[:, 0]])
    known = make_interp_spline(grid, known, k=3)(inside)
    known = np.pad(known, ((0, len(analog) - len(inside)), (0, 0)), mode="edge")
    loads = walk.on_feet(analog, Total(known[:, :3], known[:, 3:6]), known[:, 6:])
    motion = Motion(analog, loads.force, loads.pressed, loads.free, known[:, 6:])
    carried = carried_by(plan, motion, tops)
    truths = truths_of(plan, motion, tops, carried[0][..., 1], (float(time[0]), float(time[-1])), -float(time[0]))
    force, moment = (part.sum(axis=0) for part in carried)
    readings = [channels(top, force[:, i], moment[:, i]) for i, top in enumerate(tops)]
    return _Measured(time, state, readings, truths, joint_moments(walk, state, time) / walk.person.mass_kg)


def _reversed(made: _Measured) -> _Measured:
    """Return a walk backwards, which is a walk with the time reversed: forces and accelerations are the same."""
    end_s = float(made.time[-1] - made.time[0])
    truths = [one._replace(start_s=end_s - one.end_s, end_s=end_s - one.start_s) for one in made.truths]
    return made._replace(truths=truths, moments=made.moments[::-1])


def _recording(
    walk: Walk, made: _Measured, drawn: Drawn, skin: Skin, laboratory: Laboratory, labels: Mapping[str, str],
    rng: np.random.Generator, *, to_lab: Array, turns: Array, backwards: bool,
) -> Recording:  # fmt: skip
    """Return the file of a walk.

    Args:
        labels: as :func:`_labels`.
        to_lab, turns: (3, 3) turn the walker's axes, and those in which the plates lie, into the lab's, before z is up.
        backwards: play the walk backwards.
    """
    points = marker_paths(drawn.markers, made.state, origins_of(made.state, drawn))
    slides = slid(drawn, skin, made.state, walk.plan, made.time, counted_of(walk.plan, made.time))
    paths = np.stack([points[name] + slides[name] for name in labels.values()], axis=1) @ (Z_UP @ to_lab).T
    paths += laboratory.noise_m * rng.normal(size=paths.shape)
    analog = np.hstack([read_out(one, rng) * np.repeat([1.0, 1e3], 3) for one in made.channels])
    if backwards:  # the last frame stays at the instant of a sample, without those after it
        last = len(analog) - laboratory.analog_hz // laboratory.marker_hz
        analog = np.vstack([analog[last::-1], np.repeat(analog[:1], len(analog) - last - 1, axis=0)])
        paths = paths[::-1]
    count = len(made.channels)
    platform = {
        "USED": np.array([count]), "TYPE": np.full(count, 2), "ZERO": np.array([1, 0]),
        "CORNERS": np.stack([1e3 * (Z_UP @ turns @ stated.T) for stated in laboratory.stated], axis=-1),
        "ORIGIN": np.array([[0.0, 0.0, -1e3 * DEPTH_M]] * count).T,
        "CHANNEL": np.arange(1, 6 * count + 1).reshape(count, 6).T,
    }  # fmt: skip
    names = [f"{name}{i + 1}" for i in range(count) for name in ("Fx", "Fy", "Fz", "Mx", "My", "Mz")]
    return Recording(
        list(labels), paths, float(laboratory.marker_hz), 0.0, 1e-3, analog=analog,
        analog_rate_hz=float(laboratory.analog_hz), force_platform=platform, analog_labels=names,
        analog_units=["N", "N", "N", "Nmm", "Nmm", "Nmm"] * count,
    )  # fmt: skip


def foot_wrenches(walk: Walk, loads: Loads) -> tuple[Array, Array]:
    """Return force and moment about the lab origin (time, side, 3) of each foot."""
    moment = np.cross(loads.pressed, loads.force) + loads.free[..., None] * UP
    force, moment = (
        np.stack([part[walk.plan.side == side].sum(axis=0) for side in (0, 1)], axis=1)
        for part in (loads.force, moment)
    )
    return force, moment


def joint_moments(walk: Walk, state: State, time: Array) -> Array:
    """Return the exact moments (time, side, joint, 3) about flexion, floating and long axes, clinical signs, N m."""
    loads = walk.on_feet(time, state.ground, state.joint[:, 0])
    _, moment = state.leg_loads(*foot_wrenches(walk, loads))
    result = np.empty_like(moment)
    for number, side in enumerate(SIDES):
        chain = [state.turn[:, NUMBER[f"{bone}_{side}"]] for bone in ("foot", "shank", "thigh")] + [state.turn[:, 0]]
        for joint in range(3):
            first, third = chain[joint + 1][:, :, 2], chain[joint][:, :, 1]
            floating = np.cross(third, first)
            floating /= np.linalg.norm(floating, axis=1, keepdims=True)
            axes = np.stack([first, floating, third], axis=1)
            result[:, number, joint] = np.einsum("tai,ti->ta", axes, moment[:, number, joint]) * SIGNS[number, joint]
    return result


def _labels(model: BodyModel, drawn: Drawn, *, medial: bool) -> dict[str, str]:
    """Return the name in ``drawn.markers`` of each label of a body model; trunk, head and arms are always worn."""
    labels: dict[str, str] = {}
    for landmark, alternatives in model.landmarks.items():
        if landmark in drawn.markers and (medial or not landmark.startswith(MEDIAL)):
            labels |= {group[0]: landmark for group in alternatives[:1] if len(group) == 1}
    worn = {*labels.values()}
    if "sacrum" in model.landmarks and not {"sacrum"} & worn:
        labels |= {f"{side[0].upper()}PSI": f"psis_{side}" for side in SIDES}
    return labels | {name: name for name in drawn.markers if name.isupper() or name in ("C7", "T10")}


def _static(
    drawn: Drawn, model: BodyModel, laboratory: Laboratory, turns: Array, rng: np.random.Generator
) -> Recording:
    """Return a static trial: standing upright with nearly straight knees, swaying less than the noise."""
    whole, rate = drawn.whole, laboratory.marker_hz
    count = max(int(STATIC_S * rate), 12)
    angles = {body: np.zeros(3) for body in BODIES}  # about y, x, z
    angles["pelvis"], angles["thorax"] = np.radians([[0, 0, -9.0], [0, 0, -2.0]])
    for side, sign in zip(SIDES, (-1, 1), strict=True):
        bend = np.radians(rng.uniform(0, 6))
        angles[f"thigh_{side}"], angles[f"shank_{side}"] = np.array([0, 0, bend]), np.array([0, 0, -bend / 2])
        angles[f"foot_{side}"] = np.array([-sign * drawn.walker.toe_out, 0, 0])
        for body, tilt in (("upper_arm", 0.1), ("forearm", 0.3), ("hand", 0.3)):
            angles[f"{body}_{side}"] = np.array([0.1 * sign, -0.15 * sign, tilt])
    turn = np.stack([turned(*angles[body]) for body in BODIES])
    hips = np.array([1.2, 0.0, 0.3])
    path = dynamics.Path.through(np.arange(12) / 11.0, np.tile(hips, (12, 1)), np.tile(turn, (12, 1, 1, 1)))
    state = path.at(Body.of(whole), np.linspace(0, 1, count))
    low = np.mean([state.joint[0, NUMBER[f"foot_{side}"], 1] for side in SIDES]) - ANKLE_HEIGHT * whole.height_m
    points = marker_paths(drawn.markers, state, origins_of(state, drawn))
    labels = _labels(model, drawn, medial=True)
    paths = np.stack([points[name] - low * UP for name in labels.values()], axis=1) @ (Z_UP @ turns).T
    paths += laboratory.noise_m * rng.normal(size=paths.shape)
    return Recording(list(labels), paths, float(rate), 0.0, 1e-3)


# --- files -----------------------------------------------------------------------------------------------------------


def write_study(folder: Path, session: Session) -> None:
    """Write a session as a study: study.yaml, tables and C3D files."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.yaml").write_text(yaml.safe_dump({"body_model": session.model.name}), encoding="utf-8")
    for name, rows in (("participants", [session.participant]), ("trials", session.rows)):
        lines = ["\t".join(rows[0]), *("\t".join(row.values()) for row in rows)]
        (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for file, recording in session.recordings.items():
        write_recording(folder / file, recording)


def write_recording(path: Path, recording: Recording) -> None:
    """Write a recording with plates of type 2 as a C3D file, in mm and N mm."""
    points = {label: recording.markers[:, i] for i, label in enumerate(recording.labels)}
    platform, plates, depth_m = recording.force_platform, [], DEPTH_M
    for number in range(recording.analog.shape[1] // 6):
        readings = recording.analog[:, 6 * number : 6 * number + 6] / np.repeat([1.0, 1e3], 3)
        plates.append(Channels(platform["CORNERS"][:, :, number].T / 1e3, readings))
    write_c3d(
        path, points, plates=plates, depth_m=depth_m, marker_hz=recording.marker_rate_hz,
        analog_hz=recording.analog_rate_hz, zero=(1, 0),
    )  # fmt: skip
