"""Verdicts on plates by the forces of the steps on them, in each trial; and on their channels, in a session."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np

from ....arrays import Array, Flags
from ....dynamics.vectors import transpose
from ....plates.wrench import plate_axes
from ....variables.stance_verdicts import Verdict
from ..plate_contacts import Contact
from . import laws
from .placement import find_shifted_plates
from .steps import PlateStep, Steps, as_arrays

# chance of steps on a sound plate below which its forces are wrong, below which they are doubted, and
# above which another reading of its channels is likely
WRONG, SUSPECT, LIKELY = 1e-4, 1e-2, 0.05
# least gain of another reading in squared deviations. Of two readings that are d standard deviations apart, it is
# -d2 on a sound plate, with a deviation of 2 d: more than 9 in one of 700 at most, whatever d
GAIN = 9.0
# by how much better it must fit if the channels of one trial alone are read so: the others then contradict it, exp(-3)
# in likelihood
OWN_GAIN = 6.0
# readings of the force (x, y), and of the centre of pressure, by which a plate's wrong forces may become right
CHANNELS = {
    "the sign of Fx": ([[-1, 0], [0, 1]], [[1, 0], [0, 1]]),
    "the sign of Fy": ([[1, 0], [0, -1]], [[1, 0], [0, 1]]),
    "the signs of Fx and Fy": ([[-1, 0], [0, -1]], [[1, 0], [0, 1]]),
    "Fx and Fy exchanged": ([[0, 1], [1, 0]], [[1, 0], [0, 1]]),
    "the sign of Mx": ([[1, 0], [0, 1]], [[1, 0], [0, -1]]),
    "the sign of My": ([[1, 0], [0, 1]], [[-1, 0], [0, 1]]),
    "the signs of Mx and My": ([[1, 0], [0, 1]], [[-1, 0], [0, -1]]),
}


class Judged(NamedTuple):
    """What steps tell about a plate: why it is refused or doubted, or None; the chance of such steps on a sound one."""

    refused: Verdict | None
    doubted: Verdict | None
    chance: float


def judge_forces(steps: Sequence[PlateStep], numbers: Array, corners: Array, number: int) -> Judged:
    """Return the verdict on the forces of a plate with corners (4, 3), m, by :data:`.laws.LAWS`.

    Args:
        steps: at least one, all on plates with these corners.
        numbers: what they show (step, law), m, see :func:`.laws.numbers_of`.
        number: of the plate.
    """
    every = as_arrays(steps)
    off, deviations = laws.deviations(every, numbers)
    chance = laws.chance_of(deviations)
    if not chance < SUSPECT:
        return Judged(None, None, chance)
    # channels may be wrong that, read otherwise, make the forces likely
    axes = plate_axes(corners)[None]
    chances = {name: laws.chance_of(laws.deviations(_reread(every, axes, name))[1]) for name in CHANNELS}
    likely = [name for name, chance in chances.items() if chance > max(LIKELY, max(chances.values()) / 10)]
    cause = f"is {' or '.join(likely)} wrong?" if likely else "check the signs, order and scales of its channels"
    values = {"number": number, "how": laws.in_words(off, deviations), "cause": cause}
    if chance < WRONG:
        return Judged(Verdict.of("plate_forces_wrong", **values), None, chance)
    return Judged(None, Verdict.of("plate_forces_suspect", **values, percent=100 * chance), chance)


def _reread(steps: Steps, axes: Array, name: str) -> Steps:
    """Return steps on plates with axes (step, 3, 3) of which channels are read otherwise, as ``CHANNELS`` names."""
    turns = np.tile(np.eye(3), (2, 1, 1))
    turns[:, :2, :2] = CHANNELS[name]
    back = transpose(axes)
    of_force, of_pressed = (transpose(axes @ turn @ back) for turn in turns)
    return steps._replace(force=steps.force @ of_force, pressed=steps.pressed @ of_pressed, free=0 * steps.free)


def misread_channels(
    steps: Sequence[PlateStep], corners: Sequence[Array], names: Sequence[str], trials: Sequence[str]
) -> tuple[str, dict[str, Verdict]]:
    """Return the doubt about the channels of a plate, or of all, by all steps of a session on all plates.

    Before it stands the trial that it concerns alone, as steps of the others contradict it; empty if it is all.

    Near the middle of a plate a wrong sign moves a force by less than markers are known in a foot. But what is usual
    of a person is the same in all steps, and they press at different places: with the right signs they agree.

    Args:
        steps: at least one, of one session.
        corners: of the plate of each step, (4, 3), m.
        names: of the plate of each step.
        trials: of each step.
    """
    judging = [i for i, law in enumerate(laws.LAWS) if law != "twist"]
    every, axes = as_arrays(steps), np.stack([plate_axes(of) for of in corners])
    readings = [every, *(_reread(every, axes, name) for name in CHANNELS)]
    off = np.stack([laws.numbers_of(reading)[0][:, judging] for reading in readings])  # (reading, step, law)
    seen = np.asarray(np.isfinite(off).all(axis=0))
    off, shared = np.where(seen, off, 0.0), np.where(seen.T[..., None], laws.shared_deviations(every)[judging], 0.0)
    own = np.array([law.step for law in laws.LAWS.values()])[judging]
    inner = np.linalg.inv(np.swapaxes(shared, 1, 2) @ shared + own[:, None, None] ** 2 * np.eye(shared.shape[2]))

    def misfit_of(off: Array) -> float:
        """Return squared deviations of (step, law) by Woodbury's identity: a session may have thousands of steps."""
        common = np.einsum("lsk,sl->lk", shared, off)
        explained = np.einsum("lk,lkm,lm->l", common, inner, common)
        return float((((off**2).sum(axis=0) - explained) / own**2).sum())

    def gain_of(here: Flags, channels: str) -> float:
        return misfit - misfit_of(np.where(here[:, None], reread[channels], off[0]))

    misfit, reread = misfit_of(off[0]), dict(zip(CHANNELS, off[1:], strict=True))
    groups = {group: np.isin(names, group) for group in (*((name,) for name in names), (*dict.fromkeys(names),))}
    gains = {("", group, channels): gain_of(groups[group], channels) for group, channels in product(groups, CHANNELS)}
    if max(gains.values()) < GAIN:
        return "", {}
    gains |= {
        (trial, group, channels): gain_of(groups[group] & (np.array(trials) == trial), channels) - OWN_GAIN
        for trial, group, channels in product(dict.fromkeys(trials), groups, CHANNELS)
    }
    trial, group, channels = max(gains, key=gains.__getitem__)
    plates = "plate " + group[0] if len(group) == 1 else "all plates"
    return trial, dict.fromkeys(group, Verdict.of("plate_channels_suspect", plates=plates, channels=channels))


