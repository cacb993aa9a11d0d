# SPDX-License-Identifier: Apache-2.0
"""Leave the weights out of texts with conflicts, and put them back once conflicts are resolved.

The filter stores the weights of a model at the end of its text, in base64. In a text with
conflicts, `resources none` replaces them. After the conflicts are resolved, `clean` copies the
weights from the versions that the merge combined, which git stores.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from onnxtext.diagnostics import OnnxTextError
from onnxtext.git.repository import read_stored
from onnxtext.io.text_or_binary import decode_text, has_binary_content
from onnxtext.source import Source

_BEGIN = b"\nresources {\n"
_ENTRY = re.compile(rb'^  "([0-9a-f]+)": ', re.MULTILINE)
_UNINDENTED_LINE = re.compile(rb"^(?!  )", re.MULTILINE)
"""Matches an unindented line; in the section of weights, every such line is a conflict marker."""

REMARK = b"# The weights are left out until the conflicts are resolved: `git add` puts them back."
LEFT_OUT = b"\n" + REMARK + b"\nresources none\n"

_VERSIONS = (
    ":0", ":2", ":3", ":1", "HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD", "ORIG_HEAD",
    "HEAD^1", "HEAD^2",
)  # fmt: skip
"""Versions to search for the weights of a resolved text: index stages, then commits."""


def leave_out(merged: bytes, versions: Iterable[bytes]) -> bytes:
    """Replace the weights of a text with conflicts by `resources none`; return the text.

    Git stores the `versions`, so `put_back` can copy the weights from them. The text is returned
    unchanged if it does not end in weights, if its weights have conflicts, or if a weight is in no
    version.
    """
    start = merged.rfind(_BEGIN)
    if start < 0 or not merged.endswith(b"\n}\n"):
        return merged
    section = merged[start + len(_BEGIN) : -2]
    names = _ENTRY.findall(section)
    kept = {name for version in versions for name in _entries(version)}
    if not names or not kept.issuperset(names) or _UNINDENTED_LINE.search(section[:-1]):
        return merged
    return merged[:start] + LEFT_OUT


def _entries(text: bytes) -> dict[bytes, bytes]:
    """Map the digest of each blob in the resources of a stored text to the lines of the blob."""
    start = text.rfind(_BEGIN)
    if start < 0:
        return {}
    section = text[start + len(_BEGIN) :].rstrip(b"\n").removesuffix(b"}")
    matches = list(_ENTRY.finditer(section))
    ends = [match.start() for match in matches[1:]] + [len(section)]
    return {
        entry[1]: section[entry.start() : end] for entry, end in zip(matches, ends, strict=True)
    }


def put_back(text: bytes, path: str) -> bytes | None:
    """Return a text with the weights that `leave_out` has removed; None if git lacks a weight.

    Raises:
        OnnxTextError: the text is not valid.
    """
    from onnxtext.syntax.parse import parse_model
    from onnxtext.weights.statistics import first_uses_of_blobs

    model = parse_model(Source(decode_text(text, path), path))
    missing = dict.fromkeys(digest.encode() for digest in first_uses_of_blobs(model))
    blobs: dict[bytes, bytes] = {}
    for version in _VERSIONS:
        if blobs.keys() >= missing.keys():
            break
        for digest, entry in _entries(_stored_text(version, path)).items():
            if digest in missing:
                blobs.setdefault(digest, entry)
    if not blobs.keys() >= missing.keys():
        return None
    before, _, after = text.rpartition(LEFT_OUT)
    section = b"".join([_BEGIN, *[blobs[digest] for digest in missing], b"}\n"])
    return before + (section if missing else b"") + after


def _stored_text(version: str, path: str) -> bytes:
    """Return the text of a file in a version, such as `HEAD`; empty if there is none.

    A binary model is converted to text; the result is empty if that fails.
    """
    from onnxtext.api import from_binary

    data = read_stored(version, path)
    try:
        return from_binary(data).encode() if data and has_binary_content(data) else data
    except OnnxTextError:
        return b""
