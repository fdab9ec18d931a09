"""Campaigns in their short forms: what these allow; ``make fuzz`` and ``make faults`` run the full ones."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from tests.campaigns.runner import Report, in_parallel, module_of, options_of, run
from tests.support.checkout import SHARED

HERE, EXTRAS = Path(__file__).parent, Path(__file__).parents[1] / "extras"
CAMPAIGNS = [
    ".".join(path.relative_to(folder).with_suffix("").parts)
    for folder, paths in ((HERE, HERE.glob("*.py")), (EXTRAS.parent, EXTRAS.rglob("*.py")))
    for path in sorted(paths)
    if re.search(r"^def main\(\s*report: Report", path.read_text(encoding="utf-8"), re.MULTILINE)
]
# those of which no other test here runs a form of seconds
SHORT = ("bad_trials", "fuzz_c3d", "fuzz_texts", "momentum_campaign")
OF_RECORDINGS = ("linked_walks",)


@pytest.mark.parametrize("name", [*SHORT, *OF_RECORDINGS])
def test_no_more_is_wrong_than_is_allowed(name: str, tmp_path: Path) -> None:
    if name in OF_RECORDINGS and not SHARED.is_dir():
        pytest.skip(f"real recordings are not at {SHARED}")
    assert run(name, tmp_path, ["--short"]).wrong == []


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_each_campaign_has_a_full_and_a_short_form(name: str) -> None:
    """Options have defaults, and the short form has only those that there are."""
    campaign = module_of(name)
    parameters = inspect.signature(campaign.main).parameters
    assert [one for one, of in parameters.items() if of.default is inspect.Parameter.empty] == ["report"]
    assert options_of(campaign, []) == {}
    assert options_of(campaign, ["--short"]) == campaign.SHORT
    assert {*campaign.SHORT} <= {*parameters}


def test_options_of_a_command_change_the_short_form() -> None:
    chosen = options_of(module_of("corrupted_twins"), ["--short", "--rows", "gain", "one dead", "--jobs", "2"])
    assert chosen == {"labs": (), "generated": 2, "rows": ["gain", "one dead"], "jobs": 2}


def test_what_is_wrong_beyond_its_share_is_named(tmp_path: Path) -> None:
    report = Report(tmp_path)
    report.allow(0.1, ["one"], 10, "refused")
    assert report.wrong == []
    report.allow(0.1, ["one", "two"], 10, "refused")
    report.allow(0.1, 0, 0, "of nothing")
    assert [line.partition(",")[0] for line in report.wrong] == ["refused: 2 of 10", "of nothing: 0 of 0"]
    assert "two" in report.wrong[0]


def test_ends_are_counted_by_kind(tmp_path: Path) -> None:
    report = Report(tmp_path)
    total = report.counts("damage", [("noise", "read"), ("zeros", "refused"), ("noise", "refused")])
    assert total == {"read": 1, "refused": 2}
    assert report.rows == [("noise", "2", "1", "1"), ("zeros", "1", "0", "1"), ("all", "3", "1", "2")]
    assert report.lines[0] == "| damage | n | read | refused |"


def test_processes_keep_the_order_of_tasks() -> None:
    assert [*in_parallel(abs, range(-9, 0), 2)] == [*in_parallel(abs, range(-9, 0))] == [*range(9, 0, -1)]
