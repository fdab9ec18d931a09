"""``gaitlab compare-groups``: differences of all metrics, and of chosen curves, between groups or conditions."""

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import xarray as xr

from ...arrays import Array, Flags
from ...conventions import ANGLES, JOINTS
from ...errors import UserError, nearest
from ...results.averages import PHASES, mean_curves
from ...results.differences import FEWEST_PEOPLE, Pair, compare, pairs_of
from ...results.study_file import load_study
from ...variables.metrics import NUMBERS
from ...variables.stance_verdicts import BETWEEN_WORDS
from .curve_test import CurveTest, compare_curves, largest_block, left_out
from .pairs import at_visits, baselines_of, chosen_pairs, groups_of, pairs_in, visits_of

ALPHA = 0.05
LEAST_P = 1e-4  # random field theory is an approximation
CURVES = {
    **{f"{joint} {angle} moment": ("joint_moment_jcs", joint, angle) for joint in JOINTS for angle in ANGLES},
    **{f"{joint} {angle} angle": ("joint_angle", joint, angle) for joint in JOINTS for angle in ANGLES},
    **{f"{joint} power": ("joint_power", joint, "") for joint in JOINTS},
}
HEADER = ("condition", "metric", "units", "first", "second", "n_first", "n_second", "mean_first", "sd_first",
          "mean_second", "sd_second", "difference", "low", "high", "method")  # fmt: skip
N_FIRST = HEADER.index("n_first")  # n_second follows
OF_TESTS = ("curve", "within", "first", "second", "n_first", "n_second", "tests", "alpha", "threshold",
            "from_percent", "to_percent", "p")  # fmt: skip
LONGEST_NAME = 150  # characters, of a file


def compare_groups(
    path: Path,
    *,
    output: Path,
    curves: Sequence[str] = (),
    between: Sequence[str] | None = None,
    conditions: Sequence[str] = (),
) -> str:
    """Write differences.csv, and a table and a figure of each curve, into a new folder; return what was found.

    With curves, curve_tests.csv has the threshold and the clusters of every test.

    Groups are those of the column ``group``; each is compared with the first of them, and each condition with the first
    condition; where people have several visits, each visit with the first one.

    Args:
        between: two groups, conditions or visits to compare alone, the first one being subtracted.
        conditions: those to compare, or to compare groups or visits in; all without any.

    Raises:
        UserError: an unknown curve, group or condition, neither two groups nor two conditions, the folder exists, or
            spm1d is missing.
    """
    for name in curves:
        if name not in CURVES:
            remedy = nearest(name, CURVES) or "give a joint and what of it, such as 'knee adduction moment'"
            raise UserError("--curve", f"no curve '{name}'", remedy)
    study = load_study(path)
    group, visits = groups_of(study), visits_of(study)
    every = [*dict.fromkeys(study.condition.values.tolist())]
    study = at_visits(study, visits)
    baselines = baselines_of(every, visits, {*study.condition.values.tolist()})
    pairs = chosen_pairs(between, group, [*baselines], visits) if between else pairs_of(group, baselines)
    if pairs and conditions:
        pairs = pairs_in(conditions, pairs, every, visits)
    if not pairs:
        what = "the study has neither two groups nor two conditions"
        raise UserError(str(path), what, "add a column group to participants.tsv, and run again")
    if output.exists():
        raise UserError(str(output), "exists", "give a new folder")
    tests = [(name, pair) for name in curves for pair in pairs]
    found = [_test(path, name, pair, group, visits, len(tests)) for name, pair in tests]
    output.mkdir(parents=True)
    rows = [*_differences(study, group, baselines, pairs)]
    _write(output / "differences.csv", HEADER, rows)
    lines = [f"{output / 'differences.csv'}: 95 % intervals over people, not adjusted for the number of metrics"]
    if few := sum(min(float(row[N_FIRST]), float(row[N_FIRST + 1])) < FEWEST_PEOPLE for row in rows):
        lines.append(f"  {few} of {len(rows)} rows have no difference: fewer than {FEWEST_PEOPLE} people in a group")
    if tests:
        _write(output / "curve_tests.csv", OF_TESTS, _rows_of_tests(tests, found))
        lines.append(f"{output / 'curve_tests.csv'}: the threshold and the clusters of each test of a curve")
    names = _names_of_files(tests)
    for (name, pair), (words, both, phase, test), stem in zip(tests, found, names, strict=True):
        header = ("percent", pair.first, pair.second, "t", "threshold")
        means = zip(phase, *(one.mean(axis=0) for one in both), test.t, strict=True)
        _write(output / f"{stem}.csv", header, ([*row, test.threshold] for row in means))
        _draw(output / f"{stem}.svg", name, pair, both, phase, test)
        (output / f"{stem}.txt").write_text("\n".join([name, *words]) + "\n", encoding="utf-8")
        lines += [f"{output / stem}.svg:", *(f"  {line}" for line in words)]
    return "\n".join(lines)


def _names_of_files(tests: Sequence[tuple[str, Pair]]) -> list[str]:
    """Return the name of the files of each test, without ending: curve, what is compared, and where."""
    names = list[str]()
    for curve, pair in tests:
        text = " ".join(filter(None, [curve, pair.second, "minus", pair.first, pair.within]))
        stem = re.sub(r"[^\w-]+", "_", text).strip("_")[:LONGEST_NAME]
        alike = sum(name.casefold() == stem.casefold() for name in names)
        names.append(f"{stem}_{len(names) + 1}" if alike else stem)
    return names


