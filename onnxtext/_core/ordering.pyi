from collections.abc import Iterable

from onnxtext.ast.model import Graph, Node, ValueInfo
from onnxtext.ast.types import Type

def place_named_types(
    nodes: list[Node], infos: list[ValueInfo], taken: Iterable[ValueInfo]
) -> list[str] | None: ...
def ordered_types(graph: Graph) -> list[tuple[str, Type, int]] | None: ...
