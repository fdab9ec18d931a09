"""What a step is: each room in ``pipeline/steps/`` declares its own in ``declaration.py``, as a :class:`Step`.

Extras declare further ones (:mod:`pipeline.extra`).

From that follow the key of a job, what is loaded of its inputs, the check of its outputs, the time and memory that it
asks for, and the lists of steps. A new step is a room with a declaration, and its rule in the Snakefile.

Declarations are data: this module and they import the standard library alone, as each command and each process that
plans or runs jobs reads them all. What they name, ``"package.module:name"``, is imported when it is used.
"""

import functools
import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Any, Literal

from .errors import UserError
from .extra import every_extra, load_declared
from .reference import Reference, resolve

EVERYTHING = None  # of an input that is loaded whole


@dataclass(frozen=True, kw_only=True)
class Output:
    """One output of a rule.

    Attributes:
        files: below ``derived``, with ``{session}`` or ``{participant}``; of a table the CSV file and its dictionary.
        title: of the NetCDF file.
        variables: of the NetCDF file, by name: a mapping to :class:`pipeline.variables.rows.Variable`.
        coordinates: of the file and of no other, by name: a mapping to units and meaning.
        made_by: the function that makes it of the step's result and inputs; empty if the step's function does.
    """

    files: tuple[str, ...]
    title: str = ""
    variables: Reference = ""
    coordinates: Reference = ""
    made_by: Reference = ""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step: a rule of the Snakefile, a function, and a section of the settings, all of one name.

    Attributes:
        scope: what a job is of.
        function: gets what is loaded of ``inputs``, in this order, and by name ``settings`` and what ``cells`` gives
            as ``arguments``.
        settings: the dataclass of the settings that the function gets; a ``Section`` beside it has those of the whole
            section, where the workflow takes some itself.
        section: of the settings; empty if it is named as the step.
        inputs: by the rule's name of each, the variables that are loaded of it, or a reference to them.
        outputs: by the rule's name; the first one is what the function returns.
        takes: ``recordings``: the function gets the trials of the session instead of inputs; ``body_model``;
            ``corrections``: rows of corrections.tsv of the kinds that name the step, in ``by_trial``; ``folder``: an
            empty one, for another program's files; ``additions``: what steps of the study add to the report's pages.
        cells: of a :class:`pipeline.workflow.job_keys.Study` and a session, participant or None, gives what a job's key
            holds besides: cells of the study's tables, digests of other files (``files``, which the job checks).
        libraries: a new version of one reruns the step's jobs, as one of those that write NetCDF does.
        preloads: large modules of libraries that its jobs import. Workers are copies of a process that has imported
            those of all steps with jobs.
        only_if: of a study, whether it has the step; empty if every study has it.
        problems: of a study, the problems of its settings that need more than their own bounds.
        joins: the result along ``cycle`` is joined to cycles.nc for the study and the pages; it rejects no session.
        added_to: of a study, a rule and the session, participant or None that its job is of, further inputs of this
            job, which is one of ``report`` or ``page``: files by name, relative to the study.
        report: what it adds to the pages of a study that has it, a :class:`pipeline.steps.report.addition.Addition`;
            the templates (``.html``) beside it are its own.
        methods: of its settings in study.nc, sentences without full stops for ``gaitlab methods`` and the overview.
        metrics: numbers of a cycle that it adds to metrics.csv: a mapping to :class:`pipeline.variables.rows.Metric`.
        job: loads the inputs, calls the function and saves the outputs.
        refuses: a UserError rejects the session; else it fails the job, as in all steps without results as inputs.
        extra_mb, times_as_long: memory and time that a job needs beyond that of other steps; its rule asks for them.
        ends_its_worker: its library keeps memory until its process ends.
    """

    name: str
    scope: Literal["session", "study", "participant"] = "session"
    function: Reference
    settings: Reference
    section: str = ""
    inputs: Mapping[str, tuple[str, ...] | Reference | None] = field(default_factory=dict)
    outputs: Mapping[str, Output]
    takes: tuple[Literal["recordings", "body_model", "corrections", "folder", "additions"], ...] = ()
    cells: Reference = ""
    libraries: tuple[str, ...] = ("numpy",)
    preloads: tuple[str, ...] = ()
    only_if: Reference = ""
    problems: Reference = ""
    joins: bool = False
    added_to: Reference = ""
    report: Reference = ""
    methods: Reference = ""
    metrics: Reference = ""
    job: Reference = "pipeline.workflow.jobs.session_job:run"
    refuses: bool = True
    extra_mb: int = 0
    times_as_long: int = 1
    ends_its_worker: bool = False

    @property
    def files(self) -> list[str]:
        """Return the files of all outputs, as of :class:`Output`."""
        return [file for output in self.outputs.values() for file in output.files]

    @property
    def modules(self) -> tuple[str, ...]:
        """Return the modules that a job calls; with their imports they are its code."""
        named = [self.function, self.job, *(one.made_by for one in self.outputs.values())]
        named += [one for one in self.inputs.values() if isinstance(one, str)]
        return _modules([*named, "pipeline.body.body_model:BodyModel" if "body_model" in self.takes else ""])

    @property
    def content(self) -> tuple[Any, ...]:
        """Return what a job takes from the declaration, for its key."""
        of_job = (self.name, self.function, self.job, self.settings, self.section, self.takes, self.refuses, self.joins)
        return *of_job, self.metrics, tuple(self.inputs.items()), tuple(self.outputs.items())

    @property
    def tables(self) -> tuple[str, ...]:
        """Return the modules with the step's tables of variables and metrics."""
        tables = [name for one in self.outputs.values() for name in (one.variables, one.coordinates)]
        return _modules([self.metrics, *tables])

    @property
    def modules_of_pages(self) -> tuple[str, ...]:
        """Return the modules with what the step adds to the pages of the report."""
        return _modules([self.report, self.methods])

    def loaded(self, name: str) -> tuple[str, ...] | None:
        """Return the variables that are loaded of an input, None for all."""
        names = self.inputs.get(name)
        return resolve(names) if isinstance(names, str) else names


