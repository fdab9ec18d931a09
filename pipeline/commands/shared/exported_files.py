"""Files that exports leave beside the results, and what each was made from; ``verify`` looks at them."""

import json
from pathlib import Path

from ...workflow import checksums

C3D_COPIES = "c3d"  # in the folder of a session's results
PARQUET_TABLES = ("metrics", "quality")
PDF, SPREADSHEETS = "pdf", "tables"  # folders in derived/
MADE_FROM = "SourceSHA256"


def read_source_digest(table: Path) -> str | None:
    """Return the SHA-256 of the study.nc that an exported table was made from; None if that is not known."""
    try:
        return str(json.loads(sidecar(table).read_text(encoding="utf-8"))[MADE_FROM]["study.nc"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def exports_in(folder: Path) -> dict[Path, str]:
    """Return the exported tables in a folder, with the SHA-256 of the study.nc that each was made from."""
    tables = (file.with_suffix("") for file in sorted(folder.glob("*.*.json")))
    return {table: digest for table in tables if table.exists() and (digest := read_source_digest(table))}


def sidecar(table: Path) -> Path:
    """Return the path of the data dictionary of an exported table."""
    return table.with_name(f"{table.name}.json")


def list_copies(derived: Path, session: str) -> list[tuple[str, checksums.Record]]:
    """Return the C3D copies of a session by their names below ``derived``, with their records."""
    names = [file.relative_to(derived).as_posix() for file in sorted((derived / session / C3D_COPIES).glob("*.c3d"))]
    return [(name, record) for name in names if (record := checksums.recorded(derived, name))]
