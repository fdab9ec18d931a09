"""How well each body model fits the marker labels of a folder: the share of its landmarks that the files show."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...body.body_model import BodyModel
from ...body.resolved_model import resolve
from ...c3d.segment_poses import ENDS
from ...conventions import SIDES
from ...errors import join_some
from ...steps.read.recording_contents import Contents
from ...tables.terminal_table import align
from ...workflow import settings
from .trial_roles import best_static

AS_GOOD = 0.02  # shares that differ by less count as equal
GOOD = 0.8  # share from which a model fits a file
GENERAL = "anatomical"  # fits many protocols; a model of one protocol is preferred
BONES = "plug_in_gait_bones"  # takes what another model has computed; only where none can compute it again
MOST_LISTED = 3
MOST_MODELS = 6

Models = Mapping[str, BodyModel]


class ModelFit(NamedTuple):
    """How well a model fits sessions."""

    whole: int  # number of walks that lack nothing, nor does the static trial for them
    share: float  # share of its landmarks and clusters that the files show, 0 to 1, the mean of statics and of walks
    fitted: int  # number of files with a share of at least :data:`GOOD`
    seen: int  # number of its landmarks visible in any file
    lacking: list[str]  # landmarks and clusters missing from files, the most frequent first
    absent: list[str]  # sizes that its joint centres need and no file has
    poses: bool  # whether model and files have poses of segments in place of markers
    essential: bool  # whether a file shows pelvis, knee, ankle and foot by its labels; no model does so by chance


def fits(sessions: Sequence[Sequence[Contents]], models: Models) -> dict[str, ModelFit]:
    """Return the fit of each body model over the readable files of sessions, the best first.

    The best model is essential, has most whole walks, fits most files and, among these, has the largest share; then it
    lacks fewest markers and sizes and uses most markers, so that a knee alignment device or medial markers decide. A
    session is judged by its best static trial for the model: the others serve another purpose. Without one each walk
    may be its own, and the one that lacks least counts, unless walks state the static results of Plug-in Gait.
    """
    all_fits = {name: _fit(name, model, sessions) for name, model in models.items()}
    first = max((fit.essential, fit.whole, fit.fitted) for fit in all_fits.values())
    equal = {name for name, fit in all_fits.items() if (fit.essential, fit.whole, fit.fitted) == first}
    best = max(all_fits[name].share for name in equal)

    planes_shown = any(file.stands for mine in sessions for file in mine) or all(
        any(file.states_results for file in mine) for mine in sessions
    )  # where the planes of wands are: a static trial is there, or all walks state its results
    computable = planes_shown and any(
        fit.essential and fit.whole and not fit.absent for name, fit in all_fits.items() if name != BONES
    )

    def worse(name: str) -> tuple[bool, bool, int, int, float, int, bool, int, str]:
        fit = all_fits[name]
        share = best if name in equal and fit.share >= best - AS_GOOD else fit.share
        last = len(fit.lacking) + len(fit.absent), name == GENERAL, -fit.seen, name
        return not fit.essential, computable and name == BONES, -fit.whole, -fit.fitted, -share, *last

    return {name: all_fits[name] for name in sorted(all_fits, key=worse)}


def find_nearest(fits: Mapping[str, ModelFit]) -> str:
    """Return the model of which the files show most, whether or not it can be used; for poses one that takes them."""
    return max(fits, key=lambda name: (fits[name].share, fits[name].poses))


def describe_nearest(fits: Mapping[str, ModelFit]) -> str:
    """Return the nearest model and what it lacks, in words."""
    name = find_nearest(fits)
    lacking = [text.replace("_", " ") for text in fits[name].lacking]
    return f"The nearest is {name}, {fits[name].share:.0%} found, which lacks {join_some(lacking, 2 * MOST_LISTED)}"


def strangers(sessions: Sequence[Sequence[Contents]], models: Models, chosen: str) -> dict[str, list[str]]:
    """Return, by model, the files in which it finds pelvis, knees and feet and the chosen one does not.

    A static trial needs no marker where walks state its results, nor where another static serves. The only static of a
    session takes the session with it.
    """
    others: dict[str, list[str]] = {}
    for mine in sessions:
        model, strange = models[chosen], dict[str, str]()
        stated = model.may_be_stated and any(file.states_results for file in mine if not file.stands)
        for file in mine:
            shown = resolve(model, file.seen[chosen])
            if (file.stands and stated) or not shown.lacking or _is_essential(model, file.seen[chosen]):
                continue
            name, fit = next(iter(fits([[file]], models).items()))
            if fit.fitted and fit.essential:
                strange[file.name] = name
        statics = [file.name for file in mine if file.stands]
        serving = [name for name in statics if name not in strange]
        for file in mine:
            if strange and statics and not serving:
                others.setdefault(strange[statics[0]], []).append(file.name)
            elif file.name in strange and not (file.stands and serving):
                others.setdefault(strange[file.name], []).append(file.name)
    return others


def find_needed_sizes(name: str, model: BodyModel, sessions: Sequence[Sequence[Contents]]) -> list[str]:
    """Return the participants.tsv columns that a model needs, given the static trial of each session."""
    hip_centre = settings.defaults(model)["calibrate"]["hip_centre"]
    statics = (best_static([file for file in mine if file.stands], name, model) for mine in sessions)
    shown = {static.seen[name] if static else frozenset[str]() for static in statics}
    return sorted({size for seen in shown for size in resolve(model, seen).find_needed_sizes(hip_centre=hip_centre)})


def as_table(fits: Mapping[str, ModelFit], *, width: int) -> str:
    """Return the best fits as a table: model, share, missing landmarks and sizes."""
    rows = [("body model", "found", "not found")]
    for name, fit in list(fits.items())[:MOST_MODELS]:
        texts = [text.replace("_", " ") for text in (*fit.lacking, *(size.removesuffix("_m") for size in fit.absent))]
        more = len(texts) - MOST_LISTED
        listed = texts[: MOST_LISTED if more > 1 else None]
        if not fit.seen:
            listed, more = ["anything"], 0
        rows.append((name, f"{fit.share:.0%}", ", ".join(listed + [f"{more} more"] * (more > 1))))
    if len(fits) > MOST_MODELS:
        rows.append((f"{len(fits) - MOST_MODELS} more", "less", ""))
    return align(rows, width=width)


def _fit(name: str, model: BodyModel, sessions: Sequence[Sequence[Contents]]) -> ModelFit:
    missed, all_lacking = Counter[str](), resolve(model, frozenset()).lacking
    standing, walking = list[float](), list[float]()
    fitted = whole = 0
    for mine in sessions:
        static = best_static([file for file in mine if file.stands] or mine, name, model)
        if static is None:
            continue
        given = resolve(model, static.seen[name])
        complete = not given.lacking
        missed.update(given.lacking)
        standing.append(1 - len(given.lacking) / len(all_lacking) if given.labels else 0.0)
        fitted += static.stands and standing[-1] >= GOOD
        needed = given.lacking_in_motion(())
        for file in mine:
            if file.stands:
                continue
            seen = file.seen[name]
            lacking = given.lacking_in_motion(seen)
            if not static.stands:
                stated = model.may_be_stated and any(walk.states_results for walk in mine)
                complete = stated or not resolve(model, seen).lacking
            whole += complete and not lacking
            missed.update(lacking)
            walking.append(1 - len(lacking) / len(needed) if seen else 0.0)
            fitted += walking[-1] >= GOOD
    every = [file for mine in sessions for file in mine]
    means = [sum(shares) / len(shares) for shares in (standing, walking) if shares]
    return ModelFit(
        whole=whole,
        share=sum(means) / len(means),
        fitted=fitted,
        seen=len(frozenset[str]().union(*(file.seen[name] for file in every))),
        lacking=[landmark for landmark, _ in missed.most_common()],
        absent=[
            size for size in find_needed_sizes(name, model, sessions) if not any(size in file.sizes for file in every)
        ],
        poses=model.takes_poses
        and any(label.endswith(tuple(ENDS)) for file in every for label in file.recording.labels),
        essential=any(_is_essential(model, file.seen[name]) for file in every),
    )


def _is_essential(model: BodyModel, seen: frozenset[str]) -> bool:
    """Return whether a file shows the pelvis, and knee, ankle and foot of a side, as far as the model names them."""
    shown = resolve(model, seen).landmarks
    unseen = model.landmarks.keys() - shown
    return {"asis_left", "asis_right"} <= shown and any(
        unseen.isdisjoint({f"lateral_epicondyle_{side}", f"lateral_malleolus_{side}"})
        and not shown.isdisjoint({f"heel_{side}", f"toe_{side}"})
        for side in SIDES
    )
