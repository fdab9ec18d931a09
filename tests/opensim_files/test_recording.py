"""The generated study as TRC and MOT files gives what its C3D files give."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from pipeline.errors import UserError
from pipeline.opensim_files.recording import read_opensim
from pipeline.trials.left_out import from_text
from pipeline.workflow.open_study import open_study
from tests.support.checkout import DEMO, copy_study
from tests.support.files.opensim import as_opensim, load_columns, mot_text, trc_text
from tests.support.studies.run_steps import run_study

Y_UP = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # from z up, as the C3D files have it
HEADER = "participant_id\tsession\ttrial\tfile\tforces\trole\tcondition\n"
ROWS = """sub-01\tc3d\tstatic\tsub-01/static.c3d\t\tstatic\tstatic
sub-01\tc3d\twalk\tsub-01/{walk}.c3d\tn/a\tgait\tfast
sub-01\ttext\tstatic\tstatic.trc\t\tstatic\tstatic
sub-01\ttext\twalk\twalk.trc\twalk_grf.mot\tgait\tfast
sub-01\tmarkers\tstatic\tstatic.trc\t\tstatic\tstatic
sub-01\tmarkers\twalk\twalk.trc\t\tgait\tfast
"""


def both(folder: Path, walk: str, turn: np.ndarray | None = None) -> Path:
    """Return a study with one walk of the generated study as C3D, as TRC and MOT, and as TRC files."""
    study = copy_study(DEMO, folder / "study")
    as_opensim(study / "sub-01" / "static.c3d", study / "static.trc", None, turn=turn)
    as_opensim(study / "sub-01" / f"{walk}.c3d", study / "walk.trc", study / "walk_grf.mot", turn=turn)
    (study / "trials.tsv").write_text(HEADER + ROWS.format(walk=walk))
    return study


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, xr.Dataset]]:
    sessions = run_study(both(tmp_path_factory.mktemp("both"), "fast_01", Y_UP), {})
    return {name: session.trials["walk"] for name, session in sessions.items()}


def test_angles_are_those_of_the_c3d_file(walks: dict[str, dict[str, xr.Dataset]]) -> None:
    """TRC files of this test are written to 1 nm; they have y up, the C3D files z."""
    for name in ("text", "markers"):
        for variable in ("joint_angle", "pelvis_angle", "foot_progression"):
            known, found = (walks[one]["kinematics"][variable].values for one in ("c3d", name))
            np.testing.assert_allclose(found, known, atol=1e-4, err_msg=f"{name} {variable}")


def test_moments_are_those_of_the_c3d_file(walks: dict[str, dict[str, xr.Dataset]]) -> None:
    """The MOT file states no force below 5 N: no more than that, at half a metre, is missing at a stance's ends."""
    known, found = (walks[name]["kinetics"].joint_moment_jcs.values for name in ("c3d", "text"))
    assert np.isfinite(known).sum() > 1000
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(known))
    assert np.nanmax(np.abs(found - known)) < 5 * 0.5
    swings = (walks["c3d"]["contacts"].ground_force.values == 0).all(axis=-1)
    np.testing.assert_allclose(found[swings], known[swings], atol=1e-3)
    assert np.nanmedian(np.abs(found - known)[~swings]) < 0.5 * 0.5  # N m: .5 N of force, in the median, at .5 m
    for variable in ("contact_side", "plates", "valid", "reason"):
        assert walks["text"]["contacts"][variable].values.tolist() == walks["c3d"]["contacts"][variable].values.tolist()


def test_markers_alone_give_stances_without_plate(walks: dict[str, dict[str, xr.Dataset]]) -> None:
    contacts = walks["markers"]["contacts"]
    assert len(contacts.reason) > 1
    assert {*contacts.reason_code.values.tolist()} <= {"no_plate", "no_gait_event"}
    assert not contacts.valid.any()


def test_edges_of_a_plate_are_unknown(walks: dict[str, dict[str, xr.Dataset]]) -> None:
    assert walks["c3d"]["read"].plate_edges_known.all()
    assert not walks["text"]["read"].plate_edges_known.any()


def test_two_feet_on_a_load_are_found(tmp_path: Path) -> None:
    """Of sub-02's third comfortable walk both feet are on plate 2."""
    study = copy_study(DEMO, tmp_path / "study")
    as_opensim(study / "sub-02/static.c3d", study / "static.trc", None)
    as_opensim(study / "sub-02/comfortable_03.c3d", study / "walk.trc", study / "walk_grf.mot")
    rows = ROWS.format(walk="comfortable_03").replace("sub-01", "sub-02").splitlines()[:4]
    (study / "trials.tsv").write_text(HEADER + "\n".join(rows) + "\n")
    found = {name: one.trials["walk"]["contacts"] for name, one in run_study(study, {}).items()}
    refused = {
        name: {*one.reason_code.values.tolist()} - {"", "no_plate", "no_gait_event"} for name, one in found.items()
    }
    assert refused["c3d"] == refused["text"] == {"two_feet_on_plate"}


def test_forces_in_other_axes_than_the_markers_are_not_used(tmp_path: Path) -> None:
    study = both(tmp_path, "fast_01")
    as_opensim(study / "sub-01/fast_01.c3d", study / "walk.trc", None, turn=Y_UP)  # and the forces with z up
    walk = run_study(study, {})["text"].trials["walk"]
    assert not walk["contacts"].valid.any()
    left_out = from_text(walk["contacts"].attrs["plates_left_out"])
    assert [(each.which, each.code) for each in left_out] == [([n], "load_sideways") for n in (1, 2, 3)]
    assert {*walk["contacts"].reason_code.values.tolist()} <= {"no_plate_left", "no_gait_event"}


def test_forces_of_another_time_are_refused(tmp_path: Path) -> None:
    labels, positions = ["A", "B"], np.ones((11, 2, 3))
    (tmp_path / "walk.trc").write_text(trc_text(labels, positions, 100))
    columns = load_columns(*np.ones((3, 50, 3)))
    (tmp_path / "walk.mot").write_text(mot_text(7 + np.arange(50) / 1000, columns))
    with pytest.raises(UserError, match=r"its times, 7 to 7.049 s, are not those of the markers, 0 to 0.1 s"):
        read_opensim(tmp_path / "walk.trc", tmp_path / "walk.mot")


def test_a_change_of_forces_or_their_loads_changes_the_keys_of_their_session(tmp_path: Path) -> None:
    study = both(tmp_path, "fast_01")

    def keys() -> dict[str, str]:
        opened = open_study(study)
        return {name: opened.key("read")(SimpleNamespace(session=name)) for name in opened.sessions}

    before = keys()
    forces = study / "walk_grf.mot"
    forces.write_text(forces.read_text().replace("\n0.001\t", "\n0.0010\t"))
    after = keys()
    assert {name for name in before if before[name] != after[name]} == {"text"}
    (study / "walk_grf.xml").write_text("<ExternalLoads/>")
    loads = keys()
    assert {name for name in before if loads[name] != after[name]} == {"text"}
    assert "walk_grf.mot" in open_study(study).recordings("text")
    assert "walk_grf.xml" in open_study(study).recordings("text")
    assert "walk_grf.mot" not in open_study(study).recordings("markers")
