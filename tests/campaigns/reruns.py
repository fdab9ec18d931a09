"""Which jobs rerun when one thing changes: every module, setting, table cell, file of a study and library, one by one.

reruns.tsv records it; ``make test-faults`` compares all of it with what the keys of the jobs say now, a test compares a
sample. ``python -m tests.campaigns.reruns --record`` writes it again: read the difference before you commit it. With
``--record --new`` only new modules, settings and columns get a line, in seconds; a test refuses the ``?`` in it, which
stands until all is recorded.

No job runs for the keys; the pipeline is asked for them as the Snakefile asks. One thing at a time is changed on the
disk, in a copy of the checkout or of a study, and a process that has not seen these files before gives the keys of all
jobs. The studies are the demonstration study and one that has everything (``tests/support/studies/full_study.py``).

A key that lacks code would let stale results stand. So a witness knows nothing of keys: each step is run by
``gaitlab run``, and an audit hook of Python in the worker processes notes the files of the checkout that they run or
open. What a job uses although its key is silent about it is in the last column.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.checkout import DEMO, copy_product, copy_study
from tests.support.processes.witness import used_by_jobs
from tests.support.studies.every_change import STUDIES, Change, every_change, version_file
from tests.support.studies.full_study import of_extras, settings_with_extras, write_full_study

TABLE = Path(__file__).with_suffix(".tsv")
COLUMNS = ("kind", "what", "demo", "full", "unseen")
ABOUT = """\
# Which jobs have another key after one thing has changed (python -m tests.campaigns.reruns --record writes this file).
# demo: the demonstration study; full: a study with every table, file and job. A rule stands for all of its jobs, or for
# those named after the colon; + is a job that the study has only after the change, - one that it then has no more.
# all: every job; none: no job; refused: the study is refused; empty: the study does not have this, or nothing.
# Jobs that use the results of those named follow them: rows 'after'.
# unseen: rules whose jobs run, open or import this though a change of it does not change all of their keys; ? if that
# is not known yet.
"""
NOT_WITNESSED = "?"
WITNESSED = ("module", "file", "library")  # kinds
# gives the keys of all jobs of studies, as the Snakefile gets them, or why a study is refused; in a fork if asked to.
# Forks share only how Python parses the texts of its arguments, which takes most of the time of a digest.
ANSWER = """
import ast, functools, gc, json, os, sys
from pathlib import Path
from types import SimpleNamespace
from pipeline.errors import UserError
from pipeline.workflow.open_study import open_once, outputs_of

def keys_of(path):
    try:
        study = open_once(Path(path), {})
    except UserError as error:
        return str(error)
    jobs = dict.fromkeys(outputs_of(study).values())
    wildcards = lambda subject: SimpleNamespace(session=subject, participant=subject) if subject else SimpleNamespace()
    return {f"{rule}:{subject or ''}": study.key(rule)(wildcards(subject)) for rule, subject in jobs}

gc.disable()  # it would copy to each fork what they share
ast.parse = functools.cache(ast.parse)
for path in sys.argv[1:]:
    ast.parse(Path(path).read_text(encoding="utf-8"))
for line in sys.stdin:
    in_a_fork, *paths = json.loads(line)
    if in_a_fork and os.fork():
        if os.wait()[1]:
            sys.exit(1)
        continue
    print(json.dumps([keys_of(path) for path in paths]), flush=True)
    if in_a_fork:
        os._exit(0)
