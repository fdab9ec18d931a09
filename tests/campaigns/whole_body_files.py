"""Trunk, head and arms in recordings of Plug-in Gait, compared with the bones, angles and loads in the files.

``python -m tests.campaigns whole_body_files`` prints what is found, and what each segment adds to the difference
between the whole-body centre of mass and the one in the files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ezc3d
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.body.skeleton import body_height_m
from pipeline.conventions import CHAIN, JOINTS, SIDES
from pipeline.steps.kinematics.upper_body import BODIES
from pipeline.whole_body.skeleton import JOINTS as UPPER_JOINTS
from pipeline.whole_body.skeleton import SEGMENTS, UpperSkeleton, build, upper_sizes
from pipeline.workflow.settings import load_body_model
from tests.campaigns.runner import Report
from tests.support.checkout import SHARED, copy_study
from tests.support.studies.references import outputs
from tests.support.studies.run_steps import Session, run_study

Array = NDArray[np.float64]

SHORT: dict[str, Any] = {}
CHILDREN = ("HC032A", "HC036A", "HC040A")
# their files state no marker diameter; with 16 mm their bones are exact
WIDE_MARKERS = ("sub-04", "sub-05", "sub-06")
CENTRES = {"shoulder": "CLO", "elbow": "HUO", "wrist": "RAO"}  # by bone
# signs that make the angles (flexion, adduction, rotation) with angle_convention plug_in_gait the three stored rows
SIGNS = {
    "thorax": (1, 1, 1), "head": (-1, 1, 1), "spine": (1, -1, -1), "neck": (1, -1, -1), "shoulder": (1, -1, 1),
    "elbow": (1, 1, 1), "wrist": (1, -1, 1),
}  # fmt: skip
# Plug-in Gait's whole-body centre of mass: share of the mass, and where it has the segment's
SHARES = {"thorax": 0.355, "head": 0.081, "pelvis": 0.142, "upper_arm": 0.028, "forearm": 0.016, "hand": 0.006,
          "thigh": 0.1, "shank": 0.0465, "foot": 0.0145}  # fmt: skip
OVERRIDES: dict[str, Any] = {
    "body_model": "plug_in_gait",
    "clean": {"marker_cutoff_hz": None, "force_cutoff_hz": None},
    "calibrate": {"static_results": "stated", "segment_parameters": "dempster"},
    "kinematics": {"angle_convention": "plug_in_gait"},
}
WAIST_PER_HIPS = 0.925  # height of Plug-in Gait's waist over the middle of the hips, per distance of the hips


@dataclass
class Walk:
    """A walk of a session: what the steps find, and what the file stores, lab axes, m."""

    name: str
    session: Session
    steps: Mapping[str, xr.Dataset]
    points: Mapping[str, Array]

    def stored(self, label: str) -> Array:
        """Return a stored point (time, 3), lab axes, m; NaN where there is none."""
        return np.asarray(self.raw(label) @ self.steps["read"].lab_rotation.values.T / 1000)

    def raw(self, label: str) -> Array:
        """Return stored rows (time, 3) as they are; NaN where there are none."""
        values = self.points[label]
        return np.where((values == 0).all(axis=1, keepdims=True), np.nan, values)

    def axes(self, bone: str) -> Array:
        """Return the stored axes of a bone (time, 3, 3) as rows ahead, left, proximal, lab axes."""
        origin = self.stored(f"{bone}O")
        rows = [self.stored(f"{bone}{axis}") - origin for axis in "ALP"]
        return np.stack([row / np.linalg.norm(row, axis=1, keepdims=True) for row in rows], axis=1)

    def skeleton(self) -> UpperSkeleton:
        """Return the bones by the markers of the step ``clean``, with the ends of the hands."""
        clean, kinematics, calibrate = self.steps["clean"], self.steps["kinematics"], self.session.calibration
        markers = {
            str(name): clean.upper_marker_position.sel(upper_marker=name).values for name in clean.upper_marker.values
        }
        sizes = upper_sizes(json.loads(calibrate.attrs["anthropometry"]), body_height_m(calibrate))
        sizes["head_tilt"] = float(calibrate.head_tilt)
        hips = kinematics.joint_centre.sel(joint="hip").values.mean(axis=1)
        waist = kinematics.upper_joint_centre.sel(upper_joint="waist").values
        rules = load_body_model("plug_in_gait", where="", study_path=SHARED).upper_body
        found = build(rules, markers, kinematics.rotation.values[:, 0, -1], hips, waist, sizes)
        assert found is not None
        return found


def walks(folder: Path) -> Iterator[Walk]:
    """Yield the walks of sub-02 to sub-06 and of the three children, run in a folder without filters."""
    for study in (adults(folder / "adults"), children(folder / "children")):
        sessions = run_study(study, OVERRIDES, only=[*(f"sub-0{i}" for i in range(2, 7)), *CHILDREN])
        for name, session in sessions.items():
            for trial, steps in session.trials.items():
                path = next(study.rglob(Path(steps["read"].attrs["source"]).name))
                points = {label.rpartition(":")[2]: values for label, values in outputs(path).items()}
                yield Walk(f"{name} {trial}", session, steps, points)


def adults(folder: Path) -> Path:
    """Return a copy of the study plug_in_gait with the diameter of the markers where the files state none."""
    copy_study(SHARED / "studies" / "plug_in_gait", folder)
    table = folder / "participants.tsv"
    header, *rows = table.read_text().splitlines()
    diameters = ["0.016" if row.startswith(WIDE_MARKERS) else "n/a" for row in rows]
    lines = [f"{row}\t{size}" for row, size in zip([header, *rows], ["marker_diameter_m", *diameters], strict=True)]
    table.write_text("\n".join(lines) + "\n")
    return folder


def children(folder: Path) -> Path:
    """Return a study of the three children: a static, a straight walk and a turn each."""
    copy_study(SHARED / "labs" / "children", folder)
    people = ["participant_id\tmass_kg\theight_m\tsex"]
    trials = ["participant_id\tsession\ttrial\tfile\trole\tcondition"]
    for child in CHILDREN:
        for kind in ("Static", "Straight", "Turn"):
            file = next((folder / child / kind).glob("*.c3d"))
            role = "static" if kind == "Static" else "gait"
            trials.append(f"{child}\t{child}\t{kind.lower()}\t{child}/{kind}/{file.name}\t{role}\twalk")
            if role == "static":
                stated = ezc3d.c3d(str(file))["parameters"]["PROCESSING"]
                mass, height = (stated[name]["value"][0] for name in ("Bodymass", "Height"))
                people.append(f"{child}\t{mass}\t{height / 1000}\tn/a")
    (folder / "participants.tsv").write_text("\n".join(people) + "\n")
    (folder / "trials.tsv").write_text("\n".join(trials) + "\n")
    (folder / "study.yaml").write_text("body_model: plug_in_gait\n")
    return folder


def centre_errors_mm(walk: Walk) -> dict[str, float]:
    """Return the largest distance of the joint centres from the stored bones, mm, by joint and side."""
    centres = walk.steps["kinematics"].upper_joint_centre
    result = {}
    for side in SIDES:
        for joint, bone in CENTRES.items():
            apart = centres.sel(upper_joint=f"{joint}_{side}").values - walk.stored(f"{side[0].upper()}{bone}")
            result[f"{joint}_{side}"] = 1000 * float(np.nanmax(np.linalg.norm(apart, axis=1)))
    return result


def angle_errors(walk: Walk) -> dict[str, float]:
    """Return the largest difference of the angles from the stored ones, degrees, modulo 360, by part."""
    result = {}
    for part, signs in SIGNS.items():
        of_sides = []
        for side in SIDES:
            ours = walk.steps["kinematics"].upper_angle.sel(upper_part=part, side=side).values * signs
            apart = ours - walk.raw(f"{side[0].upper()}{part.capitalize()}Angles")
            of_sides.append(np.nanmax(np.abs((apart + 180) % 360 - 180)))
        result[part] = float(max(of_sides))
    return result


def points_of_mass(walk: Walk) -> dict[str, Array]:
    """Return where Plug-in Gait has the mass of each segment (time, 3), by our own bones, m: mostly at its end."""
    skeleton, kinematics = walk.skeleton(), walk.steps["kinematics"]
    radius = json.loads(walk.session.calibration.attrs["anthropometry"])["marker_diameter_m"] / 2
    markers = walk.steps["clean"].upper_marker_position

    def middle(name: str) -> Array:
        return np.asarray(sum(markers.sel(upper_marker=f"{name}_{side}").values for side in SIDES) / 2)

    front = markers.sel(upper_marker="clavicle").values - radius * skeleton.frames["thorax"][:, 0]
    asis = sum(walk.steps["clean"].marker_position.sel(marker=f"asis_{side}").values for side in SIDES) / 2
    result = {"thorax": front, "head": middle("head_front"), "pelvis": np.asarray(asis)}
    for side in SIDES:
        elbow, wrist, hand = (skeleton.centres[f"{name}_{side}"] for name in ("elbow", "wrist", "hand"))
        result |= {f"upper_arm_{side}": elbow, f"forearm_{side}": wrist, f"hand_{side}": wrist + 2 * (hand - wrist)}
        ankle, knee, _ = (kinematics.joint_centre.sel(side=side, joint=joint).values for joint in JOINTS)
        result |= {f"thigh_{side}": knee, f"shank_{side}": ankle, f"foot_{side}": ankle}
    return result


def share_of(body: str) -> float:
    return SHARES[body if body in SHARES else body.rpartition("_")[0]]


def centre_of_mass_rms_mm(walk: Walk) -> float:
    """Return the RMS distance (mm) of the stored centre of mass from the one by our bones and the files' rule."""
    by_rule = sum(share_of(body) * point for body, point in points_of_mass(walk).items())
    apart = (by_rule - walk.stored("CentreOfMass"))[np.isfinite(walk.stored("CentreOfMass")).all(axis=1)]
    return 1000 * float(np.sqrt(np.nanmean((apart**2).sum(axis=1))))


