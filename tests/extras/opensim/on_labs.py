"""OpenSim's Scale, InverseKinematics and InverseDynamics on the exported files of every lab, beside our results.

``python -m tests.extras.opensim.on_labs`` prints the table of docs/validation.md; names of studies after it restrict
it to these. It needs OpenSim (``pip install -e '.[bench]'``) and the real recordings. The generic model is that of
Gait2354, with a marker for each landmark.
"""

from __future__ import annotations

import copy
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import NDArray

from benchmarks.opensim_tool import read_table, silence
from pipeline.body.landmarks import choose_labels
from pipeline.conventions import SIDE_SIGN, SIDES
from pipeline.errors import UserError
from pipeline.extras.opensim.export.command import export_opensim
from pipeline.extras.opensim.export.trial_data import CENTRES
from pipeline.extras.opensim.setup_files import OF_SIDE
from pipeline.results import netcdf
from pipeline.trials.session import Trial, trials_of
from pipeline.workflow.open_study import look_at
from tests.extras.opensim.hand_over import MODEL
from tests.extras.opensim.round_trip import STUDIES, prepared
from tests.support.studies.references import correlation, rms
from tests.support.studies.small_study import run_steps

Array = NDArray[np.float64]

# landmark: the mean of these markers of Gait2354
PLACES = {
    "asis": ("ASIS",), "psis": ("V.Sacral",), "sacrum": ("V.Sacral",),
    "lateral_epicondyle": ("Knee.Lat",), "medial_epicondyle": ("Knee.Med",),
    "lateral_malleolus": ("Ankle.Lat",), "medial_malleolus": ("Ankle.Med",),
    "heel": ("Heel",), "toe": ("Toe.Lat", "Toe.Med"), "toe_tip": ("Toe.Tip",),
    "metatarsal_1": ("Toe.Med",), "metatarsal_5": ("Toe.Lat",),
}  # fmt: skip
MIDDLE, HALF_PSIS_M = ("V.Sacral",), 0.045  # a marker without side; from there to a PSIS
BODIES = {"hip": "femur", "knee": "tibia", "ankle": "talus"}  # with their origins at the joint centres
COORDINATES = {"ankle": ("ankle_angle", 1.0), "knee": ("knee_angle", -1.0), "hip": ("hip_flexion", 1.0)}
# markers that turn a segment, but have another place in every lab: Scale moves them there, with this weight
ENDS = ("wand", "upper", "front", "back", "rear", "proximal", "distal", *"12345")
TURNING = {f"{part}_{end}": f"{part.title()}.Upper" for part in ("thigh", "shank") for end in ENDS}
TURNING["tibial_wand"] = "Shank.Upper"
PLACES |= {name: (place,) for name, place in TURNING.items()}
WEIGHT = 0.01
LOADED_N = 20.0
MARGIN_M = 0.05  # of the foot around its markers


class Beside(NamedTuple):
    """A leg in a walk by OpenSim beside the study, while it is loaded.

    Attributes:
        leg: session, walk and side.
        fit: RMS distance of the markers from their places after InverseKinematics, m.
        angles: standard deviation of the difference of the flexion angles of ankle, knee and hip, degrees.
        moments: correlation and RMS of the difference, N m/kg, of their flexion moments.
        foot: share of samples in which the force acts within the foot, and lowest vertical force, N.
    """

    leg: str
    fit: float
    angles: list[float]
    moments: list[tuple[float, float]]
    foot: tuple[float, float]


def generic_model(path: Path) -> Path:
    """Write the model with markers that have the names of landmarks, and of joint centres (``hip_left``)."""
    tree = ET.parse(MODEL)  # noqa: S314 - OpenSim's example
    known = {marker.get("name", ""): marker for marker in tree.iter("Marker")}
    markers = next(tree.iter("MarkerSet")).find("objects")
    assert markers is not None
    for marker in known.values():
        markers.remove(marker)
    for landmark, side in ((landmark, side) for landmark in PLACES for side in OF_SIDE):
        own = [known[name if name in MIDDLE else f"{side[0].upper()}.{name}"] for name in PLACES[landmark]]
        place = np.mean([np.array(str(marker.findtext("location")).split(), float) for marker in own], axis=0)
        place[2] += (landmark == "psis") * SIDE_SIGN[side] * HALF_PSIS_M
        name = landmark if landmark == "sacrum" else f"{landmark}_{side}"
        markers.append(_moved(own[-1], name, place))
    for side, letter in OF_SIDE.items():
        for joint, body in BODIES.items():
            markers.append(_moved(known["V.Sacral"], f"{joint}_{side}", np.zeros(3), body=f"{body}_{letter}"))
    tree.write(path)
    return path


