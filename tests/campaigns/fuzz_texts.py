"""Thousands of malformed settings and tables and their outcomes in a table.

``python -m tests.campaigns fuzz_texts`` prints the figures of docs/reliability.md. A person, an editor or a spreadsheet
could write each of these texts: any YAML, and the defaults and tables of the demonstration study with changed cells,
keys, rows, columns and characters, in several encodings.
"""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml
from hypothesis import HealthCheck, given
from hypothesis import settings as campaign
from hypothesis import strategies as st

from pipeline.errors import LONGEST_LINE, UserError, find_hidden
from pipeline.tables.tsv import IDENTIFIER
from pipeline.workflow import settings
from pipeline.workflow.digests import sha256
from pipeline.workflow.job_keys import Study
from pipeline.workflow.open_study import open_study
from pipeline.workflow.schema_problems import problems_in
from pipeline.workflow.strict_yaml import read_yaml
from tests.campaigns.runner import Report
from tests.support.checkout import HOUSE
from tests.support.step_names import STEPS

DEMO = HOUSE / "data" / "demo"
TEXTS = {name: (DEMO / name).read_text(encoding="utf-8") for name in ("participants.tsv", "trials.tsv", "segments.tsv")}
TEXTS["corrections.tsv"] = (
    "session\ttrial\tkind\tside\ttime_s\treason\tsha256\n"
    f"sub-01\tfast_01\tleave_out_cycle\tright\t1.5\tstumbled\t{sha256(DEMO / 'sub-01' / 'fast_01.c3d')}\n"
)
DEFAULTS = {"body_model": "isb_clusters"} | read_yaml(settings.CONFIG / "default.yaml")
LONGEST_S = 10.0  # of processor time, which does not depend on what else the machine does
SHORT = {"examples": 80}
ACCEPTED, REFUSED = "accepted", "refused in plain lines"

# --- values, and texts around them ------------------------------------------------------------------------------------

ODD_NUMBERS = (math.nan, math.inf, -math.inf, -1, -0.0, 1e-320, 1e15, 1e308, 2**63, 10**400, 0.1 + 0.2, True)
ODD_CELLS = (
    *("", " ", "n/a", "NaN", "inf", "1e400", "-1", "0", "70,5", "1_000", "0x1F", "\u0663", "1" * 5000, "--", "null"),
    *("../x", "/etc/passwd", "a/../../b.c3d", "~", "a b", "=1+1", '"', '""', "'", "a\\b", "\ufeff", "\u202e", "\0"),
    *(
        "é",
        "\U0001f600",
        "x" * 300,
        "x" * 300,
        "x" * 1001,
        "sub-01",
        "static",
        "gait",
        "functional",
        "exclude",
        "1 1",
        "none",
    ),
)
SIGNS = "{}[]:,-?&*!|>'\"%@`#~= \n\t\r\\ae1.0_x\ufeff\0\x1b\u2028é\u0085"
scalars = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.dates()),
    *(st.sampled_from(ODD_NUMBERS), st.sampled_from(ODD_CELLS), st.binary(max_size=5)),
)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(scalars, inner, max_size=4), max_leaves=12
)
endings = st.sampled_from(["\n"] * 4 + ["\r\n", "\r"])
encodings = st.sampled_from(["utf-8"] * 6 + ["utf-8-sig", "utf-16", "latin-1", "cp1252"])


@st.composite
def spoilt(draw: Any, texts: st.SearchStrategy[str]) -> bytes:
    """Draw a text with a few characters changed, perhaps other line ends, in some encoding."""
    text = draw(texts)
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.text(SIGNS, max_size=3)) + text[at + draw(st.integers(0, 3)) :]
    return bytes(text.replace("\n", draw(endings)).encode(draw(encodings), errors="replace"))


# --- settings ---------------------------------------------------------------------------------------------------------


@st.composite
def changed_defaults(draw: Any) -> str:
    """Draw the defaults with a few values, keys or whole sections replaced, left out or misspelt."""
    content = json.loads(json.dumps(DEFAULTS))
    for _ in range(draw(st.integers(0, 2))):
        section = draw(st.sampled_from([content, *(part for part in content.values() if isinstance(part, dict))]))
        if not section:
            continue
        key = draw(st.sampled_from(sorted(section, key=str)))
        change = draw(st.sampled_from(["value", "value", "near", "near", "key", "gone"]))
        if change == "value":
            section[key] = draw(scalars | anything)
        elif change == "near" and isinstance(section[key], (int, float)) and abs(section[key]) < 1e300:  # a float, too
            section[key] = section[key] * draw(st.sampled_from([0.5, 2, 10, -1, math.nan, math.inf]))
        elif change == "key":
            section[draw(st.text(max_size=8)) + str(key)] = section[key]
        else:
            del section[key]
    return str(yaml.dump(content, allow_unicode=draw(st.booleans())))


any_settings = spoilt(
    st.one_of(
        *(changed_defaults(), changed_defaults(), changed_defaults()),
        anything.map(lambda content: str(yaml.dump(content))),
        st.text(SIGNS, max_size=60).map(lambda text: "body_model: isb_clusters\n" + text),
    )
)

