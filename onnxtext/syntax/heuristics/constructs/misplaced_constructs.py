# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for misplaced types, tensors, graphs, attributes and prose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace as replace_fields
from itertools import pairwise

from onnxtext.diagnostics import Edit
from onnxtext.io.text_or_binary import MODEL_SUFFIXES
from onnxtext.source import SECTIONS, Span
from onnxtext.suggestions import nearest_name
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.syntax.heuristics.certainty import occurs_elsewhere
from onnxtext.syntax.heuristics.constructs.attribute_list_errors import missing_opening, node_above
from onnxtext.syntax.heuristics.constructs.node_errors import (
    NAMES,
    TYPES,
    closing_index,
    in_attributes,
)
from onnxtext.syntax.heuristics.constructs.section_errors import end_of_block, no_section
from onnxtext.syntax.heuristics.constructs.token_errors import ALIASES, AMBIGUOUS
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, Safe, advice, rewritten, written_title
from onnxtext.syntax.heuristics.error_context import (
    ErrorContext,
    indentation,
    innermost_bracket,
    insert,
    replace,
)
from onnxtext.syntax.heuristics.foreign_syntax.other_languages import TENSOR_TYPE, translated_type

_ATTRIBUTE_TYPES = frozenset(
    ["int", "float", "string", "ints", "floats", "strings", "tensor", "graph"]
)
_HEAD = re.compile(r"[ \t]*(?:,[ \t]*)?(\w+) *= *\w* *\([^()\n]*\) *=>")
_END_OF_ATTRIBUTES = re.compile(r"^([ \t]*)>[^\n]*$", re.MULTILINE)
_WORD = re.compile(r"\w+")
_BEFORE_NAMES = "write the types before the names"
_GRAPH_AMONG_NODES = 3
"""The edit cost of the diagnosis that a graph is among nodes.

It is high: more often, a `}` is missing before the graph.
"""
_PROSE = re.compile(
    r"[ \t]*([A-Za-z][^\s=<>{}()\[\]\"#]*(?:[ \t]+[^\s=<>{}()\[\]\"#]+){2,}"
    r"|import[ \t]+[\w.]+)[ \t]*$"
)


