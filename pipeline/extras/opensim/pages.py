"""What the step ``muscles`` adds to the pages of people."""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import xarray as xr

from ...conventions import FROM_HIP
from ...steps.report.addition import Addition, Part, PersonShown, html_of
from ...steps.report.curves.panels import Panel, emg_panels
from ...steps.report.tables import Table
from .muscle_variables import DOUBT_OF, OF_METRICS

MODEL_NAMES = {  # of muscles that are often recorded, in OpenSim's Gait2392 and in the model of Rajagopal et al. (2016)
    "gluteus_maximus": ("glut_max1", "glmax1"),
    "gluteus_medius": ("glut_med1", "glmed1"),
    "rectus_femoris": ("rect_fem", "recfem"),
    "vastus_medialis": ("vas_med", "vasmed"),
    "vastus_lateralis": ("vas_lat", "vaslat"),
    "biceps_femoris": ("bifemlh", "bflh"),
    "semitendinosus": ("semiten",),
    "gastrocnemius_medialis": ("med_gas", "gasmed"),
    "soleus": ("soleus",),
    "tibialis_anterior": ("tib_ant", "tibant"),
    "peroneus_longus": ("per_long", "perlong"),
}
GROUP, SHEET = "Muscles of the model (OpenSim)", "muscles"
ABOUT = (
    "Of a model scaled to the person. Forces and activations are estimates of static optimisation: the sum of the "
    "activations' powers is least. There is no grey band: no curves of normal gait for this model and method are "
    "published that could be cited."
)
LENGTH, CONTACT = "muscle_tendon_length_of_standing", "joint_contact_force"
REFUSED = Path(__file__).with_name("refused.html")
_panel = partial(Panel, GROUP, sheet=SHEET, about=ABOUT)


def panels(study: xr.Dataset) -> Iterator[Panel]:
    """Yield lengths, contact forces and activations of a model's muscles, each with the EMG of that muscle, if any."""
    model = study["model_muscle"].values.tolist() if "model_muscle" in study.dims else []
    for muscle, names in OF_METRICS.values():
        for name in {*model}.intersection(names):
            title = f"{muscle.capitalize()}: length"
            yield _panel(title, LENGTH, {"model_muscle": name}, "with its tendon, of that in standing")
    for joint in FROM_HIP if model else ():
        title = f"{joint.capitalize()} contact force, vertical"
        yield _panel(title, CONTACT, {"joint": joint, "axis": "y"}, "on the distal bone, down < 0 < up")
    recorded = {panel.component["muscle"]: panel for panel in emg_panels(study)}
    for muscle, names in MODEL_NAMES.items():
        for name in {*model}.intersection(names):
            title = muscle.replace("_", " ").capitalize()
            yield _panel(f"{title}: activation", "activation", {"model_muscle": name}, "by OpenSim", (0, 1))
            if muscle in recorded:
                yield recorded[muscle]._replace(group=GROUP, title=f"{title}: EMG", sheet=SHEET, about=ABOUT)


def parts_of_person(shown: PersonShown, _: None) -> Iterator[Part]:
    """Yield the table of why cycles have no muscle forces, or doubtful ones, and how many, of the section on quality.

    Of the doubts about a joint, that of the largest contact force is given.
    """
    study = shown.study
    reasons = study["muscle_reason"].values.astype(str).tolist() if "muscle_reason" in study else []
    counts = Counter(filter(None, reasons)).most_common()
    for joint, code in DOUBT_OF.items():
        doubted = np.flatnonzero(study["muscle_doubt_code"].values == code) if "muscle_doubt" in study else np.zeros(0)
        if doubted.size:
            contact = study["joint_contact_force"].sel(joint=joint).values[doubted]
            worst = doubted[np.linalg.norm(contact, axis=1).max(axis=-1).argmax()]
            counts.append((f"doubtful: {study['muscle_doubt'].values[worst]}", doubted.size))
    if rows := [[reason, f"{count} of {len(reasons)}"] for reason, count in counts]:
        yield Part("quality", html_of(REFUSED, refused=Table(["Reason", "Cycles"], rows)))


ADDITION = Addition(panels=panels, of_person=parts_of_person)
