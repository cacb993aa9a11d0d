# SPDX-License-Identifier: Apache-2.0
"""What stands between two statements of a list: comments and blank lines."""

from __future__ import annotations

import re

from onnxtext.syntax.lexer import load_lexer

STRINGS_AND_COMMENTS = re.compile(r'("[^"\\]*"|#[^\n]*)')
"""Plain strings and comments, as the one group."""

BLANK_LINE = re.compile(r"\n[ \t\v\f\r]*\n")

COMMENTS = re.compile(r"[ \t\v\f\r]*(?:#[^\n]*)?(?:\n[ \t\v\f\r]*(?:#[^\n]*)?)*")
"""Blanks and comments, to the end of a line."""


def code_before_trivia(source: str) -> str | None:
    """The code at the beginning of a text, if only blanks and comments follow.

    Args:
        source: a statement and what follows it, without a backslash or string of several lines.

    Returns:
        The code without blanks at its end; None if there are comments inside of it.
    """
    at = source.find("#")
    while at >= 0 and source.count('"', 0, at) & 1:  # in a string
        at = source.find("#", at + 1)
    code = source[: at if at >= 0 else None].rstrip()
    return code if at < 0 or COMMENTS.fullmatch(source, at) else None


def format_trivia(trivia: str, indent: str) -> str:
    """What stands between two statements in the canonical layout.

    Args:
        trivia: comments and blanks, from behind the comma of the first statement on.
        indent: the indentation of the statements.
    """
    if "#" not in trivia:
        return f"\n\n{indent}" if trivia.count("\n") > 1 else f"\n{indent}"
    behind, *lines = trivia.split("\n")
    text = behind.strip()
    text = f" {text}\n" if text else "\n"
    blank = ""
    last = len(lines) - 1
    for number, line in enumerate(lines):
        comment = line.strip()
        if comment:
            text += f"{blank}{indent}{comment}\n"
            blank = ""
        elif number < last:
            blank = "\n"
    return f"{text}{blank}{indent}"


def without_comments(source: str) -> tuple[str, list[str], str] | None:
    """A statement with comments inside of it, all of which belong on lines above it.

    Comments in a list that may have one item a line stay there; none of these is such a list.

    Args:
        source: a node and what follows it, without a backslash or string of several lines.

    Returns:
        The code of the statement alone, its comments, and what follows it; None if one of
        the comments may belong elsewhere.
    """
    parts = STRINGS_AND_COMMENTS.split(source)
    end = len(parts)
    while end > 1 and (parts[end - 1][:1] == "#" or not parts[end - 1].strip()):
        end -= 1
    behind = "".join(parts[end:])
    last = parts[end - 1]
    code: list[str] = []
    comments: list[str] = []
    depth = 0
    for part in parts[:end]:
        if part[:1] == "#":
            if depth:
                return None
            comments.append(part.rstrip())
            continue
        if part[:1] != '"':
            if "@" in part or "{" in part:
                return None
            depth += part.count("<") - part.count(">")
        code.append(part)
    whole = "".join(code)
    bare = whole.rstrip()
    return bare, comments, last[len(last.rstrip()) :] + behind


def same_tokens(one: str, other: str) -> bool:
    """Whether two statements have the same tokens, but for the blanks between them.

    Args:
        one: a statement without comments. If it may have blank lines between the items of a list,
            which stay there, the answer is no.
        other: the same statement as it is printed.
    """
    if one == other:
        return True
    if "\n" in other and BLANK_LINE.search(one):
        return False
    if "\\" not in one and '"""' not in one:
        first, second = one.split('"'), other.split('"')
        if first[1::2] == second[1::2] and _same_code('"'.join(first[::2]), '"'.join(second[::2])):
            return True
    read = load_lexer().read
    tokens, others = ([text for _, text, _ in read(code, 0)] for code in (one, other))
    return len(tokens) == len(others) and all(
        token == same or ('"' not in token and _bare(token) == _bare(same))
        for token, same in zip(tokens, others, strict=True)
    )


def _same_code(one: str, other: str) -> bool:
    """Whether code without strings surely differs in blanks only that mean nothing."""
    one, other = " ".join(one.split()).replace(", ", ","), other.replace(", ", ",")
    if one == other:
        return True
    one, other = one.replace(" = ", "="), other.replace(" = ", "=")
    return one.replace(" (", "(") == other.replace(" (", "(")


def _bare(token: str) -> str:
    """A token without blanks: types and lists of numbers have some, which mean nothing."""
    return "".join(token.split())
