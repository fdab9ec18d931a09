"""``make quick`` starts no process, and leaves out only what is there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import SLOW
from tests.support.checkout import HOUSE

REFUSED = "test_a_process_is_refused"


@pytest.mark.skipif("not config.getoption('--quick')", reason="of a quick run")
def test_a_process_is_refused(pytestconfig: pytest.Config) -> None:
    with pytest.raises(AssertionError, match="a quick test starts a process"):
        subprocess.run([sys.executable, "-c", ""], check=True)
    if hasattr(os, "fork"):
        with pytest.raises(AssertionError, match="a quick test starts a process"):
            os.fork()


def test_a_quick_run_refuses_processes() -> None:
    command = [sys.executable, "-m", "pytest", "--quick", f"{Path(__file__)}::{REFUSED}"]
    run = subprocess.run(command, cwd=HOUSE, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    assert "1 passed" in run.stdout


def test_all_that_is_left_out_exists() -> None:
    assert [name for name in SLOW if not (HOUSE / "tests" / name.partition("::")[0]).exists()] == []
