"""``gaitlab compare``: the page of a person with two visits, or two conditions, side by side."""

import re
from contextlib import chdir
from pathlib import Path

from ..errors import UserError, join_some, nearest
from ..steps.report.page import page
from ..steps.report.page_names import PAGES
from ..steps.report.settings import Settings
from ..workflow import checksums
from ..workflow.job_keys import Study
from ..workflow.jobs.report_job import write_page
from ..workflow.jobs.run_job import DERIVED
from ..workflow.open_study import look_at

MOST_LISTED = 6


def write_comparison(
    study_path: Path, *, participant: str | None, earlier: str, later: str, output: Path | None
) -> str:
    """Write a page with two visits of a participant, or two conditions, and return where it is.

    Args:
        participant: its id; None if the study has only one.
        output: the page; None for one beside the page of the participant.

    Raises:
        UserError: wrong settings or tables, no such participant, visit or condition, or the study has not run.
    """
    study, problems = look_at(study_path)
    if problems:
        raise UserError.of(problems)
    labels, name = (earlier, later), participant or _only_participant(study)
    files = study.files_of_page(name)
    content = study.content_of_key("page", name)
    _refuse_unknown(study, name, labels, [visit for _, visit in content["arguments"]["visits"]])
    ending = ".".join(re.sub(r"[^\w-]+", "_", part) for part in (name, *labels))
    target = (output or study.path / DERIVED / PAGES / f"{ending}.html").absolute()
    arguments = content["arguments"] | {"settings": Settings(**content["settings"]), "chosen": labels}
    with chdir(study.path):
        inputs = {of: [Path(file) for file in mine] for of, mine in files.items()}
        if absent := [file for mine in inputs.values() for file in mine if not file.is_file()]:
            raise UserError(str(study_path / absent[0]), "no such file", "run the workflow first")
        checksums.as_written(DERIVED, [file for mine in inputs.values() for file in mine])
        write_page(content, page, arguments, inputs, {"page": [target]})
    return f"Page: {target}"


def _only_participant(study: Study) -> str:
    if len(study.people) > 1:
        people = join_some([*study.people], MOST_LISTED)
        raise UserError("--participant", "is missing", f"give one of {people}")
    return next(iter(study.people))


def _refuse_unknown(study: Study, participant: str, labels: tuple[str, str], visits: list[str]) -> None:
    """Refuse labels that are neither two visits of a participant nor two conditions of the person's walks."""
    rows = (row for session in study.people[participant] for row in study.sessions[session])
    conditions = list(dict.fromkeys(row["condition"] for row in rows if row["role"] == "gait"))
    if labels[0] == labels[1]:
        raise UserError(f"{participant}: {labels[0]}", "is compared with itself", "give two visits or two conditions")
    if {*labels} <= {*visits} or {*labels} <= {*conditions}:
        return
    unknown = next((label for label in labels if label not in {*visits, *conditions}), None)
    every = [*dict.fromkeys([*visits, *conditions])]
    what = f"no visit and no condition '{unknown}'" if unknown else "one visit and one condition"
    remedy = (unknown and nearest(unknown, every)) or f"give two visits or two conditions: {', '.join(every)}"
    raise UserError(f"{participant}: {' and '.join(labels)}", what, remedy)
