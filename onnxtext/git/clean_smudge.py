# SPDX-License-Identifier: Apache-2.0
"""What the filter makes of the content of a file: binary to text (clean) and back (smudge).

What cannot be converted is passed through as it is, with a warning: a filter that fails makes git
commit, or check out, something else, and with `filter.<driver>.required` even remove the file from
the working tree (measured; docs/design.md, Git filters). So nothing here raises.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass

from onnxtext.collector import lacks_memory
from onnxtext.diagnostics import OnnxTextError, OnnxTextWarning
from onnxtext.filetype import TEXT_SUFFIXES

DEFAULT_LIMIT = 64 << 20
"""Models of more bytes are not cleaned, unless `onnxtext.maxSize` says otherwise. Their texts stay
below 100 MB then, which is the most that the great hosting sites take."""

HEAD = 8000
"""So many bytes at the beginning tell whether content is binary, as in git (`buffer_is_binary`)."""

_MARKER = re.compile(rb"^(?:<{7,}|>{7,}) ", re.MULTILINE)
# Neither text of ours nor any that people write has these; every binary model does (its
# first field is tagged by one, unless its writer orders fields in an unusual way).
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Converted:
    """What git gets.

    Attributes:
        data: the content; None if it is the very content that was given.
        warnings: what people should know, without the name of the file.
    """

    data: bytes | None
    warnings: tuple[str, ...] = ()


def too_large(size: int, limit: int) -> str | None:
    """Why a model of this size is not cleaned; None if it is."""
    if size <= limit:
        return None
    return (
        f"stored as it is: it has {size:,} bytes, and the limit is {limit:,} "
        "(`git config onnxtext.maxSize`)"
    )


def is_source(name: str) -> bool:
    """Whether a file is called a text: the filter leaves it alone, whatever attributes say.

    It holds what somebody has written, with comments, which no model gives back.
    """
    return name.lower().endswith(TEXT_SUFFIXES)


def is_binary(head: bytes) -> bool:
    """Whether content that begins like this is no text; cut characters at its end are allowed."""
    if _CONTROLS.search(head):
        return True
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start < len(head) - 3
    return False


def has_markers(data: bytes) -> bool:
    """Whether markers of a merge conflict stand in a text."""
    return _MARKER.search(data) is not None


def clean(data: bytes, *, limit: int = DEFAULT_LIMIT, name: str = "") -> Converted:
    """What git is to store for a file of the working tree.

    A binary model becomes its text, which is read back and compared with the file before it is
    given away. Text is stored as it is.

    Args:
        data: the content of the file.
        limit: larger files are stored as they are, in bytes.
        name: of the file; one that is called a text is stored as it is.
    """
    if not data or is_source(name):
        return Converted(None)
    if (why := too_large(len(data), limit)) is not None:
        return Converted(None, (why,))
    return _guarded(lambda: _clean(data), "stored")


def smudge(data: bytes, *, name: str = "") -> Converted:
    """What is to stand in the working tree for what git stores.

    The text of a model becomes the binary model. A model that is stored as a binary stays one.

    Args:
        data: what git stores.
        name: of the file; one that is called a text is given as it is.
    """
    if not data or is_source(name) or is_binary(data[:HEAD]):
        return Converted(None)
    return _guarded(lambda: _smudge(data), "checked out")


def _clean(data: bytes) -> Converted:
    from onnxtext.api import from_binary, to_binary

    try:
        text = from_binary(data)
    except OnnxTextError as error:
        if not is_binary(data[:HEAD]) and _is_model_text(data):
            return Converted(None)
        return Converted(None, (f"stored as it is: {_reason(data, error)}",))
    # from_binary has proven the syntax tree; what git will hold is the text, and nothing else.
    if to_binary(text) != data:
        message = "stored as it is: its text gives other bytes; please report this, with the file"
        return Converted(None, (message,))
    return Converted(text.encode("utf-8"))


def _smudge(data: bytes) -> Converted:
    from onnxtext.api import decode_text, to_binary

    if has_markers(data):
        return Converted(None, ("checked out as text: it holds the markers of a merge conflict",))
    try:
        return Converted(to_binary(decode_text(data, "")))
    except OnnxTextError as error:
        return Converted(None, (f"checked out as it is: {_reason(data, error)}",))


def _is_model_text(data: bytes) -> bool:
    from onnxtext.api import decode_text, parse

    try:
        parse(decode_text(data, ""))
    except OnnxTextError:
        return False
    return True


def _reason(data: bytes, error: OnnxTextError) -> str:
    """Why content could not be converted, in one line."""
    from onnxtext.wire.mistakes import recognize

    if has_markers(data):
        return "it holds the markers of a merge conflict"
    known = recognize(data[:HEAD])
    if known is not None and known.code != "not-a-model":
        return f"it is {known.what}"
    first = error.diagnostics[0]
    place = ""
    if first.source is not None and first.labels:
        at = first.source.position(first.labels[0].span.start)
        place = f"line {at.line}, column {at.column}: "
    return f"{place}{first.message} [{first.code}]"


def _guarded(convert: Callable[[], Converted], verb: str) -> Converted:
    """Convert; whatever goes wrong, the content stays as it is and somebody is told."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", OnnxTextWarning)
        try:
            converted = convert()
        except Exception as error:  # a mistake of ours must not cost anybody a file
            if lacks_memory(error):
                return Converted(None, (f"{verb} as it is: there is not enough memory",))
            said = f"{type(error).__name__}: {error}".partition("\n")[0][:200]
            return Converted(None, (f"{verb} as it is: internal error: {said}",))
    said_too = [
        re.sub(r"^<(?:bytes|string)>: ", "", str(item.message))
        for item in caught
        if isinstance(item.message, OnnxTextWarning)
    ]
    return Converted(converted.data, (*converted.warnings, *said_too))
