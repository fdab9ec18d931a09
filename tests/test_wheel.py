"""The wheel: complete, and usable from any folder without the checkout."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pipeline import __version__
from pipeline.__main__ import commit_of
from tests.support.checkout import HOUSE, keep_rows, planned
from tests.support.processes.environments import environment, packages_of

ROOMS = ("pipeline", "config", "profiles")
WATCH = """
import os, sys

def note(event, arguments):
    if event == "open" and str(arguments[0]).startswith({house!r}) and not str(arguments[0]).startswith({packages!r}):
        with open({log!r}, "a") as handle:
            handle.write(str(arguments[0]) + "\\n")

sys.addaudithook(note)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel, built without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "wheel", "--no-deps"]
    subprocess.run([*pip, "--no-build-isolation", "--wheel-dir", folder, HOUSE], check=True)
    (file,) = folder.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder where `environment` has the wheel installed, and `opened` lists opened files of the checkout."""
    folder = tmp_path_factory.mktemp("installed")
    environment(folder / "environment", "--no-index", "--no-deps", str(wheel))
    (folder / "opened").touch()
    packages = packages_of(folder / "environment")
    code = WATCH.format(house=f"{HOUSE}/", packages=str(Path(sys.prefix)), log=str(folder / "opened"))
    (packages / "watch.py").write_text(code)
    (packages / "watch.pth").write_text("import watch\n")  # Debian's Python has a sitecustomize of its own
    return folder


def shell(installed: Path, line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command line in the environment of the wheel."""
    path = f"{installed / 'environment' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"PATH": path}
    return subprocess.run(line, shell=True, cwd=cwd, env=environ, capture_output=True, text=True, check=False)  # noqa: S602


def test_wheel_has_all_that_running_needs_and_no_more(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    files = [file for room in ROOMS for file in (HOUSE / room).rglob("*") if file.is_file()]
    expected = {f"gaitlab/{file.relative_to(HOUSE)}" for file in files if file.suffix != ".pyc"}
    expected |= {"gaitlab/__init__.py", "gaitlab/py.typed", "gaitlab/Snakefile"}
    expected |= {"snakemake_logger_plugin_gaitlab/__init__.py"}
    expected |= {"gaitlab/pipeline/COMMIT"} if commit_of(HOUSE) else set()
    assert names == expected
    assert wheel.name == f"gait_lab_pipeline-{__version__}-py3-none-any.whl"


def test_demo_runs_from_any_folder_without_the_checkout(installed: Path, tmp_path: Path) -> None:
    """The study's folder may have any name; files in the working directory do not shadow modules."""
    (tmp_path / "random.py").write_text("raise SystemExit('not the module of the standard library')")
    (tmp_path / "profiles" / "default").mkdir(parents=True)
    (tmp_path / "pipeline").mkdir()
    study = tmp_path / "my first study"
    for line in (f"gaitlab demo {shlex.quote(study.name)}", f"gaitlab run {shlex.quote(study.name)} --cores 2"):
        result = shell(installed, line, tmp_path)
        assert result.returncode == 0, result.stdout + result.stderr
        keep_rows(study, re.compile(r"\t(static|comfortable_01)\t").search)
    assert result.stdout.splitlines()[-1] == f"Report: {study / 'derived' / 'report.html'}"
    assert (study / "derived" / "report.html").stat().st_size > 100_000
    for command in ("check", "verify", "explain", "show", "export"):
        place = study / "derived" / "study.nc" if command == "show" else study
        result = shell(installed, f"gaitlab {command} {shlex.quote(str(place))}", tmp_path)
        assert result.returncode == 0, result.stdout + result.stderr
    code = f"from gaitlab import load_study; print(load_study({str(study)!r}).sizes['cycle'])"
    assert shell(installed, f"python -P -c {shlex.quote(code)}", tmp_path).stdout == "6\n"
    assert (installed / "opened").read_text() == ""
    assert planned(study) == set()  # the checkout finds these results up to date: no key depends on the place


def test_watch_sees_files_of_the_checkout(installed: Path, tmp_path: Path) -> None:
    file = HOUSE / "config" / "default.yaml"
    shell(installed, f"python -c {shlex.quote(f'open({str(file)!r})')}", tmp_path)
    assert (installed / "opened").read_text() == f"{file}\n"
    (installed / "opened").write_text("")


def test_command_prints_help_and_version(installed: Path, tmp_path: Path) -> None:
    assert "Examples:\n  gaitlab demo" in shell(installed, "gaitlab --help", tmp_path).stdout
    commit = f", commit {built}" if (built := commit_of(HOUSE)) else ""
    assert shell(installed, "gaitlab --version", tmp_path).stdout == f"gaitlab {__version__}{commit}\n"
