# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for whole constructs: headers, heads of graphs, control flow, other files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.lexer import Token
from onnxtext.syntax.mistakes_foreign import NAMES, closing
from onnxtext.syntax.scene import Mistake, Scene, indentation, insert, replace, span_of

_LONGEST_HEADER = 4000
"""The most characters of a header or a block that are read: a text may have many mistakes."""
_LONGEST_LINE = 1000
"""The most characters of a line that are read."""
_CONTROL = re.compile(
    r"[ \t]*(?:[\w, ]+=[ \t]*)?\}?[ \t]*"
    r"(if|elif|else|for|while|switch|case|do|try|except|with|class)\b(?![ \t]*[=,.:<])"
)
_ELSE = re.compile(r"[ \t]*\}?[ \t]*(?:else|elif|except|catch|finally|while)\b")
_OPERATOR_FOR = {"for": "Loop", "while": "Loop", "do": "Loop"}
_IMPORT = re.compile(r"[ \t]*(?:import[ \t]+\w|from[ \t]+[\w.]+[ \t]+import\b|#include\b|using\b)")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)[^\n]*\n?", re.MULTILINE)
_DEF = re.compile(r"(def|fn|func|fun|function)[ \t]+(?=[\w\"])")
_RETURN = re.compile(r"^[ \t]+(return\b[^\n]*)", re.MULTILINE)
_ALL_BRACKETS = frozenset("()[]{}<>")
_MOST_TOKENS_BACK = 8
_LONG = 8
_BRACKETS = {"(": ")", "[": "]", "{": "}", "<": ">"}


def _end(token: Token) -> int:
    return token.at + len(token)


def _tokens_behind(scene: Scene, most: int = _LONGEST_HEADER) -> list[Token]:
    """The token that fits nowhere and those behind it, in this line and in later ones."""
    return scene.lexer.tokens(scene.text, scene.at, min(len(scene.text), scene.at + most))


def _line_limit(scene: Scene) -> int:
    """The end of the line, or the limit of what is inspected."""
    return min(scene.line_end, scene.line_start + _LONGEST_LINE)


def empty_text(scene: Scene) -> Iterator[Mistake]:
    """A text without a token."""
    if scene.token is not None or scene.done or scene.at > _LONGEST_HEADER:
        return
    if scene.lexer.tokens(scene.text, 0, scene.at):
        return
    what = "has nothing but comments" if scene.text.strip() else "is empty"
    at = scene.at if scene.text.strip() else 0
    message = f"the text {what}: a model has at least a graph"
    help = "write one, such as `g (float[N] x) => (float[N] y) { y = Relu (x) }`"
    yield Mistake("syntax-error", message, Span(at, at), help=help)


def fences(scene: Scene) -> Iterator[Mistake]:
    """The fences around a block of code in Markdown."""
    found = _FENCE.match(scene.text, scene.line_start)
    if found is None or scene.text[scene.line_start : scene.at].strip("`~ \t"):
        return
    edits = [Edit(Span(*found.span()), "")]
    last = _FENCE.search(scene.text, found.end())
    if last is not None:
        edits.append(Edit(Span(*last.span()), ""))
    span = Span(scene.at, len(scene.text[: found.end()].rstrip()))
    message = "a fence of Markdown is no part of the text"
    yield Mistake("foreign-word", message, span, tuple(edits), "remove it", "unsafe", least=1)
    yield Mistake("foreign-word", message, span, tuple(edits[:1]), "remove it", "unsafe", least=0)


def imports(scene: Scene) -> Iterator[Mistake]:
    """`import onnx` and `from onnx import helper`."""
    found = _IMPORT.match(scene.text, scene.line_start)
    if found is None or scene.at > scene.line_end:
        return
    start = scene.line_start
    span = Span(start, scene.line_end)
    message = "nothing is imported here: operators come from the `opset_import` of the header"
    help = "remove the line; for versions of operators write `<ir_version: 10, opset_import: [21]>`"
    edits = (Edit(span, ""),)
    yield Mistake("foreign-word", message, span, edits, "remove it", "unsafe", help=help, least=1)
    yield Mistake("foreign-word", message, span, help=help, skip_to=scene.line_end + 1)


def control_flow(scene: Scene) -> Iterator[Mistake]:
    """`if (x) {…} else {…}`, `for i in range(3):` and the like, with all that belongs to it."""
    found = _CONTROL.match(scene.text, scene.line_start, _line_limit(scene))
    if found is None:
        return
    word = found[1]
    operator = _OPERATOR_FOR.get(word, "If")
    message = f"there is no `{word}` among the nodes"
    help = f"use the operator `{operator}`, which has its bodies in attributes that are graphs"
    if operator == "If":
        help += ": `y = If (c) <then_branch = t () => (z) {…}, else_branch = e () => (z) {…}>`"
    end = _end_of_block(scene)
    span = Span(found.start(1), found.end(1))
    yield Mistake("foreign-word", message, span, help=help, skip_to=end + 1)


