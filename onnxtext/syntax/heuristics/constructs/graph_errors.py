# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for graphs: names, signatures, brackets and unfinished headers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace as replace_fields
from itertools import pairwise

from onnxtext.diagnostics import Edit, Label
from onnxtext.source import Span, line_start
from onnxtext.syntax.heuristics.constructs.node_errors import TYPES, bracketed, unopened_bracket
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, Safe, advice, removed, rewritten
from onnxtext.syntax.heuristics.error_context import (
    CLOSER,
    CLOSING,
    OPENING,
    ErrorContext,
    begins_line,
    indentation,
    insert,
    replace,
)
from onnxtext.syntax.heuristics.speculative_parse import CERTAIN_TOKENS

MAX_HEADER_LENGTH = 4000
"""Maximum number of characters of a header or block that a heuristic inspects."""
_JOINED_TYPE = re.compile(
    r"(?:bfloat16|float(?:16(?=[A-Za-z_]))?|u?int(?:64|32|16|8|4|2)|bool|string|double)(?=\w)"
)
_MAX_TOKENS_BACK = 8
_LONG = 8


def empty_text(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a text without tokens."""
    if context.token is not None or context.done or context.at > MAX_HEADER_LENGTH:
        return
    if context.lexer.tokens(context.text, 0, context.at):
        return
    state = "contains only comments" if context.text.strip() else "is empty"
    offset = context.at if context.text.strip() else 0
    message = f"the text {state}"
    help = "a model needs at least a graph: `g (float[N] x) => (float[N] y) { y = Relu (x) }`"
    yield advice("syntax-error", message, Span(offset, offset), help)


def wrong_bracket(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a wrong bracket, such as `{` for `(`, if many tokens parse with another bracket."""
    if context.token is None:
        return
    cut_short = context.next_statement is not None
    for token in context.nearby(0 if cut_short else _MAX_TOKENS_BACK):
        if token not in OPENING | CLOSING:
            continue
        alike = OPENING if token in OPENING else CLOSING
        others = (OPENING | CLOSING) - {token}
        for other in sorted(others, key=lambda mark: (mark not in alike, mark)):
            edit = replace(token, other)
            outcome = context.attempt(edit)
            if outcome is None or not outcome.complete:
                continue
            start = outcome.resume
            left = context.lexer.tokens(context.text, start, start + MAX_HEADER_LENGTH)
            if outcome.count < min(4 if cut_short else _LONG, len(left)):
                continue
            far = context.attempt(edit, max_tokens=CERTAIN_TOKENS)
            stop = [] if far is None or far.complete else left[far.count :][:1]
            if far is not None and other in OPENING and CLOSING & {*stop}:
                before = [context.bracket, *(item for item in context.done if item.at < token.at)]
                after = context.lexer.tokens(context.text, token.end, start)
                opened = _open_brackets([*before, other, *after, *left[: far.count]])
                wider = stop[0] in [CLOSER[mark] for mark in opened]
                if wider or len(opened) > len(_open_brackets(before)):
                    continue  # the new bracket, or one around it, is never closed
            message, title = f"expected `{other}`, found `{token}`", f"write `{other}` instead"
            yield Diagnosis("wrong-mark", message, token.span, (edit,), title)
            return


def _open_brackets(tokens: Iterable[str]) -> list[str]:
    """Return the opening brackets that no later token closes."""
    result: list[str] = []
    for token in tokens:
        if token in OPENING:
            result.append(token)
        elif token in CLOSING and result:
            result.pop()
    return result


def wrong_brackets(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a list or block in brackets of the wrong kind, such as `g [float x] => (y) {…}`."""
    if context.next_statement is not None and "node" in context.rules:
        return  # the bracket may belong to the label of the next node
    for opener in (context.token, context.innermost):
        if opener is None or opener not in OPENING:
            continue
        tokens = bracketed(context, opener)
        if not tokens or tokens[-1].at < context.at:
            continue
        arrow = context.lexer.token(context.text, tokens[-1].end)
        second = context.lexer.token(context.text, arrow.end) if arrow == "=>" else None
        outputs = bracketed(context, second) if second == opener else []
        for left in sorted(OPENING - {opener}):
            right = CLOSER[left]
            edits = [replace(opener, left), replace(tokens[-1], right)]
            if outputs:  # they have the same brackets as the inputs
                edits += [replace(outputs[0], left), replace(outputs[-1], right)]
            # If many tokens between the new brackets parse, one token after them suffices.
            min_tokens = 1 if len(tokens) > _LONG else 4
            if (left == "(" and "=" in tokens) or not context.accepts(edits, min_tokens):
                continue
            message = f"expected `{left}…{right}`, found `{opener}…{CLOSER[opener]}`"
            labels = (Label(tokens[-1].span, "the closing bracket"),)
            result = rewritten("wrong-mark", message, opener.span, f"{left}…{right}")
            yield replace_fields(result, edits=tuple(edits), other_labels=labels)
            return


def misplaced_block(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose parts of a graph in a wrong order: `g (x) <…> => (y) {…}`, `g (x) => {…} (y)`."""
    token, last = context.token, context.last
    if token is None or token not in {"<", "{"} or last in {None, ">"} or "node" in context.rules:
        return
    block = bracketed(context, token)
    after = context.lexer.token(context.text, block[-1].end) if block else None
    if after is None or after not in {"=>", "("}:
        return
    edit = Edit(Span(token.at, block[-1].end), "")
    # With a `:`, the list may be the parameters of a function: `<a: float = 1>`.
    if token == "<" and ":" not in block and any(context.name(part) in TYPES for part in block):
        message = "the initializers of a graph belong after its outputs"
        help = "move this list after the outputs, before the `{`"
        yield advice("misplaced-tensor", message, token.span, help, edit, min_tokens=2)
    elif last == "=>" != after and (outputs := bracketed(context, after)):
        message = "the outputs of a graph belong before its nodes"
        edits = (edit, insert(outputs[-1].end, " {}"))
        yield advice("syntax-error", message, token.span, "move them before this `{`", *edits)


def incomplete_graph_header(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a graph or function without a name or without `=> (…)`."""
    token, before = context.token, context.last
    if token is None or "node" in context.rules:
        return
    expected = context.expected()
    if token == "(" and "WORD" in expected and (before is None or before == ">"):
        if context.is_certain([replace(token, "<")]):
            return  # the brackets of the header are wrong
        message, title = "the name of the graph or function is missing", "name it, such as `g`"
        edits = (insert(context.at, "g "),)
        yield Diagnosis("syntax-error", message, token.span, edits, title, min_tokens=6)
    after_inputs = "_ARROW" in expected and context.text[context.previous_end - 1] == ")"
    if token in {"{", "<"} and (before == "=>" or after_inputs):
        if before == "=>" and context.is_certain([replace(token, "(")]):
            return  # the brackets of the outputs are wrong
        message = "the outputs of the graph or function are missing"
        edit = insert(context.at, "() " if before == "=>" else "=> () ")
        help = "write `=> (float[N] y)` after the inputs, with names and types as needed"
        result = advice("syntax-error", message, token.span, help, edit)
        yield replace_fields(result, edit_cost=0.1)  # see `headless_outputs`


def headless_outputs(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a missing line `) => (` before a value on a line of its own that a node computes."""
    text, end = context.text, context.at + MAX_HEADER_LENGTH
    if context.token not in {"{", "<"} or context.last != ")":
        return
    for name, mark in pairwise(context.done):
        first = line_start(text, name.at)
        named = context.name(name) in {"WORD", "STRING"} and mark in {",", ")"}
        if named and first > context.region.start:
            node = rf"^(?:[^#\n=<(]*[\s,])?{re.escape(name)}(?:[ \t]*,[^#\n=<(]*)?[ \t]*="
            if re.compile(node, re.MULTILINE).search(text, context.at, end) is not None:
                edits = (insert(first, ") => (\n"),)
                message, span = "expected `) => (` before the outputs", Span(first, first)
                yield Diagnosis("syntax-error", message, span, edits, "add `) => (`")
                return


def values_without_brackets(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose inputs or outputs without parentheses: `g float x => (y)`, `g (x) -> float y {`."""
    token, done, tokens = context.token, context.done, context.rest
    if token is None or "node" in context.rules or not done:
        return
    arrow: tuple[Edit, ...] = ()
    if context.text.startswith("->", context.at) and "_ARROW" in context.expected():
        arrow = (Edit(Span(context.at, context.at + 2), "=>"),)
        tokens = context.lexer.tokens(context.text, context.at + 2, context.line_limit)
    last = "{" if arrow or done[-1] == "=>" else "=>"
    end = next((index for index, value in enumerate(tokens) if value == last), 0)
    values = tokens[:end]
    if not values or not (arrow or done[-1] == "=>" or len(done) == 1) or "(" in values:
        return
    span = Span(values[0].at, values[-1].end)
    edits = (*arrow, insert(span.start, "("), insert(span.end, ")"))
    message = "the inputs and outputs of a graph must be in parentheses"
    yield Diagnosis("missing-bracket", message, span, edits, "write `(…)`", min_tokens=2)


_DEFAULT = re.compile(
    r"^[ \t]*((?:@\w+\((?:[^()\"\n]|\"[^\"\n]*\")*\)\s*)*(?:[^\s#=,@\"]|\"[^\"\n]*\")"
    r"(?:[^#=,\"\[\n]|\"[^\"\n]*\"|\[[^\]\n]*\])*=)(?!>)",
    re.MULTILINE,
)
"""Matches an output with a default value, and its decorators, up to the `=`."""


def unclosed_outputs(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose initializers among outputs or inputs: `) <` is missing before `float w = 1, >`."""
    if context.token != ">" or not {"value_info", "graph", "function"} & context.rules:
        return
    innermost = context.innermost
    bracket = context.opened if innermost is None else innermost.span
    if bracket is None or context.text[slice(*bracket)] != "(":
        return
    end = min(context.at, bracket.start + MAX_HEADER_LENGTH)
    match = _DEFAULT.search(context.text, bracket.start, end)
    if match is not None:
        outputs = context.text.endswith("=>", 0, len(context.text[: bracket.start].rstrip()))
        mark, text = (") <", ")") if outputs else (") => (…) <", ") => ()")
        message, help = f"expected `{mark}` before the initializers", f"add `{mark}` here"
        edits, span = (replace(context.token, text),), Span(*match.span(1))
        yield Diagnosis("unclosed-bracket", message, span, edits, help=help, replaces_errors=True)


def extra_brace(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose an extra `}` among nodes, or after a nested graph."""
    if context.opened is None:
        yield from _indented_brace(context)
    elif context.token == context.last == "}" and "attribute" in context.rules:
        message, span = "unexpected `}`: the graph has ended", Span(context.at, context.at + 1)
        yield removed("syntax-error", message, span, "remove it", min_tokens=2)


def _indented_brace(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose an extra `}`: after a node, on an indented line, or before an indented line."""
    text, first = context.text, context.first
    if first is None or first == "<" or "function" not in context.rules:
        return
    end = context.until(first.at).previous_end
    extra: tuple[Edit, ...] = ()
    if first in {",", ";", ")", "]"} and first.at == end:  # as in `},`
        extra, following = (replace(first, ""),), context.lexer.token(text, first.end)
        if following is None:
            return
        first = following
    line, indent = text[line_start(text, end) : end], indentation(text, end - 1)
    inside = first != "}" and 0 < indentation(text, first.at) > indent
    if inside:  # the graph must end later, or the text before this `}` is complete
        outside = re.compile(rf"^[ \t]{{0,{indent}}}([^\s#])", re.MULTILINE).search(text, first.end)
        gap = text[end : first.at].replace("\r", "")
        inside = "\n\n" not in gap and outside is not None and outside[1] == "}"
    if not line.endswith("}") or not begins_line(text, first.at):
        return
    if not (indent or line != "}" or inside):
        return
    joined = first != "}" and not (indent and indent == indentation(text, first.at))
    if line.strip() != "}" and (joined or line.count("}") <= line.count("{")):
        return
    span, message = Span(end - 1, end), "unexpected `}`: it closes the graph"
    if first == "}":
        edits = (*extra, replace(first, ""))
        if indentation(text, first.at) == indent and begins_line(text, end - 1):
            span, message = first.span, "unexpected `}`: the graph has ended"
        yield Diagnosis("syntax-error", message, span, edits, "remove one `}`", min_tokens=0)
        return
    edits = (*extra, insert(first.at, "g () => () { "))
    yield advice("syntax-error", message, span, "remove it", *edits, min_tokens=2)


def function_keyword(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `func @F (a) => (b) {…}`."""
    match = _FUNCTION_KEYWORD.match(context.text, context.line_start, context.line_limit)
    if match is None or context.at > match.end():
        return
    span, message = Span(*match.span(1)), f"`{match[1]}` does not belong here"
    title = f"remove `{match[1]}`"
    help = "begin with the name: `NAME (INPUTS) => (OUTPUTS) {`"
    yield Diagnosis("foreign-word", message, span, (Edit(span, ""),), title, help=help)
    yield Diagnosis("foreign-word", message, span, help=help, skip_to=context.line_end + 1)


_FUNCTION_KEYWORD = re.compile(r"[ \t]*((?:function|def|func|graph|model|module)[ \t]+@)(?=\w)")


_DOTTED_NAME = re.compile(r"[\w.]+")
_DOMAIN = re.compile(r"(?:\w+\.)+(?=\w+[ \t]*[(<])")


def domain_of_function(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose dots in the name of a function or of the main graph: `my.F (a) => (b) {…}`."""
    done = context.done
    if context.token != "." or not done or not {"graph", "function"} & context.rules:
        return
    match = _DOMAIN.match(context.text, done[-1].at) if done[-2:-1] in ([], [">"]) else None
    name = None if match is None else _DOTTED_NAME.match(context.text, match.start())
    if name is not None and "\n}" not in context.text[: context.at]:  # the main graph
        span, message = Span(*name.span()), f"`{name[0]}` needs quotes to be a name"
        yield Diagnosis("unquoted-name", message, span, (Edit(span, f'"{name[0]}"'),), "quote it")
    if match is not None:
        message = "a function's name cannot contain its domain: write `domain: …` in the header"
        yield removed("syntax-error", message, Span(*match.span()), f"remove `{match[0]}`")


def marks_in_name(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a name of a graph with a blank or a colon: `my graph (x)`, `g: (x) => (y)`."""
    done, token = context.done, context.token
    if token is None or not done or context.ahead[:1] != ["("] or "node" in context.rules:
        return
    if context.name(done[-1]) != "WORD" or not {"graph", "function"} & context.rules:
        return
    if done[-1].at < context.line_start or done[-2:-1] not in ([], [">"], [")"]):
        return
    if token == ":":
        message, title = "unexpected `:` after the name of a graph", "remove `:`"
        yield removed("wrong-mark", message, token.span, title, safe=True, min_tokens=4)
    elif context.name(token) == "WORD" and token != done[-1]:
        span = Span(done[-1].at, token.end)
        written = context.text[slice(*span)]
        message, edits = f"`{written}` needs quotes to be a name", (Edit(span, f'"{written}"'),)
        yield Diagnosis("unquoted-name", message, span, edits, "quote it", min_tokens=4)


def missing_opener(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a list without `[`: `strides = 1, 1]`, `float N, 2] x` and `floatN, 2] x`.

    Also diagnose a tensor without `{`: `float[1] x = 1}`.
    """
    rest = context.rest
    size = unopened_bracket(rest)
    if size is None or rest[size] not in {"]", "}"}:
        return
    mark = "[" if rest[size] == "]" else "{"
    tokens = [*context.done[-_MAX_TOKENS_BACK:], rest[0]]
    for index, (before, token) in reversed([*enumerate(pairwise(tokens))]):
        prefix = _JOINED_TYPE.match(before)
        offset = token.at
        first = context.name(before) == "TYPE" and context.name(token) in {"BOOL", "FLOAT", "INT"}
        if before == "=" and mark == "{":
            typed = "TYPE" in map(context.name, tokens[max(index - 2, 0) : index])
            if not typed or token == "}":
                return
            edit = insert(offset, mark)
        elif mark == "{":
            continue
        elif context.name(before) == "PRIM":
            edit = Edit(Span(before.end, offset), "[")
        elif first or (before in {"=", ":"} and token != "]"):
            swapped = token.startswith('"[')
            edit = Edit(Span(offset, offset + 2), '["') if swapped else insert(offset, "[")
        elif prefix is not None and context.name(before) == "WORD":
            offset = before.at + prefix.end()
            edit = insert(offset, "[")
        else:
            continue
        span = Span(offset, rest[size].end)
        if context.text.find("\n", *span) >= 0:
            return
        others = [replace(rest[size], bracket) for bracket in ("", *OPENING, *CLOSING)]
        uncertain = mark == "[" and not context.is_certain([edit])
        if uncertain and any(context.is_certain([other]) for other in others):
            return  # as in `float[2]] x`
        message = f"the `{mark}` of this list is missing"
        # In `x = -3]`, the `-` may be a typo for the `[`.
        inside_list = context.innermost == "["
        # In `axis = 0]`, the `]` may be extra.
        single = offset == (context.done[-1].at if size == 0 else context.at) and size < 2
        extra = single and not first
        # In `x = string[1] "a"]`, the `[` belongs before the string.
        last = rest[size - 1] if size else context.done[-1]
        named = context.name(token) == "TYPE" and context.name(last) == "STRING"
        plain = context.text[offset] != "-" and not inside_list and not extra
        evident = plain and token != "]" and not uncertain  # as in `float] x`
        title = f"{'add' if edit.text == mark else 'write'} `{edit.text}`"
        result = Diagnosis("missing-bracket", message, span, (edit,), title, min_tokens=size + 1)
        # `float161, 2]` may be `float[161, 2]` or `float16[1, 2]`.
        narrow = prefix is not None and prefix[0] == "float" and before.startswith("float16")
        safe: Safe = evident and ("evident" if single or named or narrow else True)
        yield replace_fields(result, safe=safe, replaces_errors=True)
