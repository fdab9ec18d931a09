"""A witness of what jobs use: an audit hook of Python in their worker processes, which knows nothing of keys."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.support.checkout import HOUSE

# sitecustomize.py, which each process of Python imports first: it notes which process runs or opens which file
HOOK = """
import os, sys, types
log = os.open(os.environ["WITNESS_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def note(event, arguments):
    if event in ("exec", "open"):
        file = arguments[0].co_filename if isinstance(arguments[0], types.CodeType) else arguments[0]
        if isinstance(file, (str, os.PathLike)):
            os.write(log, f"{os.getpid()}\\t{file}\\n".encode())

sys.addaudithook(note)
"""


def used_by_jobs(study: Path, options: Sequence[str], folder: Path) -> set[str]:
    """Run jobs, after those before them, and return what their workers and the children of these use.

    That is: the files of the checkout, relative to it, that they run as code or open, and the distributions, in small
    letters, of which they run code. What compiled code opens, such as NetCDF files, is not seen. Each worker starts
    without any library.

    Args:
        options: of ``gaitlab run``, which choose the jobs.
        folder: where the hook is written, and what it notes.
    """
    log, printed = folder / "used", folder / "printed"
    log.unlink(missing_ok=True)
    (folder / "sitecustomize.py").write_text(HOOK)
    environment = {"PYTHONPATH": str(folder), "WITNESS_LOG": str(log), "GAITLAB_START_METHOD": "spawn"}
    command = [sys.executable, "-m", "pipeline", "run", str(study), *options, "--cores", "2"]
    with printed.open("w") as output:
        run = subprocess.Popen(command, cwd=HOUSE, env=os.environ | environment, stdout=output, stderr=output)
        assert run.wait() == 0, printed.read_text()
    noted = (line.partition("\t") for line in log.read_text(errors="replace").splitlines())
    # the process that was started plans the jobs, and runs none
    files = {Path(file) for process, _, file in noted if file and process != str(run.pid)}
    ours = {file.relative_to(HOUSE).as_posix() for file in files if file.is_relative_to(HOUSE)}
    assert ours, f"no job ran: {printed.read_text()}"
    distributions = importlib.metadata.packages_distributions()
    packages = {file.parts[file.parts.index("site-packages") + 1] for file in files if "site-packages" in file.parts}
    return ours | {name.lower() for package in packages for name in distributions.get(package, ())}