def _end_of_block(scene: Scene) -> int:
    """Where the last line of a block ends that begins in this line, with its other branches."""
    text, at = scene.text, scene.line_start
    while True:
        end = _line_end(text, at)
        line = text[at:end]
        if "{" in line:
            opened = at + line.rindex("{")
            while True:
                closed = _closed(scene, opened)
                end = _line_end(text, closed)
                again = text.rfind("{", closed + 1, end)  # `} else {`
                if again < 0 or closed == opened:
                    break
                opened = again
        else:
            indent = indentation(text, at + len(line) - len(line.lstrip()))
            while end < len(text):
                following = text[end + 1 : _line_end(text, end + 1)]
                deeper = len(following) - len(following.lstrip()) > indent
                if following.strip() and not deeper:
                    break
                end += 1 + len(following)
        if end >= len(text) or not _ELSE.match(text, end + 1):
            return end
        at = end + 1


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _closed(scene: Scene, at: int) -> int:
    """Where the `}` of a `{` stands; the `{` itself if there is none."""
    depth = 0
    for token in scene.lexer.tokens(scene.text, at, min(len(scene.text), at + _LONGEST_HEADER)):
        depth += (token == "{") - (token == "}")
        if not depth:
            return token.at
    return at


def spaced_arrow(scene: Scene) -> Iterator[Mistake]:
    """`= >` and `>=`."""
    if scene.token not in {"=", ">"} or "_ARROW" not in scene.expected():
        return
    assert scene.token is not None
    following = scene.ahead[0] if scene.ahead else None
    if following is not None and {scene.token, following} == {"=", ">"}:
        span = Span(scene.at, _end(following))
        message = f"expected `=>`, found `{scene.text[slice(*span)]}`"
        yield Mistake("wrong-mark", message, span, (Edit(span, "=>"),), "write `=>`", least=1)


def headers(scene: Scene) -> Iterator[Mistake]:
    """`<>`, `(ir_version: 10)`, and one header behind another."""
    token = scene.token
    if token == ">" and "header_entry" in scene.rules and not scene.done:
        message = "the header is empty"
        help = "write `<ir_version: 10, opset_import: [21]>`, or remove it"
        span = Span(scene.text.rfind("<", 0, scene.at), scene.at + 1)
        yield Mistake(
            "syntax-error", message, span, (insert(scene.at, "x: 0"),), help=help, least=1
        )
        return
    if token is None or token not in _BRACKETS or "node" in scene.rules:
        return
    behind = _tokens_behind(scene)
    if behind[2:3] != [":"] or scene.name(behind[1]) != "WORD":
        return
    end = closing(behind)
    if end is None:
        return
    span = Span(scene.at, _end(behind[end]))
    if token == "<":
        message = "there is a header already"
        help = "write all entries in one `<…>`"
        removed = (Edit(span, ""),)
        yield Mistake("misplaced-section", message, span_of(token), removed, help=help, least=1)
    elif not scene.done and not scene.text[: scene.at].rstrip().endswith((")", "}", ">")):
        edits = (replace(behind[0], "<"), replace(behind[end], ">"))
        message = "a header stands in `<…>`"
        yield Mistake("wrong-mark", message, span, edits, "write `<…>`", least=1)


def wrong_bracket(scene: Scene) -> Iterator[Mistake]:
    """One bracket for another, where that leads on for long."""
    if scene.token is None:
        return
    near = [scene.token, *reversed(scene.done[-_MOST_TOKENS_BACK:])]
    for token in near:
        if token not in _ALL_BRACKETS:
            continue
        alike = _BRACKETS if token in _BRACKETS else _BRACKETS.values()
        for other in sorted(_ALL_BRACKETS - {token}, key=lambda mark: mark not in alike):
            outcome = scene.attempt(replace(token, other))
            if outcome is None or not outcome.fine or outcome.count < _LONG:
                continue
            message = f"expected `{other}`, found `{token}`"
            edits = (replace(token, other),)
            title = f"write `{other}` instead"
            yield Mistake("wrong-mark", message, span_of(token), edits, title, "unsafe", least=1)
            return


def heads(scene: Scene) -> Iterator[Mistake]:
    """A graph without a name, without `=> (…)`, and `def main (x) -> (y):`."""
    token = scene.token
    if token is None or "node" in scene.rules:
        return
    expected = scene.expected()
    before = scene.done[-1] if scene.done else None
    if token == "(" and "WORD" in expected and (before is None or before == ">"):
        message = "a graph or function has a name before its inputs"
        edits = (insert(scene.at, "g "),)
        title = "name it, such as `g`"
        yield Mistake("syntax-error", message, span_of(token), edits, title, "unsafe", least=6)
    if token in {"{", "<"} and (before == "=>" or (before == ")" and "_ARROW" in expected)):
        message = "the outputs of the graph are missing"
        edits = (insert(scene.at, "() " if before == "=>" else "=> () "),)
        help = "write `=> (float[N] y)` behind its inputs, with names and types as needed"
        yield Mistake("syntax-error", message, span_of(token), edits, help=help, least=1)


