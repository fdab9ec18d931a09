"""Studies of whole people in C3D files: a static trial and motions over force plates, without noise.

Labels are those of the body model ``isb_clusters`` and, above the pelvis, of Plug-in Gait with medial markers of the
elbow. They are placed so that these rules give the exact centres and axes:

- pelvis and legs: as ``isb_clusters`` has them, hip centres by Harrington's single-variable regression
- thorax: y from mid(STRN, T10) to mid(C7, CLAV), x in the plane with mid(C7, T10) to mid(CLAV, STRN); the neck
  centre is mid(C7, CLAV)
- head: x from mid(LBHD, RBHD) to mid(LFHD, RFHD), z in the plane with left to right
- elbow: mid(ELB, ELBM); wrist: mid(WRA, WRB), WRA on the side of the thumb; z of upper arm and forearm in the plane
  with these lines, y along the segment
- hand: y from FIN to the wrist, z in the plane with WRB to WRA, which is the forearm's z
- shoulder: from the acromion SHO by one of :data:`SHOULDERS`

Files have z up, mm and N mm; plates are of type 2 with sensors below the top. Each lies under one foot: a walk has one
for each step, or a belt for each foot.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
import yaml
from numpy.typing import NDArray

from pipeline.tables.study_tables import SEGMENT_COLUMNS
from tests.support.files.c3d_writer import Channels, channels, write_c3d
from tests.support.walks.as_c3d import Z_UP
from tests.support.walks.as_clean import ANALOG_HZ, MARKER_HZ, Rectangle
from tests.support.whole_body.motions import MOTIONS, PERIOD_S, STILL, Motion
from tests.support.whole_body.person import ANKLE_HEIGHT, BODIES, MARKER_RADIUS_M, SIDES, Person
from tests.support.whole_body.truth import generated, ground, truth

Array = NDArray[np.float64]
Places = dict[str, tuple[str, Array]]

MEDIAL = tuple(f"{side}{name}" for side in "LR" for name in ("MEK", "MML"))  # in the static trial only
OF_DISTANCE = 0.17  # of the shoulders: Rab et al. 2002
SECONDS, STATIC_S = 3.9, 1.0
SAMPLES_S = np.arange(round(SECONDS * ANALOG_HZ)) / ANALOG_HZ
START = 0.25  # of a recording, in periods: when no foot of a walk swings
BELT_M = (-1.0, 1.0)
SEAM_M, WIDE_M = 0.005, 0.5
SETTINGS: dict[str, Any] = {
    "body_model": "isb_clusters",
    "clean": {"marker_cutoff_hz": None, "force_cutoff_hz": None},
    "kinematics": {"method": "segments"},
}


def write_study(
    folder: Path,
    person: Person,
    kinds: Sequence[str] = MOTIONS,
    *,
    seed: int = 0,
    treadmill: bool = False,
    shoulder: str = "rab",
    leave_out: Container[str] = (),
    upper_segments: bool = True,
    slope_deg: float = 0.0,
    axes_rise: bool = False,
    settings: Mapping[str, Any] = SETTINGS,
) -> dict[str, xr.Dataset]:
    """Write a study of one person, sub-01, and return what is true of each trial at its frames, by trial.

    Trials: ``static`` and one for each kind of motion, named like it; see :func:`tests.support.whole_body.truth.truth`.
    Times count from the first frame.

    Args:
        folder: of the study; made if it is not there.
        seed: of the motions.
        treadmill: whether the walk is on two belts.
        shoulder: one of :data:`SHOULDERS`.
        leave_out: labels of markers that are in no file.
        upper_segments: whether segments.tsv has rows for pelvis, trunk, head and arms as well as for the legs.
        slope_deg: of the ground under all motions, uphill positive; the static trial is on the level.
        axes_rise: whether the axes of their files rise with it, as after a calibration on the belt; trials.tsv says so.
        settings: of study.yaml.
    """
    folder.mkdir(parents=True, exist_ok=True)
    slope_rad = float(np.radians(slope_deg))
    places = {label: place for label, place in marker_places(person, shoulder).items() if label not in leave_out}
    known = {"static": _standing(person, seed)}
    write_c3d(folder / "static.c3d", _in_file(known["static"], places, Z_UP))
    walking = {label: place for label, place in places.items() if label not in MEDIAL}
    for kind in kinds:
        speed = Motion(kind, seed, slope_rad=slope_rad).speed_m_s(person)
        motion, known[kind], on_feet = _moving(person, kind, seed, speed * treadmill, slope_rad)
        turn = Z_UP @ motion.ramp.T if axes_rise else Z_UP
        plates = [*_plates(person, motion, on_feet, turn)]
        write_c3d(folder / f"{kind}.c3d", _in_file(known[kind], walking, turn), plates=plates)
    speed = Motion("walk", seed, slope_rad=slope_rad).speed_m_s(person)
    stated = {"belt_speed_m_s": speed} if treadmill else {}
    _write_tables(folder, person, known, stated | ({"slope_degrees": slope_deg} if axes_rise else {}))
    _write_segments(folder / "segments.tsv", person, BODIES if upper_segments else BODIES[-6:])
    (folder / "study.yaml").write_text(yaml.safe_dump(dict(settings)))
    return known


@cache
def _standing(person: Person, seed: int) -> xr.Dataset:
    """Return what is true of the static trial."""
    return truth(person, generated(person, STILL, seed), np.arange(STATIC_S * MARKER_HZ) / MARKER_HZ)


@cache
def _moving(
    person: Person, kind: str, seed: int, belt_m_s: float, slope_rad: float
) -> tuple[Motion, xr.Dataset, dict[str, Array]]:
    """Return a motion, what is true at its frames, and the ground's forces at the samples of plates, computed once."""
    motion = generated(person, kind, seed, belt_m_s=belt_m_s, slope_rad=slope_rad)
    frames, start_s = np.arange(round(SECONDS * MARKER_HZ)) / MARKER_HZ, START * motion.period_s
    known = truth(person, motion, start_s + frames).assign_coords(time=frames)
    return motion, known, ground(person, motion, start_s + SAMPLES_S)


