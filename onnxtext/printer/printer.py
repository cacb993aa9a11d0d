# SPDX-License-Identifier: Apache-2.0
"""Models, graphs, functions and nodes as text."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from onnxtext.ast.model import (
    EncodingPatch,
    Fragment,
    Function,
    Graph,
    Model,
    Node,
    OpsetImport,
    Presence,
    ValueInfo,
)
from onnxtext.ast.types import Type
from onnxtext.ast.values import Attribute, AttributeType, SparseTensor, Tensor
from onnxtext.printer.attributes import attribute_text
from onnxtext.printer.layout import STEP, WIDTH, bracketed, broken
from onnxtext.printer.records import decorator_lines, inline_decorators
from onnxtext.printer.sections import section_texts
from onnxtext.printer.strings import quoted, string_value, value_name, word
from onnxtext.printer.values import data_text, sparse_text, tensor_text, type_text

ATTRIBUTE_WIDTH = 60
"""Columns that the attributes of a node may take on its line."""

NAME_WIDTH = 12
"""Columns that a name is taken to have when lists are laid out."""

BASE64_WIDTH = 76

_NESTING = (AttributeType.GRAPH, AttributeType.GRAPHS)


def print_model(model: Model) -> str:
    """A whole model, in the canonical layout, with a final newline."""
    entries = _presence(model.presence)
    if model.encoding_habits:
        habits = [
            f"{habit.name}({', '.join(map(str, habit.arguments))})"
            for habit in model.encoding_habits
        ]
        entries.append(f"encoding: {bracketed(habits, '[]', STEP, WIDTH - 20)}")
    if model.ir_version is not None:
        entries.append(f"ir_version: {model.ir_version}")
    if model.opset_imports:
        entries.append(f"opset_import: {_opsets(model.opset_imports, STEP)}")
    for key in ("producer_name", "producer_version", "domain"):
        text = getattr(model, key)
        if text is not None:
            entries.append(f"{key}: {quoted(text)}")
    if model.model_version is not None:
        entries.append(f"model_version: {model.model_version}")
    if model.doc_string is not None:
        entries.append(f"doc_string: {string_value(model.doc_string, STEP)}")
    if model.metadata:
        inner = STEP * 2
        items = [f"{quoted(key)}: {string_value(value, inner)}" for key, value in model.metadata]
        entries.append(f"metadata_props: {bracketed(items, '[]', STEP, WIDTH - 20)}")
    parts = [decorator_lines(model.decorators, "")]
    if entries:
        parts.append(broken(entries, "<>", "") + "\n")
    parts.append(graph_statement(model.graph) + "\n")
    parts += [f"\n{function_statement(function)}\n" for function in model.functions]
    parts += [f"\n{text}\n" for text in section_texts(model, graph_value)]
    if model.encoding is not None:
        parts.append(f"\n{_encoding(model.encoding)}\n")
    if model.resources:
        parts += ["\nresources {\n", *map(_resource, model.resources.items()), "}\n"]
    return "".join(parts)


def _resource(item: tuple[str, bytes]) -> str:
    """A blob's bytes, in lines of fixed width, so that a change in place changes few of them."""
    digest, data = item
    text = base64.encodebytes(data).decode("ascii").replace("\n", "\n    ")
    return f'  "{digest}": base64 """\n    {text}"""\n'


def print_fragment(fragment: Fragment) -> str:
    """A part of a model on its own, with a final newline."""
    entries = _presence(fragment.presence)
    head = bracketed(entries, "<>", "", WIDTH) + "\n" if entries else ""
    match fragment.item:
        case Graph() as graph:
            return head + graph_statement(graph) + "\n"
        case Function() as function:
            return function_statement(function, entries) + "\n"
        case Node() as node:
            return head + node_text(node, "") + "\n"
        case list() as nodes:
            return head + body_text(nodes, "") + "\n"
        case ValueInfo() as value:
            return head + value_text(value, "") + "\n"
        case Attribute() as attribute:
            return head + print_attribute(attribute) + "\n"
        case (Tensor() | SparseTensor()) as tensor:
            return head + tensor_text(tensor, "", WIDTH - 20) + "\n"


def print_attribute(attribute: Attribute) -> str:
    """An attribute on its own, without a newline."""
    return attribute_text(attribute, "", graph_value)


def print_type(type: Type) -> str:
    """A type on its own, without a newline."""
    return type_text(type)


# ---- Headers --------------------------------------------------------------------------------


def _presence(presence: Presence) -> list[str]:
    entries = [] if presence.version is None else [f"onnxtext: {presence.version}"]
    if presence.explicit:
        entries.append(f"explicit: {bracketed(presence.explicit, '[]', STEP, WIDTH - 20)}")
    return entries


def _opsets(opsets: Sequence[OpsetImport], indent: str) -> str:
    items = [
        str(item.version) if item.domain is None else f"{quoted(item.domain)}: {item.version}"
        for item in opsets
    ]
    return bracketed(items, "[]", indent, WIDTH - 20)


def _encoding(encoding: EncodingPatch) -> str:
    text = base64.b64encode(encoding.patch).decode("ascii")
    lines = [text[at : at + BASE64_WIDTH] for at in range(0, len(text), BASE64_WIDTH)]
    patch = "\n".join(['"""', *[f"    {line}" for line in lines], '    """'])
    return f'encoding {{\n  canonical: "{encoding.canonical}"\n  patch: {patch}\n}}'


# ---- Graphs and functions -------------------------------------------------------------------


