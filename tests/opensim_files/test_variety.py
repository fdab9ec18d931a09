"""TRC and MOT files as many programs write them: one known walk in each form is read as the same arrays."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.opensim_files.mot import FORCES, Forces, read_mot, what_it_holds
from pipeline.opensim_files.trc import read_trc
from tests.support.checkout import DEMO
from tests.support.files.opensim import as_opensim, load_columns, mot_text

Array = NDArray[np.float64]
Form = Callable[[str], str]
HEADER_LINES = 5
UNSEEN = 3  # the marker that the walk hides, in its first frames


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Return a walk of the generated study as texts of a TRC and a MOT file, with a gap of one marker."""
    folder = tmp_path_factory.mktemp("walk")
    as_opensim(DEMO / "sub-01/fast_01.c3d", folder / "walk.trc", folder / "walk.mot")
    lines = (folder / "walk.trc").read_text().splitlines()
    for i in range(HEADER_LINES + 1, HEADER_LINES + 20):
        cells = lines[i].split("\t")
        cells[2 + 3 * UNSEEN : 5 + 3 * UNSEEN] = [""] * 3
        lines[i] = "\t".join(cells)
    return "\n".join(lines) + "\n", (folder / "walk.mot").read_text()


def of_lines(edit: Form) -> Form:
    """Return a form that changes each line."""
    return lambda text: "\n".join(map(edit, text.split("\n")))


def of_header(number: int, edit: Callable[[list[str]], list[str]]) -> Form:
    """Return a form that changes the cells of a line of the header, by its number from 0."""

    def changed(text: str) -> str:
        lines = text.split("\n")
        lines[number] = "\t".join(edit(lines[number].split("\t")))
        return "\n".join(lines)

    return changed


def of_cells(edit: Form) -> Form:
    """Return a form that changes each cell of the rows of numbers."""
    row = re.compile(r"\d+\t\d")
    return of_lines(lambda line: "\t".join(map(edit, line.split("\t"))) if row.match(line) else line)


TRC_FORMS: dict[str, Form] = {
    "names above every second column (KU Leuven)": of_header(3, lambda cells: ["Frame#", "Times", "", *cells[2:]]),
    "names without columns between": of_header(3, lambda cells: [cell for cell in cells if cell]),
    "no tabs at the ends of lines": of_lines(lambda line: line.rstrip()),
    "missing as 0": of_cells(lambda cell: cell or "0.000000"),
    "decimal commas": lambda text: text[:60] + text[60:].replace(".", ","),
    "exponents": of_cells(lambda cell: f"{float(cell):.9E}" if "." in cell else cell),
    "frames with decimals": of_lines(lambda line: re.sub(r"^(\d+)\t", r"\1.0\t", line)),
    "padded numbers": of_lines(lambda line: "\t".join(f"{c:>9} " if c else c for c in line.split("\t"))),
    "a number missing": of_header(2, lambda cells: [cells[0], "", *cells[2:]]),
    "unit in words": of_header(2, lambda cells: [cell.replace("mm", "Millimeters") for cell in cells]),
    "rate rounded down": of_header(2, lambda cells: ["99", "99", *cells[2:]]),
    "fewer frames in the header": of_header(2, lambda cells: [*cells[:2], "7", *cells[3:]]),
    "more markers in the header": of_header(2, lambda cells: [*cells[:3], "99", *cells[4:]]),
    "axes counted from 0": of_header(4, lambda cells: [re.sub(r"\d+", "0", cell) for cell in cells]),
    "without X1, Y1, Z1 and a blank line": lambda text: re.sub(r"\n\t\tX1.*\n\n", "\n", text),
    "header with blanks (Pose2Sim)": lambda text: text.replace("PathFileType\t4\t", "PathFileType  4\t"),
    "blank lines at the end": lambda text: text + "\n\n",
}


@pytest.mark.parametrize("form", TRC_FORMS)
def test_markers_are_the_same_in_every_form(tmp_path: Path, walk: tuple[str, str], form: str) -> None:
    (tmp_path / "known.trc").write_text(walk[0])
    text = TRC_FORMS[form](walk[0])
    assert text != walk[0]
    (tmp_path / "walk.trc").write_bytes(text.encode())
    known, found = read_trc(tmp_path / "known.trc"), read_trc(tmp_path / "walk.trc")
    assert np.isnan(known.positions[:19, UNSEEN]).all()
    assert found.labels == known.labels
    assert found.rate_hz == pytest.approx(known.rate_hz, rel=1e-6)
    np.testing.assert_allclose(found.positions, known.positions, rtol=1e-9)


def test_a_marker_without_a_name_takes_no_other_ones_columns(tmp_path: Path, walk: tuple[str, str]) -> None:
    (tmp_path / "known.trc").write_text(walk[0])
    known = read_trc(tmp_path / "known.trc")
    (tmp_path / "walk.trc").write_text(walk[0].replace(f"\t{known.labels[2]}\t", "\t\t"))
    found = read_trc(tmp_path / "walk.trc")
    assert found.labels == [*known.labels[:2], "", *known.labels[3:]]
    np.testing.assert_array_equal(found.positions, known.positions)


