"""``gaitlab view`` hands its token to the browser of the user, and to nobody who looks at the processes or files."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
import time
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from http import HTTPStatus
from http.cookiejar import CookieJar
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError
from urllib.parse import urljoin, urlsplit
from urllib.request import HTTPCookieProcessor, build_opener, urlopen

import pytest

from pipeline.extras.viewer.command import open_browser
from pipeline.extras.viewer.server import LocalServer
from tests.extras.viewer.test_server import ANSWERS
from tests.support.checkout import HOUSE, ctrl_c_arrives

SCRIPT = pytest.mark.skipif(sys.platform == "win32", reason="the browser is a script of Linux and macOS")

# A browser that does nothing but write down what everybody, or every process of this user, can read of it.
BROWSER = '#!/bin/sh\n{ printf "%s\\n" "$@"; env; } >"$HOME/part" && mv "$HOME/part" "$HOME/seen"\n'


class Viewing(NamedTuple):
    """A command at work, the address that it has printed, what the browser got, and the page that it is to open."""

    process: subprocess.Popen[str]
    address: str
    seen: str
    page: Path


@contextmanager
def viewing(study: Path, home: Path) -> Iterator[Viewing]:
    """Start ``gaitlab view`` for a user with a home folder, and give it once it has opened the browser."""
    browser = home / "browser"
    browser.write_text(BROWSER)
    browser.chmod(0o700)
    with ctrl_c_arrives():
        process = subprocess.Popen(
            [sys.executable, "-m", "pipeline", "view", str(study), "--port", "8490"],
            cwd=HOUSE,
            env={**os.environ, "HOME": str(home), "BROWSER": str(browser)},
            stdout=subprocess.PIPE,
            text=True,
        )
    with process:
        try:
            assert process.stdout
            address = process.stdout.readline().strip()
            wait_until_there(home / "seen", there=True)
            seen = (home / "seen").read_text()
            yield Viewing(process, address, seen, Path(urlsplit(seen.splitlines()[0]).path))
        finally:
            process.kill()


def wait_until_there(path: Path, *, there: bool) -> None:
    """Wait until a file is there, or is gone."""
    end = time.monotonic() + 60
    while path.exists() != there:
        assert time.monotonic() < end, path
        time.sleep(0.05)


@SCRIPT
def test_the_token_is_in_a_file_for_this_user_alone(small_study: Path, tmp_path: Path) -> None:
    umask = os.umask(0)  # nor does a careless one let others read
    try:
        with viewing(small_study / "data" / "demo", tmp_path) as command:
            token = command.address.partition("?token=")[2]
            assert len(token) >= 32
            assert token not in command.seen
            assert command.seen.startswith("file:///")
            assert stat.S_IMODE(command.page.stat().st_mode) == 0o600
            assert stat.S_IMODE(command.page.parent.stat().st_mode) == 0o700
            assert command.page.parent.parent == tmp_path
            assert not command.page.parent.name.startswith(".")  # browsers from a snap do not see it
            assert address_in(command.page.read_text()) == command.address

            site = urljoin(command.address, "/")
            with pytest.raises(HTTPError) as refused:
                urlopen(site)  # noqa: S310 (http)
            assert refused.value.code == HTTPStatus.FORBIDDEN

            browser = build_opener(HTTPCookieProcessor(CookieJar()))
            with browser.open(command.address) as answer:
                assert answer.status == HTTPStatus.OK
                assert answer.headers["Cache-Control"] == "no-store"
                assert answer.headers.get_content_type() == "text/html"
                assert urljoin(command.address, address_in(answer.read().decode())) == site
            wait_until_there(command.page.parent, there=False)
            with browser.open(site) as answer:
                assert answer.status == HTTPStatus.OK
            assert command.process.poll() is None
    finally:
        os.umask(umask)


def address_in(page: str) -> str:
    """Return the address that a page leads on to."""
    assert '<meta name="referrer" content="no-referrer">' in page
    (address,) = re.findall(r'<meta http-equiv="refresh" content="0; url=([^"]+)">', page)
    return unescape(address)


@SCRIPT
@pytest.mark.parametrize("ending", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_the_file_is_gone_once_the_command_ends(ending: str, small_study: Path, tmp_path: Path) -> None:
    number = signal.Signals[ending]
    with viewing(small_study / "data" / "demo", tmp_path) as command:
        assert command.page.exists()
        command.process.send_signal(number)
        assert command.process.wait(60) == 128 + number
        assert not command.page.parent.exists()


@pytest.mark.parametrize("has_home", [True, False])
def test_without_a_browser_nothing_stays(has_home: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in the home, nor, without one that can be written to, among temporary files."""
    opened: list[str] = []
    monkeypatch.setenv("HOME", str(tmp_path) if has_home else str(tmp_path / "none"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def no_browser(address: str) -> bool:
        opened.append(address)
        return False

    monkeypatch.setattr(webbrowser, "open", no_browser)
    server = LocalServer(8495, ANSWERS)
    try:
        open_browser(server)
    finally:
        server.stop()
    assert len(opened) == 1
    assert [*tmp_path.iterdir()] == []
