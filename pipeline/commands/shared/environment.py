"""The environment of processes that run Snakemake."""

import os
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[3]  # in a checkout and in a wheel


def environment() -> dict[str, str]:
    """Return the environment of the workflow: it finds this copy of the project first."""
    paths = [str(HOUSE), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
