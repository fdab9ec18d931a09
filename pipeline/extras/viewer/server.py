"""The server of the viewer: it listens on this computer alone and serves only a browser that has its token."""

import json
import logging
import secrets
import threading
from collections.abc import Callable, Mapping
from email.message import Message
from html import escape
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ...errors import UserError
from ...steps.report.html_page import TEMPLATES
from .answers import Answers, ReplacedError

HOST = "127.0.0.1"
MOST_PORTS = 100  # that are tried
MOST_BYTES = 1_000_000  # of what a page sends
REFUSED = "Open the address that 'gaitlab view' has printed, in a browser on this computer.\n"
LEADING_ON = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>gaitlab view</title>
<p><a href="{address}">Open the viewer</a></p>
"""
PAGE = Path(__file__).with_name("templates")
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
# all that the page is made of; it has the colours of the report
FILES = {"/": PAGE / "index.html", "/report.css": TEMPLATES / "report.css"} | {
    f"/{file.name}": file for file in PAGE.iterdir() if file.suffix in (".css", ".js")
}
ONLY_FROM_HERE = "default-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'"
log = logging.getLogger("pipeline")


class LocalServer(ThreadingHTTPServer):
    """A server for browsers of one person on this computer."""

    daemon_threads = True
    allow_reuse_address = False  # a port that another program has is not shared with it

    def __init__(self, port: int, answers: Answers) -> None:
        """Start to listen.

        Args:
            port: the first port to try; if it is taken, the next free one.
        """
        self.token = secrets.token_urlsafe(24)
        self.entered = threading.Event()  # a browser has come with the token
        self.asked: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
            "/study": answers.study_shown,
            "/session": answers.session_shown,
            "/trial": answers.trial_shown,
            "/save": answers.saved,
            "/take_back": answers.taken_back,
        }
        for each in range(port, port + MOST_PORTS):
            try:
                super().__init__((HOST, each), Request)
                break
            except (OSError, OverflowError) as error:  # taken, or no port has this number
                refused = error
        else:
            raise UserError(f"ports {port} to {port + MOST_PORTS - 1}", str(refused), "give another one: --port")
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        """Return the address to open in a browser, with the token."""
        return f"http://{HOST}:{self.server_port}/?token={self.token}"

    def stop(self) -> None:
        """End to listen."""
        self.shutdown()
        self.server_close()


class Request(BaseHTTPRequestHandler):
    """A request of a browser."""

    server: LocalServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Send a file of the page; the address with the token leads on to the one without."""
        path = urlsplit(self.path).path
        if not is_allowed(self.headers, self.path, self.server.token, self.server.server_port):
            self._send(HTTPStatus.FORBIDDEN, REFUSED, "text/plain")
        elif _given_token(self.path):
            # a page, as a browser sends no strict cookie along an HTTP redirect that starts from a file or another site
            self._send(HTTPStatus.OK, page_leading_to("/"), "text/html")
            self.server.entered.set()
        elif path in FILES:
            self._send(HTTPStatus.OK, FILES[path].read_text(encoding="utf-8"), TYPES[FILES[path].suffix])
        else:
            self._send(HTTPStatus.NOT_FOUND, "No such page.\n", "text/plain")

    def do_POST(self) -> None:
        """Answer what the page asks, as JSON; a mistake of the user as its error."""
        size, path = int(self.headers.get("Content-Length", 0)), self.path
        allowed = is_allowed(self.headers, self.path, self.server.token, self.server.server_port, sends=True)
        if not allowed or not 0 <= size <= MOST_BYTES or path not in self.server.asked:
            self.close_connection = True
            self._send(HTTPStatus.FORBIDDEN, REFUSED, "text/plain")
            return
        try:
            status, answer = HTTPStatus.OK, self.server.asked[path](json.loads(self.rfile.read(size)))
        except (UserError, OSError) as error:  # the latter: the table cannot be written
            status, answer = HTTPStatus.UNPROCESSABLE_ENTITY, {"error": str(error)}
        except ReplacedError:
            status, answer = HTTPStatus.CONFLICT, {"error": "replaced"}
        except Exception as error:
            log.exception("gaitlab view: %s", path)
            status, answer = HTTPStatus.INTERNAL_SERVER_ERROR, {"error": f"a defect of gaitlab: {error!r}"}
        self._send(status, json.dumps(answer), "application/json")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (its name in the standard library)
        """Say nothing of each request."""

    def _send(self, status: HTTPStatus, text: str, kind: str) -> None:
        content = text.encode()
        self.send_response(status)
        headers = {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Length": str(len(content)),
            "Cache-Control": "no-store",
            "Content-Security-Policy": ONLY_FROM_HERE,
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        }
        if status != HTTPStatus.FORBIDDEN:
            cookie = f"{_cookie(self.server.server_port)}={self.server.token}"
            headers["Set-Cookie"] = f"{cookie}; HttpOnly; SameSite=Strict; Path=/"
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(content)
        except ConnectionError:  # the page no longer waits for this
            self.close_connection = True


def is_allowed(headers: Message, path: str, token: str, port: int, *, sends: bool = False) -> bool:
    """Return whether a request names this server, comes from its own page, and has its token.

    The name of the host guards against a page whose name leads to this computer (DNS rebinding); the origin against a
    page of another server; the token, in the address at first and then in a cookie, against other people's programs.

    Args:
        sends: it sends something, which only a page does.
    """
    hosts = [f"{name}:{port}" for name in (HOST, "localhost")]
    origin = headers.get("Origin")
    cookies: SimpleCookie = SimpleCookie()
    try:
        cookies.load(headers.get("Cookie", ""))
    except CookieError:
        return False
    stored = cookies[_cookie(port)].value if _cookie(port) in cookies else ""
    known = any(secrets.compare_digest(text.encode(), token.encode()) for text in (_given_token(path), stored))
    own_page = origin in [f"http://{host}" for host in hosts] or (origin is None and not sends)
    return headers.get("Host") in hosts and own_page and known


def page_leading_to(address: str) -> str:
    """Return an HTML page that leads a browser on to an address, which replaces the page in its history."""
    return LEADING_ON.format(address=escape(address))


def _given_token(path: str) -> str:
    return parse_qs(urlsplit(path).query).get("token", [""])[0]


def _cookie(port: int) -> str:
    return f"gaitlab_view_{port}"
