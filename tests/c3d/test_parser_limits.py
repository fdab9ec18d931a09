"""Limits of the parser's child process: a harmful file costs itself alone; any file name is read."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import numpy as np
import pytest

from pipeline.c3d import parser_process
from pipeline.c3d.integrity import refuse_damaged
from pipeline.c3d.reader import read_c3d
from pipeline.errors import UserError
from tests.support.processes.c3d_parser import (
    CRASH,
    GLUTTON,
    HANG,
    HASTY,
    WALK,
    another_child,
    answering,
    child_id,
    deadly,
    parse,
    reads_on,
)

pytestmark = pytest.mark.process

# ---- files that harm the parser


def test_a_crash_costs_one_file(tmp_path: Path) -> None:
    path = deadly(tmp_path / "crash.c3d", *CRASH)
    with pytest.raises(UserError, match=r"crash\.c3d: damaged: its parser crashed \(SIG(SEGV|ABRT|BUS)\)"):
        parse(path)
    assert reads_on()


def test_a_hang_costs_one_file(tmp_path: Path) -> None:
    path = deadly(tmp_path / "hang.c3d", *HANG)
    with another_child(HASTY):
        with pytest.raises(UserError, match=r"hang\.c3d: damaged: its parser did not end"):
            parse(path)
        assert reads_on()


def test_memory_has_a_limit(tmp_path: Path) -> None:
    path = deadly(tmp_path / "glutton.c3d", *GLUTTON)
    with pytest.raises(UserError, match=r"glutton\.c3d: not readable as C3D \(asks for more memory"):
        parse(path)
    parser_process.end_child()
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 2 << 20, "kB: of the largest child"
    assert reads_on()


def test_the_integrity_check_refuses_all_three(tmp_path: Path) -> None:
    for harm in (CRASH, HANG, GLUTTON):
        with pytest.raises(UserError, match="the parameter 'LABELS' at byte"):
            refuse_damaged(deadly(tmp_path / "harm.c3d", *harm))


def test_no_core_is_dumped() -> None:
    assert reads_on()
    (line,) = [line for line in Path(f"/proc/{child_id()}/limits").read_text().splitlines() if "core file" in line]
    assert line.split()[4:6] == ["0", "0"]


def test_a_parser_that_refuses_says_why(tmp_path: Path) -> None:
    (tmp_path / "text.c3d").write_text("no C3D" * 200)
    with pytest.raises(UserError, match=r"text\.c3d: not readable as C3D \(.+\); export it again"):
        parse(tmp_path / "text.c3d")


# ---- answers of a compromised parser


def test_an_answer_cannot_run_code_in_the_parent(tmp_path: Path) -> None:
    """A compromised parser could answer with a pickle that calls a function."""

    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.mkdir, (str(tmp_path / "made"),)

    with answering(Evil()), pytest.raises(UserError, match="damaged: its parser"):
        parse(WALK)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("answer", ["text", ({}, {"points": ("many",)}), ({}, {"points": (1 << 60,)}), ({}, None)])
def test_an_invalid_answer_is_refused(answer: object) -> None:
    with answering(answer), pytest.raises(UserError, match="damaged: its parser gave no answer"):
        parse(WALK)


def test_arrays_that_are_cut_off_are_refused() -> None:
    promised: tuple[object, ...] = ({}, {"points": (4, 2, 3)})
    ended = pytest.raises(UserError, match="damaged: its parser crashed")
    with answering(promised, arrays=bytes(100), then="sys.stdin.buffer.read(1)"), ended:
        parse(WALK)


# ---- places and names


@pytest.mark.parametrize(
    "name",
    [
        "a walk.c3d", "'quoted' \"twice\".c3d", "$(touch made) `touch made`.c3d", "-rf.c3d", "line\nbreak.c3d",
        "Müller 歩行 🚶.c3d", os.fsdecode(b"latin-\xfc.c3d"), "a" * 240 + ".c3d", "%s%n{0}.C3D", "back\\slash;.c3d",
    ],
)  # fmt: skip
def test_any_file_name_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """By absolute and relative path, in a folder with a similar name, and as a link."""
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


def test_labels_of_any_alphabet_are_text(tmp_path: Path) -> None:
    """In UTF-8 or Latin-1; unprintable characters become blanks."""
    content, path = WALK.read_bytes(), tmp_path / "labels.c3d"
    label = read_c3d(WALK).labels[0].encode()
    for stored, read in (("Ü".encode(), "Ü"), (b"\xdc", "Ü"), (b"\x1b", "")):
        new = stored + label[len(stored) :]
        path.write_bytes(content.replace(label, new, 1))
        assert read_c3d(path).labels[0] == read + label[len(stored) :].decode()
