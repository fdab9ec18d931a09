"""Settings with which no walk can be computed well: a body model of other markers, and cut-offs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...body.body_model import BodyModel
from ...body.landmarks import choose_labels
from ...errors import Problem, warning
from ...steps.read.recording_contents import Contents
from ...workflow import settings
from ..shared.body_model_fit import GOOD, ModelFit, describe_nearest, fits

# Hz. Of a toe marker in walking 99.7 % of the power is below 6 Hz (Winter DA, Sidwall HG, Hobson DA 1974, J Biomech
# 7:157-159), which is the usual lowest cut-off; a walk of half the speed needs 4. Beyond 30 Hz, also in running, skin
# and noise are left, and accelerations are mostly these. Of the force under a foot 98 % are below 10 Hz and 99 % below
# 15 (Antonsson EK, Mann RW 1985, J Biomech 18:39-47). The lowest in use is 6, matched to that of the markers.
USUAL_HZ = {"marker_cutoff_hz": (4.0, 30.0), "force_cutoff_hz": (5.0, float("inf"))}


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
    remedy = f"did you mean 'body_model: {best}'? It finds {fit.share:.0%}"
    return Problem("study.yaml", what, remedy, "another_body_model_fits")


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


def of_cutoffs(chosen: Mapping[str, Any]) -> Iterator[Problem]:
    """Find cut-offs in the settings that remove the motion or force of a walk, or keep the noise of its markers."""
    clean = chosen.get("clean", {})
    for name, (low, high) in USUAL_HZ.items():
        cutoff_hz = clean.get(name)
        if not isinstance(cutoff_hz, (int, float)) or low <= cutoff_hz <= high:
            continue
        if name == "marker_cutoff_hz" and clean.get("marker_filter") == "gcv_spline":  # which has none
            continue
        what = f"clean.{name} is {cutoff_hz:g} Hz: "
        what += "it keeps noise and soft tissue" if cutoff_hz > high else "it removes a part of the walk itself"
        remedy = "the default is 10 Hz; docs/cutoffs.md has the errors of others"
        yield warning("study.yaml", what, remedy, "cutoff_unusual")
