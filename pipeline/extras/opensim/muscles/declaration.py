"""The step ``muscles``, which a study may have."""

from ....step import EVERYTHING, Output, Step

MUSCLES = Step(
    name="muscles",
    function="pipeline.extras.opensim.muscles.step:muscles",
    settings="pipeline.extras.opensim.muscles.settings:Settings",
    inputs={"cycles": ("joint_angle",), "kinematics": EVERYTHING, "contacts": EVERYTHING, "calibrate": EVERYTHING},
    takes=("folder",),
    cells="pipeline.extras.opensim.muscles.cells:cells",
    libraries=("numpy", "scipy", "opensim"),
    only_if="pipeline.extras.opensim.muscles.cells:is_asked_for",
    problems="pipeline.extras.opensim.muscles.cells:find_problems",
    refuses=False,
    outputs={
        "muscles": Output(
            files=("{session}/muscles.nc",),
            title="Muscles of a scaled model in the gait cycles of a session",
            variables="pipeline.extras.opensim.muscle_variables:MUSCLES_OF_CYCLES",
            coordinates="pipeline.extras.opensim.muscle_variables:COORDINATES",
        )
    },
    joins=True,
    report="pipeline.extras.opensim.pages:ADDITION",
    methods="pipeline.extras.opensim.methods:methods",
    metrics="pipeline.extras.opensim.muscle_variables:MUSCLE_METRICS",
    extra_mb=600,
    times_as_long=60,
    ends_its_worker=True,  # OpenSim keeps some 55 MB of each walk until its process ends
)
