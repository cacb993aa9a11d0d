# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for the values of headers: versions, unquoted strings, lists of imports."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.actions.headers import INTEGER_KEYS, STRING_KEYS
from onnxtext.syntax.heuristics.constructs.node_errors import closing_index
from onnxtext.syntax.heuristics.constructs.token_errors import SMART_QUOTES
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, advice, rewritten
from onnxtext.syntax.heuristics.error_context import ErrorContext, insert, replace

_MAX_KEY_LENGTH = 40
"""Maximum number of characters from the beginning of a key to its list."""
_MAX_LIST_LENGTH = 4000
"""Maximum number of characters of a list of imports to correct."""
_VERSION = re.compile(r"[vV](\d+)(?![\w.])")
_WHOLE = re.compile(r"(-?\d+)\.0*(?![\w.])")
_UNQUOTED_VALUE = re.compile(
    r"[^\s\"\[\]{}<>,#]+(?:[ \t]+[^\s\"\[\]{}<>,#:]+)*(?=[ \t]*(?:,|>|\r?\n))"
)
_FIELDS = re.compile(r"[a-z]\w*(?:\.\w+)+")
_FIELD = re.compile(r'"(\w+(?:\.\w+)+)"')
_PAIR = re.compile(
    r"""\(\s*["'](?P<domain>[\w.]*)["']\s*,\s*(?P<version>\d+)\s*\)"""
    r"""|\{?\s*["']?domain["']?\s*[:=]\s*["'](?P<domain2>[\w.]*)["']\s*,"""
    r"""\s*["']?version["']?\s*[:=]\s*(?P<version2>\d+)\s*\}?"""
    r"""|(?P<string>"[\w.]*")(?P<comma>\s*,)\s*\d+"""
    r"""|(?<=[\[,])\s*(?P<bare>[A-Za-z_][\w.]*|)(?=\s*:\s*\d)"""
)


def point_in_integer(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a value that is no integer: `model_version: 3.0`, `ir_version: v10`."""
    done, token = context.done, context.token
    if token is None or done[-1:] != [":"]:
        return
    if done[0] in INTEGER_KEYS or "header_item" in context.rules:
        version = _VERSION.match(context.text, token.at)
        if version is not None:
            span, message = Span(*version.span()), f"`{version[0]}` is not a number"
            yield rewritten("syntax-error", message, span, version[1], safe=True)
    if done[1:] != [":"] or done[0] not in INTEGER_KEYS:
        return
    match = _WHOLE.match(context.text, token.at)
    if match is not None:
        span, message = Span(*match.span()), f"the value of `{done[0]}` must be an integer"
        yield rewritten("syntax-error", message, span, match[1])


def unquoted_header_value(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose an unquoted string value in a header: `producer_name: pytorch`."""
    done, token = context.done, context.token
    if token is None or done[1:] != [":"] or done[0] not in STRING_KEYS:
        return
    if "\n" in context.text[done[1].at : token.at]:
        return
    match = _UNQUOTED_VALUE.match(context.text, token.at)
    if match is not None and "'" not in match[0] and match[0][0] not in SMART_QUOTES:
        span, message = Span(*match.span()), f"`{match[0]}` needs quotes to be a string"
        edits, title = (Edit(span, f'"{match[0].strip("`")}"'),), "quote it"
        yield Diagnosis("unquoted-string", message, span, edits, title)


def opset_items(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose opset imports like `("", 21)`, `{domain: "", version: 21}`, `[[21]]` or `: 21`."""
    token = context.token
    if "header_item" not in context.rules or token is None or token not in {*"({,[]:"}:
        return
    if token == ":" and context.done not in ([], ["domain"]):
        return
    if not _is_value_of(context, "opset_import"):
        return
    start = context.line_start if context.opened is None else context.opened.start
    end = context.text.find("]", context.at, start + _MAX_LIST_LENGTH)
    edits = []
    close = closing_index(context.rest) if token == "[" else None
    if close is not None:
        edits = [replace(context.rest[0], ""), replace(context.rest[close], "")]
    for match in _PAIR.finditer(context.text, start, max(end, start)):
        if match["string"] is not None:
            edits.append(Edit(Span(*match.span("comma")), ":"))
        elif match["bare"] is not None:
            edits.append(Edit(Span(*match.span("bare")), f'"{match["bare"]}"'))
        else:
            domain = match["domain"] or match["domain2"] or ""
            version = match["version"] or match["version2"]
            edits.append(Edit(Span(*match.span()), f'"{domain}": {version}'))
    if edits:
        message = 'an opset import must be written like `21` or `"ai.onnx.ml": 5`'
        span, title = token.span, "correct the imports"
        safe = not any(edit.text.endswith('"') for edit in edits)  # a domain may be missing
        yield Diagnosis("wrong-mark", message, span, tuple(edits), title, safe=safe)
    elif token in {",", "]"} and [*map(context.name, context.done)] == ["STRING"]:
        domain = context.done[0]
        if domain[1:-1].isdecimal():
            yield rewritten("wrong-mark", "a number needs no quotes", domain.span, domain[1:-1])
        message, help = f"the version of {domain} is missing", f"write it, such as `{domain}: 1`"
        yield advice("syntax-error", message, domain.span, help, insert(domain.end, ": 1"))


def _is_value_of(context: ErrorContext, key: str) -> bool:
    """Whether the error is in the value of `key` in a header."""
    start = context.line_start if context.opened is None else context.opened.start
    head = context.text[max(0, start - _MAX_KEY_LENGTH) : start].rstrip()
    return head.endswith((f"{key}:", f"{key} :"))


def explicit_fields(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `explicit: ["node.domain"]` and `explicit: node.domain`."""
    done, token = context.done, context.token
    names = None if token is None else _FIELDS.match(context.text, token.at)
    if done == ["explicit", ":"] and names is not None:
        span, message = Span(*names.span()), "the value of `explicit` must be a list, `[…]`"
        yield rewritten("syntax-error", message, span, f"[{names[0]}]")
    if len(done) != 1 or "header_item" not in context.rules or context.token not in {",", "]"}:
        return
    if _FIELD.fullmatch(done[0]) and _is_value_of(context, "explicit"):
        edits = (replace(done[0], done[0].strip('"')),)
        message = "the name of a field must not be in quotes"
        yield Diagnosis("wrong-mark", message, done[0].span, edits, "remove the quotes", safe=True)
