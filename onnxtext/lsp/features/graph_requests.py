# SPDX-License-Identifier: Apache-2.0
"""Answer the requests of graph views.

- `onnxtext/graph` {uri, opened?, closed?, position?} -> {version, roots, groups, total, truncated,
  here, against}: the outermost graphs and the functions (`roots`), and the open groups of nodes.
  `opened` and `closed` are ids of groups; groups around the position are open, too. `total` is the
  number of nodes and values; `truncated` is true if a group stays closed because it has too many
  items. `here` is the result of `graphPlace` for the position; `against` is the last result of
  `graphCompare`
- `onnxtext/graphPlace` {uri, position?, id?} -> {path, id}: the node or value with an id, or else
  at a position; `path` has the ids of the groups and nodes around it
- `onnxtext/graphCompare` {uri, against?} -> {against}: from now on, mark the differences from
  the version `against`: the URI of a file, or `git:REVISION`; without it, mark none. The result is
  the name of the version; if the graph cannot be compared, the reason follows the name
- `onnxtext/graphFind` {uri, words} -> [{path, id}]: the nodes and values whose operator or names
  contain the string `words`
- `onnxtext/graphNode` {uri, id} -> {title, subtitle, text, sections}: one node or value in detail

If the document is not open, or the version to compare with cannot be read, the answer is an error.
"""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import orjson
from lsprotocol import types as t

from onnxtext.diagnostics import OnnxTextError
from onnxtext.io.memory import paused_collector
from onnxtext.lsp.features.binary_model_requests import read_file, text_of_binary
from onnxtext.lsp.graph.compare_drawings import NEW, changes_of, diff_of
from onnxtext.lsp.graph.details import details, drawn_node
from onnxtext.lsp.graph.details import find as find_nodes
from onnxtext.lsp.graph.drawing import Drawing
from onnxtext.lsp.index.document import Document, path_of
from onnxtext.lsp.server.protocol import RequestError

if TYPE_CHECKING:
    from onnxtext.lsp.server.server import Server

T = TypeVar("T")


async def graph(server: Server, params: Any) -> dict[str, Any] | orjson.Fragment:
    """Return the open groups of a document's graphs, with their nodes, values and edges."""
    views = _views(server, params)
    drawing = await views.drawing()
    opened, closed = [set(_strings(params, name)) for name in ("opened", "closed")]
    place = _place(drawing, params)
    if place is not None:
        opened.update(place["path"])
        closed.difference_update(place["path"])
    with paused_collector():
        drawn = drawing.draw(opened, closed)
    version = views.document.version.number
    return _fast({**drawn, "version": version, "here": place, "against": views.label})


async def compare(server: Server, params: Any) -> dict[str, Any]:
    """Choose the version that later drawings are compared with; return its name.

    If the graphs cannot be compared, the reason follows the name. Without a version, the name is
    None.
    """
    views = _views(server, params)
    await views.compare(getattr(params, "against", None))
    await views.drawing()
    return {"against": views.label}


async def place(server: Server, params: Any) -> dict[str, Any] | orjson.Fragment | None:
    """Return {path, id} of the node or value at a position or with an id.

    `path` has the ids of the groups and nodes around it, outermost first. Return None if there is
    no node or value, or if it is not drawn.
    """
    found = _place(await _views(server, params).drawing(), params)
    return None if found is None else _fast(found)


async def find(server: Server, params: Any) -> list[dict[str, Any]] | orjson.Fragment:
    """Return {path, id} of the nodes and values whose operator or names contain `params.words`."""
    return _fast(find_nodes(await _views(server, params).drawing(), params.words))


async def node(server: Server, params: Any) -> dict[str, Any] | orjson.Fragment | None:
    """Return the attributes, types and statistics of a node or value; None for an unknown id."""
    description = details(await _views(server, params).drawing(), params.id)
    return None if description is None else _fast(description)


def _views(server: Server, params: Any) -> GraphViews:
    document = server.documents.get(params.uri)
    if document is None:
        raise RequestError(f"{params.uri} is not open")
    if document.views is None:
        document.views = GraphViews(document)
    return document.views


