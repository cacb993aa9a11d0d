# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for initializers, tensor data, types, and the parameters of functions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.heuristics.constructs.attribute_list_errors import NODE
from onnxtext.syntax.heuristics.constructs.data_errors import type_of_list
from onnxtext.syntax.heuristics.constructs.node_errors import (
    NAMES,
    closing_index,
    in_attributes,
    opening_index,
    unopened_bracket,
)
from onnxtext.syntax.heuristics.constructs.token_errors import NOTHING, load_keywords
from onnxtext.syntax.heuristics.diagnosis import (
    Diagnosis,
    advice,
    incomplete_statement,
    rewritten,
    unclosed,
)
from onnxtext.syntax.heuristics.error_context import (
    ErrorContext,
    begins_line,
    indentation,
    innermost_bracket,
    insert,
    replace,
)
from onnxtext.syntax.heuristics.expected import found_words

_MAX_LIST_LENGTH = 4000
_ELEMENT = re.compile(
    r"\s*(?:\"[^\"\\\n]*\"|(?P<quoted>'[^'\\\n]*'|‘[^’\n]*’|“[^”\n]*”|`[^`\n]*`)"
    r"|(?P<word>[^\s\"'‘’“”`,{}\[\]#]+))\s*,?"
)
_STRING = re.compile(rf"(?!(?:True|False|{'|'.join(NOTHING)})\Z)[A-Za-z_][\w.:/-]*")
_FRACTION = re.compile(r"-?(?P<over>\d+(?:\.\d*)?)[ \t]*/[ \t]*(?P<under>\d+(?:\.\d*)?)(?![\w.])")
_SPECIAL = re.compile(r"(?:\+[ \t]*|(?:math|np|numpy|torch)\.)(inf|nan)\b")
_TYPE_VARIABLE = re.compile(r"[A-Z][A-Z0-9]?\d*")