def test_video_a_little_slower_than_its_nominal_rate_is_read_by_its_times(
    tmp_path: Path, walk: tuple[str, str]
) -> None:
    """59.94 frames a second are called 60, which after 500 frames is half a frame."""
    rows = "\n".join(f"{i + 1}\t{i * 1.001 / 60:.4f}\t1\t2\t3" for i in range(1500))
    text = "\n".join([*walk[0].split("\n")[:2], "60\t60\t1500\t1\tm\t60\t1\t1500", "Frame#\tTime\tA", "\t\tX1\tY1\tZ1"])
    (tmp_path / "walk.trc").write_text(f"{text}\n\n{rows}\n")
    found = read_trc(tmp_path / "walk.trc")
    assert found.rate_hz == pytest.approx(60 / 1.001, rel=1e-5)
    assert np.isfinite(found.positions).all()
    assert len(found.positions) == 1500


def renamed(force: str, point: str, torque: str) -> Callable[[str], str]:
    """Return names of columns by patterns of the number ``n``, side ``s`` and axis ``a`` of a load."""

    def name(label: str) -> str:
        number = int(label[0]) + 1 if label[0].isdecimal() else 1
        kind = torque if "torque" in label else {"v": force, "p": point}[label[-2]]
        return kind.format(n=number, s="rls"[number - 1], a=label[-1], k="xyz".index(label[-1]) + 1)

    return name


NAMES = {
    "OpenSim, from C3D": ("ground_force_{n}_v{a}", "ground_force_{n}_p{a}", "ground_moment_{n}_m{a}"),
    "side first": ("{s}_ground_force_v{a}", "{s}_ground_force_p{a}", "{s}_ground_torque_{a}"),
    "side last": ("ground_force_{s}_v{a}", "ground_force_{s}_p{a}", "ground_torque_{s}_{a}"),
    "AddBiomechanics": ("ground_force_calcn_{s}_v{a}", "ground_force_calcn_{s}_p{a}", "ground_force_calcn_{s}_m{a}"),
    "number last": ("ground_force_v{a}{n}", "ground_force_p{a}{n}", "ground_torque_{a}{n}"),
    "C3DFileAdapter, flat": ("f{n}_{k}", "p{n}_{k}", "m{n}_{k}"),
    "C3DFileAdapter, axes": ("f{n}{a}", "p{n}{a}", "m{n}{a}"),
    "words": ("FP{n}_Force_{a}", "FP{n}_COP_{a}", "FP{n}_Moment_{a}"),
    "grf": ("grf_{s}_v{a}", "grf_{s}_p{a}", "grm_{s}_{a}"),
    "treadmill": ("Treadmill_{s}_v{a}", "Treadmill_{s}_p{a}", "Treadmill_{s}_moment_{a}"),
    "labels that repeat": ("ground_force_v{a}", "ground_force_p{a}", "ground_torque_{a}"),  # OpenSim before 4
}


