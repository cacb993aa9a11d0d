# SPDX-License-Identifier: Apache-2.0
"""Write an edited model into its text, keeping comments, layout and spelling of the rest.

Edited nodes, values and sections are replaced (`splicing`). Other differences, such as in the
header, are written item by item (`item_edits`). If the result is not the edited model, they are
merged into the text: the base is the model before the edit, printed; ours is the text; theirs is
the edited model, printed. Conflicts are resolved to theirs. If that also fails, the edited model is
printed instead.
"""

from __future__ import annotations

from onnxtext.ast.model import Model
from onnxtext.io.memory import paused_collector
from onnxtext.merger.line_endings import plain_text
from onnxtext.merger.texts.reprint_comments import restore_comments
from onnxtext.merger.texts.text_proposal import edit_in_layout
from onnxtext.merger.texts.verify_merged_text import parse_or_none
from onnxtext.printer import print_model
from onnxtext.rewriter.model_edits import edit_items
from onnxtext.rewriter.splicing import splice
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_model


def rewrite_text(text: str, model: Model, *, name: str = "<string>") -> str:
    """Return a text of an edited model that keeps the unchanged parts of the text before the edit.

    Args:
        text: the text before the edit.
        model: the edited syntax tree of the text.
        name: the name of the text in messages.

    Returns:
        The text: it parses to the edited model.

    Raises:
        OnnxTextError: the text has errors.
    """
    with paused_collector():
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
        plain, line_ends = plain_text(spliced)
        if parsed == model:
            return spliced
        before, after = print_model(parsed), print_model(model)
        edited = edit_items(parsed, model, plain, before, after)
        if edited is None or parse_or_none(edited) != model:
            edited = edit_in_layout(plain, before, after)
            if edited is None or parse_or_none(edited) != model:
                edited = after
            edited = restore_comments(edited, (text, old), model)
        return line_ends.restore(edited)
