"""What the page of the viewer asks of a study, and the answers. No answer depends on what another window asked."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from ...errors import UserError
from ...results import netcdf
from ...step import steps_to
from ...tables.corrections import KINDS, TABLE, in_results, in_words
from ...tables.tsv import Row
from ...workflow.job_keys import Study
from .drafts import Saved, as_saved, completed, effect, listed, refuse_unfit, save, take_back, with_drafts
from .preview import Previews
from .shown_curves import norm_of, shown_curves
from .shown_trial import Session, shown_trial, trials_of_session

PLAIN = {  # kinds of corrections as the page names them
    **{f"{do.lower()}_foot_strike": f"{do} a foot strike" for do in ("Add", "Move", "Remove")},
    **{f"{do.lower()}_foot_off": f"{do} a foot off" for do in ("Add", "Move", "Remove")},
    "leave_out_cycle": "Leave out a gait cycle",
    "accept_contact": "Accept a stance",
    "refuse_contact": "Refuse a stance",
    "give_contact": "Say which foot was on a plate",
    "hide_marker": "Hide a marker for a while",
    "exchange_labels": "Exchange two labels",
}


class ReplacedError(Exception):
    """A request that a newer one of the same window has replaced."""


class Answers:
    """The answers of one study, each a function of what the page sends as JSON."""

    def __init__(self, study: Study) -> None:
        """Compute nothing yet.

        Args:
            study: as of :func:`pipeline.workflow.open_study.open_study`, with the SHA-256 of the recordings.
        """
        self.study, self.norm, self.previews = study, norm_of(study), Previews()
        self.runs: dict[str, tuple[float, Session]] = {}  # results as of the last run, by session, and their date
        # NetCDF files are read and written by one thread at a time; a save of corrections never waits for that
        self.computing, self.writing = threading.Lock(), threading.Lock()
        self.newest: dict[str, int] = {}  # number of the newest request, by window

    def study_shown(self, asked: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002 (as the others)
        """Return the sessions of the study, and the kinds of corrections."""
        about = {name: {"needs": kind.needs, "given": kind.about, "words": PLAIN[name]} for name, kind in KINDS.items()}
        return {"name": self.study.path.resolve().name, "sessions": [*self.study.sessions], "kinds": about}

    def session_shown(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the trials of a session, walks first, with the reason of each that is rejected."""
        with self._turn(asked):
            trials = trials_of_session(self._as_run(asked["session"]))
        rows = [{"name": name, "role": role, "rejected": why} for name, (role, why) in trials.items()]
        return {"trials": sorted(rows, key=lambda row: (row["role"] != "gait", bool(row["rejected"])))}

    def trial_shown(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return a trial with the saved corrections and those that are tried, and what the last of these changes.

        Raises:
            UserError: a correction is wrong, contradicts another or does not fit its trial.
            ReplacedError: the window has asked for something else meanwhile.
        """
        session, trial = asked["session"], asked["trial"]
        with self._turn(asked):
            saved = as_saved(self.study)
            drafts = [completed(self.study, cells) for cells in asked["drafts"]]
            with_drafts(self.study, saved, drafts)  # refused before anything is computed
            before = self._results(asked, saved, drafts[:-1])
            after = self._results(asked, saved, drafts) if drafts else before
        refuse_unfit(after, drafts)
        signs = self.study.settings["report"]["moment_signs"]
        is_of_trial = bool(drafts) and (drafts[-1]["session"], drafts[-1]["trial"]) == (session, trial)
        return {
            "trial": shown_trial(after, trial).message(),
            "curves": shown_curves(after["cycles"], trial, self.norm, moment_signs=signs),
            "drafts": [in_words(row) for row in drafts],
            "saved": listed(saved.rows.get(session, []), after),
            "seen": saved.sha256,
            "effect": effect(before, after, trial) if is_of_trial else None,
        }

    def saved(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Add corrections to the table, at once; each of them has been shown before."""
        drafts = [completed(self.study, cells) for cells in asked["drafts"]]
        with self.writing:
            save(self.study, drafts, asked["seen"])
        return {"words": f"{len(drafts)} saved in {self.study.path / TABLE}. 'gaitlab run' makes them official."}

    def taken_back(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Take a saved row out of the table, at once."""
        with self.writing:
            take_back(self.study, asked["row"])
        return {"words": f"Taken out of {self.study.path / TABLE}: {in_words(asked['row'])}"}

    def _results(self, asked: Mapping[str, Any], saved: Saved, drafts: Sequence[Row]) -> Session:
        """Return the results of a session as last run, or, with other corrections, as the next run will give them."""
        session, study = asked["session"], with_drafts(self.study, saved, drafts)
        as_run = self._as_run(session)
        wanted = study.corrections.get(session, [])
        applied, unfit = in_results(data.attrs for data in as_run.values())
        if len(wanted) == len(applied) + len(unfit) and all(
            any(row.items() <= one.items() for one in (*applied, *unfit)) for row in wanted
        ):
            return as_run
        give_up = partial(self._refuse_replaced, asked)
        return {**as_run, **self.previews.preview(study, session, before_each_step=give_up)}

    @contextmanager
    def _turn(self, asked: Mapping[str, Any]) -> Iterator[None]:
        """Wait until nothing else is computed; what the window has asked for before need not be computed any more."""
        self.newest[asked["window"]] = max(asked["number"], self.newest.get(asked["window"], 0))
        with self.computing:
            self._refuse_replaced(asked)
            yield

    def _refuse_replaced(self, asked: Mapping[str, Any]) -> None:
        if self.newest[asked["window"]] > asked["number"]:
            raise ReplacedError

    def _as_run(self, session: str) -> Session:
        """Return the results of the last run by step, read again after another run; refuse a session without any."""
        folder = self.study.path / "derived" / session
        file = folder / "cycles.nc"
        date = file.stat().st_mtime if file.exists() else 0.0
        if session not in self.runs or self.runs[session][0] != date:
            files = {step: folder / f"{step}.nc" for step in steps_to("cycles")}
            if not all(file.exists() for file in files.values()):
                raise UserError(session, "has not been run yet", f"gaitlab run {self.study.path}")
            self.runs[session] = date, {step: netcdf.load(file) for step, file in files.items()}
        return self.runs[session][1]
