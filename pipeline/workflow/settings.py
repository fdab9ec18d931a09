"""The settings of a study, checked against the schema.

``study.yaml`` wins over the body model's ``settings``, these win over ``config/default.yaml``.
"""

import copy
import functools
import importlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from ..body.body_model import BodyModel, find_loose_ends, find_unknown_weights
from ..errors import UserError, nearest
from ..extra import every_extra, refuse_second, renamed_settings
from ..reference import resolve
from ..step import every_step
from ..tables.tsv import bad_path
from ..whole_body import rule_names
from .schema_problems import problems_in
from .strict_yaml import content_of, read_yaml

CONFIG = Path(__file__).resolve().parents[2] / "config"
NO_BODY_MODEL = "body_model is not set"
NULLS = ("", "~", "null", "Null", "NULL")  # of YAML


def merged(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """Merge mappings section by section; later layers win."""
    result: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.items():
            old = result.get(key)
            result[key] = merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return result


def typed(content: Any, rule: Mapping[str, Any], key: str = "") -> Any:
    """Return settings of the command line with texts as numbers, booleans and null, where the schema has no text.

    Snakemake gives the values of ``--config`` as texts, among those of ``--configfile``, which have their types.

    Args:
        rule: the schema of the content.
        key: where the content belongs.
    """
    if isinstance(content, Mapping):
        named, others = rule.get("properties", {}), rule.get("additionalProperties") or {}
        return {
            str(name): typed(value, named.get(str(name), others), f"{key}.{name}".strip("."))
            for name, value in content.items()
        }
    allows = jsonschema.Draft202012Validator(rule).is_valid
    if not isinstance(content, str) or (allows(content) and not (content in NULLS and allows(None))):
        return content
    return content_of(content, f"--config or --configfile: {key}")


@functools.cache
def _config(name: str) -> dict[str, Any]:
    """Return ``config/<name>.yaml``, read in a tenth of the time of :func:`read_yaml`; callers must not change it."""
    path = CONFIG / f"{name}.yaml"
    try:
        content: dict[str, Any] = yaml.load(path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    except yaml.YAMLError:
        return read_yaml(path)  # which says what is wrong
    return content


@functools.cache
def schema(name: str) -> dict[str, Any]:
    """Return ``config/<name>.schema.yaml``, of settings with the sections of extras and no others; do not change it."""
    rules = _config(f"{name}.schema")
    if name != "settings":
        return rules
    own = {section: declared_settings().section_rule(of) for section, of in sections_of_extras().items()}
    return {**rules, "properties": {**rules["properties"], **own}, "additionalProperties": False}


@functools.cache
def sections_of_extras() -> Mapping[str, Any]:
    """Return what declares each section that config/ does not have: those of extras, of their steps first.

    Raises:
        UserError: an extra declares a section that another one has.
    """
    shipped = _config("settings.schema")["properties"]
    names = [name for name, step in every_step().items() if not step.section and name not in shipped]
    found = {name: declared_settings().section_of(every_step()[name]) for name in names}
    for extra in every_extra().values():
        for name, reference in extra.settings.items():
            refuse_second("section of the settings", name, {**shipped, **found}, extra)
            found[name] = resolve(reference)
    return found


def with_new_names(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings in which those that an extra has renamed have their new names.

    One that is there by its new name, too, keeps the old one, which is then refused as unknown.
    """
    result = {name: dict(part) if isinstance(part, Mapping) else part for name, part in content.items()}
    for old, new in renamed_settings().items():
        (section, name), (new_section, new_name) = old.split("."), new.split(".")
        before, after = result.get(section), result.get(new_section) or {}
        if isinstance(before, dict) and name in before and isinstance(after, dict) and new_name not in after:
            result[new_section] = {**after, new_name: before.pop(name)}
    return result


def declared_settings() -> Any:
    """Return the module that reads declarations, which costs more than the files that it writes."""
    return importlib.import_module(".declared_settings", __package__)


def every_default() -> dict[str, Any]:
    """Return the default of each setting by section, with those of extras."""
    further = {name: declared_settings().defaults_of(of) for name, of in sections_of_extras().items()}
    return merged(copy.deepcopy(_config("default")), further)


def defaults(model: BodyModel) -> dict[str, Any]:
    """Return the default settings, with those of a body model."""
    return merged(every_default(), model.settings)


def load_settings(
    study_settings: Mapping[str, Any], *, where: str, study_path: Path
) -> tuple[dict[str, Any], BodyModel]:
    """Return the full settings and the body model of a study.

    Args:
        study_settings: content of study.yaml, with the settings of the command line.
        study_path: the study directory; a body model's path is relative to it.

    Raises:
        UserError: every problem.
    """
    if problems := problems_in(study_settings, schema("settings"), where=where, of_extras=True):
        raise UserError.of(problems)
    model = load_body_model(study_settings.get("body_model"), where=where, study_path=study_path)
    settings = merged(defaults(model), study_settings)
    own_weights = study_settings.get("kinematics", {}).get("marker_weights", {})
    if problems := find_unknown_weights(model, own_weights, where=where):
        raise UserError.of(problems)
    return settings, model


def segment_table(name: str, age_years: str = "") -> dict[str, Any]:
    """Return a table of config/segment_parameters.yaml with its ``name``; callers must not change it.

    ``by_age`` is the table of children, with the ``age_years`` within its range, or that of adults, and the ``reason``.
    A cell without a positive number is no age, and the person an adult.
    """
    tables: dict[str, dict[str, Any]] = _config("segment_parameters")
    if name != "by_age":
        return {**tables[name], "name": name, "reason": "setting calibrate.segment_parameters"}
    groups = tables[name]
    try:
        age = float(age_years.replace(",", "."))
    except ValueError:
        age = math.nan
    if not 0 < age < groups["adult_years"]:
        known = age >= groups["adult_years"]
        reason = f"at least {groups['adult_years']} years old" if known else "no age_years in participants.tsv"
        return segment_table(groups["adults"]) | {"reason": reason}
    table = segment_table(groups["children"])
    first, last = table["years"]
    nearest = min(max(age, first), last)
    ends = "" if nearest == age else f", as at {nearest:g} years, where the table ends"
    return table | {"age_years": nearest, "reason": f"{age:g} years old{ends}; measured in boys"}


@functools.cache
def shipped_body_models() -> tuple[str, ...]:
    """Return the names of the body models in config/body_models."""
    return tuple(sorted(path.stem for path in (CONFIG / "body_models").glob("*.yaml")))


def shipped_references() -> dict[str, dict[str, Any]]:
    """Return what is known of each reference in config/normative, by name; callers must not change it."""
    return _config("normative/sources")


def load_body_model(name: str | None, *, where: str, study_path: Path) -> BodyModel:
    """Return a shipped body model by name, or another by its path in the study.

    A model that ``extends`` another inherits its landmarks, joint centres, segments and settings, and replaces those
    that it defines itself.

    Raises:
        UserError: no such model, one outside of the study, or one that breaks config/body_model.schema.yaml.
    """
    if name and name in shipped_body_models():
        return _shipped_body_model(name)
    return read_body_model(name, where=where, study_path=study_path, anywhere=False)


@functools.cache
def _shipped_body_model(name: str) -> BodyModel:
    return read_body_model(name, where="", study_path=CONFIG)


def read_body_model(name: str | None, *, where: str, study_path: Path, anywhere: bool = True) -> BodyModel:
    """Return :func:`load_body_model` of a path that may be ``anywhere``; what it extends is inside of the study."""
    model, file = _with_its_base(name, (), where=where, study_path=study_path, anywhere=anywhere)
    if isinstance(upper := model.get("upper_body"), str):
        shipped = sorted(path.stem for path in (CONFIG / "upper_bodies").glob("*.yaml"))
        if upper not in shipped:
            remedy = nearest(upper, shipped) or f"choose one of {', '.join(shipped)}, or write its rules"
            raise UserError(file, f"no upper_body '{upper}'", remedy)
        model["upper_body"] = _config(f"upper_bodies/{upper}")
    problems = problems_in(model, schema("body_model"), where=file)
    problems += problems_in(model.get("settings", {}), schema("settings"), where=f"{file}: settings", of_extras=True)
    if not problems:
        built = BodyModel.of(model)
        loose = find_loose_ends(model)
        if built.upper_body:
            loose += rule_names.find_loose_ends(built.upper_body, built.upper_landmarks.keys())
        problems = [problem.within(file) for problem in loose]
    if problems:
        raise UserError.of(problems)
    return built


def is_file(path: Path) -> bool:
    """Return whether a path is a regular file, False for a path that is too long."""
    try:
        return path.is_file()
    except OSError:  # too long for a name
        return False


def _with_its_base(
    name: str | None, above: tuple[str, ...], *, where: str, study_path: Path, anywhere: bool
) -> tuple[dict[str, Any], str]:
    """Return a body model merged with those it extends, and its file's name."""
    shipped = shipped_body_models()
    if not name:
        raise UserError(where, NO_BODY_MODEL, f"choose one of {', '.join(shipped)}, or a file's path")
    if name in above:
        what = f"body models extend each other: {' > '.join((*above, name))}"
        raise UserError(where, what, "remove one 'extends'")
    if not anywhere and (problems := bad_path(name, "extends" if above else "body_model", where)):
        raise UserError.of(problems)
    path = CONFIG / "body_models" / f"{name}.yaml" if name in shipped else study_path / name
    if not is_file(path):
        remedy = nearest(name, shipped) or f"choose one of {', '.join(shipped)}, or a file's path"
        raise UserError(where, f"no body model '{name}'", remedy)
    model = {**_config(f"body_models/{name}")} if name in shipped else read_yaml(path)
    if isinstance(model.get("settings"), Mapping):
        model["settings"] = with_new_names(model["settings"])
    if "extends" not in model:
        return model, path.name
    extended = str(model.pop("extends"))
    base, _ = _with_its_base(extended, (*above, name), where=path.name, study_path=study_path, anywhere=False)
    whole = base | model
    for section in ("landmarks", "joint_centres", "segments", "virtual", "settings"):
        layers = [layer[section] for layer in (base, model) if isinstance(layer.get(section), dict)]
        if len(layers) == 2:
            whole[section] = merged(*layers) if section == "settings" else layers[0] | layers[1]
    return whole, path.name