def python_head(scene: Scene) -> Iterator[Mistake]:
    """`def main (x) -> (y):`."""
    line = scene.text[scene.line_start : _line_limit(scene)]
    found = _DEF.match(line.lstrip())
    if found is None or "node" in scene.rules:
        return
    start = scene.line_start + len(line) - len(line.lstrip())
    edits = [Edit(Span(start, start + found.end()), "")]
    arrow = scene.text.find("->", start, scene.line_end)
    if arrow >= 0:
        edits.append(Edit(Span(arrow, arrow + 2), "=>"))
    bare = line.rstrip()
    if bare.endswith(":"):
        colon = scene.line_start + len(bare) - 1
        edits.append(Edit(Span(colon, colon + 1), " {" if arrow >= 0 else " => () {"))
    if len(edits) == 1:
        return
    returned = _RETURN.search(scene.text, scene.line_end, scene.line_end + _LONGEST_HEADER)
    if returned is not None:
        edits.append(Edit(Span(*returned.span(1)), ""))
    message = f"`{found[1]}` does not belong here: a graph is written `NAME (…) => (…) {{…}}`"
    span = Span(start, start + len(found[1]))
    help = "write `NAME (float[N] x) => (float[N] y) {` and, behind the nodes, `}`"
    least = 1 if returned is None else 0
    yield Mistake("foreign-word", message, span, tuple(edits), help=help, least=least)


def function_keyword(scene: Scene) -> Iterator[Mistake]:
    """`function <domain: "l"> F (a) => (b) {…}`: the word was taken for the name."""
    tokens = scene.lexer.tokens(scene.text, scene.line_start, _line_limit(scene))
    if len(tokens) < 4 or tokens[1] != "<" or tokens[3] != ":" or scene.at > scene.line_end:
        return
    word = tokens[0]
    if word in {"function", "def", "func", "graph", "model", "module"}:
        message = f"`{word}` does not belong here"
        title = f"remove `{word}`"
        edits = (replace(word, ""),)
        yield Mistake("foreign-word", message, span_of(word), edits, title, "unsafe", least=1)
        skip_to = scene.line_end + 1
        yield Mistake("foreign-word", message, span_of(word), help=title, skip_to=skip_to)


def dimensions(scene: Scene) -> Iterator[Mistake]:
    """`float 3, 2] W`: the `[` is missing."""
    done = scene.done[-_MOST_TOKENS_BACK:]
    tokens = [*done, *([scene.token] if scene.token is not None else []), *scene.ahead]
    for index in range(len(done) - 1, -1, -1):
        if scene.name(tokens[index]) != "PRIM":
            continue
        rest = tokens[index + 1 :]
        size = next((n for n, token in enumerate(rest) if token == "]"), None)
        if size and all(scene.name(t) in {"WORD", "INT", "COMMA", "STRING"} for t in rest[:size]):
            span = Span(rest[0].at, _end(rest[size]))
            message = "the dimensions of a type stand in `[…]`"
            edits = (Edit(Span(_end(tokens[index]), rest[0].at), "["),)
            yield Mistake("missing-bracket", message, span, edits, "add `[`", least=1)
        return


def outputs_behind(scene: Scene) -> Iterator[Mistake]:
    """`Relu (x) -> y` and `Relu (x) => y`."""
    if scene.token not in {"(", "<"} or "node" not in scene.rules or not scene.done:
        return
    rest = [scene.token, *scene.ahead] if scene.token is not None else []
    end = closing(rest)
    if end is not None and rest[end + 1 : end + 2] == ["("]:
        inner = closing(rest[end + 1 :])
        end = None if inner is None else end + 1 + inner
    if end is None or not all(scene.name(t) in NAMES or t in {".", ":"} for t in scene.done):
        return
    arrow = rest[end + 1 : end + 3]
    size = (
        1 if arrow[:1] == ["=>"] else 2 if scene.text.startswith("->", _end(rest[end]) + 1) else 0
    )
    names = rest[end + 1 + size :]
    if not size or not names or not all(scene.name(t) in NAMES or t == "," for t in names):
        return
    start, behind = scene.done[0].at, _end(names[-1])
    written = scene.text[names[0].at : behind]
    call = scene.text[start : _end(rest[end])]
    edits = (insert(start, f"{written} = "), Edit(Span(_end(rest[end]), behind), ""))
    message = "the outputs of a node stand before its operator"
    title = f"write `{written} = {call}`"[:80]
    yield Mistake("missing-equals", message, Span(start, behind), edits, title, least=1)


IDIOMS = (
    empty_text,
    fences,
    imports,
    control_flow,
    spaced_arrow,
    headers,
    wrong_bracket,
    heads,
    python_head,
    function_keyword,
    dimensions,
    outputs_behind,
)
