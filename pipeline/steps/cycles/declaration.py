"""The step ``cycles``."""

from ...step import EVERYTHING, Output, Step

CYCLES = Step(
    name="cycles",
    function="pipeline.steps.cycles.step:cycles",
    settings="pipeline.steps.cycles.settings:Settings",
    inputs={
        "kinetics": EVERYTHING,
        "kinematics": EVERYTHING,
        "contacts": EVERYTHING,
        "clean": (
            *("marker_position", "plate_corner", "plate_edges_known", "plate_force"),
            *("emg_envelope", "emg_rest", "emg_reference", "burst_start", "burst_end"),
        ),
        "calibrate": EVERYTHING,
    },
    takes=("corrections",),
    cells="pipeline.steps.cycles.cells:cells",
    libraries=("numpy", "scipy"),  # the latter for draws of linked legs
    preloads=("scipy.interpolate",),
    outputs={
        "cycles": Output(
            files=("{session}/cycles.nc",),
            title="Gait cycles of a session",
            variables="pipeline.variables.cycle_variables:CYCLES",
        ),
        "representative": Output(
            files=("{session}/representative.nc",),
            title="The trial of a session that the report shows",
            variables="pipeline.variables.cycle_variables:REPRESENTATIVE",
            made_by="pipeline.steps.cycles.representative:representative",
        ),
    },
)
