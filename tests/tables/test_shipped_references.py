"""The shipped tables of normal gait hold the published numbers, converted."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from pipeline.tables.reference_curves import Key, ReferenceCurve, at_speed, reference_file, reference_of, speeds_of
from pipeline.workflow.open_study import look_at
from pipeline.workflow.settings import shipped_references
from tests.support.checkout import HOUSE

GRAVITY_M_S2 = 9.80665
# by the heading in the publication: the curve of study.nc and the factor. The published moments are positive in
# extension, abduction and plantar flexion, whatever the heading says: test_normal_gait.py compares them with walkers
SCHWARTZ: Mapping[str, tuple[Key, float]] = {
    "joint rotations: Pelvic Ant/Posterior Tilt": (("pelvis_angle", "flexion"), 1),
    "joint rotations: Pelvic Up/Down Obliquity": (("pelvis_angle", "adduction"), 1),
    "joint rotations: Pelvic Int/External Rotation": (("pelvis_angle", "rotation"), 1),
    "joint rotations: Hip Flex/Extension": (("joint_angle", "hip", "flexion"), 1),
    "joint rotations: Hip Ad/Abduction": (("joint_angle", "hip", "adduction"), 1),
    "joint rotations: Hip Int/External Rotation": (("joint_angle", "hip", "rotation"), 1),
    "joint rotations: Knee Flex/Extension": (("joint_angle", "knee", "flexion"), 1),
    "joint rotations: Knee Ad/Abduction": (("joint_angle", "knee", "adduction"), 1),
    "joint rotations: Knee Int/External Rotation": (("joint_angle", "knee", "rotation"), 1),
    "joint rotations: Ankle Dorsi/Plantarflexion": (("joint_angle", "ankle", "flexion"), 1),
    "joint rotations: Foot Int/External Progression": (("foot_progression",), 1),
    "ground reaction forces: Anterior/Posterior": (("ground_force", "x"), GRAVITY_M_S2),
    "ground reaction forces: Vertical": (("ground_force", "y"), GRAVITY_M_S2),
    "joint moments: Hip Ext/Flexion": (("joint_moment_jcs", "hip", "flexion"), -1),
    "joint moments: Hip Ab/Adduction": (("joint_moment_jcs", "hip", "adduction"), -1),
    "joint moments: Knee Ext/Flexion": (("joint_moment_jcs", "knee", "flexion"), -1),
    "joint moments: Knee Ab/Adduction": (("joint_moment_jcs", "knee", "adduction"), -1),
    "joint moments: Ankle Dorsi/Plantarflexion": (("joint_moment_jcs", "ankle", "flexion"), -1),
    **{f"joint power: {joint.capitalize()}": (("joint_power", joint), 1) for joint in ("hip", "knee", "ankle")},
}
PINZONE: Mapping[str, tuple[Key, float]] = {
    "angles: Pelvis Ant/Pst": (("pelvis_angle", "flexion"), 1),
    "angles: Pelvic Up/Dn": (("pelvis_angle", "adduction"), 1),
    "angles: Pelvic Int/Ext": (("pelvis_angle", "rotation"), 1),
    "angles: Hip Flx/Ext": (("joint_angle", "hip", "flexion"), 1),
    "angles: Hip Add/Abd": (("joint_angle", "hip", "adduction"), 1),
    "angles: Hip Int/Ext": (("joint_angle", "hip", "rotation"), 1),
    "angles: Knee Flx/Ext": (("joint_angle", "knee", "flexion"), 1),
    "angles: Ankle Dor/Pla": (("joint_angle", "ankle", "flexion"), 1),
    "angles: Foot Int/Ext": (("foot_progression",), 1),
    "moments: Hip Extensor Moment": (("joint_moment_jcs", "hip", "flexion"), -1),
    "moments: Hip Abductor Moment": (("joint_moment_jcs", "hip", "adduction"), -1),
    "moments: Knee Extensor Moment": (("joint_moment_jcs", "knee", "flexion"), -1),
    "moments: Knee Abductor Moment": (("joint_moment_jcs", "knee", "adduction"), -1),
    "moments: Plantarflexor Moment": (("joint_moment_jcs", "ankle", "flexion"), -1),
    "moments: Ankle Rotation Moment": (("joint_moment_jcs", "ankle", "rotation"), -1),
    **{f"powers: {joint.capitalize()} Power": (("joint_power", joint), 1) for joint in ("hip", "knee", "ankle")},
}
CHILDREN = (81, 31)  # of the two services
ROUNDING = 5.1e-5  # of four decimals


def published(file: Path) -> dict[str, list[dict[str, str]]]:
    """Return the rows of a published table by heading."""
    found: dict[str, list[dict[str, str]]] = {}
    with file.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            found.setdefault(f"{row['sheet']}: {row['component']}", []).append(row)
    return found


def shipped(name: str) -> dict[float | None, dict[Key, ReferenceCurve]]:
    return reference_of(reference_file(name, study_path=Path()).read_text(), where=name)


def column(rows: list[dict[str, str]], name: str) -> np.ndarray:
    return np.array([float(row[name]) for row in rows])


def test_schwartz_as_published(shared: Path) -> None:
    """All but the trunk, which no output has."""
    folder = shared / "data" / "normative"
    headings, table = published(folder / "schwartz2008.csv"), shipped("schwartz2008")
    with (folder / "schwartz2008_speeds.csv").open(encoding="utf-8") as lines:
        speeds = {row["speed"]: float(row["dimensionless_speed_mean"]) for row in csv.DictReader(lines)}
    assert [*table] == [*speeds.values()]
    assert {heading for heading in headings if "Trunk" not in heading} == {*SCHWARTZ}
    for group, speed in speeds.items():
        assert {*table[speed]} == {key for key, _ in SCHWARTZ.values()}
        for heading, (key, factor) in SCHWARTZ.items():
            rows, curve = headings[heading], table[speed][key]
            np.testing.assert_array_equal(curve.phase, column(rows, "percent_of_cycle"))
            np.testing.assert_allclose(curve.mean, factor * column(rows, f"{group}_mean"), atol=ROUNDING)
            np.testing.assert_allclose(curve.sd, np.abs(factor * column(rows, f"{group}_sd")), atol=ROUNDING)


def test_pinzone_as_published_for_both_services_together(shared: Path) -> None:
    """Mean and standard deviation of people drawn with the mean and deviation of each service."""
    headings, table = published(shared / "data" / "normative" / "pinzone2014.csv"), shipped("pinzone2014")[None]
    assert {*headings} == {*PINZONE}
    assert {*table} == {key for key, _ in PINZONE.values()}
    for heading, (key, factor) in PINZONE.items():
        rows, people = headings[heading], []
        for service, count in enumerate(CHILDREN, start=1):
            scores = np.linspace(-1, 1, count)
            scores /= scores.std(ddof=1)
            mean, sd = (column(rows, f"centre_{service}_{what}") for what in ("mean", "sd"))
            people.append(factor * (mean + scores[:, None] * sd))
        everybody = np.concatenate(people)
        np.testing.assert_allclose(table[key].mean, everybody.mean(axis=0), atol=ROUNDING, err_msg=heading)
        np.testing.assert_allclose(table[key].sd, everybody.std(axis=0, ddof=1), atol=ROUNDING, err_msg=heading)


@pytest.mark.parametrize("name", shipped_references())
def test_each_shipped_reference_has_its_table_and_citation(name: str) -> None:
    assert reference_file(name, study_path=Path()).is_file()
    about = shipped_references()[name]
    assert {*about} - {"remarks"} == {"title", "citation", "people", "ages", "model"}
    assert name[-4:] in about["title"]
    assert name[-4:] in about["citation"]


def test_jobs_that_compare_with_a_shipped_reference_depend_on_its_content() -> None:
    """And on what is said of it, which study.nc holds."""
    made, problems = look_at(HOUSE / "data" / "demo")
    assert problems == []
    file = reference_file("schwartz2008", study_path=Path())
    for step in ("study", "report"):
        key = json.loads(made.key(step)(None))
        assert key["reference"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert json.loads(made.key("study")(None))["arguments"]["about_reference"] == shipped_references()["schwartz2008"]


def test_a_reference_by_speed_is_linear_between_its_speeds_and_ends_with_them() -> None:
    table = shipped("schwartz2008")
    slow, free = speeds_of(table)[1:3]
    key = ("joint_angle", "knee", "flexion")
    third = at_speed(table, slow + (free - slow) / 3)[key]
    for got, low, high in zip(third, table[slow][key], table[free][key], strict=True):
        np.testing.assert_allclose(got, (2 * np.array(low) + np.array(high)) / 3)
    for speed, end in ((0.01, 0.1721), (0.1721, 0.1721), (2.0, 0.6938)):
        for got, expected in zip(at_speed(table, speed)[key], table[end][key], strict=True):
            np.testing.assert_allclose(got, expected)
    assert at_speed(table, np.nan) == {}
    assert at_speed({None: table[slow]}, np.nan) == at_speed({None: table[slow]}, 0.3) == table[slow]
