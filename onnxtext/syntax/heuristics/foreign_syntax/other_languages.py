# SPDX-License-Identifier: Apache-2.0
"""Error heuristics: syntax of Python, C++, MLIR, JSON and protobuf text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.heuristics.certainty import is_certain_comma, occurs_elsewhere
from onnxtext.syntax.heuristics.constructs.graph_errors import MAX_HEADER_LENGTH
from onnxtext.syntax.heuristics.constructs.node_errors import (
    ELEMENT_ATTRIBUTES,
    NAMES,
    bracketed,
    in_attributes,
    inputs_bracket,
    unopened_bracket,
)
from onnxtext.syntax.heuristics.constructs.token_errors import ALIASES
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, removed, rewritten
from onnxtext.syntax.heuristics.error_context import (
    CLOSING,
    OPENING,
    ErrorContext,
    indentation,
    insert,
    line_of,
    replace,
)
from onnxtext.tensor.element_types import ELEMENTS

FOREIGN_WORDS = frozenset((
    "async", "auto", "await", "call", "const", "constexpr", "def", "fn", "func", "function",
    "graph", "import", "initializer", "input", "inputs", "let", "module", "new", "node", "output",
    "outputs", "param", "return", "static", "tensor", "val", "var", "yield",
))  # fmt: skip
_OTHER_FORMATS = (
    (re.compile(r'\s*\{\s*"'), "JSON"),
    (
        re.compile(r"\s*(?:builtin\.)?(?:module\b[^\n<(]*|(?:func\.)?func[ \t]+[^\n<(]*@[^\n]*)\{"),
        "MLIR",
    ),
    (
        re.compile(r"\s*[a-z_]+: *(?:-?[0-9]+|\"[^\"\n]*\")[^\S\n]*\n\s*[a-z_]+ *[:{]"),
        "protobuf text",
    ),
    (re.compile(r"\s*graph\(%"), "a graph of TorchScript"),
    (re.compile(r"\s*graph\s+[^\s({]+\s*\(\s*%"), "the output of onnx.helper.printable_graph"),
    (
        re.compile(r"\s*(?:<\s*ir_version=\d+,\s*opset_imports=|graph\(\s*name=)"),
        "the output of onnx_ir",
    ),
)
TENSOR_TYPE = re.compile(
    r"[Tt]ensor *(?:\((?P<onnx>[a-z][a-z0-9]*(?:\[[^]\n]*\])?)\)"
    r"|<(?P<sizes>(?:(?:[0-9?]+|[A-Z]\w*?)x)*)(?P<mlir>[A-Za-z]\w*)(?:, *(?P<list>\[[^]\n]*\]))?>)"
    r"(?P<dims>\[[^]\n]*\])?"
)
"""Matches `tensor<2x3xf32>`, `tensor<float, [2]>`, `tensor(float)[2]` and `tensor(float[2])`."""
_DOTTED_TYPE = re.compile(r"(?:np|numpy|torch|tf|jnp|ml_dtypes)\.(\w+)")
_CONTROL = re.compile(
    r"[ \t]*(?:[\w, ]+=[ \t]*)?\}?[ \t]*"
    r"((?:if|elif|else|for|while|switch|case|do|try|except|with|class)\b(?![ \t]*[=,.:<])"
    r"|(?:If|Loop|Scan)(?=[ \t]*\([^()\n]*\)[ \t]*\{))"
)
_ELSE = re.compile(r"[ \t]*(?:\}[ \t]*)?(?:else|elif|except|catch|finally|while)\b")
_OPERATOR_FOR = {
    **dict.fromkeys(("for", "while", "do"), "Loop"),
    **dict.fromkeys(("if", "elif", "else", "switch", "case"), "If"),
}
_DEF = re.compile(r"(def|fn|func|fun|function)[ \t]+(?=[\w\"])")
_ANNOTATED = re.compile(r"(\w+)[ \t]*:[ \t]*(\w+(?:\[[^\]\n]*\])?)")
_RETURN = re.compile(r"^[ \t]+(return\b[^\n]*)", re.MULTILINE)


def other_format(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a text in another format, such as JSON, MLIR or protobuf text."""
    for pattern, name in _OTHER_FORMATS:
        match = pattern.match(context.text)
        if match is not None and context.at <= match.end():
            yield Diagnosis(
                "other-format",
                f"this is {name}, not the text form of ONNX",
                Span(len(context.text) - len(context.text.lstrip()), context.at + 1),
                help="convert the binary model with `onnxtext from-binary`; if you have none, save "
                "one with the tool that wrote this text",
                skip_to=len(context.text) + 1,
            )


