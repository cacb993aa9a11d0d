# SPDX-License-Identifier: Apache-2.0
"""Print strings and names; quote and escape them if necessary (SPEC 1.4)."""

from __future__ import annotations

from onnxtext.tensor.element_types import ELEMENTS

SPECIAL_WORDS = frozenset(
    (*ELEMENTS, "undefined", "seq", "map", "optional", "sparse_tensor", "opaque", "true", "false")
)
"""Words with a meaning in types and literals: as names of values or graphs, they need quotes."""

SPECIAL_NUMBERS = frozenset(("inf", "infinity", "nan"))
"""Words with a meaning in literals, in any letter case: as names, they need quotes."""

_SHORT = {"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"}


def quote_word(name: str) -> str:
    """Return the name of an operator, attribute, label or dimension; quote it if necessary."""
    # The words of the grammar are Python's ASCII identifiers.
    return name if name.isascii() and name.isidentifier() else quote_string(name)


def value_name(name: str) -> str:
    """Return the name of a value, graph or function; quote words such as `float` and `nan`, too."""
    if name.isascii() and name.isidentifier() and name not in SPECIAL_WORDS:
        return quote_string(name) if name.lower() in SPECIAL_NUMBERS else name
    return quote_string(name)


def quote_string(text: str) -> str:
    r"""Return a string on one line: `"…"` if every character is printable, else `b"…"`."""
    if text.isprintable():
        if '"' in text or "\\" in text:
            text = text.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{text}"'
    escapes = {ord(character): _escape(character) for character in set(text)}
    return f'b"{text.translate(escapes)}"'


def string_value(text: str, indent: str) -> str:
    '''Return a string: as `"""…"""` if it has several lines, else as `quote_string` does.

    A string with lone surrogates, which stand for invalid UTF-8, is always quoted.

    `indent` is the indentation of the statement.
    '''
    if "\n" not in text or not _is_unicode(text):
        return quote_string(text)
    inner = indent + "  "
    lines = [_triple_line(line) for line in text.split("\n")]
    return "\n".join(['"""', *[inner + line if line else "" for line in lines], inner + '"""'])


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _escape(character: str) -> str:
    short = _SHORT.get(character)
    if short is not None:
        return short
    if character.isprintable():
        return character
    point = ord(character)
    if 0xDC80 <= point <= 0xDCFF:
        return rf"\x{point - 0xDC00:02x}"
    return rf"\x{point:02x}" if point < 0x80 else rf"\u{{{point:x}}}"


def _triple_line(line: str) -> str:
    line = line.replace("\\", "\\\\")
    if not line.isprintable():
        line = "".join([_escaped_in_triple(character) for character in line])
    line = line.replace('"""', r"""""\"""")
    return line[:-1] + r"\u{20}" if line.endswith(" ") else line


def _escaped_in_triple(character: str) -> str:
    if character.isprintable():
        return character
    return _SHORT.get(character) or rf"\u{{{ord(character):x}}}"
