"""The form of the viewer in which a person corrects a trial: what, where, why; preview, save."""

import math
from collections.abc import Callable, Collection, Sequence
from html import escape
from typing import TYPE_CHECKING

import viser

from ...errors import UserError
from ...steps.report.curves.panels import plain_unit
from ...tables.corrections import KINDS, in_words
from ...trials.session import facts_of_trials
from ...variables.metrics import METRICS
from ...vocabulary.event_names import STRIKE
from .drafts import Drafts, changed_metrics, changes
from .shown_trial import Event, shown_trial

if TYPE_CHECKING:
    from .app import Viewer

NEAR_S = 0.15  # an event as far from the frame is meant
KEYS = (
    "Keys, at the frame shown: A adds a foot strike of the chosen side, O a foot off; M moves the nearest event here; "
    "X removes it; C accepts the stance, R refuses it; L leaves out the cycle; U takes back. Write a reason first."
)


class CorrectionsForm:
    """The form, and what the corrections that are not saved yet change."""

    def __init__(self, viewer: "Viewer", drafts: Drafts) -> None:
        self.viewer, self.drafts, gui = viewer, drafts, viewer.gui
        self.what = gui.add_dropdown("What", tuple(KINDS))
        self.seconds = gui.add_number("Time (s)", 0.0, step=0.001)
        self.to = gui.add_number("To (s)", 0.0, step=0.001)
        self._button("Time is now", lambda: self._take_time(self.seconds))
        self._button("To is now", lambda: self._take_time(self.to))
        self.given = gui.add_text("Markers, or plates", "", hint="two labels with a comma, or numbers of plates")
        self.reason = gui.add_text("Reason", "")
        self.by = gui.add_text("By", "")
        self._button("Add and preview", self._add_from_form)
        self._button("Take back the last", self.undo)
        self._button("Save in corrections.tsv", self.save)
        self.corrected = gui.add_checkbox("Show as corrected", initial_value=True)
        self.corrected.on_update(lambda _: viewer.guarded(viewer.refresh))
        self.list = gui.add_html("")
        gui.add_markdown(KEYS)
        actions: Sequence[tuple[str, str, Callable[[], None]]] = [
            ("Add a foot strike here", "A", lambda: self._add("add_foot_strike", self.side, self.now)),
            ("Add a foot off here", "O", lambda: self._add("add_foot_off", self.side, self.now)),
            ("Move the nearest event here", "M", self._move_event),
            ("Remove the nearest event", "X", self._remove_event),
            ("Accept the stance", "C", lambda: self._judge("accept_contact")),
            ("Refuse the stance", "R", lambda: self._judge("refuse_contact")),
            ("Leave out the cycle", "L", self._leave_out),
            ("Take back the last correction", "U", self.undo),
        ]
        for label, key, action in actions:
            viewer.add_key(label, key, action)

    @property
    def now(self) -> float:
        """Return the time of the frame that is shown, s."""
        return float(self.viewer.seconds.value)

    @property
    def side(self) -> str:
        """Return the side of the curves that are shown."""
        return str(self.viewer.of_side.value)

    def undo(self) -> None:
        """Take the last correction back."""
        self._show({row["session"] for row in self.drafts.undo()})

    def save(self) -> None:
        """Write the corrections into the table."""
        try:
            self.drafts.save()
        finally:
            self._show()
        self.viewer.notify("Saved", f"{self.drafts.path}. 'gaitlab run' makes it official.")

    def _button(self, label: str, action: Callable[[], None]) -> None:
        self.viewer.gui.add_button(label).on_click(lambda _: self.viewer.guarded(action))

    def _take_time(self, field: viser.GuiNumberHandle[float]) -> None:
        field.value = self.now  # type: ignore[misc]

    def _add_from_form(self) -> None:
        kind = KINDS[self.what.value]
        self._add(
            self.what.value,
            self.side if "side" in kind.needs else "",
            float(self.seconds.value),
            float(self.to.value) if "to_s" in kind.needs else None,
            self.given.value if "given" in kind.needs else "",
        )

    def _add(self, kind: str, side: str, seconds: float, to: float | None = None, given: str = "") -> None:
        """Add a correction and show what it changes; one that does not fit is taken back."""
        cells = {"side": side, "time_s": f"{seconds:.3f}", "to_s": "" if to is None else f"{to:.3f}", "given": given}
        cells |= {"reason": self.reason.value, "by": self.by.value}
        self.drafts.add(kind=kind, session=self.viewer.session.value, trial=self.viewer.name, **cells)
        try:
            self._show()
        except UserError:
            self.undo()
            raise

    def _show(self, also: Collection[str] = ()) -> None:
        """Compute the session, and others, with the corrections, and list what differs."""
        viewer, session = self.viewer, self.viewer.session.value
        for name in {session, *also}:
            viewer.preview[name] = self.drafts.preview(name)
        viewer.refresh()
        lines = [*map(in_words, self.drafts.rows)] or ["No correction that is not saved."]
        changed: list[str] = []
        rows: list[tuple[str, ...]] = []
        base = viewer.sessions[session]
        if viewer.preview[session] and viewer.name in facts_of_trials(base["contacts"]):
            after = {**base, **viewer.preview[session]}
            trials = (shown_trial(data, viewer.name) for data in (base, after))
            changed = [*changes(*trials)]
            metrics = changed_metrics(base["cycles"], after["cycles"], viewer.name)
            rows = [(_title(name), side, _number(old), _number(new)) for name, side, old, new in metrics]
        self.list.content = in_html(lines, changed, rows)

    def _nearest_event(self) -> Event:
        events = self.viewer.trial.events if self.viewer.trial else []
        nearest = min(events, key=lambda one: abs(one.time - self.now), default=None)
        if nearest is None or abs(nearest.time - self.now) > NEAR_S:
            raise UserError(
                "Not possible", f"no event within {NEAR_S:g} s of this frame", "go to one: page up, page down"
            )
        return nearest

    def _move_event(self) -> None:
        event = self._nearest_event()
        self._add(f"move_{_name(event)}", event.side, event.time, self.now)

    def _remove_event(self) -> None:
        event = self._nearest_event()
        self._add(f"remove_{_name(event)}", event.side, event.time)

    def _judge(self, kind: str) -> None:
        contacts = self.viewer.trial.contacts if self.viewer.trial else []
        here = [one for one in contacts if one.start <= self.now <= one.end]
        mine = next((one for one in here if one.side == self.side), here[0] if here else None)
        if mine is None:
            raise UserError("Not possible", "no stance at this frame", "go to one")
        self._add(kind, mine.side, mine.start)

    def _leave_out(self) -> None:
        charts = self.viewer.cycle_charts
        if charts is None or charts.shown is None:
            raise UserError("Not possible", f"no {self.side} cycle in this trial", "choose another trial or side")
        cycle, _ = charts.shown
        self._add("leave_out_cycle", cycle.side, cycle.start)


def in_html(corrections: Sequence[str], changed: Sequence[str], metrics: Sequence[Sequence[str]]) -> str:
    """Return corrections, what they change, and means before and after as HTML; texts are shown as text."""
    items = ("".join(f"<li>{escape(line)}</li>" for line in lines) for lines in (corrections, changed))
    lists = [f"<ul>{each}</ul>" for each in items]
    if changed or metrics:
        lists.insert(1, "<b>Changed since the last run</b>")
    rows = ["<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in metrics]
    header = "<tr><th>mean of the trial</th><th>side</th><th>before</th><th>after</th></tr>"
    table = f"<table>{header}{''.join(rows)}</table>" if rows else ""
    return f'<div style="margin: 0 1em; font-size: 0.9em">{"".join(lists)}{table}</div>'


def _name(event: Event) -> str:
    return "foot_strike" if event.name == STRIKE else "foot_off"


def _title(metric: str) -> str:
    unit = plain_unit(METRICS[metric].units)
    return metric.replace("_", " ") + (f", {unit}" if unit else "")


def _number(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else "none"
