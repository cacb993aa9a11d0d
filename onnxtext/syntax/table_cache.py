# SPDX-License-Identifier: Apache-2.0
"""The tables of the grammar, kept between processes: making them takes ten times as long.

They are kept as JSON, never as a pickle: reading a damaged or hostile file cannot run anything.
The name of the file holds a digest of all that the tables depend on, so no version ever reads
another's; a file that belongs to another user is not read at all.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from onnxtext.files import write_atomically
from onnxtext.syntax import dfa as dfa_module
from onnxtext.syntax import tables as tables_module
from onnxtext.syntax.dfa import Scanner
from onnxtext.syntax.tables import Rule, Tables, Terminal, build_tables


def cached_tables(grammar: str) -> Tables:
    """The tables of a grammar: read from the user's cache, or made and put there.

    Set `ONNXTEXT_CACHE` to a directory to use another one, or to nothing to use none.
    """
    path = cache_path(grammar)
    if path is None:
        return build_tables(grammar)
    tables = _read(path)
    if tables is None:
        tables = build_tables(grammar)
        _write(path, tables)
    return tables


def cache_path(grammar: str) -> Path | None:
    """The file that holds the tables of a grammar; None if there is no place for it."""
    directory = os.environ.get("ONNXTEXT_CACHE")
    if directory is None:
        base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
        try:
            directory = str(Path(base) if base else Path.home() / ".cache") + "/onnxtext"
        except RuntimeError:  # no home directory
            return None
    if not directory:
        return None
    makers = [
        Path(file).read_text(encoding="utf-8")
        for file in (tables_module.__file__, dfa_module.__file__)
    ]
    digest = hashlib.sha256("\0".join([grammar, *makers, _lark()]).encode()).hexdigest()
    return Path(directory) / f"tables-{digest[:32]}.json"


def _lark() -> str:
    """A text that has the version of lark in it; asking for that alone takes ten times as long."""
    spec = find_spec("lark")
    assert spec is not None, "a dependency"
    assert spec.origin is not None, "it has an __init__.py"
    return Path(spec.origin).read_text(encoding="utf-8")


def _read(path: Path) -> Tables | None:
    try:
        with path.open("rb") as file:
            owner = os.fstat(file.fileno()).st_uid
            if hasattr(os, "getuid") and owner != os.getuid():
                return None
            return _from_json(json.load(file))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(path: Path, tables: Tables) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(asdict(tables), separators=(",", ":")).encode())
    except OSError:  # a cache that cannot be written is only a slower start
        pass


def _from_json(data: dict[str, Any]) -> Tables:
    return Tables(
        terminals=tuple(Terminal(**item) for item in data["terminals"]),
        rules=tuple(
            Rule(item["origin"], tuple(item["symbols"]), item["action"], tuple(item["take"]))
            for item in data["rules"]
        ),
        actions=tuple(data["actions"]),
        gotos=tuple(data["gotos"]),
        starts=data["starts"],
        ends=data["ends"],
        scanner=Scanner(**data["scanner"]),
    )
