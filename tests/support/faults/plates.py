"""Faults of force plates in generated and real walks, for steps ``clean`` and ``contacts``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import ezc3d
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.body.body_model import BodyModel
from pipeline.steps.read.step import read_trial as read
from tests.support.faults.channels import CHANNEL_FAULTS
from tests.support.faults.outcomes import ALL, FLAGGED, MISSED, REFUSED, REPAIRED, Row
from tests.support.plates.stances import found
from tests.support.settings import settings_of
from tests.support.steps import clean
from tests.support.walks import moving_on_plates
from tests.support.walks.moving_on_plates import VALID
from tests.support.walks.on_plates import (
    BODY_MODEL,
    any_walk,
    drifting,
    jumping,
    late,
    mirrored,
    negative,
    own_plates,
    plate_reaching,
    raw_walk,
    recorded,
    reread,
    shifted,
    written,
)
from tests.support.walks.real import CHOSEN, FILES
from tests.support.walks.ways_of_moving import WAYS

# largest rest of a repaired fault under load: a few standard errors of noise of 0.5 N
REPAIRED_N, REPAIRED_N_M, LOADED_N = 2.0, 0.5, 20.0
WRENCH = ("plate_force", "plate_moment")
Array = NDArray[np.float64]
CHANNEL_DOSES = {
    "dead": "each, silent, with noise or 0.5 % of crosstalk",
    "wrapped": "each, at 50 to 95 % of its largest value, 12 or 16 bits",
    "clipped": "each, at 50 to 95 % of its largest value",
}
# real stances that are correctly rejected: heel 16 and 17 cm behind the plate
CORRECTLY_REJECTED = {
    ("walking2", "left", "foot_partly_off_plate"),
    ("PiG_Motion-FlatFoot-Hole", "right", "foot_partly_off_plate"),
}


class Stance(NamedTuple):
    side: str
    plates: str
    reason: str
    code: str
    doubt: str = ""


class PlateFault(NamedTuple):
    """A fault of a plate: its name, doses, injection by dose number, and words or code of the right reason."""

    name: str
    doses: str
    inject: Callable[[xr.Dataset, int, int], xr.Dataset]
    words: str


def _shift(trial: xr.Dataset, plate: int, dose: int) -> xr.Dataset:
    angle = np.random.default_rng(dose).uniform(0, 2 * np.pi)
    return shifted(trial, plate, (0.05 + 0.005 * dose) * np.array([np.cos(angle), 0, np.sin(angle)]))


def _newtons(dose: int) -> float:
    return float((30 + 10 * dose) * (1 if dose % 4 < 2 else -1))


PLATE_FAULTS = (
    PlateFault("plate turned by 180 degrees", "", lambda t, p, _: reread(t, p, [2, 3, 0, 1]), "turned by 180 degrees"),
    PlateFault("plate turned by 90 degrees", "", lambda t, p, _: reread(t, p, [1, 2, 3, 0]), "turned by 90 degrees"),
    PlateFault("plate mirrored", "along and across", lambda t, p, dose: mirrored(t, p, dose % 2), "mirrored"),
    PlateFault("plate upside down, by its corners", "", lambda t, p, _: reread(t, p, [1, 0, 3, 2]), "pushes down"),
    PlateFault("plate upside down, by its signs", "", lambda t, p, _: negative(t, p), "pushes down"),
    PlateFault("plate shifted", "5 to 14.5 cm, any direction", _shift, "shifted"),
    PlateFault(
        "one plate out of time",
        "40 ms, early and late",
        lambda t, p, dose: late(t, p, 0.04 * (1 if dose % 2 else -1)),
        "plate_out_of_time",
    ),
    PlateFault(
        "one plate out of time",
        "50 to 240 ms",
        lambda t, p, dose: late(t, p, (0.05 + 0.01 * dose) * (1 if dose % 2 else -1)),
        "plate_out_of_time",
    ),
    PlateFault("plate drifts evenly", "30 to 220 N", lambda t, p, dose: drifting(t, p, _newtons(dose)), "plate_drifts"),
    PlateFault(
        "plate jumps under load", "30 to 220 N", lambda t, p, dose: jumping(t, p, _newtons(dose)), "plate_drifts"
    ),
)


def on_plates(cleaned: xr.Dataset, **settings: Any) -> list[Stance]:
    """Return the stances on plates of a trial of step ``clean``."""
    trial = found(cleaned, **settings)
    names = ("contact_side", "plates", "reason", "reason_code", "doubt_code")
    rows = [Stance(*row) for row in zip(*(trial[name].values.tolist() for name in names), strict=True)]
    return [row for row in rows if row.plates]


def judged(raw: xr.Dataset, model: BodyModel = BODY_MODEL) -> list[Stance]:
    return on_plates(clean(raw, body_model=model, settings=settings_of("clean")))


def outcome(fault: PlateFault, raw: xr.Dataset, plate: int, dose: int, model: BodyModel = BODY_MODEL) -> str:
    """Return the outcome for the stances on a plate with a fault."""
    faulty = clean(fault.inject(raw, plate, dose), body_model=model, settings=settings_of("clean"))
    stances = [stance for stance in on_plates(faulty) if str(raw.plate.values[plate]) in stance.plates.split()]
    reasons = [stance.reason for stance in stances]
    if reasons and all(reasons):
        return FLAGGED if any(fault.words in f"{stance.reason} {stance.code}" for stance in stances) else REFUSED
    right = clean(raw, body_model=model, settings=settings_of("clean"))
    loaded = right.plate_force.values[:, plate, 1] > LOADED_N
    middle = raw.plate_corner.values[plate].mean(axis=0)
    was, now = ([trial[name].values[loaded, plate] for name in WRENCH] for trial in (right, faulty))
    force, moment = (after - before for before, after in zip(was, now, strict=True))
    left = max(np.abs(force).max() / REPAIRED_N, np.abs(moment - np.cross(middle, force)).max() / REPAIRED_N_M)
    return REPAIRED if reasons and not any(reasons) and left < 1 else MISSED


def plate_rows(folder: Path, doses: Sequence[int], real: Mapping[str, xr.Dataset], every: int) -> Iterator[Row]:
    walks = {dose: raw_walk(folder, 1000 + dose) for dose in doses}
    moving = {dose: plate_with_a_stance(dose) for dose in doses}
    good = [
        (file, raw.plate.values.tolist().index(int(stance.plates)))
        for file, raw in real.items()
        for stance in dict.fromkeys(judged(raw, FILES[file]))
        if not stance.reason
    ][::every]
    for fault in PLATE_FAULTS:
        row = Row(fault.name, fault.doses)
        row.generated = [outcome(fault, raw, dose % 3, dose) for dose, raw in walks.items()]
        row.moving = [outcome(fault, *moving[dose], dose, moving_on_plates.BODY_MODEL) for dose in doses]
        for i, (file, plate) in enumerate(good):  # two doses each, so that all doses and both directions are used
            two = ((2 * i) % len(ALL), (2 * i + 1) % len(ALL)) if fault.doses else (0,)
            row.real += [outcome(fault, real[file], plate, dose, FILES[file]) for dose in two]
        yield row
    for name, (inject, words) in CHANNEL_FAULTS.items():
        outcomes = [_channel_outcome(folder, dose, inject, words) for dose in doses]
        yield Row(f"plate channel {name}", CHANNEL_DOSES[name], outcomes)
    yield Row("other foot on the plate", "4 to 13.5 cm of its sole", [_other_foot(folder, dose) for dose in doses])


def plate_with_a_stance(number: int) -> tuple[xr.Dataset, int]:
    """Return a trial of a person who moves in some way, and the index of a plate with a valid stance that is used."""
    for seed in range(1000 * (number + 1), 1000 * (number + 2)):
        walk = moving_on_plates.recorded(WAYS[number % len(WAYS)], seed)
        valid = {str(*truth.plates) for truth in walk.stances if truth.verdict == VALID and len(truth.plates) == 1}
        used = {stance.plates for stance in judged(walk.trial, moving_on_plates.BODY_MODEL) if not stance.reason}
        if found := sorted(valid & used):
            return walk.trial, int(found[0]) - 1
    raise AssertionError("no plate with a stance")


def _channel_outcome(folder: Path, dose: int, inject: Callable[[Array, int, int], Array], words: str) -> str:
    """Return the outcome for the stance on a plate with a faulty channel, each in turn."""
    walk, direction = any_walk(1000 + dose)
    path = written(folder, walk, own_plates(walk, direction), direction, seed=1000 + dose)
    file, first = ezc3d.c3d(str(path)), 6 * (dose % 3)
    own = file["data"]["analogs"][0, first : first + 6]
    own[:] = inject(own.T.copy(), dose % 6, dose).T
    file.write(str(path))
    raw = read(path, body_model=BODY_MODEL, **CHOSEN["read"])
    path.unlink()
    reasons = [stance.reason for stance in judged(raw) if str(1 + dose % 3) in stance.plates.split()]
    fault = str(raw.plate_fault.values[dose % 3])
    if not all(reasons):
        return MISSED
    return FLAGGED if words in fault or (not reasons and "vertical force" in fault) else REFUSED


def _other_foot(folder: Path, dose: int) -> str:
    """Return the outcome for the heel of the next foot, or the toes of the last one, on the plate."""
    walk, direction = any_walk(2000 + dose)
    plate = plate_reaching(walk, direction, 1, (0.04 + 0.005 * dose) * (1 if dose % 2 else -1))
    stances = judged(recorded(folder, walk, (plate,), direction, seed=2000 + dose))
    return FLAGGED if stances and all(stance.code == "two_feet_on_plate" for stance in stances) else MISSED
