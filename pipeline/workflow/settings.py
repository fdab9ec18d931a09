"""The settings of a study, checked against the schema.

``study.yaml`` wins over the body model's ``settings``, these win over ``config/default.yaml``.
"""

import copy
import functools
import importlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from ..body.body_model import BodyModel, find_loose_ends, find_unknown_weights
from ..errors import Problem, UserError, find_hidden, nearest
from ..extra import every_extra, refuse_second
from ..reference import resolve
from ..step import every_step
from ..tables.tsv import bad_path, decode_text, leaves_study
from ..whole_body import rule_names

CONFIG = Path(__file__).resolve().parents[2] / "config"
NO_BODY_MODEL = "body_model is not set"
LARGEST_FILE_BYTES = 200_000
DEEPEST = 20
LARGEST_NUMBER = 1e15
INTEGER, FLOAT = "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"
NUMBERS = (INTEGER, FLOAT)
# not 012 (octal in YAML 1.1), 0x10, 1_000, 1:30 (sexagesimal), .inf
DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]*|[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
OCTAL = re.compile(r"[-+]?0o[0-7]+")
LONGEST_VALUE = 60  # characters of a value that a message quotes
LIMITS = {
    "exclusiveMinimum": "above {:g}",
    "minimum": "of at least {:g}",
    "exclusiveMaximum": "below {:g}",
    "maximum": "at most {:g}",
}
PATH_IN_STUDY = "path_in_study"  # format of a setting, see config/settings.schema.yaml
FORMATS = jsonschema.FormatChecker(formats=())
OF_ONE_VALUE = ("type", "enum", "pattern", "minLength", "maxLength", *LIMITS)
NULLS = ("", "~", "null", "Null", "NULL")  # of YAML


@FORMATS.checks(PATH_IN_STUDY)
def _stays_in_study(value: object) -> bool:
    """Return whether a setting of this format has it; what is no text, or empty, is refused by its type."""
    return not (isinstance(value, str) and value and leaves_study(value))


class _StrictLoader(yaml.SafeLoader):
    """YAML without aliases (no exponential documents), duplicate keys, deep nesting, invisible characters, NaN.

    ``misread`` has the problems of numbers that a person takes for others, such as the octal 012.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.keys: list[str] = []  # of the nodes around the one that is read; empty for one in a list
        self.misread: list[Problem] = []

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError(f"aliases (*name) are not allowed{self.peek_event().start_mark}")  # type: ignore[no-untyped-call]
        self.keys.append(index.value if isinstance(index, yaml.ScalarNode) else "")
        if len(self.keys) > DEEPEST:
            raise yaml.YAMLError(f"more than {DEEPEST} levels deep{self.peek_event().start_mark}")  # type: ignore[no-untyped-call]
        node = super().compose_node(parent, index)
        if isinstance(node, yaml.ScalarNode):
            self._look_at_number(node)
        self.keys.pop()
        return node

    def _look_at_number(self, node: yaml.ScalarNode) -> None:
        """Note the problem of a number that is not written in decimal digits."""
        octal = node.style is None and OCTAL.fullmatch(node.value)  # of YAML 1.2; a text here
        if not octal and (node.tag not in NUMBERS or DECIMAL.fullmatch(node.value)):
            return
        try:
            value = float(int(node.value, 8) if octal else super().construct_object(node))
        except (ValueError, LookupError, OverflowError):
            return  # construct_object says that it is none
        key = ".".join(filter(None, self.keys)) or "the value"
        right = f"{value:.15g} if that is meant, else " if math.isfinite(value) else ""
        what = f"{key} is {node.value[:LONGEST_VALUE]}, which YAML reads as {value:.15g}"
        self.misread.append(Problem("", what, f"write {right}a number in decimal digits, or a text in quotes"))

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        try:
            value = super().construct_object(node, deep=deep)
        except (ValueError, LookupError, AttributeError, OverflowError):  # 2001-99-99, !!int "", !!bool x, 5000 digits
            what = f"'{str(node.value)[:40]}' is no valid number, date or truth value"
            raise yaml.YAMLError(f"{what}{node.start_mark}") from None
        if isinstance(value, str) and (hidden := find_hidden(value.replace("\n", ""))):
            raise yaml.YAMLError(f"a text with the invisible character {hidden}{node.start_mark}")
        if isinstance(value, (int, float)) and not abs(value) < LARGEST_NUMBER:
            raise yaml.YAMLError(f"'{node.value[:40]}' is too large or not finite{node.start_mark}")
        return value

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        pairs = node.value if isinstance(node, yaml.MappingNode) else []  # !!map x is refused below
        keys = [self.construct_object(key, deep=True) for key, _ in pairs]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.YAMLError(f"'{key}' is given twice{node.start_mark}")
        return super().construct_mapping(node, deep)


# 1e5 and 1.5e3 as JSON and YAML 1.2 have them; to YAML 1.1, texts
_StrictLoader.add_implicit_resolver(FLOAT, re.compile(rf"(?:{DECIMAL.pattern})$"), [*"-+.0123456789"])


def _content(text: str, where: str) -> Any:
    """Return what a YAML text holds; raise UserError for what :class:`_StrictLoader` refuses."""
    try:
        loader = _StrictLoader(text)
        node = loader.get_single_node()
        if loader.misread:
            raise UserError.of(problem._replace(where=where) for problem in loader.misread)
        return None if node is None else loader.construct_document(node)
    except yaml.YAMLError as error:
        remedy = "indent by blanks, not by tabs" if "'\\t'" in str(error) else "correct it"
        raise UserError(where, f"not valid YAML: {' '.join(str(error).split())}", remedy) from None


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a YAML mapping.

    Raises:
        UserError: the file is missing, too large, not YAML, not a mapping, or has aliases, a key twice, numbers that
            are not finite or not in decimal digits, or invisible characters.
    """
    try:
        if path.stat().st_size > LARGEST_FILE_BYTES:
            what = f"larger than {LARGEST_FILE_BYTES // 1000} kB"
            raise UserError(str(path), what, "give a file of settings; these are short")
        content = _content(decode_text(path.read_bytes()), str(path))
    except FileNotFoundError:
        raise UserError(str(path), "no such file", "correct the path or restore the file") from None
    except UnicodeDecodeError:
        raise UserError(str(path), "not UTF-8 text", "save it as UTF-8") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        what = f"holds a {type(content).__name__}"
        raise UserError(str(path), what, "expected 'key: value' lines, with a blank after the colon")
    return content


def problems_in(
    content: Mapping[str, Any], schema: Mapping[str, Any], *, where: str, of_extras: bool = False
) -> list[Problem]:
    """Return the problems of ``content`` according to a JSON schema; ``of_extras``: an extra may add sections to it."""
    validator = jsonschema.Draft202012Validator(schema, format_checker=FORMATS)
    problems = []
    errors = [cause for error in validator.iter_errors(content) for cause in _causes(error)]
    for error in sorted(errors, key=lambda e: [str(p) for p in e.absolute_path]):
        key = ".".join(str(part) for part in error.absolute_path)
        if error.validator == "additionalProperties":
            known = error.schema["properties"]
            for name, value in ((str(name), value) for name, value in error.instance.items() if name not in known):
                whole = ".".join(filter(None, [key, name]))
                what, new = f"unknown key '{whole}'", _renamed_settings().get(whole) if of_extras else None
                remedy = f"it is '{new}' now, which is set, too: remove one of both" if new else ""
                if not remedy and (sections := [section for section, names in _sections(schema) if name in names]):
                    remedy = f"write it below '{' or '.join(sections)}:'"
                remedy = remedy or nearest(name, known)
                if of_extras and not key and not remedy and isinstance(value, Mapping):
                    what = f"no step or extra has the section '{name}'"
                    remedy = "install the extra that has it (docs/extras.md), or remove it"
                problems.append(Problem(where, what, remedy or f"expected one of {', '.join(known)}"))
        elif error.validator == "format":
            problems += bad_path(error.instance, key, where)
        elif error.validator in OF_ONE_VALUE:
            value = json.dumps(error.instance, default=str, skipkeys=True)  # a key may be a date
            what = f"{key or 'the file'} is {value[:LONGEST_VALUE]}"
            problems.append(Problem(where, what, _remedy(str(error.instance), error.schema)))
        else:
            place = f"{where}: {key}" if key else where
            problems.append(Problem(place, error.message, error.schema.get("description", "correct it")))
    return problems


def _causes(error: Any) -> list[Any]:
    """Return what is wrong within a mapping of which several kinds are allowed, by the only kind that has mappings."""
    if error.validator == "anyOf" and isinstance(error.instance, Mapping):
        kinds = [error.schema_path[0] for error in error.context if error.validator == "type" and not error.path]
        inner = [each for each in error.context if each.schema_path[0] not in kinds]
        if inner and len({each.schema_path[0] for each in inner}) == 1:
            return [cause for each in inner for cause in _causes(each)]
    return [error]


def _sections(schema: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the dotted name and the properties of each section of a schema."""
    for name, node in schema.get("properties", {}).items():
        if "properties" in node:
            yield above + name, node["properties"]
            yield from _sections(node, f"{above}{name}.")


def _remedy(value: str, schema: Mapping[str, Any]) -> str:
    """Return which values a schema allows in place of another."""
    if "enum" in schema:
        allowed = [str(name) for name in schema["enum"]]
        return nearest(value, allowed) or f"expected one of {', '.join(allowed)}"
    limits = " and ".join(words.format(schema[name]) for name, words in LIMITS.items() if name in schema)
    length = f" of at most {schema['maxLength']} characters" if "maxLength" in schema else ""
    text = f"text such as '{schema['examples'][0]}'" if "examples" in schema else schema.get("pattern", "text")
    words = {
        "number": f"a number {limits}".strip(),
        "integer": f"a whole number {limits}".strip(),
        "string": f"{text.strip('^$')}{length}",
        "boolean": "true or false",
        "array": "a list",
        "object": "'key: value' lines",
    }
    kind = schema.get("type", "string")  # the schema of a name has no type
    kinds = [kind] if isinstance(kind, str) else kind
    return f"expected {' or '.join(words.get(kind, kind) for kind in kinds)}"


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
    return _content(content, f"--config or --configfile: {key}")


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
    for old, new in _renamed_settings().items():
        (section, name), (new_section, new_name) = old.split("."), new.split(".")
        before, after = result.get(section), result.get(new_section) or {}
        if isinstance(before, dict) and name in before and isinstance(after, dict) and new_name not in after:
            result[new_section] = {**after, new_name: before.pop(name)}
    return result


def _renamed_settings() -> dict[str, str]:
    """Return the names now of settings that extras have renamed, by those before."""
    return {old: new for extra in every_extra().values() for old, new in extra.renamed.items()}


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
