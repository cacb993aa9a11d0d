# SPDX-License-Identifier: Apache-2.0
"""Write an edited model into its text, keeping comments, layout and spelling of the rest.

Edited nodes, values and sections are replaced (`splicing`). Other differences, such as in the
header or in the order of nodes, are written item by item (`item_edits`). If the result does
not parse to the edited model, the edited model is printed instead.
"""

from __future__ import annotations

from onnxtext.ast.model import Model
from onnxtext.ast.wrong_values import raise_for_wrong_value
from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.io.memory import paused_collector
from onnxtext.merger.line_endings import plain_text
from onnxtext.merger.texts.reprint_comments import restore_comments
from onnxtext.merger.texts.verify_merged_text import parse_or_none
from onnxtext.printer import print_model
from onnxtext.proto.encode.lower import LowerError, lower_without_weights
from onnxtext.rewriter.model_edits import edit_items
from onnxtext.rewriter.splicing import splice
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model


def rewrite_text(text: str, model: Model, *, name: str) -> str:
    """Return a text of an edited model that keeps the unchanged parts of the text before the edit.

    Args:
        text: the text before the edit.
        model: the edited syntax tree of the text.
        name: the name of the text in messages.

    Returns:
        The text: it means the edited model.

    Raises:
        OnnxTextError: the text has errors, or the model cannot be written as a text.
    """
    with paused_collector():
        try:
            return _rewrite(text, model, name)
        except Exception as error:
            raise_for_wrong_value(model, error)
            raise


def _rewrite(text: str, model: Model, name: str) -> str:
    old = parse_model(Source(text, name))
    if old == model:
        return text
    for in_parts in (True, False):
        spliced = splice(Source(text, name), old, model, in_parts=in_parts)
        parsed = parse_or_none(spliced)
        if parsed is not None:
            break
    else:
        spliced, parsed = text, old
    if parsed == model:
        return spliced
    edited = edit_items(parsed, model, spliced)
    if edited is not None and parse_or_none(edited) == model:
        return edited
    _, line_ends = plain_text(text)
    result = line_ends.restore(restore_comments(print_model(model), (text, old), model))
    try:
        parsed = parse_model(Source(result, name))
        reason = "" if _mean_the_same(parsed, model) else "its text would mean another model"
    except OnnxTextError as error:
        reason = error.diagnostics[0].message
    if parsed != model:
        cause = ValueError(reason or "the text does not parse to the edited model")
        raise_for_wrong_value(model, cause)
    if reason:
        message = f"the edited model cannot be written as a text: {reason}"
        raise OnnxTextError(Diagnostic("edit-refused", message))
    return result


def _mean_the_same(left: Model, right: Model) -> bool:
    """Whether two trees mean the same model; for example, output types `(None,)` mean none.

    Return True if neither tree can be encoded, for example because blobs are missing, or because
    lists repeat their last items too often.
    """
    return left == right or _encoded(left) == _encoded(right)


def _encoded(model: Model) -> bytes | None:
    try:
        return lower_without_weights(model, reject_repetitions=True)
    except LowerError:
        return None
