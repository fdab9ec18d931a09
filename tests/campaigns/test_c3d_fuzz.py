"""A short campaign of damaged C3D files of the generated study; ``make fuzz`` runs the long one."""

from __future__ import annotations

from pathlib import Path

from tests.campaigns import fuzz_c3d


def test_no_damaged_file_harms_its_reader(tmp_path: Path) -> None:
    results = list(fuzz_c3d.campaign(list(fuzz_c3d.GENERATED), mutants=240, truncations=60, seed=7, keep=tmp_path))
    ends = [result.end for _, result in results]
    assert [result for _, result in results if result.end == fuzz_c3d.HARM] == []
    assert 30 < sum(end.startswith("read") for end in ends) < 240, "neither all nor none"
    assert fuzz_c3d.peak_bytes() < fuzz_c3d.MOST_BYTES
