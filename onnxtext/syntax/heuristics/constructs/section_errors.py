# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for sections, and for graphs that lack their first line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace as replace_fields
from itertools import pairwise
from math import inf

from onnxtext.diagnostics import Edit
from onnxtext.source import SECTIONS, Span
from onnxtext.suggestions import nearest_name
from onnxtext.syntax.actions.headers import FUNCTION_KEYS
from onnxtext.syntax.actions.metadata_section import BLOCKS
from onnxtext.syntax.actions.resources import WEIGHT_PLACES
from onnxtext.syntax.actions.sections import ENCODING_KEYS, TRAINING_KEYS
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.syntax.heuristics.constructs.attribute_list_errors import NODE
from onnxtext.syntax.heuristics.constructs.node_errors import NAMES, unopened_bracket
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, advice, rewritten, unclosed
from onnxtext.syntax.heuristics.error_context import (
    ErrorContext,
    begins_line,
    blank_line_above,
    indentation,
    insert,
    line_end,
)

SECTION_TERMINALS = frozenset(word.upper() for word in SECTIONS)
_STRINGS = frozenset(("STRING", "ESCAPED_STRING", "BYTES", "TRIPLE"))
_MAX_OPEN = 3
"""Maximum number of missing braces to add."""
_MAX_BLOCKS = 8000
"""Maximum number of characters to inspect of misplaced sections and functions."""
_HEAD = re.compile(
    r"(?:\w+|\"[^\"\n]*\")[ \t]*(?:<[^<>\n]*>[ \t]*)?\([^()\n]*\)[ \t]*[-=]>"
    r"[ \t]*\([^()\n]*\)[ \t]*[{<]"
)
_KEY_END = 100
"""Maximum number of characters from the start of a header or entry to the end of its first key."""


