"""The step ``repeatability``, of a study with repeated measurements."""

from ...step import EVERYTHING, Output, Step

REPEATABILITY = Step(
    name="repeatability",
    scope="study",
    function="pipeline.steps.repeatability.step:repeatability",
    settings="pipeline.steps.repeatability.settings:Settings",
    inputs={"study": EVERYTHING},
    cells="pipeline.steps.repeatability.cells:cells",
    libraries=("numpy", "scipy", "pandas"),
    only_if="pipeline.steps.repeatability.cells:is_designed",
    problems="pipeline.steps.repeatability.cells:find_problems",
    added_to="pipeline.steps.repeatability.cells:added_to",
    job="pipeline.workflow.jobs.repeatability_job:run",
    outputs={
        "repeatability": Output(
            files=("repeatability.nc",),
            title="Repeatability of the metrics and curves of a study",
            variables="pipeline.variables.repeatability_variables:REPEATABILITY",
        ),
        "table": Output(files=("repeatability.csv", "repeatability.json")),
    },
)
