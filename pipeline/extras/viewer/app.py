"""The page of the viewer: choose a trial, play it, look at its stances, curves and events, and correct them."""

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import Literal, NoReturn

import numpy as np
import viser
import xarray as xr

from ...conventions import SIDES
from ...errors import UserError
from ...results import netcdf
from ...step import steps_to
from ...tables.reference_curves import BySpeed, Curves, at_speed, reference_file, reference_of, speeds_of
from ...tables.tsv import decode_text
from ...variables.stance_verdicts import NOT_ON_A_PLATE
from ...workflow.job_keys import Study
from .charts import CycleCharts, TimeChart, cycles_of_session
from .corrections_form import CorrectionsForm
from .drafts import Drafts
from .scene import GREY, LAYERS, OF_VERDICT, VIEWS, Scene
from .server import LocalServer
from .shown_trial import Session, ShownTrial, shown_trial, trials_of_session

SPEEDS = ("1", "1/2", "1/4", "1/10")
FRAMES_PER_S = 25  # drawn while it plays
CURVES_EVERY = 5  # drawn frames between two moves of the cursor on the curves while it plays
KEYS = (
    "Keys: space plays and pauses; arrows left and right go a frame, with Shift ten; page up and down go to events; "
    "1 to 4 turn the view; N and P choose the trial."
)


