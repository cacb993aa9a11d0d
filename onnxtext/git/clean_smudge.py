# SPDX-License-Identifier: Apache-2.0
"""Convert the content of a file from binary to text (clean) and back (smudge).

`clean` and `smudge` never raise: content that cannot be converted is passed through with a warning.
If a filter fails, git uses the unconverted content, too, but does not show the reason. With
`filter.<driver>.required`, git even removes the file from the working tree (measured;
docs/design.md, Git filters).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass

from onnxtext.diagnostics import OnnxTextError, OnnxTextWarning
from onnxtext.git.filter_comment import NOTE, with_stored_line_ends
from onnxtext.io.memory import lacks_memory
from onnxtext.io.text_or_binary import HEAD, TEXT_SUFFIXES, decode_text, has_binary_content
from onnxtext.select_core import CoreError

DEFAULT_LIMIT = 64 << 20
"""Maximum size in bytes of models to clean, unless `onnxtext.maxSize` is set.

Texts of models up to this size are smaller than 100 MB, the limit of hosting sites.
"""

_CONFLICT_MARKER = re.compile(rb"^(?:<{7,}|>{7,}) ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ConvertedFile:
    """The result of a conversion.

    Attributes:
        data: the new content; None if it is unchanged.
        warnings: warnings for the user, without the name of the file.
    """

    data: bytes | None
    warnings: tuple[str, ...] = ()


def model_limit() -> int:
    """Return the maximum size of a model to convert: `onnxtext.maxSize`, else `DEFAULT_LIMIT`.

    Raises:
        OnnxTextError: the setting is invalid, or git fails.
    """
    from onnxtext.git.repository import run_git

    value = run_git("config", "--type=int", "--get", "onnxtext.maxSize", fails=[1])
    return int(value) if value.strip() else DEFAULT_LIMIT


def too_large(size: int, limit: int) -> str | None:
    """Return the warning for a model that is too large to be converted; None for other models."""
    if size <= limit:
        return None
    return (
        f"stored unchanged: it has {size:,} bytes, and the limit is {limit:,} "
        "(`git config onnxtext.maxSize`)"
    )


def is_source(name: str) -> bool:
    """Whether a file has the suffix of a text, such as `.onnxtxt`.

    The filter never converts these files: a binary model would lose the text's comments and layout.
    """
    return name.lower().endswith(TEXT_SUFFIXES)


def has_markers(data: bytes) -> bool:
    """Whether a text has conflict markers."""
    return _CONFLICT_MARKER.search(data) is not None


def clean(data: bytes, *, limit: int = DEFAULT_LIMIT, name: str = "") -> ConvertedFile:
    """Convert a file of the working tree to the content that git stores.

    A binary model becomes a comment (`filter_comment`) and the text of the model, which is verified
    by converting it back. If the index already has another text of this model, for example after an
    edit on a hosting site, that text is kept, so that git does not show the file as modified after
    each checkout. Text is stored unchanged, with three exceptions: a text as `from_binary`
    prints it gets the comment; weights that a merge left out are put back; and CRLF becomes LF if a
    checkout without the filter has converted the line ends (`core.autocrlf`).

    Args:
        data: the content of the file.
        limit: files with more bytes are stored unchanged.
        name: path of the file in the repository; files with the suffix of a text are stored
            unchanged. If it is "", git is not asked for other versions of the file.
    """
    if not data or is_source(name):
        return ConvertedFile(None)
    if (why := too_large(len(data), limit)) is not None:
        return ConvertedFile(None, (why,))
    return _convert_or_keep(lambda: _clean(data, limit, name), "stored")


def smudge(data: bytes, *, limit: int = DEFAULT_LIMIT, name: str = "") -> ConvertedFile:
    """Convert the content that git stores to a file of the working tree.

    The text of a model becomes the binary model; other content is unchanged. A text is also
    unchanged if its weights have more than `limit` bytes and are much larger than the text: a list
    that ends in `...` has a few characters, and can expand to 2 GB.

    Args:
        data: the content that git stores.
        limit: the maximum size in bytes of weights that are much larger than the text; weights of
            up to 1 MiB are always expanded.
        name: name of the file; files with the suffix of a text are unchanged.
    """
    if not data or is_source(name) or has_binary_content(data):
        return ConvertedFile(None)
    return _convert_or_keep(lambda: _smudge(data, limit), "checked out")


def _clean(data: bytes, limit: int, name: str) -> ConvertedFile:
    from onnxtext.api import from_binary, to_binary
    from onnxtext.git.repository import read_stored

    try:
        text = NOTE.decode() + from_binary(data)
    except OnnxTextError as error:
        if not has_binary_content(data) and _is_model_text(data):
            return _restore_text(data, limit, name)
        return ConvertedFile(None, (f"stored unchanged: {_reason(data, error)}",))
    # from_binary has verified the syntax tree; verify also the text, which git stores.
    if to_binary(text) != data:
        message = (
            "stored unchanged: converting its text back gives other bytes; please report this file"
        )
        return ConvertedFile(None, (message,))
    printed = text.encode("utf-8")
    stored = read_stored(":0", name) if name else b""
    return ConvertedFile(stored if stored != printed and _means(stored, data) else printed)


def _means(stored: bytes, model: bytes) -> bool:
    """Whether the stored content is a text that encodes to exactly the bytes of the model."""
    if not stored or has_binary_content(stored):
        return False
    try:
        return _encode(stored, len(model)) == model
    except OnnxTextError:
        return False


def _restore_text(data: bytes, limit: int, name: str) -> ConvertedFile:
    """Convert a model's text to the text that the filter stores.

    Restore LF in a text with the filter's comment (see `with_stored_line_ends`), then add what is
    missing (see `_complete`).
    """
    lines = with_stored_line_ends(data)
    completed = _complete(lines, limit, name)
    if completed.data is None and lines != data:
        return ConvertedFile(lines, completed.warnings)
    return completed


def _complete(data: bytes, limit: int, name: str) -> ConvertedFile:
    """Complete a model's text with the weights that were left out, or with the filter's comment.

    Weights are left out of texts with conflicts. Other texts get the comment if `from_binary`
    prints the same text for their model.
    """
    from onnxtext.git.left_out_weights import LEFT_OUT, put_back

    if not name or LEFT_OUT not in data:
        # In a clone without the filter, the comment explains why the file contains a text.
        return ConvertedFile(NOTE + data if _is_canonical(data, limit) else None)
    complete = put_back(data, name)
    if complete is None:
        message = (
            "stored without its weights: the versions that were merged lack them; repeat the merge"
        )
        return ConvertedFile(None, (message,))
    return ConvertedFile(complete)


_MAX_EXPANSION = 16
"""Maximum number of element bytes per character if a text writes out all elements.

