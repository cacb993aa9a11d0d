# SPDX-License-Identifier: Apache-2.0
"""Formatting a text, and proving that nothing was lost."""

from __future__ import annotations

from onnxtext.ast.model import Model
from onnxtext.collector import paused_collector
from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.format.light import merge
from onnxtext.format.reduced import write_large
from onnxtext.format.relaid import relay
from onnxtext.format.spelled import SpelledPrinter
from onnxtext.format.trivia import comments_of
from onnxtext.printer import print_model
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model


def format_source(source: Source) -> str:
    """A text in the canonical layout.

    Args:
        source: the text of a whole model.

    Returns:
        The text: its syntax tree is the same, and it has the same comments in the same order.

    Raises:
        OnnxTextError: the text is not of the language; or it could not be formatted without
            changing what it says, which would be a bug.
    """
    text = source.text.removeprefix("\ufeff")
    with paused_collector():
        try:
            model = parse_model(source)
            if text != source.text:
                source = Source(text, source.name)
                model = parse_model(source)
            printer = SpelledPrinter(source, model)
            printed = print_model(model, printer)
            formatted = _by_lines(text, printed)
            if formatted is not None and not printer.kept:
                return formatted
            if formatted is None:
                formatted = write_large(text, model)
        except RecursionError:
            raise _refusal(source, "the text is nested too deeply to be formatted") from None
        _prove(source, text, model, formatted)
    return formatted


def _by_lines(text: str, printed: str) -> str | None:
    """The text in the lines of its printed form; None if that takes more."""
    if printed == text:
        return text
    formatted = merge(text, printed)
    if formatted is None and (relaid := relay(text, printed)) is not None:
        formatted = merge(relaid, printed)
    return formatted


def _prove(source: Source, text: str, model: Model, formatted: str) -> None:
    """Read again what was written, and compare."""
    try:
        same = parse_model(Source(formatted, source.name)) == model
    except OnnxTextError:
        same = False
    if not same:
        raise _refusal(source, "formatting this text would change the model")
    if comments_of(formatted) != comments_of(text):
        raise _refusal(source, "formatting this text would lose or move comments")


def _refusal(source: Source, message: str) -> OnnxTextError:
    return OnnxTextError(
        Diagnostic(
            "not-formatted",
            message,
            source=source,
            notes=("the text was left as it is",),
            help="please report this, with the text if you can",
        )
    )
