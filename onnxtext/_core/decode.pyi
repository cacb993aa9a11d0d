# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable, Iterator

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.proto.lift_values import Data

def decode_graph(
    data: Data,
    start: int,
    end: int,
    small: int,
    keys: tuple[int, int, int, int, int, int, int],
    nodes: list[Node],
    infos: list[ValueInfo],
    tails: dict[bytes, Node],
    types: dict[bytes, ValueInfo],
    make_tail: Callable[[bytes], Node],
) -> Iterator[tuple[int, Data]]: ...
