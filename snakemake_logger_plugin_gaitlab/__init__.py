"""A logger plugin that lets the workflow print Snakemake's log records in its own way.

Snakemake finds a plugin by the name of its package, before it reads the Snakefile. The Snakefile then logs a record
with the attribute ``progress``, which prints all records that follow (pipeline/progress.py). So this package imports
nothing of the workflow: another copy of it may be installed. Before that record only warnings and errors are printed.
"""

from __future__ import annotations

import logging
import sys
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase


class LogHandler(LogHandlerBase):
    """Print Snakemake's log records; with ``--verbose`` all of them also as Snakemake does."""

    writes_to_stream = has_filter = True  # it decides by itself what to print
    writes_to_file = has_formatter = needs_rulegraph = False

    def __post_init__(self) -> None:
        """Begin without a printer."""
        self.progress: Any = None

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record."""
        try:
            if start := getattr(record, "progress", None):
                self.progress = start(as_text=self.format)
            elif self.progress is not None:
                self.progress.show(record)
            elif record.levelno >= logging.WARNING:
                sys.stderr.write(f"{self.format(record)}\n")
            if self.common_settings.verbose:
                sys.stderr.write(f"{self.format(record)}\n")
        except Exception:  # the thread that prints all records must go on
            self.handleError(record)

    def close(self) -> None:
        """Print the last lines of a run; this is called twice."""
        super().close()
        progress, self.progress = self.progress, None
        if progress is not None:
            progress.close()
