# SPDX-License-Identifier: Apache-2.0
"""Print graphs, functions and nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from onnxtext.ast.model import Function, Graph, Node, OpsetImport, ValueInfo
from onnxtext.ast.tensors_and_attributes import GRAPH_TYPES, Attribute, SparseTensor
from onnxtext.ast.types import Type
from onnxtext.printer.attributes import attribute_text
from onnxtext.printer.decorators import decorator_lines, value_decorators
from onnxtext.printer.dialect import ONNXTEXT, Dialect
from onnxtext.printer.layout import STEP, WIDTH, bracket_list, flat_items, one_per_line
from onnxtext.printer.quoting import quote_string, quote_word
from onnxtext.printer.statement_layout import (
    ListText,
    NodeParts,
    arrange_lists,
    column,
    decorated_name,
    node_lines,
    value_text,
)
from onnxtext.printer.types_and_tensors import sparse_text


def opsets_text(opsets: Sequence[OpsetImport], indent: str, dialect: Dialect = ONNXTEXT) -> str:
    """Return opset imports as a list, such as `[20, "com.microsoft": 1]`."""
    items = [
        str(item.version)
        if item.domain is None
        else f"{dialect.quoted(item.domain)}: {item.version}"
        for item in opsets
    ]
    return bracket_list(items, "[]", indent, WIDTH - 20, dialect.comma)


_MAX_NAMES = 1 << 13
"""Maximum number of names in the cache; a larger cache would be slower than no cache."""


class _Names(dict[str, str]):
    """A cache from value names to their text, quoted if necessary; most names soon recur."""

    def __init__(self, dialect: Dialect) -> None:
        super().__init__()
        self._dialect = dialect

    def __missing__(self, name: str) -> str:
        """Return and cache the text of a new name; empty a full cache first."""
        text = self._dialect.value_name(name)
        if len(self) >= _MAX_NAMES:
            self.clear()
        self[name] = text
        return text


class GraphPrinter:
    """Prints the graphs and functions of one model; caches names, types and attributes.

    Types and attributes are cached by `id()`, so the model must not change while it is printed.

    Some methods return parts of a text, which the caller must join: tensors may be large.
    """

    def __init__(self, dialect: Dialect = ONNXTEXT) -> None:
        self.dialect = dialect
        self._comma = dialect.comma
        self._word = dialect.word
        self._names = _Names(dialect)
        self._words: dict[str, str] = {}
        self._types: dict[int, str] = {}
        self._attributes: dict[int, str] = {}  # those that fit on a line

    # ---- Graphs and functions ---------------------------------------------------------------

    def graph_statement(self, graph: Graph) -> list[str]:
        """Return the text of the main graph, as parts to be joined."""
        head = decorator_lines(graph.decorators, "")
        head += self.main_head(graph, column(head, 0))
        return [head, *self.rest_parts(graph, "", column(head, 0))]

    def graph_value(self, graph: Graph, indent: str, start: int) -> str:
        """Return the text of a graph in an attribute.

        `indent` is the indentation of the statement that contains the attribute; the graph begins
        at column `start`.
        """
        head = self.graph_head(graph, indent, start)
        return "".join([head, *self.rest_parts(graph, indent, column(head, start))])

    def graph_head(self, graph: Graph, indent: str, start: int) -> str:
        """Return the decorators, name, inputs and outputs of a graph in an attribute."""
        decorators = value_decorators(graph.decorators, indent)
        after = _after_head(graph, indent)
        name = decorated_name(decorators, self._names[graph.name], start, after)
        return name + self._interface(graph, indent, column(name, start))

    def rest_parts(self, graph: Graph | Function, indent: str, start: int) -> Sequence[str]:
        """Return the `<…> {…}` after the outputs of a graph or function, as parts to be joined.

        `indent` is the indentation of the statement, `start` the column after the outputs.
        """
        values = [" ", *self._values(graph, indent, start)] if graph.values else []
        return [*values, " ", self.body_text(graph.nodes, indent)]

    def main_head(self, graph: Graph, start: int) -> str:
        """Return the name, inputs and outputs of the main graph, from column `start` on.

        A list of several values has one value per line.
        """
        name = self._names[graph.name]
        return name + self._interface(graph, "", column(name, start), several=True)

    def _interface(
        self,
        graph: Graph | Function,
        indent: str,
        start: int,
        parameters: Sequence[ListText] = (),
        *,
        several: bool = False,
    ) -> str:
        """Return the inputs and outputs of a graph or function, from column `start` on.

        `indent` is the indentation of the statement. `parameters` has the list of a function's
        parameters, if it has any. With `several`, a list of more than one value always has one
        value per line.
        """
        inputs = self._list(graph.inputs, indent, " ", several)
        outputs = self._list(graph.outputs, indent, " => ", several)
        return arrange_lists([*parameters, inputs, outputs], start, _after_head(graph, indent))

    def _list(
        self, values: Sequence[ValueInfo], indent: str, before: str, several: bool
    ) -> ListText:
        """Return the printed list of inputs or outputs, with the text `before` in front of it.

        If `several` is true, a list of more than one value has one value per line.
        """
        items = [self.value_text(value, indent + STEP) for value in values]
        result = ListText.of(before, items, "()", indent, self._comma)
        if several and len(items) > 1:
            result.flat = None
        return result

    def _values(self, graph: Graph | Function, indent: str, start: int) -> list[str]:
        """Return the `<…>` list of value infos and initializers, as parts to be joined."""
        values = graph.values
        if len(values) == 1:
            item = self.value_text(values[0], indent + STEP)
            after = _after_head(graph, indent, after_values=True)
            if "\n" not in item and start + len(item) + 3 + after <= WIDTH:
                return [f"<{item}>"]
        before = f"\n{indent}{STEP}"
        parts = ["<"]
        for value in values:
            parts.append(before)
            parts += self.value_parts(value, indent + STEP)
            parts.append(",")
        parts[-1] = f"{self._comma}\n{indent}>"
        return parts

    def value_text(self, value: ValueInfo, indent: str) -> str:
        """Return the text of a value info or initializer on a line indented by `indent`."""
        parts = self.value_parts(value, indent)
        return parts[0] if len(parts) == 1 else "".join(parts)

    def value_parts(self, value: ValueInfo, indent: str) -> Sequence[str]:
        """Return the text of a value info or initializer, as parts to be joined."""
        name = self._names[value.name]
        kind, data = value.type, value.data
        type = "" if kind is None else self._type(kind)
        decorators = value_decorators(value.decorators, indent)
        if kind is None or data is None:
            return (value_text(decorators, type, name, None, indent),)
        rest: list[str] = []

        def literal(indent: str, budget: int) -> str:
            nonlocal rest
            if isinstance(data, SparseTensor):
                return sparse_text(data, indent, budget)
            first, *rest = self.dialect.data_parts(kind, data, indent, budget)  # type: ignore[arg-type]
            return first

        text = value_text(decorators, type, name, literal, indent)
        return (text, *rest)

    def _type(self, type: Type) -> str:
        text = self._types.get(id(type))
        if text is None:
            text = self._types[id(type)] = self.dialect.type(type)
        return text

    def function_parts(self, functions: Sequence[Function]) -> Sequence[str]:
        """Return the text of functions, each after a blank line, as parts to be joined."""
        return [f"\n{self.function_statement(function)}\n" for function in functions]

    def function_statement(self, function: Function, entries: Sequence[str] = ()) -> str:
        """Return the text of a function; its header has `entries` before its own entries."""
        head = decorator_lines(function.decorators, "")
        head += head_text(function, entries, self.dialect)
        head += self.function_head(function, column(head, 0))
        return "".join([head, *self.rest_parts(function, "", column(head, 0))])

    def function_head(self, function: Function, start: int = 0) -> str:
        """Return the name, parameters, inputs and outputs of a function, from column `start` on."""
        name = self._names[function.name]
        parameters = []
        if function.attributes:
            parameters.append(parameters_text(function.attributes, self.graph_value, self.dialect))
        return name + self._interface(function, "", start + len(name), parameters)

    # ---- Nodes ------------------------------------------------------------------------------

    def body_text(self, nodes: Sequence[Node], indent: str) -> str:
        """Return `{ nodes }`, with one node per line."""
        if not nodes:
            return "{}"
        inner = indent + STEP
        lines = [inner + self.node_text(node, inner) for node in nodes]
        return "\n".join(["{", *lines, indent + "}"])

    def node_text(self, node: Node, indent: str) -> str:
        """Return the text of a node on a line indented by `indent`; `node_lines` lays it out."""
        names = self._names
        operator = self._words.get(node.op_type)
        if operator is None:
            operator = self._words[node.op_type] = quote_word(node.op_type) if node.op_type else ""
        if node.domain is not None or node.overload is not None:
            operator = operator_text(node)
        label = "" if node.name is None else f"[{self._word(node.name) if node.name else ''}] "
        before = ""
        if node.decorators:
            before = decorator_lines(node.decorators, indent)[len(indent) :]
            if before.endswith("\n"):
                before += indent
            else:
                before, label = "", before + label
        flat = self._flat_attributes(node.attributes) if node.attributes else ""
        inputs = [names[name] for name in node.inputs]
        parts = NodeParts(label, self._outputs(node), operator, flat, inputs)
        attribute_lines = partial(self._broken_attributes, node)
        return before + node_lines(parts, indent, attribute_lines, comma=self._comma)

    def _broken_attributes(self, node: Node, indent: str) -> str:
        """Return the attributes of a node, one per line."""
        inner = indent + STEP
        items = [
            attribute_text(item, inner, self.graph_value, self.dialect) for item in node.attributes
        ]
        return one_per_line(items, "<>", indent, self._comma)

    def _flat_attributes(self, attributes: Sequence[Attribute]) -> str | None:
        """Return the attributes on one line; None if they do not fit or contain graphs."""
        texts: list[str] = []
        width = 0
        for attribute in attributes:
            text = self._attributes.get(id(attribute))
            if text is None:
                # To print nested graphs in both layouts would take exponential time.
                if attribute.type in GRAPH_TYPES:
                    return None
                text = attribute_text(attribute, "", self.graph_value, self.dialect)
                if len(text) > WIDTH or "\n" in text:
                    return None
                self._attributes[id(attribute)] = text
            width += len(text) + 2
            texts.append(text)
        if width > WIDTH:
            return None
        return flat_items(texts, ">")

    def _outputs(self, node: Node) -> list[tuple[str, str]]:
        """Return (type, name) texts of the outputs; the type is "" for an untyped output."""
        types, names = self._types, self._names
        if not node.output_types:
            return [("", names[name]) for name in node.outputs]
        return [
            ("" if type is None else types.get(id(type)) or self._type(type), names[name])
            for name, type in zip(node.outputs, node.output_types, strict=True)
        ]


def _after_head(graph: Graph | Function, indent: str, *, after_values: bool = False) -> int:
    """Return the width of the text that follows the outputs, or the `<…>` list, on the same line.

    `indent` is the indentation of the statement; if not "", the graph is in an attribute, and a
    comma follows it. With `after_values`, the text follows the `<…>` list, not the outputs.
    """
    if graph.nodes or (graph.values and not after_values):
        return len(" {")
    return len(" {},") if indent else len(" {}")


def head_text(function: Function, entries: Sequence[str], dialect: Dialect) -> str:
    """Return the `<…>` header of a function and a line break; "" if the header has no entries.

    The header has `entries` before the entries of the function.
    """
    entries = list(entries)
    if function.domain is not None:
        entries.append(f"domain: {dialect.quoted(function.domain)}")
    if function.overload is not None:
        entries.append(f"overload: {dialect.quoted(function.overload)}")
    if function.doc_string is not None:
        entries.append(f"doc_string: {dialect.string(function.doc_string, STEP)}")
    if function.opset_imports:
        entries.append(f"opset_import: {opsets_text(function.opset_imports, STEP, dialect)}")
    return bracket_list(entries, "<>", "", WIDTH - 20, dialect.comma) + "\n" if entries else ""


def parameters_text(
    parameters: Sequence[str | Attribute],
    graph_text: Callable[[Graph, str, int], str],
    dialect: Dialect = ONNXTEXT,
) -> ListText:
    """Return the printed list of a function's attribute parameters.

    A parameter is a name, or an attribute with a type or a default value. `graph_text` returns the
    text of a graph, given the indentation of its statement and its start column.
    """
    items = [
        dialect.word(item)
        if isinstance(item, str)
        else attribute_text(item, STEP, graph_text, dialect)
        for item in parameters
    ]
    return ListText.of(" ", items, "<>", "", dialect.comma)


def operator_text(node: Node) -> str:
    """Return the operator of a node with its domain and overload: `com.example.Op:overload`."""
    overload = f":{quote_word(node.overload)}" if node.overload is not None else ""
    operator = quote_word(node.op_type) if node.op_type or node.domain is not None else ""
    if node.domain is None:
        return operator + overload
    return domain_text(node.domain) + operator + overload


def domain_text(domain: str) -> str:
    """Return the domain of an operator and a dot: `com.example.`."""
    if domain.isascii() and all(map(str.isidentifier, domain.split("."))):
        return f"{domain}."
    return f"{quote_string(domain)}." if domain else "."
