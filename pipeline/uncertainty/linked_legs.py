r"""Linked legs, linearised: what errors of markers, axes and joint centres make of the poses of a session.

The fit of the linked legs (:mod:`pipeline.steps.kinematics.linked_leg`) finds the coordinates q with the least weighted
squares of the distances of markers from their places. About its solution, by one step of Gauss and Newton, errors n_i
of the markers move the segments s by the twists (angular, linear about a point O near the pelvis)::

    t_s = B_s (sum_s B_s^T G_s B_s)^-1 sum_s B_s^T f_s      f_s = sum_i w_i [x_i x n_i; n_i]

with B_s the twist of the segment by the coordinates and G_s the matrix of its weighted markers x_i, that of a rigid
body with point masses w_i. Skin that turns all markers of a segment has f_s = G_s times its twist.

Errors of axes and joint centres in the static trial move the joints of the linkage. A centre that is displaced in both
its neighbours parts them once they turn against each other, by d = R_a^T delta_a - R_b^T delta_b (b the distal one);
turned axes do so with the turns of angles that are not free. All beyond the joint moves by that, and the fit follows.
"""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from ..arrays import Array
from ..body.legs import Legs
from ..conventions import CHAIN, HIP, SEGMENTS, SIDES
from ..dynamics.vectors import cross, rotate, skew, sum_from_last, transpose
from ..json_text import from_text
from ..signals.filters import fade_beside_gaps
from ..signals.splines import derivatives
from ..trials.session import spans_of
from .error_draws import SOURCES, DrawnFrom, ErrorDraws, Errors

PELVIS = 6  # index of the pelvis among the bodies, after foot, shank, thigh of the left and the right leg
OF_STATIC = ("segment_axes", "joint_centres")  # sources of constant errors of axes and joint centres
FLOOR = 1e-9  # m2, added to the normal matrix, as in the fit: coordinates that no marker shows stay where they are


