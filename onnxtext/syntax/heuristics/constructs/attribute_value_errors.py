# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for the types and values of attributes and parameters, and for references."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.syntax.heuristics.certainty import occurs_elsewhere
from onnxtext.syntax.heuristics.constructs.node_errors import NAMES, in_attributes
from onnxtext.syntax.heuristics.diagnosis import Diagnosis, advice, removed, rewritten
from onnxtext.syntax.heuristics.error_context import ErrorContext, insert, replace
from onnxtext.syntax.heuristics.foreign_syntax.other_languages import FOREIGN_WORDS

ATTRIBUTE_TYPES = frozenset((
    "int", "float", "string", "tensor", "graph", "sparse_tensor", "type_proto", "ints", "floats",
    "strings", "tensors", "graphs", "sparse_tensors", "type_protos",
))  # fmt: skip
_LISTS = frozenset(("ints", "floats", "strings"))
_NO_STRINGS = ATTRIBUTE_TYPES - {"string", "strings", "graph", "graphs"}
_BEFORE_NAMES = frozenset(("<", ","))
_LAST_WORD = re.compile(r"(\w+)\s*\Z")
_SHORTEST_WORD = 3
"""If a part of a name is shorter, the fix joins the parts: `ax es` becomes `axes`, not `ax_es`."""
_PARAMETERS = 20_000
"""Number of characters to search for a parameter before a reference to it."""


def _in_list(context: ErrorContext) -> bool:
    """Whether the unexpected token is among attributes of a node or parameters of a function."""
    parameters = "parameter" in context.rules or "function" in context.rules
    return in_attributes(context) or parameters


def _begins_item(done: list[Token]) -> bool:
    """Whether the last token begins an attribute or parameter."""
    return len(done) == 1 or (len(done) > 1 and done[-2] in _BEFORE_NAMES)


