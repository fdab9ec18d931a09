"""The command ``gaitlab``: its help, its examples, and how it starts Snakemake."""

from __future__ import annotations

import errno
import functools
import inspect
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.__main__ import command_line_parser, main, run_command
from pipeline.command_table import Argument, Command, every_command
from pipeline.commands.run import START, run
from pipeline.errors import INTERRUPTED, UserError
from pipeline.workflow.jobs.workers import STOPPED
from tests.support.checkout import DEMO, ctrl_c_arrives

COMMANDS = every_command()
WITH_OPTIONS = ("run", "recover")


def help_of(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return the text that a command prints with ``--help``."""
    with pytest.raises(SystemExit) as ended:
        main([*words, "--help"])
    assert ended.value.code == 0
    return capsys.readouterr().out


def examples_in(text: str) -> list[list[str]]:
    """Return the examples of a help text, each as the words after ``gaitlab``."""
    lines = text.partition("xamples:\n")[2].splitlines()
    shown = [line.strip().partition("  ")[0] for line in lines if line.startswith("  gaitlab ")]
    return [shlex.split(part)[1:] for line in shown for part in line.split(" && ")]


def run_instead(monkeypatch: pytest.MonkeyPatch, function: Callable[..., str]) -> None:
    """Let every command call a function with its declaration in front of what its own function takes."""
    monkeypatch.setattr(Command, "load", lambda command: functools.partial(function, command))


def test_help_lists_every_command_in_one_line_of_its_group_and_fits_a_screen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = help_of(capsys)
    assert len(text.splitlines()) <= 40
    assert max(map(len, text.splitlines())) <= 80
    groups = dict(re.findall(r"^(.+):\n((?:  .+\n)+)", text, re.MULTILINE))
    assert [*groups] == [*dict.fromkeys(command.group for command in COMMANDS), "Examples"]
    for group, lines in groups.items():
        listed = re.findall(r"^  (\S+(?: --\S+)?)  ", lines, re.MULTILINE)
        assert group == "Examples" or listed == [command.name for command in COMMANDS if command.group == group]
    assert [example[0] for example in examples_in(text)] == ["demo", "run", "check", "run", "run", "run"]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_function_of_a_command_takes_its_path_and_arguments(command: Command) -> None:
    given = dict.fromkeys((one.parameter for one in command.every_argument), None)
    inspect.signature(command.load()).bind(Path(), **given)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_examples_of_a_command_are_valid(
    command: Command, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_instead(monkeypatch, lambda command, *_, **__: command.name)
    led_to = []
    for words in examples_in(help_of(capsys, command.name.split()[0])):
        assert main(words) == 0
        led_to.append(capsys.readouterr().out.strip())
        assert led_to[-1].split()[0] == words[0]
    assert led_to.count(command.name) == len(command.examples) > 0


def join_parts(path: Path, *, most: int) -> str:
    return " ".join(path.parts[:most])


def test_a_declaration_adds_a_command_or_another_form_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    """Its function is in another package; options of the form are refused without the form."""
    function, arguments = f"{__name__}:join_parts", (Argument("--most", type=int, default=3),)
    added = [
        Command("parts", "Teaching", "print the parts of a path", function, arguments, place="FILE"),
        Command("verify --parts", "Teaching", "print the parts of a path", function, arguments),
    ]
    parser = command_line_parser([*COMMANDS, *added])
    assert re.search(r"^Teaching:\n  parts +print the.*\n  verify --parts +print", parser.format_help(), re.MULTILINE)
    for words in ("parts a/b/c/d --most 2", "verify a/b/c/d --parts --most 2"):
        assert run_command(parser.parse_args(words.split())) == ("a b", 0)
    assert run_command(parser.parse_args(["verify", "a/b/c/d", "--parts"])) == ("a b c", 0)
    with pytest.raises(UserError, match=r"--most: is an option of --parts; add --parts"):
        run_command(parser.parse_args(["verify", "a/b/c", "--most", "1"]))
    with pytest.raises(SystemExit):
        parser.parse_args(["verify", "--help"])
    assert ". With --parts, print the parts of a path.\n" in capsys.readouterr().out


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
    def refused(*_: object, **__: object) -> str:
        raise OSError(fault, os.strerror(fault), "my_study/derived")

    run_instead(monkeypatch, refused)
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
    def stopped(*_: object, **__: object) -> str:
        raise KeyboardInterrupt

    run_instead(monkeypatch, stopped)
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

    def note(command: Command, path: Path, **_: object) -> str:
        seen.append((command.name, path))
        return ""

    run_instead(monkeypatch, note)
    other, study = tmp_path / "other", tmp_path / "study"
    for folder in (other, study):
        folder.mkdir()
        (folder / "study.yaml").touch()
    monkeypatch.chdir(study)
    for words in (
        *(["check"], ["corrections"], ["verify", "--json"]),
        *(["run", "--dry-run", "--cores", "2"], ["show", "--trial", "fast"], ["norm", "--out", "norm.tsv"]),
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
