"""``gaitlab repeatability``: how far the main metrics of a study differ when nothing has changed."""

import textwrap
from pathlib import Path

from ....errors import UserError, without_problems
from ....tables.csv_files import Kinds, read_csv
from ....tables.terminal_table import align, text_width
from ....workflow import checksums
from ....workflow.job_keys import Study
from ....workflow.jobs.run_job import DERIVED
from ....workflow.open_study import look_at
from .cells import design_in, repeated
from .design import FEWEST_PEOPLE
from .detectable import NUMBERS
from .shown import cells_of, header_of, main_rows, remarks, within_person

LABELS = ("metric", "units", "condition", "side")
RESULT = "repeatability.csv"
RECORD = f"measure {FEWEST_PEOPLE} people or more twice with nothing changed, give each session a row in sessions.tsv "
RECORD += "(participant_id, session, date, visit, assessor), and name the visits in repeatability.visits of study.yaml"


def repeatability_of(folder: Path) -> str:
    """Return the main metrics of derived/repeatability.csv as a table, with what to know of its numbers.

    Raises:
        UserError: wrong settings or tables, a design without repeated measurements, or the study has not run.
    """
    study = without_problems(look_at(folder))
    if not design_in(study):
        raise _not_repeated(study)
    path = study.path / DERIVED / RESULT
    if not path.is_file():
        raise UserError(str(path), "no such file", "run the workflow first")
    checksums.as_written(study.path / DERIVED, [path])
    width = text_width()
    rows = main_rows(read_csv(path.read_text(encoding="utf-8"), Kinds(NUMBERS)))
    if rows.empty:
        raise UserError(str(path), "has no number of a main metric", "see why in quality.csv")
    header = ["metric", "unit", "condition", "side", "n", *header_of(rows), "within-person SD"]
    cells = [
        [*(row[name] for name in LABELS), f"{row['people']:.0f}", *cells_of(row, rows), within_person(row)]
        for row in rows.to_dict("records")
    ]
    table = align([header, *cells], width=width)
    return "\n\n".join([table, *(textwrap.fill(remark, width) for remark in remarks(rows))])


def _not_repeated(study: Study) -> UserError:
    """Return what a study without enough repeated measurements lacks."""
    visits = [str(name) for name in study.settings["repeatability"]["visits"]]
    known = [*dict.fromkeys(row.get("visit", name) for name, row in repeated(study).items())]
    fewer = f"fewer than {FEWEST_PEOPLE} people have two measurements"
    if not known:
        return UserError("sessions.tsv", "has no sessions, so none is known to be repeated", RECORD)
    if visits:
        return UserError(f"repeatability.visits: {', '.join(visits)}", f"{fewer} at these visits", RECORD)
    remedy = f"name those of {', '.join(known)} between which nothing has changed; if there are none, {RECORD}"
    return UserError("repeatability.visits", f"names no visits, and {fewer} at one visit", remedy)
