# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable, Sequence

from onnxtext.ast.model import Node
from onnxtext.ast.types import Type
from onnxtext.ast.values import Attribute

def print_nodes(
    nodes: Sequence[Node],
    indent: str,
    names: dict[str, str],
    words: dict[str, str],
    types: dict[int, str],
    attributes: dict[int, str | None],
    make_word: Callable[[str], str],
    make_type: Callable[[Type], str],
    make_attributes: Callable[[Sequence[Attribute]], str | None],
    make_node: Callable[[Node, str], str],
) -> str: ...
