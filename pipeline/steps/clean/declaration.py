"""The step ``clean``."""

from ...step import Output, Step

CLEAN = Step(
    name="clean",
    function="pipeline.steps.clean.step:clean",
    settings="pipeline.steps.clean.settings:Settings",
    inputs={
        "read": (
            *("marker_position", "plate_force", "plate_moment", "plate_corner", "plate_edges_known", "plate_fault"),
            *("event_time", "lab_rotation", "zero_frames", "analog", "analog_units"),
        )
    },
    takes=("body_model", "corrections"),
    libraries=("numpy", "scipy"),
    preloads=("scipy.signal", "scipy.interpolate"),
    outputs={
        "clean": Output(
            files=("{session}/clean.nc",),
            title="Filled and filtered markers and plate wrenches of a session",
            variables="pipeline.variables.session_variables:CLEAN",
        )
    },
)
