"""Body-segment parameters: the published tables, their axes, measured ones."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from pipeline.conventions import SIDES
from pipeline.errors import UserError
from pipeline.steps.calibrate.segment_parameters import SegmentParameters, from_measurement, from_table
from pipeline.workflow.settings import segment_table
from tests.support.walks.person import (
    PARTICIPANT,
    SHANK_M,
    THIGH_M,
    Array,
    Landmarks,
    body_model,
    calibrated,
    close,
    of_side,
    skeleton_of,
    standing,
)

FLIP = np.diag([1.0, 1, -1])
ISB = "isb_clusters"
Triple = tuple[float, float, float]

LONG_RADIUS = {"foot": (0.124 + 0.139) / 2, "shank": (0.102 + 0.092) / 2, "thigh": (0.149 + 0.162) / 2}
DEMPSTER = {"foot": (0.0145, 0.500, 0.475), "shank": (0.0465, 0.433, 0.302), "thigh": (0.100, 0.433, 0.323)}
DE_LEVA = {  # mass, centre of mass, radii about the sagittal, transverse and longitudinal axes
    "thigh": {"M": (0.1416, 0.4095, 0.329, 0.329, 0.149), "F": (0.1478, 0.3612, 0.369, 0.364, 0.162)},
    "shank": {"M": (0.0433, 0.4395, 0.251, 0.246, 0.102), "F": (0.0481, 0.4352, 0.267, 0.263, 0.092)},
    "foot": {"M": (0.0137, 0.4415, 0.257, 0.245, 0.124), "F": (0.0129, 0.4014, 0.299, 0.279, 0.139)},
}
# mass; centre of mass x y z; radii xx yy zz; xy xz yz, negative where the paper prints an i; right side
DUMAS: dict[str, dict[str, tuple[float, Triple, Triple, Triple]]] = {
    "thigh": {
        "M": (0.123, (-0.041, -0.429, 0.033), (0.29, 0.15, 0.30), (0.07, -0.02, -0.07)),
        "F": (0.146, (-0.077, -0.377, 0.009), (0.31, 0.19, 0.32), (0.07, -0.02, -0.07)),
    },
    "shank": {
        "M": (0.048, (-0.048, -0.410, 0.007), (0.28, 0.10, 0.28), (-0.04, -0.02, 0.05)),
        "F": (0.045, (-0.049, -0.404, 0.031), (0.28, 0.10, 0.28), (0.02, 0.01, 0.06)),
    },
    "foot": {
        "M": (0.012, (0.502, -0.199, 0.034), (0.22, 0.49, 0.48), (0.17, -0.11, 0)),
        "F": (0.010, (0.382, -0.309, 0.055), (0.24, 0.51, 0.50), (-0.15, 0.09, -0.05)),
    },
}
# by hand at 8 years: mass .06634 + 8 x .00364, centre of mass .4758 - 8 x .00115, and the root of the squared radius
# about the proximal end (.5536 - 8 x .00133) less that of the centre of mass
JENSEN_AT_8 = {
    "foot": (0.0199, 0.42022, 0.24407), "shank": (0.04785, 0.4286, 0.28151), "thigh": (0.09546, 0.4666, 0.27765),
}  # fmt: skip
# shares of body mass, as others print them (github.com/wspr/body-segment-param, jensen1986-12yr.csv and -15yr.csv)
JENSEN_MASSES = {
    12: {"thigh": 0.110, "shank": 0.053, "foot": 0.021},
    15: {"thigh": 0.121, "shank": 0.056, "foot": 0.021},
}
MASS_KG = 70.0
LANDMARKS: dict[str, dict[str, Triple]] = {  # in segment axes from the proximal joint centre, m
    "foot": {
        "ankle_centre": (0, 0, 0), "heel": (-0.05, -0.07, 0), "toe": (0.15, -0.06, -0.01),
        "forefoot": (0.13, -0.07, 0), "lateral_malleolus": (0, -0.004, 0.035),
    },
    "shank": {"knee_centre": (0, 0, 0), "ankle_centre": (0, -SHANK_M, 0)},
    "thigh": {"hip_centre": (0, 0, 0), "knee_centre": (0, -THIGH_M, 0)},
}  # fmt: skip
LENGTH_M = {"foot": float(np.hypot(0.13, 0.07)), "shank": SHANK_M, "thigh": THIGH_M}  # foot: ankle to mid-forefoot


def parameters(
    table: str, segment: str, marked: Landmarks | None = None, *, side: str = "right", sex: str = "M", age: str = ""
) -> SegmentParameters:
    places = {name: of_side(place, side) for name, place in LANDMARKS[segment].items()} | (marked or {})
    chosen = segment_table(table, age)
    return from_table(chosen, segment, side=side, sex=sex, body_mass_kg=MASS_KG, landmarks=places)


def expect(found: SegmentParameters, mass: float, com: Array, radii_m: Array) -> None:
    """Check mass fraction, centre of mass (m) and radii of gyration (m) of a segment without products of inertia."""
    close(found.mass_kg, mass * MASS_KG)
    close(found.com, com)
    close(found.inertia, mass * MASS_KG * np.diag(np.square(radii_m)))


@pytest.mark.parametrize("segment", ["shank", "thigh"])
def test_dempster_and_de_leva_leg(segment: str) -> None:
    length = LENGTH_M[segment]
    mass, com, rho = DEMPSTER[segment]
    down = np.array([0, -length, 0])
    expect(parameters("dempster", segment), mass, com * down, length * np.array([rho, LONG_RADIUS[segment], rho]))
    for sex, (mass, com, sagittal, transverse, longitudinal) in DE_LEVA[segment].items():
        radii = length * np.array([sagittal, longitudinal, transverse])
        expect(parameters("de_leva", segment, sex=sex), mass, com * down, radii)


@pytest.mark.parametrize("segment", ["foot", "shank", "thigh"])
def test_proximal_radii_are_dempsters_about_the_proximal_end_and_change_nothing_else(segment: str) -> None:
    """By the parallel-axis theorem, to the three digits of both: so the axis about the end is counted twice."""
    true, proximal = (segment_table(name)["n/a"][segment] for name in ("dempster", "dempster_proximal_radii"))
    along = 0 if segment == "foot" else 1
    for axis, (own, other) in enumerate(zip(true["radii"], proximal["radii"], strict=True)):
        assert other == pytest.approx(own if axis == along else np.hypot(own, true["com"]), abs=1e-3)
    assert {**true, "radii": 0} == {**proximal, "radii": 0}


def test_dempster_foot_lies_between_ankle_and_toe_and_is_as_long_as_malleolus_to_toe() -> None:
    length = np.sqrt(0.15**2 + 0.056**2 + 0.045**2)
    mass, com, rho = DEMPSTER["foot"]
    radii = length * np.array([LONG_RADIUS["foot"], rho, rho])
    expect(parameters("dempster", "foot"), mass, com * np.array(LANDMARKS["foot"]["toe"]), radii)


@pytest.mark.parametrize("sex", ["M", "F"])
def test_de_leva_foot_reaches_from_heel_to_toe_tip(sex: str) -> None:
    mass, com, sagittal, transverse, longitudinal = DE_LEVA["foot"][sex]
    heel, toe = (np.array(LANDMARKS["foot"][name]) for name in ("heel", "toe"))
    for tip, marked in ((heel + 1.35 * (toe - heel), {}), (toe + 0.07, {"toe_tip": toe + 0.07})):
        radii = np.linalg.norm(tip - heel) * np.array([longitudinal, sagittal, transverse])
        expect(parameters("de_leva", "foot", marked, sex=sex), mass, heel + com * (tip - heel), radii)


@pytest.mark.parametrize("segment", ["shank", "thigh"])
def test_leg_of_a_child(segment: str) -> None:
    mass, com, across = JENSEN_AT_8[segment]
    found, length = parameters("by_age", segment, age="8"), LENGTH_M[segment]
    np.testing.assert_allclose(found.mass_kg, mass * MASS_KG, rtol=1e-9)
    np.testing.assert_allclose(found.com, [0, -com * length, 0], rtol=1e-9)
    radii = np.sqrt(np.diag(found.inertia) / found.mass_kg) / length
    np.testing.assert_allclose(radii, [across, LONG_RADIUS[segment], across], atol=1e-5)


def test_foot_of_a_child_reaches_from_heel_to_toe_tip() -> None:
    mass, com, across = JENSEN_AT_8["foot"]
    found = parameters("by_age", "foot", age="8")
    heel, toe = (np.array(LANDMARKS["foot"][name]) for name in ("heel", "toe"))
    np.testing.assert_allclose(found.mass_kg, mass * MASS_KG, rtol=1e-9)
    np.testing.assert_allclose(found.com, heel + com * 1.35 * (toe - heel), rtol=1e-9)
    radii = np.sqrt(np.diag(found.inertia) / found.mass_kg) / np.linalg.norm(1.35 * (toe - heel))
    np.testing.assert_allclose(radii, [LONG_RADIUS["foot"], across, across], atol=1e-5)


def test_masses_of_children_are_those_that_others_print() -> None:
    for age, shares in JENSEN_MASSES.items():
        for segment, share in shares.items():
            assert parameters("by_age", segment, age=str(age)).mass_kg / MASS_KG == pytest.approx(
                share, abs=0.0005 + 1e-9
            )


@pytest.mark.parametrize(
    ("cell", "name", "reason"),
    [
        ("4", "jensen", "4 years old; measured in boys"),
        ("8,5", "jensen", "8.5 years old; measured in boys"),
        ("15", "jensen", "15 years old; measured in boys"),
        ("3.9", "jensen", "3.9 years old, as at 4 years, where the table ends; measured in boys"),
        ("15.99", "jensen", "15.99 years old, as at 15 years, where the table ends; measured in boys"),
        *((cell, "dempster", "at least 16 years old") for cell in ("16", "71", "inf")),
        *((cell, "dempster", "no age_years in participants.tsv") for cell in ("", "n/a", "0", "-3", "89+", "nan")),
    ],
)
def test_age_chooses_the_table(cell: str, name: str, reason: str) -> None:
    table = segment_table("by_age", cell)
    assert (table["name"], table["reason"]) == (name, reason)
    if nearest := {"3.9": "4", "15.99": "15"}.get(cell):
        masses = [parameters("by_age", "thigh", age=age).mass_kg for age in (cell, nearest)]
        assert masses[0] == masses[1]


def test_children_have_their_table_with_the_reason_and_adults_theirs_to_the_bit() -> None:
    def found(table: str = "by_age", **cells: str) -> xr.Dataset:
        person = PARTICIPANT | cells
        return calibrated(body_model(ISB), standing(), segment_parameters=table, participant=person)

    plain, reason = found("dempster"), "segment_parameters_reason"
    assert plain.attrs[reason] == "setting calibrate.segment_parameters"
    for cells in ({}, {"age_years": "27"}, {"age_years": "16"}):
        adult = found(**cells)
        adult.attrs[reason] = plain.attrs[reason]
        assert adult.identical(plain)
    child = found(age_years="8")
    assert (child.attrs["segment_parameters"], child.attrs[reason]) == ("jensen", "8 years old; measured in boys")
    assert (child.segment_mass != plain.segment_mass).all()
    assert found("dempster", age_years="8").identical(plain)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("sex", ["M", "F"])
@pytest.mark.parametrize("segment", ["foot", "shank", "thigh"])
def test_dumas_with_signs_mirrored_on_the_left(segment: str, sex: str, side: str) -> None:
    mass, com, (xx, yy, zz), (xy, xz, yz) = DUMAS[segment][sex]
    length = LENGTH_M[segment]
    out = -1 if side == "left" else 1
    found = parameters("dumas", segment, side=side, sex=sex)
    close(found.mass_kg, mass * MASS_KG)
    close(found.com, length * np.array(com) * (1, 1, out))
    signed = [[xx, xy, out * xz], [xy, yy, out * yz], [out * xz, out * yz, zz]]
    expected = mass * MASS_KG * length**2 * np.square(signed) * np.sign(signed)
    close(found.inertia, expected)


@pytest.mark.parametrize(
    ("table", "age"),
    [
        *((name, "") for name in ("dempster", "de_leva", "dumas", "dempster_proximal_radii")),
        *(("by_age", age) for age in ("2", "4", "9.5", "15")),
    ],
)
@pytest.mark.parametrize("segment", ["foot", "shank", "thigh"])
def test_every_table_gives_rigid_bodies_mirrored_sides_and_a_mean_of_the_sexes(
    table: str, age: str, segment: str
) -> None:
    men, women, either = (parameters(table, segment, sex=sex, age=age) for sex in ("M", "F", "n/a"))
    for one in (men, women, either):
        moments = np.linalg.eigvalsh(one.inertia)
        assert moments[0] > 0
        assert moments[2] <= moments[0] + moments[1]
    for field in SegmentParameters._fields:
        close(getattr(either, field), (getattr(men, field) + getattr(women, field)) / 2)
    left = parameters(table, segment, side="left", age=age)
    close(left.com, men.com @ FLIP)
    close(left.inertia, FLIP @ men.inertia @ FLIP)


@pytest.mark.parametrize(("table", "lost"), [("dempster", "lateral_malleolus"), ("de_leva", "heel"), ("dumas", "toe")])
def test_absent_landmark_of_a_table_is_the_users_to_mend(table: str, lost: str) -> None:
    for places in ({"ankle_centre": np.zeros(3)}, {"ankle_centre": np.zeros(3), lost: np.full(3, np.nan)}):
        with pytest.raises(UserError, match="the foot's parameters need the landmark"):
            from_table(segment_table(table), "foot", side="left", sex="M", body_mass_kg=MASS_KG, landmarks=places)


MEASURED = {
    "participant_id": "sub-01", "side": "left", "segment": "shank", "mass_kg": "3.5",
    "com_x_m": "0.01", "com_y_m": "-0.2", "com_z_m": "0.02",
    "ixx_kg_m2": "0.05", "iyy_kg_m2": "0.01", "izz_kg_m2": "0.055",
    "ixy_kg_m2": "0.001", "ixz_kg_m2": "-0.002", "iyz_kg_m2": "0.003",
}  # fmt: skip
TENSOR = np.array([[0.05, 0.001, -0.002], [0.001, 0.01, 0.003], [-0.002, 0.003, 0.055]])


ROD = dict.fromkeys(("iyy_kg_m2", "ixy_kg_m2", "ixz_kg_m2", "iyz_kg_m2"), "0") | {"izz_kg_m2": "0.05"}


@pytest.mark.parametrize("change", [{"ixx_kg_m2": "-0.05"}, {"izz_kg_m2": "0.07"}, {"iyz_kg_m2": "0.03"}, ROD])
def test_measured_tensor_that_no_body_has_is_refused(change: dict[str, str]) -> None:
    """A negative moment; one above the sum of the others; a product too large for its moments; a line."""
    with pytest.raises(UserError, match=r"segments\.tsv: sub-01 left shank: the inertia tensor"):
        from_measurement(MEASURED | change)


def test_measured_parameters_win_over_the_table() -> None:
    found = calibrated(body_model(ISB), standing(), segments=[MEASURED])
    plain = calibrated(body_model(ISB), standing())
    own = {"side": "left", "segment": "shank"}
    assert found.segment_mass.sel(own) == 3.5
    np.testing.assert_array_equal(found.segment_com.sel(own), [0.01, -0.2, 0.02])
    np.testing.assert_array_equal(found.segment_inertia.sel(own), TENSOR)
    for name in ("segment_mass", "segment_com", "segment_inertia"):
        changed = (found[name] != plain[name]).any([dim for dim in found[name].dims if dim not in own])
        assert changed.sel(own)
        assert changed.sum() == 1
    rows = [MEASURED | {"side": side, "segment": segment} for side in SIDES for segment in ("foot", "shank", "thigh")]
    assert calibrated(body_model(ISB), standing(), segments=rows).attrs["segment_parameters"] == "segments.tsv"


def test_a_measured_upper_body_is_kept_and_leaves_the_legs_to_the_table() -> None:
    found = calibrated(body_model(ISB), standing(), segments=[MEASURED | {"side": "n/a", "segment": "upper_body"}])
    plain = calibrated(body_model(ISB), standing())
    assert found.upper_body_mass == 3.5
    np.testing.assert_array_equal(found.upper_body_com, [0.01, -0.2, 0.02])
    np.testing.assert_array_equal(found.upper_body_inertia, TENSOR)
    assert found.drop_vars([name for name in found.data_vars if str(name).startswith("upper_body")]).identical(plain)


@pytest.mark.parametrize("side", SIDES)
def test_dumas_tensor_is_the_same_body_in_whatever_shank_axes(side: str) -> None:
    """With the fibula head, which defines the table's own axes, the tensor does not depend on the model's axes."""
    in_lab = []
    for name in ("ior", "ior_dumas"):
        found = calibrated(body_model(name), standing())
        rotation = skeleton_of(name, standing(), side).frames["shank"][0]
        own = found.sel(side=side, segment="shank")
        in_lab.append((own.segment_com.values @ rotation, rotation.T @ own.segment_inertia.values @ rotation))
        assert "shank" not in found.attrs["note"]
    close(in_lab[0][0], in_lab[1][0])
    close(in_lab[0][1], in_lab[1][1])
    # in the table's own axes the numbers are the table's
    mass, com, (xx, *_), _ = DUMAS["shank"]["M"]
    close(own.segment_com, SHANK_M * np.array(com) * (1, 1, -1 if side == "left" else 1))
    close(own.segment_inertia[0, 0], mass * MASS_KG * (xx * SHANK_M) ** 2)
