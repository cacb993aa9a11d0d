# SPDX-License-Identifier: Apache-2.0
"""What users hand in to be checked: text, bytes, a path, a message; and what is made of it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from onnxtext.ast.model import Fragment, Model
from onnxtext.checker.engine.run import check_tree
from onnxtext.checker.isolation.light import LARGE
from onnxtext.collector import paused_collector
from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.errors import check_declared_size
from onnxtext.filetype import is_binary
from onnxtext.proto.decode.lift import LiftError, lift_fragment, lift_model
from onnxtext.source import Source


def check_any(
    source: Any,
    *,
    name: str | None = None,
    base_dir: Path | None = None,
    select: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
) -> list[Diagnostic]:
    """Check a text, a binary model, a file or a message.

    Args:
        source: text, bytes of a model, a path, or a message of the `onnx` package.
        name: what to call it in messages.
        base_dir: the directory of external data; of a file, its own by default.
        select: rules to turn on besides those that are on by default; `all` is every rule.
        ignore: rules to turn off.

    Raises:
        OSError: the file cannot be read.
        TypeError: the source is nothing of these.
        UnknownRule: a slug is no rule's.
    """
    with paused_collector():
        try:
            return _check(source, name, base_dir, select, ignore)
        except RecursionError:
            return [too_deep(name)]


def too_deep(name: str | None) -> Diagnostic:
    """What is said about a model that is nested deeper than anything can read."""
    message = "graphs or types are nested too deep to be checked"
    return Diagnostic("too-deep", message, file=name or "<string>", path="model")


def _check(
    source: Any,
    name: str | None,
    base_dir: Path | None,
    select: Sequence[str] | None,
    ignore: Sequence[str] | None,
) -> list[Diagnostic]:
    match source:
        case str():
            return check_text(
                source, name=name or "<string>", base_dir=base_dir, select=select, ignore=ignore
            )
        case bytes() | bytearray() | memoryview():
            return check_binary(
                bytes(source),
                name=name or "<bytes>",
                base_dir=base_dir,
                select=select,
                ignore=ignore,
            )
        case os.PathLike():
            path = Path(source)
            return check_file(
                path.read_bytes(),
                name=name or os.fspath(source),
                base_dir=path.parent if base_dir is None else base_dir,
                select=select,
                ignore=ignore,
            )
    message = type(source).__name__
    if message == "ModelProto":
        data = source.SerializeToString()
        return check_binary(
            data, name=name or "<message>", base_dir=base_dir, select=select, ignore=ignore
        )
    if message in ("GraphProto", "FunctionProto", "NodeProto"):
        fragment = lift_fragment(source.SerializeToString(), message)
        return check_tree(
            fragment, file=name or "<message>", base_dir=base_dir, select=select, ignore=ignore
        )
    raise TypeError(f"what is checked is text, bytes, a path or a message of onnx, not {message}")


def check_file(data: bytes, *, name: str, **options: Any) -> list[Diagnostic]:
    """Check the content of a file, which is binary or text by its name, else by its content."""
    from onnxtext.filetype import decode_text

    if is_binary(data, name):
        return check_binary(data, name=name, **options)
    try:
        text = decode_text(data, name)
    except OnnxTextError as error:
        return list(error.diagnostics)
    return check_text(text, name=name, **options)


def check_text(text: str, *, name: str, **options: Any) -> list[Diagnostic]:
    """Check a text: a model, or a graph, a function or nodes on their own.

    Its syntax errors are findings.
    """
    source = Source(text, name)
    try:
        root = parse_any(source)
        check_declared_size(root, source)
    except OnnxTextError as error:
        return list(error.diagnostics)

    if not isinstance(root, Model):
        refused = refuse_fragment(root, source)
        return _in_order(refused, check_tree(root, source=source, **options))
    encoded, refused = encoded_for_checks(root, source, options.get("base_dir"))
    return _in_order(refused, check_tree(root, source=source, encoded=encoded, **options))


def _in_order(refused: list[Diagnostic], found: list[Diagnostic]) -> list[Diagnostic]:
    """Findings of two kinds in the order of the text."""
    if not refused:
        return found
    return sorted([*refused, *found], key=lambda item: item.span.start if item.span else -1)


def encoded_for_checks(
    model: Model, source: Source, base_dir: Path | None
) -> tuple[Callable[[], bytes | None], list[Diagnostic]]:
    """Encode a model for the inference of onnx.

    Returns:
        What gives the bytes, None if the model cannot be encoded; and everything for which
        `to_binary` refuses it.
    """
    from onnxtext.conversion import FilesBeside, lower_checked
    from onnxtext.errors import left_out, lowering_errors
    from onnxtext.proto.encode.lower import LowerError, lower_without_weights

    refused = left_out(model, source)
    if model.resources_left_out:
        return lambda: None, refused
    elsewhere = FilesBeside(model, base_dir)
    try:
        pieces = lower_checked(model, source, elsewhere)
        if sum(map(len, pieces)) < LARGE:
            return lambda: b"".join(pieces), refused
        # The inference of onnx needs no large weights, and would copy them.
        return lambda: lower_without_weights(model, elsewhere), refused
    except LowerError as error:
        return lambda: None, [*refused, *lowering_errors(model, error, source, elsewhere)]
    except OnnxTextError as error:
        return lambda: None, [*refused, *error.diagnostics]


def refuse_fragment(fragment: Fragment, source: Source) -> list[Diagnostic]:
    """Everything in the text of a fragment that no message can hold."""
    from onnxtext.errors import lowering_errors
    from onnxtext.proto.encode.lower import LowerError, lower_fragment

    try:
        lower_fragment(fragment)
    except LowerError as error:
        return lowering_errors(fragment, error, source)
    return []


def parse_any(source: Source) -> Model | Fragment:
    """Parse a model; what is none, but a graph, a function or nodes on their own, as that.

    The text of a graph can be read as one of a model without a header. The text of a function can
    be read as one of a model, whose header has a domain, but no `ir_version`, and nothing in whose
    graph has a type.

    Raises:
        OnnxTextError: it is none of these; the errors are those of what it begins as.
    """
    from onnxtext.syntax.parse import parse_fragment, parse_model, try_fragment

    model: Model | None = None
    failure: OnnxTextError | None = None
    try:
        model = parse_model(source)
    except OnnxTextError as error:
        failure = error
    if model is not None:
        perhaps = looks_like_function(model)
    else:
        perhaps = failure is not None and _may_be_function(source.text, failure)
    if perhaps:
        function = try_fragment(source, "function")
        if function is not None:
            return function
    if model is None and _begins_with_node(source.text):
        return parse_fragment(source, "nodes")
    if model is None:
        assert failure is not None
        raise failure
    return Fragment(model.graph, model.presence) if _is_graph(model, source.text) else model


def _may_be_function(text: str, failure: OnnxTextError) -> bool:
    """Whether what is no model may be a function: not if it is wrong in a body, which are alike."""
    labels = failure.diagnostics[0].labels
    body = _BODY.match(text)
    return "=>" in text and not (body and labels and labels[0].span.start >= body.end())


_BODY = re.compile(r'[^"#{]*=>[^"#{]*\{')
"""What surely goes on with the body of a graph or of a function."""


def _begins_with_node(text: str) -> bool:
    """Whether a text begins as a node does: with outputs and `=`."""
    return _NODE.match(text) is not None


_NODE = re.compile(
    r'(?:\s|#[^\n]*(?:\n|\Z))*(?:\[[^\]\n]*\]\s*)?(?:"[^"\n]*"|[\w.]+)\s*(?:=(?!>)|,)'
)


def _is_graph(model: Model, text: str) -> bool:
    """Whether a text is a graph only: nothing stands before it or behind it."""
    from onnxtext.syntax.grammar.lexer import load_lexer

    if model != Model(model.graph, presence=model.presence):
        return False
    first = load_lexer().token(text, 0)
    return first is not None and first != "<"


def looks_like_function(model: Model) -> bool:
    """Whether a text that was read as a model says a function on its own."""
    values = (*model.graph.inputs, *model.graph.outputs)
    untyped = bool(values) and all(value.type is None for value in values)
    return untyped and model.ir_version is None and bool(model.domain) and not model.functions


def check_binary(data: bytes, *, name: str, **options: Any) -> list[Diagnostic]:
    """Check a binary model. That it is none is a finding."""
    from onnxtext.proto.decode.errors import diagnose_invalid

    try:
        model = lift_model(data)
    except (LiftError, ValueError) as error:
        diagnostic = diagnose_invalid(data, name)
        if diagnostic is None:
            raise error
        return [diagnostic]
    return check_tree(model, file=name, encoded=lambda: data, **options)
