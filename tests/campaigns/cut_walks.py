"""Recordings cut at random instants: whether what is left gives the moments that the whole recording gives.

``python -m tests.campaigns cut_walks [--labs NAME ...]`` prints a table. Each walk of a drawn session, or of a real
one, is cut at an instant, half of the times its start and half its end. Each stored moment must be within
:data:`CLOSE_N_M_KG` of that of the uncut recording, or missing; a stance that is whole in what is left and was used
should stay used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from pipeline.arrays import Flags
from pipeline.conventions import JOINTS, SIDES
from pipeline.signals.filters import stretches
from tests.campaigns.corrupted_twins import REAL, Judged, judged, real_sessions
from tests.campaigns.runner import Report, in_parallel
from tests.support.checkout import SHARED
from tests.support.drawn.sessions import sound_session
from tests.support.drawn.spoiled import cut
from tests.support.faults.twins import Session

CLOSE_N_M_KG = 0.02
SHORT = {"sessions": 1, "cuts": 6}


class Outcome(NamedTuple):
    """What became of a walk that was cut.

    ``compared``, ``beyond``: stored moments that the whole recording has too, and those farther from it than the limit;
    ``unsaid``: those of them without the force of a stance that is refused or doubted; ``most``: the largest difference
    of each joint, N m/kg; ``whole``, ``kept``: stances used before that are wholly left, and those still used;
    ``codes``: of the refusals and doubts of the others.
    """

    session: str
    seed: int
    compared: int
    beyond: int
    unsaid: int
    most: tuple[float, ...]
    whole: int
    kept: int
    codes: tuple[str, ...]


def outcomes(session: Session, seeds: Sequence[int]) -> list[Outcome]:
    """Return what becomes of the cuts of a session with these seeds."""
    clean = judged(session)
    if isinstance(clean, str):
        return []
    return [one for seed in seeds if (one := _outcome(session, clean, seed))]


def _outcome(session: Session, clean: Judged, seed: int) -> Outcome | None:
    part, file, first = cut(session, seed)
    if file not in clean.moments:
        return None
    last = first + len(part.recordings[file].markers)
    whole = [one for one in clean.used if one.file == file and one.first >= first and one.last < last]
    found = judged(part)
    if isinstance(found, str) or file not in found.moments:
        code = found if isinstance(found, str) else "trial_rejected"
        return Outcome(session.name, seed, 0, 0, 0, (0.0,) * len(JOINTS), len(whole), 0, (code,))
    off = np.abs(found.moments[file] - clean.moments[file][first:last])
    beyond = off > CLOSE_N_M_KG
    unsaid = beyond & ~_judged_frames(found, file, len(off))[..., None, None]
    kept, codes = 0, list[str]()
    for contact in whole:
        best = max(
            zip(found.contacts, found.codes, strict=True),
            key=lambda row: (
                (row[0].side == contact.side)
                * (min(row[0].last + first, contact.last) - max(row[0].first + first, contact.first))
            ),
        )
        kept += not best[1][0] and not best[1][1]
        codes += [code for code in (best[1][0], *best[1][1]) if code]
    most = tuple(np.nan_to_num(off).max(axis=(0, 1, 3)).tolist())
    counts = (int(np.isfinite(off).sum()), int(beyond.sum()), int(unsaid.sum()))
    return Outcome(session.name, seed, *counts, most, len(whole), kept, tuple(codes))


def _judged_frames(found: Judged, file: str, count: int) -> Flags:
    """Return which frames (frame, side) have the force of a stance of a file that is refused or doubted.

    One more on either side: the baseline decides when a force meets the noise.
    """
    judged_frames = np.zeros((count, len(SIDES)), dtype=bool)
    for contact, (code, doubts) in zip(found.contacts, found.codes, strict=True):
        if contact.file == file and contact.plates and (code or doubts):
            own = judged_frames[:, SIDES.index(contact.side)]
            own[contact.first : contact.last + 1] = True
            for first, stop in stretches(found.loaded[file][:, SIDES.index(contact.side)]):
                own[max(first - 1, 0) : stop + 1] |= first <= contact.last and stop > contact.first
    return judged_frames


def _of_drawn(seed: int, cuts: int) -> list[Outcome]:
    return outcomes(sound_session(seed).session, range(cuts))


def main(
    report: Report, *, sessions: int = 6, first_seed: int = 0, labs: tuple[str, ...] = (), cuts: int = 40, jobs: int = 1
) -> None:
    """Report each session, and all.

    Args:
        sessions: number of drawn sessions.
        labs: real sessions of these, too.
        cuts: number of cuts of each session, half of them at the start.
    """
    seeds = range(first_seed, first_seed + sessions)
    listed = [one for part in in_parallel(partial(_of_drawn, cuts=cuts), seeds, jobs) for one in part]
    for session in real_sessions(SHARED, {lab: REAL[lab] for lab in labs}):
        listed += outcomes(session, range(cuts))
    report.table("session", "cuts", f"with a moment beyond {CLOSE_N_M_KG}", "moments beyond", "of them without the "
                 "force of a stance that is refused or doubted", "largest, N m/kg (seed)",
                 "medians of the largest: ankle, knee, hip", "whole stances kept", "lost by")  # fmt: skip
    for name in [*dict.fromkeys(one.session for one in listed), "all"]:
        own = [one for one in listed if name in ("all", one.session)]
        worst = max(own, key=lambda one: max(one.most))
        by = ", ".join(f"{code} {count}" for code, count in Counter(c for one in own for c in one.codes).most_common(5))
        beyond, compared, whole, kept = (
            sum(getattr(one, key) for one in own) for key in ("beyond", "compared", "whole", "kept")
        )
        share = f"{100 * beyond / max(compared, 1):.2f} % of {compared}"
        worst_of = f"{max(worst.most):.3f} ({worst.seed})"
        medians = ", ".join(f"{most:.4f}" for most in np.median([one.most for one in own if one.compared], axis=0))
        if name == "all":
            report.allow(0.01, beyond, compared, "moments beyond the limit")
        unsaid = sum(one.unsaid for one in own)
        cuts_beyond = sum(one.beyond > 0 for one in own)
        report.row(name, len(own), cuts_beyond, share, unsaid, worst_of, medians, f"{kept} of {whole}", by)
