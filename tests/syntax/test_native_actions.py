# SPDX-License-Identifier: Apache-2.0
"""The actions of the core give the same values and errors as those in Python."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from onnxtext.ast.records import Decorator, Field
from onnxtext.select_core import core
from onnxtext.syntax.actions import records_and_decorators, strings
from onnxtext.syntax.actions.semantic_error import SemanticError
from onnxtext.syntax.grammar.lexer import Token
from tests.seeds import draws, seeded

pytestmark = pytest.mark.skipif(core() != "native", reason="the native core does not run")

PIECES = ["\n", "\n", "  ", "  ", "\t", " ", "a", "é", "€", "\\n", "\\", "\r\n", '"', "b c"]


def result(action: Callable[[str], str], token: str) -> object:
    try:
        return action(token)
    except SemanticError as error:
        return str(error), error.at, error.length


def test_text_blocks_give_the_same_string() -> None:
    from onnxtext._core.syntax import actions

    chance = seeded()
    for _ in range(draws(4000)):
        count = chance.randrange(14)
        body = "".join([chance.choice(PIECES) for _ in range(count)])
        if chance.random() < 0.6:
            indent = " " * chance.randrange(4)
            body = "\n" + "\n".join([indent + line for line in body.split("\n")]) + f"\n{indent}"
        token = Token(f'"""{body}"""', 7)
        assert result(actions.triple, token) == result(strings.triple, token), token


def test_decorators_give_the_same_value() -> None:
    from onnxtext._core.syntax import actions

    fields = [actions.positional_field(b"a"), Field("k", b"v")]
    assert fields == [records_and_decorators.positional_field(b"a"), Field("k", b"v")]
    assert actions.decorator("@doc(", fields) == records_and_decorators.decorator("@doc(", fields)
    assert actions.decorator("@doc(", fields) == Decorator("doc", tuple(fields))


def test_bytes_are_rejected() -> None:
    from onnxtext._core.syntax import actions

    with pytest.raises(TypeError):
        actions.triple(b"abc")  # type: ignore[arg-type]
