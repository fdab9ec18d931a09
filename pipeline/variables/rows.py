"""The rows of the tables of variables and metrics."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

Kind = Literal["size", "signed", "phase"]
# groups of metrics in tables
TIMES, PEAKS, RANGES, IMPULSES = "Times and distances", "Peaks", "Ranges of motion", "Impulses"
WORK, TIMES_OF_PEAKS, BY_SIZE = "Work by phase of power", "Times of the peaks", "Normalised by body size"
WORK_OF_FOOT = "Work of the foot in stance"
GAIT_SCORES = "Gait scores"
MUSCLE_PAIRS = "Co-contraction"
TRUNK_AND_BALANCE = "Trunk, arms and balance"
# what files hold of verdicts, of :mod:`.stance_verdicts`: words, codes, values
REASON = ("reason", "reason_code", "reason_values")
DOUBT = ("doubt", "doubt_code", "doubt_values")
AS_JSON = "JSON: code and values of each"
NO_ENDS = "NaN near an end of what is seen, see uncertain_end_s"


class Variable(NamedTuple):
    """Dimensions, CF units, long name (with frame and sign) and type on disk of a variable.

    Types: ``f8``, ``f4`` where a file's source has no more digits or nothing is differentiated or summed from it again,
    ``i1``, ``i4`` for counts, ``U`` for text.
    """

    dims: tuple[str, ...]
    units: str
    long_name: str
    dtype: str = "f8"
    optional: bool = False  # whether a file may lack it
    of_kinetics: bool = False  # whether it needs the ground force; for the result of a step that joins cycles.nc


def optional(variables: Mapping[str, Variable]) -> dict[str, Variable]:
    """Return variables that a file may lack."""
    return {name: variable._replace(optional=True) for name, variable in variables.items()}


class Window(NamedTuple):
    """A part of the gait cycle: its name, start and end.

    Start and end are 0 at foot strike, 1 at foot off and 2 at the next foot strike, so that they scale with stance and
    swing. Above 2, a window goes on at the start of the cycle.
    """

    name: str
    start: float
    end: float

    @property
    def words(self) -> str:
        """Return the name and the limits in words: ``early stance, 8 to 50 % of stance``."""
        if self in WHOLE:
            return self.name
        start, end = _instant(self.start), _instant(self.end)
        of = start.partition(" % ")[2]
        return f"{self.name}, {start.removesuffix(f' % {of}') if of and end.endswith(of) else start} to {end}"


def _instant(at: float) -> str:
    """Return an instant of the gait cycle in words."""
    if at == int(at):
        return "foot off" if at == 1 else "foot strike"
    return f"{100 * (at % 1):.0f} % of {'stance' if at < 1 else 'swing' if at < 2 else 'the next stance'}"


WHOLE = CYCLE, STANCE, SWING = Window("gait cycle", 0, 2), Window("stance", 0, 1), Window("swing", 1, 2)


class Part(NamedTuple):
    """One sign of a row of a curve of cycles.nc."""

    curve: str  # its name
    row: tuple[int, ...]  # the indices before the phase: joint and angle, joint, or axis
    sign: int = 1  # 1 for the positive values, -1 for the negative ones
    as_stored: bool = False  # whether a peak has the sign of the curve, else it is positive


class Metric(NamedTuple):
    """A metric of a gait cycle or stance."""

    units: str  # CF units
    long_name: str  # meaning
    # ``size``, of one sign, so that an index of symmetry has a meaning; ``signed``, may cross zero; ``phase``, percent
    # of the gait cycle, where 0 and 100 are the same
    kind: Kind = "size"
    window: Window = CYCLE  # part of the gait cycle that the metric is of; a peak is looked for in it alone
    positive: str = ""  # what a positive value means; empty where nothing else is possible
    source: str = ""  # author and year of the definition, or of its use; empty if there is none
    aliases: tuple[str, ...] = ()  # other names, in the literature and in other software
    group: str = TIMES  # the table of the report that it is in
    main: int = 0  # place among the numbers that clinics read first; 0 if it is not one of them
    compared: int = 0  # place in the table of symmetry of all participants; 0 if it is not there
    part: Part | None = None  # what a peak, range, impulse or work is computed from
    of_kinetics: bool = False  # whether it needs the ground force; for one of a step that joins cycles.nc

    @property
    def variable(self) -> Variable:
        """Return the variable of study.nc."""
        return Variable(("cycle",), self.units, self.long_name, of_kinetics=self.of_kinetics)
