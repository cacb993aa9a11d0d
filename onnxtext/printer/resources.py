# SPDX-License-Identifier: Apache-2.0
"""Print the `resources` section: base64 of blobs, and paths of stores of blobs (SPEC 13.6)."""

from __future__ import annotations

import binascii
from collections.abc import Iterator

from onnxtext.ast.model import Model
from onnxtext.printer.layout import STEP
from onnxtext.printer.quoting import quote_string
from onnxtext.select_core import core, core_module

BASE64_WIDTH = 76
_BLOCK = BASE64_WIDTH // 4 * 3 << 16
"""Number of bytes to encode at a time; their base64 consists of full lines."""


def resources_parts(model: Model) -> Iterator[str]:
    """Yield the `resources` section of a model that has one, as parts to be joined."""
    if model.resources_left_out:
        yield "\nresources none\n"
    else:
        yield "\nresources {\n"
        yield from [f"{STEP}{place.kind}: {quote_string(place.path)}\n" for place in model.places]
        for digest, data in model.resources.items():
            head, end = f'{STEP}"{digest}": base64 """\n', f'{STEP * 2}"""\n'
            if len(data) <= _BLOCK:
                yield f"{head}{_base64_lines(data, STEP * 2)}{end}"
            else:
                yield head
                yield from base64_parts(data, STEP * 2)
                yield end
        yield "}\n"


def base64_parts(data: bytes | memoryview, indent: str) -> Iterator[str]:
    """Yield bytes as base64, in indented lines of `BASE64_WIDTH` characters.

    Because all lines have the same width, an edit of some bytes in place changes few lines. The
    lines are yielded in parts, to limit the memory for large data.
    """
    if len(data) <= _BLOCK:
        yield _base64_lines(data, indent)
        return
    view = memoryview(data)
    for index in range(0, len(data), _BLOCK):
        yield _base64_lines(view[index : index + _BLOCK], indent)


def _base64_lines(data: bytes | memoryview, indent: str) -> str:
    if core() == "native":
        lines: str = core_module("printer.base64").base64_lines(data, len(indent))
        return lines
    text = binascii.b2a_base64(data, newline=False).decode("ascii")
    rows = [text[offset : offset + BASE64_WIDTH] for offset in range(0, len(text), BASE64_WIDTH)]
    return indent + f"\n{indent}".join(rows) + "\n" if rows else ""
