from collections.abc import Iterable

from onnxtext.ast.compact_form.list_order import ListEntry
from onnxtext.ast.model import Graph, Node, ValueInfo
from onnxtext.ast.types import Type

def place_all_types(
    nodes: list[Node], infos: list[ValueInfo], taken: Iterable[ValueInfo], with_metadata: bool
) -> bool: ...
def place_types(nodes: list[Node], infos: list[ValueInfo]) -> int | None: ...
def types_at_end(
    nodes: list[Node], infos: list[ValueInfo]
) -> tuple[list[tuple[Node, int, ValueInfo]], int] | None: ...
def place_named_types(
    nodes: list[Node], infos: list[ValueInfo], taken: Iterable[ValueInfo]
) -> tuple[list[str], list[ValueInfo]] | None: ...
def node_entries(nodes: list[Node]) -> list[ListEntry]: ...
def ordered_infos(
    graph: Graph, initializers: list[ValueInfo]
) -> list[ValueInfo | tuple[str, Type | None, int]] | None: ...
