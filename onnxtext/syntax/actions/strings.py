# SPDX-License-Identifier: Apache-2.0
r"""Actions for names and the three string literals (SPEC 1.4): `"…"`, `b"…"`, `\"\"\"…\"\"\"`.

The values are `str`. Bytes that are not valid UTF-8 become lone surrogates (PEP 383), so that
`ast.byte_strings` converts without loss.
"""

from __future__ import annotations

import re
from functools import lru_cache

from onnxtext.ast.byte_strings import to_text
from onnxtext.syntax.actions.registry import ACTIONS
from onnxtext.syntax.actions.semantic_error import SemanticError

_SIMPLE = {"\\": "\\", '"': '"', "n": "\n", "r": "\r", "t": "\t"}
_ESCAPE = re.compile(r"\\(?:x[0-9A-Fa-f]{2}|u\{[0-9A-Fa-f]{1,6}\}|.?)", re.DOTALL)

CONFLICT_MARKER = re.compile(r"[ \t]*(?P<mark>[<=>|])(?P=mark){5,}")
"""The beginning of a line that git adds at a merge conflict, even if an editor indented it.

git writes seven marks by default; users set other numbers with `conflict-marker-size`.
"""
CONFLICT_HELP = (
    "choose one side; remove the others and the lines that begin with <<<<<<<, |||||||, =======, "
    ">>>>>>>"
)


def plain(token: str) -> str:
    """Return the value of a string `"…"` that has no backslash."""
    return token[1:-1]


def escaped(token: str) -> str:
    r"""Return the value of a string `"…"`; `\X` means X for every X, as in the official parser."""
    return "\\".join([part.replace("\\", "") for part in token[1:-1].split("\\\\")])


def byte_string(token: str) -> str:
    r"""Return the value of `b"…"`, which has the escapes `\\ \" \n \r \t \xNN \u{…}`.

    Raises:
        SemanticError: an escape is invalid.
    """
    return to_text(_unescape(token, token[2:-1], bytes_allowed=True))


def triple(token: str) -> str:
    r'''Return the value of `"""…"""`: its lines, without the indentation of the closing quotes.

    CRLF becomes LF.

    Raises:
        SemanticError: text shares a line with the opening or closing quotes, there is no line
            break, a line that is not blank is indented less than the closing quotes, or an escape
            is invalid.
    '''
    if "\r" in token:
        token = token.replace("\r\n", "\n")
    end = len(token) - 3
    first = first_line_break(token)
    last = token.rindex("\n", first, end)
    indent = token[last:end]
    if indent.strip(" \t\n"):
        raise SemanticError(
            'the closing """ must be on its own line',
            token=token,
            offset=end,
            length=3,
            help='put a line break before the closing """',
        )
    if first == last:
        return ""
    if token.count(indent, first, last) == token.count("\n", first, last):
        text = token[first + len(indent) : last].replace(indent, "\n")  # every line has the indent
    else:
        text = _dedent(token, token[first + 1 : last], indent[1:])
    if "\\" not in text:
        return text
    return to_text(_unescape(token, text, bytes_allowed=False))


def name_of(token: str) -> str:
    """Return the name in a token: the content of a valid string literal, or the token itself."""
    try:
        if token.startswith('b"'):
            return byte_string(token)
        if token.startswith('"""'):
            return triple(token)
        if token.startswith('"') and len(token) > 1:
            return escaped(token) if "\\" in token else plain(token)
    except SemanticError:
        pass
    return str(token)


def first_line_break(token: str) -> int:
    r'''Return the offset of the line break after the opening quotes of `"""…"""`.

    Raises:
        SemanticError: text precedes the line break, or there is no line break.
    '''
    first = token.find("\n", 0, len(token) - 3)
    if first < 0 or token[3:first].strip(" \t\r"):
        raise SemanticError(
            'the text of a """ string must start on the next line',
            token=token,
            length=3,
            help='put a line break after the opening """',
        )
    return first


def conflict_error(token: str, offset: int) -> SemanticError:
    """Return the error for the git conflict marker at an offset of a string."""
    return SemanticError(
        "an unresolved merge conflict",
        token=token,
        offset=offset,
        length=token.find("\n", offset) - offset,
        help=CONFLICT_HELP,
        code="merge-conflict",
    )


def _dedent(token: str, body: str, indent: str) -> str:
    """Return `body` with `indent` removed from each line; blank lines may be indented less.

    Raises:
        SemanticError: a line that is not blank is indented less. The error marks this line in
            `token`.
    """
    taken = []
    for line in body.split("\n"):
        if line.startswith(indent):
            taken.append(line[len(indent) :])
        elif not line.strip(" \t"):
            taken.append("")
        elif CONFLICT_MARKER.match(line):
            raise conflict_error(token, max(0, token.find(line)))
        else:
            raise SemanticError(
                'a line of a """ string is indented less than its closing quotes',
                token=token,
                offset=max(0, token.find(line)),
                length=len(line),
                help='indent the line at least as far as the closing """',
            )
    return "\n".join(taken)


def _unescape(token: str, text: str, *, bytes_allowed: bool) -> bytes:
    r"""Return the bytes of a text with escapes; `bytes_allowed` permits `\xNN`, as in `b"…"`."""

    def value(match: re.Match[str]) -> str:
        character = _escaped_character(match[0], bytes_allowed)
        if character is None:
            escapes = r"\\ \" \n \r \t \u{…}" + (r" \xNN" if bytes_allowed else "")
            raise SemanticError(
                f"invalid escape `{match[0][:2]}` in the string",
                token=token,
                offset=match.start() + 2 if bytes_allowed else 0,  # 0: the offset is unknown
                length=2,
                help=f"the escapes are {escapes}",
            )
        return character

    return _ESCAPE.sub(value, text).encode("utf-8", "surrogateescape")


@lru_cache(maxsize=1024)
def _escaped_character(escape: str, bytes_allowed: bool) -> str | None:
    """Return the character, or the surrogate for a byte, of an escape; None if it is invalid."""
    kind = escape[1:2]
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if len(escape) == 2 or kind not in {"u", "x"} or (kind == "x" and not bytes_allowed):
        return None
    point = int(escape[2:].strip("{}"), 16)
    if kind == "x":
        return chr(point if point < 0x80 else 0xDC00 + point)
    return None if point > 0x10FFFF or 0xD800 <= point < 0xE000 else chr(point)


ACTIONS.update(
    plain_name=str,
    dotted_start=str,
    section_word=str,
    value_name=str,
    tensor_name=str,
    opaque_part=str,
    plain_string=plain,
    escaped_string=escaped,
    byte_string=byte_string,
    triple_string=triple,
)
