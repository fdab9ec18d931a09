"""Corrupted twins of real and generated recordings: what finds each fault, and what it does to moments that stay used.

``python -m tests.campaigns corrupted_twins`` prints the tables. A twin is a session with one fault of one dose
(:mod:`tests.support.faults.twin_rows`). Each stance that the clean session uses and the fault touches is *refused*,
*doubted*, or used; a used one is *harmless* if its joint moments differ by less than :data:`HARMLESS_N_M_KG` (root mean
square over the stance, worst joint and component), else *missed*.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.arrays import Flags
from pipeline.conventions import ANGLES, JOINTS, SIDES
from pipeline.errors import UserError
from pipeline.json_text import from_text
from pipeline.steps.read.recording_file import Source, read_recording
from pipeline.tables import study_tables
from pipeline.workflow import settings
from pipeline.workflow.strict_yaml import read_yaml
from tests.campaigns.labs import set_up
from tests.campaigns.runner import Report, in_parallel
from tests.campaigns.soft_tissue import write_study
from tests.support.checkout import SHARED
from tests.support.drawn.sessions import WAYS, Sound, sound_session
from tests.support.drawn.spoiled import UNNOTICED
from tests.support.faults.twin_rows import faults
from tests.support.faults.twins import Contact, Fault, Session, Twin
from tests.support.settings import DEFAULTS
from tests.support.studies.run_steps import run_session
from tests.support.walks.moving_sessions import EVERY_WAY, whole_session

Array = NDArray[np.float64]

HARMLESS_N_M_KG = 0.05
ENOUGH = 0.95  # of each row found or harmless
REFUSED, DOUBTED, HARMLESS, MISSED = "refused", "doubted", "harmless", "missed"
# sessions of five labs, children and adults, Plug-in Gait with and without a knee device, and clusters
REAL = {
    "plug_in_gait": ("sub-01_1", "sub-02", "sub-03", "sub-04"),
    "children": ("HC032A", "HC040A"),
    "kad_sydney": (),
    "functional": (),
    "gait2354": (),
}
SHORT = {"labs": (), "generated": 2, "rows": ("all markers frozen", "gain of all plates")}
NAMES = [[f"{joint} {angle}" for angle in ANGLES] for joint in JOINTS]


class Outcome(NamedTuple):
    """What became of a stance in a twin.

    Attributes:
        fault: the row and the dose.
        where: session, file, side and plates.
        kind: one of ``REFUSED``, ``DOUBTED``, ``HARMLESS``, ``MISSED``.
        codes: of the refusal or the doubts.
        harm: RMS of the worst moment's difference, N m/kg; NaN if refused.
        most: its largest difference.
        moment: the worst moment.
        findings: the session has more findings on the person's sizes and legs than the clean one.
        error, clean_error: RMS of this moment against what is exactly true, with and without the fault; NaN if unknown.
    """

    fault: tuple[str, str]
    where: str
    kind: str
    codes: tuple[str, ...]
    harm: float
    most: float
    moment: str
    findings: bool
    error: float = np.nan
    clean_error: float = np.nan

    @property
    def real(self) -> bool:
        return not self.where.startswith(("generated", "drawn"))


# --- sessions ----------------------------------------------------------------------------------------------------


def sessions_in(study: Path, name: str) -> Iterator[Session]:
    """Yield the sessions of a study with their files read."""
    own = read_yaml(study / "study.yaml")
    chosen, model = settings.load_settings(own, where="study.yaml", study_path=study)
    people = study_tables.read_participants(study / "participants.tsv")
    segments = study_tables.read_segments(study / "segments.tsv", people)
    for session, rows in study_tables.read_trials(study / "trials.tsv", people).items():
        who = rows[0]["participant_id"]
        recordings = {}
        for row in rows:
            person: Any = study_tables.person_of(row, people)
            recordings[row["file"]] = read_recording(Source(study / row["file"], **person))
        yield Session(f"{name} {session}", rows, recordings, people[who], segments.get(who, []), model, chosen)


def real_sessions(shared: Path, labs: Mapping[str, Sequence[str]] = REAL) -> list[Session]:
    """Return the sessions of labs, set up as a user does, or only those of some names."""
    result = []
    for lab, names in labs.items():
        with tempfile.TemporaryDirectory() as folder:
            set_up(shared, lab, Path(folder))
            every = [*sessions_in(Path(folder), lab)]
        result += [one for one in every if not names or one.name.split()[-1] in names]
    return result


def generated_session(seed: int) -> Session:
    """Return a generated session: straight over three plates, and with odd seeds in every way of moving."""
    if seed % 2:
        return whole_session(EVERY_WAY[seed // 2 % len(EVERY_WAY)], seed, DEFAULTS).session
    with tempfile.TemporaryDirectory() as folder:
        write_study(Path(folder), seed)
        (session,) = sessions_in(Path(folder), f"generated straight {seed}")
    return session._replace(segments=())


def drawn_sessions(count: int, first_seed: int = 0) -> list[Sound]:
    """Return drawn sessions, ordinary walks and the other ways of moving in turn."""
    ways = [name for name in WAYS if name != "ordinary"]
    return [
        sound_session(first_seed + number, way="ordinary" if number % 2 == 0 else ways[number // 2 % len(ways)])
        for number in range(count)
    ]


# --- a session's stances -------------------------------------------------------------------------------------------


class Judged(NamedTuple):
    """The stances of a session with their verdicts, and its moments.

    Attributes:
        contacts: stances on plates.
        codes: of the refusal of each, and of its doubts.
        moments: by file (frame, side, joint, component), N m/kg.
        loaded: by file (frame, side) whether a foot has a force, which filters let begin before its stance.
        findings: number of findings on the person's sizes and legs.
    """

    contacts: list[Contact]
    codes: list[tuple[str, tuple[str, ...]]]
    moments: dict[str, Array]
    loaded: dict[str, Flags]
    findings: int

    @property
    def used(self) -> list[Contact]:
        return [c for c, (code, doubts) in zip(self.contacts, self.codes, strict=True) if not code and not doubts]


def judged(session: Session) -> Judged | str:
    """Return the verdicts of all steps on a session, or the code of the reason why it cannot be computed."""
    try:
        steps = run_session(
            session.rows, session.recordings, session.participant, session.model, session.chosen, session.segments
        )
    except UserError as error:
        return error.problems[0].code or "session_rejected"
    cut, solved, ground = steps["cycles"], steps["kinetics"], steps["contacts"]
    if "sample_trial" not in solved.variables:  # all walks are rejected
        return text_of(cut, "rejected_code")[0]
    names = cut.trial.values.tolist()
    files = {row["trial"]: row["file"] for row in session.rows}
    moments, times, loaded = {}, {}, {}
    mass_kg = float(steps["calibrate"].attrs["body_mass_kg"])
    for number, trial in enumerate(names):
        inside = solved.sample_trial.values == [*solved.trial.values].index(trial)
        times[number] = solved.time.values[inside]
        standing = ground.sample_trial.values == [*ground.trial.values].index(trial)  # kinetics lack rejected walks
        loaded[files[trial]] = (ground.ground_force.values[standing] != 0).any(axis=2)
        moments[files[trial]] = solved.joint_moment_jcs.values[inside] / mass_kg
    contacts, codes = [], []
    doubts = text_of(cut, "stance_doubt_code")
    for i, number in enumerate(cut.stance_trial.values.tolist()):
        plates = tuple(map(int, str(cut.stance_plates.values[i]).split()))
        first, last = np.searchsorted(times[number], [cut.stance_start.values[i], cut.stance_end.values[i]])
        contacts.append(Contact(files[names[number]], str(cut.stance_side.values[i]), plates, int(first), int(last)))
        codes.append((str(cut.stance_code.values[i]), tuple(doubts[i].split())))
    for trial, code in zip(names, text_of(cut, "rejected_code"), strict=True):
        if code:
            moments.pop(files[trial], None)
            codes.append((code, ()))
            contacts.append(Contact(files[trial], "", (), 0, 0))
    return Judged(contacts, codes, moments, loaded, len(from_text(steps["calibrate"].attrs["findings"])))


def text_of(data: xr.Dataset, name: str) -> list[str]:
    """Return the texts of a variable, empty ones if the dataset lacks it."""
    if name in data.variables:
        return [str(text) for text in data.variables[name].values]
    return [""] * (data.sizes.get("stance", 0) if name.startswith("stance") else data.sizes["trial"])


# --- twins -----------------------------------------------------------------------------------------------------------


def outcomes(
    session: Session, clean: Judged | str, listed: Sequence[Fault], seed: int, exact: Mapping[str, Array] | None = None
) -> Iterator[Outcome]:
    """Yield the outcomes of all faults in a session; the same seed gives the same faults.

    Args:
        clean: the verdicts on the session without a fault, see :func:`judged`.
        exact: by file the moments (frame, side, joint, component) that are true, N m/kg.
    """
    if isinstance(clean, str) or not clean.used:
        return
    for number, fault in enumerate(listed):
        rng = np.random.default_rng([seed, number, sum(map(ord, session.name))])
        twin = fault.corrupt(session, clean.used, rng)
        if twin is None:
            continue
        found = judged(twin.session)
        for contact in twin.touched:
            one = _outcome(fault, session.name, contact, clean, found, twin)
            if exact and one.moment and not isinstance(found, str):
                file, shown = contact.file, twin.frames.get(contact.file)
                errors = (
                    _error(contact, exact[file], moments[file], one.moment, frames)
                    for moments, frames in ((found.moments, shown), (clean.moments, None))
                )
                error, clean_error = errors
                one = one._replace(error=error, clean_error=clean_error)
            yield one


def _outcome(fault: Fault, name: str, contact: Contact, clean: Judged, found: Judged | str, twin: Twin) -> Outcome:
    where = f"{name} {Path(contact.file).stem} {contact.side} {' '.join(map(str, contact.plates))}"
    about = (fault.row, fault.dose), where
    if isinstance(found, str):
        return Outcome(*about, REFUSED, (found,), np.nan, np.nan, "", False)
    findings = found.findings > clean.findings
    shown = twin.frames.get(contact.file)
    code, doubts = _verdict(contact, found, shown)
    if code:
        return Outcome(*about, REFUSED, (code,), np.nan, np.nan, "", findings)
    harm, most, moment = harm_of(contact, clean.moments[contact.file], found.moments[contact.file], shown)
    kind = DOUBTED if doubts else HARMLESS if harm < HARMLESS_N_M_KG else MISSED
    return Outcome(*about, kind, doubts, harm, most, moment, findings)


def _verdict(contact: Contact, found: Judged, shown: NDArray[np.int64] | None) -> tuple[str, tuple[str, ...]]:
    """Return the verdict on the stance of the twin that overlaps a stance most; ``not_found`` if there is none."""
    best, longest = ("not_found", tuple[str, ...]()), 0
    for other, codes in zip(found.contacts, found.codes, strict=True):
        if other.file != contact.file:
            continue
        if not other.side:
            return codes
        ends = (other.first, other.last) if shown is None else shown[[other.first, min(other.last, len(shown) - 1)]]
        overlap = min(ends[1], contact.last) - max(ends[0], contact.first)
        if other.side == contact.side and overlap > max(longest, 0.4 * (contact.last - contact.first)):
            best, longest = codes, int(overlap)
    return best


def harm_of(contact: Contact, right: Array, wrong: Array, shown: NDArray[np.int64] | None) -> tuple[float, float, str]:
    """Return the RMS and the largest difference of the worst moment over a stance, and its name."""
    off = _off(contact, right, wrong, shown)
    if not np.isfinite(off).any():
        return np.inf, np.inf, "none left"
    rms = np.sqrt(np.nanmean(off**2, axis=0))
    joint, angle = np.unravel_index(int(np.nanargmax(rms)), rms.shape)
    return float(rms[joint, angle]), float(np.nanmax(np.abs(off[:, joint, angle]))), NAMES[joint][angle]


def _off(contact: Contact, right: Array, wrong: Array, shown: NDArray[np.int64] | None) -> Array:
    """Return the differences (frame, joint, component) of moments over a stance."""
    frames = np.arange(len(wrong)) if shown is None else shown
    inside = (frames >= contact.first) & (frames <= contact.last) & (frames < len(right))
    side = SIDES.index(contact.side)
    return np.asarray(wrong[: len(frames)][inside, side] - right[frames[inside], side])


def _error(contact: Contact, exact: Array, moments: Array, name: str, shown: NDArray[np.int64] | None) -> float:
    """Return the RMS of a named moment's error over a stance; NaN if it is missing."""
    (joint,), (angle,) = np.nonzero(np.array(NAMES) == name)
    off = _off(contact, exact, moments, shown)[:, joint, angle]
    return float(np.sqrt(np.nanmean(off**2))) if np.isfinite(off).any() else np.nan


