"""The step ``kinetics``."""

from ...step import EVERYTHING, Output, Step

KINETICS = Step(
    name="kinetics",
    function="pipeline.steps.kinetics.step:kinetics",
    settings="pipeline.steps.kinetics.settings:Settings",
    inputs={
        "kinematics": "pipeline.steps.kinetics.step:OF_KINEMATICS",
        "contacts": "pipeline.steps.kinetics.step:OF_CONTACTS",
        "calibrate": EVERYTHING,
    },
    libraries=("numpy", "scipy"),
    preloads=("scipy.interpolate",),
    outputs={
        "kinetics": Output(
            files=("{session}/kinetics.nc",),
            title="Joint forces, moments and powers of a session",
            variables="pipeline.variables.session_variables:KINETICS",
        )
    },
)
