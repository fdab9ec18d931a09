"""Run one job in the study's folder: check its inputs, run it, record what it wrote.

Everything that a job uses is in its key and its input files. What loads the inputs, calls the step and saves the
outputs is the step's ``job`` (:class:`pipeline.step.Step`).
"""

import json
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from ...reference import resolve
from ...results import just_written
from ...results.job_files import Files
from ...step import every_step
from .. import checksums

DERIVED = Path("derived")


def run(text: str, inputs: Files, outputs: Files) -> None:
    """Run one job.

    Args:
        text: the job's key, JSON.
        inputs, outputs: files by the names that the rule gives them, relative to the study.

    Raises:
        UserError: an input is damaged, or the step cannot use it.
    """
    key = json.loads(text)
    written = [*chain(*outputs.values())]
    checksums.begin(DERIVED, written)
    digests = checksums.as_written(DERIVED, chain(*inputs.values()))
    with just_written.known({DERIVED / name: digest for name, digest in digests.items()}):
        compute(key, inputs, outputs)
        made = checksums.record(DERIVED, written, inputs=digests, key=key)
        just_written.keep({DERIVED / name: digest for name, digest in (digests | made).items()})


def compute(key: Mapping[str, Any], inputs: Files, outputs: Files) -> None:
    """Compute the outputs of one job from its key and its inputs, without a record of either."""
    step = every_step()[key["step"]]
    arguments = {"settings": resolve(step.settings)(**key["settings"]), **key.get("arguments", {})}
    resolve(step.job)(key, resolve(step.function), arguments, inputs, outputs)
