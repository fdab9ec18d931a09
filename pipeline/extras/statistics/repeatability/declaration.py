"""The step ``repeatability``, of a study with repeated measurements."""

from ....step import EVERYTHING, Output, Step

REPEATABILITY = Step(
    name="repeatability",
    scope="study",
    function="pipeline.extras.statistics.repeatability.step:repeatability",
    settings="pipeline.extras.statistics.repeatability.settings:Settings",
    inputs={"study": EVERYTHING},
    cells="pipeline.extras.statistics.repeatability.cells:cells",
    libraries=("numpy", "scipy", "pandas"),
    only_if="pipeline.extras.statistics.repeatability.cells:is_designed",
    problems="pipeline.extras.statistics.repeatability.cells:find_problems",
    added_to="pipeline.extras.statistics.repeatability.cells:added_to",
    report="pipeline.extras.statistics.pages:REPEATABILITY",
    job="pipeline.extras.statistics.repeatability.job:run",
    outputs={
        "repeatability": Output(
            files=("repeatability.nc",),
            title="Repeatability of the metrics and curves of a study",
            variables="pipeline.extras.statistics.repeatability.variables:REPEATABILITY",
            coordinates="pipeline.extras.statistics.repeatability.variables:COORDINATES",
        ),
        "table": Output(files=("repeatability.csv", "repeatability.json")),
    },
)
