"""Settings of the step ``calibrate``."""

from dataclasses import dataclass
from typing import Literal

from ...setting import setting

SegmentTable = Literal["by_age", "dempster", "de_leva", "dumas", "dempster_proximal_radii"]
KneeAxis = Literal["markers", "functional", "least_crosstalk"]
HipCentre = Literal["harrington", "harrington_multiple", "sangeux", "bell", "hara", "davis", "functional"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Section ``calibrate`` of the settings."""

    # fmt: off
    segment_parameters: SegmentTable = setting("by_age",
        "table of body-segment parameters (Dempster in Winter 2009; de Leva 1996; Dumas et al. 2007 and 2015); by_age "
        "takes that of Jensen 1986 for people with an age_years below 16 in participants.tsv, and dempster for all "
        "others; segments.tsv overrides it. dempster_proximal_radii counts the parallel axis of inertia twice, as "
        "files of Vicon Nexus do; only for comparison with these")
    hip_centre: HipCentre = setting("harrington",
        "regression of the hip joint centre on pelvis width, depth and leg length (Harrington 2007; Sangeux 2015; "
        "Bell 1990; Hara 2016; Davis 1991), or functional, the centre of the thigh's circles in a trial of role "
        "functional (Gamage and Lasenby 2002)")
    knee_axis: KneeAxis = setting("markers",
        "direction of the knee's flexion axis: markers, those of the body model; functional, the line about which the "
        "shank turns in a trial of role functional and condition knee (Ehrig 2007); least_crosstalk, that of the least "
        "variance of knee adduction in such a trial, else in the walks (Baker 1999)")
    static_results: Literal["stated", "static"] = setting("stated",
        "source of the model where files state the static results of Plug-in Gait (PROCESSING; thigh and shank "
        "rotation, tibial torsion, plantar flexion and the like); stated takes them, each walk its own, and needs no "
        "static trial; static calibrates from the markers of the static trial")
