"""Run a command and write what it and all its descendants cost: ``python launcher.py REPORT COMMAND ...``.

Snakemake's workers are children of a server, and both may outlive Snakemake: only a process that inherits orphans (a
subreaper, Linux) can wait for all of them, and the kernel counts only those that were waited for. This process imports
little, because a child begins with the peak memory of its parent.
"""

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
LONGEST_ORPHAN_S = 60


def main(report: Path, command: list[str]) -> int:
    """Run the command, wait for all its descendants, write the report and return the command's exit code.

    A descendant that outlives the command by a minute ends this process, and so the measurement.
    """
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "this process cannot inherit orphans")
    code = subprocess.call(command)  # noqa: S603
    signal.alarm(LONGEST_ORPHAN_S)
    try:
        while True:
            os.wait()
    except ChildProcessError:  # none is left
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost = {"cpu_s": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1000}
    report.write_text(json.dumps(cost), encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
