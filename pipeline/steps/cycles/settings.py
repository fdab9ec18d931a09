"""Settings of the step ``cycles``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ...setting import setting

USUAL_PAIRS = [
    *(f"tibialis anterior - {muscle}" for muscle in ("soleus", "gastrocnemius", "gastrocnemius medialis")),
    *(f"rectus femoris - {muscle}" for muscle in ("hamstrings", "medial hamstrings", "biceps femoris")),
]


def muscle_pairs() -> list[str]:
    """Return the pairs that have a metric; only who checks or writes the schema needs to import these."""
    from ...variables.metrics import PAIRS

    return [f"{one} - {other}" for one, other in PAIRS]


def curves_on_request() -> list[str]:
    """Return the curves that are described as such; see :func:`muscle_pairs`."""
    from ...variables.cycle_variables import ON_REQUEST

    return [*ON_REQUEST]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Section ``cycles`` of the settings."""

    # fmt: off
    longest_cycle_s: float = setting(3.0,
        "longest gait cycle, from foot strike to the next of the same side, in seconds", above=0)
    min_peak_force_body_weights: float = setting(0.7,
        "smallest peak vertical force of a stance with valid kinetics, in body weights", at_least=0)
    max_disagreement_n_m: float = setting(1e-06,
        "largest difference between the formulations of the joint moments of a trial with valid kinetics, in N m; "
        "they agree to about 1e-12", above=0)
    hands_bear_weight: bool = setting(False,
        "whether hands on rails, crutches or a helper bear some of the weight; the momentum of the body is then not "
        "held against the forces of the plates; the column hands_bear_weight of trials.tsv states it of single trials")
    doubted_stances: Literal["leave_out", "use"] = setting("leave_out",
        "whether the kinetics of doubted stances count in means, scores and figures; in either case metrics.csv and "
        "study.nc have them, with the doubt; those left out are in metrics.csv in the column doubted_numbers")
    emg_normalisation: Literal["none", "peak", "mean", "reference"] = setting("none",
        "what the envelopes are divided by, one number for each muscle and side in all trials of a session (Besomi et "
        "al. 2020); peak and mean are those of the envelope over all cycles of the session, reference is the highest "
        "mean over 0.5 s in the trials of role emg_reference, such as maximal voluntary contractions; none leaves "
        "them as recorded")
    emg_pairs: Sequence[str] = setting(USUAL_PAIRS,
        "pairs of muscles with an index of co-contraction (Falconer and Winter 1985) in study.nc and metrics.csv, if "
        "emg_normalisation is not none", one_of=muscle_pairs)
    further_curves: Sequence[str] = setting([],
        "additional curves in cycles.nc and study.nc, each described in outputs.md - over stance, 0 to 100 % from "
        "foot strike to foot off; joint moments in axes of the distal or proximal segment or of the lab; the external "
        "joint moment; moments per height; dimensionless moments and powers; interaction torques",
        one_of=curves_on_request)
