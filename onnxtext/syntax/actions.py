# SPDX-License-Identifier: Apache-2.0
"""What each grammar rule makes of its children: one function a rule, named as the rule.

Actions are pure functions of their children (a list they are given may be extended: it has no
other owner). That is what lets the parser run them later, or once for many equal statements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from onnxtext.ast.model import Graph, Node, ValueInfo
from onnxtext.ast.records import Decorator, Field, Fixed, Number, Record, Word
from onnxtext.ast.types import DecoratedDim, TensorType, Type
from onnxtext.ast.values import Attribute, ExternalData, NoData, Reference
from onnxtext.syntax import attributes as attribute_rules
from onnxtext.syntax import headers, integers, strings, tensors, types
from onnxtext.syntax.faults import Fault
from onnxtext.syntax.strings import to_bytes

ACTIONS: dict[str, Callable[..., Any]] = {}
LOCATED: set[str] = set()

Decorators = list[Decorator] | None


def action(function: Callable[..., Any]) -> Callable[..., Any]:
    """Register a function as the action of the rule it is named after."""
    ACTIONS[function.__name__] = function
    return function


def located(function: Callable[..., Any]) -> Callable[..., Any]:
    """Register an action that takes the offset of the rule's first token as first argument."""
    LOCATED.add(function.__name__)
    return action(function)


# ---- Lists ----------------------------------------------------------------------------------


@action
def list_empty() -> list[Any]:
    """An empty list."""
    return []


@action
def list_first(item: Any) -> list[Any]:
    """A list's first item."""
    return [item]


@action
def list_more(items: list[Any], item: Any) -> list[Any]:
    """A list's next item."""
    items.append(item)
    return items


@action
def list_more_comma(items: list[Any], item: Any) -> list[Any]:
    """A list's next item, where the comma is optional."""
    items.append(item)
    return items


@action
def list_of(items: list[Any]) -> list[Any]:
    """A list in its brackets."""
    return items


# ---- Models and fragments -------------------------------------------------------------------

ACTIONS.update(
    model=headers.model,
    headless_model=lambda graph, functions, sections: headers.model(
        None, None, graph, functions, sections
    ),
    graph_fragment=headers.graph_fragment,
    function_fragment=headers.function_fragment,
    node_fragment=headers.item_fragment,
    nodes_fragment=headers.item_fragment,
    value_info_fragment=headers.item_fragment,
    attribute_fragment=headers.item_fragment,
    tensor_fragment=headers.item_fragment,
    header=headers.header,
    header_entry=headers.header_entry,
    header_string=lambda value: value,
    header_int=headers.header_int,
    header_numbers=headers.header_numbers,
    header_list=list_of,
    opset_item=headers.opset_item,
    metadata_item=lambda key, value: (key, value),
    bare_opset_item=headers.bare_opset_item,
    habit_item=headers.habit_item,
    encoding_section=headers.encoding_section,
)
LOCATED |= {"header_entry"}

# ---- Graphs and functions -------------------------------------------------------------------


@located
def graph(
    at: int,
    decorators: Decorators,
    name: str,
    inputs: list[ValueInfo] | None,
    outputs: list[ValueInfo],
    values: list[ValueInfo] | None,
    nodes: list[Node],
) -> Graph:
    """`name (inputs) => (outputs) <values> { nodes }`."""
    for output in outputs:
        if output.data is not None:
            raise Fault("a graph's output takes no default value", token=output.name)
    made = Graph(name, inputs or [], outputs, values or [], nodes, tuple(decorators or ()))
    made.at = at
    return made


@located
def graph_value(
    at: int,
    name: str,
    inputs: list[ValueInfo] | None,
    outputs: list[ValueInfo],
    values: list[ValueInfo] | None,
    nodes: list[Node],
) -> Graph:
    """A graph in an attribute."""
    made: Graph = graph(at, None, name, inputs, outputs, values, nodes)
    return made


ACTIONS["bare_graph_name"] = attribute_rules.bare_graph_name
ACTIONS["function"] = headers.function
LOCATED.add("function")


@action
def bare_parameter(name: str) -> str:
    """A function's attribute parameter without type or default."""
    return name


@located
def untyped_value(at: int, decorators: Decorators, name: str) -> ValueInfo:
    """`x`."""
    return ValueInfo(name, None, None, tuple(decorators or ()), at)


@located
def typed_value(at: int, decorators: Decorators, type: Type, name: str) -> ValueInfo:
    """`float[N] x`."""
    return ValueInfo(name, type, None, tuple(decorators or ()), at)


