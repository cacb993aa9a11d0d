# SPDX-License-Identifier: Apache-2.0
"""Cache the grammar's tables in a file: reading is ten times faster than building.

The file contains JSON and integers, not a pickle, so that reading a hostile file cannot run code.
It begins with a checksum of its content; if the file is damaged, the tables are built again. The
name of the file contains the length and checksum of all sources of the tables, so that each version
has its own file. Files of other users are ignored. The checksums are CRC-32, since importing
`hashlib` takes longer than reading the tables.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import zlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from onnxtext.io.files import replace_file
from onnxtext.syntax.grammar import scanner_tables as scanner_module
from onnxtext.syntax.grammar import tables as tables_module
from onnxtext.syntax.grammar.scanner_tables import ScannerTables
from onnxtext.syntax.grammar.tables import (
    GrammarRule,
    Matrix,
    ParserTables,
    Terminal,
    build_tables,
    grammar_path,
)


@cache
def load_tables() -> ParserTables:
    """Return the tables of the grammar, loaded once per process."""
    return cached_tables(grammar_path().read_text(encoding="utf-8"))


def cached_tables(grammar: str) -> ParserTables:
    """Return the tables of a grammar from the user's cache, or build and cache them.

    The environment variable `ONNXTEXT_CACHE` sets the cache directory. The empty string disables
    the cache.
    """
    path = cache_path(grammar)
    if path is None:
        return build_tables(grammar)
    tables = read_tables(path)
    if tables is None:
        tables = build_tables(grammar)
        _write(path, tables)
    return tables


def cache_path(grammar: str) -> Path | None:
    """Return the path of the cache file for a grammar; None if there is no cache."""
    directory = os.environ.get("ONNXTEXT_CACHE")
    if directory is None:
        base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
        try:
            directory = str(Path(base) if base else Path.home() / ".cache") + "/onnxtext"
        except RuntimeError:  # no home directory
            return None
    if not directory:
        return None
    generators = [
        Path(file).read_text(encoding="utf-8")
        for file in (__file__, tables_module.__file__, scanner_module.__file__)
    ]
    sources = "\0".join([grammar, *generators, _lark()]).encode()
    return Path(directory) / f"tables-{len(sources)}-{zlib.crc32(sources):08x}"


def _lark() -> str:
    """Return the text of `lark/__init__.py`, which contains Lark's version.

    Reading the version with `importlib.metadata` is slower.
    """
    spec = find_spec("lark")
    assert spec is not None, "a dependency"
    assert spec.origin is not None, "it has an __init__.py"
    return Path(spec.origin).read_text(encoding="utf-8")


def read_tables(path: Path) -> ParserTables | None:
    """Return the tables in a cache file; None if it is missing, invalid or another user's."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(path, flags), "rb") as file:  # noqa: PTH123 (a descriptor)
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
                return None
            if hasattr(os, "getuid") and status.st_uid != os.getuid():
                return None
            checksum, content = file.readline(_CHECKSUM), file.read()
        if checksum != _checksum_line(content):
            return None
        header, _, cells = content.partition(b"\n")
        return _tables(json.loads(header), cells)
    except (OSError, ValueError, TypeError, KeyError):  # KeyError, TypeError: wrong structure
        return None


def _write(path: Path, tables: ParserTables) -> None:
    header, cells = _parts(tables)
    content = b"\n".join([json.dumps(header, separators=(",", ":")).encode(), cells])
    with contextlib.suppress(OSError):  # the cache is optional: it only speeds up the start
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(path, follow=False) as file:
            file.write(_checksum_line(content) + content)


def _checksum_line(content: bytes) -> bytes:
    """Return the first line of a cache file: the checksum of the content."""
    return b"%08x\n" % zlib.crc32(content)


_CHECKSUM = 9
"""The length of the first line of a cache file, in bytes."""

_LARGEST = 1 << 26
"""Maximum size of a cache file, in bytes; larger files are ignored."""


def _parts(tables: ParserTables) -> tuple[dict[str, Any], bytes]:
    """Return tables as an object for JSON, and the bytes of their matrices."""
    actions, gotos = tables.action_matrix, tables.goto_matrix
    header = {
        "terminals": [terminal._asdict() for terminal in tables.terminals],
        "rules": [[rule.origin, rule.symbols, rule.action, rule.take] for rule in tables.rules],
        "actions": [actions.names, len(actions.data)],
        "gotos": gotos.names,
        "starts": tables.starts,
        "ends": tables.ends,
        "scanner": tables.scanner._asdict(),
    }
    return header, actions.data + gotos.data


def _tables(data: dict[str, Any], cells: bytes) -> ParserTables:
    """Convert the result of `_parts` back to tables."""
    names, size = data["actions"]
    actions = Matrix(tuple(names), cells[:size])
    gotos = Matrix(tuple(data["gotos"]), cells[size:])
    if actions.height != gotos.height:
        raise ValueError("damaged parse tables")
    return ParserTables(
        terminals=tuple([Terminal(**item) for item in data["terminals"]]),
        rules=tuple(
            [
                GrammarRule(origin, tuple(symbols), action, tuple(take))
                for origin, symbols, action, take in data["rules"]
            ]
        ),
        action_matrix=actions,
        goto_matrix=gotos,
        starts=data["starts"],
        ends=data["ends"],
        scanner=ScannerTables(**data["scanner"]),
    )
