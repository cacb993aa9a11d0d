# SPDX-License-Identifier: Apache-2.0
"""The public functions `diff`, `merge`, `rewrite` and `verify`."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from onnxtext.diagnostics import OnnxTextError
from onnxtext.io.memory import paused_collector
from onnxtext.model_arguments import ModelArgument, as_tuple, read_model_argument, require_text
from onnxtext.source import Source

if TYPE_CHECKING:
    from onnxtext.ast.model import Model
    from onnxtext.differ import ModelDiff, ModelSide
    from onnxtext.differ.result import Category
    from onnxtext.merger import MergeResult
    from onnxtext.model_arguments import ModelSource
    from onnxtext.verifier import Verdict


def diff(old: ModelSource, new: ModelSource, *, ignore: Collection[Category] = ()) -> ModelDiff:
    """Compare two models.

    Nodes are matched by what they compute and by their names, so renamed values and moved nodes
    are recognized.

    Args:
        old: a text (a `str`), bytes of a text or of a binary model, the path of a file with either
            (a `pathlib.Path`), a message (`ModelProto`, `GraphProto`, `FunctionProto` or
            `NodeProto`), or an object of `onnx_ir` or `onnxscript`.
        new: the other model, in one of the forms of `old`.
        ignore: categories of differences to leave out: `weights`, `order`, `names`, `metadata`,
            `doc` or `encoding`. A `str` is one category.

    Returns:
        The differences; falsy if there are none. `str(result)` is the output of `onnxtext diff`.

    Raises:
        OnnxTextError: a model is not valid.
        OSError: a file cannot be read.
        TypeError: a source has an unsupported type, or is a `str` that looks like a file name.
        ValueError: `ignore` has an unknown category.
    """
    from onnxtext.differ import IGNORABLE, compare

    ignored = as_tuple(ignore)
    for name in ignored:
        if name not in IGNORABLE:
            raise ValueError(f"{name!r} cannot be ignored; choose one of {', '.join(IGNORABLE)}")
    with paused_collector():
        sides = [_side(source) for source in (old, new)]
        return compare(*sides).without(frozenset(ignored))


def _side(source: ModelSource) -> ModelSide:
    from onnxtext.differ import ModelSide

    argument = read_model_argument(source).as_model()
    if isinstance(argument.content, str):
        return ModelSide.of_text(argument.content, label=argument.name, base=argument.base)
    return ModelSide.of_binary(argument.content, label=argument.name, base=argument.base)


def merge(
    base: ModelSource,
    ours: ModelSource,
    theirs: ModelSource,
    *,
    labels: tuple[str, str, str] = ("base", "ours", "theirs"),
) -> MergeResult:
    """Merge two versions of a model, statement by statement (a three-way merge).

    If only one version changed a statement or a part of it, the merge has this change. If both
    versions changed the same part in different ways, the statement is a conflict. If one version
    equals the base, the result is the other version, byte for byte.

    Args:
        base: the common ancestor, in one of the forms that `diff` takes; `b""` if there is none.
        ours: one version.
        theirs: the other version.
        labels: names of the base, ours and theirs in the markers of conflicts; each is one line.

    Returns:
        The merged model and its number of conflicts. The model is binary if all versions are binary
        and there is no conflict; otherwise it is a text with conflicts marked as by git. If a
        binary version is not a valid model, the result is ours, unchanged, with a note.

    Raises:
        OnnxTextError: a file is neither a binary model nor UTF-8, or a text has a lone surrogate.
        OSError: a file cannot be read.
        TypeError: a source has an unsupported type, or is a `str` that looks like a file name;
            or a label is not a `str`.
        ValueError: there are not three labels; or a label has a line end, a null character or a
            surrogate that stands for no byte.
    """
    from onnxtext.merger import merge as merge_contents
    from onnxtext.merger.conflict_markers import LABEL

    if len(labels) != 3:
        raise ValueError(f"expected three labels, found {len(labels)}")
    for label in as_tuple(labels):
        if not LABEL.fullmatch(label):
            raise ValueError(f"{label!r} cannot be a label: it must be one line of characters")
    arguments = [read_model_argument(source).as_model() for source in (base, ours, theirs)]
    return merge_contents(*[_encoded(argument) for argument in arguments], labels=labels)


def _encoded(argument: ModelArgument) -> bytes:
    """Return an argument as bytes; raise OnnxTextError for a text with a lone surrogate."""
    if isinstance(argument.content, str):
        from onnxtext.syntax.parse import check_characters

        wrong = check_characters(Source(argument.content, argument.name))
        if wrong is not None:
            raise OnnxTextError(wrong)
    return argument.data


def rewrite(text: str, model: Model, *, name: str = "<string>") -> str:
    """Write an edited syntax tree back to its text; comments and the rest of the text stay.

    If possible, only statements that differ are printed. If a statement is removed, the comment
    after it on the same line is removed, too; comments above it stay.

    Args:
        text: the text before the edit.
        model: the syntax tree that `parse(text)` returned, after the edit.
        name: the name of the text in messages.

    Returns:
        The new text; it means the edited model.

    Raises:
        OnnxTextError: the text cannot be parsed, or the tree cannot be written as a text.
        TypeError: the text is not a `str`.
    """
    from onnxtext.rewriter.rewrite_text import rewrite_text

    require_text(text)
    return rewrite_text(text, model, name=name)


def verify(source: ModelSource) -> Verdict:
    """Convert a binary model to text and back, or a text to binary and back, and find differences.

    Args:
        source: the model, in one of the forms that `diff` takes.

    Returns:
        The violations of the laws L1 and L3 in docs/laws.md. The result is true if there are none.

    Raises:
        OnnxTextError: the model is not valid.
        OSError: the file cannot be read.
        TypeError: the source has an unsupported type, or is a `str` that looks like a file name.
    """
    from onnxtext.verifier import verify_binary, verify_text

    argument = read_model_argument(source).as_model()
    if isinstance(argument.content, str):
        return verify_text(argument.content, base_dir=argument.base, name=argument.name)
    return verify_binary(argument.content, name=argument.name)