@located
def initializer(
    at: int, decorators: Decorators, type: Type, name: str, data: tensors.Pending | None
) -> ValueInfo:
    """`float[2] w = {1, 2}`."""
    return ValueInfo(name, type, tensors.resolve(type, data), tuple(decorators or ()), at)


@located
def dataless(at: int, decorators: Decorators, type: Type, name: str) -> ValueInfo:
    """`float[2] w =>`: an initializer without data, before a closing bracket."""
    made: ValueInfo = initializer(at, decorators, type, name, None)
    return made


# ---- Nodes ----------------------------------------------------------------------------------


class LeadingComma(tuple[str, ...]):
    """Outputs of which the first is left out, so that the node begins with a comma."""

    __slots__ = ()


@action
def more_nodes(nodes: list[Node], node: Node) -> list[Node]:
    """The next node.

    Raises:
        Fault: it begins with a comma. Officially `x = A(), y = B()` silently gives the second
            node an output more; only a first node may leave out its first output like this.
    """
    if type(node.outputs) is LeadingComma:
        if nodes:
            fault = Fault(
                "a comma between two nodes",
                length=1,
                help='remove the comma; an output that is left out is written ""',
            )
            fault.at = node.at
            raise fault
        node.outputs = tuple(node.outputs)
    nodes.append(node)
    return nodes


def _names(items: list[Any]) -> tuple[Any, ...]:
    """Names between commas: an item left out is "", but nothing after a last comma is no item."""
    if items[-1] is None:
        items.pop()
    return tuple(["" if item is None else item for item in items])


@located
def node(
    at: int,
    decorators: Decorators,
    label: str | None,
    outputs: list[Any],
    operator: list[str] | None,
    overload: str | None,
    attributes: list[Attribute] | None,
    names: list[Any],
) -> Node:
    """`[label] outputs = operator:overload <attributes> (inputs)`."""
    output_types: tuple[Type | None, ...] = ()
    if any(type(output) is tuple for output in outputs):
        pairs = [output if type(output) is tuple else (output, None) for output in outputs]
        outputs = [name for name, _ in pairs]
        output_types = tuple([type for _, type in pairs])
    comma = outputs[0] is None and len(outputs) > 1 and label is None and not decorators
    defined = _names(outputs)
    if comma:
        defined = LeadingComma(defined)
    domain = None
    op_type = ""
    if operator is not None:
        op_type = operator.pop()
        if operator:
            domain = ".".join(operator[1:] if operator[0] == "" and len(operator) > 1 else operator)
    return Node(
        op_type,
        _names(names),
        defined,
        tuple(attributes or ()),
        label,
        domain,
        overload,
        output_types[: len(defined)],
        tuple(decorators or ()),
        at,
    )


@located
def node_attributes_last(
    at: int,
    decorators: Decorators,
    label: str | None,
    outputs: list[Any],
    operator: list[str] | None,
    overload: str | None,
    names: list[Any],
    attributes: list[Attribute],
) -> Node:
    """A node with its attributes after its inputs."""
    made: Node = node(at, decorators, label, outputs, operator, overload, attributes, names)
    return made


@action
def label(name: str | None) -> str:
    """`[name]`, or `[]` for a name stored as ""."""
    return name or ""


@action
def untyped_output(name: str) -> str:
    """An output."""
    return name


@action
def typed_output(type: Type, name: str) -> tuple[str, Type]:
    """An output with the type that its `value_info` entry has."""
    return name, type


@action
def operator_dot(name: str) -> list[str]:
    """`.Add`: the domain is stored, and empty."""
    return ["", name]


# ---- Attributes -----------------------------------------------------------------------------

ACTIONS.update(
    attribute=attribute_rules.attribute,
    attribute_type_only=attribute_rules.attribute_type_only,
    dataless_attribute=attribute_rules.attribute,
    attribute_type=attribute_rules.attribute_type,
    number_list=attribute_rules.NumberList,
)


@action
def element(value: Any) -> Any:
    """A value, or an item of a list."""
    return to_bytes(value) if type(value) is str else value


@action
def number(text: str) -> Number:
    """A number as it is spelled."""
    return Number(text)


@action
def reference(name: str) -> Reference:
    """`@parameter`."""
    return Reference(name)


@action
def decorated_element(decorators: Decorators, value: Any) -> Any:
    """A type, tensor or graph, with what stands before it."""
    return replace(value, decorators=tuple(decorators)) if decorators else value


@action
def type_value(type: Type) -> Type:
    """A type that is itself the value."""
    return type


# ---- Tensors --------------------------------------------------------------------------------