Elements of type `complex128` reach it.
"""


def _smudge(data: bytes, limit: int) -> ConvertedFile:
    if has_markers(data):
        return ConvertedFile(None, ("checked out as text: it has conflict markers",))
    try:
        return ConvertedFile(_encode(data, limit))
    except OnnxTextError as error:
        reason = _reason(data, error)
        if error.diagnostics[0].code == "model-too-large":
            reason += " (`git config onnxtext.maxSize`)"
        return ConvertedFile(None, (f"checked out unchanged: {reason}",))


def _encode(data: bytes, limit: int) -> bytes:
    """Return the model of a text, or raise OnnxTextError; `limit` is as for `smudge`."""
    from onnxtext.text_to_binary import encode_text

    max_bytes = max(limit, _MAX_EXPANSION * len(data))
    return b"".join(encode_text(decode_text(data, ""), max_bytes=max_bytes))


def _is_model_text(data: bytes) -> bool:
    from onnxtext.api import parse

    try:
        parse(decode_text(data, ""))
    except OnnxTextError:
        return False
    return True


def _is_canonical(data: bytes, limit: int) -> bool:
    """Whether a text is the text that `from_binary` prints for its model.

    Return False if `_encode` fails, for example because the weights are too large.
    """
    from onnxtext.api import from_binary

    try:
        return from_binary(_encode(data, limit)).encode() == data
    except OnnxTextError:  # for example, its weights are in other files
        return False


def _reason(data: bytes, error: OnnxTextError) -> str:
    """Return why content could not be converted, in one line."""
    from onnxtext.wire.foreign_formats import recognize

    if has_markers(data):
        return "it has conflict markers"
    file_type = recognize(data[:HEAD])
    if file_type is not None and file_type.code != "not-a-model":
        return f"it is {file_type.what}"
    first = error.diagnostics[0]
    position = first.position
    location = "" if position is None else f"line {position.line}, column {position.column}: "
    return f"{location}{first.message} [{first.code}]"


def failure_reason(error: Exception) -> str:
    """Return one line for the user: why a program that git runs has failed."""
    if lacks_memory(error):
        return "there is not enough memory"
    if isinstance(error, CoreError):
        return str(error)
    return f"internal error: {type(error).__name__}: {error}".partition("\n")[0][:200]


def _convert_or_keep(convert: Callable[[], ConvertedFile], verb: str) -> ConvertedFile:
    """Call `convert`; on any failure, keep the content and warn.

    `verb` is what git does with the content, for the warning: `stored` or `checked out`.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", OnnxTextWarning)
        try:
            converted = convert()
        except Exception as error:  # an internal error must not lose a file
            return ConvertedFile(None, (f"{verb} unchanged: {failure_reason(error)}",))
    warned = [
        re.sub(r"^<(?:bytes|string)>: ", "", str(item.message))
        for item in caught
        if isinstance(item.message, OnnxTextWarning)
    ]
    return ConvertedFile(converted.data, (*converted.warnings, *warned))
