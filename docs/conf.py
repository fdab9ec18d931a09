"""Sphinx settings of the site that ``make docs`` writes to docs/_build."""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS))

from gaitlab import __version__  # noqa: E402

project = "Gait-lab pipeline"
release = __version__
copyright = ""  # noqa: A001 (Sphinx' name)
extensions = ["myst_parser", "sphinx_pages"]
exclude_patterns = ["_build", "examples", "paper"]
smartquotes = False  # they would change options such as --cores
source_suffix = {".md": "markdown"}

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4  # as on GitHub, so that page.md#heading works in both places
myst_dmath_double_inline = True

html_theme = "furo"
html_title = f"{project} {release}"
html_math_renderer = "mathml"
html_static_path = ["_static", str(files("ziamath") / "fonts" / "STIXTwoMath-Regular.ttf")]
html_css_files = ["pages.css"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False

# the side bar; index.md describes the same pages
navigation = {
    "Tutorial": ["tutorial"],
    "How-to": [
        "install",
        "reading_the_report",
        "viewer",
        "how_to",
        "faq",
        "study_directory",
        "body_models",
        "statistics",
        "repeatability",
        "muscles",
        "other_languages",
        "extras",
        "scale",
        "speed",
        "audit",
        "quality_system",
    ],
    "Reference": ["commands", "settings", "outputs", "metrics", "normative_gait", "python", "teaching", "glossary"],
    "Explanation": ["theory", "uncertainty", "validation", "cutoffs", "reliability", "comparison"],
}
