"""Random errors of the inputs of angles, moments and powers, the same in every run.

Errors of a person (axes, joint centres, segment parameters, soft tissue) are the same in all trials of a session: they
are seeded by its static trial. Those of a trial (noise of markers, centre of pressure) are seeded by its file. So draw
k of one trial and draw k of another share what the two measurements share, and a difference of both has the right
spread.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ..arrays import Array
from ..conventions import CHAIN, JOINTS, PROXIMAL, SEGMENTS, SIDE_SIGN, SIDES
from ..dynamics.vectors import skew
from ..signals.splines import noise_spectrum
from ..trials.session import spans_of, trials_of

SOURCES = (
    "marker_noise", "soft_tissue", "segment_axes", "joint_centres", "centre_of_pressure", "segment_parameters"
)  # fmt: skip
WAVES = 8  # of the marker noise of one draw: each stands for an equal share of the power that the filter passes
# Soft tissue moves with the flexion of the joints (Leardini et al. 2005, Gait Posture 21:212-225): the angles of
# walking are a mean, the stride's frequency and its double. Each has a third of the variance.
HARMONICS = np.arange(3)
OUTWARDS = np.array([SIDE_SIGN[side] for side in SIDES])
ASIS_M, DEPTH_PER_WIDTH = 0.24, 0.6  # distance of the ASIS, and depth of the pelvis, where the static shows neither
SHANK, THIGH, PELVIS = 1, 2, 3


class Errors(NamedTuple):
    """Errors of one draw, to be added to the measured values, segments and joints from the foot up.

    ``sample`` may be 1. Errors that move have a leading axis of value, first and second derivative.
    """

    turn: Array  # (3, sample, side, segment, 3), of foot, shank, thigh and pelvis in their own axes, rad
    shift: Array  # (3, sample, side, segment, 3), of the centres of mass within foot, shank and thigh, m
    centre: Array  # (sample, side, joint, 3), of the joint centres, in axes of the segments that carry them, m
    # mass, inertia: (side, segment), factors minus 1
    mass: Array
    inertia: Array
    pressure: Array  # (sample, side, 3), of the centre of pressure, lab axes, m


class DrawnFrom(NamedTuple):
    """What the errors of a session are drawn from."""

    draws: int
    sizes: Mapping[str, float]  # standard deviations, the setting ``kinetics.uncertainty_sizes``
    calibrate: xr.Dataset  # geometry of the person, and the effect of single markers on the skeleton
    kinematics: xr.Dataset  # time, rate and filter of the trials, and the SHA-256 of their files
    stride_s: Array  # (trial,), duration of a stride
    strike_s: Array  # (trial, side), a foot strike of each side


class ErrorDraws:
    """The draws of errors of a session."""

    def __init__(self, source: DrawnFrom, *, noisy_markers: int | None = None) -> None:
        """Draw all errors.

        Args:
            noisy_markers: number of markers with noise; None for those with an effect on single segments.
        """
        calibrate, kinematics = source.calibrate, source.kinematics
        self._coordinates = 3 * (calibrate.sizes["marker"] if noisy_markers is None else noisy_markers)
        self._sizes, self._calibrate, self._draws = source.sizes, calibrate, source.draws
        self._com = np.nan_to_num(calibrate["segment_com"].values)
        self._middle, self._levers = self._middles()
        self._spans = spans_of(kinematics, "sample")
        self._trials = [*trials_of(kinematics).values()]
        number, time = (kinematics.variables[name].values for name in ("sample_trial", "time"))
        self._stride_rate = 2 * np.pi / source.stride_s[number, None, None] * HARMONICS
        self._phase = self._stride_rate * (time[:, None] - source.strike_s[number])[..., None]
        self._static = hashlib.sha256(np.round(calibrate["static_distance"].values, 5).tobytes()).hexdigest()
        self._files = [str(trial.attrs.get("source_sha256", "")) for trial in self._trials]
        self._drawn = {source: getattr(self, f"_draw_{source}")() for source in SOURCES}

    def errors(self, draw: int, sources: Sequence[str] = SOURCES) -> Errors:
        """Return the errors of some sources together. Displacements add up, and each factor has one source."""
        sides, segments, chain = len(SIDES), len(SEGMENTS), len(CHAIN)
        shapes = ((3, 1, sides, segments, 3), (3, 1, sides, chain, 3), (1, sides, chain, 3))
        nothing = Errors(*map(np.zeros, (*shapes, (sides, chain), (sides, chain), (1, sides, 3))))
        every = [getattr(self, f"_{source}")(draw) for source in sources]
        sums = {
            name: sum((one[name] for one in every if name in one), part) for name, part in nothing._asdict().items()
        }
        return Errors(**sums)

    def _normal(self, name: str, *shape: int, seed: str = "") -> Array:
        """Return normal numbers (draw, ...) of the person, or with a seed of a trial."""
        return _generator(seed or self._static, name).standard_normal((self._draws, *shape))

    # ---- what is drawn once

    def _draw_marker_noise(self) -> list[tuple[Array, Array]]:
        """Return by trial the place of the frequency in each share of power, and noise (draw, 2, wave, marker axis)."""
        return [
            (
                _generator(seed, "frequencies").random((self._draws, WAVES)),
                self._normal("markers", 2, WAVES, self._coordinates, seed=seed),
            )
            for seed in self._files
        ]

    def _draw_soft_tissue(self) -> Array:
        """Return amplitudes (draw, cosine or sine, harmonic, side, segment, 3), rad; the pelvis' are of both sides."""
        size = np.radians([self._sizes[f"{segment}_soft_tissue_deg"] for segment in SEGMENTS])[:, None]
        amplitude = size * self._normal("soft tissue", 2, len(HARMONICS), len(SIDES), len(SEGMENTS), 3)
        amplitude[:, :, :, 1, PELVIS] = amplitude[:, :, :, 0, PELVIS]
        return np.asarray(amplitude / np.sqrt(len(HARMONICS)))

    def _draw_segment_axes(self) -> Array:
        """Return turns (draw, side, segment, 3), rad; the pelvis' are of both sides."""
        turn = self._normal("axes", len(SIDES), len(SEGMENTS), 3)
        turn[:, 1, PELVIS] = turn[:, 0, PELVIS]
        foot, ankle, knee = (
            np.radians(self._sizes[f"{name}_deg"]) for name in ("foot_axes", "ankle_axis", "knee_axis")
        )
        size = np.array([[foot] * 3, [0, ankle, 0], [0, knee, 0], self._pelvis_rad()])
        return np.asarray(turn * size)

    def _draw_joint_centres(self) -> Array:
        size = np.array([self._sizes[f"{joint}_centre_mm"] for joint in JOINTS])[:, None] / 1000
        return np.asarray(size) * self._normal("joint centres", len(SIDES), len(JOINTS), 3)

    def _draw_centre_of_pressure(self) -> list[Array]:
        size = self._sizes["centre_of_pressure_mm"] / 1000 * np.array([1, 0, 1])
        return [size * self._normal("pressure", len(SIDES), 3, seed=seed) for seed in self._files]

    def _draw_segment_parameters(self) -> dict[str, Array]:
        """Return factors and shifts (draw, segment, ...): a table errs alike on both sides."""
        share = {name: self._sizes[f"segment_{name}_percent"] / 100 for name in ("mass", "com", "inertia")}
        return {
            "mass": np.expm1(share["mass"] * self._normal("mass", len(CHAIN))),
            "com": share["com"] * self._normal("com", len(CHAIN), 3),
            "inertia": np.expm1(share["inertia"] * self._normal("inertia", len(CHAIN))),
        }

    def _pelvis_rad(self) -> list[float]:
        """Return the pelvis' turns about x, y and z by errors of each coordinate of its markers."""
        apart, origin = self._calibrate["static_distance"], "asis_left"
        names = apart["landmark"].values.tolist() if origin in apart["landmark"] else []
        away = {name: apart.sel(landmark=origin, landmark_2=name).item() for name in names}
        seen = {name: distance for name, distance in away.items() if np.isfinite(distance)}
        width = seen.get("asis_right", ASIS_M)
        middle = np.sqrt(max(seen.get("sacrum", 0.0) ** 2 - width**2 / 4, 0.0))
        depth = seen.get("psis_left") or middle or DEPTH_PER_WIDTH * width
        size = self._sizes["pelvis_marker_mm"] / 1000
        return [np.sqrt(2) * size / width, np.sqrt(2) * size / width, size / depth]

    # ---- the errors of one draw

    def _marker_noise(self, draw: int) -> dict[str, Array]:
        """Return the errors of poses and centres by marker noise.

        Noise of rates through the rotation of the segment itself is neglected: it is small if the segment turns slowly
        compared with the noise that the filter passes, 40 rad/s at 10 Hz.
        """
        poses = [list(self._calibrate.pose.values).index(name) for name in SEGMENTS]
        turn, origin, centre = (
            self._calibrate[f"{name}_per_marker"].values.reshape(len(SIDES), -1, 3, self._coordinates)
            for name in ("segment_turn", "segment_origin", "joint_centre")
        )
        turn, origin = turn[:, poses], origin[:, poses[:-1]]
        gain = np.concatenate([turn, origin, centre], axis=1)
        parts = []
        for phase, first, second, markers in self._noise_waves(draw):
            amplitude = np.moveaxis(gain @ markers.reshape(2 * WAVES, -1).T, -1, 0)
            parts.append(_waves(phase, first, second, amplitude.reshape(2, WAVES, *amplitude.shape[1:])))
        ends = len(SEGMENTS), len(SEGMENTS) + len(CHAIN)
        turned, moved, centred = np.split(np.concatenate(parts, axis=1), ends, axis=3)
        return {"turn": turned, "shift": moved + self.by_turn(turned), "centre": centred[0]}

    def noise(self, draw: int) -> Array:
        """Return the noise of the filtered markers (sample, marker, 3), m."""
        parts = []
        for phase, _, _, (cosine, sine) in self._noise_waves(draw):
            parts.append(np.cos(phase[:, 0]) @ cosine + np.sin(phase[:, 0]) @ sine)
        return np.concatenate(parts).reshape(self._spans[-1].stop, -1, 3)

    def _noise_waves(self, draw: int) -> Iterator[tuple[Array, Array, Array, Array]]:
        """Yield the waves of the markers of each trial.

        They are phase (sample, 1, wave), factors (wave,) of the first and second derivative, and amplitudes of cosine
        and sine (2, wave, marker axis), m.
        """
        for trial, (chosen, white) in zip(self._trials, self._drawn["marker_noise"], strict=True):
            time = trial.variables["time"].values
            rate_hz = (len(time) - 1) / (time[-1] - time[0])
            cutoff_hz = float(trial.attrs.get("marker_cutoff_hz", np.nan))  # facts of a trial that are NaN are left out
            found = noise_spectrum(cutoff_hz, rate_hz, order=int(trial.attrs["marker_filter_order"]))
            share = (np.cumsum(found.power) - found.power / 2) / found.power.sum()
            place = np.searchsorted(share, (np.arange(WAVES) + chosen[draw]) / WAVES).clip(max=len(share) - 1)
            size = self._sizes["marker_mm"] / 1000 * np.sqrt(found.power.mean() / WAVES)
            phase = found.w[place] * rate_hz * (time - time[0])[:, None, None]
            yield phase, found.first[place], found.second[place], size * white[draw]

    def _soft_tissue(self, draw: int) -> dict[str, Array]:
        """Return turns of clusters about their middles, which take centres of mass and carried joint centres along."""
        turn = self.skin(draw)
        sides = np.arange(len(SIDES))[:, None]
        centre = np.cross(turn[0][:, sides, carriers(self._calibrate)], self._levers)
        return {"turn": turn, "shift": self.by_turn(turn, self._middle[:, : len(CHAIN)]), "centre": centre}

    def skin(self, draw: int) -> Array:
        """Return the turns of clusters and their derivatives (3, sample, side, segment, 3), segment axes, rad."""
        return _waves(self._phase, self._stride_rate, -(self._stride_rate**2), self._drawn["soft_tissue"][draw])

    def _segment_axes(self, draw: int) -> dict[str, Array]:
        """Return turned axes, and the joint centres that hang on them, at a chord's radius from the lateral marker."""
        turn = _constant(self._drawn["segment_axes"][draw])
        radius = np.nan_to_num(self._calibrate["chord_radius"].values)
        centre = np.zeros((1, len(SIDES), len(JOINTS), 3))
        for joint, segment in ((JOINTS.index("ankle"), SHANK), (JOINTS.index("knee"), THIGH)):
            centre[0, :, joint, 0] = -OUTWARDS * radius[:, joint] * turn[0, 0, :, segment, 1]
        return {"turn": turn, "shift": self.by_turn(turn), "centre": centre}

    def _joint_centres(self, draw: int) -> dict[str, Array]:
        """Return displaced centres, which take centres of mass along and turn the axes between them."""
        centre = self._drawn["joint_centres"][draw]
        length = self._calibrate["joint_distance"].sel(segment=["shank", "thigh"]).values
        tilt = (centre[:, 1:] - centre[:, :-1]) / length[..., None]  # of shank and thigh, in axes of standing
        turn = np.zeros((len(SIDES), len(SEGMENTS), 3))
        turn[:, SHANK : THIGH + 1, 0], turn[:, SHANK : THIGH + 1, 2] = tilt[..., 2], -tilt[..., 0]
        turned = _constant(np.nan_to_num(turn))
        return {"turn": turned, "shift": self.by_turn(turned) + _constant(centre), "centre": centre[None]}

    def _centre_of_pressure(self, draw: int) -> dict[str, Array]:
        counts = [span.stop - span.start for span in self._spans]
        drawn = [of_trial[draw] for of_trial in self._drawn["centre_of_pressure"]]
        return {"pressure": np.repeat(np.array(drawn), counts, axis=0)}

    def _segment_parameters(self, draw: int) -> dict[str, Array]:
        of = {name: values[draw] for name, values in self._drawn["segment_parameters"].items()}
        reach = np.linalg.norm(self._com, axis=-1, keepdims=True)
        mass, inertia = (np.tile(of[name], (len(SIDES), 1)) for name in ("mass", "inertia"))
        return {"shift": _constant(reach * of["com"]), "mass": mass, "inertia": inertia}

    def by_turn(self, turn: Array, about: Array | float = 0.0) -> Array:
        """Return how turns about the proximal joints, or other points (side, segment, 3), move the centres of mass."""
        moved: Array = np.einsum("sgij,dtsgj->dtsgi", skew(about - self._com), turn[:, :, :, : len(CHAIN)])
        return moved

    def _middles(self) -> tuple[Array, Array]:
        """Return the middles of the clusters (side, segment, 3), and joint centres (side, joint, 3) from them, m.

        Zero without a cluster.
        """
        given = self._calibrate
        middle = np.zeros((len(SIDES), len(SEGMENTS), 3))
        lever = np.zeros((len(SIDES), len(JOINTS), 3))
        for i, side in enumerate(SIDES):
            for j, segment in enumerate(SEGMENTS):
                mine = (given["cluster_side"].values == side) & (given["cluster_segment"].values == segment)
                if mine.any():
                    middle[i, j] = given["cluster_position"].values[mine].mean(axis=0)
                    carried = carriers(given)[i] == j
                    lever[i, carried] = given["joint_position"].values[i, carried] - middle[i, j]
        return middle, np.nan_to_num(lever)