os._exit(0)  # it takes seconds to free what was parsed
"""


class Row(NamedTuple):
    """A line of reruns.tsv."""

    kind: str
    what: str
    demo: str
    full: str
    unseen: str = ""


class Recorder:
    """A folder with copies of the checkout and of two studies, of which one thing at a time changes."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.processes = folder, ExitStack()
        copy_product(folder / "house")
        (folder / "libraries").mkdir()  # OpenSim seems installed, so that its jobs exist on each machine
        (folder / "libraries" / "opensim.py").touch()
        (folder / "libraries" / "opensim-99.egg-info").write_bytes(version_file("opensim", 98))
        for place in (folder, folder / "known"):
            place.mkdir(exist_ok=True)
            copy_study(DEMO, place / "demo")
            write_full_study(place / "full")

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self.processes.close()

    def _start(self, *parsed: Path) -> subprocess.Popen[str]:
        """Return a process that gives the keys of studies, with the code of the copy."""
        paths = os.pathsep.join(str(self.folder / name) for name in ("house", "libraries"))
        environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-P", "-c", ANSWER, *map(str, parsed)]
        process = subprocess.Popen(
            command, env=environment, cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self.processes.enter_context(process)

    @cached_property
    def _empty(self) -> subprocess.Popen[str]:
        """A process that has opened no study: each of its forks reads all code."""
        return self._start(*(self.folder / "house").rglob("*.py"))

    @cached_property
    def _knowing(self) -> subprocess.Popen[str]:
        """A process that knows the code's digests, from other copies of the studies: it needs a tenth of the time."""
        process = self._start()
        keys_from(process, [self.folder / "known" / name for name in STUDIES], in_a_fork=False)
        return process

    def keys(self, *, same_code: bool) -> dict[str, Any]:
        """Return the keys of all jobs by study and job, the reason in place of the keys of a study that is refused."""
        found = keys_from(self._knowing if same_code else self._empty, [self.folder / name for name in STUDIES])
        return dict(zip(STUDIES, found, strict=True))

    @cached_property
    def before(self) -> dict[str, dict[str, str]]:
        """The keys before any change."""
        found = self.keys(same_code=False)
        assert found == self.keys(same_code=True)
        return found

    @cached_property
    def rules(self) -> dict[str, list[str]]:
        """The rules of each study."""
        return {name: [*dict.fromkeys(job.partition(":")[0] for job in self.before[name])] for name in STUDIES}

    def row(self, change: Change) -> Row:
        """Return the line of a change, without what the witness says."""
        studies = {path.partition("/")[0] for path in change.files}
        same_code = studies <= {*STUDIES}
        with self._made(change):
            after = self.keys(same_code=same_code)
        has = studies if same_code else {*STUDIES}
        told = (jobs_in_words(self.before[name], after[name]) if name in has else "" for name in STUDIES)
        return Row(change.kind, change.what, *told)

    @contextmanager
    def _made(self, change: Change) -> Iterator[None]:
        """Make a change and take it back."""
        paths = {self.folder / name: content for name, content in change.files.items()}
        before = {path: path.read_bytes() for path in paths if path.exists()}
        try:
            for path, content in paths.items():
                assert content != before.get(path), path
                path.write_bytes(content)
            yield
        finally:
            for path in paths:
                path.write_bytes(before[path]) if path in before else path.unlink()

    def followers(self) -> list[Row]:
        """Return for each rule the rules whose jobs use its results, or the results of these, as Snakemake has them."""
        after = {name: self._rules_after(name) for name in STUDIES}
        rules = self.rules["full"]
        return [Row("after", rule, *(in_order(after[name].get(rule, ()), rules) for name in STUDIES)) for rule in rules]

    def _rules_after(self, study: str) -> dict[str, set[str]]:
        """Return all rules after each rule of a study."""
        command = [sys.executable, "-m", "snakemake", "--rulegraph", "dot", "--quiet", "all", "--forceall"]
        command += ["--snakefile", str(self.folder / "house/Snakefile"), "--directory", str(self.folder / study)]
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "libraries")}
        run = subprocess.run(command, env=environment, cwd=self.folder, capture_output=True, text=True, check=True)
        names = dict(re.findall(r'(\d+)\[label = "(\w+)"', run.stdout))
        after: dict[str, set[str]] = {rule: set() for rule in self.rules[study]}
        arrows = [(names[one], names[other]) for one, other in re.findall(r"(\d+) -> (\d+)", run.stdout)]
        for _ in after:  # the longest way has fewer arrows than rules
            for one, other in arrows:
                if other in after:
                    after[one] |= {other} | after[other]
        return after

    def witnessed(self, followers: Iterable[Row]) -> dict[str, set[str]]:
        """Return the rules whose jobs use something, by file of the checkout or library."""
        folder, found = self.folder / "witness", dict[str, set[str]]()
        study = write_full_study(folder / "full")
        slow = {rule: output for extra in of_extras() for rule, output in extra.SLOW.items()}
        in_order = sorted(followers, key=lambda row: -len(row.full.split()))  # what comes first has more after it
        jobs = {row.what: ("--until", row.what) for row in in_order if row.what not in slow}
        for rule, options in (jobs | {rule: (output,) for rule, output in slow.items()}).items():
            (study / "study.yaml").write_text(settings_with_extras(slow=rule in slow))
            for name in used_by_jobs(study, options, folder):
                found.setdefault(name, set()).add(rule)
        return found