class Viewer:
    """The viewer of one study."""

    def __init__(self, study: Study, server: LocalServer) -> None:
        self.study, self.server, self.gui = study, server, server.gui
        self.lock = threading.RLock()  # callbacks of viser run in threads
        self.sessions: dict[str, Session] = {}
        self.preview: dict[str, Session] = {}  # by session, the results that corrections change
        self.norm = _norm_of(study)
        self.trial: ShownTrial | None = None
        self.of_session = self.name = ""
        self.time_chart: TimeChart | None = None
        self.cycle_charts: CycleCharts | None = None
        self.playing = threading.Event()
        self.scene = Scene(server)
        self.gui.configure_theme(show_logo=False, show_share_button=False, control_width="large", dark_mode=False)
        self._add_choice()
        self._add_play()
        self._add_layers()
        self.verdicts = self.gui.add_html("")
        self.curves_panel = self.gui.add_panel()
        self.curves_panel.dock_left()
        self.curves_panel.set_width(420)
        with self.curves_panel.add_tab("Curves"):
            self.of_side = self.gui.add_dropdown("Side", SIDES)
            self.of_group = self.gui.add_dropdown("Group", ("Angles",))
            self.place_of_time = self.gui.add_folder("Over time")
            self.place_of_cycle = self.gui.add_folder("Over the gait cycle")
        self._add_keys()
        with self.curves_panel.add_tab("Corrections"):
            self.form = CorrectionsForm(self, Drafts(study))
        for choice in (self.of_side, self.of_group):
            choice.on_update(lambda _: self.guarded(self._draw_curves))
        self.show_session(self.session.value)

    def run(self) -> NoReturn:
        """Play, until the process is ended."""
        while True:
            self.playing.wait()
            last, now, count = time.monotonic(), float(self.seconds.value), 0
            while self.playing.is_set():
                time.sleep(1 / FRAMES_PER_S)
                count += 1
                with self.lock:
                    passed, last = time.monotonic() - last, time.monotonic()
                    now = self._play_on(now, passed * _ratio(self.speed.value), curves=count % CURVES_EVERY == 0)

    def _play_on(self, now: float, passed: float, *, curves: bool) -> float:
        """Show the frame some seconds after ``now``, or after the frame that a person has chosen since; return when."""
        if self.trial is None:
            return now
        if self.trial.frame_at(now) != self.scene.frame:
            now = float(self.trial.time[self.scene.frame])
        now += passed
        if now > self.trial.time[-1]:
            now = float(self.trial.time[0])
        self._go_to(now, curves=curves)
        return now

    def show_session(self, name: str) -> None:
        """Load a session and show its first walk."""
        if name not in self.sessions:
            try:
                self.sessions[name] = load_session(self.study.path / "derived" / name)
            except UserError:
                self.session.value = self.of_session or name  # type: ignore[misc]
                raise
        self.of_session, self.trial = name, None
        self._make_charts()
        roles = trials_of_session(self.sessions[name])
        walks = [trial for trial, role in roles.items() if role == "gait"]
        self.trials.options = (*walks, *(trial for trial in roles if trial not in walks))  # viser chooses the first
        if self.trial is None:  # it has the name of the one before
            self.show_trial(self.trials.value)

    @property
    def results(self) -> Session:
        """Return the results of the session by step, as corrected if that is chosen."""
        corrected = self.preview.get(self.session.value, {}) if self.form.corrected.value else {}
        return {**self.sessions[self.session.value], **corrected}

    def refresh(self) -> None:
        """Show the same frame with the results that are chosen now."""
        seconds = float(self.seconds.value)
        self._make_charts()
        self.show_trial(self.name, seconds)

    def _make_charts(self) -> None:
        if self.cycle_charts:
            self.cycle_charts.clear()
        cycles, signs = self.results["cycles"], self.study.settings["report"]["moment_signs"]
        self.cycle_charts = CycleCharts(self.gui, cycles, _at_own_speed(self.norm, cycles), moment_signs=signs)
        groups = tuple(self.cycle_charts.groups or ["Angles"])
        if groups != self.of_group.options:
            self.of_group.options = groups

    def show_trial(self, name: str, seconds: float | None = None) -> None:
        """Show a trial, from its first cycle or at a time."""
        self.name, self.trial = name, shown_trial(self.results, name)
        with self.place_of_time:
            if self.time_chart:
                self.time_chart.chart.remove()
            self.time_chart = TimeChart(self.gui, self.trial)
        first, last = (float(self.trial.time[i]) for i in (0, -1))
        self.seconds.min, self.seconds.max = first, last
        self.verdicts.content = words_on(self.trial)
        if seconds is None:
            cycle = next((one for one in cycles_of_session(self.results["cycles"]) if one.trial == name), None)
            seconds = cycle.start if cycle else first
            if cycle:
                self.of_side.value = cycle.side  # type: ignore[misc]
            self._look_from("side")
        self.scene.show(self.trial, self.trial.frame_at(seconds))
        self._go_to(seconds)

    def _add_choice(self) -> None:
        self.session = self.gui.add_dropdown("Session", tuple(self.study.sessions))
        self.trials = self.gui.add_dropdown("Trial", ("",))
        self.session.on_update(lambda _: self.guarded(lambda: self.show_session(self.session.value)))
        self.trials.on_update(lambda _: self.guarded(lambda: self.show_trial(self.trials.value)))
        self.server.on_client_connect(lambda client: self.scene.look(client, "side"))

    def _add_play(self) -> None:
        self.seconds = self.gui.add_slider("Time (s)", 0.0, 1.0, 0.001, 0.0)
        self.seconds.on_update(lambda event: self.guarded(lambda: self._slide(by_hand=event.client is not None)))
        self.play = self.gui.add_button_group("", ("back", "play / pause", "on"))
        self.play.on_click(lambda event: self.guarded(lambda: self._press(event.target.value)))
        self.speed = self.gui.add_dropdown("Speed", SPEEDS)
        self.follow = self.gui.add_checkbox("Follow the walker", initial_value=True)
        views = self.gui.add_button_group("View", tuple(VIEWS))
        views.on_click(lambda _: self.guarded(lambda: self._look_from(views.value)))

    def _add_layers(self) -> None:
        with self.gui.add_folder("Show", expand_by_default=False):
            for layer in LAYERS:
                box = self.gui.add_checkbox(layer, initial_value=layer not in self.scene.hidden)
                box.on_update(self._switch(layer))

    def _switch(self, layer: str) -> Callable[[viser.GuiEvent[viser.GuiCheckboxHandle]], None]:
        return lambda event: self.guarded(lambda: self.scene.switch(layer, on=event.target.value))

    def _add_keys(self) -> None:
        self.gui.add_markdown(KEYS)
        actions: Sequence[tuple[str, str, str | None, Callable[[], None]]] = [
            ("Play or pause", "space", None, self._play_or_pause),
            ("Next frame", "arrowright", None, lambda: self._step(1)),
            ("Frame before", "arrowleft", None, lambda: self._step(-1)),
            ("Ten frames on", "arrowright", "shift", lambda: self._step(10)),
            ("Ten frames back", "arrowleft", "shift", lambda: self._step(-10)),
            ("Next event", "pagedown", None, lambda: self._to_event(1)),
            ("Event before", "pageup", None, lambda: self._to_event(-1)),
            ("Next trial", "N", None, lambda: self._to_trial(1)),
            ("Trial before", "P", None, lambda: self._to_trial(-1)),
            *((f"View: {view}", str(key), None, partial(self._look_from, view)) for key, view in enumerate(VIEWS, 1)),
        ]
        for label, key, modifier, action in actions:
            self.add_key(label, key, action, modifier)

    def add_key(self, label: str, key: str, action: Callable[[], None], modifier: str | None = None) -> None:
        """Let a key do something."""
        command = self.gui.add_command(label, hotkey=key, modifier=modifier)  # type: ignore[arg-type]
        command.on_trigger(lambda _: self.guarded(action))

    def _look_from(self, view: str) -> None:
        for client in self.server.get_clients().values():
            self.scene.look(client, view)

    def _slide(self, *, by_hand: bool) -> None:
        if by_hand:
            self._go_to(self.seconds.value)

    def guarded(self, action: Callable[[], None]) -> None:
        """Do something, one at a time; an error that the user can mend is shown."""
        with self.lock:
            try:
                action()
            except UserError as error:
                self.notify("Not possible", str(error), colour="red")

    def notify(self, title: str, text: str, *, colour: Literal["blue", "red"] = "blue") -> None:
        """Show a message in the browser."""
        for client in self.server.get_clients().values():
            client.add_notification(title, text, color=colour, auto_close_seconds=False)

    def _press(self, what: str) -> None:
        if what == "play / pause":
            self._play_or_pause()
        else:
            self._step(1 if what == "on" else -1)

    def _play_or_pause(self) -> None:
        (self.playing.clear if self.playing.is_set() else self.playing.set)()

    def _step(self, frames: int) -> None:
        self.playing.clear()
        if self.trial:
            at = np.clip(self.scene.frame + frames, 0, len(self.trial.time) - 1)
            self._go_to(float(self.trial.time[at]))

    def _to_event(self, direction: int) -> None:
        self.playing.clear()
        now = self.trial.time[self.scene.frame] if self.trial else 0.0
        times = sorted(event.time for event in self.trial.events) if self.trial else []
        later = [x for x in times if (x - now) * direction > 0.5 / FRAMES_PER_S]
        if later:
            self._go_to(min(later) if direction > 0 else max(later))

    def _to_trial(self, by: int) -> None:
        names = list(self.trials.options)
        self.trials.value = names[(names.index(self.trials.value) + by) % len(names)]  # type: ignore[misc]

    def _go_to(self, seconds: float, *, curves: bool = True) -> None:
        """Show the frame nearest to a time."""
        if self.trial is None:
            return
        frame = self.trial.frame_at(seconds)
        self.scene.draw(frame)
        self.seconds.value = round(float(self.trial.time[frame]), 3)  # type: ignore[misc]
        if self.follow.value:
            self.scene.follow()
        if curves:
            self._draw_curves()

    def _draw_curves(self) -> None:
        if not self.trial or not self.time_chart or not self.cycle_charts:
            return
        seconds = float(self.seconds.value)
        self.time_chart.set_time(seconds)
        with self.place_of_cycle:
            self.cycle_charts.show(self.name, self.of_side.value, seconds, self.of_group.value)


