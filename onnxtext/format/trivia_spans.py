# SPDX-License-Identifier: Apache-2.0
"""Format trivia spans: the comments and blank lines between two statements of a list."""

from __future__ import annotations

import re

from onnxtext.source import STRING_OR_COMMENT
from onnxtext.syntax.grammar.lexer import load_lexer

_QUOTED_NAME = re.compile(r'(?<!\w)"([^\W\d]\w*)"')
"""Matches a quoted name that may not need its quotes."""

BLANK_LINE = re.compile(r"\n[ \t\v\f\r]*\n")

COMMENTS = re.compile(r"[ \t\v\f\r]*(?:#[^\n]*)?(?:\n[ \t\v\f\r]*(?:#[^\n]*)?)*")
"""Matches whitespace, line breaks and comments."""


def code_before_trivia(source: str) -> str | None:
    """Return the code of a statement without the trivia after it; None if it contains comments.

    Trivia are comments and whitespace.

    Args:
        source: a statement and the trivia after it; must not contain backslashes or multi-line
            strings.
    """
    offset = source.find("#")
    while offset >= 0 and source.count('"', 0, offset) & 1:  # the `#` is in a string
        offset = source.find("#", offset + 1)
    code = source[: offset if offset >= 0 else None].rstrip()
    return code if offset < 0 or COMMENTS.fullmatch(source, offset) else None


def format_trivia(trivia: str, indent: str) -> str:
    """Format the trivia between two statements.

    The trivia follow the first statement and its comma.
    """
    if "#" not in trivia:
        return f"\n\n{indent}" if trivia.count("\n") > 1 else f"\n{indent}"
    trailing, *lines = trivia.split("\n")
    text = trailing.strip()
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
    """Split a node into its code and the comments in it, which move to lines above it.

    Args:
        source: a node and the trivia after it; must not contain backslashes or multi-line strings.

    Returns:
        The code without comments, the comments, and the trivia after the statement; None if a
        comment may be in a list, where it would stay.
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
            depth += sum(map(part.count, "<(")) - sum(map(part.count, ">)"))
        code.append(part)
    joined = "".join(code)
    stripped = joined.rstrip()
    return stripped, comments, last[len(last.rstrip()) :] + behind


def same_tokens(left: str, right: str) -> bool:
    """Whether a statement has the same tokens as its printed form, except for unnecessary quotes.

    Args:
        left: a statement without comments. If it has a blank line and the printed form has several
            lines, the result is False, because formatting may keep the blank line.
        right: the printed statement.
    """
    if left == right:
        return True
    if "\n" in right and BLANK_LINE.search(left):
        return False
    if "\\" not in left and '"""' not in left:
        first, second = (_QUOTED_NAME.sub(r"\1", code).split('"') for code in (left, right))
        if first[1::2] == second[1::2] and _same_code('"'.join(first[::2]), '"'.join(second[::2])):
            return True
    read = load_lexer().read
    tokens, others = (
        _without_last_commas([text for _, text, _ in read(code, 0)]) for code in (left, right)
    )
    return len(tokens) == len(others) and all(
        token in (same, f'"{same}"') or ('"' not in token and _bare(token) == _bare(same))
        for token, same in zip(tokens, others, strict=True)
    )


def _same_code(left: str, right: str) -> bool:
    """Whether code without strings is equal except for whitespace; False if unsure."""
    left, right = " ".join(left.split()).replace(", ", ","), right.replace(", ", ",")
    if left == right:
        return True
    left, right = left.replace(" = ", "="), right.replace(" = ", "=")
    return left.replace(" (", "(") == right.replace(" (", "(")


def _without_last_commas(tokens: list[str]) -> list[str]:
    """Remove trailing commas, which are those before closing brackets."""
    return [
        token
        for token, following in zip(tokens, [*tokens[1:], ""], strict=False)
        if token != "," or following not in _CLOSING
    ]


_CLOSING = (">", "]", "}", ")")


def _bare(token: str) -> str:
    """Remove insignificant whitespace in a token, such as a type or list of numbers.

    Also remove a comma after the last number.
    """
    stripped = "".join(token.split())
    return (
        stripped[:-2] + stripped[-1]
        if stripped[-2:-1] == "," and stripped[-1] in _CLOSING
        else stripped
    )