def _moved(marker: ET.Element, name: str, place: Array, body: str = "") -> ET.Element:
    moved = copy.deepcopy(marker)
    moved.set("name", name)
    location, frame = moved.find("location"), moved.find("socket_parent_frame")
    assert location is not None
    assert frame is not None
    location.text = " ".join(f"{value:.6f}" for value in place)
    frame.text = f"/bodyset/{body}" if body else frame.text
    return moved


def names_of_landmarks(study: Path, table: Path) -> Path:
    """Write the table of names for ``--markers``: the landmark of each label, and the joint centres."""
    body_model = look_at(study)[0].body_model
    assert body_model is not None
    names = {label: f"{joint}_{side}" for (side, joint), label in CENTRES.items()}
    for file in study.glob("derived/*/read.nc"):
        for landmark, labels in choose_labels(body_model, netcdf.load(file)["marker"].values.tolist()).items():
            sides = [f"psis_{side}" for side in SIDES] if landmark == "sacrum" and len(labels) == 2 else [landmark]
            names |= dict(zip(labels, sides, strict=False)) if len(labels) == len(sides) else {}
    turning = {f"{name}_{side}" for name in TURNING for side in OF_SIDE}
    rows = [f"{label}\t{name}\t{WEIGHT if name in turning else ''}\n" for label, name in names.items()]
    table.write_text("".join(["label\tmarker\tweight\n", *rows]))
    return table


def load_all(folder: Path) -> None:
    """Load every exported file with OpenSim, as its tools do and as tables.

    Raises:
        RuntimeError: of OpenSim, or a file of which it sees other rows or markers than are there.
    """
    import opensim

    for file in sorted(folder.glob("*/*.*")):
        lines, sizes = file.read_text().splitlines(), set[tuple[int, int]]()
        if file.suffix == ".trc":
            data, table = opensim.MarkerData(str(file)), opensim.TimeSeriesTableVec3(str(file))
            sizes = {(data.getNumFrames(), data.getNumMarkers()), (table.getNumRows(), table.getNumColumns())}
            sizes.add((len(lines) - 6, len(lines[3].split("\t")[2::3])))
        elif file.suffix == ".mot":
            data, table = opensim.Storage(str(file)), opensim.TimeSeriesTable(str(file))
            sizes = {(data.getSize(), data.getColumnLabels().size() - 1), (table.getNumRows(), table.getNumColumns())}
            sizes.add((len(lines) - 7, len(lines[6].split("\t")) - 1))
        elif file.suffix == ".xml":
            tool = _tool(file)
            getattr(opensim, tool)(*(str(file), True)[: 2 if tool == "ExternalLoads" else 1])
        if len(sizes) > 1:
            raise RuntimeError(f"{file}: OpenSim sees other rows or columns: {sizes}")


def _tool(setup: Path) -> str:
    return ET.parse(setup).getroot()[0].tag  # noqa: S314 - our own


def run_tool(setup: Path) -> None:
    """Run a tool by its setup file, in its folder.

    Raises:
        RuntimeError: OpenSim failed.
    """
    import opensim

    before = Path.cwd()
    os.chdir(setup.parent)
    try:
        with silence():
            if not getattr(opensim, _tool(setup))(str(setup)).run():
                raise RuntimeError(f"{setup}: OpenSim failed")
    finally:
        os.chdir(before)


