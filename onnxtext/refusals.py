# SPDX-License-Identifier: Apache-2.0
"""What the functions of `onnxtext.api` raise and warn of, in words."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from onnxtext.diagnostics import Diagnostic, Label, OnnxTextError, OnnxTextWarning
from onnxtext.source import Source, Span

if TYPE_CHECKING:
    from onnxtext.ast.model import Fragment, Model
    from onnxtext.proto.lift import LiftError
    from onnxtext.proto.lower import LowerError
    from onnxtext.tensor.blobs import Elsewhere


def left_out(model: Model, source: Source) -> list[Diagnostic]:
    """What a text lacks that was printed for reading only."""
    found: list[Diagnostic] = []
    if model.metadata_left_out:
        found += incomplete(source).diagnostics
    if model.resources_left_out:
        found += without_weights(model, source).diagnostics
    return found


def incomplete(source: Source) -> OnnxTextError:
    """What to raise for a text that was printed for reading only."""
    at = source.text.rfind("\nmetadata none") + 1
    return OnnxTextError(
        Diagnostic(
            "metadata-left-out",
            "this text was printed without its metadata, so no model can be made of it",
            source=source,
            labels=(Label(Span(at, at + len("metadata none"))),),
            help="print it again without --metadata none; or remove this line, for a model "
            "without metadata",
        )
    )


def without_weights(model: Model, source: Source) -> OnnxTextError:
    """What to raise for a text that was printed without its weights."""
    from onnxtext.weights.blob_owners import blob_owners

    at = source.text.rfind("\nresources none") + 1
    owners = blob_owners(model)
    more = f" and {len(owners) - _SHOWN} more" if len(owners) > _SHOWN else ""
    shown = ", ".join(owners[:_SHOWN]) + more
    return OnnxTextError(
        Diagnostic(
            "weights-left-out",
            "this text was printed without its weights, so no model can be made of it",
            source=source,
            labels=(Label(Span(at, at + len("resources none"))),),
            notes=(f"missing: {shown}",) if owners else (),
            help="print it again without --weights none",
        )
    )


_SHOWN = 20
"""So many missing blobs are named."""


def check_size(model: Model | Fragment, source: Source) -> None:
    """Refuse a model that protobuf could not hold, before its weights are read or made.

    Raises:
        OnnxTextError: it would be too large.
    """
    from onnxtext.weights.sizes import declared_size

    total, at = declared_size(model)
    refuse_size(total, "weights of this model take", source, at)


def refuse_size(size: int, subject: str, source: Source, at: int = 0) -> None:
    """Refuse what protobuf could not hold.

    Args:
        size: in bytes.
        subject: what has it, and the verb.
        source: the text.
        at: offset of what takes most of it.

    Raises:
        OnnxTextError: it is too large.
    """
    from onnxtext.wire.writer import MOST_BYTES

    if size > MOST_BYTES:
        raise OnnxTextError(
            Diagnostic(
                "model-too-large",
                f"the {subject} {size:,} bytes: protobuf reads and writes no message of more than "
                f"{MOST_BYTES:,}",
                source=source,
                labels=(Label(Span(at, min(at + 1, len(source.text)))),),
                help="`onnxtext to-binary --externalize` puts them into a file of external data",
            )
        )


def unlowerable(error: LowerError, source: Source) -> OnnxTextError:
    """What to raise for a text that no model can hold."""
    return OnnxTextError(refused([error], source))


def all_unlowerable(
    root: Model | Fragment, first: LowerError, source: Source, elsewhere: Elsewhere | None = None
) -> list[Diagnostic]:
    """Everything in a text that no model can hold, and every blob that is missing.

    Args:
        root: of the text.
        first: the error of lowering it.
        source: the text.
        elsewhere: where the blobs are that the text does not hold.
    """
    from onnxtext.proto.unlowerable import find_errors

    same: dict[tuple[str, str], list[LowerError]] = {}
    for error in find_errors(root, elsewhere) or [first]:
        same.setdefault((error.code, error.mark or error.message), []).append(error)
    return [refused(errors, source) for errors in same.values()]


def refused(errors: Sequence[LowerError], source: Source) -> Diagnostic:
    """The diagnostic of errors that are the same at several statements."""
    first = errors[0]
    spans = dict.fromkeys([_place(error, source) for error in errors[:_SHOWN]])
    help = _HELPS.get(first.code)
    labels = tuple(map(Label, spans))
    return Diagnostic(first.code, first.message, source=source, labels=labels, help=help)


_HELPS = {
    "blob-missing": "print the text again from its model, or copy the blob into `resources`",
    "blob-damaged": "print the text again from its model: what the bytes were is lost",
    "blob-ambiguous": "write more digits of the digest",
    "blob-size": "correct the type, or name the blob that was meant",
}


def _place(error: LowerError, source: Source) -> Span:
    """What is wrong in a statement; its first word if that is unknown."""
    from onnxtext.syntax.lexer import load_lexer

    text, at = source.text, max(error.at, 0)
    marked = text.find(f'"{error.mark}', at) if error.mark else -1
    if marked >= 0:
        return Span(marked + 1, marked + 1 + len(error.mark))
    token = load_lexer().token(text, at)
    end = at + 1 if token is None else token.at + len(token)
    return Span(min(at if token is None else token.at, len(text)), min(end, len(text)))


def no_model(data: bytes, error: ValueError, name: str) -> ValueError:
    """What to raise for bytes that are no model; the error itself if it is none of theirs."""
    from onnxtext.proto.refusal import refusal

    diagnostic = refusal(data, name)
    return error if diagnostic is None else OnnxTextError(diagnostic)


def advise(data: bytes, name: str) -> None:
    """Warn of a model that is hardly one."""
    from onnxtext.proto.refusal import advice

    said = advice(data, name)
    if said is not None:
        warnings.warn(said, OnnxTextWarning, stacklevel=3)


def not_a_message(error: LiftError, message: str, name: str) -> OnnxTextError:
    """What to raise for bytes that are no message of the wanted type."""
    return OnnxTextError(
        Diagnostic(
            "not-a-model" if message == "ModelProto" else "not-a-message",
            f"these bytes are no {message}: {error.message}",
            offset=error.offset,
            file=name,
        )
    )
