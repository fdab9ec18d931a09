"""The documentation: generated tables are current, no dead links, its code runs, its examples work.

Convention: every block fenced as ``python`` in README.md and docs/ runs unchanged, page by page, in the project's
folder after ``make demo``.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import yaml

from docs import conf, reference
from pipeline import FOR_SCRIPTS, __version__
from pipeline.__main__ import main
from pipeline.steps.calibrate.step import calibrate
from pipeline.steps.read.step import read_trial as read
from pipeline.steps.study.step import QUALITY
from pipeline.tables import study_tables
from pipeline.tables.corrections import corrections_of
from pipeline.trials.session import join_trials
from pipeline.workflow import settings
from tests.campaigns.mutations import LIST, read_mutations
from tests.support.checkout import HOUSE, planned
from tests.support.settings import settings_of
from tests.support.step_names import SESSION_STEPS
from tests.support.steps import clean, kinematics

DEMO = HOUSE / "data" / "demo"
DOCS = HOUSE / "docs"
PAGES = sorted([*HOUSE.glob("*.md"), *DOCS.glob("*.md")])
WITH_CODE = [page for page in PAGES if "```python" in page.read_text()]
LINK = re.compile(r"\]\(([^)\s]+)\)")
FUNCTION = re.compile(r"\[`(\w+)`\]\(([^)\s]+\.py)\)")
FILE = re.compile(r"`((?:tests|pipeline|config|docs)/[\w./]+)`")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def name_of(path: Path) -> str:
    return path.name


def without_code(path: Path) -> str:
    return FENCED.sub("", path.read_text())


def text_of(page: str) -> str:
    return (DOCS / page).read_text()


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", path.read_text(), re.MULTILINE | re.DOTALL)


def anchors(path: Path) -> set[str]:
    """Return the anchors of a page's headings, as on GitHub."""
    headings = re.findall(r"^#+ (.*)$", without_code(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", sorted({page for _, page in reference.pages_of_sections()}))
def test_settings_of_extras_are_fresh(name: str) -> None:
    assert reference.page(name) == text_of(name), "run: python docs/reference.py"


@pytest.mark.parametrize("name", reference.PAGES)
def test_generated_tables_are_current(name: str) -> None:
    assert reference.page(name) == text_of(name), "run: python docs/reference.py"
    assert reference.PAGES[name]() in text_of(name)  # a page without marks would pass otherwise


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_link_and_no_file_name_is_dead(page: Path) -> None:
    for link in LINK.findall(without_code(page)):
        if link.startswith(("http:", "https:")):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link
    assert [file for file in FILE.findall(without_code(page)) if not (HOUSE / file).exists()] == []


def test_reliability_counts_the_listed_mistakes() -> None:
    page = (HOUSE / "docs" / "reliability.md").read_text(encoding="utf-8")
    count = len(read_mutations(LIST.read_text(encoding="utf-8")))
    assert f"| {count} of {count} | `make mutations` |" in page


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_linked_names_are_in_the_linked_file(page: Path) -> None:
    for name, link in FUNCTION.findall(page.read_text()):
        tree = ast.parse((page.parent / link).read_text())
        defined = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        defined |= {
            node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        assert name in defined, link


def test_every_page_is_in_the_index() -> None:
    linked = {link.partition("#")[0] for link in LINK.findall(text_of("index.md"))}
    assert {page.name for page in DOCS.glob("*.md")} - {"index.md"} <= linked


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_test_that_a_page_names_exists(page: Path) -> None:
    for file, name in TEST.findall(page.read_text()):
        assert f"\ndef {name}(" in (HOUSE / file).read_text(), (file, name)


def test_every_hazard_has_a_test() -> None:
    rows = re.findall(
        r"^\| .* \|$", text_of("quality_system.md").partition("## Hazards")[2].partition("\n## ")[0], re.MULTILINE
    )
    assert len(rows) > 15
    assert [row for row in rows[2:] if not TEST.search(row)] == []


def test_figures_of_the_readme_are_those_of_the_validation() -> None:
    table = (HOUSE / "README.md").read_text().partition("## Can it be trusted?")[2].partition("Every trial")[0]
    quoted = re.findall(r"\b0\.\d+", table)
    assert len(quoted) > 10
    assert sorted({*quoted} - {*re.findall(r"\b0\.\d+", text_of("validation.md"))}) == []


def test_fractions_have_braces() -> None:
    """GitHub reads \\frac12 as TeX does; the site's formulas need \\frac{1}{2}."""
    assert re.findall(r"\\[td]?frac(?!\{).*", text_of("theory.md")) == []


def test_every_column_and_key_is_explained() -> None:
    columns = {
        *study_tables.PARTICIPANT_COLUMNS,
        *study_tables.TRIAL_COLUMNS,
        *study_tables.SEGMENT_COLUMNS,
        *study_tables.ROLES,
        *QUALITY,
    }
    assert columns <= set(re.findall(r"`(\w+)`", text_of("study_directory.md")))
    schema = settings.schema("body_model")
    keys = {*schema["properties"], *schema["$defs"]["segment"]["properties"]}
    keys |= {*schema["$defs"]["joint_centre"]["properties"], *schema["$defs"]["axis_rules"]["items"]["properties"]}
    keys |= {*schema["$defs"]["joint_centre"]["properties"]["method"]["enum"]}
    assert keys <= set(re.findall(r"\w+", text_of("body_models.md")))
    assert all(f"`{name}`" in text_of("body_models.md") for name in settings.shipped_body_models())


@pytest.mark.parametrize(
    ("page", "heading", "count"), [("study_directory.md", "## When a run fails", 4), ("faq.md", "# Questions", 15)]
)
def test_quoted_messages_occur_in_the_code(page: str, heading: str, count: int) -> None:
    quoted = re.findall(r'^\*\*"(.*?)"\*\*', text_of(page).split(heading)[1], re.MULTILINE)
    code = "".join(file.read_text() for file in (HOUSE / "pipeline").rglob("*.py"))
    joined = re.sub(r'"\s+f?"', "", code)  # strings that are written in parts
    assert len(quoted) >= count
    assert [part for text in quoted for part in re.split(r" ?\.\.\. ?", text) if part not in joined] == []


def test_lines_of_the_first_box_are_those_of_the_report() -> None:
    section = text_of("reading_the_report.md").split("## Is the data good?")[1].partition("\n### ")[0]
    described = re.findall(r"^\| ([A-Z][^|]*) \|", section, re.MULTILINE)
    code = (HOUSE / "pipeline" / "steps" / "report" / "data_check.py").read_text()
    assert {*described} == {*re.findall(r'return Point\([^"]*"([^"]+)"', code)}


def test_version_is_the_same_everywhere() -> None:
    assert yaml.safe_load((HOUSE / "CITATION.cff").read_text())["version"] == __version__
    assert f"## [{__version__}]" in (HOUSE / "CHANGELOG.md").read_text()


def test_every_page_is_in_the_side_bar() -> None:
    listed = [page for pages in conf.navigation.values() for page in pages]
    assert sorted(listed) == sorted(page.stem for page in DOCS.glob("*.md") if page.stem != "index")


# --- code that runs ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def after_demo(run_of_two: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with results in data/demo."""
    house = tmp_path_factory.mktemp("house")
    shutil.copytree(run_of_two / "data", house / "data", copy_function=shutil.copy2)
    (house / "my_study").symlink_to(house / "data" / "demo")  # its name in the tutorial
    return house


@pytest.mark.parametrize("page", WITH_CODE, ids=name_of)
def test_python_runs(page: Path, after_demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(after_demo)
    names: dict[str, object] = {}
    for block in blocks(page, "python"):
        exec(compile(block, str(page), "exec"), names)  # noqa: S102 (the project's own pages)


@pytest.mark.parametrize("name", FOR_SCRIPTS)
def test_examples_in_docstrings_of_functions_for_scripts_hold(
    name: str, after_demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(after_demo)
    module = importlib.import_module(FOR_SCRIPTS[name], "pipeline")
    runner = doctest.DocTestRunner(verbose=False)
    (found,) = (test for test in doctest.DocTestFinder(recurse=False).find(getattr(module, name), name, module))
    runner.run(found)
    assert runner.summarize(verbose=False).failed == 0
    assert runner.tries > 0


def test_every_coordinate_is_explained(after_demo: Path) -> None:
    derived = after_demo / "data" / "demo" / "derived"
    found: set[str] = set()
    for path in derived.rglob("*.nc"):
        with xr.open_dataset(path, decode_times=False) as file:
            found |= {*map(str, file.coords)}
    own = set((DEMO / "participants.tsv").read_text().splitlines()[0].split("\t"))
    own |= {f"{name}_of_stance" for name in own}
    assert found - own <= set(re.findall(r"`(\w+)`", text_of("outputs.md")))


# --- the tutorial and the answers of the how-to page -----------------------------------------------------------------


def commands(page: Path) -> list[tuple[str, str]]:
    """Return each command of a page's console blocks with the output printed below it."""
    parts = [part for block in blocks(page, "console") for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [(command, output) for command, _, output in (part.partition("\n") for part in parts)]


def test_commands_of_the_tutorial_print_the_shown_output(
    after_demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").symlink_to(after_demo / "data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    done = []
    for command, output in commands(DOCS / "tutorial.md"):
        words = shlex.split(command)
        if "my_study" not in command or words[:2] == ["gaitlab", "run"]:
            continue
        if words[0] == "gaitlab":
            assert main(words[1:]) == int("error" in output)
            # the number of body models that the table leaves out may change
            printed = re.sub(r"^\d+ more( +)less$", r"21 more\1less", capsys.readouterr().out, flags=re.MULTILINE)
            assert printed == output, command
        else:
            assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == output, command
        done.append(words[0])
    assert done == ["mkdir", "cp", "gaitlab", "cat", "gaitlab", "mv", "gaitlab", "mv"]


def test_dry_run_of_the_tutorial_lists_the_planned_jobs(after_demo: Path, tmp_path: Path) -> None:
    """First all steps, after the change of a filter those of the dry run."""
    outputs = [output for command, output in commands(DOCS / "tutorial.md") if "Job stats" in output]
    (after_change,) = (dict(re.findall(r"^(\w+) +(\d+)$", output, re.MULTILINE)) for output in outputs)
    of_all = 3  # study, report and page_files
    assert f"{2 * (len(SESSION_STEPS) + 1) + of_all} steps to do in 2 sessions" in (DOCS / "tutorial.md").read_text()
    study = Path(shutil.copytree(after_demo / "data" / "demo", tmp_path / "study", copy_function=shutil.copy2))
    (edited,) = blocks(DOCS / "tutorial.md", "yaml")
    (study / "study.yaml").write_text(edited)
    jobs = planned(study)
    assert {job.partition(":")[0] for job in jobs} == set(after_change) - {"all", "total"}
    expected = {name: "1" if name in ("study", "report", "all") else "2" for name in after_change if name != "total"}
    assert after_change == expected | {"total": str(sum(map(int, expected.values())))}


def test_settings_and_body_model_of_the_answers_are_valid(tmp_path: Path) -> None:
    for block in blocks(DOCS / "how_to.md", "yaml"):
        written = yaml.safe_load(block)
        if "extends" in written:
            (tmp_path / "our_lab.yaml").write_text(block)
            written = {"body_model": "our_lab.yaml"}
        settings.load_settings({"body_model": "plug_in_gait"} | written, where="how_to.md", study_path=tmp_path)


def test_tables_of_the_answers_are_valid(tmp_path: Path) -> None:
    names = ("trials.tsv", "slopes.tsv", "corrections.tsv")
    for name, block in zip(names, blocks(DOCS / "how_to.md", "text"), strict=True):
        (tmp_path / name).write_text(block)
    uphill, none = study_tables.trials_of(tmp_path / "slopes.tsv", None)
    slopes = [study_tables.slope_in_row(row).get("slope_degrees") for row in uphill["sub-01"]]
    assert (slopes, none) == ([0, 10, -10, None], [])
    sessions, problems = study_tables.trials_of(tmp_path / "trials.tsv", None)
    corrected, further = corrections_of(tmp_path / "corrections.tsv", sessions)
    assert problems + further == []
    assert [row["role"] for row in sessions["sub-01"]] == ["gait", "static"]
    assert [*map(len, corrected.values())] == [2]


# --- the body model of the page ------------------------------------------------------------------------------------

RENAMED = {
    "ASI": "asis", "PSI": "psis", "LEK": "knee_out", "MEK": "knee_in", "LML": "ankle_out", "MML": "ankle_in",
    "TH1": "thigh_a", "TH2": "thigh_b", "TH3": "thigh_c", "SK1": "shank_a", "SK2": "shank_b", "SK3": "shank_c",
    "HEE": "heel", "MT1": "mt1", "MT2": "mt2", "MT5": "mt5",
}  # fmt: skip


def motion_of(name: str, folder: Path, recorded: dict[str, xr.Dataset]) -> xr.Dataset:
    """Return the kinematics of the walk among two recordings, by segments, with Bell's hip."""
    chosen, model = settings.load_settings({"body_model": name}, where="study.yaml", study_path=folder)
    calibration = calibrate(
        join_trials(recorded),
        body_model=model,
        participant={"participant_id": "sub-01", "mass_kg": "74.6", "sex": "M"},
        segments=[],
        segment_table=settings.segment_table("dempster"),
        settings=settings_of("calibrate", hip_centre="bell"),
    )
    cleaned = clean(recorded["walk"], body_model=model, settings=settings_of("clean", **chosen["clean"]))
    by_segments = settings_of("kinematics", **chosen["kinematics"] | {"method": "segments"})
    return kinematics(cleaned, calibration, body_model=model, settings=by_segments)


def test_body_model_of_the_page_finds_the_joints_of_a_shipped_one(tmp_path: Path) -> None:
    (example,) = (block for block in blocks(DOCS / "body_models.md", "yaml") if "name: coast_lab" in block)
    (tmp_path / "coast_lab.yaml").write_text(example)
    isb = settings.load_body_model("isb_clusters", where="study.yaml", study_path=tmp_path)
    recorded = {
        name: read(DEMO / "sub-01" / f"{file}.c3d", body_model=isb, lab_axes="quarter_turn").assign_attrs(role=role)
        for name, file, role in (("static", "static", "static"), ("walk", "comfortable_01", "gait"))
    }
    labels = {
        side + old: f"{text}_{new}" for old, new in RENAMED.items() for side, text in (("L", "lft"), ("R", "rgt"))
    }
    renamed = {
        name: trial.assign_coords(marker=[labels.get(str(label), str(label)) for label in trial.marker.values])
        for name, trial in recorded.items()
    }
    renamed["walk"] = renamed["walk"].drop_sel(marker=["lft_mt1", "rgt_mt1"])  # removed after the static trial
    ours, theirs = motion_of("coast_lab.yaml", tmp_path, renamed), motion_of("isb_clusters", tmp_path, recorded)
    # clusters of three markers instead of four, 0.2 mm of noise per marker, some distance from the joint
    away = ours.joint_centre - theirs.joint_centre
    assert float(np.sqrt((away**2).sum("axis", skipna=False)).max()) < 0.003
    # the technical axes of the foot use heel and fifth metatarsal only, and follow the shank in inversion
    turned = (ours.joint_angle - theirs.joint_angle).sel(angle="flexion")
    assert float(np.abs(turned).max(skipna=False)) < 3
