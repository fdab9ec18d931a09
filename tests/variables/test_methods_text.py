"""The methods paragraph says what the settings are: each clause changes with its setting."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.__main__ import main
from pipeline.variables.methods_text import CITATION, TABLES, describe_methods, keep_of_model
from pipeline.workflow import settings
from pipeline.workflow.strict_yaml import read_yaml
from tests.support.checkout import HOUSE

DEFAULTS = read_yaml(HOUSE / "config" / "default.yaml") | {"body_model": "my_model"}
MODEL = {
    "segment_parameters": "dempster",
    **{f"hip_centre_{side}": "harrington" for side in ("left", "right")},
    **{f"knee_centre_{side}": "midpoint: lateral_epicondyle, medial_epicondyle" for side in ("left", "right")},
    "body_mass_kg": 70.0,
}
REFERENCE = {"title": "our controls", "people": "30 adults of 20 to 40 years", "citation": "Doe J (2020)"}
FILTERED = "were low-pass filtered by a zero-lag Butterworth filter of order 4 with its -3 dB point"
HIPS = settings.schema("settings")["properties"]["calibrate"]["properties"]["hip_centre"]["enum"]
CLAUSES = [
    ("clean", "max_gap_s", 0.05, "by splines up to 0.05 s"),
    ("clean", "max_pattern_gap_s", 0.3, "from neighbouring markers up to 0.3 s"),
    ("clean", "marker_cutoff_hz", 6, f"Trajectories {FILTERED} at 6 Hz"),
    ("clean", "marker_cutoff_hz", "residual", "chosen for each marker by residual analysis (Winter 2009)"),
    ("clean", "marker_cutoff_hz", None, "Trajectories were not filtered"),
    ("clean", "marker_filter", "gcv_spline", "quintic splines with generalised cross-validation (Woltring 1986)"),
    ("clean", "filter_order", 2, "Butterworth filter of order 2 "),
    ("clean", "force_cutoff_hz", 50, f"without their baseline, {FILTERED} at 50 Hz"),
    ("clean", "force_cutoff_hz", None, "without their baseline, were not filtered"),
    ("contacts", "threshold_n", 10, "crosses 10 N"),
    ("contacts", "kinematic_events", "oconnor", "O'Connor et al. 2007"),
    ("contacts", "kinematic_events", "handsaker", "Handsaker et al. 2016"),
    ("contacts", "edge_margin_m", 0.01, "at most 10 mm beyond their edge"),
    ("contacts", "max_cop_distance_m", 0.05, "at most 50 mm from the foot"),
    ("contacts", "time_offset", "correct", "Time offsets between plates and markers were corrected"),
    ("kinematics", "method", "linked", "Lu and O'Connor 1999; hip ball, knee ball, ankle ball"),
    ("kinematics", "angle_convention", "plug_in_gait", "(ankle: flexion, rotation, inversion), as in Plug-in Gait"),
    ("kinematics", "static_offset", "subtract", "angles of the static trial were subtracted"),
    ("kinetics", "gravity_m_s2", 9.81, "gravity 9.81 m/s2"),
    ("kinetics", "uncertainty_draws", 200, "Bands of 95 % are from 200 Monte Carlo draws"),
    ("cycles", "doubted_stances", "use", "Stances with doubtful kinetics were kept"),
    ("cycles", "emg_normalisation", "peak", "envelope of each muscle of a session was divided by its peak"),
    ("cycles", "emg_normalisation", "reference", "divided by the highest mean over 0.5 s of reference contractions"),
]  # fmt: skip


def text_of(used: dict[str, Any], *models: dict[str, Any], reference: dict[str, Any] | None = None) -> str:
    study = {"settings": json.dumps(used), "pipeline_version": "1.2.3"}
    study |= {"reference": json.dumps(reference)} if reference else {}
    return describe_methods(study, models or [MODEL])


@pytest.mark.parametrize(("section", "key", "value", "words"), CLAUSES)
def test_a_clause_follows_its_setting(section: str, key: str, value: object, words: str) -> None:
    changed = copy.deepcopy(DEFAULTS)
    changed[section][key] = value
    assert words in text_of(changed)
    assert words not in text_of(DEFAULTS)


@pytest.mark.parametrize("method", HIPS)
def test_the_hip_centre_is_that_of_the_models(method: str) -> None:
    text = text_of(DEFAULTS, MODEL | {f"hip_centre_{side}": f"{method}: 3 mm" for side in ("left", "right")})
    author = method.split("_", maxsplit=1)[0].capitalize() if method != "functional" else "Gamage and Lasenby"
    kind = "functional method" if method == "functional" else "regression"
    assert re.search(rf"The hip joint centre was found by the {kind} of {author}", text)


def test_what_differs_between_sessions_is_named_in_full() -> None:
    child = MODEL | {"segment_parameters": "jensen", "knee_centre_left": "chord: knee_width"}
    text = text_of(DEFAULTS, MODEL, child, {"rejected": "no static trial", "segment_parameters": "dumas"})
    assert "were those of Dempster (in Winter 2009) or Jensen (1986)." in text
    assert "by the midpoint of lateral epicondyle, medial epicondyle or chord: knee width." in text
    assert "Dumas" not in text


def test_stated_static_results_are_named() -> None:
    stated = MODEL | {"static_results": "stated in sub-01/walk.c3d"}
    words = "plantar flexion, were those that the recordings state, not computed from a static trial."
    assert words in text_of(DEFAULTS, stated)
    assert "were in 1 of 2 sessions those that the recordings state" in text_of(DEFAULTS, stated, MODEL)
    assert "static results" not in text_of(DEFAULTS, MODEL | {"static_results": ""})
    assert "static_results" in keep_of_model(stated)


def test_every_table_of_segment_parameters_is_known() -> None:
    tables = yaml.safe_load((HOUSE / "config" / "segment_parameters.yaml").read_text())
    assert {*tables} - {"by_age"} <= {*TABLES}


def test_version_citation_model_and_normal_gait_are_named() -> None:
    text = text_of(DEFAULTS, reference=REFERENCE)
    assert f"(version 1.2.3; {CITATION})" in text
    assert "The body model my_model gave" in text
    assert "Normal gait is that of our controls (30 adults of 20 to 40 years; Doe J (2020))." in text
    assert "Normal gait" not in text_of(DEFAULTS)
    cited = yaml.safe_load((HOUSE / "CITATION.cff").read_text())
    assert f"{cited['authors'][0]['name']}, {cited['title']}" == CITATION


def test_an_unknown_study_says_only_what_is_known() -> None:
    text = describe_methods({}, [])
    assert "version unknown" in text
    assert "Hz" not in text
    partial = copy.deepcopy(DEFAULTS)
    del partial["contacts"]["edge_margin_m"]  # as results of an older version may lack it
    assert "crosses 20 N" in text_of(partial)
    assert "beyond their edge" not in text_of(partial)


def test_what_is_kept_of_a_model_is_all_that_is_read() -> None:
    assert text_of(DEFAULTS, keep_of_model(MODEL)) == text_of(DEFAULTS, MODEL)
    assert "body_mass_kg" not in keep_of_model(MODEL)


def test_the_command_and_the_overview_have_the_same_text(run_of_two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = run_of_two / "data" / "demo"
    assert main(["methods", str(study)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    page = (study / "derived" / "report.html").read_text()
    quoted = re.search(r"<blockquote>(.*?)</blockquote>", page, re.DOTALL)
    assert quoted
    assert quoted[1].replace("&#39;", "'") == text
    assert "The body model isb_clusters gave" in text


def test_a_study_without_results_is_refused(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods", str(demo)]) == 1
    assert "create it with: gaitlab run" in capsys.readouterr().err
