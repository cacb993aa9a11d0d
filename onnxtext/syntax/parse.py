# SPDX-License-Identifier: Apache-2.0
"""Entry points of the parser: convert texts to the AST."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from onnxtext.ast.model import Fragment, Model
from onnxtext.diagnostics import Diagnostic, Label, OnnxTextError
from onnxtext.io.memory import paused_collector
from onnxtext.select_core import Core, core
from onnxtext.source import Source, Span
from onnxtext.syntax.actions.semantic_error import MAX_SEMANTIC_ERRORS, SemanticError
from onnxtext.syntax.parser.lalr import ERROR_NODE, Unexpected
from onnxtext.syntax.parser.parser import Parser

if TYPE_CHECKING:
    from onnxtext.syntax.recovery.recovery import Recovery

_MAX_FIXED_MARKS = 3
"""Maximum number of wrong marks, such as quotes, that are fixed to find the errors after them."""
_MAX_RECOVERIES = 40
"""After this number of errors, recovery tries no swapped lines and does not verify unsafe fixes.

Errors that are not reported count, too.
"""


def parse_model(source: Source, max_errors: int = MAX_SEMANTIC_ERRORS) -> Model:
    """Parse a model; after `max_errors` errors, parsing stops.

    Raises:
        OnnxTextError: the text has errors.
    """
    model: Model = parse_start(source, "model", max_errors)
    return model


def parse_fragment(source: Source, kind: str, max_errors: int = MAX_SEMANTIC_ERRORS) -> Fragment:
    """Parse a fragment: a text with a part of a model, such as one node.

    `kind` is `graph`, `function`, `node`, `nodes`, `value_info`, `attribute`, `type`, `tensor`,
    `entry` or `record`. Parsing stops after `max_errors` errors.

    Raises:
        OnnxTextError: the text has errors.
    """
    fragment: Fragment = parse_start(source, f"{kind}_fragment", max_errors)
    return fragment


def try_function(source: Source) -> Fragment | None:
    """Parse a function as `parse_fragment` does; return None if the text has an error."""
    if check_characters(source) is not None:
        return None
    with paused_collector():
        try:
            fragment: Fragment = _parser_class(core())(source.text, "function_fragment").parse()
        except (Unexpected, SemanticError):
            return None
    return fragment


def parse_start(source: Source, start: str, max_errors: int = MAX_SEMANTIC_ERRORS) -> Any:
    """Parse a text from a start rule of the grammar, such as `model` or `node_fragment`.

    After `max_errors` errors, parsing stops.

    Raises:
        OnnxTextError: the text has errors.
    """
    value, diagnostics = parse_partial(source, start, max_errors)
    if diagnostics:
        raise OnnxTextError(*diagnostics)
    return value


def parse_partial(
    source: Source, start: str, max_errors: int = MAX_SEMANTIC_ERRORS
) -> tuple[Any, tuple[Diagnostic, ...]]:
    """Parse a text from a start rule, such as `model`, and recover from its errors.

    After `max_errors` errors, parsing stops.

    Returns:
        The value of the start rule without the invalid statements, and the diagnostics of the
        errors in text order. The value is None if too little of the text could be parsed.
    """
    value, diagnostics, recoveries = _parse(source, start, max_errors)
    if not diagnostics:
        return value, ()
    from onnxtext.syntax.recovery.fixed_texts import with_swapped_lines, with_verified_fixes

    def parse(fixed: Source) -> Sequence[Diagnostic]:
        return _parse(fixed, start, max_errors)[1]

    is_fast = recoveries <= _MAX_RECOVERIES
    if is_fast:
        diagnostics = with_swapped_lines(source, diagnostics, parse)
    return value, with_verified_fixes(source, diagnostics, parse, unsafe=is_fast)


def _parse(
    source: Source, start: str, max_errors: int, marks: int = _MAX_FIXED_MARKS
) -> tuple[Any, tuple[Diagnostic, ...], int]:
    """Parse a text as `parse_partial` does, but do not verify the fixes.

    To find the errors after wrong marks, such as quotes, apply the fixes of up to `marks` marks.
    Also return how often the parser recovered, which includes errors that are not reported.
    """
    broken = check_characters(source)
    if broken is not None:
        return None, (broken,), 0
    parser = _parser_class(core())(source.text, start)
    errors: list[SemanticError] = []
    parser.machine.semantic_errors = errors
    parser.machine.max_errors = max_errors
    with paused_collector():
        try:
            value = parser.parse()
        except (Unexpected, SemanticError) as error:
            value, recovery = _recover(parser, source, errors, error)
        else:
            if not errors:
                return value, (), 0
            recovery = _make_recovery(parser, source, errors)
    diagnostics = recovery.finish()
    if recovery.replaced and marks:
        from onnxtext.syntax.recovery.fixed_texts import errors_after_mark

        diagnostics += errors_after_mark(
            source,
            diagnostics[-1],
            recovery.replaced,
            lambda fixed: _parse(fixed, start, max_errors, marks - 1)[1],
        )
    parser.recover = None  # break a reference cycle, which only the garbage collector would free
    return (None if value is ERROR_NODE else value), tuple(diagnostics), recovery.recoveries


def _recover(
    parser: Parser, source: Source, errors: list[SemanticError], error: Unexpected | SemanticError
) -> tuple[Any, Recovery]:
    """Continue after `error`; return the value of the start rule, and the recovery.

    `Parser.parse` raises the first syntax error, because the recovery is slow to import. From then
    on, it calls `parser.recover` at each syntax error. A `SemanticError` always ends parsing.

    The actions of the parser append their errors to `errors`.
    """
    recovery = _make_recovery(parser, source, errors)
    parser.recover = recovery.recover
    if isinstance(error, SemanticError):  # too many errors, or nested too deeply
        recovery.stop(error)
        return ERROR_NODE, recovery
    try:
        return parser.parse(recovery.recover(error)), recovery
    except SemanticError as last:
        recovery.stop(last)
        return ERROR_NODE, recovery


def _make_recovery(parser: Parser, source: Source, errors: list[SemanticError]) -> Recovery:
    from onnxtext.syntax.recovery.recovery import Recovery  # slow to import

    return Recovery(parser, source, errors)


@cache  # an import statement takes longer than parsing a token
def _parser_class(chosen: Core) -> type[Parser]:
    """Return the `Parser` class of a core."""
    if chosen == "python":
        return Parser
    from onnxtext.syntax.parser.native import CoreParser

    return CoreParser


def check_characters(source: Source) -> Diagnostic | None:
    """Return the diagnostic of the first lone surrogate in a text; None if there is none.

    UTF-8 cannot encode lone surrogates.
    """
    if source.text.isascii():
        return None
    try:
        source.text.encode("utf-8")
    except UnicodeEncodeError as error:
        return Diagnostic(
            "invalid-character",
            "the text contains a lone surrogate, which is not a character",
            source=source,
            labels=(Label(Span(error.start, error.end)),),
            help=r'write bytes that are not UTF-8 as `b"\xNN"`',
        )
    return None
