"""C3D files with names of other programs: prefixes of labels, gait events; and their rates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from tests.odd_files import c3d_edits as to
from tests.odd_files.c3d_edits import BESIDE_M, write_study
from tests.odd_files.c3d_rows import NO_EVENTS, SOUND, c3d
from tests.odd_files.row import Row, Truth

PREFIXES = {
    "colon": ("S1:{}", "S2:{}", "Vicon"),
    "blank_number": ("Skeleton 001_{}", "Skeleton 002_{}", "Motive, OpenMA #57"),
    "underscore": ("S1_{}", "S2_{}", "Vicon, Qualisys"),
    "hyphen": ("S1-{}", "S2-{}", "scripts of users"),
    "dot": ("S1.{}", "S2.{}", "scripts of users"),
    "blank": ("S1 {}", "S2 {}", "scripts of users"),
    "nothing": ("S1{}", "S2{}", "scripts of users"),
    "two_words": ("Subject:S1_{}", "Subject:S2_{}", "scripts of users"),
    "long": ("QTM_Subject_01-{}", "QTM_Subject_02-{}", "Qualisys"),
}
TWO_PEOPLE = Truth(
    walks=2, people=2, places_m=((0.0, 0.0, 0.0), BESIDE_M), said=("mass",), never=("same person",), events=None
)
OWN = {"left": "Left", "right": "Right"}
# names of strikes and offs, contexts, where they come from
EVENT_NAMES: Mapping[str, tuple[Mapping[str, str], Mapping[str, str] | None, str]] = {
    "visual3d": ({"foot_strike": "{S}ON", "foot_off": "{S}OFF"}, None, "Visual3D"),
    "visual3d_contexts": ({"foot_strike": "{S}ON", "foot_off": "{S}OFF"}, OWN, "Visual3D"),
    "rhs_lto": ({"foot_strike": "{S}HS", "foot_off": "{S}TO"}, None, "ulema #18"),
    "rhs_lto_lower": ({"foot_strike": "{s}hs", "foot_off": "{s}to"}, None, "KineticsToolkit #192"),
    "hs_to": ({"foot_strike": "HS", "foot_off": "TO"}, OWN, "Visual3D"),
    "heel_strike": ({"foot_strike": "Heel Strike", "foot_off": "Toe Off"}, OWN, "OpenSim's users"),
    "heel_hyphen": ({"foot_strike": "Heel-Strike", "foot_off": "Toe-Off"}, OWN, "scripts of users"),
    "upper": ({"foot_strike": "FOOT STRIKE", "foot_off": "FOOT OFF"},
              {"left": "LEFT", "right": "RIGHT"}, "scripts of users"),
    "lower": ({"foot_strike": "foot strike", "foot_off": "foot off"},
              {"left": "left", "right": "right"}, "scripts of users"),
    "camel": ({"foot_strike": "{Side}FootStrike", "foot_off": "{Side}FootOff"}, None, "scripts of users"),
    "ic_to": ({"foot_strike": "IC", "foot_off": "TO"}, OWN, "gait laboratories"),
    "ic_fo": ({"foot_strike": "{S}IC", "foot_off": "{S}FO"}, None, "gait laboratories"),
    "lfs_lfo": ({"foot_strike": "{S}FS", "foot_off": "{S}FO"}, None, "Cortex"),
    "underscore": ({"foot_strike": "{side}_heel_strike", "foot_off": "{side}_toe_off"}, None, "Pose2Sim"),
    "numbered": ({"foot_strike": "Foot Strike1", "foot_off": "Foot Off1"}, OWN, "Schreiber and Moissenet 2019"),
    "initial_contact": ({"foot_strike": "{Side} Initial Contact", "foot_off": "{Side} Toe Off"}, None, "Codamotion"),
    "touchdown": ({"foot_strike": "{Side} Touchdown", "foot_off": "{Side} Takeoff"}, None, "running laboratories"),
    "general": ({"foot_strike": "{Side} Foot Strike", "foot_off": "{Side} Foot Off"},
                {"left": "General", "right": "General"}, "files of several vendors"),
    "letters": ({"foot_strike": "Foot Strike", "foot_off": "Foot Off"},
                {"left": "L", "right": "R"}, "scripts of users"),
    "german": ({"foot_strike": "Fersenaufsatz", "foot_off": "Zehenablösung"}, {"left": "Links", "right": "Rechts"},
               "Germany"),
    "german_side": ({"left foot_strike": "Bodenkontakt links", "right foot_strike": "Bodenkontakt rechts",
                     "left foot_off": "Abheben links", "right foot_off": "Abheben rechts"}, None, "Germany"),
    "german_foot": ({"foot_strike": "Fußkontakt", "foot_off": "Fußablösung"}, {"left": "Links", "right": "Rechts"},
                    "Germany"),
    "french": ({"left foot_strike": "Contact initial gauche", "right foot_strike": "Contact initial droit",
                "left foot_off": "Décollage gauche", "right foot_off": "Décollage droit"}, None, "France"),
    "french_context": ({"foot_strike": "Attaque du talon", "foot_off": "Décollement des orteils"},
                       {"left": "Gauche", "right": "Droite"}, "France"),
    "french_pose": ({"foot_strike": "Pose du pied", "foot_off": "Lever du pied"},
                    {"left": "Gauche", "right": "Droite"}, "France"),
}  # fmt: skip
# rates as programs state them: broadcast rates exactly and rounded, and one camera's own
RATES_HZ = (60e3 / 1001, 120e3 / 1001, 150e3 / 1001, 240e3 / 1001, 24e3 / 1001, 48e3 / 1001, 59.94, 119.88, 149.85,
            239.76, 23.976, 47.952, 91.287)  # fmt: skip
USUAL_SAMPLES = (10, 20)
MOST_SAMPLES = 20  # per frame


def prefixes() -> Iterator[Row]:
    """Yield labels with a person's name before them, of one person and of two."""
    for name, (first, second, source) in PREFIXES.items():
        yield c3d(f"prefix_{name}", f"labels such as {first.format('RASI')}", source,
                  both=[partial(to.label_as, form=first)])  # fmt: skip
        yield c3d(f"two_people_{name}", f"two people: {first.format('RASI')} and {second.format('RASI')}", source,
                  both=[partial(to.add_person, first=first, second=second)], truth=TWO_PEOPLE)  # fmt: skip
    yield c3d("suffix", "labels such as RASI_S1", "scripts of users", both=[partial(to.label_as, form="{}_S1")])
    yield c3d("prefix_and_others", "a prefix, beside unlabelled points", "Vicon",
              both=[partial(to.label_as, form="S1-{}"),
                    partial(to.add_points, names=[f"*{i}" for i in range(20)])])  # fmt: skip


