"""The project by its name for scripts: ``from gaitlab import load_study``. All code is in ``gaitlab.pipeline``."""

from pathlib import Path
from typing import TYPE_CHECKING

if not Path(__path__[0], "pipeline").is_dir():  # a checkout: pipeline/ is next to this folder
    __path__.append(str(Path(__path__[0]).parent))

from .pipeline import __getattr__ as __getattr__
from .pipeline import __version__ as __version__

if TYPE_CHECKING:
    from .pipeline import find_metric as find_metric
    from .pipeline import load_study as load_study
    from .pipeline import load_trial as load_trial
    from .pipeline import mean_curves as mean_curves
