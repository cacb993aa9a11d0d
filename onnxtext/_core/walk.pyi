# SPDX-License-Identifier: Apache-2.0
from collections.abc import Iterable

from onnxtext.ast.model import Node
from onnxtext.ast.paths import Named, Step
from onnxtext.ast.values import Attribute

def attribute_lists(nodes: Iterable[Node]) -> list[tuple[Attribute, ...]]: ...

def named_nodes(
    nodes: list[Node], prefix: tuple[Step, ...], tied: bool, named: type[Named], step: type[Step]
) -> list[Named]: ...
