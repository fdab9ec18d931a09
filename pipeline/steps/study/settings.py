"""Settings of the step ``study``."""

from dataclasses import dataclass

from ...setting import setting


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Section ``study`` of the settings."""

    # fmt: off
    reference: str | None = setting("schwartz2008",
        "normal gait for the Gait Profile Score and the report's grey band - schwartz2008, children at the walking "
        "speed of each participant and condition, or pinzone2014, children at free speed (docs/normative_gait.md), or "
        "a path relative to the study or absolute of your own controls; the study.nc of another study, which with 10 "
        "people or more gives the Gait Deviation Index too, or a table of mean curves (see outputs.md); null means "
        "none", shortest=1, form="path")
    gdi_features: int | None = setting(None,
        "number of features (singular vectors of the reference's cycles) in which the Gait Deviation Index measures "
        "distance, see statistics.md; Schwartz and Rozumalski (2008) use 15, from people with and without pathology; "
        "null uses all angles and phases (GDI*)", at_least=1)
