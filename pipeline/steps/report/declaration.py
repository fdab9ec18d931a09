"""The steps ``report``, the overview of a study, ``page``, that of a participant, and what both share."""

from ...step import EVERYTHING, Output, Step

PRELOADS = ("jinja2", "plotly.offline")
REPORT = Step(
    name="report",
    scope="study",
    function="pipeline.steps.report.step:report",
    settings="pipeline.steps.report.settings:Settings",
    inputs={
        "study": "pipeline.steps.report.step:OF_STUDY",
        "metrics": EVERYTHING,
        "quality": EVERYTHING,
        "means": EVERYTHING,
        "symmetry": EVERYTHING,
        "cycles": (),
        "calibrate": ("leg_refused",),
    },
    takes=("additions",),
    cells="pipeline.steps.report.cells:cells_of_overview",
    libraries=("numpy", "scipy", "pandas", "jinja2", "plotly"),
    preloads=PRELOADS,
    job="pipeline.workflow.jobs.report_job:write_overview",
    outputs={"report": Output(files=("report.html",))},
)
PAGE = Step(
    name="page",
    scope="participant",
    function="pipeline.steps.report.page:page",
    settings="pipeline.steps.report.settings:Settings",
    section="report",
    inputs={
        "cycles": EVERYTHING,
        "representative": EVERYTHING,
        "calibrate": ("leg_refused",),
        "clean": "pipeline.steps.report.refused_stances:NEEDS",
    },
    takes=("additions",),
    cells="pipeline.steps.report.cells:cells_of_page",
    libraries=("numpy", "pandas", "jinja2", "plotly"),
    preloads=PRELOADS,
    job="pipeline.workflow.jobs.report_job:write_page",
    outputs={"page": Output(files=("report/{participant}.html",))},
)
PAGE_FILES = Step(
    name="page_files",
    scope="study",
    function="pipeline.steps.report.html_page:page_files",
    settings="pipeline.steps.report.settings:Settings",
    section="report",
    cells="pipeline.steps.report.cells:cells_of_page_files",
    libraries=("jinja2", "plotly", "numpy"),
    preloads=PRELOADS,
    job="pipeline.workflow.jobs.report_job:write_page_files",
    added_to="pipeline.steps.report.cells:files_beside",
    outputs={"page_files": Output(files=("report/page.js", "report/page.css"))},
)
