"""Cut-offs in study.yaml with which no walk can be computed well."""

from collections.abc import Iterator, Mapping
from typing import Any

from ...errors import Problem, warning

# Hz. Of a toe marker in walking 99.7 % of the power is below 6 Hz (Winter DA, Sidwall HG, Hobson DA 1974, J Biomech
# 7:157-159), which is the usual lowest cut-off; a walk of half the speed needs 4. Beyond 30 Hz, also in running, skin
# and noise are left, and accelerations are mostly these. Of the force under a foot 98 % are below 10 Hz and 99 % below
# 15 (Antonsson EK, Mann RW 1985, J Biomech 18:39-47). The lowest in use is 6, matched to that of the markers.
USUAL_HZ = {"marker_cutoff_hz": (4.0, 30.0), "force_cutoff_hz": (5.0, float("inf"))}


def of_cutoffs(chosen: Mapping[str, Any]) -> Iterator[Problem]:
    """Find cut-offs in the settings that remove the motion or force of a walk, or keep the noise of its markers."""
    clean = chosen.get("clean", {})
    for name, (low, high) in USUAL_HZ.items():
        cutoff_hz = clean.get(name)
        if not isinstance(cutoff_hz, (int, float)) or low <= cutoff_hz <= high:
            continue
        if name == "marker_cutoff_hz" and clean.get("marker_filter") == "gcv_spline":  # which has none
            continue
        what = f"clean.{name} is {cutoff_hz:g} Hz: "
        what += "it keeps noise and soft tissue" if cutoff_hz > high else "it removes a part of the walk itself"
        remedy = "the default is 10 Hz; docs/cutoffs.md has the errors of others"
        yield warning("study.yaml", what, remedy, "cutoff_unusual")
