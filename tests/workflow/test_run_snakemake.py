"""The command line that ``gaitlab run`` gives to Snakemake, and the order of its words."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from snakemake.cli import parse_args

from pipeline.workflow.run_snakemake import HOUSE, snakemake_arguments, without_pandas
from tests.support.checkout import DEMO

PROFILE = yaml.safe_load((HOUSE / "profiles" / "default" / "config.yaml").read_text())


def test_the_options_are_those_of_the_profile_and_no_line_about_it_is_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, arguments = parse_args(snakemake_arguments(DEMO, []))
    assert capsys.readouterr() == ("", "")
    _, by_profile = parse_args(["--workflow-profile", str(HOUSE / "profiles" / "default"), "--cores", "all"])
    assert "workflow specific profile" in capsys.readouterr().err
    names = [name.replace("-", "_") for name in PROFILE if name != "max-jobs-per-timespan"]  # has no equality
    assert len(names) >= 8
    assert {name: getattr(arguments, name) for name in names} == {name: getattr(by_profile, name) for name in names}
    assert arguments.cores == by_profile.cores
    assert (arguments.logger, arguments.directory) == (["gaitlab"], Path(DEMO))
    assert Path(arguments.snakefile) == HOUSE / "Snakefile"


def test_a_users_option_wins_and_files_are_targets() -> None:
    _, arguments = parse_args(snakemake_arguments(DEMO, ["derived/study.nc", "--scheduler", "ilp", "--dry-run"]))
    assert [*arguments.targets] == ["derived/study.nc"]
    assert arguments.scheduler == "ilp"
    assert arguments.dryrun


@pytest.mark.parametrize(
    "options",
    [["--cores", "2"], ["--cores=2"], ["-c2"], ["-j", "2"], ["--jobs=2"], ["--dry-run", "-c", "1"], ["--profile", "x"]],
)
def test_options_may_choose_the_cores(options: list[str]) -> None:
    arguments = snakemake_arguments(DEMO, options)
    assert arguments[-len(options) :] == options
    assert "all" not in arguments


def test_a_profile_of_this_project_is_found_by_its_name() -> None:
    assert snakemake_arguments(DEMO, ["--profile", "slurm"])[-1] == str(HOUSE / "profiles" / "slurm")
    assert snakemake_arguments(DEMO, ["--profile", "mine"])[-1] == "mine"
    assert snakemake_arguments(DEMO, ["--dry-run", "slurm"])[-1] == "slurm"


@pytest.mark.parametrize("loaded", [False, True])
def test_snakemake_does_not_load_pandas_and_whoever_has_it_keeps_it(
    monkeypatch: pytest.MonkeyPatch, loaded: bool
) -> None:
    if not loaded:
        monkeypatch.delitem(sys.modules, "pandas")
    with without_pandas():
        assert bool(find_spec("pandas")) is loaded
    assert find_spec("pandas")


def test_a_plan_of_changed_keys_leaves_pandas_alone(study: Path) -> None:
    (study / "study.yaml").write_text("body_model: isb_clusters\nkinetics: {gravity_m_s2: 9.7}\n")
    code = (
        "import sys; from pathlib import Path; from pipeline.workflow.run_snakemake import run;"
        f"print(run(Path({str(study)!r}), ['--dry-run']), 'pandas' in sys.modules, 'pandas.core' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, cwd=HOUSE)
    assert "kinetics" in found.stdout + found.stderr  # something is planned
    assert found.stdout.splitlines()[-1] == "0 False False"
