# SPDX-License-Identifier: Apache-2.0
"""Link blobs in a document to their bytes, and names of files and stores to their paths.

The bytes of a blob are in the section `resources` of the document, or in a file of a store. The
files are external data, data files and safetensors files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types as t

from onnxtext.lsp.index.document import Document, DocumentVersion
from onnxtext.source import COMMENT, STRING, Span
from onnxtext.weights.safe_paths import PathError, resolve_inside

if TYPE_CHECKING:
    from onnxtext.ast.model import Fragment, Model

_LINKS = re.compile(
    r'blob"(?P<blob>[0-9a-f]+)"'
    r'|file"(?P<file>[^"\\\n]+)"'
    r'|(?:"location"\s*:|\bexternal\s*\()\s*"(?P<location>[^"\\\n]+)"'
    r'|\b(?:store|safetensors)\s*:\s*"(?P<place>[^"\\\n]+)"'
    rf"|{STRING}|{COMMENT}",
    re.DOTALL,
)
_WORDS = re.compile('blob"|file"|"location"|external|store|safetensors')
_MAX_LINKS = 5000


def links(document: Document, params: t.DocumentLinkParams) -> list[t.DocumentLink]:
    """Return at most 5000 links of a document; links to missing files or blobs are left out."""
    found: list[t.DocumentLink] = []
    version = document.version
    base = version.directory
    start = version.text.rfind("\nresources {")
    blobs = _RESOURCE.finditer(version.text, start) if start >= 0 else ()
    resources = {blob[1]: blob.start(1) for blob in blobs}
    stored: dict[str, Path | None] = {}
    for piece in _pieces(version):
        if len(found) == _MAX_LINKS:
            break
        kind = piece.lastgroup
        if kind is None:
            continue
        name = piece.group(kind)
        span = Span(*piece.span(kind))
        target: str | None = None
        tooltip = None
        if kind == "blob":
            offset = next(
                (offset for digest, offset in resources.items() if digest.startswith(name)), None
            )
            if offset is not None:
                target = f"{document.uri}#L{version.lines.line_of(offset) + 1}"
                tooltip = "the bytes of this blob"
            elif base is not None:
                if name not in stored:
                    stored[name] = _blob_file(version.root, base, name)
                path = stored[name]
                target = None if path is None else path.as_uri()
        elif base is not None:
            target = _file(base, name.partition("#")[0] if kind == "file" else name)
        if target is not None:
            found.append(t.DocumentLink(version.lines.range(span), target, tooltip))
    return found


def _pieces(version: DocumentVersion) -> Iterator[re.Match[str]]:
    """Yield the matches of `_LINKS` in a text.

    For speed, only lines with a keyword of `_WORDS`, and the lines after them, are searched. A text
    with triple-quoted strings is searched as a whole, because these strings may contain keywords.
    """
    text = version.text
    if '"""' in text:
        yield from _LINKS.finditer(text)
        return
    lines = version.lines
    start = end = -1
    for word in _WORDS.finditer(text):
        line = lines.line_of(word.start())
        if start < 0 or lines.line_start(line) > end + 2:
            if start >= 0:
                yield from _LINKS.finditer(text, start, end)
            start = lines.line_start(line)
        end = lines.line_end(line + 1)  # a name may be on the line after its key
    if start >= 0:
        yield from _LINKS.finditer(text, start, end)


def _file(base: Path, name: str) -> str | None:
    """Return the URI of a file; None if it does not exist or is outside of the directory `base`."""
    try:
        path = resolve_inside(base, name)
        return path.as_uri() if path.exists() else None
    except (PathError, OSError, ValueError):
        return None


_RESOURCE = re.compile(r'^[ \t]*"([0-9a-f]{16,64})"\s*:', re.MULTILINE)


def _blob_file(root: Model | Fragment | None, base: Path, digest: str) -> Path | None:
    """Return the file of the blob whose digest begins with `digest`; None if not found.

    The stores of the text are searched. Stores in which several blobs match are skipped.
    """
    from onnxtext.weights.store import Store

    for place in getattr(root, "places", ()):
        if place.kind != "store":
            continue
        try:
            directory = resolve_inside(base, place.path)
            blob = Store(directory).matching(digest)
            if len(blob) == 1:
                return resolve_inside(directory, blob[0])
        except (PathError, OSError):
            continue
    return None
