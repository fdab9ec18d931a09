"""Metrics and scores of a gait cycle or stance, each defined once, in the order of metrics.csv.

To add a metric, add it here and compute it in ``steps/cycles/``. All outputs take it from this table, and the step
``cycles`` the windows in which it looks for peaks.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from ..conventions import ANGLES, JOINTS
from .trial_variables import Variable


class Window(NamedTuple):
    """A part of the gait cycle: its name, start and end.

    Start and end are 0 at foot strike, 1 at foot off and 2 at the next foot strike, so that they scale with stance and
    swing. Above 2, a window goes on at the start of the cycle.
    """

    name: str
    start: float
    end: float

    @property
    def words(self) -> str:
        """Return the name and the limits in words: ``early stance, 8 to 50 % of stance``."""
        if self in WHOLE:
            return self.name
        start, end = _instant(self.start), _instant(self.end)
        of = start.partition(" % ")[2]
        return f"{self.name}, {start.removesuffix(f' % {of}') if of and end.endswith(of) else start} to {end}"


def _instant(at: float) -> str:
    """Return an instant of the gait cycle in words."""
    if at == int(at):
        return "foot off" if at == 1 else "foot strike"
    return f"{100 * (at % 1):.0f} % of {'stance' if at < 1 else 'swing' if at < 2 else 'the next stance'}"


WHOLE = CYCLE, STANCE, SWING = Window("gait cycle", 0, 2), Window("stance", 0, 1), Window("swing", 1, 2)
# The first 8 % of stance, 50 ms in walking, are those of the impact: a transient of 10 to 20 ms after foot strike
# (Whittle 1999), whose top a low-pass filter of 10 Hz spreads over 25 ms at either side. In the published mean of the
# hip's extensor moment in slow walking it is at 2 % of the cycle, and the extensors' own at 12 % (Schwartz 2008).
AFTER_IMPACT = Window("stance after the impact", 0.08, 1)
EARLY_STANCE = Window("early stance after the impact", 0.08, 0.5)
TERMINAL_STANCE = Window("mid-stance and late stance", 0.4, 1)
LATE_STANCE = Window("late stance", 0.5, 1)

Kind = Literal["size", "signed", "phase"]


class Metric(NamedTuple):
    """A metric of a gait cycle or stance.

    Attributes:
        units: CF units.
        long_name: meaning.
        kind: ``size``, of one sign, so that an index of symmetry has a meaning; ``signed``, may cross zero; ``phase``,
            percent of the gait cycle, where 0 and 100 are the same.
        window: part of the gait cycle that the metric is of; a peak is looked for in it alone.
        positive: what a positive value means; empty where nothing else is possible.
        source: author and year of the definition, or of its use; empty if there is none.
        aliases: other names, in the literature and in other software.
    """

    units: str
    long_name: str
    kind: Kind = "size"
    window: Window = CYCLE
    positive: str = ""
    source: str = ""
    aliases: tuple[str, ...] = ()

    @property
    def variable(self) -> Variable:
        """Return the variable of study.nc."""
        return Variable(("cycle",), self.units, self.long_name)


def _peak(
    units: str, meaning: str, window: Window, positive: str, source: str, *aliases: str, kind: Kind = "signed"
) -> Metric:
    """Return a metric that is the top of a curve in a window."""
    return Metric(units, f"{meaning}; {window.words}", kind, window, positive, source, aliases)


_WHITTLE, _HUXHAM, _KADABA = "Whittle 2007", "Huxham 2006", "Kadaba 1989"
_BENEDETTI, _HUNT = "Benedetti 1998", "Hunt 2006"
_WINTER, _ENG, _THORP, _HOF = "Winter 1991", "Eng and Winter 1995", "Thorp 2006", "Hof 1996"
_ANGLE, _MOMENT, _POWER, _FORCE = "degree", "N m kg-1", "W kg-1", "N kg-1"
_EXTENSION = "extension; flexion is negative"
_KAM = "external knee adduction moment"

_METRICS = {
    "stride_time": Metric("s", "time from foot strike to the next foot strike of the same side", source=_WHITTLE),
    "stance_time": Metric("s", "time from foot strike to foot off", window=STANCE, source=_WHITTLE),
    "stance_share": Metric("percent", "share of stance in the gait cycle", source=_WHITTLE),
    "cadence": Metric("min-1", "steps per minute, two per stride", source=_WHITTLE),
    "stride_length": Metric(
        "m", "distance between successive placements of this foot on the ground, or on the belt, along the line of "
        "progression", source=_HUXHAM,
    ),
    "step_length": Metric(
        "m",
        "distance from the other foot's placement to this foot's placement that ends the cycle, along the line of "
        "progression; with the other foot's step before it, it is the stride",
        positive="this foot is placed in front of the other", source=_HUXHAM,
    ),
    "step_width": Metric(
        "m", "distance of the other foot's placement from the line between this foot's placements", "signed",
        positive="each foot is placed on its own side; negative if the feet cross", source=_HUXHAM,
        aliases=("stride width", "base of support", "walking base"),
    ),
    "walking_speed": Metric("m s-1", "stride length divided by stride time", source=_WHITTLE, aliases=("gait speed",)),
    "step_time": Metric(
        "s", "time from the other side's foot strike to the strike that ends the cycle", source=_WHITTLE
    ),
    "single_support_share": Metric(
        "percent", "share of the gait cycle with only this foot on the ground", source=_WHITTLE
    ),
    "double_support_share": Metric(
        "percent", "share of the gait cycle with both feet on the ground", source=_WHITTLE
    ),
    "peak_ankle_dorsiflexion": _peak(
        _ANGLE, "largest ankle dorsiflexion", AFTER_IMPACT, "dorsiflexion", _BENEDETTI
    ),
    "peak_ankle_dorsiflexion_swing": _peak(
        _ANGLE, "largest ankle dorsiflexion", SWING, "dorsiflexion", _BENEDETTI
    ),
    "peak_ankle_plantarflexion": _peak(
        _ANGLE, "largest ankle plantarflexion", Window("around foot off", 0.8, 1.4), "plantarflexion", _KADABA
    ),
    "peak_knee_flexion_stance": _peak(
        _ANGLE, "largest knee flexion", EARLY_STANCE, "flexion", _BENEDETTI, "peak knee flexion in loading response"
    ),
    "peak_knee_extension_stance": _peak(
        _ANGLE, "largest knee extension", TERMINAL_STANCE, _EXTENSION, _BENEDETTI, "minimum knee flexion in stance"
    ),
    "peak_knee_flexion": _peak(
        _ANGLE, "largest knee flexion", Window("swing", 0.9, 1.9), "flexion", _BENEDETTI, "peak knee flexion in swing"
    ),
    "peak_hip_flexion": _peak(
        _ANGLE, "largest hip flexion", Window("swing and loading response", 1.4, 2.2), "flexion", _BENEDETTI
    ),
    "peak_hip_extension": _peak(
        _ANGLE, "largest hip extension", Window("around the end of stance", 0.5, 1.2), _EXTENSION, _BENEDETTI,
        "minimum hip flexion in stance",
    ),
    "peak_ankle_plantarflexor_moment": _peak(
        _MOMENT, "largest internal plantarflexor moment", AFTER_IMPACT, "plantarflexor", _KADABA,
        "external dorsiflexion moment", kind="size",
    ),
    "peak_knee_extensor_moment": _peak(
        _MOMENT, "largest internal knee extensor moment", EARLY_STANCE, "extensor", _KADABA,
        "external knee flexion moment", "KFM",
    ),
    "peak_knee_flexor_moment": _peak(
        _MOMENT, "largest internal knee flexor moment", TERMINAL_STANCE, "flexor", _KADABA,
        "external knee extension moment",
    ),
    "peak_knee_abductor_moment": _peak(
        _MOMENT, "largest internal knee abductor moment", AFTER_IMPACT, "abductor", _HUNT,
        "KAM", "peak knee adduction moment", f"peak {_KAM}",
    ),
    "peak_knee_abductor_moment_first": _peak(
        _MOMENT, "first peak of the internal knee abductor moment", EARLY_STANCE, "abductor", _HUNT,
        "KAM1", "first peak knee adduction moment", f"first peak {_KAM}",
    ),
    "peak_knee_abductor_moment_second": _peak(
        _MOMENT, "second peak of the internal knee abductor moment", LATE_STANCE, "abductor", _HUNT,
        "KAM2", "second peak knee adduction moment", f"second peak {_KAM}",
    ),
    "peak_hip_extensor_moment": _peak(
        _MOMENT, "largest internal hip extensor moment", EARLY_STANCE, "extensor", _KADABA,
        "external hip flexion moment", kind="size",
    ),
    "peak_hip_flexor_moment": _peak(
        _MOMENT, "largest internal hip flexor moment", LATE_STANCE, "flexor", _KADABA, "external hip extension moment"
    ),
    "peak_hip_abductor_moment": _peak(
        _MOMENT, "largest internal hip abductor moment", AFTER_IMPACT, "abductor", _KADABA,
        "external hip adduction moment", kind="size",
    ),
    "peak_ankle_power": _peak(
        _POWER, "largest ankle power generation", Window("push-off", 0.6, 1), "generation", _WINTER,
        "A2", "peak push-off power", kind="size",
    ),
    **{
        f"peak_power_{name}": _peak(
            _POWER, f"largest power {meaning}", window, "generation; absorption is negative", _WINTER, name.upper(),
            kind="size",
        )
        for name, meaning, window in (
            ("a1", "absorbed at the ankle while the shank rolls over the foot", Window("mid-stance", 0.15, 0.9)),
            ("k1", "absorbed at the knee", Window("loading response after the impact", 0.08, 0.35)),
            ("k2", "generated at the knee while it extends", Window("mid-stance", 0.15, 0.65)),
            ("k3", "absorbed at the knee", Window("late stance and early swing", 0.7, 1.4)),
            ("k4", "absorbed at the knee", Window("late swing", 1.4, 2)),
            ("h1", "generated by the hip extensors", EARLY_STANCE),
            ("h2", "absorbed by the hip flexors", Window("mid-stance and late stance", 0.4, 0.95)),
            ("h3", "generated by the hip flexors", Window("late stance and early swing", 0.75, 1.6)),
        )
    },
    "peak_vertical_force": _peak(
        _FORCE, "largest vertical ground reaction force", AFTER_IMPACT, "upwards", _WHITTLE, kind="size"
    ),
    "peak_vertical_force_first": _peak(
        _FORCE, "first peak of the vertical ground reaction force", EARLY_STANCE, "upwards", _WHITTLE,
        "F1", "Fz1", "loading peak", kind="size",
    ),
    "lowest_vertical_force": _peak(
        _FORCE, "smallest vertical ground reaction force between its two peaks", Window("mid-stance", 0.2, 0.8),
        "upwards", _WHITTLE, "F2", "Fz2", "mid-stance valley", kind="size",
    ),
    "peak_vertical_force_second": _peak(
        _FORCE, "second peak of the vertical ground reaction force", LATE_STANCE, "upwards", _WHITTLE,
        "F3", "Fz3", "push-off peak", kind="size",
    ),
    "peak_braking_force": _peak(
        _FORCE, "largest ground reaction force backwards", EARLY_STANCE, "backwards", _WHITTLE, kind="size"
    ),
    "peak_propulsive_force": _peak(
        _FORCE, "largest ground reaction force forwards", LATE_STANCE, "forwards", _WHITTLE, kind="size"
    ),
    "effective_foot_mass": Metric(
        "kg",
        "effective mass of the leg at foot strike: its task-space inertia along the vertical at the lower of heel and "
        "toe marker",
        source="Khatib 1987",
    ),
    **{
        f"range_of_{joint}_{angle}": Metric("degree", f"largest minus smallest {joint} {angle} in the cycle")
        for joint in JOINTS
        for angle in ANGLES
    },
    **{
        f"range_of_pelvis_{angle}": Metric("degree", f"largest minus smallest pelvic {angle} in the cycle")
        for angle in ("tilt", "obliquity", "rotation")
    },
    **{
        f"impulse_of_{name}_moment": Metric(
            "N m s kg-1", f"integral over stance of the internal {meaning} moment{more}", window=STANCE,
            positive=meaning, source=_THORP, aliases=aliases,
        )
        for name, meaning, more, aliases in (
            ("ankle_plantarflexor", "plantarflexor", "", ()),
            ("knee_extensor", "knee extensor", "", ()),
            ("knee_flexor", "knee flexor", "", ()),
            ("knee_abductor", "knee abductor", f", the opposite of the {_KAM}", ("KAM impulse", "KAAI")),
            ("hip_extensor", "hip extensor", "", ()),
            ("hip_flexor", "hip flexor", "", ()),
            ("hip_abductor", "hip abductor", "", ()),
        )
    },
    "impulse_of_braking_force": Metric(
        "N s kg-1", "integral over stance of the ground reaction force backwards, positive", window=STANCE,
        positive="backwards",
    ),
    "impulse_of_propulsive_force": Metric(
        "N s kg-1", "integral over stance of the ground reaction force forwards", window=STANCE, positive="forwards"
    ),
    **{
        f"work_{name}": Metric(
            "J kg-1", f"work about the flexion axis in phase {name.upper()}: {meaning}; {window.words}", window=window,
            positive="generation; absorption is negative", source=_ENG, aliases=(f"work {name.upper()}",),
        )
        for name, meaning, window in (
            ("a1", "absorbed at the ankle while the shank rolls over the foot", Window("mid-stance", 0.15, 0.9)),
            ("a2", "generated at the ankle in push-off", Window("push-off", 0.6, 1.1)),
            ("k1", "absorbed at the knee in loading response", Window("loading response", 0, 0.35)),
            ("k2", "generated at the knee while it extends", Window("mid-stance", 0.15, 0.65)),
            ("k3", "absorbed at the knee", Window("late stance and early swing", 0.7, 1.4)),
            ("k4", "absorbed at the knee", Window("late swing", 1.4, 2)),
            ("h1", "generated by the hip extensors", Window("early stance", 0, 0.5)),
            ("h2", "absorbed by the hip flexors", Window("mid-stance and late stance", 0.4, 0.95)),
            ("h3", "generated by the hip flexors", Window("late stance and early swing", 0.75, 1.6)),
        )
    },
    "leg_length": Metric("m", "leg length, hip centre to knee centre to ankle centre, median over the trial"),
    **{
        name: Metric("1", meaning, "signed" if name.startswith("step_width") else "size", source=_HOF)
        for name, meaning in (
            ("walking_speed_dimensionless", "walking speed divided by sqrt(gravity * leg length)"),
            ("stride_length_dimensionless", "stride length divided by leg length"),
            ("step_length_dimensionless", "step length divided by leg length"),
            ("step_width_dimensionless", "step width divided by leg length"),
            ("stride_time_dimensionless", "stride time divided by sqrt(leg length / gravity)"),
            ("cadence_dimensionless", "cadence times sqrt(leg length / gravity)"),
        )
    },
    "stride_length_per_height": Metric("1", "stride length divided by body height"),
    "step_length_per_height": Metric("1", "step length divided by body height"),
}  # fmt: skip
PEAKS = tuple(name for name in _METRICS if name.startswith("peak_") or name == "lowest_vertical_force")
METRICS = _METRICS | {
    f"phase_of_{name}": Metric(
        "percent", f"time of {name} in percent of the gait cycle", "phase", _METRICS[name].window
    )
    for name in PEAKS
}
# metrics that need nothing but the stance, from foot strike to foot off; work in push-off may go on after it
OF_STANCE = tuple(
    name
    for name, metric in _METRICS.items()
    if metric.window.end < 1 or (metric.window.end == 1 and not name.startswith("work_")) or name == "leg_length"
)

GAIT_ANGLES = (
    *("pelvis_tilt", "pelvis_obliquity", "pelvis_rotation", "hip_flexion", "hip_adduction", "hip_rotation"),
    *("knee_flexion", "ankle_flexion", "foot_progression"),
)
_BAKER, _SCHWARTZ = "Baker 2009", "Schwartz and Rozumalski 2008"
SCORES = {  # if a reference is given
    "gait_profile_score": Metric(
        "degree",
        "Gait Profile Score: root mean square of the nine gait variable scores",
        source=_BAKER,
        aliases=("GPS",),
    ),
    "gait_profile_score_overall": Metric(
        "degree",
        "Gait Profile Score of both sides, from the two cycles that overlap most; pelvis from the left cycle",
        source=_BAKER,
        aliases=("overall GPS",),
    ),
    **{
        f"gait_variable_score_{name}": Metric(
            "degree",
            f"root-mean-square difference between {name.replace('_', ' ')} and the reference mean over the cycle",
            source=_BAKER,
            aliases=(f"GVS {name.replace('_', ' ')}",),
        )
        for name in GAIT_ANGLES
    },
    # if the reference has curves by speed
    "reference_speed": Metric(
        "1",
        "dimensionless walking speed at which the reference is taken: the median of participant, session and condition "
        "within the range of the reference; NaN in running, which has no scores then",
        source="Schwartz 2008",
    ),
    # if the reference is a study.nc, with the cycles of ten people or more
    "gait_deviation_index": Metric(
        "1",
        "Gait Deviation Index: 100 is the reference mean, every 10 below it is one standard deviation",
        "signed",  # its zero is arbitrary
        source=_SCHWARTZ,
        aliases=("GDI",),
    ),
    "gait_deviation_index_share": Metric(
        "percent",
        "share of the squared difference from the reference mean that the features of the index cover",
        source=_SCHWARTZ,
    ),
}
