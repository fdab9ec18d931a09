"""Generated studies of any size, with the walks of the demonstration study."""

from __future__ import annotations

import shutil
from pathlib import Path
from unittest.mock import patch

import numpy as np

from pipeline.demo import recording
from pipeline.demo.body import make_walker
from pipeline.demo.loads import ground
from pipeline.demo.plates import channels, file_axes, stepping_on
from pipeline.demo.study import PLATES
from pipeline.demo.trials import write_static, write_tables
from pipeline.demo.walk import Gait, Walk, motion, plan_walk

MOST_DIFFERENT = 4  # walks of a person; further trials are copies of these files
FIELD, DIRECTION = PLATES["sub-01"], "+X"
ON_PLATES_S = 10.0  # the walker has left the plates long before


def write_study(
    path: Path, *, sessions: int, trials: int, duration_s: float = 2.5, marker_hz: int = 100, markers: int = 34,
    plates: int = 3,
) -> None:  # fmt: skip
    """Write a study: one person per session, with a static trial and ``trials`` walks.

    The first steps of a walk are on plates, later ones on the floor. Plates are sampled at 1,000 Hz. Markers beyond the
    34 of the body model are on the trunk.
    """
    people, rows = {}, []
    for number in range(sessions):
        who, sex = f"sub-{number + 1:04d}", "MF"[number % 2]
        walker = make_walker(who, sex=sex, mass_kg=60.0 + number % 25, height_m=1.6 + number % 25 / 100, seed=number)
        people[walker] = {"group": "generated"}
        write_static(path / who / "static.c3d", walker, direction=DIRECTION, seed=number)
        rows.append((who, "static", "static", "static"))
        for trial in range(trials):
            file = path / who / f"walk_{trial + 1:02d}.c3d"
            rows.append((who, file.stem, "gait", "comfortable"))
            if trial >= MOST_DIFFERENT:
                shutil.copy(path / who / f"walk_{trial % MOST_DIFFERENT + 1:02d}.c3d", file)
                continue
            seed = 100 * number + trial
            walk = plan_walk(walker, Gait(1.25, 112, duration_s), seed=seed)
            walk = stepping_on(walk, DIRECTION, FIELD[1], (0, 2))
            _write_walk(file, walk, marker_hz=marker_hz, markers=markers, plates=plates, seed=seed)
    (path / "study.yaml").write_text("body_model: isb_clusters\n", encoding="utf-8")
    write_tables(path, people, rows)


def _write_walk(path: Path, walk: Walk, *, marker_hz: int, markers: int, plates: int, seed: int) -> None:
    """Write the C3D file of one walk, without its exact answer."""
    rng, bodies, field = np.random.default_rng([seed, 4]), motion(walk), FIELD[:plates]
    time, plate_time = (np.arange(round(walk.gait.duration_s * hz)) / hz for hz in (marker_hz, recording.ANALOG_HZ))
    body = bodies(time)
    paths = recording.marker_paths(walk.walker, body, medial=False)
    for extra in range(markers - len(paths)):
        paths[f"TRUNK{extra + 1}"] = body.pelvis_origin + np.array([0.0, 0.2 + 0.05 * extra, 0.0])
    turned = {label: path @ file_axes(DIRECTION).T for label, path in paths.items()}
    on_plates = plate_time[plate_time < ON_PLATES_S]
    readings = np.zeros((len(plate_time), len(field), 6))
    readings[: len(on_plates)] = channels(ground(walk, bodies(on_plates), on_plates), DIRECTION, field)
    content = recording.C3DContent(
        walk.walker,
        recording.noisy_markers(turned, rng, noise=1.0),
        field,
        recording.noisy_readings(readings, rng, noise=1.0),
    )
    # the demonstration study has one fixed marker rate
    with patch.object(recording, "MARKER_HZ", marker_hz):
        recording.write_c3d(path, content)
