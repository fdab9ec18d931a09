"""YAML files as people mean them: no aliases, no key twice, no number that YAML reads in another way than people do."""

import math
import re
from pathlib import Path
from typing import Any

import yaml

from ..errors import Problem, UserError, find_hidden
from ..tables.tsv import decode_text

LARGEST_FILE_BYTES = 200_000
DEEPEST = 20
LARGEST_NUMBER = 1e15
INTEGER, FLOAT = "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"
NUMBERS = (INTEGER, FLOAT)
# not 012 (octal in YAML 1.1), 0x10, 1_000, 1:30 (sexagesimal), .inf
DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]*|[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
OCTAL = re.compile(r"[-+]?0o[0-7]+")
LONGEST_VALUE = 60  # characters of a value that a message quotes


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


def content_of(text: str, where: str) -> Any:
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
        content = content_of(decode_text(path.read_bytes()), str(path))
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
