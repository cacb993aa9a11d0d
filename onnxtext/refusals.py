# SPDX-License-Identifier: Apache-2.0
"""What the functions of `onnxtext.api` raise and warn of, in words."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from onnxtext.diagnostics import Diagnostic, Label, OnnxTextError, OnnxTextWarning
from onnxtext.source import Source, Span, find_by_quote

if TYPE_CHECKING:
    from onnxtext.ast.model import Fragment, Model
    from onnxtext.proto.lift import LiftError
    from onnxtext.proto.lower import LowerError


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
    from onnxtext.weights.missing import blob_owners

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


def may_exceed(text: str) -> bool:
    """Whether a text may make a model that is much larger than the text itself."""
    return "..." in text or find_by_quote(text, 'blob"') >= 0


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
    """What to raise for a text that says what no model can hold."""
    at = max(error.at, 0)
    end = min(at + 1, len(source.text))
    return OnnxTextError(
        Diagnostic(error.code, error.message, source=source, labels=(Label(Span(at, end)),))
    )


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
