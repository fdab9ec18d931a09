"""Derivatives by a spline, and angular rates: sinusoids, quintics, gaps, a tumbling body."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy.spatial.transform import Rotation

from pipeline.signals.splines import angular_rates, derivatives
from tests.support.walks.person import PROPERTY, SEED, close

INNER = slice(25, -25)  # an interpolating spline's end error falls by 0.43 a sample: 1e-9 after 25


@pytest.mark.parametrize(("frequency_hz", "rate_hz"), [(1, 100), (6, 100), (6, 200), (10, 250)])
def test_derivatives_of_a_sinusoid_are_as_close_as_a_quintic_spline_can_be(frequency_hz: int, rate_hz: int) -> None:
    """At the knots the spline misses the velocity by (wh)^6 / 5040, the acceleration by (wh)^4 / 720 of it."""
    time, omega = np.arange(2 * rate_hz) / rate_hz, 2 * np.pi * frequency_hz
    phase = np.linspace(0, 2, 7)
    first, second = derivatives(np.sin(omega * time[:, None] + phase), time)
    wh = omega / rate_hz
    errors = (
        np.abs(first / omega - np.cos(omega * time[:, None] + phase))[INNER].max(),
        np.abs(second / omega**2 + np.sin(omega * time[:, None] + phase))[INNER].max(),
    )
    # a tenth above the leading term for the next one, and rounding, which differences by h and h^2 magnify
    assert errors[0] < 1.1 * wh**6 / 5040 + 1e-14 / wh
    assert errors[1] < 1.1 * wh**4 / 720 + 1e-13 / wh**2


def test_derivatives_of_a_quintic_are_exact() -> None:
    time = 3 + np.arange(60) / 50  # a file's own time axis need not start at 0
    curve = np.polynomial.Polynomial([1, -2, 0.5, 3, -1, 0.7], domain=[3, 4.2], window=[-1, 1])
    first, second = derivatives(curve(time), time)
    close(first, curve.deriv(1)(time))
    close(second, curve.deriv(2)(time), 1e-6)  # rounding over h^2, at the ends


def test_gaps_stay_and_do_not_leak() -> None:
    time = np.arange(100) / 100
    values = np.random.default_rng(0).normal(size=(100, 2))
    holed = values.copy()
    holed[40:43, 1] = np.nan
    holed[80, 1] = np.nan
    holed[86, 1] = np.nan  # five samples in between: too few for a spline of degree five
    pieces = (slice(0, 40), slice(43, 80), slice(87, 100))
    alone = [derivatives(values[piece], time[piece]) for piece in pieces]
    for order, (found, whole) in enumerate(zip(derivatives(holed, time), derivatives(values, time), strict=True)):
        np.testing.assert_array_equal(found[:, 0], whole[:, 0])
        for piece, parts in zip(pieces, alone, strict=True):
            close(found[piece, 1], parts[order][:, 1], 1e-6)  # the instants of samples differ by rounding, over h^2
        assert np.isnan(found[[40, 41, 42, *range(80, 87)], 1]).all()


@given(SEED)
@PROPERTY
def test_angular_rates_of_a_tumbling_body(seed: int) -> None:
    """Turns by alpha about a fixed axis a and by beta about an axis b of the body, both accelerating."""
    rng = np.random.default_rng(seed)
    a, b = (axis / np.linalg.norm(axis) for axis in rng.normal(size=(2, 3)))
    (alpha, alpha_1, alpha_2), (beta, beta_1, beta_2) = rng.normal(size=(2, 3)) * (1, 3, 20)
    outer, inner = (Rotation.from_rotvec(axis * turned_by) for axis, turned_by in ((a, alpha), (b, beta)))
    to_lab = (outer * inner).as_matrix()
    b_lab = outer.apply(b)
    velocity = alpha_1 * a + beta_1 * b_lab
    acceleration = alpha_2 * a + beta_2 * b_lab + alpha_1 * beta_1 * np.cross(a, b_lab)
    spin, rate = (np.cross(v, np.eye(3)).T for v in (velocity, acceleration))
    first, second = spin @ to_lab, (rate + spin @ spin) @ to_lab
    found = angular_rates(to_lab.T, first.T, second.T)
    close(found[0], to_lab.T @ velocity)
    close(found[1], to_lab.T @ acceleration)