def assert_same(found: Forces, known: Forces, torque_digit: float = 1e-6) -> None:
    np.testing.assert_allclose(found.time, known.time, atol=1e-9)
    assert len(found.loads) == len(known.loads) == 3
    for one, other in zip(found.loads, known.loads, strict=True):
        np.testing.assert_allclose(one.force, other.force, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(one.moment, other.moment, rtol=1e-6, atol=torque_digit)
        np.testing.assert_allclose(one.point, other.point, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("style", NAMES)
def test_loads_are_the_same_under_every_name(tmp_path: Path, walk: tuple[str, str], style: str) -> None:
    (tmp_path / "known.mot").write_text(walk[1])
    known = read_mot(tmp_path / "known.mot")
    header, labels, rows = re.split(r"(time.*)\n", walk[1], maxsplit=1)
    names = ["time", *map(renamed(*NAMES[style]), labels.split("\t")[1:])]
    (tmp_path / "walk.mot").write_text(header + "\t".join(names) + "\n" + rows)
    assert what_it_holds(tmp_path / "walk.mot") == FORCES
    assert_same(read_mot(tmp_path / "walk.mot"), known)


def rows_of(text: str) -> str:
    return text.partition("endheader\n")[2]


MOT_FORMS: dict[str, Form] = {
    "header of SIMM": lambda text: "name a b\ndatacolumns 28\ndatarows 9\nrange 0 1\nendheader\n\n" + rows_of(text),
    "header with blanks": lambda text: text.replace("=", " = ").replace("endheader", "endheader "),
    "no endheader": lambda text: text.replace("endheader\n", ""),
    "no header": rows_of,
    "padded, with tabs at the ends": of_lines(lambda line: "\t".join(f"{c:>20}" for c in line.split("\t")) + "\t"),
    "blanks between": lambda text: text.replace("\t", "   "),
    "decimal commas": lambda text: text.replace(".", ","),
    "joint angles beside": of_lines(
        lambda line: f"{line}\t{'0.1' if line[0].isdecimal() else 'pelvis_tx'}" if "\t" in line else line
    ),
}


@pytest.mark.parametrize("form", MOT_FORMS)
def test_loads_are_the_same_in_every_form(tmp_path: Path, walk: tuple[str, str], form: str) -> None:
    (tmp_path / "known.mot").write_text(walk[1])
    text = MOT_FORMS[form](walk[1])
    assert text != walk[1]
    (tmp_path / "walk.mot").write_text(text)
    assert_same(read_mot(tmp_path / "walk.mot"), read_mot(tmp_path / "known.mot"))


def test_torques_about_a_plates_origin_are_in_newton_metres(tmp_path: Path, walk: tuple[str, str]) -> None:
    """Two metres from where the foot presses, and so far larger than the free moment."""
    (tmp_path / "known.mot").write_text(walk[1])
    known = read_mot(tmp_path / "known.mot")
    columns: dict[str, Array] = {}
    for number, load in enumerate(known.loads):
        origin = np.zeros_like(load.point) + load.point.max(axis=0) + [2, 0, 0]
        torque = load.moment - np.cross(origin, load.force)
        torque[(load.force == 0).all(axis=1)] = 0
        columns |= load_columns(load.force, origin, torque, before=f"{number}_")
    (tmp_path / "walk.mot").write_text(mot_text(known.time, columns))
    for one, other in zip(read_mot(tmp_path / "walk.mot").loads, known.loads, strict=True):
        np.testing.assert_allclose(one.moment, other.moment, atol=1e-3)


@pytest.mark.parametrize("both", [True, False])
def test_millimetres_are_known_by_their_size(tmp_path: Path, walk: tuple[str, str], both: bool) -> None:
    """OpenSim's reader of C3D files keeps mm and N mm; some labs convert the points alone."""
    (tmp_path / "known.mot").write_text(walk[1])
    _, labels, rows = re.split(r"(time.*)\n", walk[1], maxsplit=1)
    names = labels.split("\t")
    values = np.array([line.split("\t") for line in rows.splitlines()], dtype=float)
    scale = [1000.0 if "torque" in name or (both and "_p" in name) else 1.0 for name in names]
    columns = dict(zip(names[1:], (values * scale).T[1:], strict=True))
    (tmp_path / "walk.mot").write_text(mot_text(values[:, 0], columns))
    assert_same(read_mot(tmp_path / "walk.mot"), read_mot(tmp_path / "known.mot"), torque_digit=1e-4)


def test_a_free_moment_alone_is_a_torque(tmp_path: Path, walk: tuple[str, str]) -> None:
    _, labels, rows = re.split(r"(time.*)\n", walk[1], maxsplit=1)
    names = labels.split("\t")
    values = np.array([line.split("\t") for line in rows.splitlines()], dtype=float)
    level = [i for i, name in enumerate(names) if name.endswith(("torque_x", "torque_y"))]  # z is up in this file
    values[:, level] = 0
    whole = dict(zip(names[1:], values.T[1:], strict=True))
    (tmp_path / "known.mot").write_text(mot_text(values[:, 0], whole))
    alone = {name: column for name, column in whole.items() if names.index(name) not in level}
    (tmp_path / "walk.mot").write_text(mot_text(values[:, 0], alone))
    assert_same(read_mot(tmp_path / "walk.mot"), read_mot(tmp_path / "known.mot"))


def test_a_small_force_without_a_point_has_that_of_its_neighbours(tmp_path: Path, walk: tuple[str, str]) -> None:
    """Under 50 N the point of application moves by less than a foot's width from that of the first larger force."""
    _, labels, rows = re.split(r"(time.*)\n", walk[1], maxsplit=1)
    values = np.array([line.split("\t") for line in rows.splitlines()], dtype=float)
    columns = dict(zip(labels.split("\t")[1:], values.T[1:], strict=True))
    (tmp_path / "known.mot").write_text(walk[1])
    known = read_mot(tmp_path / "known.mot")
    for load, before in zip(known.loads, ("", "1_", "2_"), strict=True):
        small = np.linalg.norm(load.force, axis=1) < 50
        for axis in "xyz":
            columns[f"{before}ground_force_p{axis}"][small] = np.nan
            columns[f"{before}ground_torque_{axis}"][small] = np.nan
    (tmp_path / "walk.mot").write_text(mot_text(values[:, 0], columns))
    for one, other in zip(read_mot(tmp_path / "walk.mot").loads, known.loads, strict=True):
        assert np.abs(one.moment - other.moment).max() < 50 * 0.1


def test_contact_forces_without_points_are_no_ground_reaction(tmp_path: Path) -> None:
    """Of the simulation's output beside a trial; init must not pair it with the markers."""
    for names in ("foot_r.ground.force.{}", "ankle_r_on_talus_r_in_ground_f{}", "F{}"):
        (tmp_path / "walk.sto").write_text(mot_text(np.arange(3.0), {names.format(a): np.ones(3) for a in "XYZ"}))
        assert what_it_holds(tmp_path / "walk.sto") != FORCES
