"""The viewer's server refuses whoever is not the browser of the person who started it."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest

from pipeline.errors import UserError
from pipeline.extras.viewer.server import FILES, PAGE, LocalServer

FORBIDDEN = 403


def refuse(asked: Any) -> dict[str, Any]:
    raise UserError("here", "<b>wrong</b>", "do it otherwise")


def deny(asked: Any) -> dict[str, Any]:
    raise PermissionError(13, "Permission denied", "corrections.tsv")


def fail(asked: Any) -> dict[str, Any]:
    raise KeyError("defect")


ANSWERS: Any = SimpleNamespace(
    study_shown=lambda asked: {"asked": asked}, session_shown=refuse, trial_shown=fail, saved=refuse, taken_back=deny
)


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    server = LocalServer(8590, ANSWERS)
    yield server
    server.stop()


def answer(
    server: LocalServer, path: str, *, body: str | None = None, **headers: str
) -> tuple[int, dict[str, str], str]:
    """Return status, headers and text of the answer to a bare request."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.putrequest("GET" if body is None else "POST", path, skip_host="Host" in headers)
    sized = {} if body is None else {"Content-Length": str(len(body))}
    for name, value in (sized | headers).items():
        connection.putheader(name, value)
    connection.endheaders(None if body is None else body.encode())
    response = connection.getresponse()
    return response.status, dict(response.getheaders()), response.read().decode()


def cookie(server: LocalServer) -> str:
    path = server.address.removeprefix(f"http://127.0.0.1:{server.server_port}")
    return answer(server, path)[1]["Set-Cookie"].partition(";")[0]


def own(server: LocalServer) -> dict[str, str]:
    """Return the headers that the page itself sends."""
    return {"Cookie": cookie(server), "Origin": f"http://127.0.0.1:{server.server_port}"}


def test_the_page_is_for_who_has_the_token(server: LocalServer) -> None:
    parts = urlsplit(server.address)
    assert answer(server, f"/?{parts.query}")[0] == 200
    for path in FILES:
        assert answer(server, path, Cookie=cookie(server))[0] == 200, path
        assert answer(server, path)[0] == FORBIDDEN, path
    for path in ("/", "/?token=", "/?token=guess", "/index.html"):
        assert answer(server, path)[0] == FORBIDDEN, path
    assert answer(server, "/", Cookie='gaitlab_view_1=guess; a="b')[0] == FORBIDDEN


def test_a_table_that_cannot_be_written_is_no_defect(server: LocalServer) -> None:
    status, _, text = answer(server, "/take_back", body="{}", **own(server))
    assert (status, json.loads(text)) == (422, {"error": "[Errno 13] Permission denied: 'corrections.tsv'"})


def test_a_port_that_no_computer_has_is_refused() -> None:
    with pytest.raises(UserError, match="give another one: --port"):
        LocalServer(70_000, ANSWERS)


def test_no_other_file_is_sent(server: LocalServer) -> None:
    for path in ("/../server.py", "/index.html", "/%2e%2e/server.py", "//etc/passwd"):
        assert answer(server, path, Cookie=cookie(server))[0] == 404, path


def test_only_who_has_the_token_enters() -> None:
    """Then the file that leads a browser to the address is removed."""
    server = LocalServer(8580, ANSWERS)
    try:
        for path in ("/", "/?token=guess"):
            assert answer(server, path)[0] == FORBIDDEN
            assert not server.entered.is_set()
        assert answer(server, f"/?{urlsplit(server.address).query}")[0] == 200
        assert server.entered.wait(10)
    finally:
        server.stop()


def test_the_cookie_is_not_for_scripts_or_other_sites(server: LocalServer) -> None:
    _, headers, _ = answer(server, f"/?{urlsplit(server.address).query}")
    assert "HttpOnly" in headers["Set-Cookie"]
    assert "SameSite=Strict" in headers["Set-Cookie"]
    assert headers["Referrer-Policy"] == "no-referrer"


def test_another_name_of_the_host_is_refused(server: LocalServer) -> None:
    query, port = urlsplit(server.address).query, server.server_port
    assert answer(server, f"/?{query}", Host=f"localhost:{port}")[0] == 200
    for host in ("evil.example", f"evil.example:{port}", f"127.0.0.1:{port + 1}", ""):
        assert answer(server, f"/?{query}", Host=host)[0] == FORBIDDEN, host


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1", None])
def test_a_page_of_another_origin_cannot_ask(server: LocalServer, origin: str | None) -> None:
    headers = {"Cookie": cookie(server), **({"Origin": origin} if origin else {})}
    assert answer(server, "/study", body="{}", **headers)[0] == FORBIDDEN


def test_only_who_has_the_token_can_ask(server: LocalServer) -> None:
    headers = own(server)
    assert answer(server, "/study", body="{}", Origin=headers["Origin"])[0] == FORBIDDEN
    status, _, text = answer(server, "/study", body='{"a": 1}', **headers)
    assert (status, json.loads(text)) == (200, {"asked": {"a": 1}})


def test_mistakes_and_defects_are_told(server: LocalServer, caplog: pytest.LogCaptureFixture) -> None:
    status, headers, text = answer(server, "/save", body="{}", **own(server))
    assert status == 422
    assert json.loads(text) == {"error": "here: <b>wrong</b>; do it otherwise"}
    assert headers["Content-Type"].startswith("application/json")
    assert headers["X-Content-Type-Options"] == "nosniff"
    status, _, text = answer(server, "/trial", body="{}", **own(server))
    assert status == 500
    assert "KeyError" in json.loads(text)["error"]
    assert "defect" in caplog.text


def test_what_nobody_asks_is_refused(server: LocalServer) -> None:
    for path in ("/", "/elsewhere"):
        assert answer(server, path, body="{}", **own(server))[0] == FORBIDDEN, path
    too_much = {"Content-Length": "1000001"}  # refused before it is sent
    assert answer(server, "/study", body="", **own(server), **too_much)[0] == FORBIDDEN


def test_the_page_loads_nothing_from_elsewhere(server: LocalServer) -> None:
    _, headers, _ = answer(server, "/", Cookie=cookie(server))
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    for file in PAGE.iterdir():
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http:" not in text, file
        assert "https:" not in text, file


def test_it_listens_on_this_computer_alone(server: LocalServer) -> None:
    assert server.server_address[0] == "127.0.0.1"


def test_a_port_that_is_taken_is_not_shared(server: LocalServer) -> None:
    other = LocalServer(server.server_port, ANSWERS)
    try:
        assert other.server_port > server.server_port
    finally:
        other.stop()
