"""Hostile texts, shared by the tests of files, tables, settings and report."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

SEEN, LONG = "seen_by_a_shell", "x" * 5000
SCRIPTS = (
    "<script>alert(1)</script>", "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>", "<svg><script>alert(1)</script></svg>", '"><script>alert(1)</script>',
    "' onmouseover='alert(1)", '" autofocus onfocus="alert(1)', "javascript:alert(1)",
    "<a href=javascript:alert(1)>x</a>", "<iframe srcdoc='<script>alert(1)</script>'>", "<!--<script>",
    "--><script>alert(1)</script>", "]]><script>alert(1)</script>", "</title><script>alert(1)</script>",
    "</style><script>alert(1)</script>", "</textarea><script>alert(1)</script>", "<base href=//evil.example/>",
    "<meta http-equiv=refresh content=0;url=//evil.example>", "<link rel=stylesheet href=//evil.example>",
    "<form action=//evil.example><input>", "<object data=//evil.example>",
    "<math><mtext></p><script>alert(1)</script>", "{{ 7 * 7 }}", "{% for x in range(9) %}x{% endfor %}",
    "${alert(1)}", "%{y}<b>", "\\u003cscript\\u003ealert(1)\\u003c/script\\u003e",
    "&lt;script&gt;alert(1)&lt;/script&gt;", "<x-evil onload=alert(1)>",
)  # fmt: skip
FORMULAS = (
    "=1+1", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", '=HYPERLINK("http://x","y")', "\uff1d1+1", "'=1", "''+x",
)  # fmt: skip


def write(path: Path, *rows: tuple[str, ...]) -> Path:
    text = io.StringIO()
    csv.writer(text, delimiter="\t", lineterminator="\n").writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


def everything_in(folder: Path) -> set[str]:
    return {str(Path(place) / name) for place, folders, files in os.walk(folder) for name in (*folders, *files)}
