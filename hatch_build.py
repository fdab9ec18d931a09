"""The build of wheels and source archives: they get the commit that ``gaitlab --version`` shows."""

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLACES = {"wheel": "gaitlab/pipeline/COMMIT", "sdist": "pipeline/COMMIT"}


class CommitHook(BuildHookInterface):  # type: ignore[type-arg]
    """Add a file with the commit of the checkout; a wheel from a source archive has that of the archive."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the file, but not for an editable installation, which is the checkout itself, and without git."""
        if version == "editable" or not (Path(self.root) / ".git").exists():
            return
        command = ["git", "-C", self.root, "describe", "--always", "--dirty", "--abbrev=10", "--exclude=*"]
        try:
            commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603 (no shell)
        except (OSError, subprocess.CalledProcessError):
            return
        self.file = Path(tempfile.mkdtemp()) / "COMMIT"
        self.file.write_text(commit, encoding="utf-8")
        build_data["force_include"][str(self.file)] = PLACES[self.target_name]

    def finalize(self, *_: object) -> None:
        """Remove the file."""
        if file := getattr(self, "file", None):
            file.unlink()
            file.parent.rmdir()