class LinkedLegs:
    """The linked legs of a session, about the poses that the step ``kinematics`` found."""

    def __init__(self, legs: Legs, kinematics: xr.Dataset, calibrate: xr.Dataset) -> None:
        """Set up the linkage at every sample.

        Args:
            legs: all samples of the session.
            kinematics: with ``linked_legs`` and the residuals, which show the markers that were fitted.
            calibrate: places of markers and joints in the segments.
        """
        about = from_text(str(kinematics.variables["linked_legs"].values[0]))
        names, self._body, weight = (np.array(column) for column in zip(*about["markers"], strict=True))
        self.names, self.markers = names.tolist(), len(names)
        self._place = _places(calibrate, names.tolist(), self._body.tolist())
        mine = self._body == np.arange(PELVIS + 1)[:, None]
        self.middle = (
            mine @ self._place / np.maximum(mine.sum(axis=1), 1)[:, None]
        )  # of each body, zero without markers
        self._free = np.array(about["free"])
        self._static = np.nan_to_num(calibrate["static_rotation"].sel(side=list(SIDES), pose=list(SEGMENTS)).values)
        self._axes, self._rotation = np.nan_to_num(legs.axes), np.nan_to_num(_bodies(legs.rotation))
        self._known = np.isfinite(legs.rotation[..., 0, 0])
        link = np.nan_to_num(calibrate["joint_link"].values[:, HIP])
        seen = np.isfinite(legs.centre)
        middle = np.where(seen, legs.centre, 0).sum(axis=(1, 2)) / np.maximum(seen.sum(axis=(1, 2)), 1)
        centre = legs.centre - middle[:, None, None]
        hips = centre[:, :, HIP] - rotate(transpose(legs.rotation[:, :, -1]), link)
        of_pelvis = np.where(np.isfinite(hips[:, :1]), hips[:, :1], hips[:, 1:])
        self._origin = np.nan_to_num(np.concatenate([centre.reshape(len(centre), PELVIS, 3), of_pelvis], axis=1))
        self._x = self._origin[:, self._body] + self._to_lab(self._place)
        order = [kinematics["marker"].values.tolist().index(name) for name in names.tolist()]
        posed = np.isfinite(_bodies(legs.rotation))[..., 0, 0]
        seen = np.isfinite(kinematics["marker_residual"].values[:, order]) & posed[:, self._body]
        share = fade_beside_gaps(seen.T, kinematics["time"].values, spans_of(kinematics, "sample"))
        self._weight = share.T * weight.astype(float)
        self._inertia = self._inertias()
        self._by_coordinate = self._twists_by_coordinate()
        normal = np.einsum(
            "tbiq,tbij,tbjr->tqr", self._by_coordinate, self._inertia, self._by_coordinate, optimize=True
        )
        backwards = self._by_coordinate.reshape(len(normal), -1, normal.shape[1])
        self._response = np.linalg.solve(normal + FLOOR * np.eye(normal.shape[1]), transpose(backwards))

    def respond(self, markers: Array, skin: Array, axes: Array, centres: Array) -> tuple[Array, Array]:
        """Return how errors turn the segments, and move their proximal joint centres, all in segment axes.

        NaN where a pose is unknown. The turn is that of the anatomical axes: of the bone, and of the axes in it.

        Args:
            markers: (sample, marker, 3), lab axes, m.
            skin: turns (sample, side, segment, 3) of clusters about their middles, segment axes, rad; one pelvis.
            axes: constant turns (side, segment, 3) of the axes in their segments, rad.
            centres: constant shifts (side, joint, 3) of the joint centres, axes of the distal segments, m.

        Returns:
            (sample, side, segment, 3), rad, and (sample, side, joint, 3), m.
        """
        joints = self._by_joints(axes, centres)
        turn = rotate(transpose(self._rotation), _bodies(skin))
        about = self._origin + self._to_lab(self.middle, every=True)
        of_skin = np.concatenate([turn, cross(about, turn)], axis=-1)
        pulled = self._weight[..., None] * markers
        wrench = np.einsum("tbij,tbj->tbi", self._inertia, of_skin - joints)
        for body in range(PELVIS + 1):
            mine = np.flatnonzero(self._body == body)
            wrench[:, body, :3] += cross(self._x[:, mine], pulled[:, mine]).sum(axis=1)
            wrench[:, body, 3:] += pulled[:, mine].sum(axis=1)
        step = self._response @ wrench.reshape(len(wrench), -1, 1)
        twist = joints + (self._by_coordinate @ step[:, None])[..., 0]
        turned = rotate(self._rotation, twist[..., :3])
        moved = rotate(self._rotation, twist[..., 3:] + cross(twist[..., :3], self._origin))
        shape = (len(twist), len(SIDES), len(CHAIN), 3)
        of_pelvis = np.broadcast_to(turned[:, None, PELVIS:], (*shape[:2], 1, 3))
        turned = np.concatenate([turned[:, :PELVIS].reshape(shape), of_pelvis], axis=2) + axes
        shifted = moved[:, :PELVIS].reshape(shape) + centres
        known = self._known[..., None]
        return np.where(known, turned, np.nan), np.where(known[:, :, : len(CHAIN)], shifted, np.nan)

    def _to_lab(self, local: Array, *, every: bool = False) -> Array:
        """Return vectors of the markers, or of every body, (n, 3) in lab axes (sample, n, 3)."""
        rotation = self._rotation if every else self._rotation[:, self._body]
        return rotate(transpose(rotation), local)

    def _inertias(self) -> Array:
        """Return G (sample, body, 6, 6) of the module's text."""
        moment = skew(self._x)
        result = np.zeros((len(moment), PELVIS + 1, 6, 6))
        for body in range(PELVIS + 1):
            mine = np.flatnonzero(self._body == body)
            weight, arm = self._weight[:, mine], moment[:, mine]
            result[:, body, :3, :3] = -np.einsum("tm,tmij,tmjk->tik", weight, arm, arm)
            result[:, body, :3, 3:] = np.einsum("tm,tmij->tij", weight, arm)
            result[:, body, 3:, :3] = -result[:, body, :3, 3:]
            result[:, body, 3:, 3:] = weight.sum(axis=1)[:, None, None] * np.eye(3)
        return result

    def _twists_by_coordinate(self) -> Array:
        """Return the twists (sample, body, 6, coordinate) by turn and shift of the pelvis, and by the free angles."""
        count, free = len(self._origin), np.argwhere(self._free)
        result = np.zeros((count, PELVIS + 1, 6, 6 + len(SIDES) * len(free)))
        result[..., :6] = np.eye(6)
        for side in range(len(SIDES)):
            for number, (joint, angle) in enumerate(free):
                axis, centre = self._axes[:, side, joint, angle], self._origin[:, len(CHAIN) * side + joint]
                screw = np.concatenate([axis, cross(centre, axis)], axis=-1)
                beyond = slice(len(CHAIN) * side, len(CHAIN) * side + joint + 1)
                result[:, beyond, :, 6 + len(free) * side + number] = screw[:, None]
        return result

    def _by_joints(self, axes: Array, centres: Array) -> Array:
        """Return the twists (sample, body, 6) of the bodies by joints that turned axes and moved centres displace."""
        count = len(self._origin)
        legs = self._rotation[:, :PELVIS].reshape(count, len(SIDES), len(CHAIN), 3, 3)
        pelvis = np.broadcast_to(self._rotation[:, None, PELVIS:], (count, len(SIDES), 1, 3, 3))
        rotation = np.concatenate([legs, pelvis], axis=2)
        above, below = transpose(rotation[:, :, 1:]), transpose(rotation[:, :, :-1])
        stood_above, stood_below = transpose(self._static[:, 1:]), transpose(self._static[:, :-1])
        in_proximal = rotate(transpose(stood_above), rotate(stood_below, centres))
        apart = rotate(above, in_proximal) - rotate(below, centres)
        turned = rotate(above, axes[:, 1:]) - rotate(below, axes[:, :-1])
        if self._free.all():  # the joint follows any turn
            turned = np.zeros_like(turned)
        else:
            turned = turned + self._held(rotate(stood_above, axes[:, 1:]) - rotate(stood_below, axes[:, :-1]))
        centre = self._origin[:, :PELVIS].reshape(count, len(SIDES), len(CHAIN), 3)
        parts = np.concatenate([turned, apart + cross(centre, turned)], axis=-1)
        of_legs = sum_from_last(parts, axis=2).reshape(count, PELVIS, 6)
        return np.concatenate([of_legs, np.zeros((count, 1, 6))], axis=1)

    def _held(self, stood: Array) -> Array:
        """Return the turns (sample, side, joint, 3) by fixed angles, which are those of the static trial.

        Args:
            stood: turn (side, joint, 3) of distal against proximal axes in the static trial, lab axes, rad.
        """
        upper, lower = self._static[:, 1:], self._static[:, :-1]
        first, last = upper[:, :, 2], lower[:, :, 1]
        middle = cross(last, first)
        basis = np.stack([first, middle / np.linalg.norm(middle, axis=-1, keepdims=True), last], axis=-1)
        change = -np.linalg.solve(basis, stood[..., None])[..., 0]
        return np.asarray(np.einsum("sja,tsjai->tsji", np.where(self._free, 0.0, change), self._axes))


