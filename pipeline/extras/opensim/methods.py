"""The step ``muscles`` in sentences to paste into a paper."""

from collections.abc import Iterator, Mapping
from typing import Any


def methods(muscles: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence on the muscles of a study with these settings of the step."""
    if muscles.get("opensim"):
        yield (
            f"Lengths and forces of muscles are those of the model {muscles['model']} in OpenSim (Seth et al. 2018), "
            "scaled to each person by joint centres; static optimisation minimised the sum of the activations to the "
            f"power of {muscles['activation_exponent']:g}, with {muscles['strength']:g} times the model's maximum "
            f"isometric forces; reserve actuators bore at most {muscles['most_reserve_percent']:g} % of the peak moment"
        )