def load_session(folder: Path) -> dict[str, xr.Dataset]:
    """Return the results of a session by step.

    Raises:
        UserError: the session has not been computed.
    """
    missing = [step for step in steps_to("cycles") if not (folder / f"{step}.nc").exists()]
    if missing:
        raise UserError(str(folder), f"no {missing[0]}.nc", "run the study first: gaitlab run STUDY")
    return {step: netcdf.load(folder / f"{step}.nc") for step in steps_to("cycles")}


def words_on(trial: ShownTrial) -> str:
    """Return the stances of a trial with their verdicts, in colour, as HTML."""
    line = '<p style="margin: 0.4em 1em; font-size: 0.9em">{}</p>'
    if trial.notes:
        return line.format(f"<b>Rejected:</b> {escape(trial.notes)}")
    lines = []
    for one in trial.contacts:
        colour = f"rgb{OF_VERDICT.get(one.verdict, GREY)}"
        where = f"{one.side}, {one.start:.2f} to {one.end:.2f} s" + (f", plate {one.plates}" if one.plates else "")
        why = f": {one.why}" if one.why and one.verdict != NOT_ON_A_PLATE else ""
        lines.append(line.format(f'<b style="color: {colour}">{one.verdict}</b> {escape(where + why)}'))
    return "".join(lines) or line.format("No stance.")


def _norm_of(study: Study) -> BySpeed:
    name = study.settings["study"]["reference"]
    file = reference_file(name, study_path=study.path) if name else None
    if file is None or file.suffix == ".nc":
        return {}
    return reference_of(decode_text(file.read_bytes()), where="study.reference")


def _at_own_speed(norm: BySpeed, cycles: xr.Dataset) -> Curves:
    """Return the normal curves at the median speed of a session's cycles."""
    if not norm or not cycles.sizes.get("cycle"):
        return {}
    names = cycles.variables["metric"].values.tolist()
    speeds = cycles.variables["metric_value"].values[:, names.index("walking_speed_dimensionless")]
    known = speeds[np.isfinite(speeds)]
    available = speeds_of(norm)
    return at_speed(norm, float(np.median(known)) if known.size else available[len(available) // 2] if available else 0)


def _ratio(words: str) -> float:
    """Return the speed of play, such as ``1/4``."""
    above, _, below = words.partition("/")
    return float(above) / float(below or 1)
