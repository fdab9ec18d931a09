"""Life of the parser's child process: it serves its parent, is replaced after its end, and ends with the parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.c3d import parser_process
from pipeline.c3d.integrity import refuse_damaged
from pipeline.c3d.reader import read_c3d
from pipeline.errors import UserError
from tests.support.checkout import HOUSE
from tests.support.processes.c3d_parser import (
    CRASH,
    HANG,
    HASTY,
    WALK,
    another_child,
    child_id,
    deadly,
    ends_within,
    is_alive,
    parse,
    reads_on,
)

pytestmark = pytest.mark.process


def test_one_child_serves_many_files_and_is_replaced_after_its_end() -> None:
    assert reads_on()
    first = child_id()
    assert reads_on()
    assert child_id() == first
    os.kill(first, signal.SIGKILL)
    parser_process._children[os.getpid()].wait(5)
    assert reads_on()
    assert child_id() != first


def test_a_child_killed_from_outside_does_not_reject_the_file(tmp_path: Path) -> None:
    """As the kernel does when memory runs out."""
    assert reads_on()
    code = f"import os, time; time.sleep(0.7); os.kill({child_id()}, 9)"
    with subprocess.Popen([sys.executable, "-c", code]), pytest.raises(RuntimeError, match="killed from outside"):
        parse(deadly(tmp_path / "hang.c3d", *HANG))
    assert reads_on()


def test_a_parser_that_does_not_start_does_not_reject_the_file() -> None:
    refused = pytest.raises(RuntimeError, match=r"the C3D parser does not start.* ended with 3")
    with another_child("raise SystemExit(3)"), refused:
        parse(WALK)


def test_an_interruption_leaves_no_answer_for_the_next_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert reads_on()

    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(parser_process._Plain, "load", interrupted)
        with pytest.raises(KeyboardInterrupt):
            parse(WALK)
    (tmp_path / "static.c3d").write_bytes(WALK.with_name("static.c3d").read_bytes())
    assert len(read_c3d(tmp_path / "static.c3d").markers) != len(read_c3d(WALK).markers)


def test_a_file_parsed_ahead_is_read_next(tmp_path: Path) -> None:
    static = tmp_path / "static.c3d"
    static.write_bytes(WALK.with_name("static.c3d").read_bytes())
    for following in (static, WALK, tmp_path / "absent.c3d", deadly(tmp_path / "crash.c3d", *CRASH)):
        assert read_c3d(WALK, following=following).labels
    first = child_id()
    frames = len(read_c3d(WALK, following=static).markers)
    assert len(read_c3d(static).markers) != frames
    assert child_id() == first


def test_an_answer_for_another_file_than_the_next_is_not_used(tmp_path: Path) -> None:
    static = tmp_path / "static.c3d"
    static.write_bytes(WALK.with_name("static.c3d").read_bytes())
    frames = len(read_c3d(WALK, following=static).markers)
    assert len(read_c3d(WALK).markers) == frames
    assert len(read_c3d(static).markers) != frames


def test_a_crash_ahead_costs_that_file_only(tmp_path: Path) -> None:
    crash = deadly(tmp_path / "crash.c3d", *CRASH)
    assert reads_on()
    parser_process.parse_ahead(crash, refuse_damaged(WALK))
    with pytest.raises(UserError, match=r"crash\.c3d: damaged: its parser crashed"):
        parse(crash)
    parser_process.parse_ahead(crash, refuse_damaged(WALK))
    assert reads_on()


def test_a_child_that_is_gone_is_replaced_on_asking_ahead() -> None:
    assert reads_on()
    first = child_id()
    os.kill(first, signal.SIGKILL)
    parser_process._children[os.getpid()].wait(5)
    parser_process.parse_ahead(WALK, refuse_damaged(WALK))
    assert reads_on()
    assert child_id() != first


def test_ctrl_c_does_not_end_the_child() -> None:
    assert reads_on()
    first = child_id()
    os.kill(first, signal.SIGINT)
    assert reads_on()
    assert child_id() == first


def test_a_fork_has_a_child_of_its_own() -> None:
    assert reads_on()
    fork = os.fork()
    if not fork:
        os._exit(0 if reads_on() and len(parser_process._children) == 2 else 1)
    assert os.waitpid(fork, 0)[1] == 0
    assert reads_on()


def run(code: str, *arguments: str, cwd: Path = HOUSE) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(HOUSE)},
    )  # fmt: skip


PARENT = (
    "import os, sys, time; from pathlib import Path\n"
    "from pipeline.c3d import parser_process; from pipeline.c3d.reader import read_c3d\n"
    "walk = Path(sys.argv[1]); read_c3d(walk); print(parser_process._children[os.getpid()].pid, flush=True)\n"
)


def test_the_child_ends_if_its_parent_is_killed() -> None:
    with run(PARENT + "time.sleep(60)", str(WALK)) as parent:
        child = int(str(parent.stdout and parent.stdout.readline()))
        assert is_alive(child)
        parent.kill()
    assert ends_within(child, 60)


def test_a_hanging_child_ends_after_its_parent(tmp_path: Path) -> None:
    hang = deadly(tmp_path / "hang.c3d", *HANG)
    code = (
        "from pipeline.c3d import parser_process; import sys\n"
        f"parser_process.COMMAND = [sys.executable, '-P', '-c', {HASTY!r}]\n"
        + PARENT
        + "from pipeline.c3d.integrity import refuse_damaged\n"
        + "parser_process.parse(Path(sys.argv[2]), refuse_damaged(walk))"
    )
    with run(code, str(WALK), str(hang)) as parent:
        child = int(str(parent.stdout and parent.stdout.readline()))
        parent.kill()
    assert ends_within(child, 60)


def test_a_parent_that_ends_normally_leaves_no_child_and_no_output(tmp_path: Path) -> None:
    crash = deadly(tmp_path / "crash.c3d", *CRASH)
    code = PARENT + (
        "from pipeline.c3d.integrity import refuse_damaged; from pipeline.errors import UserError\n"
        "try: parser_process.parse(Path(sys.argv[2]), refuse_damaged(walk))\n"
        "except UserError as error: print('refused')\n"
        "read_c3d(walk); print(parser_process._children[os.getpid()].pid)"
    )
    parent = run(code, str(WALK), str(crash))
    out, err = parent.communicate(timeout=60)
    assert (parent.returncode, err) == (0, "")
    first, refused, second = out.split()
    assert refused == "refused"
    assert ends_within(int(first), 5)
    assert ends_within(int(second), 5)


def test_nothing_is_imported_from_the_study_directory(tmp_path: Path) -> None:
    for name in ("numpy", "pickle", "ezc3d", "pipeline", "signal"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported')")
    code = "import sys; sys.path[:1] = []\n" + PARENT
    parent = run(code, str(WALK), cwd=tmp_path)
    assert parent.communicate(timeout=60)[1] == ""
    assert parent.returncode == 0
