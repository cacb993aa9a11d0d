# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for operators, and for invalid text after or between nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.heuristics.certainty import is_defined
from onnxtext.syntax.heuristics.constructs.node_errors import NAMES, closing_index
from onnxtext.syntax.heuristics.diagnosis import (
    Diagnosis,
    advice,
    removed,
    rewritten,
    written_title,
)
from onnxtext.syntax.heuristics.error_context import (
    CLOSER,
    ErrorContext,
    begins_line,
    indentation,
    innermost_bracket,
    insert,
    replace,
)

_MAX_BLOCK = 4000
"""Maximum number of characters of a block that a heuristic inspects."""
_OPERATOR = re.compile(
    r"=[ \t]*(?P<name>[A-Za-z_]\w*(?:(?:::|/|-|\.+)[A-Za-z_]\w*)+)(?P<overload>:\w+)?[ \t]*(?=[<(])"
)
_SEPARATOR = re.compile(r"::|/|\.+")
_OUTPUTS = re.compile(r"[-=]>(?![ \t]*\([ \t\r]*$)[^\n#{}]*", re.MULTILINE)
_ATTRIBUTES = re.compile(
    r"\w+[ \t]*=[ \t]*(?:[^\s()<>{}#\"]|\"[^\"\n]*\"|[ \t](?=[^\n#]))+$", re.MULTILINE
)
_MAKE_NODE = re.compile(
    r"""([ \t]*)((?:\w+[ \t]*=[ \t]*)?(?:onnx\.)?(?:helper\.|oh\.)?make_node[ \t]*\([ \t]*)"""
    r"""["'](?P<operator>\w+)["'][ \t]*,[ \t]*(?:inputs[ \t]*=[ \t]*)?\[(?P<inputs>[^\]\n]*)\]"""
    r"""[ \t]*,[ \t]*(?:outputs[ \t]*=[ \t]*)?\[(?P<outputs>[^\]\n]*)\]"""
    r"""(?P<attributes>[^()\n]*)\),?"""
)
_QUOTED = re.compile(r"""["']([^"'\n]*)["']""")
_CALL = re.compile(r"\.[ \t]*\w[^\n#{}]*")


