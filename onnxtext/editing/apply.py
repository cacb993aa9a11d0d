# SPDX-License-Identifier: Apache-2.0
"""Apply an edit to a text or to a binary model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from onnxtext.ast.model import Model
from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.io.memory import paused_collector
from onnxtext.model_arguments import require_bytes
from onnxtext.recursion_limit import room_for_nesting


@dataclass(frozen=True, slots=True)
class EditResult:
    """The result of an edit.

    Attributes:
        content: the new text, or the bytes of the new binary model.
        notes: sentences about the edit to show to the user.
    """

    content: str | bytes
    notes: tuple[str, ...] = ()


def apply(
    content: str | bytes, edit: Callable[[Model], list[str] | None], *, name: str = "<model>"
) -> EditResult:
    """Apply an edit to a text or to a binary model.

    A text keeps its comments and layout.

    Args:
        content: a text, or the bytes of a binary model.
        edit: a function that changes the syntax tree in place. It may return sentences for the
            user, which become `EditResult.notes`.
        name: the name of the model in messages.

    Raises:
        OnnxTextError: the model is invalid, or the edit is not possible.
        TypeError: `content` is neither a text nor bytes.
    """
    with paused_collector(), room_for_nesting():
        if isinstance(content, str):
            return _edit_text(content, edit, name)
        from onnxtext.binary_to_text import lift_placed
        from onnxtext.proto.encode.lower import LowerError, lower_model

        # This tree equals the tree of the text that `from_binary` prints for the model.
        model = lift_placed(require_bytes(content), weights="inline", name=name)
        model.encoding = None  # the encoding patch applies only to the bytes before the edit
        before = lower_model(model)
        notes = edit(model) or []
        try:
            data = lower_model(model)
        except LowerError as error:  # an attribute or node that the edit adds is invalid
            raise OnnxTextError(Diagnostic(error.code, error.message, file=name)) from None
        return EditResult(content if data == before else data, tuple(notes))


def _edit_text(text: str, edit: Callable[[Model], list[str] | None], name: str) -> EditResult:
    from onnxtext.editing.opsets.conversion_diagnostics import ConversionError
    from onnxtext.rewriter.rewrite_text import rewrite_text
    from onnxtext.source import Source
    from onnxtext.syntax.parse import parse_model

    model = parse_model(Source(text, name))
    before = parse_model(Source(text, name)) if model.encoding is not None else None
    try:
        notes = edit(model) or []
    except ConversionError as error:
        raise error.located(Source(text, name)) from None
    if before is not None and model != before:
        model.encoding = None
    return EditResult(rewrite_text(text, model, name=name), tuple(notes))