def string_elements(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose strings without double quotes in a string tensor or an attribute: `[a, 'b']`."""
    done = context.done
    index = innermost_bracket(done)
    if not index or done[index] not in {"{", "["}:
        return
    opener, type = done[index], type_of_list(context)
    if not type and done[index - 1] != "=":
        return
    untyped = done[max(index - 3, 0) : index - 2] != [":"] or done[index - 2] == "strings"
    among = "attribute" in context.rules or opening_index(context, "<") is not None
    is_attribute = opener == "[" and not type and untyped and among
    if not (is_attribute or type.startswith("string")):
        return
    edits: list[Edit] = []
    offset, limit = opener.end, opener.end + _MAX_LIST_LENGTH
    code, message, quoted = "unquoted-string", "", is_attribute
    while (match := _ELEMENT.match(context.text, offset, limit)) is not None:
        for group, content in (("quoted", slice(1, -1)), ("word", slice(None))):
            text = match[group]
            if text is None:
                continue
            if is_attribute and group == "word" and not _STRING.fullmatch(text):
                return
            edits.append(Edit(Span(*match.span(group)), f'"{text[content]}"'))
            quoted = quoted and group == "quoted"
            message = message or f"`{text}` needs quotes to be a string"
            if group == "quoted":
                code = "single-quotes" if text[0] in "'`" else "smart-quotes"
                message = "a string must be in double quotes"
        offset = match.end()
    if not edits or context.text[offset : offset + 1] not in {"]", "}"}:
        return
    span = edits[0].span
    if opener == "[" and not is_attribute:
        edits = [Edit(opener.span, "{"), *edits, Edit(Span(offset, offset + 1), "}")]
    yield Diagnosis(code, message, span, tuple(edits), "quote the elements", safe=quoted)


def nodes_in_angle_brackets(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a graph with `<` in place of its `{`: `g (x) => (y) <`, then `y = Op (x)`.

    Also diagnose a missing `> {` between the initializers and the nodes.
    """
    opened, first, text = context.opened, context.first, context.text
    if opened is None or first is None or "value_info" not in context.rules:
        return
    if context.bracket != "<" or not context.is_certain([edit := insert(first.at, "> { ")]):
        return
    before = context.lexer.tokens(text, opened.end, first.at)
    beginning = context.lexer.token(text, opened.end)
    names = all(token == "," or context.name(token) in NAMES for token in before)
    if names and beginning is not None and NODE.match(text, beginning.at):
        message, help = "expected `{`, found `<`", "write `{` before the nodes"
        yield advice("wrong-mark", message, opened, help, edit)
    elif NODE.match(text, first.at) and begins_line(text, first.at) and before[-1:] == [","]:
        after = text.find("\n", before[-1].end) + 1
        span = first.span if after > first.at else Span(after, after)
        edit = insert(first.at, "> {\n")
        yield unclosed("expected `> {` before the nodes", span, edit, "add `> {`", opened)


def untyped_initializer(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose an initializer without a type: `w = [1, 2]`."""
    done = context.done
    if context.token != "=" or len(done) != 1 or context.name(done[0]) not in NAMES:
        return
    if "value_info" in context.rules and context.opened is not None:
        message = "an initializer needs a type before its name"
        help = f"write its type and shape, such as `float[2] {done[0]} = …`"
        edit = insert(done[0].at, "float ")
        yield advice("syntax-error", message, done[0].span, help, edit, min_tokens=2)


def unnamed_value(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose an attribute without a name, and a list whose first line is missing."""
    token, rules = context.token, context.rules
    if token is None or context.done or not {"attribute", "value_info"} & rules:
        return
    begins = begins_line(context.text, context.at)
    if context.name(token) not in _VALUES or context.bracket != "<" or not begins:
        return
    following = context.lexer.tokens(context.text, context.at, context.at + _MAX_LIST_LENGTH)
    index = unopened_bracket(following)
    left = {"]": "[", "}": "{"}.get(following[index], "") if index is not None else ""
    margin = indentation(context.text, context.at)
    if left and indentation(context.text, context.previous_end) >= margin:
        return  # the text continues the rows above it
    if context.ahead[:1] in (["="], [":"]) or not (left or "attribute" in rules):
        return  # the number is meant as a name
    named = "NAME =" if "attribute" in rules else "TYPE NAME ="
    head = f"{named} {left}".replace("NAME", "x").replace("TYPE", "float").rstrip() + " "
    message = f"expected `{named}` before {found_words(token)}"
    help = f"write `{named}` before it"
    if left:
        message = f"the first line of this list is missing: `{named} {left}`"
        help = "write it before this line, or remove the lines of the list"
    yield advice("syntax-error", message, token.span, help, insert(context.at, head))


_VALUES = frozenset(("INT", "FLOAT", "HEX", "NUMBERS", "NESTED", "BRACES"))


def unfinished_values(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose an incomplete declaration above another: `bo` for `bool`, or `float[3] b =`."""
    done = context.done
    if not done or "value_info" not in context.rules or context.next_statement is None:
        return
    last, edits = done[-1], (insert(done[-1].end, ","),)
    if last == "=" and len(done) == 3:
        yield incomplete_statement("the data, such as `[1, 2]`,", last, last.span, edits)
    elif len(done) == 1 < len(last) and any(word.startswith(last) for word in load_keywords()):
        yield incomplete_statement("a name", last, last.span, edits)


def called_data(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a node or call as the data of an initializer: `float w = Constant <…> ()`."""
    done = context.done
    index = next((index for index, token in enumerate(done) if token == "="), None)
    if not index or len(done) < index + 2 or "value_info" not in context.rules:
        return
    name, tokens = done[index + 1], [*done[index + 2 :], *context.rest]
    if context.name(name) != "WORD" or name in {"external", "sparse"} or not tokens:
        return
    while tokens[:1] == ["."] and len(tokens) > 1:  # as in `np.zeros (3)`
        tokens = tokens[2:]
    end = name.end
    for opener in ("<", "("):
        if tokens[:1] == [opener]:
            close = closing_index(tokens)
            if close is None:
                return
            end, tokens = tokens[close].end, tokens[close + 1 :]
    if end == name.end:
        return
    span = Span(name.at, end)
    message = "the data of an initializer must be written out: nodes and calls are not possible"
    help = "write the elements, such as `[1, 2]`; or move the node to the `{…}` of the graph"
    yield advice("syntax-error", message, span, help, Edit(span, "[]"))


def named_data(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a name as the data of an initializer: `float[8] w = zeros`."""
    done = context.done
    if context.token not in {",", ">"} or done[-2:-1] != ["="] or "value_info" not in context.rules:
        return
    if context.name(done[-1]) == "WORD":
        message = f"the data of an initializer must be written out, but `{done[-1]}` is a name"
        type = done[-4] if done[3:] else ""
        help = "write the elements, such as `[1, 2]`, or `[0, ...]` if all are 0"
        if type.startswith("string"):
            help = 'write the elements in quotes, such as `["a", "b"]`'
        elif type.startswith("bool"):
            help = "write the elements, such as `[true, false]`"
        yield advice("syntax-error", message, done[-1].span, help, replace(done[-1], "[]"))


def bare_tensor_value(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose missing brackets around a tensor in an attribute: `value = float 2.0`."""
    done, token = context.done, context.token
    if token is None or context.name(token) not in {"INT", "FLOAT"} or done[-2:-1] != ["="]:
        return
    kind = context.name(done[-1])
    if kind in {"PRIM", "TYPE"} and in_attributes(context):
        left, right = "()" if kind == "PRIM" else "{}"
        edits = (insert(token.at, left), insert(token.end, right))
        message = f"the value of a tensor must be in `{left}…{right}`"
        title = f"write `{left}{token}{right}`"
        yield Diagnosis("missing-bracket", message, token.span, edits, title)


def foreign_numbers(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose numbers of other languages: `alpha = 1/2`, `[1, 1/3]`, `math.inf`."""
    if context.token is None:
        return
    special = _SPECIAL.match(context.text, context.done[-1].at if context.done else context.at)
    special = special or _SPECIAL.match(context.text, context.at)
    if special is not None:
        span, message = Span(*special.span()), f"`{special[0]}` is not a number"
        yield rewritten("syntax-error", message, span, special[1])
    for match in _FRACTION.finditer(context.text, context.line_start, context.line_limit):
        if not match.start() <= context.at <= match.end():
            continue
        if float(match["under"]):
            value = float(match["over"]) / float(match["under"])
            written = f"-{value!r}" if match[0][0] == "-" else repr(value)
            span, message = Span(*match.span()), f"`{match[0]}` is not a number"
            yield rewritten("syntax-error", message, span, written)


def type_variable(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a type variable in a function, `F (T a) => (T b)`."""
    done, token = context.done, context.token
    if len(done) != 1 or "value_info" not in context.rules or context.name(token) not in NAMES:
        return
    if _TYPE_VARIABLE.fullmatch(done[0]) and done[0].end < context.at:
        edits = (Edit(Span(done[0].at, context.at), ""),)
        message = f"`{done[0]}` is not a type: functions have no type variables"
        yield Diagnosis("unknown-type", message, done[0].span, edits, f"remove `{done[0]}`")


def parameter_with_at_sign(context: ErrorContext) -> Iterator[Diagnosis]:
    """Diagnose a parameter of a function written like a reference: `F <@alpha>`."""
    if "parameter" in context.rules and context.text.startswith("@", context.at):
        name = context.lexer.token(context.text, context.at + 1)
        if name is not None and name.at == context.at + 1 and context.name(name) in NAMES:
            span = Span(context.at, name.end)
            message = "write a parameter of a function without `@`; only references have `@`"
            edits = (Edit(Span(context.at, name.at), ""),)
            yield Diagnosis("wrong-mark", message, span, edits, "remove `@`", safe=True)
