# SPDX-License-Identifier: Apache-2.0
"""Texts to AST."""

from __future__ import annotations

from typing import Any

from onnxtext.ast.model import Fragment, Model
from onnxtext.ast.types import Type
from onnxtext.collector import paused_collector
from onnxtext.diagnostics import Diagnostic, Label, OnnxTextError
from onnxtext.source import Source, Span
from onnxtext.syntax.expected import describe, sentence
from onnxtext.syntax.faults import Fault
from onnxtext.syntax.lexer import BAD_KIND, Token, load_lexer
from onnxtext.syntax.machine import Unexpected
from onnxtext.syntax.run import Run


def parse_model(source: Source) -> Model:
    """A whole model.

    Raises:
        OnnxTextError: the text is not of the language.
    """
    model: Model = parse_start(source, "model")
    return model


def parse_fragment(source: Source, kind: str) -> Fragment:
    """A part of a model on its own.

    Args:
        source: the text.
        kind: `graph`, `function`, `node`, `nodes`, `attribute` or `tensor`.

    Raises:
        OnnxTextError: the text is not of the language.
    """
    fragment: Fragment = parse_start(source, f"{kind}_fragment")
    return fragment


def parse_type(source: Source) -> Type:
    """A type on its own.

    Raises:
        OnnxTextError: the text is not of the language.
    """
    type: Type = parse_start(source, "type_fragment")
    return type


def parse_start(source: Source, start: str, *, fast: bool = True) -> Any:
    """Parse a text from one of the grammar's start rules.

    Args:
        source: the text.
        start: the start rule.
        fast: whether to do for statements of a known shape what was found out before; the
            result is the same.

    Raises:
        OnnxTextError: the text is not of the language.
    """
    check_characters(source)
    run = Run(source.text, start, fast=fast)
    try:
        with paused_collector():
            return run.parse()
    except Unexpected as unexpected:
        raise OnnxTextError(_unexpected(source, run, unexpected.state)) from None
    except Fault as fault:
        raise OnnxTextError(_faulty(source, fault, run.token)) from None


def check_characters(source: Source) -> None:
    """Refuse a text with characters that have no UTF-8.

    Raises:
        OnnxTextError: there is one.
    """
    if source.text.isascii():
        return
    try:
        source.text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise OnnxTextError(
            Diagnostic(
                "invalid-character",
                "the text holds half a surrogate pair, which is no character",
                source=source,
                labels=(Label(Span(error.start, error.end)),),
                help=r'write bytes that are not UTF-8 as b"\xNN"',
            )
        ) from None


def _unexpected(source: Source, run: Run, state: int) -> Diagnostic:
    lexer = load_lexer()
    token = run.token
    row = run.machine.automaton.rows[state]
    expected = sentence(describe(lexer.names[kind] for kind in row))
    if token is None:
        end = len(source.text)
        return Diagnostic(
            "syntax-error",
            f"expected {expected}, found the end of the text",
            source=source,
            labels=(Label(Span(end, end)),),
        )
    found = _shown(token)
    if lexer.kind(token) == BAD_KIND:
        found += ", which begins nothing in this language"
    return Diagnostic(
        "syntax-error",
        f"expected {expected}, found {found}",
        source=source,
        labels=(Label(Span(token.at, token.at + len(token))),),
        help=_hint(token),
    )


def _shown(token: str) -> str:
    if len(token) == 1 and not token.isprintable():
        return f"the character U+{ord(token):04X}"
    line = token.partition("\n")[0]
    return f"`{line[:40]}{'…' if len(line) > 40 or line != token else ''}`"


def _hint(token: str) -> str | None:
    if token.startswith('"'):
        return None if len(token) > 1 else 'a string that starts here is never closed: add a `"`'
    hints = {
        ";": "statements need no separator: remove the `;`",
        "/": "comments start with #",
        "'": 'strings stand in double quotes: "…"',
        "+": "numbers have no plus sign: remove the `+`",
    }
    return hints.get(token)


def _faulty(source: Source, fault: Fault, token: Token | None) -> Diagnostic:
    at = fault.at
    if at is None:
        at = token.at if token is not None else len(source.text)
    return Diagnostic(
        fault.code,
        fault.message,
        source=source,
        labels=(Label(Span(at, min(at + fault.length, len(source.text)))),),
        help=fault.help,
    )
