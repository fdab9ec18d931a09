"""Wrong body masses in participants.tsv, which ``check`` detects from files and plates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.body.body_model import BodyModel
from pipeline.c3d.reader import read_c3d
from pipeline.commands.check.person_findings import of_person
from pipeline.person.size_findings import POUNDS_PER_KG
from pipeline.steps.read.recording_contents import Contents, contents_of, look_through
from pipeline.tables import study_tables, tsv
from pipeline.workflow import settings
from pipeline.workflow.strict_yaml import read_yaml
from tests.support.faults.outcomes import ALL, FLAGGED, MISSED, Row
from tests.support.walks.on_plates import BODY_MODEL, any_walk, own_plates, written

STUDIES = ("exact", "functional", "gait2354", "plug_in_gait")


class Weighed(NamedTuple):
    """A session for ``check``, and the true mass."""

    rows: list[tsv.Row]
    facts: dict[str, Contents]
    person: tsv.Row
    chosen: dict[str, Any]
    model: BodyModel | None

    def findings(self, factor: float) -> str:
        """Return the findings on sizes if the table has the mass times a factor."""
        row = {**self.person, "mass_kg": f"{factor * float(self.person['mass_kg']):.4g}"}
        participants = {self.rows[0]["participant_id"]: row}
        findings = of_person(self.rows, self.facts, participants, self.chosen, self.model)
        return "; ".join(f"{one.what}: {one.remedy}" for one in findings)


def size_rows(folder: Path, doses: Sequence[int], real: Sequence[Weighed]) -> Iterator[Row]:
    people = [weighed(folder, 3000 + dose) for dose in doses]
    pounds, wrong = Row("mass in pounds", "scales 5 % wrong either way"), Row("wrong mass", "15 to 72 %, up and down")
    for sessions, in_pounds, off in ((people, pounds.generated, wrong.generated), (real, pounds.real, wrong.real)):
        for i, session in enumerate(sessions):
            for dose in (doses[i],) if sessions is people else doses:
                findings = session.findings(POUNDS_PER_KG * (0.95 + 0.1 * dose / (len(ALL) - 1)))
                in_pounds.append(FLAGGED if "pounds?" in findings else MISSED)
                for sign in (1, -1):
                    findings = session.findings(1 + sign * (0.15 + 0.03 * dose))
                    off.append(FLAGGED if "mass_kg is" in findings else MISSED)
    yield pounds
    yield wrong


def weighed(folder: Path, number: int) -> Weighed:
    """Return a generated walk with the mass shown by its plates alone."""
    walk, direction = any_walk(number)
    path = written(folder, walk, own_plates(walk, direction), direction, seed=number)
    facts = contents_of(replace(read_c3d(path), processing={}), {"": BODY_MODEL})
    path.unlink()
    rows = [{"participant_id": "sub-01", "file": path.name, "role": "gait"}]
    return Weighed(rows, {path.name: facts}, {"mass_kg": f"{walk.walker.mass_kg}"}, {}, None)


def sessions(shared: Path) -> list[Weighed]:
    """Return the real sessions of known mass, each with and without the mass stated in its files."""
    result = []
    for name in STUDIES:
        study = shared / "studies" / name
        own = read_yaml(study / "study.yaml")
        chosen, model = settings.load_settings(own, where="study.yaml", study_path=study)
        people = study_tables.read_participants(study / "participants.tsv")
        for rows in study_tables.read_trials(study / "trials.tsv", people).values():
            facts = {row["file"]: look_through(study, row["file"], {"": model}) for row in rows}
            bare = {file: without_mass(one) for file, one in facts.items()}
            person = people[rows[0]["participant_id"]]
            result += [Weighed(rows, known, person, chosen, model) for known in (facts, bare)]
    return result


def without_mass(one: Contents) -> Contents:
    """Return a recording that does not state the body mass."""
    stated = {name: value for name, value in one.recording.processing.items() if name != "Bodymass"}
    return replace(one, recording=replace(one.recording, processing=stated))
