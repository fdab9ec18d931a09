"""Gait Profile Score and Gait Deviation Index: distance from a reference group.

Both compare nine angles with those of the reference at every second percent of the gait cycle, 51 instants.

Baker R et al. (2009) The Gait Profile Score and Movement Analysis Profile. Gait Posture 30:265-269; equations in
Baker R et al. (2012) Gait Posture 35:612-615.
Schwartz MH, Rozumalski A (2008) The Gait Deviation Index: a new comprehensive index of gait pathology. Gait Posture
28:351-357.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from ...arrays import Array
from ...errors import UserError
from ...tables.reference_curves import Curves, at_speed, reference_of, speeds_of
from ...variables.gait_profile import (
    OF_THE_PELVIS,
    along_cycle,
    nine_angles,
    place_of,
    root_mean_square,
    turning_cycles,
)
from ...variables.metrics import GAIT_ANGLES, SCORES

FEWEST_PEOPLE = 10  # of the index; its scale, their standard deviation, then has a standard error of 24 %
RUNNING_BELOW_PERCENT = 50


class ReferenceGait(NamedTuple):
    """The nine angles of the reference group, degrees."""

    mean: Array  # (9, 51), NaN where a table of means does not reach
    cycles: Array  # (cycle, 9, 51); empty if only the means are known
    weight: Array  # (cycle,), sum 1, equal for each person
    people: int  # number of people


def score_cycles(
    study: xr.Dataset, reference: xr.Dataset | str, *, gdi_features: int | None
) -> tuple[dict[str, Array], list[str]]:
    """Return the scores (cycle,) relative to a study.nc or the text of a table, and remarks for the reader.

    With a table by speed, each participant, session and condition is compared with the curves at its own speed, which
    ``reference_speed`` holds.

    Raises:
        UserError: the dataset is not a study.nc or has no cycle with all nine angles; the table has errors.
    """
    if isinstance(reference, xr.Dataset):
        controls = reference_gait(reference)
        few = f"no deviation index: the reference has {controls.people} people, {FEWEST_PEOPLE} or more are needed"
        return scores(study, controls, gdi_features=gdi_features), [few] * (controls.people < FEWEST_PEOPLE)
    table = reference_of(reference, where="study.reference")
    if not (speeds := speeds_of(table)):
        return scores(study, mean_gait(table[None]), gdi_features=None), []
    speed = reference_speeds(study, speeds)
    scores_of_all = {name: np.full(len(speed), np.nan) for name in SCORES if "deviation" not in name}
    angles = study[[*{place_of(name)[0] for name in GAIT_ANGLES}]]  # turns, which it lacks, have no speed
    for value in np.unique(speed[np.isfinite(speed)]):
        mine = speed == value
        of_speed = scores(angles.isel(cycle=mine), mean_gait(at_speed(table, value)), gdi_features=None)
        for name, values in of_speed.items():
            scores_of_all[name][mine] = values
    return scores_of_all | {"reference_speed": speed}, []


def reference_speeds(study: xr.Dataset, available: Sequence[float]) -> Array:
    """Return the dimensionless speed (cycle,) at which a reference by speed is taken.

    It is the median speed of the participant's straight cycles of the session and condition, so that their scores and
    both sides have one reference, within the range of the reference. The middle one of its speeds if the own is
    unknown. NaN in turns, and if the stance is shorter than half of the cycle: that is running (Alexander 1989), and
    the reference walks.
    """
    turning, stance = turning_cycles(study), study.stance_share.values
    of_cycles = np.where(turning, np.nan, study.walking_speed_dimensionless.values)
    labels = zip(*(study[name].values.tolist() for name in ("participant", "session", "condition")), strict=True)
    rows: dict[tuple[str, ...], list[int]] = {}
    for row, label in enumerate(labels):
        rows.setdefault(label, []).append(row)
    speeds = np.full(len(of_cycles), np.nan)
    for mine in map(np.array, rows.values()):
        seen = of_cycles[mine][np.isfinite(of_cycles[mine])]
        speed = np.median(seen) if seen.size else available[len(available) // 2]
        if not np.median(stance[mine]) < RUNNING_BELOW_PERCENT:
            speeds[mine] = np.clip(speed, available[0], available[-1])
    return np.where(turning, np.nan, speeds)


def reference_gait(reference: xr.Dataset) -> ReferenceGait:
    """Return the reference gait of the people of a study.nc; refuse one without a cycle with all nine angles."""
    if "cycle" not in reference.dims or "participant" not in reference.coords:
        raise UserError("study.reference", "not a study.nc", "give the study.nc in another study's derived folder")
    gait = nine_angles(reference)
    whole = np.isfinite(gait).all(axis=(1, 2))
    if not whole.any():
        what = "no gait cycle has all nine angles of pelvis, hip, knee, ankle and foot"
        raise UserError("study.reference", what, "give a study with complete cycles")
    _, person, count = np.unique(reference.participant.values[whole], return_inverse=True, return_counts=True)
    weight = 1 / count[person] / len(count)
    return ReferenceGait(np.tensordot(weight, gait[whole], 1), gait[whole], weight, len(count))


def mean_gait(curves: Curves) -> ReferenceGait:
    """Return the reference gait of a table of means."""
    mean = along_cycle(curves, "mean")
    return ReferenceGait(mean, np.empty((0, *mean.shape)), np.empty(0), 0)


def scores(study: xr.Dataset, reference: ReferenceGait, *, gdi_features: int | None) -> dict[str, Array]:
    """Return the scores (cycle,); NaN if a cycle turns or lacks a sample of an angle.

    The deviation index needs the cycles of FEWEST_PEOPLE as reference, its share a number of features.
    """
    gait = nine_angles(study)
    profile = profiles(gait, reference)
    partners = np.full(study.sizes["cycle"], -1, dtype=np.intp)  # the overlapping cycle of the other side, -1 if none
    start, end, side = (study[name].values for name in ("start_time", "end_time", "side"))
    trials: dict[tuple[str, str], list[int]] = {}
    for row, trial in enumerate(zip(study.session.values, study.trial.values, strict=True)):
        trials.setdefault(trial, []).append(row)
    for rows in map(np.array, trials.values()):
        together = np.minimum.outer(end[rows], end[rows]) - np.maximum.outer(start[rows], start[rows])
        together[side[rows, None] == side[rows]] = 0
        partners[rows] = np.where(together.max(axis=1) > 0, rows[together.argmax(axis=1)], -1)
    left = (study.side.values == "left")[:, None]
    of_left = np.where(left, profile, profile[partners])
    of_right = np.where(left, profile[partners], profile)[:, ~OF_THE_PELVIS]
    of_both = root_mean_square(np.concatenate([of_left, of_right], axis=1))
    result = {
        "gait_profile_score": root_mean_square(profile),
        "gait_profile_score_overall": np.where(partners < 0, np.nan, of_both),
    }
    result |= {f"gait_variable_score_{name}": profile[:, i] for i, name in enumerate(GAIT_ANGLES)}
    if reference.people >= FEWEST_PEOPLE:
        index, share = deviation_index(gait, reference, features=gdi_features)
        result["reference_deviation_index"] = index
        if gdi_features is not None:
            result["reference_deviation_index_share"] = share
    return result


def profiles(gait: Array, reference: ReferenceGait) -> Array:
    """Return the Movement Analysis Profile (cycle, 9), gait variable scores, degrees.

    GVS = sqrt(sum over 51 instants of (angle - mean of the reference)^2 / 51) (Baker 2009, 2012).
    """
    return root_mean_square(gait - reference.mean)


def deviation_index(gait: Array, reference: ReferenceGait, *, features: int | None) -> tuple[Array, Array]:
    """Return an index like the Gait Deviation Index (cycle,) and the share of its features, percent.

    It is 100 - 10 z, with z the z-score of ln |c - c_ref| among the cycles of the reference. c are the components of
    the 459 angles of a cycle along the features: left singular vectors of the matrix of strides, not centred (Schwartz
    and Rozumalski 2008). They used 6702 strides with and without pathology and published their features; here the
    strides are the reference's, so that the values are no GDI.
    The index ignores differences outside the features, hence the share. With all directions it is the GDI*, the
    logarithm of the GPS on the scale of the GDI.

    Args:
        gait: (cycle, 9, 51), degrees.
        reference: with the people's cycles.
        features: number of features; None for all directions, for which |c - c_ref| is the GPS times sqrt(459).
    """
    controls, mean = reference.cycles.reshape(len(reference.cycles), -1), reference.mean.ravel()
    basis = np.eye(len(mean))
    if features is not None:
        _, size, directions = np.linalg.svd(np.sqrt(reference.weight)[:, None] * controls, full_matrices=False)
        basis = directions[:features][size[:features] > 1e-9 * size[0]]
    difference = gait.reshape(len(gait), len(mean)) - mean
    raw = _log_distance(controls - mean, basis)
    centre = np.average(raw, weights=reference.weight)
    spread = np.sqrt(np.average((raw - centre) ** 2, weights=reference.weight))
    inside = np.sum((difference @ basis.T) ** 2, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = 100 * inside / np.sum(difference**2, axis=1)
        return 100 - 10 * (_log_distance(difference, basis) - centre) / spread, share


def _log_distance(difference: Array, basis: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.linalg.norm(difference @ basis.T, axis=1)))
