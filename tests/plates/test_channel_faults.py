"""Channels of plates that work, are dead, wrap or are cut off; plates of every type under steps in any direction."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.plates import channel_faults
from pipeline.plates.parameters import CHANNELS_OF_TYPE, plates_from_parameters
from pipeline.plates.wrench import decode
from tests.support.checkout import FULL
from tests.support.faults.channels import CHANNEL_FAULTS
from tests.support.plates.known_loads import Bench

Array = NDArray[np.float64]

RATE_HZ, SECONDS = 1000, 2.0
TYPES = [*CHANNELS_OF_TYPE]
SEEDS = range(20 if FULL else 3)


class Step(Bench):
    """A plate of a type in a random pose under one step of a child or adult, slow or fast, in any direction.

    Forces are shares of the weight as in slow to fast walking: fore-aft 5 to 22 %, sideways 2 to 7 %. The channels are
    stored with 12 or 16 bits.
    """

    def __init__(self, kind: int, seed: int) -> None:
        super().__init__(kind, seed)
        rng = np.random.default_rng(seed)
        time = np.arange(round(SECONDS * RATE_HZ)) / RATE_HZ
        phase = np.clip((time - 0.6) / rng.uniform(0.45, 0.9), 0, 1)
        loaded = (phase > 0) & (phase < 1)
        weight, fore_aft, sideways = rng.uniform(130, 1000), rng.uniform(0.05, 0.22), rng.uniform(0.02, 0.07)
        shape = np.sin(np.pi * phase) + rng.uniform(0, 0.3) * np.sin(3 * np.pi * phase)
        angle = rng.choice([0, 0.5, 1, rng.uniform(0, 2)]) * np.pi
        ahead = np.cos(angle) * self.axes[:, 0] + np.sin(angle) * self.axes[:, 1]
        aside = np.cross(self.top, ahead)
        along = -fore_aft * np.sin(2 * np.pi * phase)
        across = sideways * (np.sin(np.pi * phase) - 2 * np.exp(-(((phase - 0.06) / 0.03) ** 2)) * loaded)
        self.force = weight * (shape[:, None] * self.top + along[:, None] * ahead + across[:, None] * aside)
        length_m = rng.uniform(0.12, 0.22)
        spot = self.middle_m + rng.uniform(-0.1, 0.1) * ahead + rng.uniform(-0.1, 0.1) * aside
        path = (phase - 0.5) * length_m, 0.01 * np.sin(np.pi * phase)
        self.cop = spot + path[0][:, None] * ahead + path[1][:, None] * aside
        self.free = rng.uniform(0.003, 0.01) * weight * np.sin(2 * np.pi * phase)
        self.moment = np.cross(self.cop, self.force) + self.free[:, None] * self.top
        readings = self._sensors() if kind == 3 else getattr(self, f"_type_{kind}")(rng)
        if kind == 1:
            readings[~loaded, 3:5] = 0
        span = np.abs(readings).max(axis=0)
        readings = readings + rng.normal(size=readings.shape) * 0.0005 * span
        count = span / float(rng.choice([1000, 20000]))
        self.readings = np.rint(readings / count) * count

    def _sensors(self) -> Array:
        """Share the load between eight sensors, each of two in a line by its distance."""
        a, b, az0 = self.origin_m
        moment = np.cross(self.cop - self.middle_m, self.force) + self.free[:, None] * self.top
        (fx, fy, fz), (mx, my, mz) = self._in_plate(self.force).T, self._in_plate(moment).T
        at_x, at_y, torque = -(my + fx * az0) / (4 * a), (mx - fy * az0) / (4 * b), mz / 2
        loads = [fz / 4 + sx * at_x + sy * at_y for sx, sy in ((1, 1), (-1, 1), (-1, -1), (1, -1))]
        shears = [fx / 2 - torque / 2 / b, fx / 2 + torque / 2 / b, fy / 2 + torque / 2 / a, fy / 2 - torque / 2 / a]
        return np.column_stack([*shears, *loads])

    def fault(self, readings: Array, *, rate_hz: float = RATE_HZ) -> str:
        (plate,) = plates_from_parameters(self.parameters())
        units = {"length_unit_m": self.unit, "moment_unit_n_m": self.unit}
        force, moment = decode(readings, plate, **units)
        found = channel_faults.find_faults(plate, readings, [], force, moment, rate_hz=rate_hz, **units)
        return channel_faults.in_words(found)


@pytest.mark.parametrize("kind", TYPES)
def test_the_generated_step_is_decoded(kind: int) -> None:
    step = Step(kind, 1)
    force, moment = step.decode()
    loaded = np.linalg.norm(step.force, axis=1) > 20
    np.testing.assert_allclose(force[loaded], step.force[loaded], rtol=0, atol=5)  # noise and counts of 0.1 % each
    about = [m - np.cross(step.middle_m, f) for m, f in ((moment, force), (step.moment, step.force))]
    np.testing.assert_allclose(about[0][loaded], about[1][loaded], rtol=0, atol=3)


@pytest.mark.parametrize("kind", TYPES)
def test_working_channels_raise_no_alarm(kind: int) -> None:
    alarms = {
        seed: fault for seed in range(3 * len(SEEDS)) if (fault := (step := Step(kind, seed)).fault(step.readings))
    }
    assert alarms == {}


def test_an_offset_moves_no_centre_of_pressure() -> None:
    """The offset of an amplifier may take away half of a child's weight, so that the sum of both is about zero."""
    for seed in range(3 * len(SEEDS)):
        step = Step(2, seed)
        share = np.random.default_rng(seed).uniform(-0.7, -0.4)
        readings = step.readings + share * step.readings[np.abs(step.readings[:, 2]).argmax()]
        assert step.fault(readings) == ""


