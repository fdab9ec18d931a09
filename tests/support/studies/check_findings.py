"""What ``check`` finds in a study: all of it by its codes, or what it says of one place."""

from __future__ import annotations

from pathlib import Path

from pipeline.commands.check.command import check
from pipeline.errors import Problem


def found(study: Path) -> set[tuple[str, str, str]]:
    """Return severity, place and code of every finding."""
    return {(finding.severity, finding.where, finding.code) for finding in check(study)}


def about(findings: list[Problem], where: str) -> Problem:
    """Return the one finding about a place."""
    mine = [finding for finding in findings if finding.where == where]
    assert len(mine) == 1, findings
    return mine[0]