def carriers(calibrate: xr.Dataset) -> NDArray[np.intp]:
    """Return the index in SEGMENTS of the carrier of each joint centre (side, joint)."""
    names = calibrate.joint_carrier.sel(side=list(SIDES), joint=list(JOINTS)).values
    return np.array(
        [[SEGMENTS.index(name or PROXIMAL[joint]) for name, joint in zip(row, JOINTS, strict=True)] for row in names]
    )


def _generator(seed: str, name: str) -> np.random.Generator:
    digest = hashlib.sha256(f"{seed} {name}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))


def _constant(values: Array) -> Array:
    """Return values without derivatives (3, 1, ...)."""
    return np.stack([values, 0 * values, 0 * values])[:, None]


def _waves(phase: Array, first: Array, second: Array, amplitude: Array) -> Array:
    """Return sums of waves and their derivatives (3, sample, side, n, 3).

    Args:
        phase: (sample, side or 1, wave), rad; ``first`` and ``second`` are the factors of its derivatives.
        amplitude: (cosine or sine, wave, side, n, 3).
    """
    cosine, sine = np.cos(phase), np.sin(phase)
    rows = [(cosine, sine), (-first * sine, first * cosine), (second * cosine, second * sine)]
    basis = np.stack([np.concatenate(row, axis=-1) for row in rows])  # (3, sample, side, 2 waves)
    sides, count = amplitude.shape[2:4]
    flat = np.moveaxis(amplitude, 2, 0).reshape(sides, -1, 3 * count)
    product: Array = np.moveaxis(basis, 2, 1) @ flat  # (3, side, sample, 3 n)
    return np.moveaxis(product, 1, 2).reshape(3, len(phase), sides, count, 3)
