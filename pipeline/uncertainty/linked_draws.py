"""Draws of errors of a session with linked legs: markers and joints err, and the fit makes errors of poses of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Array
from ..body.legs import Legs
from ..signals.splines import derivatives
from ..trials.session import spans_of
from .error_draws import SOURCES, DrawnFrom, ErrorDraws, Errors
from .linked_legs import LinkedLegs

OF_STATIC = ("segment_axes", "joint_centres")  # sources of constant errors of axes and joint centres


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
