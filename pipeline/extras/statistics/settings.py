"""Settings of the extra ``statistics`` that are of none of its steps."""

from dataclasses import dataclass

from ...setting import setting


@dataclass(frozen=True, kw_only=True)
class CurveTests:
    """Section ``curve_tests`` of the settings."""

    # fmt: off
    folder: str | None = setting(None,
        "folder in the study with curves that gaitlab compare-groups has compared, to be shown in the overview; null "
        "for none", longest=500, form="path_in_study")
