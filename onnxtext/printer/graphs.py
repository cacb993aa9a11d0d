# SPDX-License-Identifier: Apache-2.0
"""Print graphs, functions and nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onnxtext.ast.model import Function, Graph, Node, OpsetImport, ValueInfo
from onnxtext.ast.types import Type
from onnxtext.ast.values import Attribute, AttributeType, SparseTensor
from onnxtext.printer.attributes import attribute_text
from onnxtext.printer.layout import STEP, WIDTH, bracketed, broken, flat_items
from onnxtext.printer.records import decorator_lines, inline_decorators
from onnxtext.printer.strings import quoted, string_value, value_name, word
from onnxtext.printer.values import data_parts, sparse_text, type_text

ATTRIBUTE_WIDTH = 60
"""The maximum width of attributes on the line of their node."""

NAME_WIDTH = 12
"""The width of every name for the layout of lists."""

_NESTING = (AttributeType.GRAPH, AttributeType.GRAPHS)


def opsets_text(opsets: Sequence[OpsetImport], indent: str) -> str:
    """Return a list of operator sets."""
    items = [
        str(item.version) if item.domain is None else f"{quoted(item.domain)}: {item.version}"
        for item in opsets
    ]
    return bracketed(items, "[]", indent, WIDTH - 20)


_MOST_NAMES = 1 << 13
"""The size limit of the name cache, above which it is slower than no cache."""


class _Names(dict[str, str]):
    """A cache of value names as text; most names soon occur again."""

    def __missing__(self, name: str) -> str:
        """Cache a new name."""
        text = value_name(name)
        if len(self) >= _MOST_NAMES:
            self.clear()
        self[name] = text
        return text


class GraphPrinter:
    """Prints the graphs and functions of one model; caches names, types and attributes.

    The caches are keyed by id, so the model must not change while it is printed.
    """

    def __init__(self) -> None:
        self._names = _Names()
        self._words: dict[str, str] = {}
        self._types: dict[int, str] = {}
        self._attributes: dict[int, str | None] = {}

    # ---- Graphs and functions ---------------------------------------------------------------

    def graph_statement(self, graph: Graph) -> list[str]:
        """Return the main graph in parts, one input or output per line if there are several."""
        head = decorator_lines(graph.decorators, "") + value_name(graph.name)
        inputs, outputs = self._main_list(graph.inputs), self._main_list(graph.outputs)
        return [f"{head} {inputs} => {outputs}", *self.rest_parts(graph, "")]

    def graph_value(self, graph: Graph, indent: str) -> str:
        """Return a graph in an attribute."""
        head = inline_decorators(graph.decorators, indent) + value_name(graph.name)
        inputs = self._small_list(graph.inputs, indent)
        outputs = self._small_list(graph.outputs, indent)
        return "".join([f"{head} {inputs} => {outputs}", *self.rest_parts(graph, indent)])

    def rest_parts(self, graph: Graph | Function, indent: str) -> Sequence[str]:
        """Return the values and the body of a graph or function, in parts."""
        values = [" ", *self._values(graph.values, indent)] if graph.values else []
        return [*values, " ", self.body_text(graph.nodes, indent)]

    def _main_list(self, values: Sequence[ValueInfo]) -> str:
        items = [self.value_text(value, STEP) for value in values]
        if len(items) > 1 or any("\n" in item for item in items):
            return broken(items, "()", "")
        return f"({', '.join(items)})"

    def _small_list(self, values: Sequence[ValueInfo], indent: str) -> str:
        items = [self.value_text(value, indent + STEP) for value in values]
        width = sum(
            len(item) - len(value.name) + NAME_WIDTH
            for item, value in zip(items, values, strict=True)
        )
        return bracketed(items, "()", indent, 1 << 30 if width <= WIDTH - 20 else 0)

    def _values(self, values: Sequence[ValueInfo], indent: str) -> list[str]:
        """Return the `<…>` list in parts, because tensors may be large."""
        if len(values) == 1:
            item = self.value_text(values[0], indent + STEP)
            if "\n" not in item and len(item) - len(values[0].name) <= ATTRIBUTE_WIDTH:
                return [f"<{item}>"]
        before = f"\n{indent}{STEP}"
        parts = ["<"]
        for value in values:
            parts.append(before)
            parts += self.value_parts(value, indent + STEP)
            parts.append(",")
        parts.append(f"\n{indent}>")
        return parts

    def value_text(self, value: ValueInfo, indent: str) -> str:
        """Return a declaration or an initializer.

        Args:
            value: the value.
            indent: the indentation of its line.
        """
        parts = self.value_parts(value, indent)
        return parts[0] if len(parts) == 1 else "".join(parts)

    def value_parts(self, value: ValueInfo, indent: str) -> Sequence[str]:
        """Return a declaration or an initializer, in parts."""
        head = inline_decorators(value.decorators, indent) if value.decorators else ""
        name = self._names[value.name]
        if value.type is None:
            return (head + name,)
        type = self._type(value.type)
        data = value.data
        if data is None:
            return (f"{head}{type} {name}",)
        budget = WIDTH - len(indent) - len(type) - NAME_WIDTH
        if isinstance(data, SparseTensor):
            return (f"{head}{type} {name} = {sparse_text(data, indent, budget)}",)
        literal = data_parts(value.type, data, indent, budget)  # type: ignore[arg-type]
        start = f"{head}{type} {name} ="
        return [f"{start} {literal[0]}", *literal[1:]] if literal[0] else (start,)

    def _type(self, type: Type) -> str:
        text = self._types.get(id(type))
        if text is None:
            text = self._types[id(type)] = type_text(type)
        return text

    def function_parts(self, functions: Sequence[Function]) -> Sequence[str]:
        """Return the functions of a model, with a blank line before each, in parts."""
        return [f"\n{self.function_statement(function)}\n" for function in functions]

    def function_statement(self, function: Function, entries: Sequence[str] = ()) -> str:
        """Return a function with its header.

        Args:
            function: the function.
            entries: header entries before its own.
        """
        head = head_text(function, entries)
        parameters = ""
        if function.attributes:
            parameters = f" {parameters_text(function.attributes, self.graph_value)}"
        inputs = self._small_list(function.inputs, "")
        outputs = self._small_list(function.outputs, "")
        head = f"{decorator_lines(function.decorators, '')}{head}{value_name(function.name)}"
        return "".join(
            [f"{head}{parameters} {inputs} => {outputs}", *self.rest_parts(function, "")]
        )

    # ---- Nodes ------------------------------------------------------------------------------

    def body_text(self, nodes: Sequence[Node], indent: str) -> str:
        """Return `{ nodes }`, with one node per line."""
        if not nodes:
            return "{}"
        inner = indent + STEP
        lines = [inner + self.node_text(node, inner) for node in nodes]
        return "\n".join(["{", *lines, indent + "}"])

    def node_text(self, node: Node, indent: str) -> str:
        """Return a node: on one line, or with one attribute per line after its inputs.

        Args:
            node: the node.
            indent: the indentation of its line.
        """
        names = self._names
        inputs = ", ".join([names[name] for name in node.inputs])
        operator = self._words.get(node.op_type)
        if operator is None:
            operator = self._words[node.op_type] = word(node.op_type) if node.op_type else ""
        if node.domain is not None or node.overload is not None:
            operator = operator_text(node)
        if node.output_types:
            outputs = self._typed_outputs(node)
        else:
            outputs = ", ".join([names[name] for name in node.outputs])
        label = "" if node.name is None else f"[{word(node.name) if node.name else ''}] "
        line = (
            f"{label}{outputs} = {operator}"
            if outputs and operator
            else (f"{label}{outputs}{' ' if outputs else ''}={' ' if operator else ''}{operator}")
        )
        if node.decorators:
            before = decorator_lines(node.decorators, indent)[len(indent) :]
            line = f"{before}{indent if before.endswith(chr(10)) else ''}{line}"
        attributes = node.attributes
        if not attributes:
            return f"{line} ({inputs})"
        try:
            flat = self._attributes[id(attributes)]
        except KeyError:
            flat = self._attributes[id(attributes)] = self._flat_attributes(attributes)
        if flat is not None:
            return f"{line} <{flat}> ({inputs})"
        inner = indent + STEP
        items = [attribute_text(item, inner, self.graph_value) for item in attributes]
        return f"{line} ({inputs}) {broken(items, '<>', indent)}"

    def _flat_attributes(self, attributes: Sequence[Attribute]) -> str | None:
        """Return the attributes on one line; None if they do not fit."""
        texts: list[str] = []
        width = 0
        for attribute in attributes:
            if attribute.type in _NESTING:  # printing graphs twice is exponential in their depth
                return None
            text = attribute_text(attribute, "", self.graph_value)
            width += len(text) + 2
            if width > ATTRIBUTE_WIDTH or "\n" in text:
                return None
            texts.append(text)
        return flat_items(texts, ">")

    def _typed_outputs(self, node: Node) -> str:
        types, names = self._types, self._names
        if len(node.outputs) == 1:
            type = node.output_types[0]
            if type is not None:
                return f"{types.get(id(type)) or self._type(type)} {names[node.outputs[0]]}"
        texts = []
        for name, type in zip(node.outputs, node.output_types, strict=True):
            if type is None:
                texts.append(names[name])
            else:
                text = types.get(id(type)) or self._type(type)
                texts.append(f"{text} {names[name]}")
        return ", ".join(texts)


def head_text(function: Function, entries: Sequence[str] = ()) -> str:
    """Return the header of a function with its line break; "" if it has no entries.

    Args:
        function: the function.
        entries: header entries before its own.
    """
    entries = list(entries)
    if function.domain is not None:
        entries.append(f"domain: {quoted(function.domain)}")
    if function.overload is not None:
        entries.append(f"overload: {quoted(function.overload)}")
    if function.doc_string is not None:
        entries.append(f"doc_string: {string_value(function.doc_string, STEP)}")
    if function.opset_imports:
        entries.append(f"opset_import: {opsets_text(function.opset_imports, STEP)}")
    return bracketed(entries, "<>", "", WIDTH - 20) + "\n" if entries else ""


def parameters_text(
    parameters: Sequence[str | Attribute], graph_text: Callable[[Graph, str], str]
) -> str:
    """Return the attribute parameters of a function.

    Args:
        parameters: names, and attributes with default values.
        graph_text: prints a graph, given the indentation of its statement.
    """
    items = [
        word(item) if isinstance(item, str) else attribute_text(item, STEP, graph_text)
        for item in parameters
    ]
    return bracketed(items, "<>", "", WIDTH - 20)


def operator_text(node: Node) -> str:
    """Return the operator of a node with a domain or an overload."""
    overload = f":{word(node.overload)}" if node.overload is not None else ""
    operator = word(node.op_type) if node.op_type or node.domain is not None else ""
    if node.domain is None:
        return operator + overload
    if not node.domain:
        return f".{operator}{overload}"
    parts = node.domain.split(".")
    if all(word(part) == part for part in parts):
        return f"{node.domain}.{operator}{overload}"
    return f"{quoted(node.domain)}.{operator}{overload}"
