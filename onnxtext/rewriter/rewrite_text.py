# SPDX-License-Identifier: Apache-2.0
"""Write an edited model into its text, keeping comments, layout and spelling of the rest.

Edited nodes and values are replaced (`splicing`). Other differences, such as in the header or a
section, are merged into the text: the base is the model before the edit, printed; ours is the text;
theirs is the edited model, printed. Conflicts are resolved to theirs. If the result does not parse
to the edited model, that model is printed instead.
"""

from __future__ import annotations

from onnxtext.ast.model import Model
from onnxtext.io.memory import paused_collector
from onnxtext.merger.line_endings import plain_text
from onnxtext.merger.texts.reprint_comments import restore_comments
from onnxtext.merger.texts.text_proposal import edit_in_layout
from onnxtext.merger.texts.verify_merged_text import parse_or_none
from onnxtext.printer import print_model
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
        for in_tokens in (True, False):
            spliced = splice(Source(text, name), old, model, in_tokens=in_tokens)
            parsed = parse_or_none(spliced)
            if parsed is not None:
                break
        else:
            spliced, parsed = text, old
        plain, line_ends = plain_text(spliced)
        if parsed != model:
            plain = _merge_into_text(plain, parsed, model)
        if "#" in text:
            plain = restore_comments(plain, (text, old), model)
        return line_ends.restore(plain)


def _merge_into_text(text: str, old: Model, model: Model) -> str:
    """Merge the edited model into a text; if that is impossible, print the model."""
    after = print_model(model)
    edited = edit_in_layout(text, print_model(old), after)
    return after if edited is None or parse_or_none(edited) != model else edited
