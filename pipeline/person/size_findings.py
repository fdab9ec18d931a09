"""Sizes of a participant that are estimates, or that recordings contradict; for ``check`` and for each run.

Sizes that are missing are found elsewhere: they lose the session.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np

from ..conventions import SIDES, STANDARD_GRAVITY_M_S2
from ..errors import ERROR, WARNING, Problem, UserError, warning
from ..tables import study_tables, tsv
from .shown_sizes import ShownSizes

TABLES_BY_SEX = ("de_leva", "dumas")
ESTIMATE = "estimate"  # start of the cells mass_source, width_source and leg_length_source for what init has estimated
POUNDS_PER_KG = 2.2046
# Measured on 14 sessions: plates under a static show the stated mass within 4 %, a walk within 6 %. Beyond 7 % the
# momentum of the walks doubts all stances: 2.8 standard deviations of clothes, shoes and the day (2 %) and of plates in
# use (1.5 %); 10 % with the mean force of two steps (2.5 %); without those of the mass, plates under a static trial and
# under steps differ by 2.8 times 2.9 % (1.5 and 2.5 %), 8 %. A mass in a file may have been asked, not measured.
STANDING_MASS_ERROR, WALKING_MASS_ERROR, PLATES_APART, STATED_MASS_ERROR = 0.07, 0.10, 0.08, 0.10
# A mass beyond these is wrong, whatever the plates err. Standard deviations: gain of plates in use 1.5 % (four plates
# err by .7 % even after calibration: Cappello A et al. 2011, Gait Posture 33:724-726), offset and drift of 10 N 1.5 %,
# clothes, shoes and the day 2 %, together 3 %; the mean force of two steps of a walk 2.5 % more. Four of them. An asked
# mass may be further off (1.5 kg too low, standard deviation 4.3 kg: Koebnick C et al. 2020, Int J Environ Res Public
# Health 17:8203); then the mass is wrong, not the plates.
WRONG_IN_STANDING, WRONG_IN_WALKING = 0.12, 0.15
# Where no plate decides, a mass of another visit or person: four of the standard deviations of an asked mass, of 70 kg.
WRONG_IN_FILES = 0.25
MASS_WRONG = "mass_unlike_recordings"  # code of a finding, an error if the mass is wrong and a warning if it may be
# The files of a session state one measurement. Measured again, lengths differ by some 3 %, and a mass by the clothes.
DIFFERING_SIZES = 0.05
# Standing, 12 people of 1.45 to 1.83 m: heel to ASIS is 0.54 to 0.60 of the height, 1.03 to 1.13 leg lengths.
LEGS_M = (0.2, 1.5)  # from heel to ASIS, from infants to the tallest; other lengths are in a wrong unit
LEG_PER_HEIGHT, LEG_PER_LEG_LENGTH = (0.46, 0.70), (0.88, 1.30)
# The shank tapers from the condyles of the tibia, which bear the femur's, to the malleoli: nobody's ankle is as wide as
# the knee. In people of the examples, children among them, the knee is at least 1.34 times as wide.
LEAST_KNEE_PER_ANKLE = 1.0
# Of adults, 98 of 100 women and nearly all men are taller, and half of the girls at 12 (Kuczmarski RJ et al. 2002, CDC
# growth charts for the United States: at 20 years 163.3 cm, SD 6.5, and 176.8 cm, SD 7.1).
ADULT_AGE_YEARS, ADULT_HEIGHT_M = 18, 1.5


class SessionSizes(NamedTuple):
    """Sizes of a person that the recordings of a session state or show."""

    stated: Mapping[str, float]  # sizes in its C3D files, kg and m, by column of participants.tsv
    standing_weight_n: float  # vertical force on the plates under the static trial, or NaN
    walking_weights_n: Sequence[float]  # estimates of body weight from the steps of its walks
    standing_leg_m: float  # from heel to ASIS in a static trial in which the person stands, or NaN

    @classmethod
    def of(cls, stated: Mapping[str, float], static: ShownSizes, walks: Iterable[ShownSizes]) -> Self:
        """Return the sizes of a session from those of its static trial and its walks."""
        weights_n = [weight_n for walk in walks for weight_n in walk.walking_weights_n]
        return cls(stated, static.standing_weight_n, weights_n, static.standing_leg_m)

    @property
    def standing_kg(self) -> float:
        """Return the mass that the plates show under the static trial, or NaN."""
        return self.standing_weight_n / STANDARD_GRAVITY_M_S2 if self.standing_weight_n > 0 else np.nan

    @property
    def walking_kg(self) -> float:
        """Return the mass that they show under the steps of the walks, or NaN."""
        return float(np.median(self.walking_weights_n or [np.nan])) / STANDARD_GRAVITY_M_S2

    @property
    def plates_differ(self) -> bool:
        """Return whether plates show another mass in the static trial than in steps; then that of the steps counts."""
        return bool(abs(np.log(self.standing_kg / self.walking_kg)) > PLATES_APART)

    def masses(self) -> list[tuple[str, float, float, float]]:
        """Return who shows which body mass, kg, by which share another one is unlikely, and by which it is wrong.

        The first is the one that counts. The others have no limits where plates under the static trial show a mass. A
        stated mass shows that another one is wrong only where no plate does, as either may be.
        """
        standing = "the plates under the static trial show", self.standing_kg, STANDING_MASS_ERROR, WRONG_IN_STANDING
        walking = "steps on the plates show about", self.walking_kg, WALKING_MASS_ERROR, WRONG_IN_WALKING
        wrong = np.inf if len(self.walking_weights_n) else WRONG_IN_FILES
        stated = "the C3D files state", self.stated.get("mass_kg", np.nan), STATED_MASS_ERROR, wrong
        order = [standing, stated, walking]
        if self.plates_differ:
            order = [walking, (*standing[:2], np.inf, np.inf), (*stated[:2], np.inf, np.inf)]
        elif self.standing_kg > 0:
            order = [standing, *((*other[:2], np.inf, np.inf) for other in (walking, stated))]
        return [one for one in order if one[1] > 0]


def check_sizes(
    row: Mapping[str, str], shown: SessionSizes, *, segment_table: str, mass_needed: bool = True
) -> Iterator[Problem]:
    """Find estimated and implausible sizes of a person; a cell of ``row`` that is no number counts as empty.

    Args:
        mass_needed: whether ``run`` rejects the session without a body mass, as it does if there is a static trial.
    """
    person, cells = row.get("participant_id", ""), sizes_in_table(row)
    sizes = {**shown.stated, **cells}
    if segment_table in TABLES_BY_SEX and row.get("sex") not in ("M", "F"):
        what = f"no sex, which the table {segment_table} needs"
        yield warning(person, what, "give M or F; otherwise the mean of both is used", "sex_missing")
    yield from _estimates(person, row, cells)
    low, high = study_tables.SIZE_RANGES["height_m"]
    if "height_m" not in cells and not low <= shown.stated.get("height_m", 1.0) <= high:
        what = f"the C3D files state a height of {shown.stated['height_m']:g} m"
        yield warning(person, what, "give height_m in participants.tsv", "height_of_files_unlikely")
    yield from _unlike_the_markers(person, sizes, shown.standing_leg_m)
    for side in SIDES:
        knee_m, ankle_m = (sizes.get(f"{joint}_width_{side}_m", np.nan) for joint in ("knee", "ankle"))
        if knee_m < LEAST_KNEE_PER_ANKLE * ankle_m:
            what = f"the {side} knee is {1000 * knee_m:.0f} mm wide, the ankle {1000 * ankle_m:.0f} mm"
            remedy = f"exchange knee_width_{side}_m and ankle_width_{side}_m, or measure without orthosis or shoe"
            yield warning(person, what, remedy, "joint_widths_exchanged")
    yield from _mass(person, sizes, shown, ERROR if mass_needed else WARNING)


def find_differing_sizes(row: Mapping[str, str], files: Mapping[str, Mapping[str, float]]) -> Iterator[Problem]:
    """Find a size that the files of a session state differently, and the table not: one may be another person's.

    Args:
        row: of the person in participants.tsv.
        files: the sizes, kg and m, that each file states, the static trial first.
    """
    given = sizes_in_table(row)
    seen = (name for sizes in files.values() for name, size in sizes.items() if name not in given and size > 0)
    for name in dict.fromkeys(seen):
        stated = {file: sizes[name] for file, sizes in files.items() if sizes.get(name, 0) > 0}
        first, *others = stated
        other = max(others, key=lambda file: abs(np.log(stated[file] / stated[first])), default=first)
        if abs(np.log(stated[other] / stated[first])) > DIFFERING_SIZES:
            what = f"{first} states {name} {stated[first]:.4g}, {other} {stated[other]:.4g}"
            remedy = f"are both files of this person? If so, give {name} in participants.tsv"
            yield warning(row.get("participant_id", ""), what, remedy, "sizes_differ_between_files")
            return


def sizes_in_table(row: Mapping[str, str]) -> dict[str, float]:
    """Return the sizes in a row of participants.tsv; a cell that is not a number counts as empty."""
    sizes = {}
    for column in ("mass_kg", "height_m", *study_tables.ANTHROPOMETRY):
        try:
            value = tsv.number(row, column, where="")
        except UserError:
            continue
        if value:
            sizes[column] = value
    return sizes


def _estimates(person: str, row: Mapping[str, str], cells: Mapping[str, float]) -> Iterator[Problem]:
    """Find sizes that ``init`` has estimated."""
    measures = {
        "mass_source": ("mass_kg", "mass_kg is", "weigh the person or ask"),
        "width_source": ("_width_", "joint widths are", "measure knees and ankles"),
        "leg_length_source": ("leg_length_", "leg lengths are", "measure ASIS to medial malleolus"),
    }
    for column, (part, what, remedy) in measures.items():
        if row.get(column, "").startswith(ESTIMATE) and any(part in name for name in cells):
            yield warning(
                person, f"{what} an {row[column]}", f"{remedy}, then clear the cell {column}", "size_estimated"
            )


def _unlike_the_markers(person: str, sizes: Mapping[str, float], leg_m: float) -> Iterator[Problem]:
    """Find a height or leg length that contradicts heel and ASIS in the static, unless these are in a wrong unit."""
    ranges = {"height_m": LEG_PER_HEIGHT, **{f"leg_length_{side}_m": LEG_PER_LEG_LENGTH for side in SIDES}}
    for column, (low, high) in ranges.items() if LEGS_M[0] <= leg_m <= LEGS_M[1] else ():
        if column in sizes and (leg_m / sizes[column] < low or leg_m / sizes[column] > high):
            what = f"{column} is {sizes[column]:g}, but heel and ASIS of the static trial are {leg_m:.2f} m apart"
            remedy = f"expected {leg_m / high:.2f} to {leg_m / low:.2f}; correct it"
            yield warning(person, what, remedy, "size_unlike_markers")


def _mass(person: str, sizes: Mapping[str, float], shown: SessionSizes, severity_of_none: str) -> Iterator[Problem]:
    """Find a body mass that is missing or contradicted by plates or files."""
    masses = shown.masses()
    if "mass_kg" not in sizes:
        hint = f": {masses[0][0]} {masses[0][1]:.0f} kg" if masses else ""
        what = "no body mass, neither in participants.tsv nor in the C3D files"
        yield Problem(person, what, f"give mass_kg{hint}", "mass_missing", severity_of_none)
        return
    mass_kg, found = sizes["mass_kg"], []
    for source, other_kg, unlikely, wrong in masses:
        ratio = mass_kg / other_kg
        if abs(ratio - 1) > unlikely:
            pounds = abs(ratio / POUNDS_PER_KG - 1) <= unlikely
            remedy = f"weigh the person; {other_kg:.1f} would agree"
            low, high = study_tables.SIZE_RANGES["mass_kg"]
            if not low <= other_kg <= high:
                remedy = "no person has that mass: correct unit, gain or calibration of the plates, and export again"
            remedy = f"pounds? {mass_kg / POUNDS_PER_KG:.4g} kg" if pounds else remedy
            what = f"mass_kg is {mass_kg:g}, but {source} {other_kg:.1f}"
            beside = [f"{who} {kg:.1f}" for who, kg, *_ in masses if who != source]
            what += f" ({', '.join(beside)})" if beside else ""
            severity = ERROR if pounds or abs(ratio - 1) > wrong else WARNING
            found.append(Problem(person, what, remedy, MASS_WRONG, severity))
    yield from sorted(found, key=lambda one: one.severity != ERROR)[:1]
    if shown.plates_differ and not found:
        what = (
            f"the plates show {shown.standing_kg:.1f} kg under the static trial, about {shown.walking_kg:.1f} in steps"
        )
        remedy = f"mass_kg is {mass_kg:g}, as the steps show; was a foot beside the plates in the static trial?"
        yield warning(person, what, remedy, "plates_show_two_masses")
