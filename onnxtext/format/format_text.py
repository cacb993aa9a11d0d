# SPDX-License-Identifier: Apache-2.0
"""Format a text and verify that its model and comments are unchanged."""

from __future__ import annotations

from onnxtext.ast.model import Model
from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.format.format_in_full import write_document
from onnxtext.format.incremental import extract_lists
from onnxtext.format.tokens_with_comments import comments_of
from onnxtext.format.trivia_spans import BLANK_LINE, same_code
from onnxtext.io.memory import paused_collector
from onnxtext.printer import print_model
from onnxtext.recursion_limit import room_for_nesting
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model


def format_source(source: Source, *, read_again: bool = False, model: Model | None = None) -> str:
    """Format a text in the canonical layout.

    The result is verified: most statements of lists one by one (`incremental`), the rest by a
    second parse.

    Args:
        source: the text of a whole model.
        read_again: whether to always verify the whole result by a second parse, for example because
            the result will replace a file. This takes as long as parsing the text.
        model: the syntax tree of the text; None to parse the text.

    Returns:
        The formatted text, with the same syntax tree and the same comments in the same order.

    Raises:
        OnnxTextError: the text does not parse, or is nested too deeply; or formatting would change
            the model or comments, which is a bug.
    """
    # Resume garbage collection only after `_format` has returned and freed its tree: inside
    # `_format`, the collector would traverse the tree.
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
        printed = print_model(model)
        if printed == text:
            return text
        is_bare = "#" not in text and not BLANK_LINE.search(text)
        if is_bare and same_code(text, printed) and _difference(source, model, printed) is None:
            return printed
        formatted = format_incrementally(source, model, printed)
        if formatted is not None:
            if read_again and formatted != text:
                _compare(source, model, formatted)
            return formatted
        formatted = write_document(text)
    except RecursionError:
        message = "the text is nested too deeply to be formatted"
        raise _refusal(source, message, help=None) from None
    _compare(source, model, formatted)
    return formatted


def _compare(source: Source, model: Model, formatted: str) -> None:
    """Raise OnnxTextError if the model or the comments of a formatted text differ."""
    difference = _difference(source, model, formatted)
    if difference is not None:
        raise _refusal(source, f"formatting this text would {difference}")


def format_incrementally(source: Source, model: Model, printed: str) -> str | None:
    """Format a text statement by statement, and verify the result.

    `printed` is the text that the printer writes for `model`. Return None if the text must be
    formatted in full.
    """
    cut = extract_lists(source.text, model, printed)
    if cut is None:
        return None
    rest = Source(cut.text(), source.name)
    written = write_document(rest.text)
    if not cut.is_aligned(written):
        return None
    formatted = cut.put_back(written)
    try:
        rest_model = parse_model(rest)
    except OnnxTextError:  # for example, a section refers to an extracted statement
        difference = _difference(source, model, formatted)
    else:
        difference = _difference(rest, rest_model, written)
    return formatted if difference is None else None


def _difference(source: Source, model: Model, formatted: str) -> str | None:
    """Compare the model and comments of a formatted text with those of its source.

    Return the difference as a phrase for an error message, such as `change the model`; None if
    there is no difference.
    """
    try:
        same = parse_model(Source(formatted, source.name)) == model
    except OnnxTextError:
        same = False
    if not same:
        return "change the model"
    return "lose or move comments" if comments_of(formatted) != comments_of(source.text) else None


def _refusal(
    source: Source, message: str, help: str | None = "please report this, with the text if you can"
) -> OnnxTextError:
    """Create the error for a text that cannot be formatted."""
    notes = ("the text was not changed",)
    return OnnxTextError(
        Diagnostic("not-formatted", message, source=source, notes=notes, help=help)
    )