# --- tables -----------------------------------------------------------------------------------------------------------


def in_short(report: Report, results: Sequence[Outcome]) -> None:
    """Report a line for each row of faults: the share found or harmless, of all doses and of each."""
    report.table("fault", "real stances: found or harmless (by dose)", "generated stances", "largest missed, N m/kg",
                 "found by")  # fmt: skip
    for row in dict.fromkeys(one.fault[0] for one in results):
        every = [one for one in results if one.fault[0] == row]
        cells = []
        for real in (True, False):
            own = [one for one in every if one.real is real]
            doses = {
                dose: [one for one in own if one.fault[1] == dose] for dose in dict.fromkeys(o.fault[1] for o in own)
            }
            by_dose = ", ".join(f"{dose} {_percent(those):.0f}" for dose, those in doses.items())
            cells.append(f"{len(own)}: {_share(own)} ({by_dose})" if own else "none")
        missed = [one for one in every if one.kind == MISSED]
        worst = max(missed, key=lambda one: one.harm, default=None)
        by = Counter(code for one in every for code in one.codes)
        found = ", ".join(f"`{code}`" for code, count in by.most_common(4) if count >= 0.03 * len(every))
        report.row(row, *cells, f"{worst.harm:.2f} {worst.moment}" if worst else "", found)


