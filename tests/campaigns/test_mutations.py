"""The list of mutations is true of this checkout; the campaign tells changes that tests see from others."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.campaigns import mutations
from tests.campaigns.mutations import LIST, PRODUCT, Ended, problems_of, read_mutations
from tests.support.checkout import HOUSE

# how tests end in a folder with an endless loop, and in one that does not exist
ENDINGS = """
import json, sys
from pathlib import Path
from tests.campaigns import mutations

mutations.LONGEST_CPU_S = 1
ended = [mutations.run_alone(Path(sys.argv[1]) / name) for name in ("checkout", "absent")]
print(json.dumps([(one.code, one.output) for one in ended]))
"""
MUTATIONS = read_mutations(LIST.read_text(encoding="utf-8"))
SEEN = """\
# the cross product of two vectors is the first of what everything stands on
pipeline/dynamics/vectors.py
- product = np.multiply(a2, b3, out=result[x])
+ product = np.multiply(a3, b2, out=result[x])
tests/dynamics/test_vectors.py::test_cross_of_vectors_of_fewer_dimensions
"""


def test_each_line_occurs_once_and_each_test_exists() -> None:
    assert [problem for one in MUTATIONS for problem in problems_of(one)] == []
    assert [one.file for one in MUTATIONS if one.line == one.becomes or one.file.partition("/")[0] not in PRODUCT] == []
    assert len({one[:3] for one in MUTATIONS}) == len(MUTATIONS)


def test_what_is_not_true_of_the_checkout_is_named() -> None:
    first = MUTATIONS[0]
    (gone,) = problems_of(first._replace(line="a line that a maintainer has rewritten"))
    assert "has this line 0 times, not once" in gone
    (twice,) = problems_of(first._replace(line=""))
    assert first.file in twice
    (absent,) = problems_of(first._replace(tests=("tests/dynamics/test_vectors.py::test_of_nothing",)))
    assert "no test tests/dynamics/test_vectors.py::test_of_nothing" in absent


@pytest.mark.parametrize(
    "block",
    ["file.py\n+ a\n- b\ntests/test_a.py::test_b", "file.py\n- a\n+ b", "file.py\na\nb\ntests/test_a.py::test_b"],
)
def test_a_block_without_a_line_of_its_own_is_refused(block: str) -> None:
    with pytest.raises(SystemExit, match=r"^file\.py: expected"):
        read_mutations(block)


def test_all_named_tests_have_to_fail() -> None:
    output = "1 failed\nFAILED tests/test_a.py::test_one[a b] - assert 1\nERROR tests/test_a.py::test_two\n"
    both = ("tests/test_a.py::test_one", "tests/test_a.py::test_two")
    assert Ended(1, output, 0.0).verdict(both) == "killed"
    assert Ended(1, output, 0.0).verdict((*both, "tests/test_a.py::test_three")) == "SURVIVED"
    assert Ended(0, "2 passed", 0.0).verdict(both) == "SURVIVED"
    assert Ended(2, "a syntax error", 0.0).verdict(both) == "NOT RUN"


def test_only_a_limit_of_time_kills_by_time() -> None:
    verdicts = {code: Ended(-code, "", 0.0).verdict(("tests/test_a.py::test_one",)) for code in signal.Signals}
    assert {code for code, verdict in verdicts.items() if verdict == "killed by time"} == {
        signal.SIGXCPU,
        signal.SIGALRM,
    }
    assert {*verdicts.values()} == {"killed by time", "NOT RUN"}


def test_an_endless_loop_is_ended_and_what_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "checkout").mkdir()
    (tmp_path / "checkout" / "test_loop.py").write_text("def test_loop():\n    while True: pass\n", encoding="utf-8")
    run = subprocess.run([sys.executable, "-c", ENDINGS, str(tmp_path)], cwd=HOUSE, capture_output=True, check=True)
    (loop, _), (absent, output) = json.loads(run.stdout)
    assert loop == -signal.SIGXCPU
    assert Ended(absent, output, 0.0).verdict(("tests/test_a.py::test_one",)) == "NOT RUN"
    assert "FileNotFoundError" in output


def test_nothing_to_run_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match="'a_typo'"):
        mutations.main(["--only", "a_typo"])
    monkeypatch.setattr(mutations, "run_alone", lambda *_: Ended(2, "a syntax error", 0.0))
    with pytest.raises(SystemExit, match="a syntax error"):
        mutations.quick_tests(HOUSE)


def test_a_change_that_is_none_survives_and_another_is_killed(tmp_path: Path) -> None:
    (seen,) = read_mutations(SEEN)
    unseen = SEEN.replace(seen.becomes, seen.line)
    (tmp_path / "list.txt").write_text(f"{SEEN}\n{unseen}", encoding="utf-8")
    before = (HOUSE / seen.file).read_bytes()
    command = [sys.executable, "-m", "tests.campaigns.mutations", "--list", str(tmp_path / "list.txt")]
    run = subprocess.run(command, cwd=HOUSE, capture_output=True, text=True, check=False)
    assert run.returncode == 1, run.stdout + run.stderr
    verdicts = [line.split()[0] for line in run.stdout.splitlines()]
    assert verdicts == ["killed", "SURVIVED", "1"]
    assert run.stdout.endswith("s of processor time\n")
    assert (HOUSE / seen.file).read_bytes() == before
