"""What the table of children's segments changes in moments, powers and the pelvis residual of children.

``python -m tests.campaigns children`` prints the table of docs/validation.md: three recorded children, of ages that
their heights suggest and two years less and more, by another table of adults, and generated ones of known ages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from pipeline.conventions import JOINTS, STANDARD_GRAVITY_M_S2
from pipeline.workflow import settings
from pipeline.workflow.settings import segment_table
from tests.campaigns.labs import set_up
from tests.campaigns.runner import Report
from tests.support.checkout import SHARED
from tests.support.settings import DEFAULTS
from tests.support.studies.run_steps import run_session, run_study
from tests.support.walks.moving_sessions import whole_session
from tests.support.walks.ways_of_moving import ADULT_M, Person

Array = NDArray[np.float64]

AGES = {"HC040A": 7, "HC036A": 9, "HC032A": 13}  # of heights 1.23, 1.34 and 1.58 m; the files state no age
HEIGHTS_M = {4: (0.97, 1.09), 8: (1.18, 1.37), 12: (1.37, 1.62)}
SHORT = {"walks": 1, "ages": (8,)}
ADULTS = "dempster"


class Effect(NamedTuple):
    """Differences of a walk between both tables, and residuals (force, moment) with each.

    ``moment`` (sample, joint), the magnitude over all axes, N m/kg; ``power`` likewise, W/kg; ``swings`` (sample,); of
    both sides, one after the other. Residuals root mean squares in percent of weight, and of weight times height.
    """

    moment: Array
    power: Array
    swings: NDArray[np.bool_]
    residual: Mapping[str, Array]


def child_of(age: int) -> Callable[[np.random.Generator], Person]:
    """Return a maker of children of an age."""

    def child(rng: np.random.Generator) -> Person:
        height = rng.uniform(*HEIGHTS_M[age])
        mass, half = height**2 * rng.uniform(13.5, 20), height / ADULT_M * rng.uniform(0.035, 0.08)
        foot, toe_out = height * rng.uniform(0.147, 0.158), np.radians(rng.uniform(0, 15))
        return Person(mass, height, foot, toe_out, half, rng.normal(0, 0.03))

    return child


def effect(calibration: xr.Dataset, contacts: xr.Dataset, adults: xr.Dataset, children: xr.Dataset) -> Effect:
    """Return by what the kinetics by the children's table differ from those by the adults'."""
    mass_kg, height_m = (float(calibration.attrs[f"body_{name}"]) for name in ("mass_kg", "height_m"))
    moment, power = (children[name].values - adults[name].values for name in ("joint_moment", "joint_power"))
    swings = (contacts.ground_force.values == 0).all(axis=-1)
    weight = mass_kg * STANDARD_GRAVITY_M_S2
    residual = {
        name: np.array(
            [rms(solved.pelvis_residual_force) / weight, rms(solved.pelvis_residual_moment) / weight / height_m]
        )
        for name, solved in (("adults", adults), ("children", children))
    }
    return Effect(
        np.linalg.norm(moment, axis=-1).reshape(-1, len(JOINTS)) / mass_kg,
        power.reshape(-1, len(JOINTS)) / mass_kg,
        swings.reshape(-1),
        {name: 100 * each for name, each in residual.items()},
    )


def rms(vectors: xr.DataArray) -> float:
    """Return the root mean square of a magnitude."""
    return float(np.sqrt(np.nanmean(np.square(vectors.values).sum(axis=-1))))


def recorded(study: Path, older: int, table: str = "by_age") -> Iterator[tuple[str, Effect]]:
    """Yield the effect of a table on each walk of the recorded children, some years older than by :data:`AGES`."""
    people = study / "participants.tsv"
    text = people.read_text()
    cells = pd.read_csv(people, sep="\t", dtype=str, keep_default_na=False)
    cells["age_years"] = [str(AGES[who] + older) for who in cells.participant_id]
    cells.to_csv(people, sep="\t", index=False)
    before, after = (run_study(study, {"calibrate": {"segment_parameters": name}}) for name in (ADULTS, table))
    people.write_text(text)
    for session, found in after.items():
        for trial, steps in found.trials.items():
            kinetics = before[session].trials[trial]["kinetics"]
            yield f"{session} {trial}", effect(found.calibration, steps["contacts"], kinetics, steps["kinetics"])


def with_foot_of_adults(name: str, age_years: str = "") -> dict[str, Any]:
    """Return a table of segments, that of children with the foot's mass of adults."""
    table = segment_table(name, age_years)
    if "age_years" not in table:
        return table
    foot = {**table["n/a"]["foot"], "mass": [segment_table(ADULTS)["n/a"]["foot"]["mass"], 0.0]}
    return {**table, "n/a": {**table["n/a"], "foot": foot}}


def generated(age: int, seed: int) -> Effect:
    """Return the effect on one walk of a generated child."""
    session = whole_session("straight", seed, DEFAULTS, who=child_of(age)).session
    person = {**session.participant, "age_years": str(age), "sex": "M"}
    both = [
        run_session(session.rows, session.recordings, person, session.model, {**DEFAULTS, "calibrate": chosen})
        for chosen in (DEFAULTS["calibrate"] | {"segment_parameters": ADULTS}, DEFAULTS["calibrate"])
    ]
    assert both[1]["calibrate"].attrs["segment_parameters"] == "jensen"
    adults, children = (steps["kinetics"] for steps in both)
    return effect(both[1]["calibrate"], both[1]["contacts"], adults, children)


def add_row(report: Report, name: str, effects: list[Effect]) -> None:
    """Report some walks."""
    moment, power, swings = (np.concatenate([getattr(one, of) for one in effects]) for of in Effect._fields[:3])
    cells = [text for here in (~swings, swings) for text in (_joints(moment[here], 3), _joints(power[here], 2))]
    for i in range(2):
        both = (np.mean([one.residual[of][i] for one in effects]) for of in ("adults", "children"))
        cells.append(", ".join(f"{each:.2f}" for each in both))
    report.row(name, *cells)


def _joints(values: Array, digits: int) -> str:
    known = [values[np.isfinite(values[:, joint]), joint] for joint in range(len(JOINTS))]
    each = [
        f"{np.sqrt(np.mean(one**2)):.{digits}f} ({np.abs(one).max():.{digits}f})" if len(one) else "-" for one in known
    ]
    return ", ".join(each)


def main(report: Report, *, walks: int = 12, ages: tuple[int, ...] = (*HEIGHTS_M,)) -> None:
    """Report recorded children, and so many walks of generated ones of these ages."""
    report.table("walk", *(f"{of} in {phase}" for phase in ("stance", "swing") for of in ("moment", "power")),
                 "residual force", "residual moment")  # fmt: skip
    study = report.new_folder()
    set_up(SHARED, "children", study)
    found = dict(recorded(study, 0))
    for name, one in found.items():
        add_row(report, f"{name}, {AGES[name.split()[0]]} years", [one])
    add_row(report, "all six", [*found.values()])
    for older in (-2, 2):
        add_row(report, f"the same, {older:+d} years", [one for _, one in recorded(study, older)])
    with patch.object(settings, "segment_table", with_foot_of_adults):
        add_row(report, "the same, but the foot's mass", [one for _, one in recorded(study, 0)])
    add_row(report, "the same, by `de_leva`, of adults", [one for _, one in recorded(study, 0, "de_leva")])
    for age in ages:
        add_row(report, f"{walks} generated, {age} years", [generated(age, seed) for seed in range(walks)])
