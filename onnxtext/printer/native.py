# SPDX-License-Identifier: Apache-2.0
"""Print graphs with the native core; the result is the same as with `printer.graphs_and_nodes`."""

from __future__ import annotations

from collections.abc import Sequence

from onnxtext._core.printer.graphs import Printer
from onnxtext.ast.model import Function, Graph, ValueInfo
from onnxtext.printer.graphs_and_nodes import GraphPrinter


class CorePrinter(GraphPrinter):
    """A graph printer in the native core; Python code prints only rare forms."""

    def __init__(self, core: Printer | None = None) -> None:
        super().__init__()
        self._core = core or Printer()

    def graph_statement(self, graph: Graph) -> list[str]:
        """Return the text of the main graph, as parts to be joined."""
        return self._core.statement(self, graph)

    def rest_parts(self, graph: Graph | Function, indent: str, start: int) -> Sequence[str]:
        """Return the `<…> {…}` after the outputs of a graph or function, as parts to be joined."""
        parts = self._core.rest(self, graph, indent, start)
        return super().rest_parts(graph, indent, start) if parts is None else parts

    def value_parts(self, value: ValueInfo, indent: str) -> Sequence[str]:
        """Return the text of a value info or initializer, as parts to be joined."""
        return self._core.value(self, value, indent)

    def function_parts(self, functions: Sequence[Function]) -> Sequence[str]:
        """Return the text of functions, each after a blank line, as parts to be joined."""
        return self._core.functions(self, functions) if functions else ()
