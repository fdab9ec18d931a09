"""What the overview shows of a study, gathered part by part: sums, and one line of text or numbers per person."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from ...arrays import Array
from ...conventions import SIDES
from ...json_text import object_in, to_text
from ...results.averages import average, means_of_people, without_steps
from ...tables.reference_curves import BySpeed
from ...trials.session import facts_of_trials
from ...variables.methods_text import describe_methods, keep_of_model
from . import metric_tables, tables
from . import quality as checked
from .curves.cycles import Chosen, CycleCurves, join_cycles
from .curves.error_shares import share_sums, shares
from .curves.figures import Drawn, LineAverages, appendix, draw_averages, key_of
from .curves.lines import Line, by_line, dash_styles, lines_of, normal_of, people_with_sessions
from .curves.panels import Panel
from .data_check import data_check
from .movement_profile import compares_children_and_adults
from .tables import Table, Totals
from .visit_changes import with_changes_of_gps

Reasons = tuple[Counter[str], Counter[str]]  # of a participant, of trials and of contacts


class Overview:
    """The gathered content of the overview: averages over the people of each group, never of two groups or visits.

    Args:
        conditions: those of all walks.
        groups: the group of each participant, empty if the study has no two groups.
        visits: session and visit of all sessions, the first visits first; empty if nobody has several.
    """

    def __init__(self, conditions: Sequence[str], groups: Mapping[str, str], visits: Sequence[tuple[str, str]]) -> None:
        self.groups, self.visits = groups, dict(visits)
        labels = list(dict.fromkeys(self.visits.values())) or [""]
        at_visits = {one: [self._at_visit(one, visit) for visit in labels] for one in conditions}
        self.conditions = conditions = [label for own in at_visits.values() for label in own]
        self.turning = Counter[metric_tables.Place]()  # gait cycles
        self.baselines = {label: own[0] if visits else conditions[0] for own in at_visits.values() for label in own}
        names = dict.fromkeys(groups.values(), None) or [""]
        self.lines_of_groups = [[self._label(name, one) for one in conditions] for name in names]
        self.dashes = dash_styles([label for own in self.lines_of_groups for label in own])
        self.totals = Totals(*[0] * len(Totals._fields))
        self.people: list[list[str]] = []
        self.columns: list[str] = []  # of participants.tsv
        self.shown: list[str] = []  # metrics
        self.metrics: dict[metric_tables.Place, list[Array]] = {}
        self.of_people: dict[str, dict[str, Array]] = {one: {} for one in conditions}  # person: (side, metric)
        self.means: list[Table] = []
        self.symmetry: list[Table] = []
        self.verdicts: list[checked.Verdicts] = []  # by participant
        self.medians: dict[str, dict[str, float]] = {}  # by session
        self.models: dict[str, dict[str, Any]] = {}  # attributes of calibrate.nc, each kind once
        self.cycles: list[CycleCurves] = []  # without curves
        self.averages: dict[metric_tables.Place, LineAverages] = {}
        self.single: dict[metric_tables.Place, list[Chosen]] = {}
        self.share_sums: dict[str, Array] = {}

    def add_person(
        self,
        name: str,
        rows: Sequence[pd.DataFrame],
        cycles: Mapping[str, xr.Dataset],
        calibrate: Mapping[str, xr.Dataset],
        reference: Mapping[str, Any],
    ) -> None:
        """Add a participant.

        Args:
            rows: of metrics.csv, quality.csv, participants.csv and symmetry.csv.
            cycles, calibrate: cycles.nc and calibrate.nc by session.
            reference: what study.nc holds of it.
        """
        order = {session: i for i, session in enumerate(self.visits)}
        places = ([order.get(session, len(order)) for session in table["session"]] for table in rows)
        metrics, quality, means, symmetry = (
            table.iloc[np.argsort(place, kind="stable")] for table, place in zip(rows, places, strict=True)
        )
        if compares_children_and_adults(tables.age_years(metrics), reference):
            metrics, means, symmetry = map(tables.without_scores, (metrics, means, symmetry))
        sessions = tables.sessions_in(quality, metrics)
        trials = {session: facts_of_trials(cycles[session]) for session in sessions}
        models = {session: calibrate[session] for session in sessions}
        totals = tables.totals(metrics, quality)
        check = data_check(metrics, quality, trials, models, totals)
        self.totals = self.totals.plus(totals)
        self.people.append(tables.participant(name, check.state, totals, sessions, metrics))
        self.columns = self.columns or tables.participants_columns(metrics)
        self.verdicts.append(checked.verdicts_of(quality))
        kept = [keep_of_model(model.attrs) for model in models.values()]
        self.models |= {to_text(model): model for model in kept}
        self.medians |= checked.medians_of_sessions(quality)
        gait_cycles, of_sides = map(self._rows_at_visits, (tables.of_part(metrics, "cycle"), symmetry))
        self.shown = self.shown or metric_tables.metrics_in(gait_cycles)
        for (condition, side), count in metric_tables.turning_by_place(gait_cycles).items():
            self.turning[self._label(self.groups.get(name, ""), condition), side] += count
        for place, (values, people) in metric_tables.values_of(gait_cycles, of_sides, self.shown).items():
            of_person = means_of_people(values, people, phase=metric_tables.phases(self.shown))
            label = self._label(self.groups.get(name, ""), place[0])
            self.metrics.setdefault((label, place[1]), []).append(of_person)
            if place[1] in SIDES:
                unknown = np.full((len(SIDES), len(self.shown)), np.nan)
                self.of_people[place[0]].setdefault(name, unknown)[SIDES.index(place[1])] = of_person[0]
        own = metric_tables.means(means)
        self.means.append(with_changes_of_gps(own, means, self.visits) if self.visits else own)
        self.symmetry.append(metric_tables.symmetry_indices(symmetry))

    def add_cycles(self, part: xr.Dataset, cycles: CycleCurves) -> None:
        """Add the cycles of some participants, of whom no other cycles are added."""
        if self.groups or self.visits:
            columns = (x.tolist() for x in (cycles.participant, cycles.session, cycles.condition))
            labels = [
                self._label(self.groups.get(name, ""), self._at_visit(condition, self.visits.get(session, "")))
                for name, session, condition in zip(*columns, strict=True)
            ]
            cycles = cycles._replace(condition=np.array(labels, dtype=str))
        self.cycles.append(cycles._replace(panels=(), curve=np.empty((len(cycles.side), 0, 0)), band=None))
        lines = [Line(condition, None, condition, "") for condition in self.dashes]
        for place, mine in by_line(cycles, lines).items():
            people = np.unique(mine.participant).tolist()
            values = np.array([average(without_steps(mine.curve[mine.participant == name])).mean for name in people])
            single = self.single.setdefault(place, [Chosen() for _ in mine.panels])
            for i, chosen in enumerate(single):
                for label, curve in zip(people, values[:, i], strict=True):
                    chosen.add(label, curve)
            foot_off = average(mine.foot_off, mine.participant)
            band = None if mine.band is None else average(mine.band, mine.participant)
            averages, earlier = LineAverages(average(values), foot_off, band, []), self.averages.get(place)
            self.averages[place] = averages if earlier is None else earlier.pool(averages)
        for moment, sums in share_sums(part, cycles.panels).items():
            self.share_sums[moment] = self.share_sums.get(moment, 0.0) + sums

    def content(
        self, study: xr.Dataset, panels: Sequence[Panel], links: Mapping[str, str], reference: BySpeed
    ) -> dict[str, Any]:
        """Return what the template of the overview needs; no ``links`` if pages are written on request."""
        sources = object_in(study.attrs, "source_sha256")
        several, figures = len(self.people) > 1, self._figures(panels, reference)
        reasons = checked.reasons(self.verdicts)
        averages = {
            place: average(np.concatenate(self.metrics[place]), phase=metric_tables.phases(self.shown))
            for place in sorted(self.metrics, key=lambda place: [*self.dashes].index(place[0]))
        }
        trials, contacts, people = Counter[str](), Counter[str](), Counter[str]()
        for of_trials, of_contacts in reasons:
            trials += of_trials
            contacts += of_contacts
            people.update({**of_trials, **of_contacts}.keys())
        order = (trials + contacts).most_common()
        counts = [[reason, *(str(of[reason]) for of in (trials, contacts, people))] for reason, _ in order]
        return {
            "key": key_of(figures, single="participant"),
            "drawn": figures,
            "totals": self.totals,
            "figures": figures if several and self.averages else None,
            "appendix": appendix(figures) if several and self.averages else [],
            "people_with_sessions": people_with_sessions(join_cycles(self.cycles)) if self.cycles else 0,
            **self._participants(links, reasons),
            "metrics": metric_tables.metric_tables(self.shown, averages, turning_cycles=self.turning)
            if several and averages
            else None,
            "visits": list(dict.fromkeys(self.visits.values())),
            "groups": {name: [*self.groups.values()].count(name) for name in self.groups.values()},
            "differences": metric_tables.differences(self.shown, self.of_people, self.groups, self.baselines),
            "means": tables.together(self.means, links),
            "symmetry": tables.together(self.symmetry, links),
            "shares": shares(study, self.share_sums) if several else None,
            "reasons": Table(["Reason", "Trials", "Plate contacts", "Participants"], counts),
            "unlike": checked.unlike_the_others(self.medians),
            "methods": describe_methods(study.attrs, self.models.values()),
            "history": study.attrs.get("history", "").splitlines(),
            "sources": Table(["File", "SHA-256"], [[*item] for item in sorted(sources.items())]),
        }

    def _label(self, group: str, condition: str) -> str:
        """Return the name of the line of a group and condition, which are all that is averaged together."""
        return ", ".join(filter(None, [group, condition if len(self.conditions) > 1 or not group else ""]))

    def _rows_at_visits(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return rows with the visit in their condition, so that no two visits are averaged."""
        if not self.visits:
            return rows
        places = zip(rows["condition"], rows["session"], strict=True)
        conditions = [self._at_visit(condition, self.visits[session]) for condition, session in places]
        return rows.assign(condition=tables.with_index_of(rows, conditions))

    def _at_visit(self, condition: str, visit: str) -> str:
        """Return the name of a condition at a visit."""
        return f"{condition}, {visit}" if visit else condition

    def _figures(self, panels: Sequence[Panel], reference: BySpeed) -> Drawn:
        """Return the figures over participants; amplitudes of EMG depend on electrodes and skin and have none."""
        cycles = join_cycles(self.cycles)
        groups = self.lines_of_groups if self.groups else ()
        lines = lines_of(cycles, dashes=self.dashes, over_participants=True, groups=groups)
        averages = {
            place: one._replace(single=[chosen.single() for chosen in self.single[place]])
            for place, one in self.averages.items()
        }
        drawn = draw_averages(panels, averages, lines=lines, normal=normal_of(cycles, lines, reference))
        return drawn.without_unseen(also_millivolts=True)

    def _participants(self, links: Mapping[str, str], reasons: Sequence[Reasons]) -> dict[str, Table]:
        """Return the table of participants, and one of their legs, so that the first fits a screen.

        Participants without a row of metrics.csv lack the columns of participants.tsv.
        """
        header = [*tables.PARTICIPANTS, *self.columns]
        rows = [[*row, *[tables.ABSENT] * (len(header) - len(row))] for row in self.people]
        marks = [sorted({**trials, **contacts}) for trials, contacts in reasons]
        table = Table(header, rows, links, marks=marks if any(marks) else ())
        legs = [i for i, name in enumerate(header) if tables.OF_LEGS.search(name)]
        others = [i for i in range(len(header)) if i not in legs]
        return {"participants": table.only(others), "legs": table.only([0, *legs])._replace(marks=())}
