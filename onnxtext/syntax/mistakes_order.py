# SPDX-License-Identifier: Apache-2.0
"""Usual mistakes of those who come from other languages: types, words, and what stands where."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.lexer import Token
from onnxtext.syntax.mistakes_foreign import NAMES, closing, in_attributes
from onnxtext.syntax.mistakes_spelling import ALIASES
from onnxtext.syntax.scene import Mistake, Scene, insert, replace, span_of

_WORDS = frozenset(
    [
        "auto",
        "const",
        "constexpr",
        "def",
        "fn",
        "func",
        "function",
        "graph",
        "import",
        "input",
        "inputs",
        "let",
        "module",
        "node",
        "output",
        "outputs",
        "return",
        "static",
        "tensor",
        "val",
        "var",
    ]
)
_TYPES = frozenset(("TYPE", "PRIM", "CONTAINER"))
_ATTRIBUTE_TYPES = frozenset(
    ["int", "float", "string", "ints", "floats", "strings", "tensor", "graph"]
)
_SECTIONS = frozenset(
    ["metadata", "quantization", "training", "configuration", "encoding", "resources"]
)
_OTHER_FORMATS = (
    (re.compile(r'\s*\{\s*"'), "JSON"),
    (re.compile(r"\s*(?:builtin\.)?(?:module\b[^\n<(]*|func\.func\b[^\n]*)\{"), "MLIR"),
    (
        re.compile(r"\s*[a-z_]+: *(?:-?[0-9]+|\"[^\"\n]*\")[ \t]*\n\s*[a-z_]+ *[:{]"),
        "protobuf text",
    ),
)
_HEAD = re.compile(r"[ \t]*,?[ \t]*(\w+) *= *\w* *\([^()\n]*\) *=>")
_TENSOR = re.compile(r"tensor<((?:[0-9?]+x)*)([A-Za-z][A-Za-z0-9]*)>")
_OTHER_COMMENT = re.compile(r"--(?![->])|;+(?=[ \t]*\w)|<!--")


def _end(token: Token) -> int:
    return token.at + len(token)


def _rest(scene: Scene) -> list[Token]:
    return [scene.token, *scene.ahead] if scene.token is not None else []


def other_format(scene: Scene) -> Iterator[Mistake]:
    """A file of another kind."""
    for pattern, name in _OTHER_FORMATS:
        found = pattern.match(scene.text)
        if found is not None and scene.at <= found.end():
            yield Mistake(
                "other-format",
                f"this is {name}, not the text form of ONNX",
                Span(len(scene.text) - len(scene.text.lstrip()), scene.at + 1),
                help="load it with the tool that wrote it, save a binary model, and convert that: "
                "`onnxtext from-binary`",
                skip_to=len(scene.text) + 1,
            )


def other_comments(scene: Scene) -> Iterator[Mistake]:
    """`-- comment`, `; comment` and `<!-- comment -->`, in lines of their own."""
    line = scene.line_start
    start = line + len(scene.text[line : scene.at]) - len(scene.text[line : scene.at].lstrip())
    found = _OTHER_COMMENT.match(scene.text, start)
    if found is None or scene.at > found.end():
        return
    span = Span(start, scene.line_end)
    words = scene.text[found.end() : scene.line_end].strip().removesuffix("-->").strip()
    message = "comments start with `#`"
    if start < scene.stretch.start:  # `<` may begin the attributes of the node before
        skip_to = scene.line_end + 1
        yield Mistake("slash-comment", message, span, help="write `#`", skip_to=skip_to)
    edits = (Edit(span, f"# {words}"),)
    yield Mistake("slash-comment", message, span, edits, "write `#`", least=0)


def lone_string(scene: Scene) -> Iterator[Mistake]:
    """A Python docstring."""
    if not scene.done or not scene.done[0].startswith('"""') or "node" not in scene.rules:
        return
    if len(scene.done) > 1 and scene.done[1].at < (scene.fresh or 0):
        return
    string = scene.done[0]
    span = span_of(string)
    words = string.strip('" \t\r\n')
    line_end = scene.text.find("\n", span.end)
    alone = not scene.text[span.end : None if line_end < 0 else line_end].strip()
    comment = f"# {words}" if alone and words and "\n" not in words else ""
    yield Mistake(
        "lone-string",
        "a string on its own says nothing here",
        span,
        (Edit(span, comment),),
        "write a comment" if comment else "remove it",
        "unsafe",
        help='write a comment, `# …`, or `@doc("…")` before what it is about',
        least=1,
        instead=True,
    )


def foreign_words(scene: Scene) -> Iterator[Mistake]:
    """`const float[3] x`, `graph main (…)`, `return y`."""
    if scene.token is None or not scene.done or scene.done[-1] not in _WORDS:
        return
    word, rest = scene.done[-1], _rest(scene)
    if scene.name(scene.token) not in NAMES | {"TYPE"}:
        return
    if word == "return" and len(scene.done) == 1:
        if all(scene.name(token) in NAMES or token == "," for token in rest):
            span = Span(word.at, _end(rest[-1]))
            message = "the outputs of a graph stand in its first line, behind `=>`"
            edits = (Edit(span, ""),)
            yield Mistake("foreign-word", message, span, edits, "remove it", "unsafe", least=0)
        return
    edits = (Edit(Span(word.at, scene.at), ""),)
    message = f"`{word}` does not belong here"
    title = f"remove `{word}`"
    yield Mistake("foreign-word", message, span_of(word), edits, title, "unsafe", least=3)


