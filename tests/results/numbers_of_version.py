"""The numbers of the version: whoever changes results raises ``__version__``.

``numbers_of_version.tsv`` has, of each variable of study.nc of the small study, how many values are known, their mean
and their standard deviation. ``python -m tests.results.numbers_of_version`` writes it again, for a new version only.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from pipeline import __version__
from pipeline.results import netcdf
from tests.support.studies.small_study import write_outputs

TABLE = Path(__file__).with_suffix(".tsv")
HEADER = ("variable", "known", "mean", "standard_deviation")
# libraries and processors round differently; a change of a method is larger
RELATIVE, ABSOLUTE = 1e-6, 1e-9
Numbers = dict[str, tuple[int, float, float]]


def numbers_of(study: Path) -> Numbers:
    """Return by variable of study.nc how many values are known, their mean and standard deviation."""
    data = netcdf.load(study / "derived/study.nc")
    values = {str(name): one.values for name, one in data.variables.items() if one.dtype.kind == "f"}
    known = {name: own[np.isfinite(own)] for name, own in values.items()}
    return {name: (own.size, float(own.mean()), float(own.std())) for name, own in known.items() if own.size}


def recorded() -> tuple[str, Numbers]:
    """Return the version of the table and its numbers."""
    first, _, *lines = TABLE.read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines)
    return first.removeprefix("# version "), {name: (int(n), float(mean), float(sd)) for name, n, mean, sd in rows}


def differences(now: Numbers, then: Numbers) -> list[str]:
    """Return the variables of which the numbers differ by more than rounding, or that only one has."""
    close = {
        name: np.allclose(now[name], then[name], rtol=RELATIVE, atol=ABSOLUTE) for name in now.keys() & then.keys()
    }
    return sorted(name for name in now.keys() | then.keys() if not close.get(name, False))


def main() -> int:
    """Write the table of this version, and return the exit code."""
    with TemporaryDirectory() as folder:
        now = numbers_of(write_outputs(Path(folder)))
    if TABLE.exists():
        version, then = recorded()
        if version == __version__ and (changed := differences(now, then)):
            sys.stderr.write(f"{', '.join(changed)}: changed; raise __version__ in pipeline/__init__.py first\n")
            return 1
    lines = [f"# version {__version__}", "\t".join(HEADER)]
    lines += [f"{name}\t{n}\t{mean:.10g}\t{sd:.10g}" for name, (n, mean, sd) in sorted(now.items())]
    TABLE.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