def _percent(own: Sequence[Outcome]) -> float:
    """Return the share of stances that are found or harmless."""
    return 100 * sum(one.kind != MISSED for one in own) / len(own)


def by_dose(report: Report, results: Sequence[Outcome]) -> None:
    """Report a line for each dose, of real and of generated stances."""
    report.table(
        "fault", "dose", "", "n", "refused", "doubted", "harmless", "missed", "found or harmless",
        "largest missed, N m/kg (peak)", "harm of the found", "found by", "findings of the session",
        "error of the missed without and with it",
    )  # fmt: skip
    for fault in dict.fromkeys(one.fault for one in results):
        for real, label in ((True, "real"), (False, "generated")):
            own = [one for one in results if one.fault == fault and one.real is real]
            if own:
                report.row(*fault, label, *_cells(own))


def _share(own: Sequence[Outcome]) -> str:
    return f"{_percent(own):.0f} %{'' if _percent(own) >= 100 * ENOUGH else ' **short**'}"


def _cells(own: Sequence[Outcome]) -> list[str]:
    """Return the cells of a dose from its number of stances on."""
    kinds = Counter(one.kind for one in own)
    counts = [str(kinds[kind]) for kind in (REFUSED, DOUBTED, HARMLESS, MISSED)]
    worst = max((one for one in own if one.kind == MISSED), key=lambda one: one.harm, default=None)
    missed = f"{worst.harm:.2f} ({worst.most:.2f}) {worst.moment}" if worst else ""
    doubted = [one.harm for one in own if one.kind == DOUBTED and np.isfinite(one.harm)]
    harm = f"{min(doubted):.2f} to {max(doubted):.2f}" if doubted else ""
    by = Counter(code for one in own for code in one.codes)
    found = ", ".join(f"{code} {count}" for code, count in by.most_common(4))
    findings = sum(one.findings for one in own)
    known = [one for one in own if one.kind == MISSED and np.isfinite([one.error, one.clean_error]).all()]
    errors = " to ".join(
        f"{np.mean([getattr(one, of) for one in known]):.2f}" for of in ("clean_error", "error") if known
    )
    return [str(len(own)), *counts, _share(own), missed, harm, found, f"{findings}" if findings else "", errors]