def construct_inside_graph(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a section or function among nodes: misplaced, or after a graph without its `}`."""
    done, text, first = context.done, context.text, context.first
    if first is None or "node" not in context.rules or not begins_line(text, first.at):
        return
    is_section = first in SECTIONS and context.token == "{" and len(done) <= 2
    head = _HEAD.match(text, first.at, line_end(text, first.at)) if done else None
    is_function = head is not None or (first == "<" and _is_header(context, first.at))
    if not is_section and not is_function:
        return
    yield from _inside_graph(context, first.span, "section" if is_section else "function")
    edit = insert(first.at, "}\n\n")
    if first == "<":
        yield _unclosed_before_header(context, first.span, edit)
    elif is_function:
        message = f"expected `}}` before the function `{first}`"
        span = _place_of_brace(context, Span(first.at, done[-1].end))
        yield Diagnosis("unclosed-bracket", message, span, (edit,), "add `}`")


def _inside_graph(context: ErrorContext, span: Span, kind: str) -> Iterator[Diagnosis]:
    """Diagnose a `kind` ("section" or "function") that begins at `span` inside a graph."""
    end = _end_of_blocks(context, span.start)
    if end is not None:
        message, help = f"a {kind} cannot be inside a graph", "move it after the `}` of the graph"
        yield Diagnosis("misplaced-section", message, span, help=help, skip_to=end + 1)


def _end_of_blocks(context: ErrorContext, offset: int) -> int | None:
    """Find the end of the misplaced sections or functions that begin at an offset among nodes.

    Return the end of their last line; None unless a node or the `}` of the graph follows them.
    """
    text, depth, end = context.text, 0, None
    for token in context.lexer.tokens(text, offset, offset + _MAX_BLOCKS):
        if end is not None and begins_line(text, token.at):
            line = text[token.at : line_end(text, token.at)]
            if token == "}" or NODE.match(line):
                return end
            if token not in SECTIONS and token != "<" and not _HEAD.match(line):
                return None
            end = None
        depth += (token == "{") - (token == "}")
        if token == "}" and depth == 0:
            end = line_end(text, token.at)
        elif depth < 0:
            return None
    return None


def unclosed_before_section(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a missing `}` of a graph or section before the next section."""
    done, opened = context.done, context.opened
    if len(done) != 1 or done[0] not in SECTIONS or opened is None:
        return
    name = done[0]
    named = name == "configuration" and context.ahead[:1] == ["{"]
    if not (context.token == "{" or named) or context.bracket != "{":
        return
    if indentation(context.text, name.at) > indentation(context.text, opened.start):
        return
    message = f"expected `}}` before the section `{name}`"
    span = _place_of_brace(context, name.span)
    for count in range(1, _MAX_OPEN + 1):
        edit, title = insert(name.at, "}\n" * count + "\n"), f"add `{'}' * count}`"
        yield unclosed(message, span, edit, title, opened, min_tokens=1)


_HEAD_OF_SECTION = re.compile(r"(?P<words>[^\s(){}<>\[\]\"#:=][^(){}<>\[\]\"#:=\n]*?)[ \t]*\{")
_CONFIGURATION_KEYS = ("num_devices", "device")
_UNNAMED = 'configuration ""'
_NO_FUNCTION = frozenset(("(", "<", "=>"))


def unknown_section(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose an unknown section, a section without its name, and entries outside of a section."""
    line = [token for token in context.done if token.at >= context.line_start]
    first = line[0] if line else context.token
    if first is None or not begins_line(context.text, first.at):
        return
    begins = context if first is context.token else context.until(first.at)
    expected = begins.expected()
    if SECTION_TERMINALS.isdisjoint(expected) or "RBRACE" in expected:
        return
    yield from _headless_section(begins, first)
    match = _HEAD_OF_SECTION.match(context.text, first.at)
    if match is None or not first.at <= context.at < match.end():
        return
    words = "".join(match["words"].split())
    meant = words if words in SECTIONS else nearest_name(words, SECTIONS)
    if meant is not None and first not in SECTIONS:
        message, span = f"`{match['words']}` is unknown here", Span(*match.span("words"))
        yield rewritten("misspelt-keyword", message, span, meant, min_tokens=2)
    if context.name(first) == "WORD" and first is context.token and context.ahead[:1] == ["{"]:
        yield no_section(first, end_of_block(context))


def _headless_section(context: ErrorContext, first: Token) -> Iterator[Diagnosis]:
    """Diagnose the contents of a section outside of it: `NAME {` is missing, or a `}` is extra."""
    end, brace = context.previous_end, first == "{"
    if context.text[end - 1 : end] != "}":
        return
    entry = context.lexer.tokens(context.text, first.at, first.at + _KEY_END)[brace:]
    name = _section_of(entry, brace)
    if name is None:
        return
    if name == "metadata" and "\nmetadata" in context.text[: first.at] and not brace:
        message = f"unexpected `}}`: it closes the section before `{first} …`"
        edit = insert(first.at, f"{name} {{ ")
        result = advice(
            "syntax-error", message, Span(end - 1, end), "remove it", edit, min_tokens=2
        )
        yield result
        yield replace_fields(result, edits=(), skip_to=len(context.text) + 1, min_tokens=1)
        return
    edits = (insert(first.at, f"{name} " if brace else f"{name} {{\n"),)
    message = f"the `{name.partition(' ')[0]} {{` of this section is missing"
    title, help = f"add `{edits[0].text.strip()}`", None
    if name == _UNNAMED:
        title, help = "", 'write the section\'s head, such as `configuration "2gpu" {`'
    yield Diagnosis("syntax-error", message, first.span, edits, title, help=help, min_tokens=2)


def _section_of(entry: Sequence[Token], brace: bool) -> str | None:
    """Return the section to which an entry with these first tokens belongs; None if unknown.

    `brace`: whether a `{` precedes the entry.
    """
    key, mark, following = [*entry[:3], *[""] * 3][:3]
    if mark == ":" and (following == "base64" or key in WEIGHT_PLACES):
        return "resources"
    if mark == ":" and key in TRAINING_KEYS:
        return "training"
    if mark == ":" and key in ENCODING_KEYS:
        return "encoding"
    if mark == ":" and key in _CONFIGURATION_KEYS:
        return _UNNAMED
    if brace and key[:1] == "@":
        return "order"
    if key in BLOCKS and mark and mark not in _NO_FUNCTION:
        return "metadata"
    path, _, value = "".join(entry).partition(":")
    return "quantization" if value.startswith('["') and not {*"{}<>()"} & {*path} else None


def end_of_block(context: ErrorContext) -> int:
    """Return the offset after the next line that begins with `}`, or after the text."""
    end = context.text.find("\n}", context.at)
    line = context.text.find("\n", end + 1) if end >= 0 else -1
    return (line if line >= 0 else len(context.text)) + 1


def no_section(name: Token, skip_to: int) -> Diagnosis:
    """Return the diagnosis of a section with an unknown name; parsing continues at `skip_to`."""
    message, help = f"there is no section `{name}`", f"the sections are {', '.join(SECTIONS)}"
    return Diagnosis("syntax-error", message, name.span, help=help, skip_to=skip_to)


def metadata_colon(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a metadata entry without `:`, such as `key "value"`."""
    done = context.done
    if "metadata_item" not in context.rules or len(done) != 2 or context.token == "{":
        return
    if "\n" in context.text[done[0].end : done[1].at]:
        return
    begins = begins_line(context.text, done[0].at)
    if begins and context.name(done[0]) == "WORD" and context.name(done[1]) in _STRINGS:
        edits = (insert(done[0].end, ":"),)
        message = f"expected `:` after the key `{done[0]}`"
        # If more text follows on the line, the line is probably in a string of several lines.
        safe = context.token in {None, "}"} or begins_line(context.text, context.at)
        result = Diagnosis("syntax-error", message, done[1].span, edits, "add `:`", safe=safe)
        yield replace_fields(result, min_tokens=0)


def missing_metadata_value(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `key:` without a value: the key on the next line is read as its value.

    The key is that of metadata or of a record.
    """
    kind = "a string" if "metadata_item" in context.rules else "a value"
    if context.token != ":":
        return
    tokens = context.lexer.tokens(context.text, context.line_start, context.at)
    before = context.text[: context.line_start].rstrip()
    if len(tokens) == 1 and before.endswith(":"):
        span, edit = Span(len(before) - 1, tokens[0].end), insert(context.at, f" {tokens[0]} ")
        message, help = f"incomplete statement: expected {kind} after `:`", "complete or remove it"
        result = advice("incomplete-statement", message, span, help, edit)
        yield replace_fields(result, replaces_errors=True)


def unnamed_configuration(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a section `configuration {` without a name."""
    done = context.done
    if context.token != "{" or done != ["configuration"] or "node" in context.rules:
        return
    if context.text[: done[0].at].rstrip().endswith("}"):
        message = "the name of the configuration is missing"
        help = 'write it before the `{`, such as `configuration "2gpu" {`'
        yield advice("syntax-error", message, done[0].span, help, insert(context.at, '"" '))


def header_among_nodes(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a function's header that is parsed as attributes of a node: `<domain: "l">`.

    A second diagnosis reports that a `}` may be missing before the header. It has no fix: the `}`
    belongs before the start of this context. For the context of the node,
    `unclosed_before_header` inserts it.
    """
    opened = context.opened
    if opened is None or {"attribute", "parameter"} & context.rules != {"attribute"}:
        return
    if _is_header(context, opened.start):
        yield from _inside_graph(context, opened, "function")
        yield _unclosed_before_header(context, opened)


def unclosed_before_header(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a missing `}` before a header that is parsed as the attributes of a node."""
    for token in context.done:
        if token == "<" and _is_header(context, token.at):
            yield _unclosed_before_header(context, token.span, insert(token.at, "}\n\n"))


def _is_header(context: ErrorContext, offset: int) -> bool:
    """Whether the `<` at an offset begins a line, and the key of a header follows."""
    if not begins_line(context.text, offset):
        return False
    tokens = context.lexer.tokens(context.text, offset, offset + _KEY_END)
    return tokens[1:2] != [] and tokens[1] in FUNCTION_KEYS and tokens[2:3] == [":"]


def _place_of_brace(context: ErrorContext, span: Span) -> Span:
    """Return the place of a `}` that is missing before a construct, which begins at `span`.

    It is the end of the last token if the `{` is on the same line; otherwise the first of the blank
    lines above the construct, or `span` if there are none.
    """
    before = context.until(span.start)
    opened = context.opened if before.innermost is None else before.innermost.span
    end = before.previous_end
    if opened is not None and opened.start < end and "\n" not in context.text[opened.start : end]:
        return Span(end, end)
    after = len(context.text) - len(context.text[end:].lstrip())  # code, or a comment before it
    blank = blank_line_above(context.text, after)
    return span if blank is None else Span(blank, blank)


def _unclosed_before_header(context: ErrorContext, span: Span, *edits: Edit) -> Diagnosis:
    message = "expected `}` before the header of a function"
    title, span = "add `}`" if edits else "", _place_of_brace(context, span)
    help = None if edits else "add the missing `}` before it"
    return Diagnosis("unclosed-bracket", message, span, edits, title, help=help, edit_cost=inf)


_MAX_LENGTH = 2000
"""Maximum number of characters in which to search for the bracket that ends a list."""


def missing_first_line(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a node or value after a header: the first line, `g (…) => (…) {`, is missing."""
    token, text = context.token, context.text
    if token is None or "node" in context.rules:
        return
    first = context.done[-1] if context.done and token in {"=", ","} else token
    end = context.until(first.at).previous_end
    if not begins_line(text, first.at) or not text.endswith(">", 0, end):
        return
    kind, expected = context.name(first), context.expected()
    tokens = context.lexer.tokens(text, first.at, first.at + _MAX_LENGTH)
    if first is not token and kind in NAMES and "LPAR" in expected and not _is_signature(tokens):
        # The parser has read the name of the output as the name of the graph.
        head, edit = "NAME (…) => (…) {", insert(context.at, " () => () {, ")
    elif kind in {"TYPE", "PRIM"} and "WORD" in expected and tokens[2:3] in ([","], ["="], [")"]):
        index = unopened_bracket(tokens)
        head, edit = "NAME (", insert(first.at, "g (")
        if index is not None and tokens[index] != ")":
            head, edit = "NAME (…) => (…) <", insert(first.at, "g () => () <")
        elif index is not None and tokens[index + 1 : index + 2] != ["=>"]:
            head, edit = "NAME (…) => (", insert(first.at, "g () => (")
    else:
        return
    message = "the first line of the graph or function is missing"
    help = f"write `{head}` before this line"
    yield advice("syntax-error", message, first.span, help, edit)


def _is_signature(tokens: list[Token]) -> bool:
    """Whether `=>` or `{` follows the first `)` outside of `<…>`."""
    depth = 0
    for token, following in pairwise(tokens):
        depth += (token == "<") - (token == ">")
        if token == ")" and not depth:
            return following in {"=>", "{"}
    return False
