# SPDX-License-Identifier: Apache-2.0
"""Format trivia spans: the comments and blank lines between two statements of a list."""

from __future__ import annotations

import re

from onnxtext.source import STRING_OR_COMMENT

_QUOTED_NAME = re.compile(r'(?<!\w)"([^\W\d]\w*)"')
"""Matches a quoted name that is perhaps also valid without quotes."""

BLANK_LINE = re.compile(r"\n[ \t\v\f\r]*\n")

COMMENTS = re.compile(r"[ \t\v\f\r]*(?:#[^\n]*)?(?:\n[ \t\v\f\r]*(?:#[^\n]*)?)*")
"""Matches whitespace, line breaks and comments."""


def code_before_trivia(source: str) -> str | None:
    """Return the code of a statement without the trivia after it; None if it contains comments.

    Trivia are comments and whitespace. `source` is the statement and the trivia after it, without
    backslashes and multi-line strings.
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


def without_comments(source: str) -> tuple[str, str, list[str]] | None:
    """Split a node into its code, the trivia after it, and its comments, which move above the node.

    Return None if a comment may be in a list, where it would stay. `source` is the node and the
    trivia after it, without backslashes and multi-line strings.
    """
    parts = STRING_OR_COMMENT.split(source)
    end = len(parts)
    while end > 1 and (parts[end - 1][:1] == "#" or not parts[end - 1].strip()):
        end -= 1
    after = "".join(parts[end:])
    last = parts[end - 1]
    code: list[str] = []
    comments: list[str] = []
    depth = 0
    for part in parts[:end]:
        if part[:1] == "#":
            if depth:
                return None
            comments.append(part.rstrip())
            code[-1:] = [code[-1].rstrip()] if code else []  # otherwise, a blank line would remain
            continue
        if part[:1] != '"':
            if "@" in part or "{" in part:
                return None
            depth += part.count("<") + part.count("(") - part.count(">") - part.count(")")
        code.append(part)
    joined = "".join(code)
    stripped = joined.rstrip()
    return stripped, last[len(last.rstrip()) :] + after, comments


def same_code(code: str, printed: str) -> bool:
    """Whether a text or statement without comments has the same tokens as a printed form of it.

    Trailing commas may differ.
    """
    bare, other = "".join(code.split()), "".join(printed.split())  # this also changes strings
    return bare == other or _without_last_commas(bare) == _without_last_commas(other)


def _without_last_commas(code: str) -> str:
    """Remove commas before closing brackets, even in strings."""
    return code.replace(",)", ")").replace(",]", "]").replace(",>", ">").replace(",}", "}")


def same_code_without_quotes(code: str, printed: str) -> bool:
    """Whether a statement has the same tokens as its printed form, except for unnecessary quotes.

    Trailing commas may differ. Return False if the code has escapes or multi-line strings.
    """
    if "\\" in code or '"""' in code:
        return False
    return same_code(_QUOTED_NAME.sub(r"\1", code), _QUOTED_NAME.sub(r"\1", printed))
