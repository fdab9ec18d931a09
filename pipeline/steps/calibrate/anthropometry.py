"""The participant's sizes, with mass and height, and the source of each."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import Problem, UserError
from ...person.marker_travel import STANDING_M, describe_moving_static
from ...person.shown_sizes import ShownSizes
from ...person.size_findings import ESTIMATE, SessionSizes, check_sizes, find_differing_sizes
from ...tables.study_tables import ANTHROPOMETRY
from ...tables.tsv import number
from ...trials.session import AnyTrial

DEFAULT_MARKER_DIAMETER_M = 0.014
ESTIMATED = {"width_source": "_width_", "leg_length_source": "leg_length_"}  # what a source is about


def sizes_of(
    participant: Mapping[str, str], static: str, read: Mapping[str, AnyTrial]
) -> tuple[dict[str, float], dict[str, str]]:
    """Return sizes in kg and m, and the source of each: the table, then the static file, then the other files.

    Raises:
        UserError: a cell is not a number; no body mass.
    """
    sizes = {"marker_diameter_m": DEFAULT_MARKER_DIAMETER_M}
    origin = {"marker_diameter_m": "default"}
    others = [trial for name, trial in read.items() if name != static]
    for trial in (*reversed(others), read[static]):
        stated = json.loads(trial.attrs.get("anthropometry", "{}"))
        sizes |= stated
        origin |= dict.fromkeys(stated, str(trial.attrs.get("source", "")))
    for column in ("mass_kg", "height_m", *ANTHROPOMETRY):
        if value := number(participant, column, where="participants.tsv"):
            sizes[column], origin[column] = value, "participants.tsv"
    if origin.get("mass_kg") == "participants.tsv" and _is_estimate(participant.get("mass_source", "")):
        origin["mass_kg"] += f", {participant['mass_source']}"
    for column, part in ESTIMATED.items():
        if _is_estimate(source := participant.get(column, "")):
            estimates = [name for name, where in origin.items() if part in name and where == "participants.tsv"]
            origin |= dict.fromkeys(estimates, f"participants.tsv, {source}")
    if "mass_kg" not in sizes:
        what = f"{participant['participant_id']} has no body mass, neither here nor in its C3D files"
        raise UserError("participants.tsv", what, "give mass_kg", "mass_missing")
    return sizes, origin


def findings_on_sizes(
    participant: Mapping[str, str], trials: Mapping[str, AnyTrial], *, segment_table: str
) -> tuple[list[Problem], list[str]]:
    """Return what ``check`` finds about the sizes and the static trial, and the masses that other trials show."""
    roles: dict[str, list[AnyTrial]] = {"static": [], "gait": []}
    for trial in (trial for trial in trials.values() if "rejected" not in trial.attrs):
        roles.setdefault(str(trial.attrs.get("role", "gait")), []).append(trial)
    shown = {role: [ShownSizes.of(str(one.attrs.get("shown_sizes", ""))) for one in of] for role, of in roles.items()}
    static = next(iter(shown["static"]), ShownSizes())
    others = [trial for of in (roles["gait"], roles["static"]) for trial in of]  # the static wins, as in sizes_of
    files = {str(one.attrs.get("source", "")): json.loads(str(one.attrs.get("anthropometry", "{}"))) for one in others}
    stated = {name: size for sizes in files.values() for name, size in sizes.items()}
    all_shown = SessionSizes.of(stated, static, shown["gait"])
    findings = [*check_sizes(participant, all_shown, segment_table=segment_table)]
    findings += find_differing_sizes(participant, dict(reversed(files.items())))
    if static.extent_m >= STANDING_M:
        file = str(roles["static"][0].attrs.get("source", ""))
        walks = file in [trial.attrs.get("source") for trial in roles["gait"]]
        findings.append(describe_moving_static(file, static.extent_m, walks=walks))
    return findings, [f"{source} {mass_kg:.1f} kg" for source, mass_kg, *_ in all_shown.masses()]


def size_attributes(sizes: Mapping[str, float], origin: Mapping[str, str]) -> dict[str, Any]:
    """Return sizes and their sources as attributes of calibrate.nc."""
    return {
        "body_mass_kg": sizes["mass_kg"],
        "body_mass_source": origin["mass_kg"],
        "body_height_m": sizes.get("height_m", np.nan),
        "anthropometry": json.dumps(sizes, sort_keys=True),
        "anthropometry_source": json.dumps(origin, sort_keys=True),
    }


def note_on_estimates(participant: Mapping[str, str]) -> str:
    """Return a note on estimated joint widths and leg lengths, or an empty text."""
    sources = {"joint widths": participant.get("width_source"), "leg lengths": participant.get("leg_length_source")}
    return "; ".join(f"{name} are an {source}" for name, source in sources.items() if _is_estimate(source or ""))


def _is_estimate(source: str) -> bool:
    """Return whether mass_source, width_source or leg_length_source marks an estimate, as ``init`` writes it."""
    return source.startswith(ESTIMATE)
