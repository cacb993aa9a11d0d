# SPDX-License-Identifier: Apache-2.0
"""Textconv for `git diff` and `git log -p`: print a model with digests and statistics of weights.

Source: gitattributes(5), "Performing text diffs of binary files". Git aborts the whole diff if the
command fails, so every file gets some output, unless another run could give another output: git
would show the cached output until the cache is cleared.
"""

from __future__ import annotations

import hashlib
import warnings

from onnxtext.diagnostics import OnnxTextError, OnnxTextWarning
from onnxtext.git.clean_smudge import has_markers
from onnxtext.io.memory import lacks_memory
from onnxtext.io.text_or_binary import decode_text, has_binary_content
from onnxtext.plurals import count_noun
from onnxtext.select_core import CoreError
from onnxtext.wire.writer import MAX_MESSAGE_BYTES


def review_text(data: bytes) -> str | bytes:
    """Print a model for reviews, with digests and statistics instead of large weights.

    The result depends only on the bytes, because git caches the result.

    Args:
        data: the content of a file: a binary model, its text, or anything else.

    Returns:
        The printed model. For a text that cannot be converted to a model: the text itself. For
        other content: a comment with its size and SHA-256.

    Raises:
        CoreError: `ONNXTEXT_CORE` is wrong. Git must not cache a result, so the diff is aborted.
        Exception: there is not enough memory (see `lacks_memory`); the diff is aborted, too.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OnnxTextWarning)
        try:
            return _of_binary(data) if has_binary_content(data) else _of_text(bytes(data))
        except Exception as error:  # an internal error must not abort the whole diff
            if isinstance(error, CoreError) or lacks_memory(error):
                raise
            return _unknown(data, f"internal error: {type(error).__name__}")


def _of_binary(data: bytes) -> str:
    from onnxtext.binary_to_text import print_binary

    if len(data) > MAX_MESSAGE_BYTES:
        return _unknown(data, "larger than any model can be")
    try:
        return print_binary(data, None, weights="none", stats=True)[0]
    except OnnxTextError as error:
        return _unknown(data, error.diagnostics[0].message)


def _of_text(data: bytes) -> str | bytes:
    from onnxtext.api import to_binary

    if not has_markers(data):
        try:
            return _of_binary(to_binary(decode_text(data, "")))
        except OnnxTextError:
            pass  # for example, an LFS pointer, or a text with weights in other files
    # The bytes may still be a binary model without control characters.
    shown = _of_binary(data)
    return data if shown.startswith(_NO_MODEL) else shown


_NO_MODEL = "# cannot be shown as an ONNX model: "


def _unknown(data: bytes, why: str) -> str:
    digest = hashlib.sha256(data).hexdigest()
    return f"{_NO_MODEL}{why}\n# {count_noun(len(data), 'byte')}, SHA-256 {digest}\n"