def keys_from(process: subprocess.Popen[str], studies: Iterable[Path], *, in_a_fork: bool = True) -> list[Any]:
    """Return what :data:`ANSWER` says of studies."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps([in_a_fork, *map(str, studies)]) + "\n")
    process.stdin.flush()
    answer: list[Any] = json.loads(process.stdout.readline())
    return answer


def jobs_in_words(before: Mapping[str, str], after: Mapping[str, str] | str) -> str:
    """Return the jobs whose keys differ, by rule, with those that are new or gone."""
    if isinstance(after, str):
        return "refused"
    changed = {job for job in before.keys() & after.keys() if before[job] != after[job]}
    if len(changed) == len(before) == len(after):
        return "all"
    new, gone = (
        in_rules(some.keys() - others.keys(), some, others) for some, others in ((after, before), (before, after))
    )
    words = [*in_rules(changed, before, before), *(f"+{word}" for word in new), *(f"-{word}" for word in gone)]
    return " ".join(words) or "none"


def in_rules(jobs: Collection[str], every: Iterable[str], others: Iterable[str]) -> list[str]:
    """Return the rules of jobs, in the order of every job, with the subjects unless these are all of the rule's.

    A subject that no other job has is named alone.
    """
    pairs = [job.split(":") for job in every]
    alone = dict.fromkeys(subject for _, subject in pairs if subject not in {job.partition(":")[2] for job in others})
    words = [*alone]
    for rule in dict.fromkeys(rule for rule, _ in pairs):
        subjects = [subject for other, subject in pairs if other == rule]
        some = [subject for subject in subjects if f"{rule}:{subject}" in jobs and subject not in alone]
        if some:
            words.append(rule if some == subjects else f"{rule}:{','.join(some)}")
    return words


def in_order(some: Iterable[str], rules: Sequence[str]) -> str:
    """Return the names of rules in their order, ``all`` for all of them; nothing for none."""
    return "all" if {*rules} <= {*some} else " ".join(rule for rule in rules if rule in {*some})


def read_table(path: Path = TABLE) -> dict[tuple[str, str], Row]:
    """Return the recorded lines by kind and thing."""
    with path.open(encoding="utf-8", newline="") as handle:
        lines = csv.reader((line for line in handle if not line.startswith("#")), delimiter="\t")
        assert tuple(next(lines)) == COLUMNS
        return {(row.kind, row.what): row for row in map(Row._make, lines)}


def write_table(rows: Iterable[Row], path: Path = TABLE) -> None:
    """Write lines."""
    text = "".join("\t".join(row) + "\n" for row in (COLUMNS, *rows))
    path.write_text(ABOUT + text, encoding="utf-8", newline="\n")


def differences(recorded: Mapping[tuple[str, str], Row], found: Iterable[Row]) -> list[str]:
    """Return in words which lines are new, gone or changed, lines of equal jobs side by side to show what has moved."""
    now = {(row.kind, row.what): row for row in found}
    lone = [(row[:1] + row[2:], row.what, "new") for name, row in now.items() if name not in recorded]
    lone += [(row[:1] + row[2:], row.what, "gone") for name, row in recorded.items() if name not in now]
    words = [f"{word}: {' | '.join((kind, what, *jobs))}" for (kind, *jobs), what, word in sorted(lone)]
    for name, row in now.items():
        if name in recorded and recorded[name] != row:
            old, new = (" | ".join(one[2:]) for one in (recorded[name], row))
            words.append(f"changed: {' | '.join(name)}: recorded {old}; now {new}")
    return words


def every_row(recorder: Recorder) -> list[Row]:
    """Return all lines."""
    followers, rules = recorder.followers(), recorder.rules["full"]
    used_by = recorder.witnessed(followers)
    rows = [recorder.row(change) for change in every_change(recorder.folder)]
    return [*(with_unseen(row, used_by, rules) for row in rows), *followers]


def rows_with_new(recorder: Recorder, recorded: Mapping[tuple[str, str], Row]) -> list[Row]:
    """Return the recorded lines of all there is, and lines without a witness for what has none."""
    rows = list[Row]()
    for change in every_change(recorder.folder):
        unseen = NOT_WITNESSED if change.kind in WITNESSED else ""
        known = recorded.get((change.kind, change.what))
        rows.append(known or recorder.row(change)._replace(unseen=unseen))
    return [*rows, *(row for row in recorded.values() if row.kind == "after")]


def with_unseen(row: Row, used_by: Mapping[str, set[str]], rules: Sequence[str]) -> Row:
    """Return a line with the rules whose jobs use the thing though not all of their keys tell it."""
    name = row.what.lower() if row.kind == "library" else row.what.partition(" ")[0]
    return row._replace(
        unseen=in_order(used_by.get(name, set()) - {*(rules if row.full == "all" else row.full.split())}, rules)
    )


def main() -> int:
    """Compare the recorded lines with those of now, or record them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--record", action="store_true", help=f"write {TABLE.name}")
    parser.add_argument("--new", action="store_true", help="find the jobs only of what has no line yet, and run none")
    options = parser.parse_args()
    recorded = read_table() if TABLE.exists() else {}
    with tempfile.TemporaryDirectory() as folder, Recorder(Path(folder)) as recorder:
        rows = rows_with_new(recorder, recorded) if options.new else every_row(recorder)
    words = differences(recorded, rows)
    sys.stdout.writelines(f"{line}\n" for line in [*words, f"{len(rows)} lines, {len(words)} differ"])
    if options.record:
        write_table(rows)
    return 0 if options.record else bool(words)


if __name__ == "__main__":
    sys.exit(main())
