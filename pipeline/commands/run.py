"""``gaitlab run``: compute what is missing or out of date, from any folder."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from ..errors import INTERRUPTED
from ..tables.study_tables import refuse_no_study
from .shared.environment import environment

# Until the workflow sets its own handler, this one ends it at Ctrl-C with one line instead of a traceback.
START = f"""
import os, signal
def stop(*_):
    os.write(2, b"Stopped by Ctrl-C.\\n")
    os._exit({INTERRUPTED})
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, stop)
from pipeline.workflow.start import main
main()
"""


def run(study: Path, options: Sequence[str]) -> NoReturn:
    """Replace this process by one that runs the workflow, with the package named as in the Snakefile's imports."""
    refuse_no_study(study)
    command = [sys.executable, "-P", "-c", START, str(study), *options]
    os.execve(command[0], command, environment())  # noqa: S606 (no shell is wanted)
