# SPDX-License-Identifier: Apache-2.0
"""Check what a user passes: a text, bytes, a path or a protobuf message of onnx."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from onnxtext.ast.model import Fragment, Model
from onnxtext.checker.engine.check_tree import check_tree, in_text_order
from onnxtext.checker.engine.dangling_entries import join_findings, only_dangling
from onnxtext.checker.isolation.strip_weights import LARGE
from onnxtext.conversion_errors import (
    check_declared_size,
    deep_message_error,
    left_out_errors,
    lift_binary,
    lowering_errors,
)
from onnxtext.diagnostics import Diagnostic, OnnxTextError
from onnxtext.io.memory import paused_collector
from onnxtext.io.text_or_binary import decode_text, is_binary
from onnxtext.model_arguments import ModelArgument, read_model_argument
from onnxtext.plurals import with_article
from onnxtext.proto.decode.lift import LiftError, lift_fragment
from onnxtext.source import Source
from onnxtext.syntax.actions.semantic_error import MAX_SEMANTIC_ERRORS


def check_any(
    source: Any,
    *,
    name: str | None = None,
    base_dir: Path | None = None,
    select: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
) -> list[Diagnostic]:
    """Check a text, a binary model, a file or a protobuf message of onnx.

    `source` is any argument that `onnxtext.model_arguments.read_model_argument` accepts. `name` is
    its name in messages, by default the path of its file. `base_dir` is by default the directory of
    its file. The other arguments are those of `check_tree`. The result includes errors of parsing,
    decoding and encoding.

    Raises:
        OSError: the file cannot be read.
        TypeError: the source has an unsupported type, or is a string that looks like a file name.
        UnknownRule: `select` or `ignore` has a name that is neither a rule nor a profile.
    """
    with paused_collector():
        try:
            options = {"base_dir": base_dir, "select": select, "ignore": ignore}
            return _check(read_model_argument(source, name), options)
        except OnnxTextError as error:
            return list(error.diagnostics)
        except RecursionError:
            return [too_deep_diagnostic(name)]


def too_deep_diagnostic(name: str | None) -> Diagnostic:
    """Return the diagnostic for a model that is nested too deeply to be checked."""
    message = "graphs or types are nested too deeply to be checked"
    return Diagnostic("too-deep", message, file=name or "<string>", path="model")


def _check(argument: ModelArgument, options: dict[str, Any]) -> list[Diagnostic]:
    if options["base_dir"] is None:
        options["base_dir"] = argument.base
    if isinstance(argument.content, str):
        return check_text(argument.content, name=argument.name, **options)
    if argument.message == "ModelProto":
        return _check_binary(argument.content, name=argument.name, **options)
    if argument.message in ("GraphProto", "FunctionProto", "NodeProto"):
        try:
            fragment = lift_fragment(argument.content, argument.message)
        except LiftError:
            raise deep_message_error(argument.message) from None
        return check_tree(fragment, file=argument.name, **options)
    raise TypeError(
        f"cannot check {with_article(argument.message)}: pass a model, graph, function or node"
    )


def check_file(data: bytes, *, name: str, **options: Any) -> list[Diagnostic]:
    """Check the content of a file: a text or a binary model (see `text_or_binary.is_binary`).

    `options` are keyword arguments of `engine.check_tree.check_tree`.

    Raises:
        RecursionError: graphs or types are nested too deeply.
        UnknownRule: `select` or `ignore` has a name that is neither a rule nor a profile.
    """
    try:
        if is_binary(data, name):
            return _check_binary(data, name=name, **options)
        return check_text(decode_text(data, name), name=name, **options)
    except OnnxTextError as error:
        return list(error.diagnostics)


def check_text(text: str, *, name: str, **options: Any) -> list[Diagnostic]:
    """Check a text that contains a model, a graph, a function or nodes.

    The result includes syntax errors and the errors of encoding the text. `options` are keyword
    arguments of `engine.check_tree.check_tree`.

    Raises:
        RecursionError: graphs or types are nested too deeply.
        UnknownRule: `select` or `ignore` has a name that is neither a rule nor a profile.
    """
    source = Source(text, name)
    try:
        root = parse_any(source)
        check_declared_size(root, source)
    except OnnxTextError as error:
        return _check_despite_dangling(source, error.diagnostics, options)
    return _check_parsed(root, source, options)


def _check_despite_dangling(
    source: Source, errors: Sequence[Diagnostic], options: dict[str, Any]
) -> list[Diagnostic]:
    """Check a text that has errors; apply the rules only if all errors are dangling entries.

    A dangling entry is an entry of a section that names no item of the model. If there are other
    errors, return only the errors.
    """
    from onnxtext.syntax.parse import parse_partial

    root = parse_partial(source, "model")[0] if only_dangling(errors) else None
    if not isinstance(root, Model):
        return list(errors)
    options.pop("then", None)  # `then` is only for models without errors
    findings = _check_parsed(root, source, options)
    return in_text_order(join_findings(errors, findings))


def _check_parsed(
    root: Model | Fragment, source: Source, options: dict[str, Any]
) -> list[Diagnostic]:
    """Return the findings in the syntax tree `root`, and the errors of encoding it.

    `options` are keyword arguments of `engine.check_tree.check_tree`.
    """
    encoded, verified = None, False
    if isinstance(root, Model):
        encoded, errors = encode_for_checks(root, source, options.get("base_dir"))
        verified = not errors
    else:
        errors = _fragment_errors(root, source)
    if errors:
        options.pop("then", None)  # `then` is only for models without errors
    options |= {"encoded": encoded, "verified": verified}
    diagnostics = check_tree(root, source=source, **options)
    return in_text_order([*errors, *diagnostics]) if errors else diagnostics


def encode_for_checks(
    model: Model, source: Source, base_dir: Path | None
) -> tuple[Callable[[], bytes | None], list[Diagnostic]]:
    """Encode the model of a text for onnx's inference; `base_dir` is the directory of the text.

    Return a pair (encode, errors). The function `encode` returns the encoded model, or None if the
    model cannot be encoded, or if lists repeat their last item too often. A large model is encoded
    without its weights. `errors` are the errors that `to_binary` would raise for the text.
    """
    from onnxtext.proto.encode.lower import LowerError, lower_without_weights
    from onnxtext.text_to_binary import lower_checked
    from onnxtext.weights.find_blobs import BlobReader

    errors = left_out_errors(model, source)
    if model.resources_left_out:
        return lambda: None, errors
    files = BlobReader.of(model, base_dir)
    try:
        pieces, omitted = lower_checked(model, source, files, omit_repetitions=True)
        if omitted:  # onnx's inference would need the whole lists
            return lambda: None, errors
        if sum(map(len, pieces)) < LARGE:
            return lambda: b"".join(pieces), errors
        # Large weights would be copied, but onnx's inference does not read them.
        return lambda: lower_without_weights(model, files), errors
    except LowerError as error:
        return lambda: None, [*errors, *lowering_errors(model, error, source, files)]
    except OnnxTextError as error:
        return lambda: None, [*errors, *error.diagnostics]


def _fragment_errors(fragment: Fragment, source: Source) -> list[Diagnostic]:
    """Return the errors of encoding a fragment; [] if it can be encoded."""
    from onnxtext.proto.encode.lower import LowerError, lower_fragment

    try:
        lower_fragment(fragment)
    except LowerError as error:
        return lowering_errors(fragment, error, source)
    return []


def parse_any(source: Source, max_errors: int = MAX_SEMANTIC_ERRORS) -> Model | Fragment:
    """Parse a text as a model or, if it is only a graph, a function or nodes, as a fragment.

    Some texts are valid both as a model and as a fragment. A text with nothing but a graph becomes
    a graph. A text becomes a function if its header has a domain but no `ir_version`, and its
    inputs and outputs have no types.

    After `max_errors` errors, parsing stops.

    Raises:
        OnnxTextError: the text can be parsed neither as a model nor as a fragment. If it starts
            like a node and has no header, the errors result from parsing nodes; otherwise, from
            parsing a model.
    """
    from onnxtext.syntax.parse import parse_fragment, parse_model, try_function

    parsed: Model | OnnxTextError
    try:
        parsed = parse_model(source, max_errors)
        maybe_function = looks_like_function(parsed)
    except OnnxTextError as error:
        parsed = error
        maybe_function = "=>" in source.text
    function = try_function(source) if maybe_function else None
    if function is not None:
        return function
    if isinstance(parsed, Model):
        return Fragment(parsed.graph, parsed.presence) if _is_graph(parsed, source.text) else parsed
    start = _after_decorators(source.text)
    if _NODE.match(source.text, start) is not None and _HEADER.search(source.text) is None:
        return parse_fragment(source, "nodes", max_errors)
    raise parsed


_NODE = re.compile(
    r"(?:\s|#[^\n]*(?:\n|\Z))*(?:\[[^\]\n]*\]\s*)?(?:\w+\[[^\]\n]*\]\s*)?"
    r'(?:"[^"\n]*"|[\w.]+)\s*(?:=(?!>)|,)'
)
"""Matches the start of a node: its first output, then `=` or `,`."""
_HEADER = re.compile(r"^[ \t<]*(?:ir_version|opset_import)\b *[:=]", re.MULTILINE)
"""Matches the entry `ir_version` or `opset_import` of a header."""


def _after_decorators(text: str) -> int:
    """Return the offset of the first token that does not belong to a decorator; 0 if none."""
    from onnxtext.syntax.grammar.lexer import load_lexer

    lexer = load_lexer()
    token = lexer.token(text, 0)
    while token is not None and token.kind == "DECORATOR":  # with its opening parenthesis
        while token is not None and token != ")":
            token = lexer.token(text, token.end)
        token = None if token is None else lexer.token(text, token.end)
    return 0 if token is None else token.at


def _is_graph(model: Model, text: str) -> bool:
    """Whether a text is only a graph, without a header or sections."""
    from onnxtext.syntax.grammar.lexer import load_lexer

    if model != Model(model.graph, presence=model.presence):
        return False
    first = load_lexer().token(text, 0)
    return first is not None and first != "<"


def looks_like_function(model: Model) -> bool:
    """Whether a text that was parsed as a model is probably meant as a function.

    Such a text has a domain, inputs and outputs without types, no `ir_version` and no functions.
    """
    values = (*model.graph.inputs, *model.graph.outputs)
    untyped = bool(values) and all(value.type is None for value in values)
    return untyped and model.ir_version is None and bool(model.domain) and not model.functions


def _check_binary(data: bytes, *, name: str, **options: Any) -> list[Diagnostic]:
    return check_tree(lift_binary(data, name), file=name, encoded=lambda: data, **options)
