"""Run every benchmark and store its figures: ``python -m benchmarks [full]``.

``full`` measures a study of 20 x 20 instead of 3 x 10 and an archive of 2,000 sessions instead of 200, and also runs
studies of 1 to 100 sessions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

from benchmarks import archive, growth, kernel, memory, opensim_inverse_kinematics, opensim_tool, study, trial
from benchmarks.figures import Figure, run_all


def parts(*, full: bool) -> dict[str, Callable[[], list[Figure]]]:
    """Return the measurements by title."""
    return {
        kernel.TITLE: kernel.measure,
        trial.TITLE: trial.measure,
        opensim_tool.TITLE: opensim_tool.measure,
        opensim_inverse_kinematics.TITLE: opensim_inverse_kinematics.measure,
        study.TITLE: partial(study.measure, *((20, 20) if full else ())),
        archive.TITLE: partial(archive.measure, *((500, 2000) if full else ())),
        memory.TITLE: memory.measure,
        growth.TITLE: partial(growth.measure, full=full),
    }


if __name__ == "__main__":
    run_all(parts(full="full" in sys.argv))
