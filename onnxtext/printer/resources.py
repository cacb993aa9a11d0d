# SPDX-License-Identifier: Apache-2.0
"""Print the `resources` section: base64 of blobs, and paths of stores of blobs (SPEC 13.6)."""

from __future__ import annotations

import binascii
from collections.abc import Callable, Iterator
from functools import cache

from onnxtext.ast.model import Model
from onnxtext.printer.layout import STEP
from onnxtext.printer.quoting import quote_string
from onnxtext.select_core import Core, core, core_module

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
        indent, lines = STEP * 2, _line_writer(core())
        for digest, data in model.resources.items():
            if len(data) <= _BLOCK:
                text = lines(data, len(indent))
                yield f'{STEP}"{digest}": base64 """\n{text}{indent}"""\n'
            else:
                yield f'{STEP}"{digest}": base64 """\n'
                yield from base64_parts(data, indent)
                yield f'{indent}"""\n'
        yield "}\n"


def base64_parts(data: bytes | memoryview, indent: str) -> Iterator[str]:
    """Yield bytes as base64, in indented lines of `BASE64_WIDTH` characters.

    Because all lines have the same width, an edit of some bytes in place changes few lines. The
    lines are yielded in parts, to limit the memory for large data.
    """
    lines, view = _line_writer(core()), memoryview(data)
    for index in range(0, len(data), _BLOCK):
        yield lines(view[index : index + _BLOCK], len(indent))


@cache
def _line_writer(chosen: Core) -> Callable[[bytes | memoryview, int], str]:
    """Return the function of a core that returns bytes as lines of base64, given their indent."""
    if chosen == "python":
        return _base64_lines
    native: Callable[[bytes | memoryview, int], str] = core_module("printer.base64").base64_lines
    return native


def _base64_lines(data: bytes | memoryview, blanks: int) -> str:
    indent = " " * blanks
    text = binascii.b2a_base64(data, newline=False).decode("ascii")
    rows = [text[offset : offset + BASE64_WIDTH] for offset in range(0, len(text), BASE64_WIDTH)]
    return indent + f"\n{indent}".join(rows) + "\n" if rows else ""
