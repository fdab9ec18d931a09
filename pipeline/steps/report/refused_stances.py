"""Still pictures of refused plate contacts from above: soles, plates, path of the centre of pressure."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ...arrays import Array
from ...conventions import SIDES
from ...plates.sole import sole
from ...plates.wrench import LOADED_N, centre_of_pressure
from ...trials.session import AnyTrial, trials_of
from ...variables.stance_verdicts import REFUSED, verdict_of
from ...variables.verdict_table import BY_HAND

NEEDS = ("marker_position", "plate_force", "plate_moment", "plate_corner")  # of clean.nc
MOST_PICTURES, MOST_POINTS = 24, 25  # of a page, of a path: a page grows by some 30 kB at most
AROUND_CM = 15  # beyond the plates under the foot and its soles
FARTHEST_CM = 100  # soles that are farther from the plates are not drawn
Frames = NDArray[np.intp]


class Plate(NamedTuple):
    """A plate: its number, outline, place of the number, and whether the foot presses on it."""

    number: str
    outline: str
    place: tuple[float, float]
    pressed: bool


class Picture(NamedTuple):
    """A refused contact: what it is, why it is refused, and what is drawn, in cm: x ahead, y to the person's right."""

    title: str
    reason: str
    side: str
    view: tuple[float, float, float, float]  # left, top, width, height
    plates: list[Plate]
    soles: list[tuple[str, str]]  # side and outline
    path: str  # of the centre of pressure
    ahead: int  # -1 for walking backwards, 0 without travel


def pictures_of(cycles: Mapping[str, xr.Dataset], clean: Mapping[str, xr.Dataset]) -> tuple[list[Picture], int]:
    """Return pictures of refused plate contacts, and how many more there are, by session.

    Args:
        cycles: with the verdict on each stance.
        clean: the variables of :data:`NEEDS`; a session is asked for only if it has such a contact.
    """
    pictures, count = list[Picture](), 0
    for session, data in cycles.items():
        rows = [*_refused(data)]
        some, count = rows[: MOST_PICTURES - len(pictures)], count + len(rows)
        trials = trials_of(clean[session]) if some else {}
        pictures += [_picture(trials[row["trial"]], row) for row in some]
    return pictures, count - len(pictures)


def _refused(data: xr.Dataset) -> Iterator[dict[str, Any]]:
    """Yield trial, side, start, end, plates and reason of each refused stance with plates, but of cycles left out."""
    if "stance" not in data.dims:
        return
    names = ("side", "start", "end", "plates", "code", "reason", "doubt_code")
    columns = [data.variables[f"stance_{name}"].values.tolist() for name in names]
    trials = data.variables["trial"].values[data.variables["stance_trial"].values].tolist()
    for trial, *cells in zip(trials, *columns, strict=True):
        row = dict(zip(names, cells, strict=True)) | {"trial": trial}
        verdict = verdict_of(row["code"], row["plates"], row["doubt_code"])
        if verdict == REFUSED and row["plates"] and row["code"] != BY_HAND:
            yield row


def _picture(trial: AnyTrial, row: Mapping[str, Any]) -> Picture:
    """Return the picture of a refused stance.

    The foot is drawn in the middle of its stance, the other one at start and end, where both may be on the ground.
    """
    time, side = trial["time"].values, row["side"]
    here = np.flatnonzero((time >= row["start"]) & (time <= row["end"]))
    numbers = [str(number) for number in trial["plate"].values.tolist()]
    pressed = [numbers.index(number) for number in row["plates"].split()]
    corners = trial["plate_corner"].values
    quads = [_in_plan(each) for each in corners]
    edge = np.concatenate([quads[i] for i in pressed])
    soles, other = [], SIDES[1 - SIDES.index(side)]
    for of, frames in ((side, here[len(here) // 2 :][:1]), (other, here[[0, -1]] if here.size else here)):
        soles += [
            (of, outline)
            for outline in _soles(trial, of, frames)
            if np.linalg.norm(outline[:, None] - edge, axis=-1).min() < FARTHEST_CM
        ]
    every = np.concatenate([edge, *(outline for _, outline in soles)])
    low, high = every.min(axis=0) - AROUND_CM, every.max(axis=0) + AROUND_CM
    plates = [
        Plate(number, _points(quad), (round(float(quad[:, 0].mean())), round(float(quad[:, 1].mean()))), i in pressed)
        for i, (number, quad) in enumerate(zip(numbers, quads, strict=True))
        if (quad.max(axis=0) > low).all() and (quad.min(axis=0) < high).all()
    ]
    title = f"{row['trial']}, {side} {row['start']:.2f} to {row['end']:.2f} s on plate {row['plates']}"
    ahead = {"forwards": 1, "backwards": -1}.get(trial.attrs.get("direction_of_travel", ""), 0)
    view = (*np.floor(low).tolist(), *np.ceil(high - low).tolist())
    force, moment = (trial[name].values[here][:, pressed].sum(axis=1) for name in ("plate_force", "plate_moment"))
    loaded = force[:, 1] > LOADED_N
    path = _in_plan(centre_of_pressure(force[loaded], moment[loaded], trial["plate_corner"].values[pressed[0]])[0])
    path = path[np.isfinite(path).all(axis=1)]
    path = path[np.unique(np.linspace(0, len(path) - 1, MOST_POINTS).round().astype(int))] if len(path) else path
    outlines = [(of, _points(one)) for of, one in soles]
    return Picture(title, row["reason"], side, view, plates, outlines, _points(path), ahead)


def _in_plan(points: Array) -> Array:
    """Return points (..., 3), lab axes, m, from above (..., 2): ahead to the right, the person's right down, cm."""
    return np.asarray(100 * points[..., [0, 2]])


def _soles(trial: AnyTrial, side: str, frames: Frames) -> list[Array]:
    """Return the outlines (6, 2) of a foot's sole at some frames, where its markers are seen."""
    markers = trial["marker"].values.tolist()
    if not {f"heel_{side}", f"toe_{side}"} <= {*markers}:
        return []
    heel, toe = (trial["marker_position"].values[frames, markers.index(f"{end}_{side}")] for end in ("heel", "toe"))
    return [one for one in _in_plan(sole(heel, toe)) if np.isfinite(one).all()]


def _points(points: Array) -> str:
    """Return points (point, 2), cm, as SVG writes them, to a millimetre."""
    return " ".join(f"{x:.1f},{y:.1f}".replace(".0", "") for x, y in points)
