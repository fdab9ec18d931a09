"""Tables of docs/speed.md: ``python -m benchmarks.page [RESULT.json]``.

Without a file, the newest stored run is used.

Tables of parts that the run lacks stay.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from benchmarks.figures import RESULTS
from benchmarks.timing import HOUSE

PAGE = HOUSE / "docs" / "speed.md"


def main(result: Path) -> None:
    """Write the tables of a stored run into the page."""
    record, text = json.loads(result.read_text(encoding="utf-8")), PAGE.read_text(encoding="utf-8")
    for title, rows in record["parts"].items():
        begin, end = f"<!-- results: {title} -->", "<!-- end -->"
        place = re.search(f"{re.escape(begin)}\n.*?{re.escape(end)}", text, re.DOTALL)
        if not place:
            raise SystemExit(f"{PAGE}: no place for {title!r}; write {begin} and {end} there")
        table = f"{begin}\n{markdown(rows)}\n\n{measured_on(record)}\n{end}"
        text = text[: place.start()] + table + text[place.end() :]
    PAGE.write_text(text, encoding="utf-8")


def markdown(rows: list[dict[str, Any]]) -> str:
    """Return a part's figures as a Markdown table."""
    lines = ["| | measured | goal | met |", "|---|---|---|---|"]
    for row in rows:
        detail = f" ({row['detail']})" if row["detail"] else ""
        value = "" if row["value"] is None else shown(row["value"])
        met = {None: "", True: "yes", False: "no"}[row["met"]]
        lines.append(f"| {row['name']}{detail} | {value} | {row['goal']} | {met} |")
    return "\n".join(lines)


def shown(value: float) -> str:
    """Return a value with three digits, without exponent."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def measured_on(record: dict[str, Any]) -> str:
    """Return the date, machine and package versions of a run."""
    machine = record["machine"]
    packages = ", ".join(f"{name} {version}" for name, version in record["versions"].items() if version)
    return (
        f"{record['when'][:10]}, {machine['cores']} cores of {machine['processor'] or machine['system']}, load before "
        f"{machine['load_average_before']}; {packages}."
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else max(RESULTS.glob("*.json")))