def _modules(references: Iterable[Reference]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.partition(":")[0] for one in references if one))


@functools.cache
def every_step() -> Mapping[str, Step]:
    """Return all steps by name, each after the steps that make its inputs.

    Raises:
        UserError: an extra declares a step or an output of another's name, or a step that cannot be imported.
    """
    found, made_by = dict[str, Step](), dict[str, str]()
    declared = [(step, "pipeline/steps") for step in steps_of_rooms()]
    for extra in every_extra().values():
        declared += [(step, f"extra '{extra.name}'") for step in load_declared(extra, extra.steps)]
    for step, where in declared:
        if twice := {step.name} & found.keys() | step.outputs.keys() & made_by.keys():
            what = f"declares a second step or output '{', '.join(sorted(twice))}'"
            raise UserError(where, what, "name it otherwise, or uninstall or delete one of both")
        found[step.name] = step
        made_by |= dict.fromkeys(step.outputs, step.name)
    before = {name: {made_by[one] for one in step.inputs if one in made_by} for name, step in found.items()}
    order = TopologicalSorter(before)
    order.prepare()
    names: list[str] = []
    while order.is_active():
        ready = sorted(order.get_ready())
        names += ready
        order.done(*ready)
    return {name: found[name] for name in names}


def steps_of_rooms() -> Iterator[Step]:
    """Yield each step that the rooms in ``pipeline/steps/`` declare, but none of extras."""
    rooms = importlib.import_module(".steps", __package__)
    for room in pkgutil.iter_modules(rooms.__path__):
        declaration = importlib.import_module(f"{rooms.__name__}.{room.name}.declaration")
        yield from (one for one in vars(declaration).values() if isinstance(one, Step))


def steps_to(name: str) -> tuple[str, ...]:
    """Return a step with all that come before it, in their order."""
    needed, steps = {name}, every_step()
    for one in reversed([*steps]):
        if needed & {one, *steps[one].outputs}:
            needed |= {one, *steps[one].inputs}
    return tuple(one for one in steps if one in needed)
