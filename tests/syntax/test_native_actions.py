# SPDX-License-Identifier: Apache-2.0
"""The actions of the core give the same values and errors as those in Python."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from onnxtext.ast.records import Decorator, Field
from onnxtext.ast.types import TensorType
from onnxtext.select_core import core
from onnxtext.syntax.actions import (
    attribute_values,
    records_and_decorators,
    resources,
    strings,
    types,
)
from onnxtext.syntax.actions.semantic_error import SemanticError
from onnxtext.syntax.actions.types import OpaqueName
from onnxtext.syntax.grammar.lexer import Token
from tests.seeds import draws, seeded

pytestmark = pytest.mark.skipif(core() != "native", reason="the native core does not run")

PIECES = ["\n", "\n", "  ", "  ", "\t", " ", "a", "é", "€", "\\n", "\\", "\r\n", '"', "b c"]


def result(action: Callable[[str], object], token: str) -> object:
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


def test_resources_give_the_same_bytes() -> None:
    from onnxtext._core.syntax import actions

    chance = seeded()
    for _ in range(draws(4000)):
        text = list(b64encode(chance.randbytes(chance.randrange(40))).decode())
        for _ in range(chance.choice([0, 0, 1, 2, 5])):
            piece = chance.choice(
                ["\n", " ", "\n    ", "\t", "\r", "=", "==", "A", "é", "€", "-", ""]
            )
            at = chance.randint(0, len(text))
            text[at : at + chance.randrange(2)] = [piece]
        opening = chance.choice(["\n", "\n", "\n    ", "  \n ", "\r\n", "\t\n", "A\n", ""])
        token = Token(f'"""{opening}{"".join(text)}\n  """', 7)
        digest = chance.choice(
            ["0123456789abcdef"] * 8 + ["ab" * 32, "ab" * 33, "A" * 16, "é" * 16]
        )
        encoding = chance.choice(["base64"] * 8 + ["base16"])
        native = partial(actions.long_resource, digest, encoding)
        assert result(native, token) == result(
            partial(resources.long_resource, digest, encoding), token
        ), token


def test_blob_references_give_the_same_value() -> None:
    from onnxtext._core.syntax import actions

    for count in (0, 15, 16, 17, 64, 65):
        token = Token(f'blob"{"a" * count}"', 7)
        assert result(actions.blob, token) == result(attribute_values.blob, token)


def test_decorators_give_the_same_value() -> None:
    from onnxtext._core.syntax import actions

    fields = [actions.positional_field(b"a"), Field("k", b"v")]
    assert fields == [records_and_decorators.positional_field(b"a"), Field("k", b"v")]
    assert actions.decorator("@doc(", fields) == records_and_decorators.decorator("@doc(", fields)
    assert actions.decorator("@doc(", fields) == Decorator("doc", tuple(fields))


def test_containers_with_wrong_arguments_give_the_same_error() -> None:
    """Equal arguments in a text are the same object."""
    from onnxtext._core.syntax import actions

    element, key = TensorType("float", (1,)), TensorType("int64")
    lists: list[list[Any]] = [
        [element], [key, element], [element, element], [element, key, element], [key] * 3,
        [element, OpaqueName(["a", "b"]), element], [OpaqueName(["a"])],
    ]  # fmt: skip
    for name in ("seq", "optional", "map", "sparse_tensor", "opaque"):
        for arguments in lists:
            token = Token(name, 7)
            native = result(partial(actions.container_type, arguments=arguments), token)
            python = partial(types.container_type, arguments=arguments)
            assert native == result(python, token), (name, arguments)


def test_bytes_are_rejected() -> None:
    from onnxtext._core.syntax import actions

    with pytest.raises(TypeError):
        actions.triple(b"abc")  # type: ignore[arg-type]
