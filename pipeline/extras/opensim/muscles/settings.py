"""Settings of the step ``muscles``."""

from dataclasses import dataclass

from ....setting import setting


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Section ``muscles`` of the settings."""

    # fmt: off
    opensim: bool = setting(False,
        "whether OpenSim finds lengths, moment arms and forces of muscles in each gait cycle (step muscles, see "
        "muscles.md); needs pip install 'gait-lab-pipeline[opensim]' and muscles.model")
    model: str = setting(None,
        "path of your copy of a model of OpenSim in the study, with bodies and coordinates named as in Gait2392; it "
        "is scaled to each person", shortest=1, form="path_in_study")
    strength: float = setting(1,
        "factor of the model's largest isometric forces, which scaling leaves as they are; those of Gait2392 are of "
        "cadavers, and Rajagopal et al. (2016) give the calf 1.7 to 2 times as much", above=0)
    activation_exponent: float = setting(2,
        "power of the activations, the sum of which static optimisation makes least; 2 shares moments among all "
        "muscles that can bear them (Crowninshield and Brand 1981 use 3 for stresses)", at_least=1)
    reserve_n_m: float = setting(1,
        "moment, in N m, of the reserve actuator of each coordinate of a leg that costs as much as a whole muscle; a "
        "small one acts only where the muscles are too weak", above=0)
    most_reserve_percent: float = setting(5,
        "largest moment of a reserve actuator, in percent of the largest moment of its joint in the cycle, with which "
        "muscle forces are used; OpenSim's guide wants less than 10", above=0)
