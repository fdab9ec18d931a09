"""Odd C3D files: their format, points, plates, channels and frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from tests.odd_files import c3d_edits as to
from tests.odd_files import plate_edits as plate
from tests.odd_files.c3d_bytes import real, whole
from tests.odd_files.c3d_edits import HIDDEN, Change, Edit, write_study
from tests.odd_files.row import REFUSED, Row, Truth
from tests.odd_files.walk import EVENTS
from tests.support.files.c3d_bytes import DEC, MIPS, converted

SOUND = Truth()
TWO_PLATES = replace(SOUND, plates=(0, 1))
NO_EVENTS = replace(SOUND, events=())
NO_PLATES = replace(SOUND, plates=None)  # markers are right; of forces a refusal or a repair
WITH_GAP = replace(SOUND, hidden=HIDDEN)
DAMAGED = Truth(REFUSED, said=(r"walk\.c3d", "damaged|cut off|not a c3d|not readable", "export|copy"))
BY_INTEGERS = replace(SOUND, marker_mm=0.06, force_n=0.06, moment_n_m=0.2)  # half a step: .05 mm, .05 N and 50 N mm
BY_TWELVE_BITS = replace(SOUND, force_n=0.6, moment_n_m=1.6)  # half a step, 1 N at 2 m and 500 N mm

QUATERNIONS = [f"pelvis_q{part}" for part in "wxyz"]
PLACEHOLDER = [[38.1, 38.1, 0], [-38.1, 38.1, 0], [-38.1, -38.1, 0], [38.1, -38.1, 0]]
ONE_METRE = [[500, 500, 0], [-500, 500, 0], [-500, -500, 0], [500, -500, 0]]
NOWHERE = [[0, 0, 0]] * 4
FAR_OFF = [[4300, 500, 0], [3700, 500, 0], [3700, 0, 0], [4300, 0, 0]]
BONES = [f"{side}{bone}{end}" for side in "LR" for bone in ("FE", "TI", "FO") for end in "OALP"]
LAB = "a laboratory's own marker set"
NEAREST = r"(nearest|closest|most like)\W.{0,60}(isb_clusters|anatomical)"


def c3d(
    name: str, odd: str, source: str, *edits: Edit, truth: Truth = SOUND, both: Sequence[Edit] = (),
    change: Change | None = None, remarks: Sequence[str] = (),
) -> Row:  # fmt: skip
    """Return a row: edits of the walk, and those of ``both`` of the static trial, too."""
    write = partial(write_study, edits=edits, both=both, change=change)
    return Row(name, odd, source, truth, write, remarks=remarks)


FORMAT = (
    c3d("plain", "nothing: the walk that all others hold", "tests/odd_files/walk.py"),
    c3d("dec", "written by a DEC machine", "c3d.org sample01", change=partial(converted, processor=DEC)),
    c3d("mips", "written by an SGI machine", "c3d.org sample02", change=partial(converted, processor=MIPS)),
    c3d("nul_padding", "texts padded by NUL instead of blanks", "c3d.org manual", both=[to.pad_with_nul]),
    c3d("groups_reversed", "groups in another order", "c3d.org manual: any order", to.reverse_groups),
    c3d("lower_names", "names of parameters in lower case", "c3d.org manual: case means nothing", to.lower_names,
        truth=replace(SOUND, or_refused=(r"walk\.c3d", "POINT:USED", "export"))),
    c3d("cut_in_data", "cut off within its data", "docs/reliability.md", truth=DAMAGED,
        change=partial(to.cut, kept=0.6)),
    c3d("cut_in_parameters", "cut off within its parameters", "docs/reliability.md", truth=DAMAGED,
        change=partial(to.cut, kept=0.006)),
    c3d("empty_file", "no byte", "docs/reliability.md", truth=replace(DAMAGED, said=(r"walk\.c3d",)),
        change=partial(to.cut, kept=0)),
    c3d("tail", "a program appended a text record", "docs/reliability.md",
        change=partial(to.with_tail, tail=b"x" * 700)),
    c3d("processor_0", "wrong byte for the processor", "docs/reliability.md", truth=DAMAGED,
        change=partial(to.with_bytes, at=515, new=b"\0")),
    c3d("header_scale_0", "scale 0 in the header, -1 in the parameters", "docs/reliability.md", truth=DAMAGED,
        change=partial(to.with_bytes, at=12, new=bytes(4))),
    c3d("header_scale_nan", "scale NaN in the header", "docs/reliability.md", truth=DAMAGED,
        change=partial(to.with_bytes, at=12, new=b"\0\0\xc0\x7f")),
    c3d("html", "a web page instead of the file", "docs/reliability.md", truth=DAMAGED,
        change=partial(to.with_bytes, at=0, new=b"<!DOCTYPE html><html>")),
    c3d("no_point_rate", "no POINT:RATE; the header has the rate", "c3d.org manual",
        partial(to.remove, group="POINT", name="RATE"),
        truth=replace(SOUND, or_refused=(r"walk\.c3d", "POINT:RATE"))),
    c3d("frames_real", "POINT:FRAMES is a real number", "docs/reliability.md",
        partial(to.put, group="POINT", name="FRAMES", value=real(180))),
    c3d("no_trial_group", "no group TRIAL", "c3d.org samples", partial(to.remove, group="TRIAL")),
    c3d("no_analog_rate", "no ANALOG:RATE", "MOtoNMS #5",
        partial(to.remove, group="ANALOG", name="RATE")),
)  # fmt: skip

POINTS = (
    c3d("labels2", "the person's markers all in LABELS2, 255 others before them", "c3d.org manual",
        truth=replace(SOUND, never=("nobody walks", "does not walk")),
        both=[partial(to.add_points, names=[f"M{i:03d}" for i in range(255)], first=True)]),
    c3d("labels2_early", "20 labels in LABELS, the others in LABELS2", "ezc3d #307",
        both=[partial(to.split_labels, first=20)]),
    c3d("labels1", "POINT:LABELS1 instead of LABELS", "scripts of users",
        both=[partial(to.rename, group="POINT", old="LABELS", new="LABELS1")],
        truth=replace(SOUND, or_refused=(r"walk\.c3d", "POINT:LABELS")), remarks=["no program is known to write it"]),
    c3d("duplicate_label", "a second LHEE", "docs/reliability.md",
        partial(to.add_points, names=["LHEE"]), truth=replace(SOUND, said=("LHEE",))),
    c3d("empty_label", "a point without a label", "docs/reliability.md", partial(to.add_points, names=[""])),
    c3d("script_label", "a label with a script", "docs/reliability.md",
        partial(to.add_points, names=["<script>alert(1)</script>"])),
    c3d("control_label", "a label that would clear a terminal", "docs/reliability.md",
        partial(to.add_points, names=["\x1b[2J\a"]), truth=replace(SOUND, never=("\x1b",))),
    c3d("latin_label", "a label with umlauts in Latin-1", "docs/reliability.md",
        partial(to.add_points, names=["Hüfte".encode("latin-1")])),
    c3d("utf8_label", "a label with umlauts in UTF-8", "docs/reliability.md", partial(to.add_points, names=["Hüfte"])),
    c3d("unlabelled", "trajectories *12 to *45 beside the markers", "Vicon",
        partial(to.add_points, names=[f"*{i}" for i in range(12, 46)])),
    c3d("hidden_zero_residual_0", "hidden marker as 0, 0, 0 with residual 0", "c3d.org manual",
        partial(to.hide, value=0.0, residual=0.0), truth=WITH_GAP),
    c3d("hidden_nan_residual_0", "hidden marker as NaN with residual 0", "c3d.org manual",
        partial(to.hide, value=np.nan, residual=0.0), truth=WITH_GAP),
    c3d("hidden_zero", "hidden marker as 0, 0, 0 with residual -1", "c3d.org manual",
        partial(to.hide, value=0.0, residual=-1.0), truth=WITH_GAP),
    c3d("hidden_place", "hidden marker with residual -1 and numbers that look like a place", "c3d.org manual",
        partial(to.hide, value=1234.5, residual=-1.0), truth=WITH_GAP),
    c3d("hidden_inf", "hidden marker as inf", "docs/reliability.md", partial(to.hide, value=np.inf, residual=0.0),
        truth=WITH_GAP),
    c3d("hidden_1e30", "hidden marker as 1e30", "docs/reliability.md", partial(to.hide, value=1e30, residual=0.0),
        truth=WITH_GAP),
    c3d("hidden_9999999", "hidden marker as 9999999", "Cortex", partial(to.hide, value=9999999.0, residual=0.0),
        truth=WITH_GAP),
    c3d("integer_points", "points as whole tenths of a millimetre", "c3d.org manual",
        partial(to.as_integers, per_step_mm=0.1), partial(plate.digitise, steps=(0.1, 100.0), offset=0),
        truth=BY_INTEGERS),
    c3d("metres", "metres and N m", "a laboratory with EMG", both=[to.to_metres]),
    c3d("centimetres", "centimetres and N cm", "c3d.org manual", to.to_newton_centimetres,
        both=[partial(to.to_unit, unit="cm", per_mm=0.1)]),
    c3d("centimetres_n_mm", "centimetres, and moments in N mm, as ANALOG:UNITS says", "c3d.org manual",
        both=[partial(to.to_unit, unit="cm", per_mm=0.1)]),
    c3d("metres_n_mm", "metres, and moments in N mm, as ANALOG:UNITS says", "files of several vendors",
        both=[partial(to.to_unit, unit="m", per_mm=1e-3)]),
    c3d("more_used", "POINT:USED is 40, the header and the file have 32", "docs/reliability.md",
        partial(to.put, group="POINT", name="USED", value=whole(40))),
    c3d("unit_in_words", "the unit is Millimeters", "c3d.org manual",
        both=[partial(to.to_unit, unit="Millimeters", per_mm=1.0)]),
    c3d("unit_upper", "the unit is MM", "c3d.org manual", both=[partial(to.to_unit, unit="MM", per_mm=1.0)]),
    c3d("inches", "the unit is inch", "c3d.org manual", both=[partial(to.to_unit, unit="inch", per_mm=1 / 25.4)],
        truth=Truth(REFUSED, said=(r"\.c3d", "POINT:UNITS|unit", "inch"))),
    c3d("metres_stated_only", "millimetres called m", "docs/reliability.md",
        both=[partial(to.put, group="POINT", name="UNITS", value=["m"])],
        truth=Truth(REFUSED, said=(r"\.c3d", "UNITS|unit"))),
    c3d("motive", "Motive: metres, y up, N m, Skeleton 001_ before labels", "OpenMA #57",
        both=[to.to_metres, to.turn_y_up, partial(to.label_as, form="Skeleton 001_{}")],
        truth=replace(SOUND, never=("finds no marker", "none is proposed"))),
    c3d("pelvis_unnamed", "no body model fits: both ASIS are called P1 and P2", LAB,
        both=[partial(to.relabel, names={"LASI": "P1", "RASI": "P2"})],
        truth=Truth(REFUSED, said=(NEAREST, "asis"))),
    c3d("bones_beside", "markers of `anatomical` without toes, beside bones of Plug-in Gait", LAB,
        both=[partial(to.relabel, names={"LMT2": "X1", "RMT2": "X2", "LMT1": "X3", "RMT1": "X4", "LHEE": "X5",
                                         "RHEE": "X6"}),
              partial(to.add_points, names=BONES[:8])],
        truth=Truth(REFUSED, said=(NEAREST, "heel"),
                    never=("Body model: plug_in_gait_bones",))),
)  # fmt: skip

PLATES = (
    c3d("float_scales", "SCALE, OFFSET and GEN_SCALE of real numbers", "ezc3d #376, #391",
        partial(plate.scale_floats, general=0.5, steps=(0.25, 40.0), offset=100)),
    c3d("unsigned_16", "unsigned 16 bit, offset 32,768", "ezc3d #174",
        partial(plate.digitise, steps=(0.1, 100.0), offset=32768, kind="<u2"),
        partial(to.as_integers, per_step_mm=0.1), partial(to.put, group="ANALOG", name="FORMAT", value=["UNSIGNED"]),
        truth=BY_INTEGERS),
    c3d("twelve_bits", "12 bit, offset 2,048, no FORMAT", "c3d.org manual",
        partial(plate.digitise, steps=(1.0, 1000.0), offset=2048), partial(to.as_integers, per_step_mm=0.1),
        truth=replace(BY_TWELVE_BITS, marker_mm=0.06)),
    c3d("offsets", "ANALOG:OFFSETS for OFFSET", "MACsample",
        partial(plate.digitise, steps=(1.0, 1000.0), offset=2048, name="OFFSETS"),
        partial(to.as_integers, per_step_mm=0.1), truth=replace(BY_TWELVE_BITS, marker_mm=0.06)),
    c3d("corner", "FORCE_PLATFORM:CORNER for CORNERS", "scripts of users",
        partial(to.rename, group="FORCE_PLATFORM", old="CORNERS", new="CORNER")),
    c3d("types", "FORCE_PLATFORM:TYPES for TYPE", "scripts of users",
        partial(to.rename, group="FORCE_PLATFORM", old="TYPE", new="TYPES")),
    c3d("origins", "FORCE_PLATFORM:ORIGINS for ORIGIN", "scripts of users",
        partial(to.rename, group="FORCE_PLATFORM", old="ORIGIN", new="ORIGINS")),
    c3d("channels", "FORCE_PLATFORM:CHANNELS for CHANNEL", "scripts of users",
        partial(to.rename, group="FORCE_PLATFORM", old="CHANNEL", new="CHANNELS")),
    c3d("scales", "ANALOG:SCALES for SCALE", "scripts of users",
        partial(plate.digitise, steps=(1.0, 1000.0), offset=0), partial(to.as_integers, per_step_mm=0.1),
        partial(to.rename, group="ANALOG", old="SCALE", new="SCALES"), truth=replace(BY_TWELVE_BITS, marker_mm=0.06)),
    c3d("analog_unit_degree", "a degree sign in an analog unit and label, Latin-1", "ezc3d #262",
        partial(plate.add_channels, names=["Angle"]),
        partial(to.put, group="ANALOG", name="UNITS", value=[*([b"N"] * 3 + [b"Nmm"] * 3) * 3, b"\xb0"])),
    c3d("unlabelled_channels", "more channels than labels", "ezc3d #307",
        partial(plate.add_channels, names=["a", "b", "c"], labelled=False)),
    c3d("shuffled", "channels of plates in no order", "c3d.org manual", plate.shuffle_channels),
    c3d("type_4", "plates of type 4", "c3d.org manual", plate.to_type_4),
    c3d("plate_3_without_channels", "plate 3's channels do not exist", "c3d.org manual",
        partial(plate.drop_channels, count=6), truth=replace(TWO_PLATES, said=("plate 3|channel",))),
    c3d("two_used", "FORCE_PLATFORM:USED is 2, three plates are described", "c3d.org manual",
        partial(to.put, group="FORCE_PLATFORM", name="USED", value=whole(2)),
        truth=replace(TWO_PLATES, said=("USED|plate 3|third plate|3 plates",))),
    c3d("type_6_beside", "plate 3 is of type 6", "ezc3d #342",
        partial(to.put, group="FORCE_PLATFORM", name="TYPE", value=whole(2, 2, 6)),
        truth=replace(TWO_PLATES, said=("type 6",))),
    c3d("unused_plate", "a fourth plate that nobody steps on", "scripts of users",
        partial(plate.add_plate, corners_mm=FAR_OFF), truth=replace(SOUND, said=("plate 4|plates? 4",))),
    c3d("placeholder_beside", "a fourth plate with corners of +-38.1 mm", "Vicon Nexus",
        partial(plate.add_plate, corners_mm=PLACEHOLDER),
        truth=replace(SOUND, said=("plate 4|plates? 4",), never=("POINT:UNITS", "length unit"))),
    c3d("zero_corners_beside", "a fourth plate with all corners at zero", "Vicon Nexus",
        partial(plate.add_plate, corners_mm=NOWHERE),
        truth=replace(SOUND, said=("plate 4|plates? 4",), never=("POINT:UNITS", "length unit"))),
    c3d("default_plate_beside", "a fourth plate of 1 m by 1 m about the origin", "a program's default",
        partial(plate.add_plate, corners_mm=ONE_METRE), truth=replace(SOUND, said=("plate 4|plates? 4",))),
    c3d("all_placeholders", "all plates have corners of +-38.1 mm", "Vicon Nexus",
        partial(plate.all_corners, corners_mm=PLACEHOLDER),
        truth=replace(NO_PLATES, said=("corner|place", "plate"), never=("POINT:UNITS", "length unit"))),
    c3d("all_zero_corners", "all plates have corners at zero", "docs/reliability.md",
        partial(plate.all_corners, corners_mm=NOWHERE), truth=replace(NO_PLATES, said=("corner", "plate"))),
    c3d("all_defaults", "all plates are 1 m by 1 m about the origin", "a program's default",
        partial(plate.all_corners, corners_mm=ONE_METRE),
        truth=replace(NO_PLATES, said=("corner|same place|overlap",))),
    c3d("metre_corners", "corners in metres, points in millimetres", "docs/reliability.md",
        partial(to.scale_numbers, group="FORCE_PLATFORM", name="CORNERS", factor=1e-3),
        truth=replace(NO_PLATES, said=("corner|unit|size", "plate"))),
    c3d("analog_scale_0", "ANALOG:SCALE is 0 for plate 2", "docs/reliability.md",
        partial(to.put, group="ANALOG", name="SCALE", value=real(*[1] * 6, *[0] * 6, *[1] * 6)),
        truth=replace(SOUND, plates=(0, 2), said=("SCALE",), never=("switch and cable",))),
    c3d("short_scale", "ANALOG:SCALE has no number for plate 3", "EVaRT, C3D files of channels added later",
        partial(to.put, group="ANALOG", name="SCALE", value=real(*[1] * 12)),
        truth=replace(SOUND, plates=(0, 1), said=("SCALE", "13"))),
    c3d("short_offset", "ANALOG:OFFSET has no number for plate 2 and 3", "EVaRT, C3D files of channels added later",
        partial(to.put, group="ANALOG", name="OFFSET", value=whole(*[0] * 6)),
        truth=replace(SOUND, plates=(0,), said=("OFFSET", "7"))),
    c3d("same_channels", "plates 1 and 2 have the same channels", "docs/reliability.md",
        partial(to.put, group="FORCE_PLATFORM", name="CHANNEL",
                value=np.array([range(1, 7), range(1, 7), range(13, 19)], np.int16).T),
        truth=replace(NO_PLATES, said=("channel|same force|plates? 1",))),
)  # fmt: skip

NOT_USED = (
    c3d("quaternion_channels", "segment quaternions among the channels", "Xsens",
        partial(plate.add_channels, names=QUATERNIONS, units=["", "", "", ""]),
        truth=replace(SOUND, said=("quaternion|pelvis_q",))),
    c3d("rotations", "rotations of segments in a group ROTATION", "Visual3D, Theia", to.add_rotations,
        truth=replace(SOUND, said=("rotation",))),
    c3d("emg_channels", "EMG beside the plates", "a laboratory with EMG",
        partial(plate.add_channels, names=["L Tib Ant", "R Soleus"])),
    c3d("other_channels", "channels of a hand dynamometer", "scripts of users",
        partial(plate.add_channels, names=["Grip", "Sync"]), truth=replace(SOUND, said=("Grip|channels",))),
    c3d("trigger", "an event Trigger beside those of gait", "scripts of users",
        partial(to.add_event, label="Trigger", time_s=0.5), truth=replace(SOUND, said=("Trigger",))),
    c3d("events_in_a_row", "an event of an unknown name for each foot", "scripts of users",
        partial(to.name_events, names={"foot_strike": "Evt A", "foot_off": "Evt B"},
                contexts={"left": "Left", "right": "Right"}), truth=replace(NO_EVENTS, said=("Evt A", "event"))),
)  # fmt: skip

FRAMES = (
    c3d("frame_6001", "from frame 6,001, events with minutes", "c3d.org manual", partial(to.from_frame, first=6001),
        truth=replace(SOUND, start_s=60.0)),
    c3d("frame_0", "the first frame is 0", "Motive", partial(to.from_frame, first=0),
        truth=replace(SOUND, start_s=None, events=None), remarks=["the time of frame 0 is not agreed on"]),
    c3d("frame_70001", "from frame 70,001, of which the header knows no more than 65,535", "Mokka #6",
        partial(to.from_frame, first=70001), truth=replace(SOUND, start_s=700.0)),
    c3d("frame_70001_modulo", "from frame 70,001, of which the header has the lower two bytes", "ezc3d #308",
        partial(to.from_frame, first=70001, header=(70001 - 65536, 70180 - 65536)),
        truth=replace(SOUND, start_s=700.0)),
    c3d("frame_65500", "from frame 65,500 to 65,679: only the end is above 65,535", "ezc3d #372",
        partial(to.from_frame, first=65500), truth=replace(SOUND, start_s=654.99)),
    c3d("frame_200001", "from frame 200,001: more than twice 65,535", "c3d.org manual",
        partial(to.from_frame, first=200001), truth=replace(SOUND, start_s=2000.0)),
    c3d("actual_fields_real", "the same of frame 70,001, as real numbers", "TRIAL of other programs",
        partial(to.from_frame, first=70001),
        partial(to.put, group="TRIAL", name="ACTUAL_START_FIELD", value=real(70001)),
        partial(to.put, group="TRIAL", name="ACTUAL_END_FIELD", value=real(70180)),
        truth=replace(SOUND, start_s=700.0), remarks=["no program is known to write the start so"]),
    c3d("events_of_the_clip", "from frame 6,001, events counted from the first frame of the file",
        "Mokka #6, ezc3d #308",
        partial(to.from_frame, first=6001, events=False),
        truth=replace(SOUND, start_s=60.0, events=None, said=("event.*(outside|before|beyond|not within)",))),
    c3d("events_after", "all events lie after the last frame", "Mokka #6, ezc3d #308",
        partial(to.set_events, events=[(time + 30, side, kind) for time, side, kind in EVENTS]),
        truth=replace(SOUND, events=None, said=("event.*(outside|after|beyond|not within)",))),
    c3d("event_before", "one event lies before the first frame", "Mokka #6, ezc3d #308",
        partial(to.from_frame, first=201),
        partial(to.set_events, events=[(0.5, "left", "foot_off"),
                                       *((time + 2, side, kind) for time, side, kind in EVENTS)]),
        truth=replace(SOUND, start_s=2.0, events=None, said=("event.*(outside|before|beyond|not within)",))),
)  # fmt: skip
