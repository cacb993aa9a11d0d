# SPDX-License-Identifier: Apache-2.0
"""Print models in the official syntax, which `onnx.parser` reads, in the canonical layout.

The model must be reduced (`proto.official`): no decorators, records, raw data or blobs. Types are
in the `<…>` list, never before the outputs of nodes; lists have no trailing comma; strings escape
only the quote and the backslash; literals of types stored in `int32_data` are its entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onnxtext.ast.model import Function, Graph, Model, Node, OpsetImport, ValueInfo
from onnxtext.ast.types import (
    Dim,
    MapType,
    OpaqueType,
    OptionalType,
    SequenceType,
    SparseTensorType,
    TensorType,
    Type,
)
from onnxtext.ast.value_infos import INITIALIZERS, entries, order_of, with_data
from onnxtext.ast.values import (
    Attribute,
    AttributeType,
    AttributeValue,
    ExternalData,
    FieldData,
    Float32,
    Floats,
    NoData,
    Reference,
    StringData,
    Tensor,
    TensorData,
    TypedData,
)
from onnxtext.printer import layout
from onnxtext.printer.layout import STEP, WIDTH
from onnxtext.printer.statements import ATTRIBUTE_WIDTH
from onnxtext.printer.strings import value_name, word
from onnxtext.tensor.elements import ELEMENTS
from onnxtext.tensor.float_literals import float32_text
from onnxtext.tensor.print_elements import format_field_rows, format_floats

_A = AttributeType

NAME_WIDTH = 12
"""The width of every name for the layout of lists: here names never move line breaks."""


def print_official(model: Model) -> str:
    """Print a whole model, with a final newline.

    Args:
        model: lifted from reduced bytes.
    """
    entries = []
    if model.ir_version is not None:
        entries.append(f"ir_version: {model.ir_version}")
    if model.opset_imports:
        entries.append(f"opset_import: {_opsets(model.opset_imports)}")
    for key in ("producer_name", "producer_version", "domain"):
        text = getattr(model, key)
        if text is not None:
            entries.append(f"{key}: {_quoted(text)}")
    if model.model_version is not None:
        entries.append(f"model_version: {model.model_version}")
    if model.doc_string is not None:
        entries.append(f"doc_string: {_quoted(model.doc_string)}")
    if model.metadata:
        items = [f"{_quoted(key)}: {_quoted(value)}" for key, value in model.metadata]
        entries.append(f"metadata_props: {_list(items, '[]', STEP, WIDTH - 20)}")
    head = f"{_broken(entries, '<>', '')}\n" if entries else ""
    parts = [f"{head}{_graph(model.graph, '')}\n"]
    parts += [f"\n{_function(function)}\n" for function in model.functions]
    return "".join(parts)


def _opsets(opsets: Sequence[OpsetImport]) -> str:
    items = [f"{_quoted(item.domain or '')}: {item.version}" for item in opsets]
    return _list(items, "[]", STEP, WIDTH - 20)


# ---- Layout and names -----------------------------------------------------------------------


def _list(items: Sequence[str], brackets: str, indent: str, budget: int) -> str:
    return layout.bracketed(items, brackets, indent, budget, comma="")


def _broken(items: Sequence[str], brackets: str, indent: str) -> str:
    return layout.broken(items, brackets, indent, comma="")


def _quoted(text: str) -> str:
    """Quote a string; line ends and tabs are not escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _name(text: str) -> str:
    """Print a name where a type could also occur."""
    return text if value_name(text) == text else _quoted(text)


def _word(text: str) -> str:
    """Print a name where every word may be unquoted."""
    return text if word(text) == text else _quoted(text)


# ---- Graphs and functions -------------------------------------------------------------------


def _graph(graph: Graph, indent: str, *, is_main: bool = True) -> str:
    """Print a graph; in an attribute, its inputs and outputs are on one line if they fit."""
    lists = _main_list if is_main else _small_list
    if any(item.name == INITIALIZERS for item in graph.decorators):
        graph = _without_defaults(graph)
    inputs, outputs = lists(graph.inputs, indent), lists(graph.outputs, indent)
    # The names of graphs in attributes are identifiers, and never quoted.
    name = _name(graph.name) if is_main else graph.name
    return f"{name} {inputs} => {outputs}{_rest(graph, _listed(graph), indent)}"


