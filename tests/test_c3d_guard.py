"""The child process that parses: it may crash, hang or run out of memory, and its parent goes on, quietly."""

from __future__ import annotations

import os
import pickle
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from c3d_bytes import place
from conftest import HOUSE

from pipeline import c3d_guard
from pipeline.c3d import read_c3d
from pipeline.c3d_records import Header, refuse_damaged
from pipeline.errors import UserError

WALK = HOUSE / "data" / "demo" / "sub-01" / "fast_01.c3d"
HASTY = "import pipeline.c3d_parser as parser; parser.LONGEST_S, parser.LONGEST_S_PER_BYTE = 1.0, 0.0; parser.main()"


@pytest.fixture
def header() -> Header:
    return refuse_damaged(WALK)


@pytest.fixture
def another_child(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Return what makes the next child one that runs other code."""

    def change(code: str) -> None:
        c3d_guard._dismiss()
        monkeypatch.setattr(c3d_guard, "COMMAND", [sys.executable, "-P", "-c", code])

    yield change
    c3d_guard._dismiss()


def deadly(path: Path, kind: int, *shape: int) -> Path:
    """Write a walk whose POINT:LABELS promises what ezc3d trusts, and the walk over the records would refuse."""
    content = bytearray(WALK.read_bytes())
    at = place(bytes(content), "POINT", "LABELS").link_at + 2
    content[at : at + 2 + len(shape)] = bytes([kind % 256, len(shape), *shape])
    path.write_bytes(bytes(content))
    return path


CRASH: tuple[int, ...] = (-1,)  # a text without dimensions
HANG = (2, 255, 255, 255, 255, 255, 255, 0)  # an empty table, looked for in 10^14 rows
GLUTTON = (4, 255, 255, 255, 255)  # 4 x 10^9 numbers


def reads_on() -> bool:
    return len(read_c3d(WALK).markers) > 0


def child_id() -> int:
    return c3d_guard._children[os.getpid()].pid


def is_alive(process: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except FileNotFoundError:
        return False


def ends_within(process: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while is_alive(process) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not is_alive(process)


# --- files that harm the parser --------------------------------------------------------------------------------


def test_a_crash_costs_one_file(tmp_path: Path, header: Header) -> None:
    path = deadly(tmp_path / "crash.c3d", *CRASH)
    with pytest.raises(UserError, match=r"crash\.c3d: damaged: its parser crashed \(SIG(SEGV|ABRT|BUS)\)"):
        c3d_guard.parse(path, header)
    assert reads_on()


def test_a_hang_costs_one_file(tmp_path: Path, header: Header, another_child: Callable[[str], None]) -> None:
    another_child(HASTY)
    path = deadly(tmp_path / "hang.c3d", *HANG)
    with pytest.raises(UserError, match=r"hang\.c3d: damaged: its parser did not come to an end"):
        c3d_guard.parse(path, header)
    assert reads_on()


def test_memory_has_a_limit(tmp_path: Path, header: Header) -> None:
    path = deadly(tmp_path / "glutton.c3d", *GLUTTON)
    with pytest.raises(UserError, match=r"glutton\.c3d: not readable as C3D \(asks for more memory"):
        c3d_guard.parse(path, header)
    c3d_guard._dismiss()
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 2 << 20, "kB: of the largest child"
    assert reads_on()


def test_the_walk_before_refuses_all_three(tmp_path: Path) -> None:
    for harm in (CRASH, HANG, GLUTTON):
        with pytest.raises(UserError, match="the parameter 'LABELS' at byte"):
            refuse_damaged(deadly(tmp_path / "harm.c3d", *harm))


def test_no_core_is_dumped() -> None:
    assert reads_on()
    (line,) = [line for line in Path(f"/proc/{child_id()}/limits").read_text().splitlines() if "core file" in line]
    assert line.split()[4:6] == ["0", "0"]


def test_a_parser_that_refuses_says_why(tmp_path: Path, header: Header) -> None:
    (tmp_path / "text.c3d").write_text("no C3D" * 200)
    with pytest.raises(UserError, match=r"text\.c3d: not readable as C3D \(.+\); export it again"):
        c3d_guard.parse(tmp_path / "text.c3d", header)


# --- parent and child ------------------------------------------------------------------------------------------


def test_one_child_serves_many_files_and_is_replaced_when_it_is_gone() -> None:
    assert reads_on()
    first = child_id()
    assert reads_on()
    assert child_id() == first
    os.kill(first, signal.SIGKILL)
    c3d_guard._children[os.getpid()].wait(5)
    assert reads_on()
    assert child_id() != first


def test_a_child_killed_from_outside_is_no_fault_of_the_file(tmp_path: Path, header: Header) -> None:
    """As the kernel does where a machine runs out of memory: the trial must not be rejected for it."""
    assert reads_on()
    code = f"import os, time; time.sleep(0.7); os.kill({child_id()}, 9)"
    with subprocess.Popen([sys.executable, "-c", code]), pytest.raises(RuntimeError, match="killed from outside"):
        c3d_guard.parse(deadly(tmp_path / "hang.c3d", *HANG), header)
    assert reads_on()


def test_an_interruption_leaves_no_answer_for_the_next_file(
    tmp_path: Path, header: Header, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert reads_on()

    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(c3d_guard._Plain, "load", interrupted)
        with pytest.raises(KeyboardInterrupt):
            c3d_guard.parse(WALK, header)
    (tmp_path / "static.c3d").write_bytes(WALK.with_name("static.c3d").read_bytes())
    assert len(read_c3d(tmp_path / "static.c3d").markers) != len(read_c3d(WALK).markers)


def test_control_c_reaches_the_parent_alone() -> None:
    assert reads_on()
    first = child_id()
    os.kill(first, signal.SIGINT)
    assert reads_on()
    assert child_id() == first


def test_a_fork_has_a_child_of_its_own() -> None:
    assert reads_on()
    fork = os.fork()
    if not fork:
        os._exit(0 if reads_on() and len(c3d_guard._children) == 2 else 1)
    assert os.waitpid(fork, 0)[1] == 0
    assert reads_on()


def run(code: str, *arguments: str, cwd: Path = HOUSE) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(HOUSE)},
    )  # fmt: skip


PARENT = (
    "import os, sys, time; from pathlib import Path\n"
    "from pipeline import c3d_guard; from pipeline.c3d import read_c3d\n"
    "walk = Path(sys.argv[1]); read_c3d(walk); print(c3d_guard._children[os.getpid()].pid, flush=True)\n"
)


def test_the_child_ends_with_its_parent_even_if_that_is_killed() -> None:
    with run(PARENT + "time.sleep(60)", str(WALK)) as parent:
        child = int(str(parent.stdout and parent.stdout.readline()))
        assert is_alive(child)
        parent.kill()
    assert ends_within(child, 5)


def test_a_child_that_hangs_ends_after_its_parent_too(tmp_path: Path) -> None:
    hang = deadly(tmp_path / "hang.c3d", *HANG)
    code = (
        "from pipeline import c3d_guard; import sys\n"
        f"c3d_guard.COMMAND = [sys.executable, '-P', '-c', {HASTY!r}]\n"
        + PARENT
        + "from pipeline.c3d_records import refuse_damaged; c3d_guard.parse(Path(sys.argv[2]), refuse_damaged(walk))"
    )
    with run(code, str(WALK), str(hang)) as parent:
        child = int(str(parent.stdout and parent.stdout.readline()))
        parent.kill()
    assert ends_within(child, 5)


def test_a_parent_that_ends_well_leaves_nobody_and_says_nothing(tmp_path: Path) -> None:
    crash = deadly(tmp_path / "crash.c3d", *CRASH)
    code = PARENT + (
        "from pipeline.c3d_records import refuse_damaged; from pipeline.errors import UserError\n"
        "try: c3d_guard.parse(Path(sys.argv[2]), refuse_damaged(walk))\n"
        "except UserError as error: print('refused')\n"
        "read_c3d(walk); print(c3d_guard._children[os.getpid()].pid)"
    )
    parent = run(code, str(WALK), str(crash))
    out, err = parent.communicate(timeout=60)
    assert (parent.returncode, err) == (0, "")
    first, refused, second = out.split()
    assert refused == "refused"
    assert ends_within(int(first), 5)
    assert ends_within(int(second), 5)


def test_a_parser_that_does_not_start_is_no_fault_of_the_file(
    header: Header, another_child: Callable[[str], None]
) -> None:
    another_child("raise SystemExit(3)")
    with pytest.raises(RuntimeError, match=r"the C3D parser does not start.* ended with 3"):
        c3d_guard.parse(WALK, header)


def test_an_answer_cannot_make_the_parent_run_anything(
    tmp_path: Path, header: Header, another_child: Callable[[str], None]
) -> None:
    """A file that takes the parser over could answer with a pickle that calls."""

    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.mkdir, (str(tmp_path / "made"),)

    answers = pickle.dumps("ready") + pickle.dumps(Evil())
    another_child(f"import sys; sys.stdout.buffer.write({answers!r}); sys.stdout.flush(); input()")
    with pytest.raises(UserError, match="damaged: its parser"):
        c3d_guard.parse(WALK, header)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("answer", ["text", ({}, {"points": ("many",)}), ({}, {"points": (1 << 60,)}), ({}, None)])
def test_an_answer_that_is_none_is_said(header: Header, another_child: Callable[[str], None], answer: object) -> None:
    answers = pickle.dumps("ready") + pickle.dumps(answer)
    another_child(f"import sys; sys.stdout.buffer.write({answers!r}); sys.stdout.flush(); input()")
    with pytest.raises(UserError, match="damaged: its parser gave no answer"):
        c3d_guard.parse(WALK, header)


def test_arrays_that_are_cut_off_are_no_answer(header: Header, another_child: Callable[[str], None]) -> None:
    answers = pickle.dumps("ready") + pickle.dumps(({}, {"points": (4, 2, 3)})) + bytes(100)
    another_child(f"import sys; sys.stdout.buffer.write({answers!r}); sys.stdout.flush(); sys.stdin.buffer.read(1)")
    with pytest.raises(UserError, match="damaged: its parser crashed"):
        c3d_guard.parse(WALK, header)


# --- places and names ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "a walk.c3d", "'quoted' \"twice\".c3d", "$(touch made) `touch made`.c3d", "-rf.c3d", "line\nbreak.c3d",
        "Müller 歩行 🚶.c3d", os.fsdecode(b"latin-\xfc.c3d"), "a" * 240 + ".c3d", "%s%n{0}.C3D", "back\\slash;.c3d",
    ],
)  # fmt: skip
def test_any_file_name_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """From where it stands, too, in a folder named as strangely."""
    folder = tmp_path / f"study {name[:20]}"
    folder.mkdir()
    (folder / name).write_bytes(WALK.read_bytes())
    expected = read_c3d(WALK).markers
    np.testing.assert_array_equal(read_c3d(folder / name).markers, expected)
    monkeypatch.chdir(folder)
    np.testing.assert_array_equal(read_c3d(Path(name)).markers, expected)
    (folder / name).unlink()
    (folder / name).symlink_to(WALK)
    np.testing.assert_array_equal(read_c3d(Path(name)).markers, expected)


def test_nothing_is_imported_from_where_a_study_lies(tmp_path: Path) -> None:
    for name in ("numpy", "pickle", "ezc3d", "pipeline", "signal"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported')")
    code = "import sys; sys.path[:1] = []\n" + PARENT
    parent = run(code, str(WALK), cwd=tmp_path)
    assert parent.communicate(timeout=60)[1] == ""
    assert parent.returncode == 0


def test_labels_of_any_alphabet_are_text(tmp_path: Path) -> None:
    """In UTF-8 or, of older programs, Latin-1; what would steer a terminal is a blank."""
    content, path = WALK.read_bytes(), tmp_path / "labels.c3d"
    label = read_c3d(WALK).labels[0].encode()
    for stored, read in (("Ü".encode(), "Ü"), (b"\xdc", "Ü"), (b"\x1b", "")):
        new = stored + label[len(stored) :]
        path.write_bytes(content.replace(label, new, 1))
        assert read_c3d(path).labels[0] == read + label[len(stored) :].decode()
