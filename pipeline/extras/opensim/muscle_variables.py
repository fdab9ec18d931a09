"""The results of the step ``muscles``: variables of muscles.nc and study.nc, reasons to refuse a cycle, metrics."""

from collections.abc import Mapping
from typing import NamedTuple

from ...errors import Problem
from ...variables.rows import CYCLE, Metric, Variable

MUSCLES, SHARES = "Muscles of the model", ("reserve_share", "muscle_moment_error")
COORDINATES = {  # units and meaning
    "model_muscle": ("", "muscle of the model, by its name without the end of the side"),
    "coordinate": ("", "coordinate of the model, by its name without the end of the side"),
}
_CURVE = ("cycle", "model_muscle", "phase")
_OF_COORDINATE = ("cycle", "coordinate", "phase")
_STANDING = "divided by that in the static trial"
_VARIABLES = {
    "muscle_tendon_length": Variable(_CURVE, "m", "length of the muscle with its tendon"),
    "muscle_tendon_length_of_standing": Variable(_CURVE, "1", f"length of the muscle with its tendon, {_STANDING}"),
    "muscle_tendon_velocity": Variable(_CURVE, "m s-1", "rate of muscle_tendon_length, positive while it lengthens"),
    "moment_arm": Variable(("cycle", "model_muscle", "coordinate", "phase"), "m",
        "moment about the model's coordinate per force of the muscle; a positive one increases the coordinate"),
    "muscle_force": Variable(_CURVE, "N", "force of the muscle by static optimisation, along its tendon"),
    "activation": Variable(_CURVE, "1", "activation of the muscle by static optimisation, 0 to 1"),
    "joint_contact_force": Variable(("cycle", "joint", "axis", "phase"), "N kg-1",
        "force of the proximal bone on the distal one per body mass, that of the muscles included, lab axes"),
    "model_moment": Variable(_OF_COORDINATE, "N m kg-1",
        "moment about the model's coordinate per body mass, which muscles and reserve actuators share, by inverse "
        "dynamics of the model"),
    "reserve_moment": Variable(_OF_COORDINATE, "N m kg-1",
        "moment of the reserve actuator of the model's coordinate per body mass"),
    "reserve_share": Variable(("cycle", "joint"), "percent",
        "largest moment of a reserve actuator of the joint in the cycle, of the joint's largest moment"),
    "muscle_moment_error": Variable(("cycle", "joint"), "percent",
        "root mean square, in the cycle, of the moments of muscles and reserve actuators less model_moment, of the "
        "joint's largest moment"),
    "model_misfit": Variable(("cycle",), "m",
        "root mean square distance of the model's points from joint centres and axes of the study"),
}  # fmt: skip
# without the ground force there are no moments to share
WITH_FORCES = ("muscle_force", "activation", "joint_contact_force", "model_moment", "reserve_moment", *SHARES)
OF_MUSCLES = {
    name: variable._replace(dtype="f4", of_kinetics=name in WITH_FORCES) for name, variable in _VARIABLES.items()
} | {
    "muscle_reason": Variable(("cycle",), "", "why the cycle has no muscle forces; empty if it has", "U"),
    "muscle_reason_code": Variable(("cycle",), "", "code of that reason; empty without one", "U"),
    "muscle_doubt": Variable(
        ("cycle",), "", "why the contact forces of the cycle are doubted; empty if they are not", "U"
    ),
    "muscle_doubt_code": Variable(("cycle",), "", "code of that doubt; empty without one", "U"),
}

REASONS = {  # by code; with the values of each cycle
    "no_kinetics": "no valid kinetics",
    "model_not_posed": "pelvis or legs are not seen in all of the cycle",
    "opensim_failed": "{what}",
    "muscle_moments_differ": (
        "the moments of the muscles miss the moment of the {joint} by {percent:.1f} % of its peak: static optimisation "
        "has found no solution"
    ),
    "muscle_out_of_limits": "{muscle} has an activation of {activation:.2f}, not 0 to 1",
    "reserves_too_large": (
        "reserve actuators bear {percent:.0f} % of the moment of the {joint}: the muscles of the model are too weak, "
        "or its posture or the forces are wrong"
    ),
}


