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


def format_source(source: Source, *, prove: bool = False) -> str:
    """A text in the canonical layout.

    What was not made by the printer alone is read again and compared with what it was made of.

    Args:
        source: the text of a whole model.
        prove: whether to read the result again in any case, as one does before a file is replaced.

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
            formatted = _by_lines(text, print_model(model, printer))
            if formatted is not None:
                proven = formatted == text or not (prove or printer.kept)
                if proven or _difference(source, model, formatted) is None:
                    return formatted
            formatted = write_large(text, model)
        except RecursionError:
            raise _refusal(source, "the text is nested too deeply to be formatted") from None
        difference = _difference(source, model, formatted)
        if difference is not None:
            raise _refusal(source, f"formatting this text would {difference}")
    return formatted


def _by_lines(text: str, printed: str) -> str | None:
    """The text in the lines of its printed form; None if that takes more."""
    if printed == text:
        return text
    formatted = merge(text, printed)
    if formatted is None and (relaid := relay(text, printed)) is not None:
        return relaid if relaid is printed else merge(relaid, printed)
    return formatted


def _difference(source: Source, model: Model, formatted: str) -> str | None:
    """What is otherwise in a formatted text, read again; None if nothing is."""
    try:
        same = parse_model(Source(formatted, source.name)) == model
    except OnnxTextError:
        same = False
    if not same:
        return "change the model"
    return "lose or move comments" if comments_of(formatted) != comments_of(source.text) else None


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