@pytest.mark.parametrize("rate_hz", [100, 400, 1000, 2000])
@pytest.mark.parametrize("seconds", [0.005, 0.01])
def test_a_stamp_and_a_foot_over_an_edge_are_no_jump(rate_hz: int, seconds: float) -> None:
    """A load that comes or goes in 5 ms and stays for long is as steep as people load and unload plates."""
    for seed in SEEDS:
        step = Step(2, seed)
        time = np.arange(len(step.readings)) / rate_hz
        pressed = np.clip((time[:, None] - [0.2003, 0.4003]) / seconds, 0, 1)
        smooth = pressed * pressed * (3 - 2 * pressed)
        share = (smooth[:, 0] - smooth[:, 1])[:, None]
        highest = step.readings[np.abs(step.readings[:, 2]).argmax()]
        noise = np.random.default_rng(seed).normal(0, 0.0005, step.readings.shape)
        assert "jumps" not in step.fault(highest * (share + noise), rate_hz=rate_hz)


def test_a_vertical_channel_that_drifts_alone_shows_nothing_of_the_others() -> None:
    step = Step(2, 1)
    rest = step.readings[:1] + np.random.default_rng(1).normal(0, 0.5, step.readings.shape)
    rest[:, 2] += 250 * (1 - np.exp(-2 * np.linspace(0, 1, len(rest))))
    assert not step.fault(rest)


def test_a_position_without_a_load_means_nothing() -> None:
    step = Step(1, 1)
    unloaded = step.readings[:, 2] == 0
    step.readings[unloaded, 3:5] = np.random.default_rng(1).normal(0, 300, (int(unloaded.sum()), 2))
    assert not step.fault(step.readings)


@pytest.mark.parametrize("kind", TYPES)
def test_forces_that_a_lab_has_set_to_zero_below_its_threshold_do_not_jump(kind: int) -> None:
    """All channels leave zero at once, at up to 25 N; one with an offset by most of its movement."""
    for seed in range(4 * len(SEEDS)):
        step = Step(kind, seed)
        if kind != 3:  # where the free moment has a channel of its own
            step.readings[:, 5] += (seed % 7) * np.ptp(step.readings[:, 5])
        step.readings[np.abs(step.force @ step.top) < (10, 17, 20, 25)[seed % 4]] = 0
        assert not step.fault(step.readings), seed


@pytest.mark.parametrize(("kind", "channel"), [(1, 2), (2, 0), (2, 5), (3, 7), (4, 2)])
def test_a_wrapped_channel_of_a_plate_with_zeroed_forces_is_named(kind: int, channel: int) -> None:
    for seed in SEEDS:
        step = Step(kind, seed)
        step.readings[np.abs(step.force @ step.top) < 20] = 0
        assert f"channel {channel + 1} jumps by" in step.fault(
            CHANNEL_FAULTS["wrapped"][0](step.readings, channel, seed)
        )


@pytest.mark.parametrize(("kind", "channel"), [(1, 0), (2, 2), (3, 6), (4, 5)])
def test_a_channel_without_numbers_is_named(kind: int, channel: int) -> None:
    step = Step(kind, 1)
    step.readings[:, channel] = np.nan
    assert step.fault(step.readings) == f"channel {channel + 1} holds no numbers, only NaN"


# the positions of type 1 are computed, so that no converter limits them
CASES = [
    (kind, channel, name)
    for kind in TYPES
    for channel in range(CHANNELS_OF_TYPE[kind])
    for name in CHANNEL_FAULTS
    if name == "dead" or kind != 1 or channel not in (3, 4)
]


@pytest.mark.parametrize(("kind", "channel", "name"), CASES)
def test_each_faulty_channel_is_named(kind: int, channel: int, name: str) -> None:
    inject, words = CHANNEL_FAULTS[name]
    missed = []
    for seed in SEEDS:
        step = Step(kind, seed)
        fault = step.fault(inject(step.readings, channel, seed))
        without_load = name == "dead" and "its vertical force moves" in fault
        if f"channel {channel + 1} {words}" not in fault and not without_load:
            missed.append((seed, fault))
    assert missed == []
