"""``gaitlab view``: a page in the browser that shows every trial of a study."""

import webbrowser
from pathlib import Path

from ..errors import UserError
from ..workflow.open_study import open_study

INSTALL = "install it with: pip install 'gait-lab-pipeline[view]'"


def view(path: Path, *, port: int, opens_browser: bool) -> None:
    """Show a study until Ctrl-C.

    Args:
        port: of this computer; if it is taken, the next free one.
        opens_browser: else the address is only printed.

    Raises:
        UserError: the study has mistakes or has not been run; viser is not installed.
    """
    study = open_study(path)
    try:
        from ..viewer.server import LocalServer
    except ModuleNotFoundError as error:
        raise UserError("gaitlab view", f"{error.name} is not installed", INSTALL) from None
    from ..viewer.app import Viewer

    server = LocalServer(port)
    try:
        viewer = Viewer(study, server)
        print(f"{server.address}\nEnd with Ctrl-C.", flush=True)  # noqa: T201 (before it waits)
        if opens_browser:
            webbrowser.open(server.address)
        viewer.run()
    finally:
        server.stop()