def marker_places(person: Person, shoulder: str = "rab") -> Places:
    """Return the body of each marker and its place (3,) from the body's origin, in its axes, m, by label."""
    h = person.height_m
    places: Places = {
        "C7": ("thorax", h * np.array([-0.035, 0.01, 0.003])),
        "CLAV": ("thorax", h * np.array([0.035, -0.01, -0.003])),
        "STRN": ("thorax", h * np.array([0.065, -0.09, 0.003])),
        "T10": ("thorax", h * np.array([-0.065, -0.11, -0.003])),
    }
    acromions = SHOULDERS[shoulder](person)
    for side, sign in zip(SIDES, (-1, 1), strict=True):
        for name, (body, place) in _of_side(person, side).items():
            whole = body if body in ("pelvis", "head") else f"{body}_{side}"
            places[f"{side[0].upper()}{name}"] = whole, np.array(place) * [1, 1, sign]
        places[f"{side[0].upper()}SHO"] = "thorax", acromions[side]
        spines = np.array([[0, 0, sign * person.pelvis_width / 2], [-person.pelvis_depth, 0, sign * 0.03 * h]])
        for name, place in zip(("ASI", "PSI"), person.asis + spines, strict=True):
            places[f"{side[0].upper()}{name}"] = "pelvis", place
    return places


def _of_side(person: Person, side: str) -> dict[str, tuple[str, tuple[float, float, float]]]:
    """Return the body and the place of a side's markers; the third component is outwards."""
    h, sole = person.height_m, -ANKLE_HEIGHT * person.height_m + 0.025
    thigh, shank, upper_arm, forearm = (
        person.length(f"{b}_{side}") for b in ("thigh", "shank", "upper_arm", "forearm")
    )
    return {
        "FHD": ("head", (0.055 * h, 0.11 * h, 0.035 * h)),
        "BHD": ("head", (-0.045 * h, 0.11 * h, 0.035 * h)),
        "ELB": ("upper_arm", (0.0, -upper_arm + 0.004, 0.045)),
        "ELBM": ("upper_arm", (0.0, -upper_arm - 0.004, -0.045)),
        "WRA": ("forearm", (0.0, -forearm, 0.035)),
        "WRB": ("forearm", (0.0, -forearm, -0.035)),
        "FIN": ("hand", (0.0, -0.05 * h, 0.0)),
        "TH1": ("thigh", (0.06, -0.42 * thigh, 0.05)),
        "TH2": ("thigh", (-0.01, -0.4 * thigh, 0.08)),
        "TH3": ("thigh", (0.05, -0.7 * thigh, 0.05)),
        "TH4": ("thigh", (-0.02, -0.65 * thigh, 0.07)),
        "LEK": ("thigh", (0.0, -thigh + 0.004, 0.05)),
        "MEK": ("thigh", (0.0, -thigh - 0.004, -0.05)),
        "SK1": ("shank", (0.04, -0.4 * shank, 0.04)),
        "SK2": ("shank", (-0.02, -0.35 * shank, 0.06)),
        "SK3": ("shank", (0.03, -0.7 * shank, 0.03)),
        "SK4": ("shank", (-0.02, -0.65 * shank, 0.05)),
        "LML": ("shank", (0.0, -shank - 0.004, 0.035)),
        "MML": ("shank", (0.0, -shank + 0.004, -0.035)),
        "HEE": ("foot", (-0.045, sole, 0.0)),
        "MT1": ("foot", (0.075 * h + 0.01, sole, -0.04)),
        "MT5": ("foot", (0.075 * h - 0.01, sole, 0.04)),
        "MT2": ("foot", (0.075 * h + 0.015, sole + 0.01, -0.01)),
    }


def _rab(person: Person) -> dict[str, Array]:
    """Return acromions (3,), m, thorax axes: the shoulder is 17 % of their distance below, along the thorax' y."""
    left, right = (person.place[f"upper_arm_{side}"] for side in SIDES)
    up = np.array([0, OF_DISTANCE * np.linalg.norm(right - left), 0])
    return {side: person.place[f"upper_arm_{side}"] + up for side in SIDES}