def operator_separators(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose an operator with a domain as in other languages: `ai.onnx::Abs`, `my/Scale`."""
    if "node" not in context.rules:
        return
    match = _OPERATOR.search(context.text, context.line_start, context.line_limit)
    if match is None or not match.start("name") <= context.at <= match.end():
        return
    name = match["name"]
    parts = _SEPARATOR.split(name)
    written = ".".join([part if part.isidentifier() else f'"{part}"' for part in parts])
    if len(parts) < 2 or written == name:
        return
    span = Span(*match.span("name"))
    message = "the domain and the name of an operator are separated by `.`"
    domain, _, last = written.rpartition(".")
    if len(parts) == 2 and domain == "onnx":  # the default domain, as in TorchScript
        message, written = "an operator of ONNX needs no domain", last
    # A separator other than `::` may be a typo in a name. `Op::v` may be `Op:v`.
    certain = domain == "onnx" or ("." in domain and last[:1].isupper())
    known = f'"{domain}"' in context.text or ("::" in name and "/" not in name and certain)
    yield rewritten("wrong-mark", message, span, written, safe=known)


def missing_inputs(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose attributes on several lines without inputs: `y = Op <`, `a = 1,`, `>`."""
    done, token = context.done, context.token
    if "node" not in context.rules or done[-1:] != [">"]:
        return
    if token is not None and (token == "(" or not begins_line(context.text, token.at)):
        return
    index = innermost_bracket(done[:-1])
    if not index or context.text.find("\n", done[index].at, done[-1].at) < 0:
        return
    operator = done[index - 3 if done[index - 2] == ":" else index - 1]
    message = "the inputs of this operator are missing"
    if operator == "=":
        return
    edit, help = insert(done[-1].end, " ()"), f"write `(…)` after `{operator}`"
    yield advice("syntax-error", message, operator.span, help, edit, min_tokens=0)


def after_node(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose invalid text after a node: `Add (x, y) (z)`, `Slice (x)[0:1]`, `Abs (x) => (y)`."""
    text, token, done = context.text, context.token, context.done
    closed = not done or (done[-1] in {")", ">"} and context.innermost is None)
    first = token if closed else done[0]
    if token is None or first is None or "node" not in context.rules:
        return
    before = text[: first.at].rstrip(" \t")
    line = before[before.rfind("\n") + 1 :]
    after_attributes = text[first.at] == "(" and line.lstrip().startswith(">")
    if not before.endswith((")", ">")) or not ("=" in line or after_attributes):
        return
    if text[first.at] in "[(":
        tokens = context.lexer.tokens(text, first.at, max(first.end, context.line_limit))
        end = closing_index(tokens) if tokens[:1] and tokens[0] in CLOSER else 0  # 0: no bracket
        if not tokens or end is None or "=" in tokens[1 : end + 2]:
            return
        span = Span(first.at, tokens[end].end)
        message = "a node cannot have a second list of inputs"
        help = "remove this list, or write another node"
        if text[first.at] == "[":
            message = "an output cannot have a subscript"
            help = "write another node, such as `Gather` or `Slice`"
    elif (match := _OUTPUTS.match(text, first.at)) is not None:
        span = Span(first.at, first.at + len(match[0].rstrip()))
        message, help = "the outputs of a node belong before its operator", "remove them here"
    elif (match := _ATTRIBUTES.match(text, first.at)) is not None:
        span = Span(*match.span())
        edits = (insert(span.start, "<"), insert(span.end, ">"))
        message, title = "the attributes of a node must be in `<…>`", "write `<…>`"
        yield Diagnosis("missing-bracket", message, span, edits, title)
        skip_to = context.line_end + 1  # the parser has completed the node
        yield Diagnosis("missing-bracket", message, span, help=title, skip_to=skip_to)
        return
    elif text[first.at] == ":" and not context.ahead and _deeper_line_follows(context):
        message = "expected `<` before the attributes, found `:`"
        edit = replace(first, "= A () <")
        yield advice("wrong-mark", message, first.span, "write `<`", edit, min_tokens=4)
        return
    elif (match := _CALL.match(text, first.at)) is not None:
        span = Span(first.at, first.at + len(match[0].rstrip()))
        message = "an output has no methods: every operation must be a node"
        help = "write another node with this output as its input"
    else:
        return
    yield advice("syntax-error", message, span, help, Edit(span, ""))


def _deeper_line_follows(context: ErrorContext) -> bool:
    """Whether the next line is indented deeper than the line of the error."""
    text, token = context.text, context.lexer.token(context.text, context.at + 1)
    margin = indentation(text, context.line_end)
    return token is not None and indentation(text, token.at) > margin


def made_by_helper(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a call of onnx.helper: `u = helper.make_node("Abs", ["x"], ["u"], axis=1)`."""
    match = _MAKE_NODE.match(context.text, context.line_start, context.line_limit)
    if match is None or "node" not in context.rules or context.at > match.end():
        return
    inputs, outputs = (", ".join(_QUOTED.findall(match[name])) for name in ("inputs", "outputs"))
    attributes = match["attributes"].strip(", \t").replace("'", '"')
    operator = f"{match['operator']} <{attributes}>" if attributes else match["operator"]
    written = f"{outputs} = {operator} ({inputs})"
    span = Span(match.start(2), match.end())
    message = "a node is written as a statement, not as a call of `make_node`"
    yield Diagnosis("not-a-name", message, span, (Edit(span, written),), written_title(written, 72))


def operator_before_equals(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose an operator beside the output of its node: `Relu y = (x)` and `y Relu = (x)`."""
    token, first = context.token, context.last
    if token is None or first is None or len(context.done) != 1:
        return
    follows = context.ahead[:2] in (["=", "("], ["=", "<"])
    if not follows or "node" not in context.rules or context.name(token) not in NAMES:
        return
    names, equals = (first, token), context.ahead[0]
    # Names of values occur elsewhere: in `Y Relu = (x)`, `Y` may be an input of another node.
    values = [name for name in names if is_defined(context.text, name, names)]
    is_second = token[0].isupper() and token not in values
    is_second = is_second and (not first[0].isupper() or first in values)
    operator, output = (token, first) if is_second else names
    if not operator[0].isupper():
        return
    edits = (Edit(Span(first.at, equals.end), f"{output} = {operator}"),)
    message, title = "the operator of a node belongs after the `=`", f"write `{edits[0].text} …`"
    yield Diagnosis("syntax-error", message, operator.span, edits, title)


def comma_after_node(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a comma between two nodes if the second one has a label or a decorator."""
    done = context.done
    if done != [","] or "node" not in context.rules or context.token is None:
        return
    if context.token == "[" or context.name(context.token) == "DECORATOR":
        message, span = "a comma between two nodes", done[0].span
        yield removed("syntax-error", message, span, "remove `,`", min_tokens=2)


def block_among_nodes(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose braces around nodes, as in C, or around the model, as in JSON; and a second body."""
    token = context.token
    if token != "{" or context.done or not begins_line(context.text, context.at):
        return
    tokens = context.lexer.tokens(context.text, context.at, context.at + _MAX_BLOCK)
    end = closing_index(tokens)
    if end is None:
        return
    if "function" in context.rules and context.text.endswith("}", 0, context.previous_end):
        message = "a graph or function has only one body in braces"
        help = "remove the body, or write the first line of a function, such as `f (x) => (y) {`"
        skip_to = tokens[end].end + 1
        yield Diagnosis("syntax-error", message, token.span, help=help, skip_to=skip_to)
    text, close = context.text, tokens[end].at
    indented = indentation(text, close) >= indentation(text, context.at)
    own = not begins_line(text, close) or indented
    if ("node" in context.rules and own) or "model" in context.rules:
        edits = (replace(tokens[0], ""), replace(tokens[end], ""))
        parts = "nodes" if "node" in context.rules else "the parts of a model"
        message, title = f"{parts} cannot be in braces", "remove the braces"
        yield Diagnosis("syntax-error", message, token.span, edits, title, min_tokens=3)
