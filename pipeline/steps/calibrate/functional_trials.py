"""Functional trials: which joint and side each shows, and its landmarks."""

import re

import numpy as np

from ...arrays import Array
from ...body.body_model import BodyModel
from ...body.landmarks import Points, positions
from ...conventions import SIDES
from ...errors import UserError
from ...trials.session import AnyTrial, problems_of

UNUSABLE = "functional_trial_unusable"  # code of a problem


def sides_shown(condition: str, joint: str) -> list[str]:
    """Return the sides of a joint that a functional trial shows: ``hip`` both, ``hip_left``, ``hip_right``."""
    words = set(re.findall("[a-z]+", condition.lower()))
    return [side for side in SIDES if side in words] or list(SIDES) if joint in words else []


def landmarks_of(recorded: AnyTrial, body_model: BodyModel, otherwise: str) -> Points:
    """Return the landmarks (time, 3) of a functional trial, m.

    Args:
        otherwise: what else one may do, for the remedy.

    Raises:
        UserError: the trial is rejected.
    """
    if "rejected" in recorded.attrs:
        raise UserError.of(
            one._replace(what="; ".join(filter(None, one[1:3])), remedy=otherwise, code=UNUSABLE)
            for one in problems_of(recorded)
        )
    labels = [str(label) for label in recorded["marker"].values]
    return positions(body_model, labels, recorded["marker_position"].values)


def unusable(error: UserError, where: str) -> UserError:
    """Return the error of trials that a setting needs and that cannot be used; ``where`` names them."""
    return UserError.of(problem.of_kind(UNUSABLE) for problem in error.within(where).problems)


def span_deg(angle: Array) -> float:
    """Return the span from the 5th to the 95th percentile of an angle in radians, in degrees."""
    low, high = np.percentile(np.degrees(np.unwrap(angle)), [5, 95])
    return float(high - low)
