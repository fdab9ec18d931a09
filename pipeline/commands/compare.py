"""``gaitlab compare``: the page of a person with two visits, or two conditions, side by side."""

from pathlib import Path

from ..errors import UserError, join_some, nearest, without_problems
from ..workflow.jobs.comparison import Comparison, write
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
    study = without_problems(look_at(study_path))
    if participant not in study.people and not (participant is None and len(study.people) == 1):
        listed = f"give one of {join_some([*study.people], MOST_LISTED)}"
        remedy = f"{nearest(participant or '', study.people)} {listed}".strip()
        what = "is missing" if participant is None else f"no participant '{participant}'"
        raise UserError("--participant", what, remedy)
    chosen = Comparison(participant or next(iter(study.people)), (earlier, later))
    target = (output or study.path / chosen.page).absolute()
    write(study, chosen, target)
    return f"Page: {target}"
