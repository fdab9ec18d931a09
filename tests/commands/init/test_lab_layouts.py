"""The layouts of laboratories: well-formed, consistent, and written as recordings that say what their truth says."""

from __future__ import annotations

import fnmatch
from collections import Counter
from dataclasses import replace
from pathlib import Path, PurePosixPath

import ezc3d
import numpy as np
import pytest
import yaml

from tests.commands.init.layouts.generated import generated
from tests.commands.init.layouts.layout import FOLDER, ITEMS, ROLES, TOPICS, Layout, Recording, lab_layouts, layout_of
from tests.commands.init.layouts.write import body, write

FEWEST_PER_ITEM = 4
WINDOWS_REFUSES = set('<>:"\\|?*\0')
MARKERS = (".c3d", ".trc")
FARTHER_M = 0.5  # a walk of a second gets farther, the pelvis of every other movement not


@pytest.fixture(scope="module")
def by_hand() -> list[Layout]:
    return lab_layouts()


@pytest.fixture(scope="module")
def composed() -> list[Layout]:
    return generated()


def faults(layout: Layout) -> list[str]:
    """Return what is wrong with a layout, or nothing."""
    found = [*path_faults(layout), *order_faults(layout)]
    for path, one in layout.recordings.items():
        original = layout.recordings.get(one.copy_of)
        checks = {
            "role": one.role in ROLES,
            "person or visit": one.person and one.visit,
            "condition": one.condition == one.condition.lower() and " " not in one.condition,
            "height without mass": one.mass_kg is not None or one.height_m is None,
            "size": one.mass_kg is None or one.height_m is None or 10 < one.mass_kg / one.height_m**2 < 60,
            "subject in TRC": not (path.endswith(".trc") and (one.subject or one.height_m)),
            "copy": not one.copy_of or original == replace(one, copy_of=""),
        }
        found += [f"{path}: {name}" for name, holds in checks.items() if not holds]
    texts = " ".join([*layout.recordings, *(one.subject for one in layout.recordings.values())])
    found += [f"private {word} is nowhere" for word in layout.private if word not in texts]
    conditions = {one.condition for one in layout.recordings.values()}
    found += [f"words of {condition}, which no file has" for condition in layout.words if condition not in conditions]
    found += [f"item {item}" for item in layout.items if item not in ITEMS]
    found += [f"topic {topic}" for topic in layout.ask if topic not in TOPICS]
    return found


def path_faults(layout: Layout) -> list[str]:
    """Return paths that no file system of a laboratory can hold together."""
    paths = [*layout.recordings, *layout.others]
    same = [path for path, count in Counter(path.casefold() for path in paths).items() if count > 1]
    above = {str(parent) for path in paths for parent in PurePosixPath(path).parents}
    bad = [
        path
        for path in paths
        if WINDOWS_REFUSES & set(path)
        or path in above
        or any(part != part.strip(" ") or not part.strip(". ") or part.endswith(".") for part in path.split("/"))
    ]
    bad += [path for path in layout.recordings if not path.lower().endswith(MARKERS)]
    bad += [path for path in layout.others if path.lower().endswith(MARKERS)]
    return same + bad


def order_faults(layout: Layout) -> list[str]:
    """Return persons whose visits, dates and order contradict each other."""
    found = []
    for person, order in layout.order.items():
        own = [one for one in layout.recordings.values() if one.person == person]
        dates = {one.visit: one.date for one in own}
        if order is None:
            found += [f"{person}: asks for the order of one visit"] * (len(dates) < 2)
            continue
        found += [f"{person}: order {order}, visits {sorted(dates)}"] * (sorted(order) != sorted(dates))
        found += [f"{person}: {one.visit} has two dates" for one in own if one.date != dates[one.visit]]
        days = [day for visit in order if (day := dates.get(visit)) is not None]
        found += [f"{person}: dates against the order"] * (days != sorted(days))
    if {one.person for one in layout.recordings.values()} != set(layout.order):
        found.append("persons without order")
    if (None in layout.order.values()) != ("order" in layout.ask):
        found.append("order is asked for by a person or by the layout, not by both")
    return found


