"""The step ``study``."""

from ...step import EVERYTHING, Output, Step

STUDY = Step(
    name="study",
    scope="study",
    function="pipeline.steps.study.step:study",
    settings="pipeline.steps.study.settings:Settings",
    inputs={"cycles": EVERYTHING},
    cells="pipeline.steps.study.cells:cells",
    libraries=("numpy", "pandas"),
    job="pipeline.workflow.jobs.study_job:run",
    outputs={
        **{
            table: Output(files=(f"{table}.csv", f"{table}.json"))
            for table in ("metrics", "quality", "participants", "symmetry")
        },
        "study": Output(
            files=("study.nc",),
            title="Gait cycles and stances of a study",
            variables="pipeline.variables.cycle_variables:STUDY",
        ),
    },
)