def _without_defaults(graph: Graph) -> Graph:
    """Return a graph with all initializers in `<…>`, because they have an order of their own."""
    infos = [value for value in graph.values if value.data is None]
    return replace(
        graph,
        inputs=[replace(value, data=None) for value in graph.inputs],
        values=[*with_data(graph), *infos],
        decorators=tuple([item for item in graph.decorators if item.name != INITIALIZERS]),
    )


def _listed(graph: Graph | Function) -> list[ValueInfo]:
    """Return the `<…>` list, with the declarations that onnxtext writes elsewhere."""
    values = list(graph.values)
    if isinstance(graph, Graph) and graph.decorators:
        listed = entries(graph, order_of(graph))
        infos = [entry.statement or ValueInfo(entry.name, entry.type) for entry in listed]
        return [value for value in values if value.data is not None] + infos
    for node in graph.nodes:
        if node.output_types:
            for name, type in zip(node.outputs, node.output_types, strict=True):
                if type is not None:
                    values.append(ValueInfo(name, type))
    return values


def _rest(graph: Graph | Function, values: Sequence[ValueInfo], indent: str) -> str:
    text = ""
    if values:
        items = [_value(value, indent + STEP) for value in values]
        single = len(items) == 1 and "\n" not in items[0]
        if single and len(items[0]) - len(values[0].name) <= ATTRIBUTE_WIDTH:
            text = f" <{items[0]}>"
        else:
            text = f" {_broken(items, '<>', indent)}"
    if not graph.nodes:
        return f"{text} {{}}"
    inner = indent + STEP
    lines = [inner + _node(node, inner) for node in graph.nodes]
    return "\n".join([f"{text} {{", *lines, indent + "}"])


def _main_list(values: Sequence[ValueInfo], indent: str) -> str:
    items = [_value(value, indent + STEP) for value in values]
    if len(items) > 1 or any("\n" in item for item in items):
        return _broken(items, "()", indent)
    return f"({', '.join(items)})"


def _small_list(values: Sequence[ValueInfo], indent: str) -> str:
    items = [_value(value, indent + STEP) for value in values]
    names = sum([len(value.name) for value in values])
    fits = sum(map(len, items)) - names + NAME_WIDTH * len(items) <= WIDTH - 20
    return _list(items, "()", indent, 1 << 30 if fits else 0)


def _value(value: ValueInfo, indent: str) -> str:
    """Print a declaration or an initializer."""
    if value.type is None:
        return _name(value.name)
    type = _type(value.type)
    declared = f"{type} {_name(value.name)}"
    if value.data is None:
        return declared
    assert isinstance(value.type, TensorType)
    budget = WIDTH - len(indent) - len(type) - NAME_WIDTH
    return f"{declared} = {_data(value.type, value.data, indent, budget)}"  # type: ignore[arg-type]


def _function(function: Function) -> str:
    entries = []
    for key in ("domain", "overload", "doc_string"):
        text = getattr(function, key)
        if text is not None:
            entries.append(f"{key}: {_quoted(text)}")
    if function.opset_imports:
        entries.append(f"opset_import: {_opsets(function.opset_imports)}")
    head = f"{_list(entries, '<>', '', WIDTH - 20)}\n" if entries else ""
    parameters = ""
    if function.attributes:
        items = [
            _word(item) if isinstance(item, str) else attribute_text(item, STEP)
            for item in function.attributes
        ]
        parameters = f" {_list(items, '<>', '', WIDTH - 20)}"
    inputs, outputs = _small_list(function.inputs, ""), _small_list(function.outputs, "")
    rest = _rest(function, _listed(function), "")
    return f"{head}{_name(function.name)}{parameters} {inputs} => {outputs}{rest}"


# ---- Nodes and attributes -------------------------------------------------------------------


def _node(node: Node, indent: str) -> str:
    """Print a node: on one line, or its inputs first and then one attribute per line."""
    label = "" if node.name is None else f"[{_word(node.name) if node.name else ''}] "
    outputs = f"{', '.join(map(_name, node.outputs))} " if node.outputs else ""
    operator = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
    if node.overload:
        operator += f":{node.overload}"
    line = f"{label}{outputs}= {operator}".rstrip(" ")
    inputs = f"({', '.join(map(_name, node.inputs))})"
    if not node.attributes:
        return f"{line} {inputs}"
    # A graph with nodes never fits on one line. Printing each graph twice would double the time
    # with every level of nesting.
    if not any(isinstance(item.value, Graph) and item.value.nodes for item in node.attributes):
        flat = [attribute_text(item, "") for item in node.attributes]
        if sum(map(len, flat)) + 2 * len(flat) <= ATTRIBUTE_WIDTH and "\n" not in "".join(flat):
            return f"{line} <{', '.join(flat)}> {inputs}"
    items = [attribute_text(item, indent + STEP) for item in node.attributes]
    return f"{line} {inputs} {_broken(items, '<>', indent)}"


