"""Recordings cut at random instants: whether what is left gives the moments that the whole recording gives.

``python -m tests.campaigns.cut_walks [--sessions 6] [--labs NAME ...] [--cuts 40]`` prints a table. Each walk of a
drawn session, or of a real one, is cut at an instant, half of the times its start and half its end. Each stored
moment must be within :data:`CLOSE_N_M_KG` of that of the uncut recording, or missing; a stance that is whole in what is
left and was used should stay used.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from multiprocessing import Pool
from typing import NamedTuple

import numpy as np

from tests.campaigns.corrupted_twins import REAL, Judged, judged, real_sessions
from tests.support.checkout import SHARED
from tests.support.drawn.sessions import sound_session
from tests.support.drawn.spoiled import cut
from tests.support.faults.twins import Session

CLOSE_N_M_KG = 0.02
SESSIONS, CUTS = 6, 40


class Outcome(NamedTuple):
    """What became of a walk that was cut.

    ``compared``, ``beyond``: stored moments that the whole recording has too, and those farther from it than the limit;
    ``most``: the largest difference, N m/kg; ``whole``, ``kept``: stances used before that are wholly left, and those
    still used; ``codes``: of the refusals and doubts of the others.
    """

    session: str
    seed: int
    compared: int
    beyond: int
    most: float
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
        return Outcome(
            session.name, seed, 0, 0, 0.0, len(whole), 0, (found if isinstance(found, str) else "trial_rejected",)
        )
    off = np.abs(found.moments[file] - clean.moments[file][first:last])
    off = off[np.isfinite(off)]
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
    most = float(off.max(initial=0.0))
    return Outcome(session.name, seed, off.size, int((off > CLOSE_N_M_KG).sum()), most, len(whole), kept, tuple(codes))


def as_markdown(listed: Sequence[Outcome]) -> str:
    """Return a line for each session, and one for all."""
    lines = [
        f"| session | cuts | with a moment beyond {CLOSE_N_M_KG} | moments beyond | largest, N m/kg (seed) | "
        "whole stances kept | lost by |",
        "|---" * 7 + "|",
    ]
    for name in [*dict.fromkeys(one.session for one in listed), "all"]:
        own = [one for one in listed if name in ("all", one.session)]
        worst = max(own, key=lambda one: one.most)
        by = ", ".join(f"{code} {count}" for code, count in Counter(c for one in own for c in one.codes).most_common(5))
        beyond, compared, whole, kept = (
            sum(getattr(one, key) for one in own) for key in ("beyond", "compared", "whole", "kept")
        )
        cuts = f"{len(own)} | {sum(one.beyond > 0 for one in own)}"
        lines.append(
            f"| {name} | {cuts} | {100 * beyond / max(compared, 1):.2f} % of {compared} "
            f"| {worst.most:.3f} ({worst.seed}) | {kept} of {whole} | {by} |"
        )
    return "\n".join(lines)


def _of_drawn(task: tuple[int, int]) -> list[Outcome]:
    seed, cuts = task
    return outcomes(sound_session(seed).session, range(cuts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=SESSIONS, help="number of drawn sessions")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--labs", nargs="*", default=[], choices=[*REAL], help="real sessions of these, too")
    parser.add_argument("--cuts", type=int, default=CUTS, help="of each session, half of them at the start")
    parser.add_argument("--jobs", type=int, default=1)
    chosen = parser.parse_args()
    tasks = [(chosen.first_seed + number, chosen.cuts) for number in range(chosen.sessions)]
    if chosen.jobs == 1:
        found = [one for task in tasks for one in _of_drawn(task)]
    else:
        with Pool(chosen.jobs) as pool:
            found = [one for part in pool.map(_of_drawn, tasks, chunksize=1) for one in part]
    for session in real_sessions(SHARED, {lab: REAL[lab] for lab in chosen.labs}):
        found += outcomes(session, range(chosen.cuts))
    sys.stdout.write(as_markdown(found) + "\n")


if __name__ == "__main__":
    main()
