"""The step ``calibrate``."""

from ...step import Output, Step

CALIBRATE = Step(
    name="calibrate",
    function="pipeline.steps.calibrate.step:calibrate",
    settings="pipeline.steps.calibrate.settings:Settings",
    inputs={"read": ("marker_position",)},
    takes=("body_model",),
    cells="pipeline.steps.calibrate.cells:cells",
    outputs={
        "calibrate": Output(
            files=("{session}/calibrate.nc",),
            title="Calibrated body model of a session",
            variables="pipeline.variables.session_variables:CALIBRATE",
        )
    },
)
