"""A body model of which no walk shows every marker, although another one fits the files."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ...body.body_model import BodyModel
from ...body.landmarks import choose_labels
from ...errors import Problem
from ...steps.read.recording_contents import Contents
from ...workflow import settings
from ..shared.body_model_fit import GOOD, ModelFit, describe_nearest, fits


def of_body_model(model: BodyModel | None, sessions: Iterable[Mapping[str, Contents]]) -> Problem | None:
    """Return the finding that another shipped body model is meant, or which one is nearest if none is chosen, or None.

    Another is meant only if no walk shows all that the study's model needs, and some do for the other.
    """
    readable = [facts for facts in sessions if facts]
    if not readable:
        return None
    if model is None:
        remedy = "choose it if it is meant, else write one that extends it, with your labels (docs/body_models.md)"
        what = describe_nearest(_fits(readable, _shipped()))
        return Problem("study.yaml", f"{settings.NO_BODY_MODEL}. {what}", remedy, "no_body_model")
    chosen = _fits(readable, {model.name: model})[model.name]
    if chosen.whole:
        return None
    best, fit = next(iter(_fits(readable, _shipped()).items()))
    if best == model.name or not (fit.essential and fit.whole and fit.share >= GOOD):
        return None
    absent = ", ".join(name.replace("_", " ") for name in chosen.lacking[:3])
    what = f"body model {model.name} finds {chosen.share:.0%} of its markers in the files, not {absent} and others"
    return Problem(
        "study.yaml", what, f"did you mean 'body_model: {best}'? It finds {fit.share:.0%}", "another_body_model_fits"
    )


def _shipped() -> dict[str, BodyModel]:
    names = settings.shipped_body_models()
    return {name: settings.load_body_model(name, where="", study_path=settings.CONFIG) for name in names}


def _fits(sessions: Iterable[Mapping[str, Contents]], models: Mapping[str, BodyModel]) -> dict[str, ModelFit]:
    """Return the fit of each model to the landmarks of recordings by their labels, seen or not."""

    def labelled(recording: Contents) -> Contents:
        labels = recording.recording.labels
        return replace(
            recording, seen={name: frozenset(choose_labels(model, labels)) for name, model in models.items()}
        )

    return fits([[*map(labelled, mine.values())] for mine in sessions], models)
