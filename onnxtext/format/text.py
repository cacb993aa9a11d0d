# SPDX-License-Identifier: Apache-2.0
"""Formatting a text, and proving that nothing was lost."""

from __future__ import annotations

from onnxtext.ast.model import Model
from onnxtext.collector import paused_collector
from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.format.document import write_document
from onnxtext.format.incremental import extract_lists
from onnxtext.format.incremental_layout import use_printed_lines
from onnxtext.format.incremental_lines import merge
from onnxtext.format.tokens import comments_of
from onnxtext.printer import print_model
from onnxtext.recursion import room_for_nesting
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model

LONGEST_REST = 20_000
"""If more than this is left without the long lists, other ways are shorter."""


def format_source(source: Source, *, read_again: bool = False, model: Model | None = None) -> str:
    """A text in the canonical layout.

    What is not the text itself is proven to say the same: statements of long lists one by one
    (`reduced`), all the rest by reading it again and comparing.

    Args:
        source: the text of a whole model.
        read_again: whether to read and compare all of the result again, however it was proven:
            for what is to replace a file. That takes as long as parsing the text.
        model: what the text was parsed to without an error, if it was parsed already.

    Returns:
        The text: its syntax tree is the same, and it has the same comments in the same order.

    Raises:
        OnnxTextError: the text is not of the language; or it could not be formatted without
            changing what it says, which would be a bug.
    """
    # The collector is paused around the call, so that it does not walk the tree in the end.
    with paused_collector(), room_for_nesting():
        return _format(source, read_again, model)


def _format(source: Source, read_again: bool, model: Model | None) -> str:
    text = source.text.removeprefix("\ufeff")
    try:
        if model is None:
            model = parse_model(source)
        if text != source.text:
            source = Source(text, source.name)
            model = parse_model(source)
        formatted = _shortened(source, model)
        if formatted is not None:
            if read_again and formatted != text:
                _compare(source, model, formatted)
            return formatted
        formatted = _by_lines(text, print_model(model))
        if formatted == text:
            return formatted
        if formatted is not None and _difference(source, model, formatted) is None:
            return formatted
        formatted = write_document(text)
    except RecursionError:
        raise _refusal(source, "the text is nested too deeply to be formatted") from None
    _compare(source, model, formatted)
    return formatted


def _compare(source: Source, model: Model, formatted: str) -> None:
    """Read a formatted text again.

    Raises:
        OnnxTextError: it does not say the same.
    """
    difference = _difference(source, model, formatted)
    if difference is not None:
        raise _refusal(source, f"formatting this text would {difference}")


def _shortened(source: Source, model: Model) -> str | None:
    """A text with long lists, formatted and proven; None if it has none, or that takes more."""
    cut = extract_lists(source.text, model)
    if cut is None or not cut.is_proven():
        return None
    rest = Source(cut.text(), source.name)
    if len(rest.text) > max(LONGEST_REST, len(source.text) // 20):
        return None
    formatted = write_document(rest.text)
    try:
        proven = _difference(rest, parse_model(rest), formatted) is None
    except OnnxTextError:  # sections say something about what was taken out
        proven = _difference(source, model, cut.put_back(formatted)) is None
    return cut.put_back(formatted) if proven else None


def _by_lines(text: str, printed: str) -> str | None:
    """The text in the lines of its printed form; None if that takes more."""
    if printed == text:
        return text
    formatted = merge(text, printed)
    if formatted is None and (relaid := use_printed_lines(text, printed)) is not None:
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
