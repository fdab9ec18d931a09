"""The command ``gaitlab``: its help, its examples, and how it starts Snakemake."""

from __future__ import annotations

import errno
import os
import re
import shlex
import signal
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline import __main__ as command_line
from pipeline.__main__ import main
from pipeline.commands.run import START, run
from pipeline.errors import INTERRUPTED, UserError
from pipeline.workflow.jobs.workers import STOPPED
from tests.support.checkout import DEMO, ctrl_c_arrives

COMMANDS = [
    "init",
    "check",
    "corrections",
    "run",
    "show",
    "view",
    "compare",
    "explain",
    "methods",
    "repeatability",
    "report",
    "verify",
    "export",
    "norm",
    "compare-groups",
    "write-c3d",
    "body-model",
    "sbom",
    "recover",
    "demo",
]
WITH_OPTIONS = ("run", "recover")


def help_of(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return the text that a command prints with ``--help``."""
    with pytest.raises(SystemExit) as ended:
        main([*words, "--help"])
    assert ended.value.code == 0
    return capsys.readouterr().out


def examples_in(text: str) -> list[list[str]]:
    """Return the examples of a help text, each as the words after ``gaitlab``."""
    lines = text.partition("examples:\n")[2].splitlines()
    shown = [line.strip().partition("   ")[0] for line in lines if line.startswith("  gaitlab ")]
    return [shlex.split(part)[1:] for line in shown for part in line.split(" && ")]


def test_help_lists_every_command_and_examples(capsys: pytest.CaptureFixture[str]) -> None:
    text = help_of(capsys)
    assert re.findall(r"^    ([a-z0-9-]+)(?:  |$)", text, re.MULTILINE) == COMMANDS
    assert [example[0] for example in examples_in(text)] == ["demo", "run", "init", "check", "run", "show"]


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_of_a_command_are_valid(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = examples_in(help_of(capsys, command))
    for code, name in enumerate(COMMANDS):
        function = f"pipeline.__main__._{name.replace('-', '_')}"
        monkeypatch.setattr(function, lambda _, code=code: ("", code))
    assert examples
    assert [COMMANDS[main(example)] for example in examples] == [example[0] for example in examples]


@pytest.mark.parametrize("command", WITH_OPTIONS)
def test_options_before_the_study_are_refused(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--cores", "2", "my_study"])
    assert "unknown: --cores; give options of Snakemake after STUDY" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "meant"),
    [("chek my_study", "check"), ("export my_study --format cvs", "csv"), ("export my_study --modle x", "--model")],
)
def test_the_nearest_command_choice_or_option_is_suggested(
    words: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(words.split())
    assert capsys.readouterr().err.endswith(f"; did you mean '{meant}'?\n")


@pytest.mark.parametrize("fault", [errno.EACCES, errno.EROFS, errno.ENOSPC])
def test_a_place_without_access_or_room_is_one_plain_line(
    fault: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(_: object) -> None:
        raise OSError(fault, os.strerror(fault), "my_study/derived")

    monkeypatch.setattr("pipeline.__main__._write_c3d", refused)
    assert main(["write-c3d", "my_study"]) == 1
    assert capsys.readouterr().err.startswith(f"my_study/derived: {os.strerror(fault)}; use a place with room")


def test_a_folder_without_a_study_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UserError, match=r"no study.yaml there.*gaitlab init"):
        run(tmp_path, [])
    (tmp_path / "study.yaml.txt").write_text("body_model: isb_clusters\n")  # as Windows hides it
    with pytest.raises(UserError, match=r"no study.yaml there; rename study.yaml.txt"):
        run(tmp_path, [])
    with pytest.raises(UserError, match=rf"is a file; give the study's folder: {tmp_path}"):
        run(tmp_path / "study.yaml.txt", [])
    for command in WITH_OPTIONS:
        assert main([command, str(tmp_path / "nowhere")]) == 1
        assert "no such folder" in capsys.readouterr().err
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("command", ["init", "check", "verify", "export", "write-c3d", "demo", "run"])
def test_ctrl_c_ends_a_command_with_one_line(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def stopped(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"pipeline.__main__._{command.replace('-', '_')}", stopped)
    assert main([command, str(tmp_path)]) == INTERRUPTED
    assert capsys.readouterr() == ("", "Stopped by Ctrl-C.\n")


def test_ctrl_c_while_snakemake_is_imported_prints_one_line(tmp_path: Path) -> None:
    (tmp_path / "snakemake.py").write_text("print('begun', flush=True)\nimport time\ntime.sleep(60)\n")
    command = [sys.executable, "-c", START, str(DEMO)]
    with ctrl_c_arrives():
        process = subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
    with process:
        assert process.stdout
        assert process.stdout.readline() == "begun\n"
        os.killpg(process.pid, signal.SIGINT)
        assert process.communicate(timeout=60) == ("", STOPPED.format("Ctrl-C"))
    assert process.returncode == INTERRUPTED


def test_in_the_folder_of_a_study_no_study_needs_to_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is that study; one that is named, before or after options, is the one that is meant."""
    seen: list[tuple[str, Path]] = []

    def answer(name: str) -> Callable[[Namespace], tuple[str, int]]:
        def note(chosen: Namespace) -> tuple[str, int]:
            seen.append((name, chosen.path))
            return "", 0

        return note

    for name in ("check", "corrections", "verify", "run", "show"):
        monkeypatch.setattr(command_line, f"_{name}", answer(name))
    other, study = tmp_path / "other", tmp_path / "study"
    for folder in (other, study):
        folder.mkdir()
        (folder / "study.yaml").touch()
    monkeypatch.chdir(study)
    for words in (
        *(["check"], ["corrections"], ["verify", "--json"]),
        *(["run", "--dry-run", "--cores", "2"], ["show", "--trial", "fast"]),
    ):
        assert main(words) == 0
        assert seen.pop() == (words[0], Path())
    for words in (
        ["check", str(other)],
        ["verify", "--json", str(other)],
        ["show", "--trial", "fast", f"{other}/a.nc"],
    ):
        assert main(words) == 0
        assert seen.pop()[1] in (other, other / "a.nc")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main(["check"])
    assert "required: STUDY" in capsys.readouterr().err
