"""``gaitlab compare-groups``: differences of all metrics, and of chosen curves, between groups or conditions."""

import csv
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np
import xarray as xr

from ...arrays import Array, Flags
from ...conventions import ANGLES, JOINTS
from ...errors import UserError, nearest
from ...results.averages import PHASES, mean_curves
from ...results.differences import Pair, compare, pairs_of
from ...results.study_file import load_study
from ...tables.session_table import visits_of_people
from ...variables.metrics import NUMBERS
from .curve_test import CurveTest, compare_curves, largest_block, left_out

ALPHA = 0.05
LEAST_P = 1e-4  # random field theory is an approximation
CURVES = {
    **{f"{joint} {angle} moment": ("joint_moment_jcs", joint, angle) for joint in JOINTS for angle in ANGLES},
    **{f"{joint} {angle} angle": ("joint_angle", joint, angle) for joint in JOINTS for angle in ANGLES},
    **{f"{joint} power": ("joint_power", joint, "") for joint in JOINTS},
}
HEADER = ("condition", "metric", "units", "first", "second", "n_first", "n_second", "mean_first", "sd_first",
          "mean_second", "sd_second", "difference", "low", "high", "method")  # fmt: skip


def compare_groups(path: Path, *, output: Path, curves: Sequence[str] = ()) -> str:
    """Write differences.csv, and a table and a figure of each curve, into a new folder; return what was found.

    Groups are those of the column ``group``; each is compared with the first of them, and each condition with the first
    condition; where people have several visits, each visit with the first one.

    Raises:
        UserError: an unknown curve, neither two groups nor two conditions, the folder exists, or spm1d is missing.
    """
    for name in curves:
        if name not in CURVES:
            remedy = nearest(name, CURVES) or "give a joint and what of it, such as 'knee adduction moment'"
            raise UserError("--curve", f"no curve '{name}'", remedy)
    study = load_study(path)
    group, visits = _groups(study), _visits_of(study)
    conditions = [*dict.fromkeys(study.condition.values.tolist())]
    study = _at_visits(study, visits)
    baselines = _baselines(conditions, visits, {*study.condition.values.tolist()})
    pairs = pairs_of(group, baselines)
    if not pairs:
        what = "the study has neither two groups nor two conditions"
        raise UserError(str(path), what, "add a column group to participants.tsv, and run again")
    if output.exists():
        raise UserError(str(output), "exists", "give a new folder")
    tests = [(name, pair) for name in curves for pair in pairs]
    found = [_test(path, name, pair, group, visits, ALPHA / len(tests)) for name, pair in tests]
    output.mkdir(parents=True)
    _write(output / "differences.csv", HEADER, _differences(study, group, baselines))
    lines = [f"{output / 'differences.csv'}: 95 % intervals over people, not adjusted for the number of metrics"]
    for number, ((name, pair), (words, both, phase, test)) in enumerate(zip(tests, found, strict=True)):
        file = output / f"{name.replace(' ', '_')}_{number + 1}"
        _write(
            file.with_suffix(".csv"),
            ("percent", pair.first, pair.second, "t", "threshold"),
            ([*row, test.threshold] for row in zip(phase, *(one.mean(axis=0) for one in both), test.t, strict=True)),
        )
        _draw(file.with_suffix(".svg"), name, pair, both, phase, test)
        file.with_suffix(".txt").write_text("\n".join([name, *words]) + "\n", encoding="utf-8")
        lines += [f"{file.with_suffix('.svg')}:", *(f"  {line}" for line in words)]
    return "\n".join(lines)


def _groups(study: xr.Dataset) -> dict[str, str]:
    """Return the group of each participant who has one; none if all have the same."""
    if "group" not in study.coords:
        return {}
    names = zip(study.participant.values.tolist(), study.group.values.astype(str).tolist(), strict=True)
    group = {person: name for person, name in names if name.lower() not in ("", "n/a", "nan")}
    return group if len({*group.values()}) > 1 else {}


def _visits_of(study: xr.Dataset) -> dict[str, str]:
    """Return the visit of each session, the first visits first; empty without several in sessions.tsv of one person."""
    if "visit" not in study.coords:
        return {}
    people: dict[str, dict[str, str]] = {}
    columns = (study[name].values.tolist() for name in ("participant", "session", "visit"))
    for person, session, visit in zip(*columns, strict=True):
        people.setdefault(person, {})[session] = visit
    rows = {name: {"visit": visit} for own in people.values() for name, visit in own.items() if visit != name}
    return dict(visits_of_people([[*own.items()] for own in people.values()], rows))


def _at_visits(study: xr.Dataset, visits: dict[str, str]) -> xr.Dataset:
    """Return a study with the visit in each condition, so that no two visits are averaged."""
    both = zip(study.condition.values.tolist(), study.session.values.tolist(), strict=True)
    names = [f"{condition}, {visits[session]}" if session in visits else condition for condition, session in both]
    return study.assign_coords(condition=(study.condition.dims, np.array(names, dtype=str)))


def _baselines(conditions: Sequence[str], visits: dict[str, str], known: Collection[str]) -> dict[str, str]:
    """Return with which condition each of the known ones is compared: the first, or the same at the first visit."""
    if not visits:
        return dict.fromkeys(conditions, conditions[0])
    first, *_ = labels = [*dict.fromkeys(visits.values())]
    pairs = {f"{condition}, {visit}": f"{condition}, {first}" for condition in conditions for visit in labels}
    return {one: before if before in known else one for one, before in pairs.items() if one in known}