_NEAR = 1000
"""Number of characters before and after a word in which it may be written again."""


def foreign_words(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose words of other languages: `const float[3] x`, `graph main (…)`, `return y`."""
    if context.token is None or not context.done or context.done[-1] not in FOREIGN_WORDS:
        return
    word = context.done[-1]
    rest = [token for token in context.rest if token != ";"]
    begins = word in {"await", "return", "yield"} and len(context.done) == 1
    call = word == "return" and context.token == "(" and "=" not in rest
    if context.name(context.token) not in NAMES | {"TYPE"} and not call:
        return
    listed = "(" in {context.innermost, context.bracket} and context.name(context.token) in NAMES
    near = context.text[max(0, word.at - _NEAR) : word.end + _NEAR]
    # As in `(input x, input y)` and `(input x, float input)`.
    again = len(re.findall(rf"\b{word}[ \t]+[\w\"]", near)) > 1
    again = again or line_of(context.text, word.at).count(word) > 1
    if listed and not again and is_certain_comma(context):  # `output` is a name in `(output y)`
        return
    if begins and "=" not in rest:
        names = rest[1:-1] if rest[0] == "(" and rest[-1] == ")" else rest
        if word == "return" and all(context.name(t) in NAMES or t == "," for t in names):
            span = Span(word.at, context.rest[-1].end)
            message = "the outputs of a graph belong after `=>` in its first line"
            edits = (Edit(span, ""),)
            yield Diagnosis("foreign-word", message, span, edits, "remove it", min_tokens=0)
        else:
            message = f"`{word}` does not belong here"
            help = f"write `NAME = {context.token} …`"
            if word == "return":
                help += ", and list NAME in the first line after `=>`"
            edits = (insert(context.at, "= "),)
            yield Diagnosis("foreign-word", message, word.span, edits, help=help, min_tokens=2)
        return
    if context.next_statement == context.at:  # the word ends an incomplete statement
        return
    extra = [Edit(Span(word.at, context.at), "")]
    extra += [replace(token, "") for token in context.rest if token == ";"]
    message = f"`{word}` does not belong here"
    title = f"remove `{word}`"
    yield Diagnosis("foreign-word", message, word.span, tuple(extra), title, min_tokens=3)
    if len(context.done) == 1 and "node" in context.rules:
        edits = (insert(context.at, "= "),)
        help = "remove this line, or write a node, such as `y = Op (x)`"
        yield Diagnosis("foreign-word", message, word.span, edits, help=help, min_tokens=3)


def translated_type(match: re.Match[str]) -> str:
    """Return the type for a match of `TENSOR_TYPE`."""
    element = match["mlir"] or match["onnx"]
    sizes = (match["sizes"] or "").rstrip("x").replace("x", ", ")
    dims = match["list"] or match["dims"] or (f"[{sizes}]" if sizes else "")
    return f"{ALIASES.get(element, element)}{dims}"


def tensor_types(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose types of other languages: `tensor<2xf32>`, `tensor(float)[2]`, `np.int8`."""
    dotted = _DOTTED_TYPE.match(context.text, context.done[-1].at) if context.done else None
    if context.token == "." and dotted is not None:
        element = ALIASES.get(dotted[1], dotted[1])
        attribute = context.done[-3] if context.done[-2:-1] == ["="] and context.done[2:] else ""
        if element in ELEMENTS and attribute not in ELEMENT_ATTRIBUTES:
            message, span = f"`{dotted[0]}` is not a type", Span(*dotted.span())
            yield rewritten("unknown-type", message, span, element, safe=not attribute)
        return
    if context.token == ")" and context.done[-2:-1] == ["("] and len(context.done) > 2:
        first = context.done[-3]  # in an attribute, the parser reads `tensor (float` as a graph
    elif context.token in {"<", "("} and context.done:
        first = context.done[-1]
    else:
        return
    match = TENSOR_TYPE.match(context.text, first.at)
    if match is None:
        return
    written = translated_type(match)
    span = Span(*match.span())
    message = "a tensor type must be written as an element type and dimensions"
    yield rewritten("unknown-type", message, span, written)


def control_flow(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose whole blocks such as `if (x) {…} else {…}` and `for i in range(3):`."""
    match = _CONTROL.match(context.text, context.line_start, context.line_limit)
    if match is None:
        return
    word = match[1]
    operator = _OPERATOR_FOR.get(word)
    message = f"`{word}` is not supported"
    help = f"use the operator `{operator}`, whose graph attributes hold the bodies"
    if word[0].isupper():
        operator, message = word, f"a block cannot follow `{word} (…)`"
        help = "write the bodies as graph attributes"
    if operator is None:
        help = "remove this block"
    elif operator == "If":
        help += ": `y = If (c) <then_branch = t () => (z) {…}, else_branch = e () => (z) {…}>`"
    end = _end_of_block(context)
    span = Span(match.start(1), match.end(1))
    yield Diagnosis("foreign-word", message, span, help=help, skip_to=end + 1)


def _end_of_block(context: ErrorContext) -> int:
    """Return the end of the block that begins on this line, including its `else` branches."""
    text, end = context.text, context.line_end
    indent = indentation(text, end)
    depth = 0
    line = text[context.line_start : end]
    while True:
        depth += line.count("{") - line.count("}")
        if end >= len(text):
            return end
        stop = text.find("\n", end + 1)
        stop = len(text) if stop < 0 else stop
        line = text[end + 1 : stop]
        deeper = indentation(text, stop) - indent
        if line.strip() and deeper <= 0 and not _ELSE.match(line) and (deeper or depth <= 0):
            return end
        end = stop


def python_head(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a graph that begins like a Python function: `def main (x) -> (y):`."""
    line = context.text[context.line_start : context.line_limit]
    match = _DEF.match(line.lstrip())
    if match is None or "node" in context.rules:
        return
    start = context.line_start + len(line) - len(line.lstrip())
    edits = [Edit(Span(start, start + match.end()), "")]
    arrow = context.text.find("->", start, context.line_end)
    if arrow >= 0:
        edits.append(Edit(Span(arrow, arrow + 2), "=>"))
    stripped = line.rstrip()
    if stripped.endswith(":"):
        colon = context.line_start + len(stripped) - 1
        edits.append(Edit(Span(colon, colon + 1), " {" if arrow >= 0 else " => () {"))
    if len(edits) == 1:
        return
    for typed in _ANNOTATED.finditer(context.text, start, context.line_end):
        edits.append(Edit(Span(*typed.span()), f"{typed[2]} {typed[1]}"))
    returned = _RETURN.search(context.text, context.line_end, context.line_end + MAX_HEADER_LENGTH)
    if returned is not None:
        edits.append(Edit(Span(*returned.span(1)), ""))
    message = (
        f"`{match[1]}` does not belong here: a graph must have the form `NAME (…) => (…) {{…}}`"
    )
    span = Span(start, start + len(match[1]))
    help = "write `NAME (float[N] x) => (float[N] y) {` and, after the nodes, `}`"
    min_tokens = 1 if returned is None else 0
    yield Diagnosis("foreign-word", message, span, tuple(edits), help=help, min_tokens=min_tokens)


"""Matches `//` and a text that cannot be its right operand."""
_PUNCTUATION = re.compile(r"[,;](?:[ \t]*[,;])*")


def semicolon(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `;` after a statement or in place of `,`, `:` or `=`; and `,` after a statement."""
    ended = {*context.done} == {","} and "node" in context.rules
    if ended and context.token is not None and context.token in {"}", ",", ";"}:
        match = _PUNCTUATION.match(context.text, context.done[0].at)
        assert match is not None
        message = f"unexpected `{match[0]}`: statements do not end with punctuation"
        span, title = Span(*match.span()), f"remove the `{match[0]}`"
        yield removed("semicolon", message, span, title, safe=True, min_tokens=0)
    if context.token == ";":
        span, after_comma = context.token.span, context.text.endswith(",", 0, context.previous_end)
        comment = _is_comment(context)
        if comment and after_comma:
            message, whole = "a comment must start with `#`", Span(span.start, context.line_end)
            words = context.text[span.end : whole.end].strip()
            yield rewritten("slash-comment", message, whole, f"# {words}", min_tokens=0)
        among_outputs = "node" in context.rules and "=" not in context.done
        separates = _separates(context)
        expected = set(context.expected())
        if separates and "COMMA" in expected and not after_comma:
            message = "expected `,`, found `;`"
            is_key = "COLON" in expected and context.ahead[:1] in (["["], ["{"])
            safe = not (among_outputs or is_key or comment)
            yield rewritten("semicolon", message, span, ",", safe=safe, min_tokens=3)
        for kind, mark in (("COLON", ":"), ("EQUAL", "=")):
            if expected == {kind} or (kind in expected and in_attributes(context)):
                message = f"expected `{mark}`, found `;`"
                safe = context.name(context.done[-1]) not in {"PRIM", "TYPE"}
                yield rewritten("semicolon", message, span, mark, safe=safe, min_tokens=3)
        reason = " after `,`" if after_comma else ": statements do not end with punctuation"
        around = context.text[span.start - 1 : span.start] + context.text[span.end : span.end + 1]
        doubtful = comment or (after_comma and context.ahead)
        safe = not (doubtful or (around.isalnum() and len(around) == 2))
        message, title = f"unexpected `;`{reason}", "remove the `;`"
        yield removed("semicolon", message, span, title, safe=safe, min_tokens=0)


def _is_comment(context: ErrorContext) -> bool:
    """Whether only words follow on the line, and not only names, as in `x, ; a comment`."""
    words = [token for token in context.ahead if context.name(token) == "WORD"]
    known = all(occurs_elsewhere(context.text, word, word.span) for word in words)
    return words == context.ahead and not known


def _separates(context: ErrorContext) -> bool:
    """Whether the unexpected token is between two items of a list."""
    done, ahead = context.done, context.ahead
    if not done:
        return "node" not in context.rules
    if context.name(done[0]) == "DECORATOR" and unopened_bracket(done[1:]) == len(done) - 2:
        return False  # the decorator ends here, and the item it describes follows
    return done[-1] not in OPENING and not (ahead and ahead[0] in {*CLOSING, ",", "="})


def keyword_arguments(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose attributes among the inputs, as in `Softmax (x, axis = 1)`."""
    index = inputs_bracket(context)
    if context.token != "=" or index is None or context.done[-2] not in {"(", ","}:
        return
    if context.done[-1][0] == '"':  # names of attributes rarely have quotes
        message = "expected `,`, found `=`"
        yield rewritten("wrong-mark", message, context.token.span, ",", min_tokens=2)
    inside = bracketed(context, context.done[index])
    # If a `}` closes the graph around the node, the `)` belongs to something after it.
    depth = sum((token == "{") - (token == "}") for token in inside)
    if not inside or depth:
        return
    first, text = context.done[-1], context.text
    last = next(token for token in reversed(inside[:-1]) if token != ",")
    written = text[first.at : last.end]  # without comments after the last attribute
    start = context.done[-2].end if context.done[-2] == "(" else context.done[-2].at
    after = context.done[index - 1].end
    blank = "" if text[after : after + 1].isspace() else " "
    remove = Edit(Span(start, inside[-2].end), "")
    message = "attributes belong in `<…>` after the operator, not among the inputs"
    span = Span(first.at, first.at + len(written))
    moved = (insert(after, f" <{written}>{blank}"), remove)
    yield Diagnosis("misplaced-attributes", message, span, moved, "move them there", safe=True)
    help = f"write them as `{context.done[index - 1]} <…> (…)`"
    yield Diagnosis("misplaced-attributes", message, span, (remove,), help=help)
