# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable, Iterable
from typing import Any

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.ast.types import Type
from onnxtext.wire.writer import Piece

def encode_nodes(
    nodes: Iterable[Node],
    key: int,
    keys: tuple[int, int, int],
    name: str | None,
    tails: dict[Any, bytes],
    make_tail: Callable[[Node], bytes],
    make_node: Callable[[Node], bytes],
) -> bytes: ...
def encode_types(
    nodes: Iterable[Node],
    key: int,
    of_name: int,
    types: dict[int, bytes],
    make_type: Callable[[Type, int], bytes],
) -> bytes: ...
def encode_values(
    values: Iterable[ValueInfo],
    key: int,
    of_name: int,
    types: dict[int, bytes],
    make_type: Callable[[Type, int], bytes],
    make_value: Callable[[ValueInfo], bytes],
) -> bytes: ...

STORED: int

class TensorForm:
    def __init__(self, head: bytes, of_name: int, of_data: int, width: int) -> None: ...

def encode_initializers(
    values: Iterable[ValueInfo],
    key: int,
    find_form: Callable[[ValueInfo], tuple[TensorForm, Piece] | None],
    make_tensor: Callable[[ValueInfo], list[Piece]],
) -> list[Piece]: ...