def _below(person: Person) -> dict[str, Array]:
    """Return acromions as far above the shoulder, along the thorax' y, as shoulder offset and marker radius."""
    up = {side: np.array([0, person.shoulder_offset[side] + MARKER_RADIUS_M, 0]) for side in SIDES}
    return {side: person.place[f"upper_arm_{side}"] + up[side] for side in SIDES}


def _plug_in_gait(person: Person) -> dict[str, Array]:
    """Return acromions from which the rule of Plug-in Gait gives the shoulder.

    With o behind CLAV by the marker's radius, s the shoulder from o and p the acromion from the shoulder: p is square
    to s, as long as shoulder offset and marker radius d, and in the plane of v = s + p and v x X, X the thorax' x.
    This plane's normal is v x (v x X), so p.X = d^2 s.X / |s|^2.
    """
    result = {}
    for side in SIDES:
        front = marker_places(person)["CLAV"][1] - [MARKER_RADIUS_M, 0, 0]
        s = person.place[f"upper_arm_{side}"] - front
        d, square = person.shoulder_offset[side] + MARKER_RADIUS_M, s @ s
        ahead = np.array([1.0, 0, 0]) - s[0] / square * s
        up = np.cross(s, ahead) * (1 if side == "right" else -1)
        along = d**2 * s[0] / square / np.linalg.norm(ahead)
        p = along * ahead / np.linalg.norm(ahead) + np.sqrt(d**2 - along**2) * up / np.linalg.norm(up)
        result[side] = front + s + p
    return result


SHOULDERS: dict[str, Callable[[Person], dict[str, Array]]] = {
    "rab": _rab,
    "below": _below,
    "plug_in_gait": _plug_in_gait,
}


def paths(known: xr.Dataset, places: Places) -> dict[str, Array]:
    """Return the paths (time, 3) of markers by label, lab axes, m."""
    at = {body: known.sel(body=body) for body in {body for body, _ in places.values()}}
    return {label: at[body].origin.values + place @ at[body].rotation.values for label, (body, place) in places.items()}


def _in_file(known: xr.Dataset, places: Places, turn: Array) -> dict[str, Array]:
    return {label: path @ turn.T for label, path in paths(known, places).items()}


def _plates(person: Person, motion: Motion, on_feet: Mapping[str, Array], turn: Array) -> Iterator[Channels]:
    """Yield a plate under each place of each foot, with what the foot does to it."""
    period = PERIOD_S[motion.kind]
    time = START * period + SAMPLES_S
    for number, sign in enumerate((-1, 1)):
        force, moment = (on_feet[name][:, number] for name in ("ground_force", "ground_moment"))
        across = sorted((sign * SEAM_M, sign * WIDE_M))
        step = np.zeros(len(time))
        if motion.kind == "walk" and not motion.belt_m_s:
            step = np.floor(time / period - 0.5 * number)  # from the middle of a swing to that of the next
        for each in np.unique(step):
            own = step == each
            if motion.belt_m_s or motion.kind != "walk":
                ends = BELT_M
            else:
                stride = motion.speed_m_s(person) * period
                middle = stride * (each + 0.5 + 0.5 * number)
                ends = (middle - stride / 2 + SEAM_M, middle + stride / 2 - SEAM_M)
            if force[own, 1].max() > 1.0:
                masked = own[:, None]
                plate = Rectangle(*ends, *across)
                yield channels(plate, force * masked, moment * masked, turn, ramp=motion.ramp)


def _write_tables(folder: Path, person: Person, trials: Container[str], stated: Mapping[str, float]) -> None:
    sizes = {f"shoulder_offset_{side}_m": person.shoulder_offset[side] for side in SIDES}
    columns = {"participant_id": "sub-01", "mass_kg": person.mass_kg, "height_m": person.height_m, "sex": "n/a"}
    columns |= {"marker_diameter_m": 2 * MARKER_RADIUS_M} | sizes
    _write_table(folder / "participants.tsv", [*columns], [list(columns.values())])
    rows = [
        ["sub-01", trial, f"{trial}.c3d", "static" if trial == "static" else "gait", trial]
        for trial in ("static", *MOTIONS)
        if trial in trials
    ]
    for row in rows:
        row += [{"static": "0"}.get(row[1], str(cell)) for cell in stated.values()]
    _write_table(folder / "trials.tsv", ["participant_id", "trial", "file", "role", "condition", *stated], rows)


def _write_segments(path: Path, person: Person, bodies: Sequence[str]) -> None:
    """Write measured segments; the side of pelvis, thorax and head is n/a."""
    rows = []
    for body in bodies:
        name, _, side = body.rpartition("_")
        place, tensor = ([side, name] if side in SIDES else ["n/a", body]), person.tensor[body]
        second = [tensor[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        rows.append(["sub-01", *place, person.mass[body], *person.com[body], *second])
    _write_table(path, list(SEGMENT_COLUMNS), rows)


def _write_table(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    text = ["\t".join(f"{cell:.12g}" if isinstance(cell, float) else str(cell) for cell in row) for row in rows]
    path.write_text("\n".join(["\t".join(header), *text]) + "\n", encoding="utf-8")