ACTIONS.update(
    empty_tensor=lambda type, name: tensors.tensor(type, name, NoData()),
    tensor_assigned=tensors.tensor,
    unnamed_tensor=lambda type, data: tensors.tensor(type, None, data),
    named_tensor=tensors.tensor,
    scalar_tensor=tensors.scalar_tensor,
    dataless_tensor=lambda type, name: tensors.tensor(type, name, NoData()),
    unnamed_dataless_tensor=lambda type: tensors.tensor(type, None, NoData()),
    scalar_dataless_tensor=lambda element: tensors.tensor(TensorType(element), None, NoData()),
    scalar_data=tensors.ScalarText,
    typed_numbers=tensors.TypedText,
    no_elements=lambda: tensors.TypedText("{}"),
    typed_literals=tensors.TypedLiterals,
    raw_numbers=tensors.RawText,
    raw_nothing=lambda: tensors.RawText("[]"),
    raw_literals=tensors.raw_literals,
    nested_nothing=lambda: "[]",
    nested_items=tensors.nested_items,
    external_data=lambda pairs: ExternalData(tuple(pairs)),
    pair=lambda key, value: (key, value),
    field_data=tensors.FieldCalls,
    field_braces=lambda field, data: tensors.Call(field, (data,)),
    call=lambda name, arguments: tensors.Call(name, tuple(arguments)),
)


@action
def literal(value: Any) -> Any:
    """An element: the text of a number or `true`, or the bytes of a string."""
    return value.text if type(value) is Number else value


@action
def string_literal(text: str) -> bytes:
    """A string element."""
    return to_bytes(text)


@action
def bracket_item(value: Any) -> str:
    """An element between brackets, or a nested literal, as text."""
    text: str = value.text if type(value) is Number else value
    return text


# ---- Types ----------------------------------------------------------------------------------

ACTIONS.update(
    coarse_type=types.coarse_type,
    scalar_type=types.scalar_type,
    fine_type=types.fine_type,
    empty_container=lambda name: types.container_type(name, []),
    container_type=types.container_type,
    opaque_argument=types.OpaqueName,
    no_shape=lambda: None,
    dim_list=tuple,
    dim_numbers=types.dim_numbers,
)


@action
def inner_type(decorators: Decorators, type: Type) -> Type:
    """A type inside another."""
    return replace(type, decorators=tuple(decorators)) if decorators else type


@action
def any_dim(decorators: Decorators) -> Any:
    """`?`."""
    return DecoratedDim(None, tuple(decorators)) if decorators else None


@action
def sized_dim(decorators: Decorators, text: str) -> Any:
    """A size."""
    size = integers.int64(text)
    return DecoratedDim(size, tuple(decorators)) if decorators else size


@action
def named_dim(decorators: Decorators, name: str) -> Any:
    """A symbolic size."""
    return DecoratedDim(name, tuple(decorators)) if decorators else name


# ---- Decorators and records -----------------------------------------------------------------


@action
def empty_decorator(opening: str) -> Decorator:
    """`@name()`."""
    return Decorator(opening[1:-1])


@action
def decorator(opening: str, fields: list[Field]) -> Decorator:
    """`@name(arguments)`."""
    return Decorator(opening[1:-1], tuple(fields))


@action
def positional_field(value: Any) -> Field:
    """An argument without a key."""
    return Field(None, value)


@action
def field(key: str | int, value: Any) -> Field:
    """`key: value`."""
    return Field(key, value)


@action
def number_key(text: str) -> int:
    """A field's number."""
    return integers.field_number(text)


@action
def fixed_value(text: str) -> Fixed:
    """`5i32`."""
    value, _, bits = text.partition("i")
    number = int(value) if len(value) <= 20 else 1 << 64
    if number >= 1 << int(bits):
        raise Fault(f"{value} does not fit in {bits} bits", token=text)
    return Fixed(number, int(bits))


@action
def word_value(parts: list[str]) -> Word:
    """A bare word."""
    return Word(".".join(parts))


ACTIONS.update(
    number_value=lambda number: number,
    numbers_value=lambda text: tuple(
        [Number(item.strip()) for item in text[1:-1].rstrip(" \t\n\v\f\r,").split(",")]
    ),
    string_value=to_bytes,
    empty_value=lambda: (),
    list_value=tuple,
    empty_record=lambda: Record(),
    record=lambda fields: Record(tuple(fields)),
    plain_name=str,
    value_name=str,
    tensor_name=str,
    opaque_part=str,
    plain_string=strings.plain,
    escaped_string=strings.escaped,
    byte_string=strings.byte_string,
    triple_string=strings.triple,
)
