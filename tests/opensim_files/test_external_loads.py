"""External loads (XML) beside a MOT file name its columns, whatever these are called."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import UserError
from pipeline.opensim_files.mot import FORCES, read_mot, what_it_holds
from tests.support.files.opensim import mot_text

RNG = np.random.default_rng(3)
MEANS = np.array([[0, 700, 0], [0.3, 0, 0.3], [0, 5, 0]])
LOADS = RNG.normal(MEANS[:, None], 0.1, (2, 3, 11, 3))  # force, point, torque of two
NAMES = ("Kraft{}_", "Ort{}_", "Dreh{}_")
COLUMNS = {
    f"{name.format(i)}{axis}": LOADS[i, kind][:, "xyz".index(axis)]
    for i in range(2)
    for kind, name in enumerate(NAMES)
    for axis in "xyz"
}
FORCE = """<ExternalForce name="load">
  <applied_to_body>calcn_r</applied_to_body>
  <force_expressed_in_body>ground</force_expressed_in_body>
  <point_expressed_in_body>ground</point_expressed_in_body>
  <force_identifier>Kraft{0}_</force_identifier>
  <point_identifier>Ort{0}_</point_identifier>
  <torque_identifier>Dreh{0}_</torque_identifier>
</ExternalForce>"""


def written(folder: Path, *forces: str) -> Path:
    """Write a MOT file with loads beside it; a load among the defaults is none."""
    inner = f"<ExternalLoads><objects>{''.join(forces)}</objects><datafile>x.mot</datafile></ExternalLoads>"
    defaults = f"<defaults>{FORCE.format(9)}</defaults>"
    (folder / "walk.xml").write_text(f'<OpenSimDocument Version="40000">{defaults}{inner}</OpenSimDocument>')
    (folder / "walk.mot").write_text(mot_text(np.arange(11) / 100, COLUMNS))
    return folder / "walk.mot"


def test_columns_are_those_that_the_loads_name(tmp_path: Path) -> None:
    path = written(tmp_path, FORCE.format(1), FORCE.format(0).replace("Dreh0_", ""))
    assert what_it_holds(path) == FORCES
    found = read_mot(path).loads
    assert len(found) == 2
    for load, (force, point, torque), share in zip(found, LOADS[::-1], (1, 0), strict=True):
        np.testing.assert_allclose(load.force, force, atol=1e-5)
        np.testing.assert_allclose(load.moment, np.cross(point, force) + share * torque, atol=1e-4)


@pytest.mark.parametrize("off", ["<isDisabled>true</isDisabled>", "<appliesForce>false</appliesForce>"])
def test_a_load_that_is_not_in_use_is_left_out(tmp_path: Path, off: str) -> None:
    path = written(tmp_path, FORCE.format(0), FORCE.format(1).replace("</E", f"{off}</E"))
    assert len(read_mot(path).loads) == 1


def test_another_xml_file_means_nothing(tmp_path: Path) -> None:
    path = written(tmp_path)
    (tmp_path / "walk.xml").write_text("<InverseKinematicsTool/>")
    assert what_it_holds(path) != FORCES
    with pytest.raises(UserError, match=r"or OpenSim's external loads \(.xml\) of the same name beside it"):
        read_mot(path)


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("point_expressed_in_body>ground", "point_expressed_in_body>calcn_r", "1 has its point in axes of calcn_r"),
        ("Ort0_", "Orte_", "1 has its point in Orte_x, ..., which the MOT file lacks"),
        ("Ort0_", "", "1 has its point in no column, which the MOT file lacks"),
        ("</ExternalLoads>", "", "no XML: mismatched tag"),
    ],
)
def test_unusable_loads_are_refused(tmp_path: Path, before: str, after: str, reason: str) -> None:
    path = written(tmp_path, FORCE.format(0))
    loads = tmp_path / "walk.xml"
    loads.write_text(loads.read_text().replace(before, after))
    with pytest.raises(UserError, match=r"walk\.xml") as caught:
        read_mot(path)
    assert reason in str(caught.value)
    assert all(problem.remedy for problem in caught.value.problems)