def worst_missed(report: Report, results: Iterable[Outcome], most: int = 3) -> None:
    """Report the worst missed stances of each row and dose, for those who look for a witness."""
    by_fault: dict[tuple[str, str], list[Outcome]] = {}
    for one in results:
        if one.kind == MISSED:
            by_fault.setdefault(one.fault, []).append(one)
    report.text("")
    for fault, own in by_fault.items():
        own.sort(key=lambda one: -one.harm)
        texts = [f"{one.where} {one.harm:.2f} {one.moment}" for one in own[:most]]
        report.text(f"- {fault[0]}, {fault[1]}: {len(own)} missed: {'; '.join(texts)}")


def campaign(
    sessions: Sequence[Session],
    *,
    rows: Sequence[str] = ("",),
    seed: int = 0,
    jobs: int = 1,
    exact: Mapping[str, Mapping[str, Array]] | None = None,
) -> list[Outcome]:
    """Return the outcomes of the faults, or of those whose row or dose has one of the texts ``rows``, in sessions.

    ``exact``: by session and file the moments that are true, where they are known.
    """
    named = {f"{fault.row}, {fault.dose}".lower(): fault for fault in faults(sessions)}
    listed = [fault for name, fault in named.items() if any(text.lower() in name for text in rows)]
    _IN_WORKERS.update(sessions=sessions, faults=listed, seed=seed, exact=exact or {})
    return [one for part in in_parallel(_of_session, range(len(sessions)), jobs) for one in part]


