# SPDX-License-Identifier: Apache-2.0
"""Texts to AST."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnxtext.ast.model import Fragment, Model
from onnxtext.ast.types import Type
from onnxtext.collector import paused_collector
from onnxtext.core import core
from onnxtext.diagnostics import Diagnostic, Label, OnnxTextError
from onnxtext.source import Source, Span
from onnxtext.syntax.actions.semantic_error import SemanticError
from onnxtext.syntax.parser.lalr import ERROR_NODE, Unexpected
from onnxtext.syntax.parser.parser import Parser

if TYPE_CHECKING:
    from onnxtext.syntax.recovery.recovery import Recovery


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


def try_fragment(source: Source, kind: str) -> Fragment | None:
    """A part of a model on its own, or None at the first mistake, which is not told.

    Args:
        source: the text.
        kind: as for `parse_fragment`.
    """
    if check_characters(source) is not None:
        return None
    with paused_collector():
        try:
            fragment: Fragment = _make_parser(source.text, f"{kind}_fragment").parse()
        except (Unexpected, SemanticError):
            return None
    return fragment


def parse_type(source: Source) -> Type:
    """A type on its own.

    Raises:
        OnnxTextError: the text is not of the language.
    """
    type: Type = parse_start(source, "type_fragment")
    return type


def parse_start(source: Source, start: str) -> Any:
    """Parse a text from one of the grammar's start rules.

    Args:
        source: the text.
        start: the start rule.

    Raises:
        OnnxTextError: the text is not of the language.
    """
    value, diagnostics = parse_partial(source, start)
    if diagnostics:
        raise OnnxTextError(*diagnostics)
    return value


def parse_partial(source: Source, start: str) -> tuple[Any, tuple[Diagnostic, ...]]:
    """Parse what can be read of a text.

    Args:
        source: the text.
        start: the start rule.

    Returns:
        What was read, without the statements in which something is wrong, or None if too little
        is left; and what is wrong, in the order of the text: nothing if the value is whole.
    """
    broken = check_characters(source)
    if broken is not None:
        return None, (broken,)
    parser = _make_parser(source.text, start)
    errors: list[SemanticError] = []
    parser.machine.semantic_errors = errors
    recovery: Recovery | None = None

    def recover() -> Recovery:
        """Start recovery, at the first mistake: most texts have none, and it takes imports."""
        nonlocal recovery
        if recovery is None:
            from onnxtext.syntax.recovery.recovery import Recovery

            recovery = Recovery(parser, source, errors)
        return recovery

    parser.recover = lambda unexpected: recover().recover(unexpected)
    value = ERROR_NODE
    with paused_collector():
        try:
            value = parser.parse()
        except SemanticError as error:  # one that no parser can go on after
            recover().stop(error)
    diagnostics = recover().finish() if errors or recovery is not None else ()
    parser.recover = None  # what refers to itself is freed by the collector only, and slowly
    return (None if value is ERROR_NODE else value), tuple(diagnostics)


def _make_parser(text: str, start: str) -> Parser:
    """A parse by the core that runs."""
    if core() == "native":
        from onnxtext.syntax.parser.compiled import CoreParser

        return CoreParser(text, start)
    return Parser(text, start)


def check_characters(source: Source) -> Diagnostic | None:
    """What is wrong with a text that has characters without UTF-8."""
    if source.text.isascii():
        return None
    try:
        source.text.encode("utf-8")
    except UnicodeEncodeError as error:
        return Diagnostic(
            "invalid-character",
            "the text holds half a surrogate pair, which is no character",
            source=source,
            labels=(Label(Span(error.start, error.end)),),
            help=r'write bytes that are not UTF-8 as b"\xNN"',
        )
    return None
