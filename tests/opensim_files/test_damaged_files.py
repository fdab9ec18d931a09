"""Damaged TRC and MOT files: each is read or refused with where, what and remedy, whatever happened to its bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pipeline.errors import Problem, UserError
from pipeline.opensim_files.recording import read_opensim
from tests.support.files.opensim import load_columns, mot_text, trc_text

RNG = np.random.default_rng(11)
TRC = trc_text(["R.ASIS", "L.ASIS", "V.Sacral"], RNG.normal(1, 0.1, (12, 3, 3)), 100).encode()
MOT = mot_text(np.arange(120) / 1000, load_columns(*RNG.normal(5, 1, (3, 120, 3)))).encode()
PIECES = [
    b"\t",
    b"\n",
    b"\r\n",
    b" ",
    b"nan",
    b"inf",
    b"-1e308",
    b"1e-320",
    b",",
    b"0",
    b"\xff",
    b"\0",
    b"=",
    b"99999999999",
]


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Return a file with one or two damages: cut off, bytes changed, put in or left out, lines repeated or lost."""
    for _ in range(int(rng.integers(1, 3))):
        at, upto = sorted(rng.integers(0, max(len(content), 1), 2).tolist())
        piece = PIECES[int(rng.integers(len(PIECES)))]
        lines = content.split(b"\n")
        row = int(rng.integers(len(lines)))
        ways = [
            content[:upto],
            content[:at] + piece + content[at + len(piece) :],
            content[:at] + piece + content[at:],
            content[:at] + content[min(upto, at + 20) :],
            b"\n".join([*lines[:row], *lines[row : row + 1] * 2, *lines[row + 1 :]]),
            b"\n".join(lines[:row] + lines[row + 1 :]),
        ]
        content = ways[int(rng.integers(len(ways)))]
    return content


def test_no_damaged_file_harms_its_reader(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    markers, forces, read = tmp_path / "walk.trc", tmp_path / "walk.mot", 0
    for number in range(600):
        markers.write_bytes(damaged(TRC, rng) if number % 2 else TRC)
        forces.write_bytes(MOT if number % 2 else damaged(MOT, rng))
        problems: tuple[Problem, ...] = ()
        try:
            recording = read_opensim(markers, forces)
        except UserError as error:
            problems = error.problems
        assert all(problem.where and problem.what and problem.remedy for problem in problems), problems
        if problems:
            continue
        read += 1
        assert len(recording.analog) == len(recording.loads[0].force) <= 1e6
        assert np.abs(np.nan_to_num(recording.markers)).max() <= 1e3
    assert 40 < read < 560, "neither all nor none"
