"""A page of ``gaitlab compare``: written from the results of a person, by the command and again by a run."""

import csv
import re
from collections.abc import Mapping, Sequence
from contextlib import chdir
from pathlib import Path
from typing import NamedTuple, Self

from ...errors import UserError, nearest
from ...reference import resolve
from ...results.page_names import PAGES
from ...results.single_page import single_page
from ...results.whole_files import whole
from ...step import every_step
from .. import checksums
from ..job_keys import Study

COMMAND = "compare"
DERIVED = Path("derived")


class Comparison(NamedTuple):
    """What a page sets side by side: two visits of a participant, or two conditions, the earlier one first."""

    participant: str
    labels: tuple[str, str]

    @property
    def command(self) -> tuple[str, ...]:
        """Return the words of the command, for the record of its page."""
        return COMMAND, *self.labels, "--participant", self.participant

    @property
    def page(self) -> Path:
        """Return the page where it is by default, relative to the study: beside that of the participant."""
        ending = ".".join(re.sub(r"[^\w-]+", "_", part) for part in (self.participant, *self.labels))
        return DERIVED / PAGES / f"{ending}.html"

    @classmethod
    def of(cls, command: Sequence[str]) -> Self:
        """Return the comparison of a record's command."""
        _, earlier, later, _, participant, *_ = command
        return cls(participant, (earlier, later))


def write(study: Study, comparison: Comparison, target: Path) -> None:
    """Write the page, with a record of what it shows if it is in ``derived/``.

    Anywhere else than beside the other pages it is one file, with script and style inside.

    Args:
        target: an absolute path.

    Raises:
        UserError: no such participant, visit or condition, or the study has not run.
    """
    name = comparison.participant
    files, step = study.files_of_page(name), every_step()["page"]
    key = study.content_of_key("page", name)
    visits = dict(key["arguments"]["visits"])
    _refuse_unknown(study, comparison, visits)
    arguments = key["arguments"] | {"settings": resolve(step.settings)(**key["settings"]), "chosen": comparison.labels}
    derived = (study.path / DERIVED).absolute()
    if absent := [file for mine in files.values() for file in mine if not (study.path / file).is_file()]:
        raise UserError(str(study.path / absent[0]), "no such file", "run the workflow first")
    _refuse_nothing_shared(study, comparison, visits)
    with chdir(study.path):  # the paths of a key are relative to the study
        inputs = {of: [Path(file) for file in mine] for of, mine in files.items()}
        digests = checksums.as_written(DERIVED, [file for mine in inputs.values() for file in mine])
        checksums.begin(derived, [target])
        with whole(target) as partial:
            resolve(step.job)(key, resolve(step.function), arguments, inputs, {"page": [partial]})
            if target.parent != derived / PAGES:
                html = single_page(partial.read_text(encoding="utf-8"), derived)
                partial.write_text(html, encoding="utf-8", newline="")
    elsewhere = target.is_relative_to(derived) and target != (study.path / comparison.page).absolute()
    output = ["--output", (DERIVED / target.relative_to(derived)).as_posix()] if elsewhere else []
    checksums.record(derived, [target], inputs=digests, key=key, command=[*comparison.command, *output])


def why_outdated(study: Study, record: checksums.Record) -> str:
    """Return why a page, whose files are those that are there, is not that of now; empty if it is."""
    name = Comparison.of(record.command).participant
    if name not in study.people:
        return f"of {name}, who is not in the study"
    files = [file for mine in study.files_of_page(name).values() for file in mine]
    if {*record.inputs} != {file.removeprefix(f"{DERIVED}/") for file in files}:
        return "made from other sessions"
    now = checksums.made_with(study.content_of_key("page", name))
    return "" if now == record.made_with else "made with other settings, tables or code"


def _refuse_unknown(study: Study, comparison: Comparison, visits: Mapping[str, str]) -> None:
    """Refuse labels that are neither two visits, nor two conditions of a participant's walks, nor two pairs of both.

    Args:
        visits: the visit of each of the participant's sessions.
    """
    from ...steps.report.compared_visits import pair_of  # with NumPy and xarray, which no run without such pages needs

    participant, labels = comparison
    rows = [row for session in study.people[participant] for row in study.sessions[session] if row["role"] == "gait"]
    conditions = list(dict.fromkeys(row["condition"] for row in rows))
    pairs = list(dict.fromkeys(pair_of(visits[row["session"]], row["condition"]) for row in rows))
    kinds = [*dict.fromkeys(visits.values())], conditions, pairs
    if labels[0] == labels[1]:
        raise UserError(f"{participant}: {labels[0]}", "is compared with itself", "give two visits or two conditions")
    if any({*labels} <= {*kind} for kind in kinds):
        return
    every = [*dict.fromkeys(label for kind in kinds for label in kind)]
    unknown = next((label for label in labels if label not in every), None)
    what = f"no visit and no condition '{unknown}'" if unknown else "one visit and one condition"
    expected = f"give two visits or two conditions: {', '.join([*dict.fromkeys([*kinds[0], *conditions])])}"
    remedy = (unknown and nearest(unknown, every)) or f"{expected}; or two of {', '.join(pairs)}"
    raise UserError(f"{participant}: {' and '.join(labels)}", what, remedy)


def _refuse_nothing_shared(study: Study, comparison: Comparison, visits: Mapping[str, str]) -> None:
    """Refuse two visits without a condition that both have cycles of, or two conditions that no visit has both of."""
    from ...steps.report.compared_visits import pair_of

    participant, labels = comparison
    with (study.path / DERIVED / "participants.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["participant"] == participant]
    places = {(visits[row["session"]], row["condition"]) for row in rows if row["session"] in visits}
    of_visits = {label: sorted(one for visit, one in places if visit == label) for label in labels}
    of_conditions = {label: sorted(visit for visit, one in places if one == label) for label in labels}
    by_visit = {*labels} <= {*visits.values()}
    found = of_visits if by_visit else of_conditions
    if not by_visit and {*labels} <= {pair_of(*place) for place in places}:
        return
    if {*found[labels[0]]} & {*found[labels[1]]}:
        return
    kind, other = ("condition", "visit") if by_visit else ("visit", "condition")
    has = "; ".join(f"{label} has {', '.join(own) or 'none with a gait cycle'}" for label, own in found.items())
    remedy = f"name {kind}s alike in trials.tsv and run again, or give pairs, such as "
    pairs = [pair_of(*((label, own[0]) if by_visit else (own[0], label))) for label, own in found.items() if own]
    remedy = remedy + " ".join(pairs) if len(pairs) == len(labels) else f"compare another {other}"
    raise UserError(f"{participant}: {' and '.join(labels)}", f"no {kind} is shared: {has}", remedy)
