# SPDX-License-Identifier: Apache-2.0
"""Format trivia spans: the comments and blank lines between two statements of a list."""

from __future__ import annotations

import re

from onnxtext.source import STRING_OR_COMMENT
from onnxtext.syntax.grammar.lexer import load_lexer

_QUOTED_NAME = re.compile(r'(?<!\w)"([^\W\d]\w*)"')
"""A string that may be a name without quotes."""

BLANK_LINE = re.compile(r"\n[ \t\v\f\r]*\n")

COMMENTS = re.compile(r"[ \t\v\f\r]*(?:#[^\n]*)?(?:\n[ \t\v\f\r]*(?:#[^\n]*)?)*")
"""Whitespace and comments up to the end of a line."""


def code_before_trivia(source: str) -> str | None:
    """Return the code of a statement without the comments and whitespace (trivia) after it.

    Args:
        source: a statement and the trivia after it; must not contain backslashes or multi-line
            strings.

    Returns:
        The code without trailing whitespace; None if the code contains comments.
    """
    at = source.find("#")
    while at >= 0 and source.count('"', 0, at) & 1:  # in a string
        at = source.find("#", at + 1)
    code = source[: at if at >= 0 else None].rstrip()
    return code if at < 0 or COMMENTS.fullmatch(source, at) else None


def format_trivia(trivia: str, indent: str) -> str:
    """Format the trivia between two statements.

    Args:
        trivia: comments and whitespace after the first statement and its comma.
        indent: the indentation of the statements.
    """
    if "#" not in trivia:
        return f"\n\n{indent}" if trivia.count("\n") > 1 else f"\n{indent}"
    behind, *lines = trivia.split("\n")
    text = behind.strip()
    text = f" {text}\n" if text else "\n"
    blank = ""
    last = len(lines) - 1
    for index, line in enumerate(lines):
        comment = line.strip()
        if comment:
            text += f"{blank}{indent}{comment}\n"
            blank = ""
        elif index < last:
            blank = "\n"
    return f"{text}{blank}{indent}"


def without_comments(source: str) -> tuple[str, list[str], str] | None:
    """Split a node into its code and the comments inside of it, which move to lines above it.

    Args:
        source: a node and the trivia after it; must not contain backslashes or multi-line strings.

    Returns:
        The code without comments, the comments, and the trivia after the statement; None if a
        comment may be in a list and stay there.
    """
    parts = STRING_OR_COMMENT.split(source)
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
    joined = "".join(code)
    bare = joined.rstrip()
    return bare, comments, last[len(last.rstrip()) :] + behind


def same_tokens(one: str, other: str) -> bool:
    """Whether a statement has the same tokens as its printed form, except for needless quotes.

    Args:
        one: a statement without comments. If it has a blank line and the printed form has several
            lines, the result is False, because formatting may keep the blank line.
        other: the printed statement.
    """
    if one == other:
        return True
    if "\n" in other and BLANK_LINE.search(one):
        return False
    if "\\" not in one and '"""' not in one:
        first, second = (_QUOTED_NAME.sub(r"\1", code).split('"') for code in (one, other))
        if first[1::2] == second[1::2] and _same_code('"'.join(first[::2]), '"'.join(second[::2])):
            return True
    read = load_lexer().read
    tokens, others = (
        _without_last_commas([text for _, text, _ in read(code, 0)]) for code in (one, other)
    )
    return len(tokens) == len(others) and all(
        token in (same, f'"{same}"') or ('"' not in token and _bare(token) == _bare(same))
        for token, same in zip(tokens, others, strict=True)
    )


def _same_code(one: str, other: str) -> bool:
    """Whether code without strings is equal except for whitespace; False if unsure."""
    one, other = " ".join(one.split()).replace(", ", ","), other.replace(", ", ",")
    if one == other:
        return True
    one, other = one.replace(" = ", "="), other.replace(" = ", "=")
    return one.replace(" (", "(") == other.replace(" (", "(")


def _without_last_commas(tokens: list[str]) -> list[str]:
    """Remove commas before closing brackets, which lists split over several lines have."""
    return [
        token
        for token, following in zip(tokens, [*tokens[1:], ""], strict=False)
        if token != "," or following not in _CLOSING
    ]


_CLOSING = (">", "]", "}", ")")


def _bare(token: str) -> str:
    """Remove insignificant whitespace inside of a token, such as a type or list of numbers.

    Also remove a comma after the last number.
    """
    bare = "".join(token.split())
    return bare[:-2] + bare[-1] if bare[-2:-1] == "," and bare[-1] in _CLOSING else bare
