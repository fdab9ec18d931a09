"""A page of the report as one file, to be passed on or printed without the files that all pages share."""

import base64
import hashlib
from pathlib import Path, PurePosixPath

from ..errors import UserError
from .page_names import SCRIPT, SHARED, STYLE

INSIDE = {  # of each shared file: how a page links to it, the element with its text, and what the policy says of it
    STYLE: ('<link rel="stylesheet" href="{}">', "<style>{}</style>", "style-src"),
    SCRIPT: ('<script src="{}"></script>', "<script>{}</script>", "script-src"),
}


def single_page(html: str, derived: Path) -> str:
    """Return a page with its script and its style inside, and a policy that allows these and no other file.

    Args:
        html: a page of a study as it is written.
        derived: the folder with the study's results.

    Raises:
        UserError: the script or the style is missing.
    """
    for file, (link, element, directive) in INSIDE.items():
        try:
            text = (derived / file).read_text(encoding="utf-8")
        except OSError as error:
            raise UserError(str(derived / file), str(error.strerror), "write it with: gaitlab run STUDY") from None
        for name in (file, PurePosixPath(file).name):  # from the overview, and from a page beside it
            html = html.replace(link.format(name), element.format(text))
        html = html.replace(f"{directive} {SHARED}", f"{directive} 'sha256-{digest_of(text)}'")
    return html


def digest_of(text: str) -> str:
    """Return the digest of a script or a style, as a policy names it."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
