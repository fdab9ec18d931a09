"""TRC files and the files beside them: which forces belong to which markers, and what belongs to nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from tests.odd_files.c3d_edits import write_study as write_c3d_study
from tests.odd_files.row import Row, Truth
from tests.odd_files.text_rows import TEXT, with_separator
from tests.odd_files.texts import plain_mot, plain_trc, write_pair

PAIRS = {
    "new_grf": ("walk_new.trc", "walk_grf.sto", "static_new.trc", "a public data set"),
    "markers_forces": ("walk_markers.trc", "walk_forces.mot", "static_markers.trc", "scripts of users"),
    "ground_reaction": ("walk.trc", "walk_ground_reaction.mot", "static.trc", "scripts of users"),
    "ground_reactions": ("walk.trc", "walk_ground_reactions.sto", "static.trc", "OpenSim"),
    "upper": ("walk.trc", "walk_GRF.MOT", "static.trc", "Windows"),
    "upper_both": ("WALK.TRC", "WALK_GRF.MOT", "STATIC.TRC", "Windows"),
    "filtered": ("walk_filtered.trc", "walk_grf_filtered.mot", "static_filtered.trc", "scripts of users"),
    "prefix": ("markers_walk.trc", "grf_walk.mot", "markers_static.trc", "scripts of users"),
    "marker_data": ("walk_marker_data.trc", "walk_force_data.mot", "static_marker_data.trc", "scripts of users"),
    "hyphen": ("walk-markers.trc", "walk-grf.mot", "static-markers.trc", "scripts of users"),
    "force_plates": ("walk.trc", "walk_forceplates.mot", "static.trc", "scripts of users"),
    "folders": ("MarkerData/walk.trc", "ForceData/walk_forces.mot", "MarkerData/static.trc", "AddBiomechanics"),
    "trial_folder": ("walk/markers.trc", "walk/grf.mot", "static/markers.trc", "docs/study_directory.md"),
}


def pairs() -> Iterator[Row]:
    """Yield names of a marker file and its force file."""
    for name, (markers, forces, static, source) in PAIRS.items():
        yield Row(f"pair_{name}", f"{markers} beside {forces}", source, TEXT,
                  partial(_write_named, names=(markers, forces, static)))  # fmt: skip
    yield Row("pairs_of_two", "walk1_new.trc, walk1_grf.sto, walk2_new.trc, walk2_grf.sto", "a public data set",
              replace(TEXT, walks=2, start_s=None), _write_two_pairs)  # fmt: skip
    yield Row("unclaimed_forces", "a force file that belongs to no marker file", "scripts of users",
              replace(TEXT, said=("other_grf.mot",)), partial(_write_beside, name="other_grf.mot"))  # fmt: skip
    yield Row("unclaimed_orientations", "orientations of segments beside the walk", "OpenSense",
              replace(TEXT, said=("walk_orientations.sto|quaternion|orientation",)),
              partial(_write_beside, name="walk_orientations.sto"))  # fmt: skip
    yield Row("joint_angles_beside", "joint angles of OpenSim beside the walk", "OpenSim", TEXT,
              partial(_write_beside, name="walk_ik.mot"))  # fmt: skip
    for name, (trc, odd) in {"beside": ("walk.trc", "a TRC file with commas beside the C3D file"),
                             "in_folder": ("TRC/walk.trc", "one in a folder of its own beside that of the person"),
                             "above": ("sub-01.trc", "one above the person's folder")}.items():  # fmt: skip
        where = "" if name == "beside" else "sub-01/"
        write = partial(_write_trc_with_c3d, trc=trc, walk=f"{where}walk.c3d", static=f"{where}static.c3d")
        yield Row(f"csv_trc_{name}", odd, "a public data set", Truth(), write)


def _write_named(folder: Path, *, names: tuple[str, str, str]) -> None:
    write_pair(folder, plain_trc().text(), plain_mot().text(), names=names)


def _write_two_pairs(folder: Path) -> None:
    _write_named(folder, names=("walk1_new.trc", "walk1_grf.sto", "static_new.trc"))
    later = plain_trc().later(10.0).text()
    write_pair(folder, later, plain_mot().later(10.0).text(),
               names=("walk2_new.trc", "walk2_grf.sto", "static_new.trc"))  # fmt: skip


def _write_beside(folder: Path, *, name: str) -> None:
    """Write the plain files and a table that is not for us: forces of another recording, or other columns."""
    _write_named(folder, names=("walk.trc", "walk.mot", "static.trc"))
    columns = {"orientations": "pelvis_imu\tfemur_r_imu", "ik": "pelvis_tilt\tknee_angle_r"}
    cell = "1,0,0,0" if "orientations" in name else "0.5"
    kind = next((columns[key] for key in columns if key in name), "")
    rows = "\n".join(f"{i / 100}\t{cell}\t{cell}" for i in range(180))
    table = f"{name}\nversion=1\nnRows=180\nnColumns=3\nendheader\ntime\t{kind}\n{rows}\n"
    (folder / name).write_text(table if kind else plain_mot().text())


def _write_trc_with_c3d(folder: Path, *, trc: str, walk: str, static: str) -> None:
    """Write C3D files, and the markers of the walk once more in a TRC file that cannot be read."""
    write_c3d_study(folder, walk=walk, static=static)
    (folder / trc).parent.mkdir(exist_ok=True)
    (folder / trc).write_text(with_separator(plain_trc().text(), ","))


PAIR_ROWS = tuple(pairs())
