"""A logger plugin that hands Snakemake's log records to ``gaitlab run``, which prints its own lines instead.

Snakemake finds a plugin by the name of its package. ``pipeline/workflow/run_snakemake.py`` sets ``show`` before it
starts Snakemake. This package imports nothing of the workflow.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable

from snakemake_interface_logger_plugins.base import LogHandlerBase

# prints what matters of a record, given also how Snakemake words it; None: all records are printed as Snakemake does
show: Callable[[logging.LogRecord, Callable[[logging.LogRecord], str]], None] | None = None


class LogHandler(LogHandlerBase):
    """Hand over Snakemake's log records; with ``--verbose`` print them also as Snakemake does."""

    writes_to_stream = has_filter = True  # what is printed is decided elsewhere
    writes_to_file = has_formatter = needs_rulegraph = False

    def __post_init__(self) -> None:
        """Need nothing."""

    def emit(self, record: logging.LogRecord) -> None:
        """Hand over a record."""
        try:
            if show is not None:
                show(record, self.format)
            if show is None or self.common_settings.verbose:
                sys.stderr.write(f"{self.format(record)}\n")
        except Exception:  # the thread that prints all records must go on
            self.handleError(record)