def attribute_text(attribute: Attribute, indent: str) -> str:
    """Print `name: type = value`; the type only if the value does not imply it."""
    name, kind, value = _word(attribute.name), attribute.type, attribute.value
    typed = name if kind is None else f"{name}: {kind.name.lower()}"
    if value is None:
        return typed
    if isinstance(value, Reference):
        return f"{typed} = @{_word(value.name)}"
    if kind in _LISTS and not value:
        return f"{typed} = []"
    return f"{name} = {_attribute_value(value, indent, WIDTH - len(indent) - len(name) - 4)}"


_LISTS = {_A.FLOATS, _A.INTS, _A.STRINGS, _A.TENSORS, _A.GRAPHS, _A.SPARSE_TENSORS, _A.TYPE_PROTOS}


def _attribute_value(value: AttributeValue, indent: str, budget: int) -> str:
    match value:
        case int():
            return str(value)
        case Float32(bits):
            return float32_text(bits, point=True)
        case bytes():
            return _quoted(value.decode("utf-8"))
        case Tensor():
            return _tensor(value, indent, budget)
        case Graph():
            return _graph(value, indent, is_main=False)
        case Floats(data):
            return layout.filled(format_floats(data, 1), "[]", indent, budget, comma="")
        case (int(), *_):
            return layout.filled(list(map(str, value)), "[]", indent, budget, comma="")
        case tuple():
            items = [_attribute_value(item, indent + STEP, budget) for item in value]
            return _list(items, "[]", indent, budget)
        case (
            TensorType()
            | SparseTensorType()
            | SequenceType()
            | OptionalType()
            | MapType()
            | OpaqueType()
        ):
            return _type(value)
    raise AssertionError(f"official text has no {type(value).__name__}")


# ---- Types and tensors ----------------------------------------------------------------------


def _type(type: Type) -> str:
    match type:
        case TensorType():
            return _tensor_type(type)
        case SparseTensorType():
            return f"sparse_tensor({_tensor_type(type)})"
        case SequenceType():
            return f"seq({_type(type.element)})"
        case OptionalType():
            return f"optional({_type(type.element)})"
        case MapType():
            return f"map({type.key}, {_type(type.value)})"
        case OpaqueType():
            return f"opaque({', '.join([part for part in (type.domain, type.name) if part])})"


def _tensor_type(type: TensorType | SparseTensorType) -> str:
    if type.shape is None:
        return f"{type.element}[]"
    if not type.shape:
        return type.element
    return f"{type.element}[{', '.join(map(_dim, type.shape))}]"


def _dim(dim: Dim) -> str:
    if dim is None:
        return "?"
    return _word(dim) if isinstance(dim, str) else str(dim)


def _tensor(tensor: Tensor, indent: str, budget: int) -> str:
    """Print a tensor in an attribute."""
    type = _type(tensor.type)
    name = f" {tensor.name}" if tensor.name else ""
    literal = _data(tensor.type, tensor.data, indent, budget - len(type) - NAME_WIDTH)
    # A bracket right after a type would be read as its dimensions.
    equals = " =" if isinstance(tensor.data, ExternalData) else ""
    return f"{type}{name}{equals} {literal}"


def _data(type: TensorType, data: TensorData, indent: str, budget: int) -> str:
    """Print the literal of a tensor's data; an empty literal if there is none."""
    match data:
        case NoData():
            return "{}"
        case ExternalData(entries):
            items = [f"{_quoted(key)}: {_quoted(value)}" for key, value in entries]
            return _list(items, "[]", indent, budget)
        case StringData(values) | FieldData((("string_data", tuple() as values),)):
            return _list([_quoted(item.decode("utf-8")) for item in values], "{}", indent, budget)
        case TypedData(entries) | FieldData(((_, bytes() as entries),)):
            return _numbers(ELEMENTS[type.element].field, entries, indent, budget)
    raise AssertionError("official text has one data field per tensor, that of its type")


def _numbers(field: str, entries: bytes, indent: str, budget: int) -> str:
    return layout.filled(format_field_rows(field, entries, 1), "{}", indent, budget, comma="")
