"""The server of the viewer: it listens on this computer alone and serves only a browser that has its token."""

import io
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from html import escape
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

import viser
import websockets.asyncio.server
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

HOST = "127.0.0.1"
REFUSED = "Open the address that 'gaitlab view' has printed, in a browser on this computer.\n"
LEADING_ON = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>gaitlab view</title>
<p><a href="{address}">Open the viewer</a></p>
"""
Answer = Callable[[ServerConnection, Request], Response | None]


class LocalServer(viser.ViserServer):
    """A viser server for one browser on this computer."""

    def __init__(self, port: int) -> None:
        """Start to listen.

        Args:
            port: the first port to try; if it is taken, the next free one.
        """
        self.token = secrets.token_urlsafe(24)
        self.entered = threading.Event()  # a browser has come with the token
        with _requests_answered_for(self), redirect_stdout(io.StringIO()):  # viser prints an address without token
            super().__init__(host=HOST, port=port, label="gaitlab view", verbose=False)

    @property
    def address(self) -> str:
        """Return the address to open in a browser, with the token."""
        return f"http://{HOST}:{self.get_port()}/?token={self.token}"

    def request_share_url(self, verbose: bool = True) -> str | None:  # noqa: ARG002 (viser's own signature)
        """Share nothing: viser would let anybody connect by a server on the internet."""
        return None


@contextmanager
def _requests_answered_for(server: LocalServer) -> Iterator[None]:
    """Let a server that starts within this context refuse every request without its token, or of another page.

    viser 1.1 starts websockets without ``origins`` and without any check of who connects, and has no option for it.
    """
    start = websockets.asyncio.server.serve

    def serve(*arguments: Any, process_request: Answer, **options: Any) -> Any:
        def answer(connection: ServerConnection, request: Request) -> Response | None:
            port = connection.local_address[1]
            if not is_allowed(request, server.token, port):
                return connection.respond(HTTPStatus.FORBIDDEN, REFUSED)
            if _given_token(request) and "Upgrade" not in request.headers:
                response: Response | None = _lead_on(connection)
                server.entered.set()
            else:
                response = process_request(connection, request)
            if response is not None:
                response.headers["Set-Cookie"] = f"{_cookie(port)}={server.token}; HttpOnly; SameSite=Strict; Path=/"
                response.headers["Referrer-Policy"] = "no-referrer"
            return response

        return start(*arguments, process_request=answer, **options)

    websockets.asyncio.server.serve = serve  # type: ignore[assignment,misc]
    try:
        yield
    finally:
        websockets.asyncio.server.serve = start  # type: ignore[misc]


def is_allowed(request: Request, token: str, port: int) -> bool:
    """Return whether a request names this server, comes from its own page, and has its token.

    The name of the host guards against a page whose name leads to this computer (DNS rebinding); the origin against a
    page of another server; the token, in the address at first and then in a cookie, against other people's programs.
    """
    hosts = [f"{name}:{port}" for name in (HOST, "localhost")]
    origin = request.headers.get("Origin")
    cookies: SimpleCookie = SimpleCookie()
    try:
        cookies.load(request.headers.get("Cookie", ""))
    except CookieError:
        return False
    stored = cookies[_cookie(port)].value if _cookie(port) in cookies else ""
    known = any(secrets.compare_digest(text.encode(), token.encode()) for text in (_given_token(request), stored))
    own_page = origin in [f"http://{host}" for host in hosts] or (origin is None and "Upgrade" not in request.headers)
    return request.headers.get("Host") in hosts and own_page and known


def page_leading_to(address: str) -> str:
    """Return an HTML page that leads a browser on to an address, which replaces the page in its history."""
    return LEADING_ON.format(address=escape(address))


def _lead_on(connection: ServerConnection) -> Response:
    """Return the answer to an address with the token: it leads on to the one without, which the browser then shows.

    It is a page, as a browser sends no strict cookie along an HTTP redirect that starts from a file or another site.
    """
    response = connection.respond(HTTPStatus.OK, page_leading_to("/"))
    del response.headers["Content-Type"]
    response.headers["Content-Type"] = "text/html; charset=utf-8"
    response.headers["Cache-Control"] = "no-store"
    return response


def _given_token(request: Request) -> str:
    return parse_qs(urlsplit(request.path).query).get("token", [""])[0]


def _cookie(port: int) -> str:
    return f"gaitlab_view_{port}"
