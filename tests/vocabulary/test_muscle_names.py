"""Muscles in labels of analog channels as laboratories write them, and channels that are no muscles."""

from __future__ import annotations

import itertools

import pytest

from pipeline.vocabulary.muscle_names import MUSCLES, in_order, muscles_in

# muscle -> how the field writes it without the side
WRITTEN = {
    "rectus_femoris": ("RF", "Rectus Femoris", "RECT FEM", "Rect", "RectFem", "rectus_femoris", "Retto femorale"),
    "vastus_lateralis": ("VL", "Vastus Lateralis", "VASTUS LAT.", "VastLat", "Lat Vastus", "VLO", "Vasto lateral"),
    "vastus_medialis": ("VM", "VMO", "Vastus Medialis", "Vast Med", "Vastus medialis oblique"),
    "biceps_femoris": ("BF", "Biceps Femoris", "BICEPS FEM.", "BicFem", "biceps femoris longus"),
    "semitendinosus": ("ST", "Semitendinosus", "SEMITEND.", "Semi-t"),
    "medial_hamstrings": ("MH", "Med Hams", "Medial Hamstrings", "Ham Med"),
    "lateral_hamstrings": ("Lat Ham", "Lateral hamstrings"),
    "hamstrings": ("Hams", "Hamstrings", "HAM"),
    "tibialis_anterior": ("TA", "Tib Ant", "TIB.ANT.", "Ant Tib", "Tibialis Anterior", "TIB", "Jambier anterieur"),
    "tibialis_posterior": ("Tib Post", "Tibialis posterior"),
    "gastrocnemius": ("Gast", "Gastroc", "GAS", "Gastrocnemius"),
    "gastrocnemius_medialis": ("MG", "GASM", "Gast Med", "Gastrocnemius Medialis", "MED. GASTRO", "medial gastroc"),
    "gastrocnemius_lateralis": ("GL", "Gast Lat", "Gastrocnemius Lateralis", "LAT. GASTROC"),
    "soleus": ("SOL", "Soleus", "Soleo", "Soléaire"),
    "peroneus": ("PE", "Peroneus", "Peroneal", "PER"),
    "peroneus_longus": ("Per Long", "Peroneus Longus", "PERONEUS LONG."),
    "gluteus_maximus": ("GMax", "GMAX", "Gluteus Maximus", "GLUT. MAX.", "GlutMax", "Glúteo mayor"),
    "gluteus_medius": ("GMed", "Gluteus Medius", "GLUT MED", "Gluteo medio"),
    "adductors": ("Adductors", "ADD", "Adductor"),
    "tensor_fasciae_latae": ("TFL", "Tensor fasciae latae"),
}  # fmt: skip
# how the side and the maker's words are put around it
FORMS = {
    "left": (
        "L {}", "L_{}", "L-{}", "L.{}", "Left {}",
        "LEFT_{}", "left {}", "LT {}", "LT {}, uV", "Voltage.L {}", "L {} EMG",
        "EMG_L_{}", "EMG1 L {}", "{} L", "{}_L",
        "{} left", "{} (left)", "Left {}: EMG 1", "L_{}: EMG 4 (IM)", "Raw.L {}",
        "Electric Potential.L {}", "{} links", "{}_li", "{} sx",
        "{} izquierdo", "{} gauche", "Sensor 3 L {}", "m. {} left",
    ),
    "right": (
        "R {}", "R_{}", "R.{}", "Right {}", "RIGHT {}",
        "RT {}", "Voltage.R {}", "EMG2_R_{}", "{} R", "{}_R", "{} right",
        "{} rechts", "{}_re", "{} dx", "{} derecho", "{} droit", "R {} channel 12", "Right {}: EMG 1",
    ),
}  # fmt: skip
FUSED = ("{side}{name}", "{side}T{name}", "{side}{name}_EMG", "EMG_{side}{name}")
NO_MUSCLES = (
    # plates, switches, other sensors of the same amplifier
    *("Fx1", "FZ2", "F1X1", "M4X", "Force.Fz1", "FP1_FX"),
    *("PF2-MZ", "RF", "LF", "RFZ", "LFX", "TAPIS FZ1", "Scaled.Fx1"),
    *("LFSW", "RFSW", "R Foot Switch", "L heel", "RTO", "RHEEL"),
    *("R Toe", "LHEE", "FSR L", "R FSR heel", "L MET1", "LMET"),
    *("R_RF: ACC.X 1", "L TA ACC Y", "R VL Gyro Z", "LTA_GYRO_X"),
    *("IMU.R TA", "R Goniometer", "R Knee angle", "L Hip Flex"),
    *("Sync", "Trigger", "TTL", "HR", "ECG", "Start"),
    *("Clock", "Microphone", "Treadmill speed", "Battery", "Torque", "Level"),
    # channels that no muscle is named for
    *("EMG1", "EMG 2", "EM10", "EMG", "Channel57", "CH40"),
    *("Analog 4", "Voltage.1", "Raw.Pin 56", "Sensor 3", "Pin 13", ""),
    *("Voltage.L Spare", "R Empty", "L", "R", "Left", "EMG R", "EMG L 3", "Nothing", "L Unused", "RIGHT 1"),
    # muscles without a side, of either side, or that may be another one
    *("RECT", "TA", "Soleus", "Tibialis anterior", "VL", "GASTROC"),
    *("GM", "RGM", "L GM", "GML", "R Biceps", "RLAT", "LMED"),
    *("Left Right TA", "L RF R", "R Med", "L Lat", "R Femoris", "L Long", "R Max", "L anterior", "RAnt", "LPost"),
    # muscles that have been processed, or of the arm
    *("R RF RMS", "L TA env", "R Sol rect MVC", "L VL filtered"),
    *("R Biceps brachii", "L Deltoid", "R Triceps", "L Trapezius"),
)  # fmt: skip


