"""``python -m pipeline check``: everything that is wrong with a study, before anything runs.

An ``error`` costs a trial, a session or the run; a ``warning`` costs a part of the results, or casts doubt on them.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pipeline import needs, plates, read, settings, tables, workflow
from pipeline.body_model import landmark_labels, missing, positions
from pipeline.c3d import Recording, read_c3d
from pipeline.errors import UserError
from pipeline.filters import design_cutoff_hz
from pipeline.lab_axes import to_isb
from pipeline.plate_contacts import _over
from pipeline.text_table import aligned

Array = NDArray[np.float64]
T = TypeVar("T")

STANDARD_GRAVITY_M_S2 = 9.80665
LARGEST_MASS_ERROR = 0.15
POUNDS_PER_KG = 2.2046
MOST_PLACES = 3
WIDEST = 160


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: ``severity`` (error or warning), where, what, and what would be right."""

    severity: str
    where: str
    what: str
    remedy: str


@dataclass(frozen=True)
class Facts:
    """What the session's checks need of a file.

    Attributes:
        seen: its landmarks.
        sizes: anthropometry it states, by participants.tsv column.
        weight_n: vertical force under both feet, NaN where they do not stand on plates.
    """

    seen: frozenset[str]
    sizes: Mapping[str, float]
    weight_n: float


@dataclass
class Content:
    """As much of settings and tables as can be read, and what is wrong with them."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    body_model: Mapping[str, Any] = field(default_factory=dict)
    participants: Mapping[str, tables.Row] = field(default_factory=dict)
    sessions: Mapping[str, list[tables.Row]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def check(folder: Path) -> list[Finding]:
    """Return everything that is wrong with a study, errors first; each C3D file is read once.

    Raises:
        UserError: no such folder.
    """
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder")
    study = _content(folder)
    findings, facts = study.findings, {}
    roles: dict[str, set[str]] = {}
    for row in (row for rows in study.sessions.values() for row in rows):
        roles.setdefault(row["file"], set()).add(row["role"])
    statics = {}
    for file in sorted(roles, key=lambda name: "static" not in roles[name]):
        try:
            recording = read_c3d(folder / file)
        except UserError as error:
            findings.append(_finding("error", str(error).replace(str(folder / file), file, 1)))
            continue
        
    return sorted(findings, key=lambda finding: finding.severity)