def graph_statement(graph: Graph) -> str:
    """The main graph: inputs and outputs one a line if there is more than one."""
    head = decorator_lines(graph.decorators, "") + value_name(graph.name)
    inputs = _main_list(graph.inputs)
    return f"{head} {inputs} => {_main_list(graph.outputs)}{_rest(graph, '')}"


def graph_value(graph: Graph, indent: str) -> str:
    """A graph in an attribute."""
    head = inline_decorators(graph.decorators, indent) + value_name(graph.name)
    inputs = _small_list(graph.inputs, indent)
    return f"{head} {inputs} => {_small_list(graph.outputs, indent)}{_rest(graph, indent)}"


def _rest(graph: Graph | Function, indent: str) -> str:
    values = ""
    if graph.values:
        values = f" {_values(graph.values, indent)}"
    return f"{values} {body_text(graph.nodes, indent)}"


def _main_list(values: Sequence[ValueInfo]) -> str:
    items = [value_text(value, STEP) for value in values]
    if len(items) > 1 or any("\n" in item for item in items):
        return broken(items, "()", "")
    return f"({', '.join(items)})"


def _small_list(values: Sequence[ValueInfo], indent: str) -> str:
    items = [value_text(value, indent + STEP) for value in values]
    width = sum(
        len(item) - len(value.name) + NAME_WIDTH for item, value in zip(items, values, strict=True)
    )
    return bracketed(items, "()", indent, 1 << 30 if width <= WIDTH - 20 else 0)


def _values(values: Sequence[ValueInfo], indent: str) -> str:
    items = [value_text(value, indent + STEP) for value in values]
    single = len(items) == 1 and "\n" not in items[0]
    if single and len(items[0]) - len(values[0].name) <= ATTRIBUTE_WIDTH:
        return f"<{items[0]}>"
    return broken(items, "<>", indent)


def value_text(value: ValueInfo, indent: str) -> str:
    """A declaration or an initializer.

    Args:
        value: the value.
        indent: the indentation of the line it stands on.
    """
    head = inline_decorators(value.decorators, indent) if value.decorators else ""
    name = value_name(value.name)
    if value.type is None:
        return head + name
    type = type_text(value.type)
    data = value.data
    if data is None:
        return f"{head}{type} {name}"
    budget = WIDTH - len(indent) - len(type) - NAME_WIDTH
    if isinstance(data, SparseTensor):
        return f"{head}{type} {name} = {sparse_text(data, indent, budget)}"
    literal = data_text(value.type, data, indent, budget)  # type: ignore[arg-type]
    return f"{head}{type} {name} = {literal}" if literal else f"{head}{type} {name} ="


def function_statement(function: Function, entries: Sequence[str] = ()) -> str:
    """A function, with its header.

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
        entries.append(f"opset_import: {_opsets(function.opset_imports, STEP)}")
    head = bracketed(entries, "<>", "", WIDTH - 20) + "\n" if entries else ""
    parameters = ""
    if function.attributes:
        items = [
            item_text if isinstance(item, str) and (item_text := word(item))
            else attribute_text(item, STEP, graph_value)  # type: ignore[arg-type]
            for item in function.attributes
        ]  # fmt: skip
        parameters = f" {bracketed(items, '<>', '', WIDTH - 20)}"
    inputs, outputs = _small_list(function.inputs, ""), _small_list(function.outputs, "")
    return (
        f"{decorator_lines(function.decorators, '')}{head}{value_name(function.name)}{parameters} "
        f"{inputs} => {outputs}{_rest(function, '')}"
    )


# ---- Nodes ----------------------------------------------------------------------------------


def body_text(nodes: Sequence[Node], indent: str) -> str:
    """`{ nodes }`, one a line."""
    if not nodes:
        return "{}"
    inner = indent + STEP
    lines = [inner + node_text(node, inner) for node in nodes]
    return "\n".join(["{", *lines, indent + "}"])


def node_text(node: Node, indent: str) -> str:
    """A node: on one line, or inputs first and then its attributes one a line.

    Args:
        node: the node.
        indent: the indentation of the line it stands on.
    """
    inputs = _names(node.inputs)
    operator = _operator(node)
    label = f"[{word(node.name) if node.name else ''}] " if node.name is not None else ""
    outputs = _outputs(node)
    outputs = f"{outputs} " if outputs else ""
    line = f"{label}{outputs}= {operator}" if operator else f"{label}{outputs}="
    if node.decorators:
        before = decorator_lines(node.decorators, indent)[len(indent) :]
        line = f"{before}{indent if before.endswith(chr(10)) else ''}{line}"
    if not node.attributes:
        return f"{line} ({inputs})"
    flat = _flat_attributes(node.attributes)
    if flat is not None:
        return f"{line} <{flat}> ({inputs})"
    inner = indent + STEP
    items = [attribute_text(item, inner, graph_value) for item in node.attributes]
    return f"{line} ({inputs}) {broken(items, '<>', indent)}"


def _flat_attributes(attributes: Sequence[Attribute]) -> str | None:
    """The attributes on one line, if they fit there and none needs several."""
    texts: list[str] = []
    width = 0
    for attribute in attributes:
        if attribute.type in _NESTING:  # printed once only: graphs in graphs would take for ever
            return None
        text = attribute_text(attribute, "", graph_value)
        width += len(text) + 2
        if width > ATTRIBUTE_WIDTH or "\n" in text:
            return None
        texts.append(text)
    return ", ".join(texts)


def _operator(node: Node) -> str:
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


def _outputs(node: Node) -> str:
    if not node.output_types:
        return _names(node.outputs)
    return ", ".join(
        [
            value_name(name) if type is None else f"{type_text(type)} {value_name(name)}"
            for name, type in zip(node.outputs, node.output_types, strict=True)
        ]
    )


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(value_name, names))