class LinkedDraws:
    """The draws of errors of a session with linked legs.

    All numbers are drawn as for separate segments (:class:`ErrorDraws`). Errors of poses change with the posture, so
    their rates are those of the spline that gave the rates of the motion.
    """

    def __init__(self, legs: Legs, source: DrawnFrom) -> None:
        """Draw all errors; ``legs`` are those of the session."""
        kinematics = source.kinematics
        self._linkage = LinkedLegs(legs, kinematics, source.calibrate)
        self._draws = ErrorDraws(source, noisy_markers=self._linkage.markers)
        self._time, self._spans = kinematics["time"].values, spans_of(kinematics, "sample")
        self._unmoved = np.zeros((len(self._time), self._linkage.markers, 3))

    def errors(self, draw: int, sources: Sequence[str] = SOURCES) -> Errors:
        """Return the errors of some sources together, joint centres in the axes of their distal segments."""
        static = self._draws.errors(draw, [name for name in sources if name in OF_STATIC])
        loads = self._draws.errors(
            draw, [name for name in sources if name in ("centre_of_pressure", "segment_parameters")]
        )
        skin = self._draws.skin(draw)[0] if "soft_tissue" in sources else np.zeros_like(static.turn[0])
        markers = self._draws.noise(draw) if "marker_noise" in sources else self._unmoved
        turn, centre = self._linkage.respond(markers, skin, static.turn[0, 0], static.centre[0])
        turned = self._with_rates(turn)
        moved = self._with_rates(centre) + self._draws.by_turn(turned) + loads.shift
        return loads._replace(turn=turned, shift=moved, centre=centre)

    def _with_rates(self, values: Array) -> Array:
        """Return values (sample, ...) with their first and second derivatives (3, sample, ...)."""
        result = np.stack([values, values, values])
        for span in self._spans:
            result[1:, span] = derivatives(values[span], self._time[span])
        return result


def _bodies(parts: Array) -> Array:
    """Return (sample, body, ...) from (sample, side, segment, ...), with the pelvis of a side that shows it."""
    legs = parts[:, :, : len(CHAIN)].reshape(len(parts), PELVIS, *parts.shape[3:])
    first, second = parts[:, :1, -1], parts[:, 1:, -1]
    return np.concatenate([legs, np.where(np.isfinite(first), first, second)], axis=1)


def _places(calibrate: xr.Dataset, names: list[str], bodies: list[int]) -> Array:
    """Return the places (marker, 3) of markers in their bodies from the origins of these, m."""
    owners = (calibrate[f"fixed_{name}"].values.tolist() for name in ("side", "segment", "marker"))
    found: dict[tuple[str, int], Array] = {}
    for side, segment, name, place in zip(*owners, calibrate["fixed_position"].values, strict=True):
        body = PELVIS if segment == SEGMENTS[-1] else len(CHAIN) * SIDES.index(side) + CHAIN.index(segment)
        found.setdefault((name, body), place)
    return np.array([found[key] for key in zip(names, bodies, strict=True)])
