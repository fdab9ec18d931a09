"""Settings of the step ``kinetics``."""

from collections.abc import Mapping
from dataclasses import dataclass

from ...setting import group, setting


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Section ``kinetics`` of the settings."""

    # fmt: off
    gravity_m_s2: float = setting(9.80665,
        "magnitude of the acceleration of gravity, in metres per second squared", above=0)
    uncertainty_draws: int = setting(0,
        "number of Monte Carlo draws of measurement errors; study.nc and the report then have bands of the joint "
        "angles, moments and powers and the share of each error source, the tables a standard uncertainty of each "
        "metric of these; 0 turns this off; 200 give the width of a 95 % band to about a tenth",
        at_least=0, at_most=10000)
    uncertainty_band_percent: float = setting(95,
        "share of the draws within the band, in percent; 95 means the percentiles 2.5 and 97.5", above=0, below=100)
    uncertainty_sizes: Mapping[str, float] = group(
        "standard deviations of the errors, see Uncertainty in theory.md", at_least=0, parts={
        "marker_mm": (0.5,
            "white noise of each coordinate of a marker before the filter, in millimetres (Merriaux et al. 2017; 0.15 "
            "at rest, up to 2 in motion)"),
        "pelvis_soft_tissue_deg": (0.5,
            "turn of the pelvis' markers over the bone about each axis, root mean square over a stride, in degrees "
            "(an assumption)"),
        "thigh_soft_tissue_deg": (2,
            "the same for the thigh, in degrees (up to 10 in all against fluoroscopy, Ancillao et al. 2021)"),
        "shank_soft_tissue_deg": (1.5,
            "the same for the shank, in degrees (up to 7 in all against fluoroscopy, Ancillao et al. 2021)"),
        "foot_soft_tissue_deg": (1, "the same for the foot, in degrees (an assumption)"),
        "pelvis_marker_mm": (5,
            "error of each coordinate of the place of a pelvis marker on its bone, which turns the pelvis, in "
            "millimetres"),
        "knee_axis_deg": (5,
            "turn of the knee's flexion axis about the thigh by misplaced epicondyles or wands, in degrees"),
        "ankle_axis_deg": (5, "turn of the shank's axes about its length by misplaced malleoli or wands, in degrees"),
        "foot_axes_deg": (3,
            "turn of the foot about each of its axes by misplaced markers, in degrees (an assumption)"),
        "ankle_centre_mm": (4,
            "error of each coordinate of the ankle centre in its carrier segment, constant in a session, in "
            "millimetres"),
        "knee_centre_mm": (6,
            "the same for the knee centre, in millimetres (2 to 6 against computed tomography, Johansson et al. 2014)"),
        "hip_centre_mm": (8,
            "the same for the hip centre, in millimetres (8 for Harrington's regression, 15 for Davis', Mantovani et "
            "al. 2016)"),
        "centre_of_pressure_mm": (3,
            "error of each horizontal coordinate of the centre of pressure, constant in a contact, in millimetres (2 "
            "to 14 before, below 3 after recalibration in place, Cappello et al. 2011)"),
        "segment_mass_percent": (10,
            "error of a segment's mass, in percent of it (the three tables differ by 5 at the shank, 10 at the foot, "
            "17 at the thigh)"),
        "segment_com_percent": (5,
            "error of each coordinate of a segment's centre of mass, in percent of its distance from the proximal "
            "joint centre (the three tables differ by 4 to 5)"),
        "segment_inertia_percent": (20,
            "error of a segment's inertia tensor as a whole, in percent of it (the three tables differ by about 20)"),
    })
