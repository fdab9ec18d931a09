"""The step ``read``."""

from ...step import Output, Step

READ = Step(
    name="read",
    function="pipeline.steps.read.step:read",
    settings="pipeline.steps.read.settings:Settings",
    takes=("recordings", "body_model"),
    cells="pipeline.steps.read.cells:cells",
    libraries=("numpy", "scipy", "ezc3d"),
    outputs={
        "read": Output(
            files=("{session}/read.nc",),
            title="Markers, plate wrenches and events of a session, ISB lab axes",
            variables="pipeline.variables.session_variables:READ",
        )
    },
)
