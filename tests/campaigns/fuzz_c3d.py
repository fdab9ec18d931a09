"""Thousands of damaged C3D files and their outcomes in a table.

``python -m tests.campaigns fuzz_c3d`` prints the table of docs/reliability.md, from the generated study and real files
of several vendors, if any (see conftest.py). It fails if a file is neither read nor refused by name, and keeps such
files.
"""

from __future__ import annotations

import resource
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pipeline.c3d import parser_process
from pipeline.c3d.integrity import Header, refuse_damaged
from pipeline.c3d.reader import read_c3d
from pipeline.errors import UserError
from pipeline.plates.parameters import zero_frames
from pipeline.recording import Recording
from pipeline.steps.read.plates_and_channels import decode_plates
from tests.campaigns.runner import Report
from tests.support.checkout import HOUSE, SHARED

GENERATED = (HOUSE / "data/demo/sub-01/static.c3d", HOUSE / "data/demo/sub-01/fast_01.c3d")
REAL = {  # small files of each kind
    "Vicon": "studies/plug_in_gait/sub-01/PiG_Calibration3_FF.c3d",
    "Vicon, real numbers of DEC": "data/c3dorg_sample10_types/TYPE-2a.c3d",
    "Motion Analysis": "data/c3dparser_AUC/CB_Static0001.c3d",
    "Qualisys": "data/qualisys_cast/Qualisys.c3d",
    "Codamotion, integers": "data/codamotion_type3/codamotion_gaitwands_19970212.c3d",
    "ezc3d": "studies/gait2354/sub-01/walk1.c3d",
}
SHORT = {"mutants": 240, "truncations": 60, "seed": 7}
ZONES = ("header", "parameters", "parameters", "parameters", "anywhere")
KINDS = ("flipped bits", "flipped bits", "one byte", "zeros", "noise", "one word", "bytes moved")
LONGEST_S, MOST_BYTES = 10.0, 2 << 30
READ, SAME, CONTAINED, HARM = "read", "read, all as before", "refused: parser ended", "HARM"


class Outcome(NamedTuple):
    """Outcome of reading a file, its time and message."""

    end: str
    took_s: float
    text: str


def seeds() -> list[Path]:
    """Return the files to damage."""
    return [*GENERATED, *(path for path in (SHARED / name for name in REAL.values()) if path.is_file())]


def mutant(content: bytes, header: Header, rng: np.random.Generator) -> tuple[str, bytes]:
    """Return a kind of damage and the damaged file."""
    changed = bytearray(content)
    first, last = {"header": (0, 30), "parameters": (512, header.data_at), "anywhere": (0, len(content))}[
        str(rng.choice(ZONES))
    ]
    at = int(rng.integers(first, last))
    kind = str(rng.choice(KINDS))
    if kind == "flipped bits":
        for place in rng.integers(first, last, rng.choice([1, 1, 3, 10])):
            changed[place] ^= 1 << int(rng.integers(8))
    elif kind == "one byte":
        changed[at] = rng.choice([0, 1, 127, 128, 255])
    elif kind == "one word":
        changed[at : at + 2] = bytes(rng.choice([b"\xff\xff", b"\xff\x7f", b"\1\x80", b"\1\1"]))
    elif kind == "bytes moved":
        count = int(rng.integers(1, 64))
        changed[at + count : at + count] = changed[at : at + count]
    else:
        count = min(int(rng.choice([4, 16, 128, 512])), len(content) - at)
        changed[at : at + count] = bytes(count) if kind == "zeros" else rng.bytes(count)
    return kind, bytes(changed)


def used(path: Path) -> Recording:
    """Read a file and all that the pipeline uses of it."""
    recording = read_c3d(path)
    with warnings.catch_warnings(action="ignore"):  # of numpy, if all readings are missing
        decode_plates(recording, np.eye(3))
    zero_frames(recording.force_platform)
    _ = recording.sizes, recording.static_results
    return recording


def outcome(path: Path, expected: Recording) -> Outcome:
    """Read a file; any error other than a refusal by name is harm."""
    start = time.monotonic()
    try:
        found = used(path)
        same = np.array_equal(found.markers, expected.markers, equal_nan=True) and np.array_equal(
            found.analog, expected.analog, equal_nan=True
        )
        end, text = SAME if same else READ, ""
    except UserError as error:
        whole, text = str(error), str(error).removeprefix(f"{path}: ")
        end = "refused: by the parser" if "not readable as C3D" in text else "refused: numbers make no recording"
        if "its parser" in text:
            end = CONTAINED
        elif "damaged" in text or "cut off" in text or "no C3D header" in text:
            end = "refused: header and records"
        if text == whole or not text.isprintable():
            end = HARM
    except Exception as error:
        end, text = HARM, repr(error)
    took_s = time.monotonic() - start
    return Outcome(HARM if took_s > LONGEST_S else end, took_s, text)


def campaign(
    files: list[Path], *, mutants: int, truncations: int, seed: int, keep: Path
) -> Iterator[tuple[str, Outcome]]:
    """Yield the kind of damage and the outcome of each; harmful files are copied to ``keep``."""
    rng = np.random.default_rng(seed)
    known = [(path.read_bytes(), refuse_damaged(path), used(path)) for path in files]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "damaged.c3d"
        for number in range(mutants + truncations):
            content, header, expected = known[number % len(known)]
            if number < mutants:
                kind, damaged = mutant(content, header, rng)
            else:
                end = header.data_at + header.frames * header.frame_bytes  # the rest fills the last block
                kind, damaged = "cut off", content[: int(rng.integers(end))]
            path.write_bytes(damaged)
            result = outcome(path, expected)
            if kind == "cut off" and result.end in (READ, SAME):
                result = result._replace(end=HARM, text="read although cut off")
            if result.end in (HARM, CONTAINED):
                (keep / f"{seed}_{number}.c3d").write_bytes(damaged)
            yield kind, result


def peak_bytes() -> int:
    """Return the peak memory of this process and its children."""
    parser_process.end_child()
    return 1024 * max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def main(report: Report, *, mutants: int = 10_000, truncations: int = 1_000, seed: int = 1) -> None:
    """Report how damaged files end, by kind of damage."""
    files, keep = seeds(), Path(tempfile.gettempdir()) / "fuzz_c3d"
    keep.mkdir(exist_ok=True)
    results = list(campaign(files, mutants=mutants, truncations=truncations, seed=seed, keep=keep))
    report.counts("damage", sorted((kind, result.end) for kind, result in results))
    longest_s, peak = max(result.took_s for _, result in results), peak_bytes()
    report.text(f"{len(files)} files; longest {longest_s:.1f} s, most memory {peak / 2**20:.0f} MiB")
    harm = [f"{keep}: {result.text}" for _, result in results if result.end == HARM]
    report.allow(0, harm, len(results), "files that harm their reader")
    report.allow(0.8, sum(result.end in (READ, SAME) for _, result in results), len(results), "files read")
    report.allow(0.9, sum(result.end not in (READ, SAME) for _, result in results), len(results), "files refused")
    report.allow(0, int(peak > MOST_BYTES), 1, f"peaks of memory over {MOST_BYTES / 2**30:.0f} GiB")
