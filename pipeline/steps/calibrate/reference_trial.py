"""The trial that defines a session's model: the static trial, or with stated static results any that shows the markers.

Plug-in Gait files state the static results by which the laboratory processed them.
"""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...body.alignment_device import with_devices
from ...body.body_model import BodyModel
from ...body.landmarks import Points, choose_labels, find_seen_labels, mean_positions, with_heels
from ...body.resolved_model import ResolvedModel, resolve
from ...body.static_results import StaticResults, parse_results, results_of_walks_count
from ...conventions import NO_STATIC
from ...errors import UserError
from ...trials.session import AnyTrial, problems_of
from ...variables.verdict_table import WITHOUT_STATIC

Trials = Mapping[str, AnyTrial]


class ReferenceTrial(NamedTuple):
    """The trial that defines the model."""

    name: str  # of the trial
    file: str  # that it is from
    labels: list[str]  # of all markers of the file
    markers: NDArray[np.float64]  # (time, marker, 3), m
    model: ResolvedModel  # the body model in this recording
    # its landmarks (time, 3), m; ``points`` also has those that an alignment device shows, and virtual heels
    seen: Points
    points: Points
    own_results: Mapping[str, StaticResults]  # by side, the static results that the trial itself states
    # the trial that states the static results by which the model is defined; empty if its markers define it
    source: str
    stated: Mapping[str, StaticResults]  # these results, by side
    note: str  # on these
    unclear: str  # what of these results only the laboratory can tell; empty if nothing


def find_reference(trials: Trials, body_model: BodyModel, *, use_stated: bool) -> ReferenceTrial:
    """Return the trial that defines the model, with the body model resolved in it.

    Args:
        use_stated: whether stated static results define the model, if it is of that kind.

    Raises:
        UserError: there is none, or it cannot be used.
    """
    source, results = _results_of_session(trials) if use_stated and body_model.may_be_stated else ("", "")
    name, model = _choose(trials, body_model, source)
    trial = trials[name]
    labels, markers = _labels(trial), trial["marker_position"].values
    seen = mean_positions(model.labels, labels, markers)
    walks = _results_in(_of_role(trials, "gait")) if source else {}
    others = [name for name, other in walks.items() if other != trials[source].attrs["static_results"]]
    differ = f"; {', '.join(others)} {'state' if others[1:] else 'states'} others, used for walks" if others else ""
    return ReferenceTrial(
        name,
        trial.attrs.get("source", name),
        labels,
        markers,
        model,
        seen,
        points=with_heels(with_devices(seen, model.devices), {}, trial.variables["time"].values),
        own_results=parse_results(_results_in({name: trial}).get(name, "")) if body_model.may_be_stated else {},
        source=source,
        stated=parse_results(results),
        note=f"the model has the static results stated in {source}{differ}" if source else "",
        unclear=_find_unclear(source, trials) if use_stated and body_model.may_be_stated else "",
    )


def _results_of_session(trials: Trials) -> tuple[str, str]:
    """Return the trial that states the session's static results, and these, JSON; empty if none does.

    If walks differ, those are taken that the static trial states too, else those of most walks; ``kinematics`` gives
    each walk its own. Where those of walks do not count, the markers of the static trial define the model.
    """
    static, walks = (_results_in(_of_role(trials, role)) for role in ("static", "gait"))
    readable = {name: one for name, one in trials.items() if "rejected" not in one.attrs}
    of_static, of_walks = (
        [bool(one.attrs.get("static_results")) for one in _of_role(readable, role).values()]
        for role in ("static", "gait")
    )
    if any(of_walks) and not results_of_walks_count(of_static, of_walks):
        return "", ""
    count = Counter(walks.values())
    same = [name for name, text in walks.items() if text in static.values()]
    usual = [name for name, text in walks.items() if count[text] == max(count.values())]
    source = next(iter([*same, *usual, *static]), "")
    return source, (static | walks).get(source, "")


def _find_unclear(source: str, trials: Trials) -> str:
    """Return how the static results that the files of a session state contradict each other; empty if they do not."""
    static, walks = (_results_in(_of_role(trials, role)) for role in ("static", "gait"))
    if not source and walks:
        return f"some walks ({', '.join(walks)}) state static results, the static trial does not: these are not used"
    others = [name for name, text in walks.items() if text != walks.get(source)]
    if source in walks and others and walks[source] not in static.values():
        return f"{source} and {', '.join(others)} state different static results, and the static trial none of these"
    return ""


def _choose(trials: Trials, body_model: BodyModel, source: str) -> tuple[str, ResolvedModel]:
    """Return the static trial and the model in it; if a ``source`` states results, a walk with the markers will do."""
    statics = _of_role(trials, "static")
    for name, trial in (statics | {source: trials[source]} | _of_role(trials, "gait")).items() if source else ():
        if "rejected" not in trial.attrs:
            model = _resolve(trial, body_model)
            if not model.lacking_in_motion(model.landmarks):
                return name, model
    if not statics:
        what = f"no static trial: {WITHOUT_STATIC}"
        raise UserError("trials.tsv", what, "list one with role static (a file may have several rows)", NO_STATIC)
    name, trial = next(iter(statics.items()))
    if "rejected" in trial.attrs:
        problems = (problem._replace(code=NO_STATIC) for problem in problems_of(trial))
        raise UserError.of(problems).within(f"static trial {name}")
    return name, _resolve(trial, body_model)


def _resolve(trial: AnyTrial, body_model: BodyModel) -> ResolvedModel:
    return resolve(
        body_model, choose_labels(body_model, find_seen_labels(_labels(trial), trial["marker_position"].values))
    )


def _labels(trial: AnyTrial) -> list[str]:
    return [str(label) for label in trial["marker"].values]


def _of_role(trials: Trials, role: str) -> dict[str, AnyTrial]:
    return {name: trial for name, trial in trials.items() if trial.attrs.get("role", "gait") == role}


def _results_in(trials: Trials) -> dict[str, str]:
    """Return the static results that trials state, JSON, by trial; without those that state none."""
    texts = {name: str(trial.attrs.get("static_results", "")) for name, trial in trials.items()}
    return {name: text for name, text in texts.items() if text}
