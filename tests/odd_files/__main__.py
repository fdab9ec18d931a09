"""Write every odd file: ``python -m tests.odd_files FOLDER``; without FOLDER, print the table of docs/reliability.md.

FOLDER gets a folder for each situation, with recordings and tables if it has any, and TRUTH.tsv, so that any other
reader can be tried on them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.odd_files.every_row import ROWS, as_table, write_all


def main() -> None:
    """Write all rows below the folder that the command names."""
    if len(sys.argv) == 1:
        print(as_table())  # noqa: T201
        return
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    if folder.exists() and any(folder.iterdir()):
        sys.exit(f"{folder}: is not empty; name a new folder")
    write_all(folder)
    print(f"{len(ROWS)} situations written to {folder}")  # noqa: T201


if __name__ == "__main__":
    main()