def test_layouts_written_by_hand_are_sound(by_hand: list[Layout]) -> None:
    assert {layout.name: wrong for layout in by_hand if (wrong := faults(layout))} == {}
    assert len({layout.name for layout in by_hand}) == len(by_hand) >= 60
    assert sum(layout.exotic for layout in by_hand) <= len(by_hand) / 4
    counts = Counter(item for layout in by_hand for item in layout.items)
    assert all(counts[item] >= FEWEST_PER_ITEM for item in ITEMS), counts


def test_generated_layouts_are_sound_and_different(composed: list[Layout]) -> None:
    assert {layout.name: wrong for layout in composed if (wrong := faults(layout))} == {}
    assert len({frozenset(layout.recordings.items()) for layout in composed}) == len(composed) == 3000
    assert len({frozenset(layout.recordings) for layout in composed}) > 2900
    counts = Counter(item for layout in composed for item in layout.items)
    assert all(counts[item] >= 100 for item in ITEMS), counts


def test_a_seed_gives_the_same_layouts(composed: list[Layout]) -> None:
    assert generated(200) == composed[:200]
    assert generated(200, seed=2) != composed[:200]


def test_every_pattern_of_stated_facts_meets_a_file() -> None:
    contents = [content for path in FOLDER.glob("*.yaml") for content in yaml.safe_load(path.read_text("utf-8"))]
    patterns = [(content, pattern) for content in contents for pattern in content.get("states", {})]
    assert patterns
    idle = [
        (content["name"], pattern)
        for content, pattern in patterns
        if not fnmatch.filter(layout_of(content).recordings, pattern)
    ]
    assert idle == []


def test_files_state_what_the_layout_says(tmp_path: Path, by_hand: list[Layout]) -> None:
    layout = next(one for one in by_hand if one.name == "role_folders_generic_subject")
    write(layout, tmp_path)
    assert {str(path.relative_to(tmp_path).as_posix()) for path in tmp_path.rglob("*.c3d")} == set(layout.recordings)
    for path, recording in layout.recordings.items():
        parameters = ezc3d.c3d(str(tmp_path / path))["parameters"]
        assert parameters["SUBJECTS"]["NAMES"]["value"] == [recording.subject]
        assert parameters["PROCESSING"]["Bodymass"]["value"] == pytest.approx([recording.mass_kg])
        assert parameters["PROCESSING"]["Height"]["value"] == pytest.approx([1e3 * (recording.height_m or 0)])
    contents = [path.read_bytes() for path in tmp_path.rglob("*.c3d")]
    assert len(set(contents)) == len(contents)


def test_a_copy_has_equal_bytes_and_trc_files_have_their_forces(tmp_path: Path, by_hand: list[Layout]) -> None:
    for name in ("shoes_in_folders_same_file_names", "trc_with_forces"):
        layout = next(one for one in by_hand if one.name == name)
        write(layout, tmp_path / name)
        written = {path.relative_to(tmp_path / name).as_posix() for path in (tmp_path / name).rglob("*.*")}
        assert written == {*layout.recordings, *layout.others}
        for path, recording in layout.recordings.items():
            if recording.copy_of:
                assert (tmp_path / name / path).read_bytes() == (tmp_path / name / recording.copy_of).read_bytes()


@pytest.mark.parametrize("role", ROLES)
def test_movements_are_those_of_the_role(role: str) -> None:
    markers = body(Recording("A", "v1", role, height_m=1.7), seed=1)
    pelvis = np.mean([markers[side + name] for side in "LR" for name in ("ASI", "PSI")], axis=0)
    travel = np.linalg.norm(pelvis[-1, :2] - pelvis[0, :2])
    moves = max(np.ptp(marker, axis=0).max() for marker in markers.values())
    assert (travel > FARTHER_M) == (role == "walk")
    assert (moves < 0.01) == (role == "static")
    assert markers["LASI"][:, 2] == pytest.approx(0.55 * 1.7, abs=0.01) or role == "other"
