"""What cluster.smk uses that Snakemake does not document: every attribute, and what fails without it."""

from __future__ import annotations

import dataclasses
import re
from operator import attrgetter

import pytest
import snakemake.api  # noqa: F401 (first: its modules import each other in a circle)
from snakemake.settings.types import ExecutionSettings, SchedulingSettings
from snakemake.workflow import DAG, Workflow

from tests.support.checkout import HOUSE

CLUSTER = HOUSE / "pipeline" / "workflow" / "cluster.smk"
MOST_LINES = 60
WITHOUT = {  # attribute of workflow: what fails without it
    "is_main_process": "a job on the cluster cannot be distinguished from the run that submits it",
    "execution_settings.keep_going": "a session that fails ends the other sessions of its group",
    "execution_settings.use_threads": "each step of a job starts Snakemake once more",
    "scheduling_settings.max_jobs_per_timespan": "Snakemake looks at all waiting jobs every second",
    "non_local_exec": "a local run, which needs no removal, removes the outputs of its jobs before it begins",
    "execution_settings.keep_incomplete": "outputs that Snakemake removes itself are removed twice",
    "localrules": "Slurm's plugin starts Snakemake for each step of a job",
    "dag.needrun_jobs": "results of an earlier run count as those of a group that failed",
}
DOCUMENTED = {"basedir"}  # https://snakemake.readthedocs.io/en/stable/snakefiles/configuration.html


def attributes_in(text: str) -> set[str]:
    """Return the attributes of ``workflow`` that a Snakefile uses, comments left out."""
    return set(
        re.findall(
            r"\bworkflow\.([a-z_.]*[a-z_])", re.sub(r"#.*|import .*", "", text.replace("pipeline.workflow.", ""))
        )
    )


def test_cluster_file_uses_these_attributes_alone() -> None:
    text = CLUSTER.read_text()
    assert attributes_in(text) == WITHOUT.keys()
    assert len(text.splitlines()) <= MOST_LINES


@pytest.mark.parametrize("attribute", WITHOUT)
def test_snakemake_has_the_attribute(attribute: str) -> None:
    first, _, second = attribute.partition(".")
    settings = {"execution_settings": ExecutionSettings, "scheduling_settings": SchedulingSettings}
    if first in settings:
        assert second in {field.name for field in dataclasses.fields(settings[first])}
        assert first in {field.name for field in dataclasses.fields(Workflow)}
    else:
        assert callable(attrgetter(second)(DAG)) if second else hasattr(Workflow, first)


def test_snakefile_uses_documented_attributes_alone() -> None:
    text = (HOUSE / "Snakefile").read_text()
    assert attributes_in(text) == DOCUMENTED
    assert len(text.splitlines()) <= 200
    assert text.splitlines().index("rule all:") < 40
