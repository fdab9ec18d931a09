"""The viewer's server refuses whoever is not the browser of the person who started it."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

viser = pytest.importorskip("viser", reason="viser is not installed")

from websockets.exceptions import InvalidStatus  # noqa: E402
from websockets.sync.client import connect  # noqa: E402

from pipeline.extras.viewer.server import LocalServer  # noqa: E402

FORBIDDEN = 403


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    server = LocalServer(8590)
    yield server
    server.stop()


def answer(server: LocalServer, path: str, **headers: str) -> tuple[int, dict[str, str]]:
    """Return status and headers of the answer to a bare request."""
    connection = http.client.HTTPConnection("127.0.0.1", server.get_port(), timeout=10)
    connection.putrequest("GET", path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    response.read()
    return response.status, dict(response.getheaders())


def cookie(server: LocalServer) -> str:
    path = server.address.removeprefix(f"http://127.0.0.1:{server.get_port()}")
    return answer(server, path)[1]["Set-Cookie"].partition(";")[0]


def test_the_page_is_for_who_has_the_token(server: LocalServer) -> None:
    parts = urlsplit(server.address)
    assert answer(server, f"/?{parts.query}")[0] == 200
    assert answer(server, "/", Cookie=cookie(server))[0] == 200
    for path in ("/", "/?token=", "/?token=guess", "/index.html"):
        assert answer(server, path)[0] == FORBIDDEN, path
    assert answer(server, "/", Cookie='gaitlab_view_1=guess; a="b')[0] == FORBIDDEN


def test_only_who_has_the_token_enters() -> None:
    """Then the file that leads a browser to the address is removed."""
    server = LocalServer(8580)
    try:
        for path in ("/", "/?token=guess"):
            assert answer(server, path)[0] == FORBIDDEN
            assert not server.entered.is_set()
        assert answer(server, f"/?{urlsplit(server.address).query}")[0] == 200
        assert server.entered.is_set()
    finally:
        server.stop()


def test_the_cookie_is_not_for_scripts_or_other_sites(server: LocalServer) -> None:
    _, headers = answer(server, f"/?{urlsplit(server.address).query}")
    assert "HttpOnly" in headers["Set-Cookie"]
    assert "SameSite=Strict" in headers["Set-Cookie"]
    assert headers["Referrer-Policy"] == "no-referrer"


def test_another_name_of_the_host_is_refused(server: LocalServer) -> None:
    query, port = urlsplit(server.address).query, server.get_port()
    assert answer(server, f"/?{query}", Host=f"localhost:{port}")[0] == 200
    for host in ("evil.example", f"evil.example:{port}", f"127.0.0.1:{port + 1}", ""):
        assert answer(server, f"/?{query}", Host=host)[0] == FORBIDDEN, host


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1", None])
def test_a_page_of_another_origin_cannot_connect(server: LocalServer, origin: str | None) -> None:
    headers = {"Cookie": cookie(server)}
    with pytest.raises(InvalidStatus) as refused:
        connect(f"ws://127.0.0.1:{server.get_port()}", origin=origin, additional_headers=headers)  # type: ignore[arg-type]
    assert refused.value.response.status_code == FORBIDDEN


def test_a_socket_without_token_cannot_connect(server: LocalServer) -> None:
    address, own = f"ws://127.0.0.1:{server.get_port()}", f"http://127.0.0.1:{server.get_port()}"
    with pytest.raises(InvalidStatus) as refused:
        connect(address, origin=own)  # type: ignore[arg-type]
    assert refused.value.response.status_code == FORBIDDEN
    by_cookie, by_address = {"Cookie": cookie(server)}, f"{address}/?{urlsplit(server.address).query}"
    for where, headers in ((address, by_cookie), (by_address, {})):
        with connect(where, origin=own, additional_headers=headers) as socket:  # type: ignore[arg-type]
            assert socket.response is not None
            assert socket.response.status_code == 101


def test_it_listens_on_this_computer_alone(server: LocalServer) -> None:
    assert server.get_host() == "127.0.0.1"
    assert server.request_share_url() is None


def test_another_server_of_the_process_is_not_changed(server: LocalServer) -> None:
    import websockets.asyncio.server

    assert server.get_port()
    assert websockets.asyncio.server.serve.__module__ == "websockets.asyncio.server"