# --- tables -----------------------------------------------------------------------------------------------------------


@st.composite
def changed_table(draw: Any, text: str) -> str:
    """Draw a table with a few cells, rows or columns changed, doubled, exchanged or left out."""
    rows = [line.split("\t") for line in text.splitlines()]
    for _ in range(draw(st.integers(0, 3))):
        line = draw(st.integers(0, len(rows) - 1))
        column = draw(st.integers(0, max(len(rows[line]) - 1, 0)))
        change = draw(st.sampled_from(["cell"] * 4 + ["row twice", "row gone", "cell gone", "column twice", "quoted"]))
        if change == "cell" and rows[line]:
            rows[line][column] = draw(st.sampled_from(ODD_CELLS) | st.text(max_size=12) | st.floats().map(str))
        elif change == "row twice":
            rows.insert(line, list(rows[line]))
        elif change == "row gone" and len(rows) > 1:
            del rows[line]
        elif change == "cell gone" and rows[line]:
            del rows[line][column]
        elif change == "column twice":
            rows = [[*row, *row[column : column + 1]] for row in rows]
        elif rows[line]:
            rows[line][column] = '"' + rows[line][column] + draw(st.sampled_from(['"', '""', "", "\n", '"x']))
    ending: str = draw(st.sampled_from(["\n", "", "\n\n\n", "\n\t\t\n"]))
    return "\n".join("\t".join(row) for row in rows) + ending


any_tables = st.dictionaries(st.sampled_from(sorted(TEXTS)), st.just(None), min_size=1, max_size=2).flatmap(
    lambda names: st.fixed_dictionaries({name: spoilt(changed_table(TEXTS[name])) for name in sorted(names)})
)


# --- requirements -----------------------------------------------------------------------------------------------------


def opened(study: Path) -> tuple[str, Study | None]:
    """Open a study: it is accepted or refused with a plain message. Anything else is raised."""
    try:
        return ACCEPTED, open_study(study)
    except UserError as error:
        lines = str(error).split("\n")
        assert all(line.strip() and not find_hidden(line) for line in lines), lines
        assert max(map(len, lines)) <= LONGEST_LINE, lines
        return REFUSED, None


def assert_usable(study: Study) -> None:
    """Assert valid settings, plain ids, files inside the study, and keys that are JSON."""
    assert problems_in(study.settings, settings.schema("settings"), where="") == []
    for session, rows in study.sessions.items():
        for name in (session, *(row[column] for row in rows for column in ("participant_id", "trial"))):
            assert IDENTIFIER.fullmatch(name), name
        assert all((study.path / row["file"]).resolve().is_relative_to(study.path.resolve()) for row in rows)
        for step in STEPS:
            json.loads(study.key(step)(SimpleNamespace(session=session)), parse_constant=_no_number)
    assert study.memory_mb["session"] > 0
    assert study.report_pages is not None


def _no_number(text: str) -> None:
    raise AssertionError(f"{text} in a key")


def _tried(
    strategy: st.SearchStrategy[Any], examples: int, write: Callable[[Any], object], study: Path
) -> Counter[str]:
    ends = Counter[str]()

    @campaign(
        max_examples=examples, deadline=None, derandomize=True, database=None, suppress_health_check=[*HealthCheck]
    )
    @given(strategy)
    def each(example: Any) -> None:
        write(example)
        began = time.process_time()
        end, accepted = opened(study)
        if accepted:
            assert_usable(accepted)
        assert time.process_time() - began < LONGEST_S
        ends[end] += 1

    each()
    return ends


def settings_tried(folder: Path, examples: int) -> Counter[str]:
    """Open a study with each of many study.yaml and return the outcomes."""
    study = _written(folder / "settings")
    return _tried(any_settings, examples, (study / "study.yaml").write_bytes, study)


def tables_tried(folder: Path, examples: int) -> Counter[str]:
    """Open a study many times with one or two changed tables and return the outcomes."""
    study = _written(folder / "tables")

    def write(changed: dict[str, bytes]) -> None:
        for name, text in TEXTS.items():
            (study / name).write_bytes(changed.get(name, text.encode()))

    return _tried(any_tables, examples, write, study)


def _written(study: Path) -> Path:
    study.mkdir()
    for name, text in {"study.yaml": "body_model: isb_clusters\n", **TEXTS}.items():
        (study / name).write_text(text, encoding="utf-8")
    return study


def main(report: Report, *, examples: int = 2000) -> None:
    """Report how texts end; any other end than these is raised, in its shortest form."""
    for what, tried in (("settings", settings_tried), ("tables", tables_tried)):
        ends = tried(report.new_folder(), examples)
        report.text(f"{ends.total()} {what}: {ends[ACCEPTED]} {ACCEPTED}, {ends[REFUSED]} {REFUSED}")
        report.allow(0, max(examples - ends.total(), 0), examples, f"{what} that are missing")
        for end in (ACCEPTED, REFUSED):
            report.allow(0.95, ends[end], examples, f"{what} {end}")
