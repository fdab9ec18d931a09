"""What the viewer draws of one trial: arrays over time from the results of its session."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from ...arrays import Array
from ...conventions import JOINTS, SIDES
from ...plates.sole import sole
from ...plates.wrench import centre_of_pressure
from ...steps.cycles.representative import points_of_figure
from ...steps.report.one_walk import LIMBS, ROUND, TRUNK
from ...trials.session import facts_of_trials, one_trial, spans_of
from ...variables.stance_verdicts import verdict_of

Session = Mapping[str, xr.Dataset]  # results of a session by step
STEPS = ("read", "clean", "contacts", "kinematics", "kinetics", "cycles")  # that may reject a trial, in their order
LEAST_N = 20.0  # smallest force that is drawn
AXIS_M = 0.08  # length of the axes of a joint as drawn


class Event(NamedTuple):
    """A foot strike or off: seconds, side, name, and where it is from."""

    time: float
    side: str
    name: str
    source: str


class Contact(NamedTuple):
    """A stance with its verdict (used, doubted, not on a plate, refused) and the words of why."""

    start: float
    end: float
    side: str
    plates: str
    verdict: str
    why: str


@dataclass(frozen=True, eq=False)
class ShownTrial:
    """A trial over ``time`` (s), in the axes of the lab (x forward, y up, z right), m.

    ``recorded``: markers (time, marker, 3), NaN where they are not seen; ``repaired``: those of the body model, with
    the labels ``landmark``, code of their repair ``fill`` and distance from their place in the linked legs ``residual``
    (time, landmark), m, if these are linked; ``figure``: lines of legs and pelvis, trunk and arms (time, line, 2, 3),
    with the side or ``pelvis`` of each in ``sides``; ``round``: head and centre of mass, if they are known (time,
    point, 3); ``centres``: those of the legs (time, joint, 3);
    ``axes``: those of the segments, at the joints (time, line, 2, 3); ``corners``: of plates (plate, 4, 3); ``force``,
    ``pressure``: the force on the person of each plate and where it acts (time, plate, 3), NaN without load.
    ``notes`` says why a trial is rejected.
    """

    time: Array
    marker: list[str]
    recorded: Array
    landmark: list[str]
    repaired: Array
    fill: Array
    residual: Array
    figure: Array
    sides: list[str]
    round: Array
    centres: Array
    axes: Array
    plates: list[int]
    corners: Array
    force: Array
    pressure: Array
    soles: dict[str, Array]
    events: list[Event]
    contacts: list[Contact]
    notes: str = ""

    def message(self) -> dict[str, Any]:
        """Return the trial as the page takes it: as JSON, arrays as of :func:`packed`."""
        fields = {name: packed(value) if isinstance(value, np.ndarray) else value for name, value in vars(self).items()}
        rows = {name: [one._asdict() for one in getattr(self, name)] for name in ("events", "contacts")}
        return {**fields, **rows, "soles": {side: packed(outline) for side, outline in self.soles.items()}}


def packed(values: Array) -> dict[str, Any]:
    """Return an array as JSON: its shape, and its values in single precision, little-endian, as base64."""
    return {"shape": values.shape, "values": b64encode(values.astype("<f4").tobytes()).decode()}


def trials_of_session(session: Session) -> dict[str, tuple[str, str]]:
    """Return role and reason of the rejection (empty without) of each trial, by name."""
    steps = [facts_of_trials(session[step]) for step in STEPS]
    return {
        name: (
            str(about.get("role", "gait")),
            next((str(facts[name]["rejected"]) for facts in steps if facts.get(name, {}).get("rejected")), ""),
        )
        for name, about in steps[0].items()
    }


def shown_trial(session: Session, name: str) -> ShownTrial:
    """Return what is drawn of a trial. One that is no walk, or is rejected, has only its recorded markers, if any."""
    read = one_trial(session["read"], name)
    notes = trials_of_session(session)[name][1]
    if "rejected" in read.attrs:
        return _plain(np.zeros(1), [], np.empty((1, 0, 3)), notes)
    plain = _plain(read.time.values, read.marker.values.tolist(), read.marker_position.values, notes)
    facts = facts_of_trials(session["kinematics"]).get(name)
    if facts is None or facts.get("rejected"):
        return plain
    clean, motion, found = (one_trial(session[step], name) for step in ("clean", "kinematics", "contacts"))
    figure, sides, known = _figure(motion, clean)
    force, pressure = _forces(clean)
    residual = motion.marker_residual.values if "marker_residual" in motion else np.empty((len(plain.time), 0))
    events = (found[name].values.tolist() for name in ("event_time", "event_side", "event", "event_source"))
    return replace(
        plain,
        landmark=[str(label) for label in clean.label.values],
        repaired=clean.marker_position.values,
        fill=clean.fill.values,
        residual=residual,
        figure=figure,
        sides=sides,
        round=known,
        centres=motion.joint_centre.values.reshape(len(plain.time), -1, 3),
        axes=_axes(motion),
        plates=clean.plate.values.tolist(),
        corners=clean.plate_corner.values,
        force=force,
        pressure=pressure,
        soles=_soles(clean),
        events=sorted(Event(*row) for row in zip(*events, strict=True)),
        contacts=_contacts(session["cycles"], name),
    )


def _plain(time: Array, labels: list[str], recorded: Array, notes: str) -> ShownTrial:
    """Return a trial of recorded markers alone."""
    nothing = np.empty((len(time), 0, 2, 3))
    points, of_markers = nothing[:, :, 0], nothing[:, :, 0, 0]
    return ShownTrial(
        time, labels, recorded, [], points, of_markers, of_markers, nothing, [], points, points,
        nothing, [], np.empty((0, 4, 3)), points, points, {}, [], [], notes,
    )  # fmt: skip


def _figure(motion: xr.Dataset, clean: xr.Dataset) -> tuple[Array, list[str], Array]:
    """Return the lines of the figure (time, line, 2, 3), the side of each, and its round points (time, point, 3)."""
    points = points_of_figure(motion, clean)
    pairs = [("pelvis", pair) for pair in TRUNK] + [(s, (f"{a} {s}", f"{b} {s}")) for s in SIDES for a, b in LIMBS]
    known = [(side, pair) for side, pair in pairs if points.keys() >= {*pair}]
    lines = [np.stack([points[end] for end in pair], axis=1) for _, pair in known]
    count = motion.sizes["time"]
    around = np.array([points[name] for name in ROUND if name in points]).reshape(-1, count, 3).swapaxes(0, 1)
    return np.stack(lines, axis=1) if lines else np.empty((count, 0, 2, 3)), [side for side, _ in known], around


def _axes(motion: xr.Dataset) -> Array:
    """Return the axes of foot, shank and thigh at ankle, knee and hip (time, line, 2, 3), x, y, z of each in turn."""
    segments = motion.segment.values.tolist()
    of = [segments.index(name) for name in ("foot", "shank", "thigh")]
    at = [JOINTS.index(name) for name in ("ankle", "knee", "hip")]
    start = np.repeat(motion.joint_centre.values[:, :, at, None], 3, axis=3)  # (time, side, joint, axis of segment, 3)
    lines = np.stack([start, start + AXIS_M * motion.rotation.values[:, :, of]], axis=4)
    return np.asarray(lines.reshape(len(lines), -1, 2, 3))


def _forces(clean: xr.Dataset) -> tuple[Array, Array]:
    """Return the force of each plate and where it acts (time, plate, 3), NaN without load."""
    force = np.where(np.abs(clean.plate_force.values[..., 1:2]) < LEAST_N, np.nan, clean.plate_force.values)
    plates = range(force.shape[1])
    at = [
        centre_of_pressure(force[:, i], clean.plate_moment.values[:, i], clean.plate_corner.values[i])[0]
        for i in plates
    ]
    return force, np.stack(at, axis=1) if at else np.empty((len(force), 0, 3))


def _soles(clean: xr.Dataset) -> dict[str, Array]:
    """Return the outline of each foot that shows heel and toe (time, line, 2, 3)."""
    names, position = clean.marker.values.tolist(), clean.marker_position.values
    outlines = {}
    for side in (side for side in SIDES if {f"heel_{side}", f"toe_{side}"} <= {*names}):
        corners = sole(*(position[:, names.index(f"{end}_{side}")] for end in ("heel", "toe")))
        outlines[side] = np.stack([corners, np.roll(corners, -1, axis=1)], axis=2)
    return outlines


def _contacts(cycles: xr.Dataset, trial: str) -> list[Contact]:
    """Return the stances of a trial as quality.csv has them: every judge has seen them, those of the whole body too."""
    mine = spans_of(cycles, "stance")[cycles.variables["trial"].values.tolist().index(trial)]
    names = ("start", "end", "side", "plates", "code", "doubt_code", "reason", "doubt")
    rows = zip(*(cycles.variables[f"stance_{name}"].values[mine].tolist() for name in names), strict=True)
    return sorted(
        Contact(start, end, side, plates, verdict_of(code, plates, doubt_code), reason or doubt)
        for start, end, side, plates, code, doubt_code, reason, doubt in rows
    )
