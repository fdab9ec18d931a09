"""Labels of the points of a C3D file."""

from __future__ import annotations

import pytest

from pipeline.c3d.point_labels import label_points

NAMES = ["LASI", "RASI", "LKNE", "RKNE", "LHEE", "RHEE"]


def test_model_outputs_are_no_markers_and_lists_continue() -> None:
    point = {"LABELS": ["*12", "LKNE", "", "LKneeAngles"], "LABELS2": ["RKNE"], "ANGLES": ["LKneeAngles"]}
    assert label_points(point, 5) == ["*12", "LKNE", "", "", "RKNE"]


def test_labels_beyond_the_points_are_ignored() -> None:
    """Some files list more labels than POINT:USED, the surplus repeated or of subjects of their own."""
    point = {"LABELS": [*NAMES, "LASI", "Ann:LKNE", "Bob:LKNE"]}
    assert label_points(point, len(NAMES)) == NAMES


@pytest.mark.parametrize(
    ("labels", "descriptions", "full"),
    [
        (["RKNE", "RKNE", "RTHI"], ["R.Knee", "R.Knee.Medial", "R.Thigh"], ["R.Knee", "R.Knee.Medial", "RTHI"]),
        (["VRKN", "VRKN"], ["V_R.Knee_JC_Static", "V_R.Knee_JC"], ["V_R.Knee_JC_Static", "V_R.Knee_JC"]),
        (["M", "M", "M"], ["LASI", "RASI", "SACR"], ["LASI", "RASI", "SACR"]),  # one label for all points
        (
            ["T8", "T8", "C7", "X", "Y"],
            ["Unnamed 1", "Unnamed 4", "", "", ""],
            ["T8", "T8", "C7", "X", "Y"],
        ),  # no names
        (["RKNE", "RKNE", "X"], ["R.Knee", "R.Knee", ""], ["RKNE", "RKNE", "X"]),  # the same twice
        (["RKNE", "RKNE", "X"], ["R.Knee"], ["RKNE", "RKNE", "X"]),  # not described
        (["RKNE", "LKNE"], ["R.Knee", "L.Knee"], ["RKNE", "LKNE"]),  # nothing repeats
    ],
)
def test_descriptions_name_points_with_the_same_label(
    labels: list[str], descriptions: list[str], full: list[str]
) -> None:
    point = {"LABELS": labels, "DESCRIPTIONS": descriptions}
    assert label_points(point, len(labels)) == full
