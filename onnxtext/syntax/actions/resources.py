# SPDX-License-Identifier: Apache-2.0
"""Actions for the `resources` section: blobs, and directories and files with blobs (SPEC 13)."""

from __future__ import annotations

import binascii
import re
from dataclasses import dataclass, field

from onnxtext.ast.model import WeightPlace
from onnxtext.syntax.actions.registry import ACTIONS
from onnxtext.syntax.actions.semantic_error import SemanticError

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


def resource(digest: str, encoding: str, text: str) -> tuple[str, bytes]:
    """Return the digest and the bytes of a blob: `"9f2c…": base64 "…"`.

    Raises:
        SemanticError: the digest is invalid, or the encoding is unknown or damaged.
    """
    if not _DIGEST.fullmatch(digest):
        raise SemanticError(
            "the name of a resource must be the first 16 to 64 hexadecimal digits of its SHA-256"
        )
    if encoding != "base64":
        raise SemanticError(
            f"`{encoding}` is not an encoding of resources", token=encoding, help="write base64"
        )
    try:
        return digest, binascii.a2b_base64(text)
    except (binascii.Error, ValueError) as error:
        raise SemanticError(f"the resource {digest} is damaged: {error}", token=encoding) from None


def long_resource(digest: str, encoding: str, token: str) -> tuple[str, bytes]:
    """Return the digest and the bytes of a blob in a triple-quoted string.

    The indentation is not removed: the string may have gigabytes, and base64 decoding ignores it.

    Raises:
        SemanticError: as for `resource`, or no line break follows the opening quotes.
    """
    if token[3 : token.find("\n")].strip(" \t\r"):
        raise SemanticError(
            'the text of a """ string must start on the next line',
            token=token,
            length=3,
            help='put a line break after the opening """',
        )
    return resource(digest, encoding, token[3:-3])


def resources_section(
    word: str, items: list[tuple[str, bytes] | WeightPlace]
) -> tuple[str, Resources]:
    """Return the keyword and the content of the section `resources { … }`."""
    blobs: dict[str, bytes | memoryview] = {}
    places = []
    for item in items:
        if isinstance(item, WeightPlace):
            places.append(item)
        else:
            blobs[item[0]] = item[1]
    return word, Resources(blobs, places)


def resources_left_out(word: str, none: str) -> tuple[str, Resources]:
    """Return the keyword and the content of the section `resources none`.

    Raises:
        SemanticError: the word is not `none`.
    """
    if none != "none":
        raise SemanticError(
            "expected `{` or `none` after `resources`", token=none, help="write resources { … }"
        )
    return word, Resources(left_out=True)


def resource_place(kind: str, path: str) -> WeightPlace:
    """Return the directory or file with blobs for `store: "model.weights"`.

    Raises:
        SemanticError: the kind is unknown.
    """
    match str(kind):
        case "store":
            return WeightPlace("store", path)
        case "safetensors":
            return WeightPlace("safetensors", path)
    raise SemanticError(
        f"`{kind}` is not a location of blobs",
        token=kind,
        help='write store: "DIRECTORY" or safetensors: "FILE"',
    )


ACTIONS.update(
    no_resources=lambda word: resources_section(word, []),
    resources_section=resources_section,
    resources_left_out=resources_left_out,
    resource_place=resource_place,
    resource=resource,
    long_resource=long_resource,
)
