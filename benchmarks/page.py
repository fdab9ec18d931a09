"""Tables of docs/speed.md: ``python -m benchmarks.page [RESULT.json ...]``.

They are made of published.json, which takes over the parts of the results that are named.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.timing import HOUSE

PAGE, PUBLISHED = HOUSE / "docs" / "speed.md", Path(__file__).with_name("published.json")


def main(results: Iterable[Path]) -> None:
    """Publish the parts of some stored runs and write all tables into the page."""
    published = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    for result in results:
        about = json.loads(result.read_text(encoding="utf-8"))
        published |= {title: about | {"parts": rows} for title, rows in about["parts"].items()}
    text = with_tables(PAGE.read_text(encoding="utf-8"), published)
    PUBLISHED.write_text(json.dumps(published, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(text, encoding="utf-8")


def with_tables(text: str, published: Mapping[str, Any]) -> str:
    """Return the page with the tables of all published parts."""
    for title, record in published.items():
        begin, end = f"<!-- results: {title} -->", "<!-- end -->"
        place = re.search(f"{re.escape(begin)}\n.*?{re.escape(end)}", text, re.DOTALL)
        if not place:
            raise SystemExit(f"{PAGE}: no place for {title!r}; write {begin} and {end} there")
        table = f"{begin}\n{markdown(record['parts'])}\n\n{measured_on(record)}\n{end}"
        text = text[: place.start()] + table + text[place.end() :]
    return text


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


def measured_on(record: Mapping[str, Any]) -> str:
    """Return the date, commit, machine and package versions of a run."""
    machine = record["machine"]
    packages = ", ".join(f"{name} {version}" for name, version in record["versions"].items() if version)
    return (
        f"{record['when'][:10]}, commit {record['commit']}, {machine['cores']} cores of "
        f"{machine['processor'] or machine['system']}, load before {machine['load_average_before']}; {packages}."
    )


if __name__ == "__main__":
    main(map(Path, sys.argv[1:]))
