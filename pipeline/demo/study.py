"""The demonstration study: two people walk at two speeds over three force plates.

To generate other studies, use the same parts: ``make_walker``, ``Gait``, ``plan_walk``, ``stepping_on``, then
``write_walk``, ``write_static``, ``write_answer`` and ``write_tables``.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from ..errors import UserError, as_argument
from .body import Walker, make_walker
from .plates import ForcePlate, stepping_on
from .trials import write_answer, write_static, write_tables, write_walk
from .walk import Gait, Walk, plan_walk

STUDY_YAML = """\
# Generated demonstration study: two people walk at two speeds over three plates. truth/ contains the exact answers.
# In comfortable_03 sub-02 has both feet on one plate. Files of fast walks contain no events, only plates and feet.
body_model: isb_clusters
"""
PEOPLE = {
    make_walker("sub-01", sex="M", mass_kg=74.6, height_m=1.78, seed=1): {"group": "younger", "age_years": "27"},
    make_walker("sub-02", sex="F", mass_kg=61.2, height_m=1.64, seed=2): {"group": "older", "age_years": "58"},
}
GAITS = {
    ("sub-01", "comfortable"): Gait(1.28, 112, 2.5),
    ("sub-01", "fast"): Gait(1.55, 126, 2.3, stance_percent=60.5),
    ("sub-02", "comfortable"): Gait(1.16, 112, 2.5, stance_percent=62.5),
    ("sub-02", "fast"): Gait(1.42, 126, 2.3, stance_percent=61.0),
}
# three plates in a row, with a longer one in the middle, in each of two laboratories
PLATES = {
    "sub-01": (ForcePlate((0.3, 0.25)), ForcePlate((1.06, 0.25), 0.9, turn_deg=180), ForcePlate((1.82, 0.25))),
    "sub-02": (
        ForcePlate((0.1, -0.76), turn_deg=90),
        ForcePlate((0.1, 0.0), 0.9, turn_deg=90),
        ForcePlate((0.1, 0.76), turn_deg=-90),
    ),
}  # fmt: skip
DIRECTIONS = {"sub-01": ("+X", "-X", "+X"), "sub-02": ("+Y", "+Y", "+Y")}
WITH_EVENTS = "comfortable"
TWO_FEET_ON_ONE_PLATE = ("sub-02", "comfortable_03")


def write_new_study(path: Path, *, soft_tissue: bool) -> str:
    """Write the demonstration study into a new folder, and return what to do next."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise UserError(str(path), "is not empty", "give a new folder for the demonstration study")
    write_demo_study(path, soft_tissue=float(soft_tissue))
    return f"Demo study written.\nNext: gaitlab run {as_argument(path)}"


def write_demo_study(path: Path, *, noise: float = 1.0, soft_tissue: float = 0.0) -> None:
    """Write the demonstration study into ``path``, each time with the same bytes.

    ``noise`` is a factor of measurement noise and plate offsets: 0 gives exact recordings. ``soft_tissue`` is a factor
    of the markers' motion over the bones in walks.
    """
    path.mkdir(parents=True, exist_ok=True)
    (path / "study.yaml").write_text(STUDY_YAML, encoding="utf-8")
    trials: list[tuple[str, str, str, str]] = []
    for walker in PEOPLE:
        who, number = walker.participant_id, len(trials)
        trials.append((who, "static", "static", "static"))
        answer = write_static(path / who / "static.c3d", walker, direction=DIRECTIONS[who][0], noise=noise, seed=number)
        write_answer(path / "truth" / f"{who}_static.nc", answer)
        for condition in ("comfortable", "fast"):
            for repeat, direction in enumerate(DIRECTIONS[who]):
                trial, number = f"{condition}_{repeat + 1:02d}", len(trials)
                trials.append((who, trial, "gait", condition))
                walk = demo_walk(walker, trial, seed=number)
                answer = write_walk(
                    path / who / f"{trial}.c3d", walk, PLATES[who], direction=direction,
                    events=condition == WITH_EVENTS, first_frame=1 + 60 * repeat, noise=noise, seed=number,
                    soft_tissue=soft_tissue,
                )  # fmt: skip
                write_answer(path / "truth" / f"{who}_{trial}.nc", answer)
    write_tables(path, PEOPLE, trials)


def demo_walk(walker: Walker, trial: str, *, seed: int) -> Walk:
    """Return the walk of one trial: three valid steps, or two feet on one plate."""
    who, (condition, repeat) = walker.participant_id, trial.rsplit("_", 1)
    crowded = (who, trial) == TWO_FEET_ON_ONE_PLATE
    faster, quicker = np.random.default_rng([seed, 6]).uniform(-1, 1, 2)
    usual = GAITS[who, condition]
    gait = replace(
        usual,
        # short steps, so that both feet fit on the plate
        speed_m_s=usual.speed_m_s * (0.975 if crowded else 1 + 0.02 * faster),
        steps_per_min=usual.steps_per_min * (1 + 0.01 * quicker),
        first_foot=int(repeat) % 2,
    )
    walk = plan_walk(walker, gait, seed=seed)
    return stepping_on(walk, DIRECTIONS[who][int(repeat) - 1], PLATES[who][1], (1, 2) if crowded else (0, 2))