def _differences(
    study: xr.Dataset, group: dict[str, str], baselines: dict[str, str]
) -> Iterator[tuple[str | float, ...]]:
    """Yield the rows of differences.csv."""
    names = [name for name in NUMBERS if name in study and study[name].dims == ("cycle",)]
    means = xr.concat([mean_curves(study[name]) for name in names], "metric", coords="minimal", compat="override")
    values = means.transpose("condition", "participant", "side", "metric")
    people = values.participant.values.tolist()
    of_people = {one: dict(zip(people, values.sel(condition=one).values, strict=True)) for one in baselines}
    for pair, one in compare(of_people, group, baselines, phase=np.array([name in PHASES for name in names])):
        numbers = [of for each in (one.first, one.second) for of in (each.mean, each.sd)]
        columns = (one.first.n, one.second.n, *numbers, one.difference, one.low, one.high)
        method = "paired t" if pair.paired else "Welch"
        for i, name in enumerate(names):
            cells = [float(column[i]) for column in columns]
            yield pair.within, name, NUMBERS[name].units, pair.first, pair.second, *cells, method


def _curves(pair: Pair, means: xr.DataArray, group: dict[str, str]) -> tuple[list[list[str]], list[Array]]:
    """Return people and means (person, side, ...) of both, from means (participant, side, condition, ...)."""
    people = [str(name) for name in means.participant.values]
    names = [[name for name in people if group.get(name, "") == wanted] for wanted, _ in pair.places]
    means = means.reindex(condition=[one for _, one in pair.places]).transpose("participant", "side", "condition", ...)
    return names, [means.sel(participant=own).values[:, :, i] for i, own in enumerate(names)]


def _test(
    path: Path, name: str, pair: Pair, group: dict[str, str], visits: dict[str, str], alpha: float
) -> tuple[list[str], list[Array], list[int], CurveTest]:
    """Return what a test found in words, the curves (person, phase) of both, the percents, and the test.

    Moments and powers are over stance, from all whole stances, and angles over the gait cycle. A percent of a person is
    the mean of both sides where the person has both, so that no step comes from a side that ends.
    """
    variable, joint, angle = CURVES[name]
    study = _at_visits(load_study(path, part="cycle" if variable == "joint_angle" else "stance"), visits)
    means = mean_curves(study[variable].sel({"joint": joint} | ({"angle": angle} if angle else {})))
    names, both = _curves(pair, means, group)
    has: list[Flags] = [np.asarray(np.isfinite(values).any(axis=-1)) for values in both]
    has = [has[0] & has[1]] * 2 if pair.paired else has
    both = [_mean_of(values, sides) for values, sides in zip(both, has, strict=True)]
    if pair.paired:
        known, people = np.isfinite(both[0]) & np.isfinite(both[1]), names[0]
    else:
        known, people = np.isfinite(np.concatenate(both)), [*names[0], *names[1]]
    kept, samples = largest_block(known)
    parts = [kept, kept] if pair.paired else [kept[: len(names[0])], kept[len(names[0]) :]]
    both = [values[part, samples] for values, part in zip(both, parts, strict=True)]
    test = compare_curves(*both, paired=pair.paired, alpha=alpha)
    over = "gait cycle" if variable == "joint_angle" else "stance"
    what = f"{pair.second} minus {pair.first}" + (f", {pair.within}" if pair.within else "")
    count = f"{len(both[0])} people" if pair.paired else f"{len(both[1])} and {len(both[0])} people"
    phase = [*range(samples.start, samples.stop)]
    words = [f"{what}, {count}, over the {over}: t beyond {test.threshold:.3g}, {alpha:.2g} of whole curves"]
    for start, end, p in test.clusters:
        chance = f"p {p:.2g}" if p >= LEAST_P else f"p below {LEAST_P:g}"
        words.append(f"difference from {phase[0] + start:.0f} to {phase[0] + end:.0f} %, {chance}")
    words += [] if test.clusters else ["no difference found, which does not show that there is none"]
    return [*words, *left_out(people, known, kept, samples)], both, phase, test


def _mean_of(values: Array, has: Flags) -> Array:
    """Return the mean (person, phase) of the sides (person, side, phase) that a person has; NaN where one lacks it."""
    weight = has[..., None].astype(float)
    count = np.where(has.any(axis=1), has.sum(axis=1), np.nan)[:, None]
    return np.asarray(np.where(weight > 0, values, 0).sum(axis=1) / count)


def _write(file: Path, header: Sequence[str], rows: object) -> None:
    with file.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(header)
        for row in rows:  # type: ignore[attr-defined]
            writer.writerow([f"{cell:.6g}" if isinstance(cell, float) else cell for cell in row])


def _draw(file: Path, name: str, pair: Pair, both: Sequence[Array], phase: Sequence[int], test: CurveTest) -> None:
    """Draw the curves of people with their means, and t with its threshold."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    figure = Figure((9, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for values, label, colour in zip(both, (pair.first, pair.second), ("0.4", "C0"), strict=True):
        left.plot(phase, values.T, color=colour, linewidth=0.5, alpha=0.5)
        left.plot(phase, values.mean(axis=0), color=colour, linewidth=2, label=f"{label}, {len(values)} people")
    left.set(title=name)
    left.legend(fontsize="small")
    right.plot(phase, test.t, "k")
    for sign in (-1, 1):
        right.axhline(sign * test.threshold, color="C3", linestyle="--")
    right.set(title="paired t" if pair.paired else "Welch's t", ylabel="t")
    for panel in (left, right):
        panel.set(xlabel="%", xlim=(0, 100))
    with mpl.rc_context({"svg.hashsalt": "compare_groups"}):
        figure.savefig(file, metadata={"Date": None})
