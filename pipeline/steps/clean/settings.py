"""Settings of the step ``clean``."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ...setting import setting


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Section ``clean`` of the settings."""

    # fmt: off
    max_gap_s: float = setting(0.1,
        "longest marker gap that is filled by a spline, in seconds; a gap of any length is filled from the rigid "
        "cluster if three of its markers are visible", at_least=0)
    max_pattern_gap_s: float = setting(0.2,
        "longest marker gap that is filled from two or more neighbours at a steady distance, in seconds; in real "
        "walks, the error in gaps of 0.2 s was at most 4 mm in half of them and 14 mm in 95 %", at_least=0)
    spike_m: float | None = setting(0.01,
        "smallest distance from the marker's path at which up to five samples are removed as a spike, in metres, and "
        "at least three times the path's roughness; null keeps spikes", above=0)
    exchanged_markers: Literal["repair", "reject", "ignore"] = setting("repair",
        "action for a trial in which the labels of two markers are exchanged; repair exchanges them back where the "
        "frames are certain, and rejects the trial if they are uncertain or if the whole trial is affected")
    marker_filter: Literal["butterworth", "gcv_spline"] = setting("butterworth",
        "marker filter; gcv_spline is a quintic smoothing spline with smoothing chosen for each marker by generalised "
        "cross-validation (Woltring 1986); marker_cutoff_hz then has no effect, except that null turns it off")
    marker_cutoff_hz: float | str | None = setting(10,
        "-3 dB point of the whole zero-lag Butterworth filter of the markers, in hertz; residual chooses one for each "
        "marker by residual analysis (Winter 2009); null turns the filter off", above=0, pattern="^residual$")
    force_cutoff_hz: float | None = setting(10,
        "-3 dB point of the whole zero-lag Butterworth filter of plate forces and moments, in hertz; null turns the "
        "filter off", above=0)
    filter_order: Literal[2, 4, 8] = setting(4,
        "order of the whole filter, both passes together (4 means two passes of second order)")
    emg_high_pass_hz: float = setting(20,
        "-3 dB point of the whole zero-lag 4th-order high-pass filter of EMG, in hertz (20 against motion artefacts, "
        "De Luca et al. 2010)", at_least=5, at_most=100)
    emg_low_pass_hz: float = setting(6,
        "-3 dB point of the whole zero-lag 4th-order low-pass filter of the rectified EMG, in hertz",
        at_least=1, at_most=50)
    emg_false_alarm: float = setting(0.05,
        "probability that 10 ms of a muscle at rest seem active, which sets the first threshold of onset and offset "
        "(0.05, Bonato et al. 1998)", at_least=0.001, at_most=0.2)
    emg_shortest_s: float = setting(0.03,
        "shortest burst of a muscle, and shortest pause between two, in seconds (0.03, Bonato et al. 1998)",
        at_least=0.01, at_most=0.2)
    emg_channels: Mapping[str, str | None] = setting({},
        "side and muscle of EMG channels, by label, where the label does not name them; left soleus for EMG1, say; "
        "null leaves a channel out", longest=60, pattern="^(left|right) [a-z][a-z_ ]*$", example="left soleus")
