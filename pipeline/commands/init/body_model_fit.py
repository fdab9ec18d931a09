"""How well each body model fits the marker labels of a folder: the share of its landmarks that the files show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...body import requirements
from ...body.body_model import BodyModel
from ...tables.terminal_table import aligned
from ...workflow import settings
from .trial_roles import File

AS_GOOD = 0.02  # shares that differ by less count as equal; then fewer missing sizes and more markers decide
GOOD = 0.8  # share from which a model fits a file
CLEARLY_BETTER = 0.1
MOST_LISTED = 3
MOST_MODELS = 6

Models = Mapping[str, BodyModel]


class Fit(NamedTuple):
    """How well a model fits files.

    Attributes:
        share: share of its landmarks and clusters that the files show, 0 to 1, the mean of statics and of walks.
        fitted: number of files with a share of at least :data:`GOOD`.
        seen: number of its landmarks visible in any file.
        lacking: landmarks and clusters missing from files, the most frequent first.
        absent: sizes that its joint centres need and no file has.
    """

    share: float
    fitted: int
    seen: int
    lacking: list[str]
    absent: list[str]


def fits(files: Sequence[File], models: Models) -> dict[str, Fit]:
    """Return the fit of each body model over the readable files, the best first.

    The best model fits most files and, among these, has the largest share. Without a static trial, the walk that
    lacks least replaces it.
    """
    readable = [file for file in files if not file.problem]
    found = {name: _fit(name, model, readable) for name, model in models.items()}
    most = max(fit.fitted for fit in found.values())
    best = max(fit.share for fit in found.values() if fit.fitted == most)

    def worse(name: str) -> tuple[int, float, int, int, str]:
        fit = found[name]
        share = best if fit.fitted == most and fit.share >= best - AS_GOOD else fit.share
        return -fit.fitted, -share, len(fit.absent), -fit.seen, name

    return {name: found[name] for name in sorted(found, key=worse)}


def strangers(files: Sequence[File], models: Models, chosen: str) -> dict[str, list[str]]:
    """Return the files that another model fits clearly better, by that model."""
    others: dict[str, list[str]] = {}
    for file in files:
        if file.problem or (share := _fit(chosen, models[chosen], [file]).share) >= 1 - CLEARLY_BETTER:
            continue
        name, fit = next(iter(fits([file], models).items()))
        if fit.fitted and fit.share > share + CLEARLY_BETTER:
            others.setdefault(name, []).append(file.name)
    return others


def needed_sizes(name: str, model: BodyModel, files: Sequence[File]) -> list[str]:
    """Return the participants.tsv columns that a model needs, given its statics."""
    hip_centre = settings.defaults(model)["calibrate"]["hip_centre"]
    return requirements.needed_sizes(model, _static(name, files), hip_centre=hip_centre)


def as_table(fits: Mapping[str, Fit], *, width: int) -> str:
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
    return aligned(rows, width=width)


def _static(name: str, files: Sequence[File]) -> frozenset[str]:
    return frozenset[str]().union(*(file.seen[name] for file in files if file.stands))


def _fit(name: str, model: BodyModel, files: Sequence[File]) -> Fit:
    static = _static(name, files)
    missed = Counter[str]()
    standing: list[float] = []
    walking: list[float] = []
    for file in files:
        seen = file.seen[name]
        if file.stands:
            lacking, shares = requirements.lacking_when_static(model, seen), standing
            needed = requirements.lacking_when_static(model, ())
        else:
            lacking, shares = requirements.lacking_in_motion(model, seen, static), walking
            needed = requirements.lacking_in_motion(model, (), static)
        missed.update(lacking)
        shares.append(1 - len(lacking) / len(needed) if seen else 0.0)
    if not standing:
        needed = requirements.lacking_when_static(model, ())
        best = min((requirements.lacking_when_static(model, file.seen[name]) for file in files), key=len)
        missed.update(set(best) - missed.keys())
        means = [1 - len(best) / len(needed)]
    else:
        means = [sum(standing) / len(standing)]
    means += [sum(walking) / len(walking)] if walking else []
    return Fit(
        share=sum(means) / len(means),
        fitted=sum(share >= GOOD for share in standing + walking),
        seen=len(frozenset[str]().union(*(file.seen[name] for file in files))),
        lacking=[landmark for landmark, _ in missed.most_common()],
        absent=[size for size in needed_sizes(name, model, files) if not any(size in file.sizes for file in files)],
    )
