"""Many sessions in one job of a cluster: Snakemake's groups, with --group-components (docs/scale.md)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

OF_GROUPS = ("_group", "_dependencies", "_n_until_ready", "_ready", "_check_groups")  # of Snakemake's DAG


def sessions_of_targets(arguments: Iterable[str]) -> set[str]:
    """Return the sessions in Snakemake's arguments for a job of a cluster, such as ``read:session=sub-01``."""
    return {session for target in arguments for _, found, session in [target.partition(":session=")] if found}


def remove_outdated(jobs: Iterable[Any]) -> None:
    """Remove the outputs and logs of jobs that a run on a cluster will make.

    When a group fails, Snakemake either removes the results of all its sessions, or (--keep-incomplete) records all of
    them as up to date, even if the group never began. So with that option none may be left of an earlier run.
    """
    for job in jobs:
        for file in (*job.output, *job.log):
            Path(file).unlink(missing_ok=True)


def group_in_linear_time(dag: Any) -> None:
    """Make Snakemake's questions about groups cost the same for each job, however large its group.

    For each job Snakemake asks of all jobs of the group whether they can begin; it needs the answer for this job only,
    as it then asks the others of the group. And for each job it searches the whole group for a path that leaves and
    enters it again; there is none, because sessions do not depend on each other. With 25 sessions in a group both
    would take three times as long as the rest of the plan.

    Args:
        dag: Snakemake's graph of jobs; left as it is if another version of Snakemake has it otherwise.
    """
    if not all(hasattr(dag, name) for name in OF_GROUPS):
        return

    def is_ready(job: Any) -> bool:
        group = dag._group.get(job)
        within = group and [other for other in dag._dependencies[job] if dag._group.get(other) is group]
        return bool(dag._n_until_ready[job] == len(within or ()))

    dag._ready, dag._check_groups = is_ready, lambda: None
