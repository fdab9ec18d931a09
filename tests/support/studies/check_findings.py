"""What ``check`` finds in a study: all of it, or what it says of one place."""

from __future__ import annotations

from pathlib import Path

from pipeline.commands.check.command import check
from pipeline.errors import Finding


def found(study: Path) -> set[tuple[str, str, str]]:
    """Return severity, place and fault of every finding."""
    return {finding[:3] for finding in check(study)}


def about(findings: list[Finding], where: str) -> Finding:
    """Return the one finding about a place."""
    mine = [finding for finding in findings if finding.where == where]
    assert len(mine) == 1, findings
    return mine[0]