def types_without_colon(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `alpha float = 0.1`, `alpha; float = 0.1` and `axis = int = 0`."""
    done, token, ahead, rest = context.done, context.token, context.ahead, context.rest
    if token is None or not done or not _in_list(context):
        return
    message = "expected `:` between the name of an attribute and its type"
    code, title = "misplaced-type", "write `:`"
    if done[-1] in ATTRIBUTE_TYPES and done[-2:-1] == ["="] and token == "=":
        if not _begins_item(done[:-2]):
            return
        edit, span = Edit(Span(done[-3].end, done[-2].end), ":"), done[-2].span
    elif token == ";" and ahead[:1] and ahead[0] in ATTRIBUTE_TYPES and _begins_item(done):
        edit, span, code = replace(token, ":"), token.span, "semicolon"
        message = "expected `:`, found `;`"
    elif token in ATTRIBUTE_TYPES and ahead[:1] == ["="] and _begins_item(done):
        if context.name(done[-1]) not in NAMES or done[-1] in ATTRIBUTE_TYPES:
            return
        edit, span, title = insert(done[-1].end, ":"), token.span, "add `:`"
    else:
        return
    type = next(word for word in (done[-1], *rest) if word in ATTRIBUTE_TYPES)
    values = [value for mark, value in pairwise(rest) if mark == "="][:1]
    is_list = any(value[0] == "[" for value in values)
    safe = is_list == (type in _LISTS)
    yield Diagnosis(code, message, span, (edit,), title, safe=safe, min_tokens=2)


def called_number(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `axis = int(0)`: the parser reads `int(` as the beginning of a graph."""
    done, token = context.done, context.token
    if token is None or done[-3:] != ["=", "int", "("] or context.ahead[:1] != [")"]:
        return
    if context.name(token) in {"INT", "FLOAT"}:
        span = Span(done[-2].at, context.ahead[0].end)
        message = "a number must not be in a call such as `int(…)`"
        is_integer = context.name(token) == "INT"
        yield rewritten("misplaced-type", message, span, str(token), safe=is_integer)


def types_without_equals(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose `pads = ints[1, 1]`, `pads = int[1, 1]` and `pads: ints [1, 1]`."""
    done, token = context.done, context.token
    if token is None or len(done) < 3 or not in_attributes(context):
        return
    type = "ints" if done[-1] == "int" else str(done[-1])
    if type in _LISTS and done[-2] == "=" and context.name(token) == "NUMBERS":
        if _begins_item(done[:-2]):
            span, written = Span(done[-3].end, token.at), f": {type} = "
            message = "the type of an attribute belongs before `=`"
            title, edits = f"write `{done[-3]}{written}…`", (Edit(span, written),)
            safe = done[-1] == type
            yield Diagnosis("misplaced-type", message, done[-1].span, edits, title, safe=safe)
    elif token in {">", ","} and context.name(done[-1]) == "NUMBERS" and done[-3] == ":":
        message, edits = "expected `=` before the list", (insert(done[-2].end, " ="),)
        yield Diagnosis("missing-equals", message, done[-1].span, edits, "add `=`", safe=True)


def missing_value(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose an attribute without a value: `alpha: float = >`."""
    done, token = context.done, context.token
    if token is None or token not in {">", ","} or done[-1:] != ["="] or not _in_list(context):
        return
    if context.ahead and context.accepts([replace(token, "")]):
        return  # the value follows: the unexpected token is superfluous
    message = "incomplete statement: expected a value after `=`"
    edit, help = insert(done[-1].end, " 0"), "write the value, or remove the attribute"
    yield advice("incomplete-statement", message, done[-1].span, help, edit)


def tensor_values(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a tensor without a type: `value: tensor = {10}`, `Constant <value = true>`."""
    tokens = [*context.done, *context.rest[:1]]
    if not in_attributes(context):
        return
    for name, mark, token in zip(tokens[-4:], tokens[-3:], tokens[-2:], strict=False):
        if mark == "=" and _needs_tensor(context, name):
            yield from _untyped_tensor(context, token)


def _needs_tensor(context: ErrorContext, name: Token) -> bool:
    """Whether an attribute must be a tensor; `name` is the token before the `=`: a name or type."""
    if name == "tensor":
        return context.text[: name.at].rstrip().endswith(":")
    return name == "value" and _operator(context) in {"Constant", "ConstantOfShape"}


def _untyped_tensor(context: ErrorContext, token: Token) -> Iterator[Diagnosis]:
    if context.name(token) == "BRACES" or token == "{":
        message = "a tensor in an attribute needs a type"
        help = "write its type and shape before the numbers, such as `float[2] {1, 2}`"
        yield advice("syntax-error", message, token.span, help, insert(token.at, "float[1] "))
    elif token in {"true", "false", "True", "False"}:
        message, written = f"`{token}` is not a tensor", f"bool({token.lower()})"
        yield rewritten("python-literal", message, token.span, written)


def _operator(context: ErrorContext) -> str:
    """Return the name of the operator whose attributes contain the error; "" if unknown."""
    if "attribute" in context.rules:
        end = 0 if context.opened is None else context.opened.start
        word = _LAST_WORD.search(context.text, max(0, end - 100), end)
        return "" if word is None else word[1]
    index = next((index for index, token in enumerate(context.done) if token == "<"), 0)
    return context.done[index - 1] if index else ""


def blank_after_minus(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a blank between `-` and a number: `axis = - 1`."""
    if context.token != "-" or not context.ahead or "INT" not in context.expected():
        return
    number = context.ahead[0]
    if context.name(number) not in {"INT", "FLOAT"} or number[0] == "-":
        return
    message = "a number cannot have a blank after its minus sign"
    # In `=- 1`, the `-` may be a typo.
    safe = context.text[context.at - 1] in " \t\n[({,"
    span = Span(context.at, number.end)
    yield rewritten("syntax-error", message, span, f"-{number}", safe=safe)


def spaced_names(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a blank in the name of an attribute: `kernel shape = [3, 3]`."""
    done, token = context.done, context.token
    if token is None or not done or not in_attributes(context) or not _begins_item(done):
        return
    words = context.name(token) == context.name(done[-1]) == "WORD"
    blanks = context.text[done[-1].end : context.at]
    if not words or done[-1] == token or context.ahead[:1] != ["="] or blanks.strip(" \t"):
        return
    if {done[-1], token} & (ATTRIBUTE_TYPES | FOREIGN_WORDS) or "\n" in blanks:
        return
    span = Span(done[-1].at, token.end)
    joined = f"{done[-1]}{token}"
    short = min(len(done[-1]), len(token)) < _SHORTEST_WORD or "_" in joined
    repeated = occurs_elsewhere(context.text, joined, span)
    written = joined if short or repeated else f"{done[-1]}_{token}"
    message = "the name of an attribute must not contain blanks"
    yield rewritten("syntax-error", message, span, written, min_tokens=2)


def references(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose wrong references to parameters: `alpha: float = alpha`, `= $alpha`, `<@alpha>`."""
    done, token = context.done, context.token
    if token is None or not in_attributes(context) or "parameter" in context.rules:
        return
    text = context.text
    if text.startswith("@", context.at) and (not done or done[-1] in _BEFORE_NAMES):
        name = context.lexer.token(text, context.at + 1)
        if name is None or name.at > context.at + 1 or context.name(name) != "WORD":
            return
        if context.lexer.token(text, name.end) == "=":
            message = "the name of an attribute must not begin with `@`"
            span = Span(context.at, name.at)
            yield removed("wrong-mark", message, span, "remove `@`", min_tokens=2)
        else:
            message = "a reference needs the name of its attribute: `NAME: TYPE = @…`"
            help = f"write `{name}: float = @{name}`, with the type of the parameter"
            span, edit = Span(context.at, name.end), insert(context.at, f"{name} = ")
            yield advice("syntax-error", message, span, help, edit)
        return
    if len(done) > 2 and token in {",", ">"} and done[-2] == "=":
        name, span = done[-1], done[-1].span
        if context.name(name) != "WORD" or not _is_parameter(context, name):
            return
        if done[-3] not in _NO_STRINGS and done[-3] != name:
            return
    else:
        yield from _other_reference(context)
        return
    yield rewritten("syntax-error", f"expected `@` before the parameter `{name}`", span, f"@{name}")


_OTHER_REFERENCE = re.compile(
    r"=[ \t]*(?P<written>(?:self\.|attrs?\.)?(?P<marked>[^\s,<>()\[\]=]+))(?=[ \t]*[,>])"
)


def _other_reference(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a reference to a parameter with other marks: `= self.alpha`, `= &alpha`, `= !@a`."""
    equals = next((token for token in reversed(context.done) if token == "="), None)
    match = None if equals is None else _OTHER_REFERENCE.match(context.text, equals.at)
    if match is None or context.at >= match.end():
        return
    if match["marked"].startswith("-"):
        return  # a reference cannot have a sign
    name = re.sub(r"\W", "", match["marked"])
    if name and _is_parameter(context, name):
        message = f"expected `@{name}`, found `{match['written']}`"
        yield rewritten("syntax-error", message, Span(*match.span("written")), f"@{name}")


def _is_parameter(context: ErrorContext, name: str) -> bool:
    """Whether a function before the error has a parameter of this name."""
    pattern = rf"<[^<>\n]*\b{re.escape(name)}\b[^<>\n]*>[ \t]*\([^()\n]*\)[ \t]*=>"
    start = max(0, context.at - _PARAMETERS)
    return re.compile(pattern).search(context.text, start, context.at) is not None
