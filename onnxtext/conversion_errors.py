# SPDX-License-Identifier: Apache-2.0
"""Check sizes, and create the errors and warnings of the public functions (`onnxtext.api`)."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from onnxtext.ast.model import Function, Model
from onnxtext.ast.tensors_and_attributes import Attribute, Blob, SparseTensor, Tensor, TypedBlob
from onnxtext.ast.visit import walk_graphs, walk_nodes
from onnxtext.diagnostics import Diagnostic, Label, OnnxTextError, OnnxTextWarning, Subject
from onnxtext.select_core import cached_module
from onnxtext.source import COMMENT, STRING, Source, Span
from onnxtext.wire.writer import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from onnxtext.ast.model import Fragment, Model
    from onnxtext.proto.decode.lift import Finish
    from onnxtext.proto.encode.lower import LowerError
    from onnxtext.tensor.blobs import BlobSource


_MAX_SHOWN = 20
"""In one diagnostic, the maximum number of marked statements, or of named owners of blobs."""


def check_declared_size(
    model: Model | Fragment, source: Source, max_bytes: int | None = None
) -> None:
    """Check that a model fits into a protobuf message, before its weights are read.

    Args:
        model: the syntax tree of the text.
        source: the text.
        max_bytes: the maximum size of the weights; None for the limit of protobuf only.

    Raises:
        OnnxTextError: the message, or the weights, would be too large.
    """
    from onnxtext.weights.declared_sizes import declared_size

    total, offset = declared_size(model)
    check_encoded_size(total, "weights of this model take", source, offset)
    if max_bytes is not None and total > max_bytes:
        raise _too_large(
            f"the weights of this model take {total:,} bytes, and the limit is {max_bytes:,}",
            source,
            offset,
        )


def check_encoded_size(size: int, subject: str, source: Source, offset: int = 0) -> None:
    """Check that a size fits into a protobuf message.

    Args:
        size: the size in bytes.
        subject: subject and verb of the error message, such as "model would take".
        source: the text.
        offset: offset of the largest statement, at which the error is reported.

    Raises:
        OnnxTextError: the size is too large.
    """
    if size > MAX_MESSAGE_BYTES:
        raise _too_large(
            f"the {subject} {size:,} bytes, but protobuf cannot read or write messages "
            f"of more than {MAX_MESSAGE_BYTES:,}",
            source,
            offset,
            help="`onnxtext to-binary --externalize` writes weights to a file of external data",
        )


def _too_large(message: str, source: Source, offset: int, help: str | None = None) -> OnnxTextError:
    labels = (Label(Span(offset, min(offset + 1, len(source.text)))),)
    return OnnxTextError(
        Diagnostic("model-too-large", message, source=source, labels=labels, help=help)
    )


def lowering_error(error: LowerError, source: Source) -> OnnxTextError:
    """Create the error for a text that cannot be encoded."""
    return OnnxTextError(combined_diagnostic([error], source))


def lowering_errors(
    root: Model | Fragment, first: LowerError, source: Source, blob_source: BlobSource | None = None
) -> list[Diagnostic]:
    """Find all statements that cannot be encoded, and all missing blobs.

    Args:
        root: the syntax tree of the text.
        first: the error that encoding the tree raised; reported if no other error is found.
        source: the text.
        blob_source: finds blobs that are not in the text.

    Returns:
        A diagnostic for each distinct error, with labels at its first statements.
    """
    from onnxtext.proto.encode.collect_errors import find_errors

    same: dict[tuple[str, str], list[LowerError]] = {}
    for error in find_errors(root, blob_source) or [first]:
        key = error.message if error.code == "invalid-record" else error.mark or error.message
        same.setdefault((error.code, key), []).append(error)
    return [combined_diagnostic(errors, source) for errors in same.values()]


def combined_diagnostic(errors: Sequence[LowerError], source: Source) -> Diagnostic:
    """Create one diagnostic for errors that have the same cause at different statements."""
    first = errors[0]
    spans = dict.fromkeys([_error_span(error, source) for error in errors[:_MAX_SHOWN]])
    help = _HELPS.get(first.code)
    labels = tuple(map(Label, spans))
    fix = None
    if first.code == "invalid-record" and len(errors) <= _MAX_SHOWN:
        from onnxtext.decorator_fixes import fix_decorator

        fix = fix_decorator(source.text, first, list(spans))
        form = first.expected[0] if len(first.expected) == 1 else ""
        help = fix.title if fix is not None else f"write `{form}`" if form else help
    subject = Subject("decorator", first.mark) if first.mark.startswith("@") else None
    return Diagnostic(
        first.code, first.message, source=source, labels=labels, help=help, fix=fix, subject=subject
    )


_HELPS = {
    "blob-missing": "print the text again from its model, or copy the blob into `resources`",
    "blob-damaged": "print the text again from its model: the original bytes are lost",
    "blob-ambiguous": "write more digits of the digest",
    "weights-ambiguous": "write more digits of the digest",
    "blob-size": "correct the type of the tensor, or the digest of the blob",
}


def _error_span(error: LowerError, source: Source) -> Span:
    """Return the span of `error.mark` in the text; if not found, of the statement's first token."""
    from onnxtext.syntax.grammar.lexer import load_lexer

    text, offset = source.text, max(error.at, 0)
    if error.mark and error.code == "invalid-record":
        span = _find_words(text, offset, error.mark.split())
        if span is not None:
            return span
    marked = text.find(f'"{error.mark}', offset) if error.mark else -1
    if marked >= 0:
        return Span(marked + 1, marked + 1 + len(error.mark))
    token = load_lexer().token(text, offset)
    end = offset + 1 if token is None else token.at + len(token)
    return Span(min(offset if token is None else token.at, len(text)), min(end, len(text)))