def of_walk(folder: Path, session: str, walk: str, results: dict[str, Trial], mass_kg: float) -> Iterator[Beside]:
    """Run the tools on a walk and yield its loaded legs."""
    own = folder / session
    for tool in ("ik", "id"):
        run_tool(own / f"{walk}_{tool}.xml")
    fit = rms(read_table(own / f"{walk}_ik_marker_errors.sto")["marker_error_RMS"])
    loads, theirs, angles = (read_table(own / f"{walk}_{end}") for end in ("grf.mot", "id.sto", "ik.mot"))
    ours, time = results["kinetics"], results["kinetics"]["time"].values
    for side, letter in OF_SIDE.items():
        force = np.interp(time, loads["time"], loads[f"ground_force_{letter}_vy"])
        row = ours["side"].values.tolist().index(side)
        known = np.isfinite(ours["joint_moment_jcs"].values[:, row, :, 0]).all(axis=1)
        known &= (force > LOADED_N) & (time > theirs["time"][0]) & (time < theirs["time"][-1])
        if not known.any():
            continue
        moments, spread = [], []
        for j, joint in enumerate(ours["joint"].values.tolist()):
            name, sign = COORDINATES[joint]
            moment = np.interp(time, theirs["time"], theirs[f"{name}_{letter}_moment"]) * sign / mass_kg
            mine = ours["joint_moment_jcs"].values[:, row, j, 0] / mass_kg
            moments.append((correlation(moment[known], mine[known]), rms((moment - mine)[known])))
            angle = np.interp(time, angles["time"], angles[f"{name}_{letter}"]) * sign
            spread.append(float(np.std((angle - results["kinematics"]["joint_angle"].values[:, row, j, 0])[known])))
        yield Beside(
            f"{session} {walk} {side}", fit, spread, moments, _within_foot(results["clean"], loads, side, letter)
        )


def _within_foot(clean: Trial, loads: dict[str, Array], side: str, letter: str) -> tuple[float, float]:
    """Return the share of loaded samples in which the force acts within the foot, and its lowest vertical part, N."""
    loaded = loads[f"ground_force_{letter}_vy"] > LOADED_N
    names = clean["marker"].values.tolist()
    ends = [
        f"{end}_{side}"
        for end in ("heel", "toe", "toe_tip", "metatarsal_1", "metatarsal_5")
        if f"{end}_{side}" in names
    ]
    place = [clean["marker_position"].values[:, names.index(end)] for end in ends]
    at = loads["time"][loaded]
    inside = np.ones(len(at), dtype=bool)
    for i, axis in ((0, "x"), (2, "z")):
        edges = np.stack([np.interp(at, clean["time"].values, point[:, i]) for point in place])
        point = loads[f"ground_force_{letter}_p{axis}"][loaded]
        inside &= (point > edges.min(axis=0) - MARGIN_M) & (point < edges.max(axis=0) + MARGIN_M)
    return float(inside.mean()), float(loads[f"ground_force_{letter}_vy"].min())


def of_study(name: str, folder: Path) -> Iterator[Beside]:
    """Run and export a study, load all files, run the tools on each walk and yield its loaded legs."""
    study = prepared(name, folder / "study")
    run_steps(study)
    model, table = generic_model(folder / "generic.osim"), names_of_landmarks(study, folder / "names.tsv")
    readme, _ = export_opensim(study, model=model, markers=table, angles=True)
    load_all(readme.parent)
    for scale in sorted(readme.parent.glob("*/scale.xml")):
        run_tool(scale)
        session, derived = scale.parent.name, study / "derived" / scale.parent.name
        trials = {step: trials_of(netcdf.load(derived / f"{step}.nc")) for step in ("clean", "kinematics", "kinetics")}
        mass_kg = netcdf.load(derived / "calibrate.nc").attrs["body_mass_kg"]
        for setup in sorted(scale.parent.glob("*_id.xml")):
            walk = setup.name.removesuffix("_id.xml")
            yield from of_walk(readme.parent, session, walk, {step: own[walk] for step, own in trials.items()}, mass_kg)


def as_markdown(names: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a table, one for each loaded leg."""
    yield "| study: walk, leg | markers, mm | angles, degrees | moments, r (N m/kg) | in the foot, lowest N |"
    yield "|---|---|---|---|---|"
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            try:
                for row in of_study(name, Path(folder)):
                    angles = ", ".join(f"{angle:.1f}" for angle in row.angles)
                    moments = ", ".join(f"{r:.3f} ({away:.2f})" for r, away in row.moments)
                    foot = f"{row.foot[0]:.2f}, {row.foot[1]:.1f}"
                    yield f"| {name}: {row.leg} | {1e3 * row.fit:.0f} | {angles} | {moments} | {foot} |"
            except (UserError, RuntimeError) as error:
                yield f"| {name} | {error} | | | |"


if __name__ == "__main__":
    import opensim

    opensim.Logger.removeFileSink()
    opensim.Logger.setLevelString("Off")
    for line in as_markdown(sys.argv[1:] or STUDIES):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
