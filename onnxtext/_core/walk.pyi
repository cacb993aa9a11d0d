# SPDX-License-Identifier: Apache-2.0
from collections.abc import Iterable

from onnxtext.ast.model import Node
from onnxtext.ast.values import Attribute

def attribute_lists(nodes: Iterable[Node]) -> list[tuple[Attribute, ...]]: ...
