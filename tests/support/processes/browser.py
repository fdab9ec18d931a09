"""A headless Chromium, controlled by its debugging pipe."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

OPTIONS = (
    *("--headless", "--disable-gpu"),
    *("--no-sandbox", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--hide-scrollbars"),
)
KEYS = {"ArrowRight": 39, "ArrowLeft": 37, "Tab": 9, "Enter": 13, " ": 32, "PageDown": 34, "PageUp": 33}
TEXTS = {" ": " ", "Enter": "\r"}


def found_chromium() -> str | None:
    """Return the path of a Chromium on this machine."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Tab:
    """One tab: commands of the Chrome DevTools Protocol, messages of the console."""

    def __init__(self, reading: int, writing: int) -> None:
        self.reading, self.writing, self.number, self.buffer = reading, writing, 0, b""
        self.console: list[str] = []
        self.events: list[str] = []
        self.session: str | None = None
        self.target = ""
        self.renew()

    def renew(self) -> None:
        """Close the tab, without a question about what is lost, and open another one."""
        self.session, old = None, self.target
        self.target = self("Target.createTarget", url="about:blank")["targetId"]
        self.session = self("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self(f"{domain}.enable")
        if old:
            self("Target.closeTarget", targetId=old)

    def __call__(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writing, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next(60)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return dict(answer["result"])

    def open(self, page: Path | str) -> float:
        """Open a file, or an address, and return the seconds until its load event."""
        self.events.clear()
        self("Page.navigate", url=page if isinstance(page, str) else page.as_uri())
        self.until(lambda: "Page.loadEventFired" in self.events)
        return float(self.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")) / 1000

    @property
    def address(self) -> str:
        """Return the address of the page; unlike a script, it can be asked for while one page leads to another."""
        return str(self("Target.getTargetInfo")["targetInfo"]["url"])

    def evaluate(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, condition: Any, *, seconds: float = 60) -> None:
        """Wait until a function, or an expression in the page, is true."""
        end = time.monotonic() + seconds
        while not (self.evaluate(condition) if isinstance(condition, str) else condition()):
            if time.monotonic() > end:
                raise TimeoutError(f"not within {seconds} s: {condition}; console: {self.console}")
            self._drain(0.05)

    def press(self, key: str, *, shift: bool = False) -> None:
        """Press a key on what has the focus."""
        code = {" ": "Space"}.get(key, f"Key{key.upper()}" if len(key) == 1 else key)
        number = KEYS.get(key, ord(key.upper()[0]))
        known = {"key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": 8 if shift else 0}
        self("Input.dispatchKeyEvent", type="keyDown", **known, **({"text": TEXTS[key]} if key in TEXTS else {}))
        self("Input.dispatchKeyEvent", type="keyUp", **known)

    def drag(self, selector: str, by: tuple[int, int]) -> None:
        """Press the pointer on the middle of an element and move it."""
        self.evaluate(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
        middle = "(({x, y, width, height}) => [x + width / 2, y + height / 2])"
        x, y = self.evaluate(f"{middle}(document.querySelector({json.dumps(selector)}).getBoundingClientRect())")
        at = {"button": "left", "buttons": 1, "clickCount": 1}
        self("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, **at)
        for share in (0.25, 0.5, 0.75, 1):
            self("Input.dispatchMouseEvent", type="mouseMoved", x=x + share * by[0], y=y + share * by[1], **at)
        self("Input.dispatchMouseEvent", type="mouseReleased", x=x + by[0], y=y + by[1], **at)

    def size(self, width: int, height: int, *, phone: bool = False) -> None:
        """Set the size of the window, or of a phone."""
        self("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)

    def dark(self, on: bool) -> None:
        """Ask for the dark or the light theme."""
        value = "dark" if on else "light"
        self("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])

    def _next(self, seconds: float) -> dict[str, Any]:
        end = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            if not select.select([self.reading], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("no answer of the browser")
            part = os.read(self.reading, 1 << 20)
            if not part:
                raise RuntimeError("the browser has ended")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        self._note(message)
        return dict(message)

    def _drain(self, seconds: float) -> None:
        try:
            while True:
                self._next(seconds)
        except TimeoutError:
            pass

    def _note(self, message: dict[str, Any]) -> None:
        method, what = message.get("method", ""), message.get("params", {})
        self.events.append(method)
        if method == "Runtime.consoleAPICalled":
            self.console.append(
                f"{what['type']}: {[part.get('value', part.get('description')) for part in what['args']]}"
            )
        elif method == "Runtime.exceptionThrown":
            self.console.append(f"exception: {what['exceptionDetails'].get('exception', what['exceptionDetails'])}")
        elif method == "Log.entryAdded":
            self.console.append(f"{what['entry']['level']}: {what['entry']['text']}")


@contextmanager
def browsing(chromium: str, profile: Path) -> Iterator[Tab]:
    """Start a browser of its own and give a tab of it."""
    import fcntl  # not on Windows

    to_browser, writing = os.pipe()
    reading, from_browser = os.pipe()
    # the browser reads from file descriptor 3 and writes to 4
    given = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (to_browser, from_browser)]

    def put_in_place() -> None:
        for number, fd in enumerate(given, start=3):
            os.dup2(fd, number)

    command = [
        chromium,
        *OPTIONS,
        "--remote-debugging-pipe",
        f"--user-data-dir={profile}",
    ]
    process = subprocess.Popen(
        command,
        preexec_fn=put_in_place,  # noqa: PLW1509 (one thread)
        pass_fds=(3, 4),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for fd in (to_browser, from_browser, *given):
        os.close(fd)
    try:
        yield Tab(reading, writing)
    finally:
        process.kill()
        process.wait(timeout=30)
        os.close(reading)
        os.close(writing)
