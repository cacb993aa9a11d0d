# SPDX-License-Identifier: Apache-2.0
"""What `git diff` and `git log -p` show of a model: its text, weights as digests and statistics.

Source: gitattributes(5), "Performing text diffs of binary files". Git stops the whole diff if the
command fails, so there is something to show for every file.
"""

from __future__ import annotations

import hashlib
import warnings

from onnxtext.collector import lacks_memory
from onnxtext.diagnostics import OnnxTextError, OnnxTextWarning
from onnxtext.git.content import HEAD, has_markers, is_binary
from onnxtext.wire.writer import MOST_BYTES


def review_text(data: bytes) -> str | bytes:
    """The text of a model for reviews; it depends on the bytes alone.

    Args:
        data: a binary model, its text, or whatever else stands in the file.

    Returns:
        The text; other text as it is; of what is no model, its size and its SHA-256.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OnnxTextWarning)
        try:
            return _of_binary(data) if is_binary(data[:HEAD]) else _of_text(bytes(data))
        except Exception as error:  # a mistake of ours must not stop the diff of everything else
            if lacks_memory(error):
                return _unknown(data, "there is not enough memory")
            return _unknown(data, f"internal error: {type(error).__name__}")


def _of_binary(data: bytes) -> str:
    from onnxtext.conversion import print_binary

    if len(data) > MOST_BYTES:
        return _unknown(data, "larger than any model can be")
    try:
        return print_binary(data, None, weights="none", stats=True)[0]
    except OnnxTextError as error:
        return _unknown(data, error.diagnostics[0].message)


def _of_text(data: bytes) -> str | bytes:
    from onnxtext.api import decode_text, to_binary

    if not has_markers(data):
        try:
            return _of_binary(to_binary(decode_text(data, "")))
        except OnnxTextError:
            pass  # a pointer, or a text whose weights are beside it
    # A binary model whose writer uses no byte that is a control.
    shown = _of_binary(data)
    return data if shown.startswith(_NO_MODEL) else shown


_NO_MODEL = "# no ONNX model: "


def _unknown(data: bytes, why: str) -> str:
    digest = hashlib.sha256(data).hexdigest()
    return f"{_NO_MODEL}{why}\n# {len(data):,} bytes, SHA-256 {digest}\n"
