"""The server of the viewer: it listens on this computer alone and serves only a browser that has its token."""

import io
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
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
Answer = Callable[[ServerConnection, Request], Response | None]


class LocalServer(viser.ViserServer):
    """A viser server for one browser on this computer."""

    def __init__(self, port: int) -> None:
        """Start to listen.

        Args:
            port: the first port to try; if it is taken, the next free one.
        """
        self.token = secrets.token_urlsafe(24)
        with _requests_answered_by(self.token), redirect_stdout(io.StringIO()):  # viser prints an address without token
            super().__init__(host=HOST, port=port, label="gaitlab view", verbose=False)

    @property
    def address(self) -> str:
        """Return the address to open in a browser, with the token."""
        return f"http://{HOST}:{self.get_port()}/?token={self.token}"

    def request_share_url(self, verbose: bool = True) -> str | None:  # noqa: ARG002 (viser's own signature)
        """Share nothing: viser would let anybody connect by a server on the internet."""
        return None


@contextmanager
def _requests_answered_by(token: str) -> Iterator[None]:
    """Let servers that start within this context refuse every request without the token, or of another page.

    viser 1.1 starts websockets without ``origins`` and without any check of who connects, and has no option for it.
    """
    start = websockets.asyncio.server.serve

    def serve(*arguments: Any, process_request: Answer, **options: Any) -> Any:
        def answer(connection: ServerConnection, request: Request) -> Response | None:
            port = connection.local_address[1]
            if not is_allowed(request, token, port):
                return connection.respond(HTTPStatus.FORBIDDEN, REFUSED)
            response = process_request(connection, request)
            if response is not None:
                response.headers["Set-Cookie"] = f"{_cookie(port)}={token}; HttpOnly; SameSite=Strict; Path=/"
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
    given = parse_qs(urlsplit(request.path).query).get("token", [""])[0]
    stored = cookies[_cookie(port)].value if _cookie(port) in cookies else ""
    known = any(secrets.compare_digest(text.encode(), token.encode()) for text in (given, stored))
    own_page = origin in [f"http://{host}" for host in hosts] or (origin is None and "Upgrade" not in request.headers)
    return request.headers.get("Host") in hosts and own_page and known


def _cookie(port: int) -> str:
    return f"gaitlab_view_{port}"
