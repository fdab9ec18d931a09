"""The extra ``statistics``: repeatability, differences between groups, and norms."""

from pathlib import Path

from ...extra import Extra, OnPages

EXTRA = Extra(
    "statistics",
    install="pip install 'gait-lab-pipeline[statistics]'",
    commands="pipeline.extras.statistics.command_table:COMMANDS",
    steps=("pipeline.extras.statistics.repeatability.declaration:REPEATABILITY",),
    rules=Path(__file__).with_name("rules.smk"),
    pages=(
        OnPages(
            "pipeline.extras.statistics.pages:TABLE_OF_LABORATORY",
            "pipeline.extras.statistics.repeatability.cells:needs_of_page",
        ),
        OnPages(
            "pipeline.extras.statistics.pages:CURVE_TESTS", "pipeline.extras.statistics.curve_tests:needs_of_overview"
        ),
    ),
    problems="pipeline.extras.statistics.curve_tests:find_problems",
    settings={"curve_tests": "pipeline.extras.statistics.settings:CurveTests"},
    renamed={"report.repeatability": "repeatability.table", "report.curve_tests": "curve_tests.folder"},
)
