"""``gaitlab view``: a page in the browser that shows every trial of a study."""

import os
import signal
import sys
import time
import webbrowser
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NoReturn

from ...step import every_step, steps_to
from ...workflow.open_study import open_study

if TYPE_CHECKING:
    from .server import LocalServer

ENDING = ("SIGTERM", "SIGHUP")  # Windows has no SIGHUP


def view(path: Path, *, port: int, opens_browser: bool) -> NoReturn:
    """Show a study until Ctrl-C.

    Args:
        port: of this computer; if it is taken, the next free one.
        opens_browser: else the address is only printed.

    Raises:
        UserError: the study has mistakes, or no port is free.
    """
    study = open_study(path)
    from ...workflow.jobs.workers import modules_for
    from .answers import Answers  # they import numpy and xarray
    from .server import LocalServer

    for number in (getattr(signal, name) for name in ENDING if hasattr(signal, name)):
        if signal.getsignal(number) == signal.SIG_DFL:  # nohup has it ignored
            signal.signal(number, lambda by, _: sys.exit(128 + by))  # as Ctrl-C does, so that the file is removed
    server = LocalServer(port, Answers(study))
    try:
        print(f"{server.address}\nEnd with Ctrl-C.", flush=True)  # noqa: T201 (before it waits)
        if opens_browser:
            open_browser(server)
        steps = steps_to("cycles")
        for name in (*modules_for(steps), *(every_step()[step].function.partition(":")[0] for step in steps)):
            import_module(name)  # the first preview would wait for it
        while True:  # on Windows, Ctrl-C ends no wait without limit
            time.sleep(1.0)
    finally:
        server.stop()


def open_browser(server: "LocalServer") -> None:
    """Open the page in the browser, by a file that only this user can read and that is removed once it is used.

    Every user of the computer can read the command line of the browser, so it has the file's name and not the token.
    Browsers from a snap see neither /tmp nor hidden folders, only the others of the user's home: there the file is on
    Linux. Elsewhere the folder for temporary files is the user's own.
    """
    from .server import page_leading_to

    home = os.environ.get("HOME", "")
    place = home if sys.platform == "linux" and os.access(home, os.W_OK) else None
    with TemporaryDirectory(prefix="gaitlab-view-", dir=place) as folder:
        page = Path(folder) / "open.html"
        page.touch(mode=0o600)
        page.write_text(page_leading_to(server.address), encoding="utf-8")
        if webbrowser.open(page.as_uri()):
            while not server.entered.wait(1.0):  # on Windows, Ctrl-C ends no wait without limit
                pass
