# SPDX-License-Identifier: Apache-2.0
"""Strings and names as text (SPEC 1.4): plain where they read well, escaped where not."""

from __future__ import annotations

from onnxtext.tensor.elements import ELEMENTS

SPECIAL_WORDS = frozenset(
    (*ELEMENTS, "undefined", "seq", "map", "optional", "sparse_tensor", "opaque", "true", "false")
)
"""Words that are bare names only in some places; quoting them everywhere reads better."""

SPECIAL_NUMBERS = frozenset(("inf", "infinity", "nan"))
"""Likewise, in capital letters too."""

_SHORT = {"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"}


def word(name: str) -> str:
    """A name where any word may stand bare: operators, attributes, labels, dimensions."""
    # Python's identifiers in ASCII are the grammar's words.
    return name if name.isascii() and name.isidentifier() else quoted(name)


def value_name(name: str) -> str:
    """A name where a type might stand: values, graphs, functions."""
    if name.isascii() and name.isidentifier() and name not in SPECIAL_WORDS:
        return quoted(name) if name.lower() in SPECIAL_NUMBERS else name
    return quoted(name)


def quoted(text: str) -> str:
    r"""`"…"` if every character is printable, else `b"…"`; on one line in any case."""
    if text.isprintable():
        if '"' in text or "\\" in text:
            text = text.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{text}"'
    return 'b"' + "".join([_escaped(character) for character in text]) + '"'


def string_value(text: str, indent: str) -> str:
    '''A string that is a value: `"""…"""` if it has several lines, else as `quoted`.

    Args:
        text: the string.
        indent: the indentation of the statement it stands in.
    '''
    if "\n" not in text or not _is_unicode(text):
        return quoted(text)
    inner = indent + "  "
    lines = [_triple_line(line) for line in text.split("\n")]
    return "\n".join(['"""', *[inner + line if line else "" for line in lines], inner + '"""'])


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _escaped(character: str) -> str:
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
    if not line:
        return line
    line = line.replace("\\", "\\\\")
    if not line.isprintable():
        line = "".join([_escaped_in_triple(character) for character in line])
    line = line.replace('"""', r"""""\"""")
    return line[:-1] + r"\u{20}" if line.endswith(" ") else line


def _escaped_in_triple(character: str) -> str:
    if character.isprintable():
        return character
    return _SHORT.get(character) or rf"\u{{{ord(character):x}}}"
