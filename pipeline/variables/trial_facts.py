"""Facts of each trial as a whole in the session files, passed on from step to step as far as later steps need them."""

from .rows import AS_JSON, Variable, optional

LEFT_OUT = "JSON: which, code, words; empty if none"
FACTS = {
    "marker_rate_hz": Variable(("trial",), "Hz", "sampling rate of the markers"),
    "static_results": Variable(("trial",), "",
        "static results of Plug-in Gait in the file, JSON, rad by side; empty if it states none", "U"),
    "stored_angles": Variable(("trial",), "",
        "numbers of some frames, and the joint angles of Plug-in Gait that the file stores there, JSON, degrees", "U"),
    "direction_of_travel": Variable(("trial",), "", "direction of walking: forwards, backwards or none", "U"),
    "plates_left_out": Variable(("trial",), "",
        f"plates that cannot be used, by number, and why, {LEFT_OUT}", "U"),
    "landmarks_absent": Variable(("trial",), "", "landmarks of the body model that the trial does not show", "U"),
    "filled_by_spline": Variable(("trial",), "1", "number of marker samples filled by a spline"),
    "filled_by_cluster": Variable(("trial",), "1", "number of marker samples filled from their rigid cluster"),
    "filled_by_neighbours": Variable(("trial",), "1", "number of marker samples filled from neighbouring markers"),
    "spikes_removed": Variable(("trial",), "1", "number of marker samples with a spike removed"),
    "labels_put_right": Variable(("trial",), "1", "number of marker samples with a swapped label corrected"),
    "labels_exchanged_back": Variable(("trial",), "", "swapped labels that were corrected", "U"),
    "motion_breaks": Variable(("trial",), "",
        "where all markers are frozen, or frames lost or repeated: which, first and last instant left out, s, JSON; "
        "empty if nowhere", "U"),
    "plate_breaks": Variable(("trial",), "",
        "where a plate's load jumps from one sample to the next: number of the plate, samples after the first jump and "
        "before the last, the larger jump, of a force or of a moment in 0.2 m, N, and time lost, s, JSON; empty if "
        "nowhere", "U"),
    "marker_noise": Variable(("trial",), "m",
        "standard deviation of the white noise of the median marker along an axis, before the filter; NaN below 50 Hz"),
    "filled_frames": Variable(("trial",), "1", "number of landmark samples that were rebuilt by filling"),
    "marker_filter_order": Variable(("trial",), "1", "order of the filter of the markers"),
    "uncertain_end_s": Variable(("trial",), "s",
        "how near an end of the recording or of a gap the filters make accelerations uncertain"),
    "exchanged_markers": Variable(("trial",), "", "setting clean.exchanged_markers", "U"),
    **optional({
        "emg_left_out": Variable(("trial",), "",
            f"channels of muscles that are not used, by label, and why, {LEFT_OUT}", "U"),
        "doubt": Variable(("trial",), "", "why the kinetics of all stances of the trial are doubted; empty if not",
            "U"),
        "doubt_code": Variable(("trial",), "", "codes of these doubts", "U"),
        "doubt_values": Variable(("trial",), "", f"these doubts, {AS_JSON}", "U"),
    }),
}  # fmt: skip
EVENTS_LEFT_OUT = {
    "events_left_out": Variable(("trial",), "",
        f"gait events of the file that are not used, by their times, and why, {LEFT_OUT}", "U"),
}  # fmt: skip


def facts(*names: str) -> dict[str, Variable]:
    """Return some of the facts, by name."""
    return {name: FACTS[name] for name in names}
