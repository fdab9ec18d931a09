"""Settings of the step ``clean``."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Section ``clean`` of the settings; config/settings.schema.yaml has the meaning and unit of each key."""

    max_gap_s: float
    max_pattern_gap_s: float
    spike_m: float | None
    exchanged_markers: str
    marker_filter: str
    marker_cutoff_hz: float | str | None
    force_cutoff_hz: float | None
    filter_order: int
    emg_high_pass_hz: float
    emg_low_pass_hz: float
    emg_false_alarm: float
    emg_shortest_s: float
    emg_channels: Mapping[str, str | None]