def raised_mm(walk: Walk) -> dict[str, float]:
    """Return by how much each segment raises the centre of mass over the files' (mm, mean), and the ``whole``."""
    theirs, kinematics = points_of_mass(walk), walk.steps["kinematics"]
    calibration = walk.session.calibration
    legs = {f"{name}_{side}": (kinematics.com_position.sel(side=side, segment=name).values,
                               float(calibration.segment_mass.sel(side=side, segment=name)))
            for side in SIDES for name in CHAIN}  # fmt: skip
    upper = {name: (kinematics.upper_com_position.sel(upper_segment=name).values,
                    float(calibration.upper_segment_mass.sel(upper_segment=name))) for name in SEGMENTS}  # fmt: skip
    pelvis = kinematics.joint_centre.sel(joint="hip").values.mean(axis=1) + np.einsum(
        "tla,l->ta", kinematics.rotation.values[:, 0, -1], calibration.pelvis_com.values
    )
    ours = legs | upper | {"pelvis": (pelvis, float(calibration.pelvis_mass))}
    mass = sum(one for _, one in ours.values())
    # without the shares' own differences, which are those of rounding, a height would depend on the floor
    result = {
        body: 1000 * float(np.nanmean(ours[body][1] / mass * ours[body][0][:, 1] - share_of(body) * theirs[body][:, 1]))
        for body in BODIES
    }
    whole = kinematics.whole_body_centre_of_mass.values[:, 1] - walk.stored("CentreOfMass")[:, 1]
    return result | {"whole": 1000 * float(np.nanmean(whole))}


