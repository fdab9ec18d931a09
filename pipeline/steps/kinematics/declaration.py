"""The step ``kinematics``."""

from ...step import EVERYTHING, Output, Step

KINEMATICS = Step(
    name="kinematics",
    function="pipeline.steps.kinematics.step:kinematics",
    settings="pipeline.steps.kinematics.settings:Settings",
    inputs={"clean": ("marker_position", "shoulder_position", "upper_marker_position"), "calibrate": EVERYTHING},
    takes=("body_model",),
    libraries=("numpy", "scipy"),
    preloads=("scipy.interpolate",),
    outputs={
        "kinematics": Output(
            files=("{session}/kinematics.nc",),
            title="Poses, joint centres and joint angles of a session",
            variables="pipeline.variables.session_variables:KINEMATICS",
        )
    },
)
