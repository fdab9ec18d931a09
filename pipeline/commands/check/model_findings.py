"""A body model of which no walk shows every marker, although another one fits the files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...body.body_model import BodyModel
from ...body.landmarks import chosen_labels
from ...errors import Finding
from ...workflow import settings
from ..init.body_model_fit import GOOD, ModelFit, fits
from ..init.trial_roles import File
from ..recording_facts import Facts


def of_body_model(model: BodyModel | None, sessions: Iterable[Mapping[str, Facts]]) -> Finding | None:
    """Return the finding that another shipped body model is meant, or None.

    Only if no walk shows all that the study's model needs, and some do for the other.

    Args:
        model: the study's body model; None if it cannot be read.
        sessions: facts by file of each session.
    """
    known = [facts for facts in sessions if facts]
    if model is None or not known:
        return None
    own = _fits(known, {model.name: model})[model.name]
    if own.whole:
        return None
    names = settings.shipped_body_models()
    models = {name: settings.load_body_model(name, where="", study_path=settings.CONFIG) for name in names}
    best, fit = next(iter(_fits(known, models).items()))
    if best == model.name or not (fit.essential and fit.whole and fit.share >= GOOD):
        return None
    absent = ", ".join(name.replace("_", " ") for name in own.lacking[:3])
    what = f"body model {model.name} finds {own.share:.0%} of its markers in the files, not {absent} and others"
    return Finding("error", "study.yaml", what, f"did you mean 'body_model: {best}'? It finds {fit.share:.0%}")


def _fits(sessions: Iterable[Mapping[str, Facts]], models: Mapping[str, BodyModel]) -> dict[str, ModelFit]:
    return fits([[_file(name, facts, models) for name, facts in mine.items()] for mine in sessions], models)


def _file(name: str, facts: Facts, models: Mapping[str, BodyModel]) -> File:
    """Return a file as ``init`` judges it, by its labels."""
    return File(
        name,
        frame_count=len(facts.some_frames),
        extent_m=facts.shown.extent_m,
        labels=facts.labels,
        seen={other: frozenset(chosen_labels(model, facts.labels)) for other, model in models.items()},
        stated=facts.stated,
        sizes=facts.sizes,
    )