def misplaced_types(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose misplaced types: `x: float[N]`, `x float[N]`, `float x[3]`, `<int axis = 1>`."""
    yield from _dimensions_first(context)
    if context.token is None or not context.done:
        return
    rest, name = context.rest, context.done[-1]
    before = context.done[-2] if len(context.done) > 1 else None
    message, min_tokens = "the type of a value belongs before its name", 1
    others: tuple[Edit, ...] = ()
    safe: Safe = True
    if context.token == ":" and len(rest) > 1:
        type = _type_at(context, rest[1:])
        is_label = before == "]" and context.done[0] == "["
        begins = is_label or before in {None, "(", ",", "<"}
        if not type or not begins or context.name(name) not in NAMES:
            return
        span, written = Span(name.at, type[0]), f"{type[1]} {name}"
    elif before is not None and context.name(before) == "PRIM":
        end = closing_index(rest) if context.token == "[" else 0
        if end is None or (context.token != "[" and context.name(context.token) != "NUMBERS"):
            return
        if context.name(name) not in NAMES:
            return
        span = Span(before.at, rest[end].end)
        written = f"{before}{context.text[context.at : span.end]} {name}"
        message = "dimensions belong after the element type"
    elif context.token == "=" and len(rest) > 1 and before in {None, ",", "<"}:
        type = _type_at(context, rest[1:])
        if not type or context.name(name) not in NAMES:
            return
        span, written = Span(name.at, type[0]), f"{type[1]} {name} ="
    elif before in {None, ","} and context.name(name) in NAMES and (type := _value_type(context)):
        span, written = Span(name.at, type[0]), f"{type[1]} {name}"
        others = tuple(_types_after_names(context, type[0]))
        # In `Float float`, `Float` is the type.
        known = type[1][-1] in "])" or occurs_elsewhere(context.text, name, span)
        safe = (known and all({"]", ")"} & {*edit.text} for edit in others)) or "evident"
    elif name in _ATTRIBUTE_TYPES and rest[1:2] == ["="] and in_attributes(context):
        span, written = Span(name.at, context.token.end), f"{context.token}: {name}"
        message, min_tokens = "the type of an attribute belongs after its name", 2
    else:
        return
    default = context.lexer.token(context.text, span.end)
    cut_off = "\n" in context.text[slice(*span)]  # the word may begin a line that is cut off
    safe = False if cut_off or (context.token == ":" and default == "=") else safe
    edits = (Edit(span, written), *others)
    old = " ".join([context.text[slice(*edit.span)] for edit in edits])
    new = " ".join([edit.text for edit in edits])
    translated = {*_WORD.findall(old)}.difference(_WORD.findall(new))
    if safe is True and not AMBIGUOUS.isdisjoint(translated):
        safe = "evident"
    title = _BEFORE_NAMES if others else written_title(written)
    yield Diagnosis("misplaced-type", message, span, edits, title, safe=safe, min_tokens=min_tokens)


def _types_after_names(context: ErrorContext, end: int) -> Iterator[Edit]:
    """Yield edits that move the types of further outputs, as in `a float, b float = Split (x)`.

    `end` is the end of the type of the first of these outputs.
    """
    ahead = [token for token in context.ahead if token.at >= end]
    if "value_info" in context.rules:
        return
    while ahead[:1] == [","] and len(ahead) > 2 and context.name(ahead[1]) in NAMES:
        name, type = ahead[1], _type_at(context, ahead[2:])
        if type is None:
            return
        yield Edit(Span(name.at, type[0]), f"{type[1]} {name}")
        ahead = [token for token in ahead if token.at >= type[0]]


def _value_type(context: ErrorContext) -> tuple[int, str] | None:
    """Return the type at the unexpected token, as `_type_at` does, if it ends a declaration.

    The declaration is that of a value or of an output of a node. Return None for other types.
    """
    type = _type_at(context, context.rest) if context.name(context.token) in TYPES else None
    if type is None:
        return None
    following = next((token for token in context.ahead if token.at >= type[0]), None)
    if "value_info" not in context.rules:  # an output of a node
        return type if following in {"=", ","} and "=" not in context.done else None
    return type if following in {None, ",", ")", ">", "="} else None


def _dimensions_first(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose dimensions before their element type: `[N, 3]float x`."""
    rest = context.rest
    end = closing_index(rest) if context.token == "[" else 0
    if end is None or (context.token != "[" and context.name(context.token) != "NUMBERS"):
        return
    type = rest[end + 1] if end + 1 < len(rest) else None
    if type is not None and (context.name(type) == "PRIM" or type in ALIASES):
        span = Span(context.at, type.end)
        written = f"{ALIASES.get(type, type)}{context.text[context.at : rest[end].end]}"
        message = "dimensions belong after the element type"
        safe: Safe = type not in AMBIGUOUS or "evident"
        yield rewritten("misplaced-type", message, span, written, safe=safe)


def _type_at(context: ErrorContext, tokens: list[Token]) -> tuple[int, str] | None:
    """Return the end and the text of the type at the start of some tokens; None if there is none.

    Types of other languages are translated.
    """
    first = tokens[0]
    match = TENSOR_TYPE.match(context.text, first.at)
    if match is not None:
        return match.end(), translated_type(match)
    stop = first.end
    if context.name(first) in TYPES:
        if tokens[1:2] == ["("]:
            end = closing_index(tokens[1:])
            if end is None:
                return None
            stop = tokens[1 + end].end
        elif context.name(first) == "CONTAINER":
            return None
        return stop, context.text[first.at : stop]
    if first not in ALIASES:
        return None
    end = closing_index(tokens[1:]) if tokens[1:2] == ["["] else None
    if end is not None:
        stop = tokens[1 + end].end
    elif tokens[1:] and context.name(tokens[1]) == "NUMBERS":
        stop = tokens[1].end
    return stop, ALIASES[first] + context.text[first.end : stop]


_NODE = 8
"""If at least this number of tokens parse as nodes, a block is a graph's body, not a section."""


def _has_nodes(context: ErrorContext, edit: Edit) -> bool:
    """Whether a block parses as the body of a graph if `edit` inserts inputs and outputs."""
    outcome = context.attempt(edit)
    return outcome is not None and (outcome.complete or outcome.count >= _NODE)


def graph_without_head(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `name =>` and `name {`.

    The inputs or outputs of a graph or function are missing, or a section is unknown or misplaced.
    """
    name, has_header = context.last, context.done[-2:-1] == [">"]
    if name is None or "node" in context.rules or not (len(context.done) == 1 or has_header):
        return
    if context.token == "=>" and context.before.takes("LPAR"):
        message, edit = "the function lacks its inputs", insert(context.at, "() ")
        help = f"write `{name} (x) =>`, with names as needed"
        yield advice("graph-without-inputs", message, name.span, help, edit)
    if context.token != "{":
        return
    skip_to, edit = end_of_block(context), insert(context.at, "() => () ")
    if name in SECTIONS:
        message = f"the section `{name}` belongs after the graph"
        help = "move it after the graph and the functions"
        yield Diagnosis("misplaced-section", message, name.span, help=help, skip_to=skip_to)
    elif context.is_certain([replace(context.token, "(")]) or nearest_name(name, SECTIONS):
        return
    elif context.name(context.lexer.token(context.text, context.at + 1)) in TYPES:
        return  # the `{` should be a `(`
    elif context.before.takes("LPAR"):
        if context.text.find("\n}", context.at) >= 0 and not _has_nodes(context, edit):
            yield no_section(name, skip_to)
            return
        message = "the graph or function lacks its inputs and outputs"
        span = Span(name.at, context.at + 1)
        help = f"write `{name} (float[N] x) => (float[N] y) {{`, with names and types as needed"
        yield advice("graph-without-inputs", message, span, help, edit, min_tokens=0)


def graph_value_without_head(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a graph that lacks name and outputs, in an attribute: `body = { y = Relu (x) }`."""
    if context.token != "=" or context.done[-3:-1] != ["=", "{"]:
        return
    brace, name = context.done[-2:]
    message = "a graph in an attribute needs a name, inputs and outputs"
    help = f"write `g () => ({name}) {{`; in `Loop` and `Scan`, with inputs in the first `()`"
    yield advice("graph-without-inputs", message, brace.span, help, insert(brace.at, "g () => () "))


def label_without_brackets(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a label without brackets: `conv1: y = Conv (x, w)`."""
    if context.token == ":" and len(context.done) == 1 and "node" in context.rules:
        name, rest = context.done[0], context.rest
        if rest[1:2] == ["="]:  # `:=` for `=`
            return
        if context.name(name) in NAMES and ("=" in rest or "," in rest):
            span = Span(name.at, context.token.end)
            message = "the label of a node must be in `[…]`"
            yield rewritten("missing-bracket", message, span, f"[{name}]", min_tokens=4)


def type_after_node(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose the type of an output after its node, as in MLIR: `y = Relu (x) : float[N]`."""
    if context.token != ":" or context.done or "node" not in context.rules or not context.ahead:
        return
    type = _type_at(context, context.ahead)
    if type and context.text[: context.at].rstrip().endswith(")"):
        message = "the type of an output belongs before its name"
        span, help = Span(context.at, type[0]), f"write `{type[1]} NAME = …`"
        yield advice("misplaced-type", message, span, help, Edit(span, ""), min_tokens=0)


def graph_among_nodes(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `else_branch = e () => …` among nodes: a `}` or the `<` of a node is missing."""
    match = _HEAD.match(context.text, context.line_start)
    if context.token != "=>" or match is None or match.end() < context.at:
        return
    before = context.text[: context.line_start].rstrip()
    comma = len(before) - 1 if before.endswith(",") else match.start(1)
    span = Span(comma, match.end(1))
    message = f"`{match[1]}` is a graph among the nodes of another graph"
    end = _END_OF_ATTRIBUTES.search(context.text, context.line_end)
    ends = end is not None and len(end[1]) <= indentation(context.text, context.line_end)
    skip_to = end.end() + 1 if end is not None and ends else None
    above = node_above(context.text, match.start(1))
    if above is not None and "node" in context.rules:
        yield replace_fields(missing_opening(above), replaces_errors=True, skip_to=skip_to)
    elif context.region.start < context.line_start:
        edits = (insert(comma, "}" if before.endswith(",") else "}, "),)
        title = "add the missing `}` before it"
        yield Diagnosis("unclosed-bracket", message, span, edits, title, min_tokens=4)
    elif "node" in context.rules:
        help = "add the missing `}` before it, or write it in the `<…>` of a node"
        result = Diagnosis("unclosed-bracket", message, span, help=help, skip_to=skip_to)
        yield replace_fields(result, replaces_errors=True, edit_cost=_GRAPH_AMONG_NODES)


_ONLY_A_FILE_NAME = re.compile(
    r"""(?:[A-Za-z]:)?[^\s{}<>()"#=:,]{1,4096}"""
    rf"(?:{'|'.join(map(re.escape, MODEL_SUFFIXES))})\s*"
)


def file_name(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose the name of a file in place of the text of a model."""
    is_model = context.region.states[0] == context.automaton.starts["model"]
    if is_model and _ONLY_A_FILE_NAME.fullmatch(context.text):
        end = len(context.text)
        message, help = "this is the name of a file, not a text", "read the file"
        yield Diagnosis("syntax-error", message, Span(0, end), help=help, skip_to=end + 1)


def prose(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a line of prose, such as `Here is the model:`, or `import onnx`."""
    match = _PROSE.match(context.text, context.line_start, context.line_end)
    bracket = context.innermost or context.bracket or "{"
    if match is None or bracket != "{":
        return
    if context.name(context.lexer.token(context.text, match.start(1))) in TYPES:
        return
    message, title = "this line is neither a statement nor a comment", "make it a comment"
    span, edits = Span(*match.span(1)), (insert(match.start(1), "# "),)
    yield Diagnosis("syntax-error", message, span, edits, title, replaces_errors=True)


def misplaced_attributes(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `y <axis = 1> = Softmax (x)` and `y = <axis = 1> Softmax (x)`."""
    done, token = context.done, context.token
    if done[-1:] == [">"] and token is not None and context.name(token) in NAMES:
        index = innermost_bracket(done[:-1])
        if index is not None and done[index] == "<":
            yield _misplaced_attributes(context, Span(done[index].at, done[-1].end), token.end)
    close = closing_index(context.rest) if token == "<" else None
    if close is None:
        return
    span = Span(context.at, context.rest[close].end)
    for before, after in pairwise(context.rest[close:]):
        if after == "(":
            yield _misplaced_attributes(context, span, before.end)
    code, message = "misplaced-attributes", "attributes belong after the operator"
    edits = (Edit(span, ""),)
    if {"header_entry", "value_info"} & context.rules:
        message = "unexpected `<…>`: only operators have attributes"
        title = "" if done[-1:] == ["="] else "remove it"
        yield Diagnosis(code, message, span, edits, title, min_tokens=2)
    elif done[-1:] == [">"]:
        message = "an operator has only one list of attributes"
        joined = (Edit(Span(done[-1].at, context.at + 1), ", "),)
        repeated = context.text.endswith(context.text[slice(*span)], 0, done[-1].end)
        surplus = repeated or close == 1  # `<>`
        changes, title = (edits, "remove it") if surplus else (joined, "join the lists")
        yield Diagnosis(code, message, span, changes, title, min_tokens=4)
    yield Diagnosis(code, message, span, edits, min_tokens=4)


def _misplaced_attributes(context: ErrorContext, span: Span, offset: int) -> Diagnosis:
    """Return the diagnosis of the attributes in `span`, which belong at `offset`."""
    end = span.end + context.text.startswith(" ", span.end)
    edits = (Edit(Span(span.start, end), ""), insert(offset, f" {context.text[slice(*span)]}"))
    message, title = "attributes belong after the operator", "move them there"
    return Diagnosis("misplaced-attributes", message, span, edits, title, safe=True, min_tokens=4)