def event_names() -> Iterator[Row]:
    """Yield events as other programs and languages name them."""
    for name, (labels, contexts, source) in EVENT_NAMES.items():
        encodings = ("utf-8", "latin-1") if not "".join(labels.values()).isascii() else ("utf-8",)
        for encoding in encodings:
            yield c3d(f"events_{name}" + ("_latin" if encoding == "latin-1" else ""),
                      f"events such as {next(iter(labels.values()))}, {encoding}", source,
                      partial(to.name_events, names=labels, contexts=contexts, encoding=encoding))  # fmt: skip
    yield c3d("events_down_up", "events called Left Foot Down and Left Foot Up, which no maker is known to use",
              "scripts",
              partial(to.name_events, names={"foot_strike": "{Side} Foot Down", "foot_off": "{Side} Foot Up"}),
              truth=replace(NO_EVENTS, said=("Foot Down", "not used")))  # fmt: skip
    yield c3d("events_side_unknown", "events without a side", "files of several vendors",
              partial(to.name_events, names={"foot_strike": "Foot Strike", "foot_off": "Foot Off"},
                      contexts={"left": "General", "right": "General"}),
              truth=replace(NO_EVENTS, said=("Foot Strike", "event")))  # fmt: skip


def rates() -> Iterator[Row]:
    """Yield rates whose quotient is no whole number in single precision: 10, 20, the least above and below one."""
    for rate in RATES_HZ:
        marker_hz = float(np.float32(rate))
        quotients = {k: float(np.float32(rate * k)) / marker_hz for k in range(2, MOST_SAMPLES + 1)}
        below = [k for k, quotient in quotients.items() if quotient < k]
        above = [k for k, quotient in quotients.items() if quotient > k]
        for samples in sorted({*below[:1], *above[:1], *(k for k in USUAL_SAMPLES if quotients[k] != k)}):
            force_hz = float(np.float32(rate * samples))
            yield Row(
                f"rate_{rate:.5f}_{samples}".replace(".", "p"),
                f"{rate:.4f} Hz, {samples} samples a frame: the quotient is {quotients[samples]:.9f}",
                "cameras at broadcast rates",
                replace(SOUND, rates_hz=(marker_hz, force_hz)),
                partial(write_study, rates_hz=(marker_hz, force_hz)),
            )