def judge_plates(
    contacts: Sequence[Contact],
    time: Array,
    steps: Sequence[PlateStep],
    corners: Array,
    numbers: Sequence[int],
    channels: Mapping[int, Verdict],
) -> list[Contact]:
    """Return the contacts with the chance of their plates' forces, rejected or doubted if it is low, or if shifted.

    Args:
        contacts: after all other checks; only steps that are good contacts count.
        time: (time,), s.
        steps: on all plates.
        corners: (plate, 4, 3), m.
        numbers: of the plates.
        channels: doubts about plates by the steps of the whole session.
    """
    good = [contact for contact in contacts if not contact.reason]
    whole = [
        step
        for step in steps
        if any(row.plates == (step.plate,) and row.start_s < time[step.frame] < row.end_s for row in good)
    ]
    shown = laws.numbers_of(as_arrays(whole)) if whole else (np.empty(0), np.empty(0))
    shifted, judged = find_shifted_plates(whole, numbers, shown), {}
    for plate in {step.plate for step in whole}:
        own = [i for i, step in enumerate(whole) if step.plate == plate]
        judged[plate] = judge_forces([whole[i] for i in own], shown[0][own], corners[plate], numbers[plate])
    return [_with_verdicts(contact, [shifted, channels], judged) for contact in contacts]


def _with_verdicts(contact: Contact, listed: Sequence[Mapping[int, Verdict]], judged: Mapping[int, Judged]) -> Contact:
    own = [judged[plate] for plate in contact.plates if plate in judged]
    found = [verdicts[plate] for verdicts in listed for plate in contact.plates if plate in verdicts]
    found += [verdict for one in own for verdict in (one.refused, one.doubted) if verdict]
    doubts = tuple(verdict for verdict in found if verdict.is_doubt)
    chance = min((one.chance for one in own), default=contact.plate_chance)
    reason = contact.reason or next((verdict for verdict in found if not verdict.is_doubt), None)
    return replace(contact, reason=reason, doubts=contact.doubts + doubts, plate_chance=chance)