def waist_moments(walk: Walk) -> tuple[Array, Array, Array]:
    """Return the moment (time, 3) on the pelvis at Plug-in Gait's waist, N m/kg, rows as stored on the left.

    Stored, ours from hands and head down, and ours from the feet up; NaN where a loaded foot is not on a plate, as the
    loads of both hips must be known.
    """
    kinematics, kinetics = walk.steps["kinematics"], walk.steps["kinetics"]
    hips = kinematics.joint_centre.sel(joint="hip").values
    pelvis, middle = walk.axes("PEL"), hips.mean(axis=1)
    apart = np.nanmean(np.linalg.norm(hips[:, 1] - hips[:, 0], axis=1))
    theirs = middle + WAIST_PER_HIPS * apart * pelvis[:, 2]
    waist = UPPER_JOINTS.index("waist")
    to_lab = kinematics.upper_rotation.sel(upper_segment="thorax").values
    known = np.isfinite(kinetics.pelvis_residual_force.values).all(axis=1, keepdims=True)
    result = [np.where(known, walk.raw("LWaistMoment") / 1000, np.nan)]
    ours = (kinetics.upper_joint_force.values[:, waist], kinetics.upper_joint_moment.values[:, waist])
    legs = (kinetics.waist_force_from_legs.values, kinetics.waist_moment_from_legs.values)
    for force, moment in (ours, legs):
        lab = np.einsum("tla,tl->ta", to_lab, moment)
        moved = lab + np.cross(kinematics.upper_joint_centre.values[:, waist] - theirs, force)
        rows = np.einsum("tia,ta->ti", pelvis[:, [1, 0, 2]], -moved) * [1, 1, -1]
        result.append(np.where(known, rows / walk.session.calibration.attrs["body_mass_kg"], np.nan))
    return result[0], result[1], result[2]


def main(report: Report) -> None:
    """Report what is found in each walk."""
    for walk in walks(report.new_folder()):
        report.text(walk.name)
        report.text("  centres, mm: " + ", ".join(f"{k} {v:.4f}" for k, v in centre_errors_mm(walk).items()))
        report.text("  angles, degrees: " + ", ".join(f"{k} {v:.4f}" for k, v in angle_errors(walk).items()))
        report.text(f"  centre of mass by their rule, mm RMS: {centre_of_mass_rms_mm(walk):.3f}")
        report.text("  raised, mm: " + ", ".join(f"{k} {v:.1f}" for k, v in raised_mm(walk).items()))
        stored, down, up = waist_moments(walk)
        known = np.isfinite(stored + down + up).all(axis=1)
        if known.any():
            rows = [np.sqrt(np.mean((x - stored)[known] ** 2, axis=0)) for x in (down, up)]
            size = np.sqrt(np.mean(stored[known] ** 2, axis=0))
            report.text(f"  waist, {known.sum()} frames: stored RMS {size.round(3)}, from above {rows[0].round(3)}, "
                        f"from below {rows[1].round(3)} N m/kg")  # fmt: skip
