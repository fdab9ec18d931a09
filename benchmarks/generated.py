"""Studies of any size, generated: the walks of the demonstration study, by as many people and as often as asked."""

from __future__ import annotations

import shutil
from pathlib import Path

from pipeline.demo.body import make_walker
from pipeline.demo.files import PLATES
from pipeline.demo.plates import stepping_on
from pipeline.demo.steps import Gait, plan_walk
from pipeline.demo.trials import write_static, write_tables, write_walk

MOST_DIFFERENT = 4  # walks of a person; further trials are copies of their files
FIELD, DIRECTION = PLATES["sub-01"], "+X"


def write_study(path: Path, *, sessions: int, trials: int, duration_s: float = 2.5) -> None:
    """Write a study: a person per session, a static trial and ``trials`` walks each, three plates."""
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
            walk = plan_walk(walker, Gait(1.25, 112, duration_s), seed=100 * number + trial)
            walk = stepping_on(walk, DIRECTION, FIELD[1], (0, 2))
            write_walk(file, walk, FIELD, direction=DIRECTION, events=False, seed=100 * number + trial)
    (path / "study.yaml").write_text("body_model: isb_clusters\n", encoding="utf-8")
    write_tables(path, people, rows)