_IN_WORKERS: dict[str, Any] = {}  # faults are functions, which no pipe takes: processes are forked with them


def _of_session(number: int) -> list[Outcome]:
    session = _IN_WORKERS["sessions"][number]
    faults, seed, exact = (_IN_WORKERS[name] for name in ("faults", "seed", "exact"))
    return [*outcomes(session, judged(session), faults, seed, exact.get(session.name))]


def main(
    report: Report, *, rows: tuple[str, ...] = ("",), unnoticed: bool = False, labs: tuple[str, ...] = (*REAL,),
    people: str = "drawn", generated: int = 20, first_seed: int = 0, seed: int = 0, jobs: int = 1,
) -> None:  # fmt: skip
    """Report what finds each fault, then each dose, then the worst missed stances.

    Args:
        rows: only faults whose row or dose has one of these texts.
        unnoticed: only the faults that nothing noticed at first.
        labs: real sessions of these.
        people: who walks in the generated ones, ``drawn`` or ``moving``.
        generated, first_seed: number and first seed of the generated walks.
        seed: of the faults.
    """
    sessions = real_sessions(SHARED, {lab: REAL[lab] for lab in labs} if SHARED.is_dir() else {})
    drawn = drawn_sessions(generated, first_seed) if people == "drawn" else []
    sessions += [one.session for one in drawn]
    if people == "moving":
        sessions += [generated_session(first_seed + number) for number in range(generated)]
    exact = {one.session.name: one.moments for one in drawn}
    rows = tuple(", ".join(one) for one in UNNOTICED) if unnoticed else rows
    results = campaign(sessions, rows=rows, seed=seed, jobs=jobs, exact=exact)
    for part in (in_short, by_dose, worst_missed):
        part(report, results)
