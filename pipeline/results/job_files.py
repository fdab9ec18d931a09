"""What jobs share: the names of their files, the provenance of outputs, cycles with results joined, the reference."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import xarray as xr

from ..json_text import object_in, to_text
from ..step import every_step
from ..tables import corrections
from ..tables.reference_curves import reference_file
from ..tables.tsv import decode_text
from ..variables.schema import TITLES, VARIABLES
from . import just_written
from .study_file import without_doubted

Files = Mapping[str, list[Path]]


def provenance(
    key: Mapping[str, Any],
    roots: Sequence[Mapping[str, Any]],
    *,
    output: str | None = None,
    result: Mapping[str, Any] | None = None,
) -> dict[str, str]:
    """Return the global attributes of an output: code version, sources, settings and corrections; no clock.

    Args:
        roots: the global attributes of the input files, the main one first.
        output: name of the output; None for that of the step.
        result: the attributes of the step's result, which say which corrections it did not apply.
    """
    used: dict[str, Any] = {}
    sources: dict[str, str] = {}
    tests: dict[str, Any] = {}
    taken = (row for arguments in key.get("by_trial", {}).values() for row in arguments.get("corrections", ()))
    applied, unfit = corrections.in_results([*roots, result or {}], taken)
    sizes = next((root["session_sizes"] for root in roots if "session_sizes" in root), "")  # of sessions.tsv
    for root in roots:
        used |= object_in(root, "settings")
        sources |= object_in(root, "source_sha256")
        tests |= object_in(root, "plate_tests")
    used[key["step"]] = key["settings"]
    if model := key.get("arguments", {}).get("body_model"):
        used["body_model"] = model["name"]
    done = [*(roots[0].get("history", "").splitlines() if roots else []), f"{key['step']}: pipeline {key['pipeline']}"]
    return {
        "Conventions": "CF-1.11",
        "title": TITLES[output or key["step"]],
        "history": "\n".join(done),
        "pipeline_version": key["pipeline"],
        "settings": to_text(used),
        "source_sha256": to_text(sources),
        **({"plate_tests": to_text(tests)} if tests else {}),
        **({corrections.APPLIED: to_text(applied)} if applied else {}),
        **corrections.attributes_of(unfit),
        **({"session": key["session"]} if key["session"] else {}),
        **({"session_sizes": sizes} if key["session"] and sizes else {}),
    }


def load_cycles(file: Path, inputs: Files) -> xr.Dataset:
    """Return cycles.nc of a session, with the results joined to it that the job has among its inputs."""
    cycles = just_written.load(file)
    joined = [name for name, step in every_step().items() if step.joins and name in inputs]
    for name in joined if "cycle" in cycles.dims else ():
        results = just_written.load(file.with_name(f"{name}.nc"), [*VARIABLES[name]])
        own = {each: one for each, one in results.variables.items() if each not in cycles.variables}
        labels = [each for each, one in own.items() if one.dims == (each,)]
        used = object_in(cycles.attrs, "settings") | object_in(results.attrs, "settings")
        cycles = cycles.assign(own).set_coords(labels).assign_attrs(settings=to_text(used))
    return cycles


def load_reference(name: str) -> xr.Dataset | str:
    """Return the study.nc of other people, or the text of a table of their curves, shipped or the user's."""
    path = reference_file(name, study_path=Path())
    return without_doubted(just_written.load(path)) if path.suffix == ".nc" else decode_text(path.read_bytes())