def misplaced_types(scene: Scene) -> Iterator[Mistake]:
    """`x: float[N]`, `float x[3]`, and `<int axis = 1>`."""
    rest = _rest(scene)
    if scene.token is None or not scene.done:
        return
    name = scene.done[-1]
    before = scene.done[-2] if len(scene.done) > 1 else None
    if scene.token == ":" and len(rest) > 1 and scene.name(rest[1]) in _TYPES:
        end = closing(rest[2:]) if rest[2:3] == ["("] else -1
        if end is not None and before in {None, "(", ",", "<"} and scene.name(name) in NAMES:
            span = Span(name.at, _end(rest[2 + end]) if end >= 0 else _end(rest[1]))
            written = f"{scene.text[rest[1].at : span.end]} {name}"
            message = "the type of a value stands before its name"
            title = f"write `{written}`"[:60]
            yield Mistake("misplaced-type", message, span, (Edit(span, written),), title, least=1)
    elif before is not None and scene.name(before) == "PRIM":
        end = closing(rest) if scene.token == "[" else 0
        if end is None or (scene.token != "[" and scene.name(scene.token) != "NUMBERS"):
            return
        span = Span(before.at, _end(rest[end]))
        written = f"{before}{scene.text[scene.at : span.end]} {name}"
        message = "the dimensions stand behind the type"
        title = f"write `{written}`"[:60]
        yield Mistake("misplaced-type", message, span, (Edit(span, written),), title, least=1)
    elif name in _ATTRIBUTE_TYPES and rest[1:2] == ["="] and in_attributes(scene):
        span = Span(name.at, _end(scene.token))
        written = f"{scene.token}: {name}"
        message = "the type of an attribute stands behind its name"
        title = f"write `{written}`"[:60]
        yield Mistake("misplaced-type", message, span, (Edit(span, written),), title, least=2)


def brackets_of_types(scene: Scene) -> Iterator[Mistake]:
    """`float<3>`, `float(1, 3)` and `seq<float>`."""
    if scene.token not in {"<", "("} or not scene.done:
        return
    kind, rest = scene.name(scene.done[-1]), _rest(scene)
    found = _TENSOR.match(scene.text, scene.done[-1].at)
    if found is not None:
        element = ALIASES.get(found[2], found[2])
        dims = found[1].rstrip("x").replace("x", ", ")
        written = f"{element}[{dims}]" if found[1] else element
        span = Span(*found.span())
        message = "the type of a tensor is that of its elements, and its dimensions"
        edits = (Edit(span, written),)
        yield Mistake(
            "unknown-type", message, span, edits, f"write `{written}`"[:60], "unsafe", least=1
        )
        return
    end = closing(rest)
    if (
        end is None
        or kind not in {"PRIM", "CONTAINER"}
        or (kind, scene.token) == ("CONTAINER", "(")
    ):
        return
    left, right = "[]" if kind == "PRIM" else "()"
    what = "dimensions stand in `[…]`" if kind == "PRIM" else "types within types stand in `(…)`"
    span = Span(scene.at, _end(rest[end]))
    marks = (replace(rest[0], left), replace(rest[end], right))
    yield Mistake("wrong-mark", what, span, marks, f"write `{left}…{right}`", least=1)


def graph_without_head(scene: Scene) -> Iterator[Mistake]:
    """`main {`, and a section before the graph."""
    if scene.token != "{" or len(scene.done) != 1 or "node" in scene.rules:
        return
    name = scene.done[0]
    if name in _SECTIONS:
        end = scene.text.find("\n}", scene.at)
        line = scene.text.find("\n", end + 1) if end >= 0 else -1
        yield Mistake(
            "misplaced-section",
            f"the section `{name}` stands before the graph",
            span_of(name),
            help="move it behind the graph and the functions",
            skip_to=(line if line >= 0 else len(scene.text)) + 1,
        )
    elif scene.before.takes("LPAR"):
        yield Mistake(
            "graph-without-inputs",
            "the inputs and outputs of a graph stand before its nodes",
            Span(name.at, scene.at + 1),
            (insert(scene.at, "() => () "),),
            help=f"write `{name} (float[N] x) => (float[N] y) {{`, with names and types as needed",
            least=0,
        )


def graph_among_nodes(scene: Scene) -> Iterator[Mistake]:
    """`else_branch = e () => …` where the graph before it has no `}`."""
    if scene.token != "=>" or "node" not in scene.rules:
        return
    before = scene.text[: scene.line_start].rstrip()
    found = _HEAD.match(scene.text, scene.line_start)
    if found is not None and found.end() >= scene.at:
        comma = len(before) - 1 if before.endswith(",") else found.start(1)
        yield Mistake(
            "unclosed-bracket",
            f"`{found[1]}` is a graph, and stands among the nodes of another one",
            Span(comma, found.end(1)),
            help="add the `}` that is missing before it",
            instead=True,
        )


def header_behind(scene: Scene) -> Iterator[Mistake]:
    """`<ir_version: 10>` behind the graph."""
    if scene.token is not None or scene.done[:1] != ["<"] or "ir_version" not in scene.done:
        return
    if scene.text[: scene.done[0].at].rstrip().endswith("}"):
        yield Mistake(
            "misplaced-section",
            "the header of the model stands behind the graph",
            Span(scene.done[0].at, _end(scene.done[-1])),
            help="move it to the beginning of the text",
            skip_to=len(scene.text) + 1,
        )


ORDER = (
    other_format,
    other_comments,
    lone_string,
    foreign_words,
    misplaced_types,
    brackets_of_types,
    graph_without_head,
    graph_among_nodes,
    header_behind,
)