@pytest.mark.parametrize("muscle", WRITTEN)
def test_muscles_are_found_in_every_form(muscle: str) -> None:
    others = {"right": "R Soleus", "left": "L Peroneus Brevis"}  # an abbreviation alone counts for nothing
    for written, side in itertools.product(WRITTEN[muscle], FORMS):
        for form in FORMS[side]:
            label = form.format(written)
            assert muscles_in([label, others[side]]).get(label) == (side, muscle), label


@pytest.mark.parametrize("muscle", WRITTEN)
def test_a_letter_for_the_side_may_stand_before_or_behind_without_a_gap(muscle: str) -> None:
    for written, form in itertools.product(WRITTEN[muscle], FUSED):
        for letter, side in (("L", "left"), ("R", "right")):
            label = form.format(side=letter, name=written)
            found = muscles_in([label, "Left Soleus", "Right Tibialis Posterior"]).get(label)
            assert found in ((side, muscle), None), label  # LHAM beside MHAM and the like are not clear


@pytest.mark.parametrize(
    ("label", "side", "muscle"),
    [
        ("RRF", "right", "rectus_femoris"),
        ("LTA", "left", "tibialis_anterior"),
        ("LVL", "left", "vastus_lateralis"),
        ("RGMAX", "right", "gluteus_maximus"),
        ("LTIB", "left", "tibialis_anterior"),
        ("RTibAnt", "right", "tibialis_anterior"),
        ("RFR", "right", "rectus_femoris"),
        ("TAL", "left", "tibialis_anterior"),
        ("LRF EMG", "left", "rectus_femoris"),
    ],
)
def test_usual_labels_without_a_gap(label: str, side: str, muscle: str) -> None:
    assert muscles_in([label, "Left Soleus", "Right Tibialis Posterior"])[label] == (side, muscle)


@pytest.mark.parametrize("label", NO_MUSCLES)
def test_what_does_not_name_a_muscle_and_a_side_is_none(label: str) -> None:
    assert label not in muscles_in([label, "L Rectus Femoris", "R Rectus Femoris", "L Soleus", "R Soleus"])


def test_an_abbreviation_counts_only_beside_another_muscle() -> None:
    assert muscles_in(["RST", "Trigger", "Fz1"]) == {}
    assert muscles_in(["RST", "RTA"]) == {"RST": ("right", "semitendinosus"), "RTA": ("right", "tibialis_anterior")}


def test_l_is_lateral_beside_the_same_with_m() -> None:
    assert muscles_in(["LGAS", "RGAS"])["LGAS"] == ("left", "gastrocnemius")
    assert "LGAS" not in muscles_in(["LGAS", "MGAS", "Right soleus", "Left soleus"])


def test_muscles_are_in_order_from_the_hip_to_the_foot() -> None:
    assert in_order(["soleus", "deltoid", "rectus_femoris", "soleus", "gluteus_maximus", "abs"]) == [
        "gluteus_maximus", "rectus_femoris", "soleus", "deltoid", "abs",
    ]  # fmt: skip
    assert in_order(MUSCLES) == [*MUSCLES]
