# SPDX-License-Identifier: Apache-2.0
"""Actions for the `resources` section: blobs, and directories and files with blobs (SPEC 13)."""

from __future__ import annotations

import binascii
import re
from collections import Counter
from dataclasses import field
from itertools import islice

from onnxtext.ast.model import WeightPlace
from onnxtext.quick_dataclass import dataclass
from onnxtext.syntax.actions.registry import ACTIONS
from onnxtext.syntax.actions.semantic_error import SemanticError
from onnxtext.syntax.actions.strings import CONFLICT_MARKER, conflict_error, first_line_break

_DIGEST = re.compile(r"[0-9a-f]{16,64}")


@dataclass(slots=True)
class Resources:
    """The content of the `resources` section.

    Attributes:
        blobs: the bytes of each blob in the text, by digest.
        places: the directories and files with other blobs.
        left_out: whether the section is `resources none`: the text was printed without the bytes
            of its blobs.
    """

    blobs: dict[str, bytes | memoryview] = field(default_factory=dict)
    places: list[WeightPlace] = field(default_factory=list)
    left_out: bool = False


def resource(digest: str, encoding: str, text: str, token: str | None = None) -> tuple[str, bytes]:
    """Return the digest and the bytes of the blob `"9f2c…": base64 "…"`.

    `token` is the triple-quoted string that contains the text, or None. If it is given, an error
    marks the invalid character.

    Raises:
        SemanticError: the digest is invalid, the encoding is unknown, or the text is damaged.
    """
    if not _DIGEST.fullmatch(digest):
        raise SemanticError(
            "the name of a resource must be the first 16 to 64 digits of its SHA-256, in lower case"
        )
    if encoding != "base64":
        error = SemanticError(f"`{encoding}` is not an encoding of resources", token=encoding)
        error.instead = "base64"
        raise error
    try:
        return digest, decode_base64(text)
    except ValueError as damage:
        message = f"the resource {digest} is damaged: {str(damage)[:1].lower()}{str(damage)[1:]}"
        wrong, length = _wrong_character(text), 1
        if wrong is None and token is not None:
            wrong, length = _odd_line(text)
        if wrong is None or token is None:
            raise SemanticError(message, token=encoding) from None
        line = text.rfind("\n", 0, wrong) + 1
        if CONFLICT_MARKER.match(text, line):
            raise conflict_error(token, line + 3) from None
        raise SemanticError(message, token=token, offset=wrong + 3, length=length) from None


_BLANKS = " \n\r\t"
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/= \n\r\t]|={3,}|=(?!=?[ \t\r]*\n)")
_LINE = re.compile(r"\S.*")
_MOST_LINES = 100_000
"""Maximum number of lines in which to search for a line of another length."""


def _wrong_character(text: str) -> int | None:
    """Return the offset of the first character that is not base64; None if there is none.

    A `=` at the end of a line counts only if no other character is wrong.
    """
    content = text.rstrip(f"={_BLANKS}")
    wrong = _NOT_BASE64.search(content)
    offset = content.find("=") if wrong is None else wrong.start()
    return offset if offset >= 0 else None


def _odd_line(text: str) -> tuple[int | None, int]:
    """Return the offset and length of the first line that is not as long as most; else (None, 1).

    The last line may have any length. Blanks around a line do not count.
    """
    spans = [match.span() for match in islice(_LINE.finditer(text), _MOST_LINES)]
    lengths = [len(text[start:end].rstrip()) for start, end in spans]
    if len(lengths) > 2:
        counts = Counter(lengths[:-1])
        # Of two lines with 75 and 76 characters, the first is odd: four characters are a group.
        usual = max(counts, key=lambda length: (counts[length], length % 4 == 0))
        for (start, _), length in zip(spans[:-1], lengths, strict=False):
            if length != usual:
                return start, length
    return None, 1


def decode_base64(text: str) -> bytes:
    """Return the bytes of a base64 text, which may contain whitespace.

    Reject characters that are not base64, such as those of a comment; `binascii` would skip them.

    Raises:
        ValueError: the text is not base64.
    """
    try:
        data = binascii.a2b_base64(text)
        if len(text) - sum(map(text.count, _BLANKS)) == (len(data) + 2) // 3 * 4:
            return data
        raise ValueError("excess padding")
    except ValueError as error:
        wrong = _wrong_character(text)
        raise error if wrong is None else ValueError(f"`{text[wrong]}` is not base64") from None


def long_resource(digest: str, encoding: str, token: str) -> tuple[str, bytes]:
    """Return the digest and the bytes of a blob in a triple-quoted string.

    Keep the indentation: the string may have gigabytes, and base64 decoding ignores blanks.

    Raises:
        SemanticError: the digest is invalid, the encoding is unknown, or the text is damaged or
            begins on the line of the opening quotes.
    """
    first_line_break(token)
    return resource(digest, encoding, token[3:-3], token)


def resources_section(
    word: str, items: list[tuple[str, bytes] | WeightPlace]
) -> tuple[str, Resources]:
    """Return the keyword and the content of the section `resources { … }`."""
    resources = Resources()
    for item in items:
        if isinstance(item, WeightPlace):
            resources.places.append(item)
        else:
            resources.blobs[item[0]] = item[1]
    return word, resources


WEIGHT_PLACES = ("store", "safetensors")


def resource_place(kind: str, path: str) -> WeightPlace:
    """Return the `WeightPlace`, a directory or file with blobs, for `store: "model.weights"`.

    Raises:
        SemanticError: the kind is unknown.
    """
    if kind not in WEIGHT_PLACES:
        raise SemanticError(
            f"`{kind}` is not a location of blobs",
            token=kind,
            help='write `store: "DIRECTORY"` or `safetensors: "FILE"`',
        )
    return WeightPlace(str(kind), path)  # type: ignore[arg-type]


ACTIONS.update(
    no_resources=lambda word: resources_section(word, []),
    resources_section=resources_section,
    resource_place=resource_place,
    resource=resource,
    long_resource=long_resource,
)