NEAR_LIMIT = 0.95  # activation of a muscle that can hardly bear more


class Implants(NamedTuple):
    """What instrumented implants have shown of a joint, body weights."""

    usual: float  # mean of the peaks of patients in walking
    most: float  # more is doubted


# Hip: 2.4 in four patients at 4 km/h (Bergmann et al. 2001). Larger medians are those of two patients of 1993: 4.1 at
# 3 km/h, and 2.8 at 1 km/h to 4.8 at 5 km/h, which is 4.0 at 3.4 km/h (Bergmann et al. 1993).
# Knee: 2.6 in five patients (Kutzner et al. 2010); the high level of eight patients in all activities but jogging is
# 4218 N for 100 kg (Bergmann et al. 2014)
IMPLANTS = {"hip": Implants(2.4, 4.0), "knee": Implants(2.6, 4.3)}
DOUBT_OF = {"hip": "hip_contact_force_too_large", "knee": "knee_contact_force_too_large"}  # codes
_TOO_LARGE = (
    "the {joint} bears {weights:.1f} body weights at {phase} % of the cycle, where implants have shown {usual:g} in "
    "walking on average and seldom more than {most:g}; {muscles}"
)
_AT_LIMIT = "at their limit of activation there: {names}"
_NOT_AT_LIMIT = (
    "no muscle is at its limit there (most active: {name}, {level:.2f}), so look at posture, joint centres and forces"
)


def contact_doubt(joint: str, weights: float, phase: int, activation: Mapping[str, float]) -> Problem:
    """Return the doubt about a contact force that implants hardly show, in words.

    Args:
        weights: the largest force in the cycle, body weights.
        phase: of that, percent of the cycle.
        activation: of each muscle then.
    """
    at_limit = [name for name, level in activation.items() if level >= NEAR_LIMIT]
    most = max(activation, key=lambda name: activation[name])
    muscles = (
        _AT_LIMIT.format(names=", ".join(at_limit))
        if at_limit
        else _NOT_AT_LIMIT.format(name=most, level=activation[most])
    )
    known = IMPLANTS[joint]._asdict()
    what = _TOO_LARGE.format(joint=joint, weights=weights, phase=phase, muscles=muscles, **known)
    return Problem("", what, "", DOUBT_OF[joint])


def muscle_refusal(code: str, **values: object) -> Problem:
    """Return the reason to refuse the muscle forces of a cycle, in words with its values."""
    return Problem("", REASONS[code].format(**values), "", code)


# muscles of the metrics: meaning, names in Gait2392 and Rajagopal's model, other names of the metric
OF_METRICS = {
    "hamstring": ("semimembranosus", ("semimem",)),
    "psoas": ("psoas", ("psoas",)),
    "gastrocnemius": ("medial gastrocnemius", ("med_gas", "gasmed")),
}
_ARNOLD = "Arnold 2006"
MUSCLE_METRICS = {  # if muscles.opensim is true
    **{
        f"peak_{name}_{what}": Metric(units, f"largest {meaning.format(muscle)} in the gait cycle", window=CYCLE,
            positive=positive, source=_ARNOLD, group=MUSCLES)
        for name, (muscle, _) in OF_METRICS.items()
        for what, units, meaning, positive in (
            ("length", "m", "length of the {} with its tendon", ""),
            ("length_of_standing", "1", f"length of the {{}} with its tendon, {_STANDING},", ""),
            ("velocity", "m s-1", "velocity at which the {} with its tendon lengthens", "lengthens"),
        )
    },
    **{
        f"peak_contact_force_{joint}": Metric("1",
            f"largest force between the bones of the {joint} in the gait cycle, that of the muscles included, in body "
            "weights", window=CYCLE, source="Steele 2012", group=MUSCLES, of_kinetics=True)
        for joint in ("ankle", "knee", "hip")
    },
}  # fmt: skip
MUSCLES_OF_CYCLES = OF_MUSCLES | {name: metric.variable for name, metric in MUSCLE_METRICS.items()}
