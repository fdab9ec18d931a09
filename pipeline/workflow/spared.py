"""Two things that Snakemake does over and over as a study grows, spared.

After each job it hashes all inputs, anew for each output: a study of 40 MB, say, for each of twenty pages of a report.

And it holds jobs to 100 a second, unless told: each look at what is ready orders another look a second later, each
finished job begins a further chain of them, and no chain ends. After a hundred jobs that is a hundred looks a second at
the inputs of all that waits (https://github.com/snakemake/snakemake/pull/3744). No study has so many jobs in a second.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

DEFAULT_LIMIT = (100, 1)  # jobs, seconds


def hash_once(files: type[Any]) -> None:
    """Let Snakemake's class of files (``snakemake.io._IOFile``) remember digests for as long as nothing is changed."""
    hashed = files.checksum
    known: dict[tuple[Any, ...], Any] = {}

    async def checksum(self: Any, *how: Any, **further: Any) -> Any:
        try:
            status = Path(self.file).stat()
        except OSError:
            return await hashed(self, *how, **further)
        state = (self.file, status.st_ino, status.st_size, status.st_ctime_ns, how, *further.items())
        if state not in known:
            known[state] = await hashed(self, *how, **further)
        return known[state]

    files.checksum = checksum


def lift_default_limit(scheduler: Any) -> None:
    """Lift the limit of jobs a second of a ``snakemake.scheduling.job_scheduler.JobScheduler`` if nobody chose it."""
    limiter = scheduler.job_rate_limiter
    if limiter and (limiter.max_jobs, limiter.timespan) == DEFAULT_LIMIT:
        scheduler.job_rate_limiter = None