def _rows_of_tests(
    tests: Sequence[tuple[str, Pair]], found: Sequence[tuple[list[str], list[Array], list[int], CurveTest]]
) -> Iterator[tuple[str | float, ...]]:
    """Yield the rows of curve_tests.csv: one of each cluster, one without a cluster of each test that finds none."""
    for (name, pair), (_, both, phase, test) in zip(tests, found, strict=True):
        about: tuple[str | float, ...] = (name, pair.within, pair.first, pair.second, *map(len, both))
        about += (len(tests), ALPHA / len(tests), test.threshold)
        for start, end, p in test.clusters:
            yield (*about, phase[0] + start, phase[0] + end, p)
        if not test.clusters:
            yield (*about, "", "", "")


def _differences(
    study: xr.Dataset, group: dict[str, str], conditions: Collection[str], pairs: Sequence[Pair]
) -> Iterator[tuple[str | float, ...]]:
    """Yield the rows of differences.csv."""
    names = [name for name in NUMBERS if name in study and study[name].dims == ("cycle",)]
    means = xr.concat([mean_curves(study[name]) for name in names], "metric", coords="minimal", compat="override")
    values = means.transpose("condition", "participant", "side", "metric")
    people = values.participant.values.tolist()
    of_people = {one: dict(zip(people, values.sel(condition=one).values, strict=True)) for one in conditions}
    for pair, one in compare(of_people, group, pairs, phase=np.array([name in PHASES for name in names])):
        numbers = [of for each in (one.first, one.second) for of in (each.mean, each.sd)]
        columns = (one.first.n, one.second.n, *numbers, one.difference, one.low, one.high)
        method = "paired t" if pair.paired else "Welch"
        for i, name in enumerate(names):
            cells = [float(column[i]) for column in columns]
            yield pair.within, name, NUMBERS[name].units, pair.first, pair.second, *cells, method


def _curves(pair: Pair, means: xr.DataArray, group: dict[str, str]) -> tuple[list[list[str]], list[Array]]:
    """Return people and curves (person, phase) of both, from means (participant, side, condition, phase).

    A curve is the mean of the sides that a person has, of people in a pair those with both; NaN without any.
    """
    people = [str(name) for name in means.participant.values]
    names = [[name for name in people if group.get(name, "") == wanted] for wanted, _ in pair.places]
    means = means.reindex(condition=[one for _, one in pair.places]).transpose("participant", "side", "condition", ...)
    of_sides = [means.sel(participant=own).values[:, :, i] for i, own in enumerate(names)]
    has: list[Flags] = [np.asarray(np.isfinite(values).any(axis=-1)) for values in of_sides]
    has = [has[0] & has[1]] * 2 if pair.paired else has
    both = []
    for values, sides in zip(of_sides, has, strict=True):
        count = np.where(sides.any(axis=1), sides.sum(axis=1), np.nan)[:, None]
        both.append(np.where(sides[..., None], values, 0).sum(axis=1) / count)
    return names, both


def _test(
    path: Path, name: str, pair: Pair, group: dict[str, str], visits: dict[str, str], tests: int
) -> tuple[list[str], list[Array], list[int], CurveTest]:
    """Return what a test found in words, the curves (person, phase) of both, the percents, and the test.

    Moments and powers are over stance, from all whole stances, and angles over the gait cycle. A percent of a person is
    the mean of both sides where the person has both, so that no step comes from a side that ends.
    """
    variable, joint, angle = CURVES[name]
    study = at_visits(load_study(path, part="cycle" if variable == "joint_angle" else "stance"), visits)
    means = mean_curves(study[variable].sel({"joint": joint} | ({"angle": angle} if angle else {})))
    names, both = _curves(pair, means, group)
    if pair.paired:
        known, people = np.isfinite(both[0]) & np.isfinite(both[1]), names[0]
    else:
        known, people = np.isfinite(np.concatenate(both)), [*names[0], *names[1]]
    kept, samples = largest_block(known)
    parts = [kept, kept] if pair.paired else [kept[: len(names[0])], kept[len(names[0]) :]]
    both = [values[part, samples] for values, part in zip(both, parts, strict=True)]
    test = compare_curves(*both, paired=pair.paired, alpha=ALPHA / tests)
    over = "gait cycle" if variable == "joint_angle" else "stance"
    what = f"{pair.second} minus {pair.first}" + (f", {pair.within}" if pair.within else "")
    count = f"{len(both[0])} people" if pair.paired else f"{len(both[1])} and {len(both[0])} people"
    phase = [*range(samples.start, samples.stop)]
    by_chance = f"which chance alone reaches anywhere along the curve in {ALPHA / tests:.2%} of such studies"
    if tests > 1:
        by_chance += f", and along any of the {tests} curves tested in at most {ALPHA:.0%}"
    words = [f"{what}, {count}, over the {over}: t beyond {test.threshold:.3g}, {by_chance}"]
    for start, end, p in test.clusters:
        chance = f"p {p:.2g}" if p >= LEAST_P else f"p below {LEAST_P:g}"
        words.append(f"difference from {phase[0] + start:.0f} to {phase[0] + end:.0f} %, {chance}")
    words += [] if test.clusters else ["no difference found, which does not show that there is none"]
    columns = (study[name].values.tolist() for name in ("participant", "condition", "doubt"))
    doubted: dict[str, dict[str, None]] = {}
    compared = {condition for _, condition in pair.places}
    for person, condition, doubt in zip(*columns, strict=True):
        if doubt and condition in compared:
            doubted.setdefault(person, {})[doubt] = None
    doubts = {person: BETWEEN_WORDS.join(own) for person, own in doubted.items()}
    return [*words, *left_out(people, known, kept, samples, doubts=doubts)], both, phase, test


def _write(file: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with file.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(header)
        for row in rows:
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
