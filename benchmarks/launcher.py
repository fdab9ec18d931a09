"""Run a command and write what it and all its descendants cost: ``launcher.py REPORT LONGEST_ORPHAN_S COMMAND ...``.

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


def main(report: Path, longest_orphan_s: float, command: list[str]) -> int:
    """Run the command, wait for all its descendants, write the report and return the command's exit code.

    Descendants that outlive the command by too long are killed, and the measurement fails.
    """
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "this process cannot inherit orphans")
    code = subprocess.call(command)  # noqa: S603
    signal.signal(signal.SIGALRM, end_orphans)
    signal.setitimer(signal.ITIMER_REAL, longest_orphan_s)
    try:
        while True:
            os.wait()
    except ChildProcessError:  # none is left
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost = {"cpu_s": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1000}
    report.write_text(json.dumps(cost), encoding="utf-8")
    return code


def end_orphans(*_: object) -> None:
    """Kill all descendants, which are or become children of this process, and end it."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    while left := children.read_text().split():
        for child in left:
            os.kill(int(child), signal.SIGKILL)
        os.wait()
    sys.exit("processes outlived the command and were killed; let it wait for what it starts")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]))
