# SPDX-License-Identifier: Apache-2.0
"""Usual mistakes between tokens: strings without an end, marks for one another, lists misplaced."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice

from onnxtext.diagnostics import Edit
from onnxtext.source import Span
from onnxtext.syntax.lexer import Token
from onnxtext.syntax.mistakes_spelling import conflict, unquoted
from onnxtext.syntax.scene import Mistake, Scene, insert, replace, span_of

_FARTHEST = 4000
_MOST_TRIES = 40
_MOST_QUOTES = 100
_QUOTE = re.compile(r"\\.|\"|#[^\"\n]*$")
_SMART = re.compile("[“”„‟«»]")
_END_OF_STRING = re.compile(r" ?[\])},:=>]| ?$|(?= )")


def unclosed_string(scene: Scene) -> Iterator[Mistake]:
    """A `"` too few: a string that begins in a line and ends in another, or never."""
    text = scene.text
    start = text.rfind("\n", 0, max(scene.stretch.start, scene.at - _FARTHEST)) + 1
    while start <= scene.at:
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        marks = list(islice(_QUOTE.finditer(text, start, end), _MOST_QUOTES))
        quotes = [found.start() for found in marks if found[0] == '"']
        if len(quotes) % 2 and len(marks) < _MOST_QUOTES and '"""' not in text[start:end]:
            yield from _unclosed(scene, quotes, end)
            return
        start = end + 1


def _unclosed(scene: Scene, quotes: list[int], end: int) -> Iterator[Mistake]:
    message = "this string is never closed"
    tries = 0
    for quote in quotes[::2]:
        line = scene.text[quote:end]
        smart = _SMART.search(line)
        if smart is not None and '"' not in line[1 : smart.start()]:
            span = Span(quote + smart.start(), quote + smart.end())
            edits = (Edit(span, '"'),)
            yield Mistake(
                "smart-quotes", _typographic(smart), span, edits, 'write `"`', "unsafe", least=1
            )
        for found in _END_OF_STRING.finditer(line, 1):
            tries += 1
            if tries > _MOST_TRIES or '"' in line[1 : found.start()]:
                break
            edits = (insert(quote + found.start(), '"'),)
            span = Span(quote, quote + found.start())
            yield Mistake("unclosed-string", message, span, edits, 'add a `"`', "unsafe")
    smart = _SMART.search(scene.text, quotes[-1], end)
    if smart is not None:
        span = Span(*smart.span())
        yield Mistake("smart-quotes", _typographic(smart), span, help='write `"`', skip_to=end + 1)
    span = Span(quotes[-1], end)
    yield Mistake("unclosed-string", message, span, help='add a `"`', skip_to=end + 1)


def _typographic(quote: re.Match[str]) -> str:
    return f"`{quote[0]}` is a typographic quote; strings stand in plain ones"


def marks_for_one_another(scene: Scene) -> Iterator[Mistake]:
    """`axis: 1` and `ir_version = 8`."""
    for token in (scene.token, *reversed(scene.done[-3:])):
        if token in {":", "="} and isinstance(token, Token):
            other = "=" if token == ":" else ":"
            if other == ":" and not scene.rules & _COLON_RULES:
                continue
            text = other
            if other == "=" and not scene.text[token.at - 1 : token.at].isspace():
                text = " ="
            code = "colon-for-equals" if other == "=" else "equals-for-colon"
            message = f"expected `{other}`, found `{token}`"
            edits = (replace(token, text),)
            least = 2 if token is scene.token else 4
            yield Mistake(code, message, span_of(token), edits, f"write `{other}`", least=least)


_COLON_RULES = frozenset(("header_entry", "metadata_item", "annotation", "training_item"))


def misplaced_attributes(scene: Scene) -> Iterator[Mistake]:
    """`y <axis = 1> = Softmax (x)`: the list belongs behind the operator."""
    if scene.done and scene.done[-1] == ">" and scene.name(scene.token) in _NAME_TERMINALS:
        yield from _before_operator(scene)
    if scene.token != "<":
        return
    depth, close = 1, None
    for index, token in enumerate(scene.ahead):
        depth += (token == "<") - (token == ">")
        if not depth:
            close = index
            break
    if close is None:
        return
    span = Span(scene.at, scene.ahead[close].at + 1)
    rest = scene.ahead[close + 1 :]
    places = [token.at for token in rest if token == "("]
    message = "the attributes of a node stand behind its operator"
    for place in places:
        text = f"{scene.text[slice(*span)]} "
        edits = (Edit(Span(span.start, _blank(scene.text, span.end)), ""), insert(place, text))
        yield Mistake("misplaced-attributes", message, span, edits, "move them there")
    yield Mistake("misplaced-attributes", message, span, (Edit(span, ""),))


def _before_operator(scene: Scene) -> Iterator[Mistake]:
    """`y = <axis = 1> Softmax (x)`."""
    depth = 0
    assert scene.token is not None
    for token in reversed(scene.done):
        depth += (token == ">") - (token == "<")
        if not depth:
            span = Span(token.at, scene.done[-1].at + 1)
            list_text = scene.text[slice(*span)]
            behind = scene.at + len(scene.token)
            edits = (
                Edit(Span(span.start, _blank(scene.text, span.end)), ""),
                insert(behind, f" {list_text}"),
            )
            message = "the attributes of a node stand behind its operator"
            yield Mistake("misplaced-attributes", message, span, edits, "move them there")
            return


_NAME_TERMINALS = {"WORD", "STRING", "PRIM", "BOOL", "CONTAINER"}


def _blank(text: str, at: int) -> int:
    return at + 1 if text[at : at + 1] == " " else at


def string_tensor(scene: Scene) -> Iterator[Mistake]:
    """`string[1] s = ["a"]`: a list of strings stands in braces."""
    if not any(token.startswith("string") for token in scene.done):
        return
    opener = next((token for token in reversed(scene.done) if token == "["), None)
    if opener is None:
        return
    depth = 1
    for token in (*scene.done, scene.token, *scene.ahead):
        if token is None or token.at <= opener.at:
            continue
        depth += (token == "[") - (token == "]")
        if not depth:
            edits = (replace(opener, "{"), replace(token, "}"))
            span = Span(opener.at, token.at + 1)
            message = "the elements of a string tensor stand in braces"
            yield Mistake("string-tensor-brackets", message, span, edits, "write `{…}`")
            return


STRUCTURE: tuple[Callable[[Scene], Iterator[Mistake]], ...] = (
    unclosed_string,
    marks_for_one_another,
    misplaced_attributes,
    string_tensor,
    unquoted,
)
CUT_SHORT = (conflict, unclosed_string)
"""Those that are asked where a statement seems to end too soon."""