class GraphViews:
    """Holds the last `Drawing` of a document's graphs, and the chosen version to compare with.

    Attributes:
        label: the name of the chosen version, followed by the reason if the comparison failed; None
            if no version was chosen, or if the chosen version was not compared yet.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self._last: Drawing | None = None
        self._plain: Drawing | None = None
        self._other: tuple[str, Drawing] | None = None
        self.label: str | None = None

    async def drawing(self) -> Drawing:
        """Return the drawing of the newest text, with the changes since the chosen version.

        If the comparison fails, the drawing has no changes, and `label` has the reason.
        """
        if self._plain is None or self._plain.version is not self.document.version:
            with paused_collector():
                self._plain = Drawing(self.document)
            self._last = None
        if self._other is None:
            return self._plain
        if self._last is None:
            self._last = await asyncio.to_thread(self._compare_drawings, self._plain, *self._other)
        return self._last

    def _compare_drawings(self, new: Drawing, label: str, old: Drawing) -> Drawing:
        try:
            diff = diff_of(old, new, label)
        except OnnxTextError as error:
            first = error.diagnostics[0]
            ours = (first.file if first.source is None else first.source.name) == NEW
            reason = f"this text has an error: {first.message}" if ours else first.message
            self.label = f"{label}: {reason}"
            return new
        self.label = label
        return Drawing(new.document, changes_of(old, new, diff, label))

    async def compare(self, against: str | None) -> None:
        """Choose the version to compare the document with.

        `against` is the URI of a file, or `git:REVISION`; None to compare with nothing.

        Raises:
            RequestError: the version cannot be read.
        """
        self._last = self._other = self.label = None
        if against is None:
            return
        uri = self.document.uri
        label, text, path = await asyncio.to_thread(other_text, uri, against)
        other = Document.open(f"{uri}#old", path, text, 0, self.document.encoding)
        self._other = label, Drawing(other)


def _fast(answer: T) -> T | orjson.Fragment:
    try:
        return orjson.Fragment(orjson.dumps(answer))  # ten times faster than `json`
    except TypeError:  # a name that is not UTF-8
        return answer


def _strings(params: Any, name: str) -> list[str]:
    return [item for item in getattr(params, name, None) or () if isinstance(item, str)]


def _place(drawing: Drawing, params: Any) -> dict[str, Any] | None:
    """Return {path, id} of the node or value with the id or at the position in `params`.

    Return None if there is no node or value, or if it is not drawn.
    """
    identity = getattr(params, "id", None)
    position = getattr(params, "position", None)
    if identity is None and position is not None:
        version = drawing.document.version
        index, lines = version.index, version.lines
        try:
            cursor = t.Position(int(position.line), int(position.character))
        except (AttributeError, TypeError, ValueError):
            return None
        offset = lines.offset(cursor)
        statement = index.statement_at(offset)
        if statement is None:
            # The cursor is in the indentation: take the first statement of the line.
            start = lines.offset(t.Position(cursor.line, 0))
            end = lines.line_end(max(cursor.line, 0))
            statements = [each for each in index.statements_in(start, end) if each.at >= start]
            statement = statements[0] if statements else None
        identity = None if statement is None else drawn_node(drawing, statement)
    if not isinstance(identity, str):
        return None
    path = drawing.chain(identity)
    return None if path is None else {"path": list(path), "id": identity}


GIT = "git:"
_SECONDS = 60


def other_text(uri: str, against: str) -> tuple[str, str, Path | None]:
    """Return (name, text, path) of another version of a document.

    `against` is the URI of the other file, or `git:REVISION`. For a revision, the name is the
    revision, and the path that of the document. `uri` is the URI of the document: `file:`, or
    `onnx:` for the text of a binary model.

    Raises:
        RequestError: the other version cannot be read.
    """
    if against.startswith(GIT):
        path = _path(uri)
        revision = against.removeprefix(GIT)
        return revision, _as_text(_from_git(path, revision), path), path
    path = _path(against)
    return path.name, _as_text(read_file(path), path), path


def _path(uri: str) -> Path:
    for scheme in ("file:", "onnx:"):
        if uri.startswith(scheme):
            path = path_of("file:" + uri.removeprefix(scheme))
            if path is not None:
                return path
    raise RequestError(f"{uri} is not a local file")


def _from_git(path: Path, revision: str) -> bytes:
    """Return the bytes of a file in a git revision.

    Raises:
        RequestError: the revision or the file does not exist, git cannot be run, or it does
            not answer in time.
    """
    if not revision or revision.startswith("-") or ":" in revision:
        raise RequestError(f"{revision!r} is not the name of a revision")
    command = ["git", "-C", str(path.parent), "show", f"{revision}:./{path.name}"]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
    except OSError as error:
        raise RequestError(f"git cannot be run: {error}") from None
    except subprocess.TimeoutExpired:
        raise RequestError(f"git did not answer within {_SECONDS} seconds") from None
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip()
        raise RequestError(f"git has no {path.name} in {revision}: {reason}")
    return done.stdout


def _as_text(data: bytes, path: Path) -> str:
    from onnxtext.io.text_or_binary import decode_text, has_binary_content

    # With the git filter, git stores text in a .onnx file: decide by the content alone.
    if has_binary_content(data):
        return text_of_binary(data, path)
    try:
        return decode_text(data, str(path))
    except OnnxTextError as error:
        raise RequestError("\n".join(map(str, error.diagnostics))) from None
