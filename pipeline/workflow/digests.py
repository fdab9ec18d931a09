"""Digests of recordings and code, which show whether a result is up to date regardless of timestamps."""

import ast
import contextlib
import functools
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import re
import time
from collections.abc import Iterable
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]

YOUNGEST_REMEMBERED_S = 2.0
WORD = re.compile(r"\bimport\b")
CONTINUED = re.compile(r"\b(from|import)\b[^\n]*\\\n")  # by a backslash
IMPORT = re.compile(
    r"^[ \t]*(import\b[^\n#]*|from[ \t]+[.\w]+[ \t]+import\b[^\n#(]*(?:\([^)]*\))?[^\n#]*)", re.MULTILINE
)
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")  # of statements, in a statement


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes as hexadecimal text."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def sha256_of_files(paths: Iterable[Path], *, cache: Path) -> dict[Path, str]:
    """Return the SHA-256 of each file; ``cache`` keeps them by size, times, inode.

    Files changed within the last two seconds are not stored: another change within a clock tick of the file system
    would be missed. A cache that cannot be written costs only time. It keeps what it holds of other files.
    """
    try:
        known = json.loads(cache.read_text())
    except (OSError, ValueError):
        known = {}
    known = known if isinstance(known, dict) else {}  # from another program
    digests: dict[Path, str] = {}
    entries = dict(known)
    for path in sorted(set(paths)):
        status = path.stat()
        stamp = [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
        entry = known.get(str(path))
        fresh = isinstance(entry, dict) and entry.get("stamp") == stamp and "sha256" in entry
        digests[path] = entry["sha256"] if entry and fresh else sha256(path)
        if time.time() - status.st_ctime > YOUNGEST_REMEMBERED_S:
            entries[str(path)] = {"stamp": stamp, "sha256": digests[path]}
    if entries != known:
        try:
            cache.parent.mkdir(exist_ok=True)
            partial = cache.with_name(f"{cache.name}.{os.getpid()}")
            partial.write_text(json.dumps(entries))
            partial.replace(cache)
        except OSError:
            pass
    return digests


@functools.cache
def imported_modules(*modules: str) -> frozenset[str]:
    """Return modules with all modules of their packages that they import, whichever way an import is written."""
    packages = {"pipeline", *(name.partition(".")[0] for name in modules)}
    found: set[str] = set()
    waiting = {*modules}
    while waiting:
        name = waiting.pop()
        found.add(name)
        run = {name.rpartition(".")[0], *_direct_imports(name)}  # a module's package runs first
        own = (one for one in run if one.partition(".")[0] in packages)
        waiting |= {one for one in own if _source(one)} - found
    return frozenset(found)


@functools.cache
def _direct_imports(module: str) -> frozenset[str]:
    """Return the names that a module imports, of modules or in them."""
    names: list[str] = []
    source: Path = _source(module)  # type: ignore[assignment]
    parts = [*module.split("."), *(["__init__"] if source.name == "__init__.py" else [])]
    waiting: list[ast.AST] = [_import_statements(source.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = parts[: -node.level] if node.level else []
            origin = ".".join([*above, *filter(None, [node.module])])
            names += [origin, *(f"{origin}.{alias.name}" for alias in node.names)]
        for block in BLOCKS:  # most nodes are in expressions, which have no imports
            waiting += getattr(node, block, ())
    return frozenset(name.removeprefix("gaitlab.") for name in names)


def _import_statements(text: str) -> ast.Module:
    """Parse the import statements of a source, or all of it if they cannot be told apart line by line.

    Each begins a line nearly everywhere. To parse all modules takes 0.4 s at each start. A line of a docstring that is
    a whole import statement is taken as one.
    """
    statements = IMPORT.findall(text)
    in_statements = sum(len(WORD.findall(statement)) for statement in statements)
    if len(WORD.findall(text)) == in_statements and not CONTINUED.search(text):
        with contextlib.suppress(SyntaxError):
            return ast.parse("\n".join(statements))
    return ast.parse(text)


@functools.cache
def code_digest(*modules: str, without: frozenset[str] = frozenset()) -> str:
    """Return a digest of the source of :func:`imported_modules`, and of their templates, some left out."""
    digest = hashlib.sha256()
    for name in sorted(imported_modules(*modules) - without):
        source: Path = _source(name)  # type: ignore[assignment]
        digest.update(name.encode() + b"\0" + source.read_bytes() + b"\0")
        if (template := source.with_suffix(".txt")).exists():  # of pipeline.text_template
            digest.update(template.read_bytes() + b"\0")
    return digest.hexdigest()


@functools.cache
def digests_beside(reference: str, ending: str) -> dict[str, str]:
    """Return the SHA-256 of the files with an ending in the folder of a module, given what it names, by their names."""
    source = _source(reference.partition(":")[0])
    return {path.name: sha256(path) for path in sorted(source.parent.glob(f"*{ending}"))} if source else {}


def of_text(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def versions(distributions: Iterable[str]) -> dict[str, str]:
    """Return the installed version of each distribution."""
    return {name: _version(name) for name in distributions}


_version = functools.cache(importlib.metadata.version)


@functools.cache
def _source(module: str) -> Path | None:
    """Return the file of a module of this package, or of one that declares a step; None for anything else."""
    package, *inner = module.split(".")
    if package == "pipeline":  # its folders' own modules are empty
        file = f"{os.path.join(PACKAGE, *inner)}.py"  # noqa: PTH118 (thousands of names, which pathlib takes 0.1 s for)
        return Path(file) if os.path.isfile(file) else None  # noqa: PTH113
    found = importlib.util.find_spec(package)  # which imports nothing
    folders = (found and found.submodule_search_locations) or ()
    names = [Path(*inner).with_suffix(".py")] if inner else []
    files = [Path(folder, name) for folder in folders for name in (*names, Path(*inner, "__init__.py"))]
    if found and found.origin and not folders and not inner:  # a module without a package
        files = [Path(found.origin)]
    return next((file for file in files if file.is_file()), None)
