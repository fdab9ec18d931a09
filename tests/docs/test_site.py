"""The site of ``make docs``: no warning, no request to other hosts, no dead link, formulas without script."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

from pipeline import FOR_SCRIPTS
from pipeline.command_table import every_command
from pipeline.workflow import settings
from tests.support.checkout import HOUSE

DOCS = HOUSE / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the pages of the site by path; every warning is an error."""
    for tool in ("sphinx", "myst_parser", "furo", "ziamath"):
        pytest.importorskip(tool, reason="the docs extra is not installed")
    target = tmp_path_factory.mktemp("site")
    options = ("--fail-on-warning", "--keep-going", "--quiet", "--doctree-dir", str(target / "doctrees"))
    command = [sys.executable, "-m", "sphinx", *options, str(DOCS), str(target / "html")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    texts = [path for path in (target / "html").rglob("*") if path.suffix in (".html", ".css")]
    return {path.relative_to(target / "html").as_posix(): path.read_text() for path in texts}


def test_site_loads_nothing_from_other_hosts(site: dict[str, str]) -> None:
    """Only links that the reader follows lead to other hosts."""
    loaded = re.compile(r"""(?:src=|<link[^>]*href=|url\(|@import)\s*["']?(?:https?:)?//""")
    assert {path: loaded.findall(text) for path, text in site.items() if loaded.search(text)} == {}


def test_no_link_of_the_site_is_dead(site: dict[str, str]) -> None:
    ids = {path: set(re.findall(r'\bid="([^"]*)"', text)) for path, text in site.items()}
    dead = []
    for path in (path for path in site if path.endswith(".html")):
        for link in re.findall(r'<a[^>]* href="([^"]*)"', site[path]):
            name, _, anchor = unquote(link).partition("#")
            if not re.match(r"https?:|\.\./_images|_images", name):
                parts = [*Path(path).parent.parts, *Path(name).parts] if name else list(Path(path).parts)
                while ".." in parts:
                    del parts[parts.index("..") - 1 : parts.index("..") + 1]
                target = "/".join(parts)
                if target not in ids or (anchor and anchor not in ids[target]):
                    dead.append((path, link))
    assert dead == []


def test_site_has_a_section_for_every_command_function_and_setting(site: dict[str, str]) -> None:
    names = {"commands.html": [f"gaitlab-{name}" for name in {command.name.split()[0] for command in every_command()}]}
    names |= {"python.html": [name.replace("_", "-") for name in FOR_SCRIPTS]}
    names |= {"settings.html": [*settings.schema("settings")["properties"]]}
    for page, sections in names.items():
        ids = {found.replace("_", "-") for found in re.findall(r'\bid="([^"]*)"', site[page])}
        assert [name for name in sections if name.replace("_", "-") not in ids] == []


def test_formulas_are_drawn_without_a_script(site: dict[str, str]) -> None:
    page = (DOCS / "theory.md").read_text()
    formulas = len(re.findall(r"\$\$.*?\$\$", page, re.DOTALL))
    formulas += len(re.findall(r"(?<!\$)\$[^$]+\$(?!\$)", re.sub(r"\$\$.*?\$\$", "", page, flags=re.DOTALL)))
    assert formulas > 100
    assert site["theory.html"].count("<math") == formulas
    assert "$" not in re.sub(r"<script.*?</script>|<pre>.*?</pre>", "", site["theory.html"], flags=re.DOTALL)


def test_link_of_a_function_leads_to_its_definition(site: dict[str, str]) -> None:
    path = "source/pipeline/signals/filters.py.html"
    link = re.search(rf'href="({re.escape(path)})#line-(\d+)">(?:<[^>]*>)*low_pass<', site["theory.html"])
    assert link is not None
    source = (HOUSE / "pipeline" / "signals" / "filters.py").read_text().splitlines()
    assert source[int(link[2]) - 1].startswith("def low_pass(")
    assert f'id="line-{link[2]}"' in site[link[1]]
