"""Trunk, arms and balance: on the pages of people with markers of the trunk, and nowhere else."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable

import numpy as np
import pytest

from pipeline.steps.report.curves.panels import BALANCE, FEET_UP, HEAD_DOWN, TRUNK, WAIST_MOMENTS, WHOLE_BODY, panels_of
from pipeline.steps.report.curves.waist import peak_in_words
from pipeline.steps.report.metric_tables import OF_TRUNK
from pipeline.variables.cycle_variables import LABELS_OF_TRUNK, WITH_TRUNK
from pipeline.variables.rows import TRUNK_AND_BALANCE
from tests.support.studies.for_report import Made, Page, curve_of, three_people
from tests.support.studies.typed_rows import rows_of

HAS_TRUNK = "sub-01"
UNSEEN = "neck"
VALUES = ("left", "right", "difference", "symmetry_index")  # of symmetry.csv
SIZES = {name: len(labels) for name, labels in LABELS_OF_TRUNK.items()} | {"angle": 3, "axis": 3, "phase": 101}


def with_trunk(made: Made, *, seen: bool = True, convention: str = "plug_in_gait") -> Made:
    """Return a study in which one person has trunk and arms but no head: constants by row, other on each side."""
    study, mine = made.study, made.study.participant.values == HAS_TRUNK
    level = np.where(mine & seen, np.where(study.side == "left", 1.0, 2.0), np.nan)
    curves = {}
    for name, variable in WITH_TRUNK.items():
        shape = [SIZES[dim] for dim in variable.dims[1:]]
        steps = 0.01 * np.arange(np.prod(shape[:-1])).reshape(*shape[:-1], 1) * np.ones(101)
        curves[name] = (variable.dims, np.multiply.outer(level, np.ones(shape)) + steps)
    used = json.dumps({"kinematics": {"angle_convention": convention}})
    study = study.assign(curves).assign_coords(LABELS_OF_TRUNK).assign_attrs(settings=used)
    study.upper_angle.loc[{"upper_part": UNSEEN}] = np.nan
    return made._replace(study=study)


def without_metrics_of_trunk(made: Made, people: set[str]) -> Made:
    """Return a study in which the metrics of trunk and balance of some people are unknown."""
    return made._replace(
        metrics=_table(made.metrics, people, _blank),
        means=_table(made.means, people, _blank),
        symmetry=_table(
            made.symmetry, people, lambda row: row | (dict.fromkeys(VALUES, "") if row["metric"] in OF_TRUNK else {})
        ),
    )


def _blank(row: dict[str, str]) -> dict[str, str]:
    return row | dict.fromkeys(OF_TRUNK, "")


def _table(text: str, people: set[str], change: Callable[[dict[str, str]], dict[str, str]]) -> str:
    rows = [change(row) if row["participant"] in people else row for row in rows_of(text)]
    out = io.StringIO()
    table = csv.DictWriter(out, rows[0])
    table.writeheader()
    table.writerows(rows)
    return out.getvalue()


@pytest.fixture(scope="module")
def study() -> Made:
    made = three_people()
    return without_metrics_of_trunk(with_trunk(made), {*made.participants} - {HAS_TRUNK})


def test_only_who_has_trunk_and_arms_has_their_panels(study: Made) -> None:
    for person in study.participants:
        page = Page(study.person(person))
        groups = {figure["group"] for figure in page.figures()[0]}
        assert ({*WHOLE_BODY} <= groups, bool({*WHOLE_BODY} & groups)) == (person == HAS_TRUNK,) * 2
        for words in ("margin of stability", TRUNK_AND_BALANCE, "Range of thorax tilt", "L5/S1"):
            assert (words.lower() in page.words.lower()) == (person == HAS_TRUNK), words


def test_panels_of_segments_that_are_not_seen_are_left_out(study: Made) -> None:
    titles = [figure["title"] for figure in Page(study.person(HAS_TRUNK)).figures()[0]]
    assert "Thorax tilt" in titles
    assert not [title for title in titles if title.startswith("Neck")]


def test_curves_are_means_of_the_side_without_a_norm(study: Made) -> None:
    figures = Page(study.person(HAS_TRUNK)).figures()[0]
    for side in ("left", "right"):
        mine = (study.study.participant == HAS_TRUNK) & (study.study.side == side) & (study.study.condition == "slow")
        for title, data in (
            ("Elbow flexion", study.study.upper_angle.sel(upper_part="elbow", angle="flexion")),
            ("Lateral margin of stability", study.study.margin_of_stability.sel(direction="lateral")),
            ("Sagittal angular momentum", study.study.angular_momentum.sel(axis="z")),
        ):
            curve = curve_of(figures, title, side, "slow")
            np.testing.assert_allclose(curve["mean"], float(data.isel(phase=0).where(mine).mean()), rtol=5.1e-4)
            assert curve["n"] == 2
    assert not any(figure["reference"] for figure in figures if figure["group"] in WHOLE_BODY)
    assert {figure["unit"] for figure in figures if figure["group"] == BALANCE} == {"m", "dimensionless"}


@pytest.mark.parametrize(("signs", "title"), [("clinical", "extensor"), ("stored", "flexion")])
def test_moments_of_the_waist_have_the_signs_of_those_of_the_legs(study: Made, signs: str, title: str) -> None:
    panels = panels_of(study.study, moment_signs=signs)
    hip = next(one for one in panels if one.title == f"Hip {title} moment")
    for estimate in (HEAD_DOWN, FEET_UP):
        waist = next(one for one in panels if one.title == f"Waist {title} moment, {estimate}")
        assert (waist.group, waist.factor, waist.sign) == (WAIST_MOMENTS, hip.factor, hip.sign)


def test_both_estimates_of_the_waist_are_drawn_with_one_axis_and_a_peak_only_where_they_agree(study: Made) -> None:
    """Left, from the head down -1 and -1.01, from the feet up -1 and -1.01, as the signs of the page have them."""
    figures = [one for one in Page(study.person(HAS_TRUNK)).figures()[0] if one["group"] == WAIST_MOMENTS]
    down, up = figures[:3], figures[3:]
    assert [one["title"].endswith(HEAD_DOWN) for one in figures] == [True] * 3 + [False] * 3
    assert [one["limits"] for one in down] == [one["limits"] for one in up]
    assert all("peak" in note for one in down for note in one["notes"])
    assert {note.partition(",")[0] for one in down for note in one["notes"]} == {"left", "right"}
    assert not any(one["notes"] for one in up)


FLAT, BUMP = np.full((2, 101), 0.1), np.where(np.arange(101) == 40, 1.0, 0.1) * np.ones((2, 1))


@pytest.mark.parametrize(
    ("up", "begins"),
    [
        (BUMP, "peak 1.00 at 40 %"),
        (BUMP - 0.4, "peak 1.00 at 40 %"),
        (BUMP - 0.6, "no peak"),
        (-BUMP, "no peak"),
        (FLAT, "no peak"),  # they agree elsewhere
        (np.where(np.arange(101) == 40, np.nan, BUMP), "1.00 at 40 % from the head down alone"),
        (np.vstack([BUMP[0], np.full(101, np.nan)]), "peak 1.00 at 40 %"),  # known in one cycle
    ],
)
def test_the_peak_of_the_waist_needs_both_estimates(up: np.ndarray, begins: str) -> None:
    assert peak_in_words(BUMP, up).startswith(begins)
    assert peak_in_words(-BUMP, -up).startswith(begins.replace("1.00", "-1.00"))
    assert peak_in_words(np.full((2, 101), np.nan), up) == ""


@pytest.mark.parametrize(
    ("convention", "title", "angle"),
    [("plug_in_gait", "Shoulder flexion", "flexion"), ("isb", "Shoulder elevation", "adduction")],
)
def test_the_shoulder_has_the_angle_of_its_convention(convention: str, title: str, angle: str) -> None:
    """Of Y-X-Y, the first angle is the plane of elevation, which is no flexion, and unknown while the arm hangs."""
    made = with_trunk(three_people(), convention=convention)
    shoulder = [one for one in panels_of(made.study, moment_signs="clinical") if one.title.startswith("Shoulder")]
    assert [(one.title, one.component["angle"]) for one in shoulder] == [(title, angle)]


def test_a_study_without_trunk_has_the_same_pages() -> None:
    """Curves that are unknown in all cycles change no byte, and neither do metrics without a value."""
    made = three_people()
    plain = without_metrics_of_trunk(made, {*made.participants})
    unknown = with_trunk(plain, seen=False)
    settings = unknown.study.attrs["settings"]
    plain = plain._replace(study=plain.study.assign_attrs(settings=settings))
    assert unknown.pages() == plain.pages()
    for html in plain.pages().values():
        for words in (TRUNK_AND_BALANCE, "Range of thorax", "margin of stability", "quartered circle", "L5/S1"):
            assert words not in html


def test_trunk_and_balance_are_in_the_overview(study: Made) -> None:
    groups = {figure["group"] for figure in Page(study.overview()).figures()[0]}
    assert {*WHOLE_BODY} <= groups
    assert TRUNK in groups
