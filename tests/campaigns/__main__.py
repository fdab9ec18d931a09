"""``python -m tests.campaigns NAME [--short] [--OPTION VALUE ...]`` runs a campaign; with ``--help``: its options."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.campaigns.runner import run

if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
    sys.exit(__doc__)
with tempfile.TemporaryDirectory() as scratch:
    sys.exit(int(bool(run(sys.argv[1], Path(scratch), sys.argv[2:]).wrong)))