def _find_words(text: str, offset: int, words: Sequence[str]) -> Span | None:
    """Find words and decorators in the given order; return the span of the last one found.

    The search ends before the first one that is missing. Return None if none is found.
    """
    span = None
    for word in words:
        pattern = re.escape(word[1:]) if word[0] == "@" else re.escape(word)
        before = r"@(?:\w+\.)?" if word[0] == "@" else r"(?<![\w.@])"
        found = re.compile(rf"{STRING}|{COMMENT}|({before}{pattern}(?!\w))", re.DOTALL)
        match = next((m for m in found.finditer(text, offset) if m[1] is not None), None)
        if match is None:
            break
        offset, span = match.end(), Span(*match.span())
    return span


def invalid_model_error(data: bytes, error: ValueError, name: str) -> ValueError:
    """Return an error that explains why bytes are not a model; `error` if the reason is unknown."""
    from onnxtext.proto.decode.invalid_models import diagnose_invalid

    diagnostic = diagnose_invalid(data, name)
    return error if diagnostic is None else OnnxTextError(diagnostic)


def lift_binary(
    data: bytes | memoryview, name: str, finish: Finish | None = None, most_ints: int = sys.maxsize
) -> Model:
    """Decode a binary model to a syntax tree; `finish` and `most_ints` are for `lift_model`.

    Raises:
        OnnxTextError: the bytes are not a valid `ModelProto`; the diagnostic has the reason.
    """
    try:
        model: Model = cached_module("proto.decode.lift").lift_model(data, finish, most_ints)
        return model
    except ValueError as error:  # a LiftError, or numpy's error for a corrupt list
        raise invalid_model_error(bytes(data), error, name) from None


def warn_if_suspicious(data: bytes, name: str) -> None:
    """Issue an `OnnxTextWarning` if a model looks like another type of message, such as a graph."""
    from onnxtext.proto.decode.invalid_models import warn_suspicious

    message = warn_suspicious(data, name)
    if message is not None:
        warnings.warn(message, OnnxTextWarning, stacklevel=3)


def other_message_error(actual: str, expected: str, source: Source) -> OnnxTextError:
    """Create the error for the text of a message of type `actual` instead of type `expected`."""
    labels = (Label(Span(0, len(source.text))),)
    message = f"this text is of type `{actual}`, not `{expected}`"
    return OnnxTextError(Diagnostic("not-a-message", message, source=source, labels=labels))


def deep_message_error(message_type: str) -> OnnxTextError:
    """Create the error for a message that is nested deeper than protobuf reads."""
    from onnxtext.wire.reader import MAX_MESSAGE_DEPTH

    message = f"this {message_type} has messages nested more than {MAX_MESSAGE_DEPTH} levels deep"
    return OnnxTextError(Diagnostic("too-deep", message, file="<message>"))


def left_out_errors(model: Model, source: Source) -> list[Diagnostic]:
    """Return the errors for a text that was printed without its metadata or its weights."""
    result: list[Diagnostic] = []
    if model.metadata_left_out:
        help = "print it again without `--metadata none`; or remove this line, for a model without "
        result.append(_left_out("metadata-left-out", "metadata none", source, f"{help}metadata"))
    if model.resources_left_out:
        named = _all_data(model)
        owners = [f"{owner}, blob {digest}" for owner, data in named for digest in _digests(data)]
        ending = f" and {len(owners) - _MAX_SHOWN} more" if len(owners) > _MAX_SHOWN else ""
        notes = (f"missing: {', '.join(owners[:_MAX_SHOWN])}{ending}",) if owners else ()
        help = "print it again without `--weights none`"
        result.append(_left_out("weights-left-out", "resources none", source, help, notes))
    return result


def _left_out(
    code: str, statement: str, source: Source, help: str, notes: tuple[str, ...] = ()
) -> Diagnostic:
    """Create the error for a text with the statement `metadata none` or `resources none`."""
    offset = source.text.rfind(f"\n{statement}") + 1
    part = code.partition("-")[0]
    message = f"this text was printed without its {part} and cannot be converted to a model"
    labels = (Label(Span(offset, offset + len(statement))),)
    return Diagnostic(code, message, source=source, labels=labels, notes=notes, help=help)


def _all_data(model: Model) -> Iterator[tuple[str, Any]]:
    """Yield (description of the owner, data) for each value and attribute that may have blobs."""
    for graph in walk_graphs(model):
        for value in (*graph.inputs, *graph.values):
            yield f"tensor `{value.name}`", value.data
        if isinstance(graph, Function):
            for item in graph.attributes:
                if isinstance(item, Attribute):
                    yield f"attribute `{item.name}` of the function `{graph.name}`", item.value
    for node in walk_nodes(model):
        for attribute in node.attributes:
            whose = next(filter(None, node.outputs), node.op_type)
            yield f"attribute `{attribute.name}` of `{whose}`", attribute.value


def _digests(value: Any) -> Iterator[str]:
    """Yield the digests of the blobs in a value and its parts."""
    match value:
        case Blob(digest) | TypedBlob(digest):
            yield digest
        case Tensor():
            yield from _digests(value.data)
        case SparseTensor():
            yield from _digests(value.values)
            yield from _digests(value.indices)
        case tuple():
            for item in value:
                yield from _digests(item)
