"""The project by its name for scripts: ``from gaitlab import load_study``. All code is in ``gaitlab.pipeline``.

In a checkout and in the Snakefile the same code is the package ``pipeline``. Whichever name a process imports first,
the other one then names the same modules, so that there is one of each.
"""

import importlib
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if not Path(__path__[0], "pipeline").is_dir():  # a checkout: pipeline/ is next to this folder
    __path__.append(str(Path(__path__[0]).parent))


class OtherName(MetaPathFinder, Loader):
    """Gives the modules of a package under another name of it."""

    def __init__(self, name: str, known: str) -> None:
        self.name, self.known = name, known
        self.specs: dict[str, ModuleSpec | None] = {}

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:  # noqa: ARG002
        """Return the specification of a module that has the other name, None for any other module."""
        if not f"{fullname}.".startswith(f"{self.name}."):
            return None
        if fullname == "pipeline":
            found = PathFinder.find_spec(fullname)
            if found is None or not _is_ours(found.origin):
                return None
        elif fullname.startswith("pipeline.") and not _is_ours(sys.modules["pipeline"].__file__):
            return None
        return spec_from_loader(fullname, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module that is known already, or imported now, by its first name."""
        module = importlib.import_module(self.known + spec.name.removeprefix(self.name))
        self.specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Keep the specification of the first name: the module is complete."""
        if module.__spec__ is not None:
            module.__spec__ = self.specs.pop(module.__spec__.name)


def _is_ours(file: str | None) -> bool:
    ours = (Path(folder, "pipeline", "__init__.py") for folder in __path__)
    return file is not None and any(one.exists() and one.samefile(file) for one in ours)


if "pipeline" in sys.modules and _is_ours(sys.modules["pipeline"].__file__):
    sys.meta_path.insert(0, OtherName("gaitlab.pipeline", "pipeline"))
else:
    sys.meta_path.insert(0, OtherName("pipeline", "gaitlab.pipeline"))

from .pipeline import __getattr__ as __getattr__  # noqa: E402
from .pipeline import __version__ as __version__  # noqa: E402

if TYPE_CHECKING:
    from .pipeline import find_metric as find_metric
    from .pipeline import load_study as load_study
    from .pipeline import load_trial as load_trial
    from .pipeline import mean_curves as mean_curves
