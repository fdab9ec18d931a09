"""The participant's sizes, with mass and height, and the source of each."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import Problem, UserError
from ...json_text import object_in, to_text
from ...person.marker_travel import STANDING_M, describe_moving_static
from ...person.shown_sizes import ShownSizes
from ...person.size_findings import ESTIMATE, SessionSizes, check_sizes, find_differing_sizes
from ...tables.session_table import SOURCES, row_with_sizes
from ...tables.study_tables import ANTHROPOMETRY
from ...tables.tsv import number
from ...trials.session import AnyTrial

DEFAULT_MARKER_DIAMETER_M = 0.014


def sizes_of(
    participant: Mapping[str, str],
    static: str,
    read: Mapping[str, AnyTrial],
    own: Mapping[str, str] | None = None,
    *,
    mass_needed: bool = True,
) -> tuple[dict[str, float], dict[str, str], Mapping[str, str]]:
    """Return sizes in kg and m, the source of each, and a row of participants.tsv with those that the tables give.

    They are those of participants.tsv, then of the static file, then of the other files. Of a session in sessions.tsv,
    they are those of its row there, then of the files, then of participants.tsv.

    Args:
        static: name of the trial that defines the model; empty without one.
        own: the sizes in sessions.tsv; None if the session has no row there.
        mass_needed: whether a session without a body mass is refused.

    Raises:
        UserError: a cell is not a number; no body mass where it is needed.
    """
    sizes = {"marker_diameter_m": DEFAULT_MARKER_DIAMETER_M}
    origin = {"marker_diameter_m": "default"}
    statics = [trial for name, trial in read.items() if name == static]
    others = [trial for name, trial in read.items() if name != static]
    for trial in (*reversed(others), *statics):
        stated = object_in(trial.attrs, "anthropometry")
        sizes |= stated
        origin |= dict.fromkeys(stated, str(trial.attrs.get("source", "")))
    row = row_with_sizes(participant, own, {name for name, source in origin.items() if source != "default"})
    for column in ("mass_kg", "height_m", *ANTHROPOMETRY):
        table, cells = ("sessions.tsv", own) if own and column in own else ("participants.tsv", row)
        if value := number(cells, column, where=table):
            how = next((cells.get(source, "") for source, part in SOURCES.items() if part in column), "")
            sizes[column], origin[column] = value, f"{table}, {how}" if _is_estimate(how) else table
    if mass_needed and "mass_kg" not in sizes:
        what = f"{participant['participant_id']} has no body mass, neither here nor in its C3D files"
        raise UserError("participants.tsv", what, "give mass_kg", "mass_missing")
    return sizes, origin, row


def findings_on_sizes(
    participant: Mapping[str, str],
    trials: Mapping[str, AnyTrial],
    *,
    segment_table: str,
    mass_needed: bool = True,
    may_move: bool = False,
) -> tuple[list[Problem], list[str]]:
    """Return what ``check`` finds about the sizes and the static trial, and the masses that other trials show.

    ``may_move``: whether the person may move in the static trial, as where the file shows poses of segments.
    """
    roles: dict[str, list[AnyTrial]] = {"static": [], "gait": []}
    for trial in (trial for trial in trials.values() if "rejected" not in trial.attrs):
        roles.setdefault(str(trial.attrs.get("role", "gait")), []).append(trial)
    shown = {role: [ShownSizes.of(str(one.attrs.get("shown_sizes", ""))) for one in of] for role, of in roles.items()}
    static = next(iter(shown["static"]), ShownSizes())
    others = [trial for of in (roles["gait"], roles["static"]) for trial in of]  # the static wins, as in sizes_of
    files = {str(one.attrs.get("source", "")): object_in(one.attrs, "anthropometry") for one in others}
    stated = {name: size for sizes in files.values() for name, size in sizes.items()}
    all_shown = SessionSizes.of(stated, static, shown["gait"])
    findings = [*check_sizes(participant, all_shown, segment_table=segment_table, mass_needed=mass_needed)]
    findings += find_differing_sizes(participant, dict(reversed(files.items())))
    if static.extent_m >= STANDING_M and not may_move:
        file = str(roles["static"][0].attrs.get("source", ""))
        walks = file in [trial.attrs.get("source") for trial in roles["gait"]]
        findings.append(describe_moving_static(file, static.extent_m, walks=walks))
    return findings, [f"{source} {mass_kg:.1f} kg" for source, mass_kg, *_ in all_shown.masses()]


def size_attributes(
    sizes: Mapping[str, float], origin: Mapping[str, str], masses: Sequence[str], session_row: Mapping[str, str] | None
) -> dict[str, Any]:
    """Return sizes and their sources as attributes of calibrate.nc.

    Args:
        masses: that trials show, see :func:`findings_on_sizes`.
        session_row: sizes in sessions.tsv; None without a row. With a row, results have the sizes that were used in
            place of the cells of participants.tsv.
    """
    attributes = {
        "body_mass_kg": sizes.get("mass_kg", np.nan),
        "body_mass_source": origin.get("mass_kg", ""),
        "body_height_m": sizes.get("height_m", np.nan),
        "anthropometry": to_text(sizes),
        "anthropometry_source": to_text(origin),
        "body_mass_shown": "; ".join(masses),
    }
    if session_row is not None:
        columns: dict[str, float | str] = {name: float(f"{value:.6g}") for name, value in sizes.items()}
        sources = {source: [origin[name] for name in origin if part in name] for source, part in SOURCES.items()}
        columns |= {source: found[0] for source, found in sources.items() if found}
        attributes["session_sizes"] = to_text(columns)
    return attributes


def note_on_estimates(participant: Mapping[str, str]) -> str:
    """Return a note on estimated joint widths and leg lengths, or an empty text."""
    sources = {"joint widths": participant.get("width_source"), "leg lengths": participant.get("leg_length_source")}
    return "; ".join(f"{name} are an {source}" for name, source in sources.items() if _is_estimate(source or ""))


def _is_estimate(source: str) -> bool:
    """Return whether mass_source, width_source or leg_length_source marks an estimate, as ``init`` writes it."""
    return source.startswith(ESTIMATE)
