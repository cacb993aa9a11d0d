# SPDX-License-Identifier: Apache-2.0
"""Actions for models, graphs and nodes: one function for each grammar rule, with the rule's name.

Actions are pure functions of their children, except that they may extend a list, which has no other
owner. So the compiled core may call them later, or once for equal texts.
"""

from __future__ import annotations

from typing import Any

from onnxtext.ast.model import EncodingHabit, Fragment, Graph, Node, ValueInfo
from onnxtext.ast.paths import Step
from onnxtext.ast.records import Decorator
from onnxtext.ast.types import Type
from onnxtext.ast.values import Attribute
from onnxtext.syntax.actions import attributes as attribute_rules
from onnxtext.syntax.actions import headers, models, resources, sections, tensors
from onnxtext.syntax.actions import schemas as schema_actions
from onnxtext.syntax.actions import values as value_actions
from onnxtext.syntax.actions.registry import ACTIONS, LOCATED, action, located
from onnxtext.syntax.actions.semantic_error import SemanticError

Decorators = list[Decorator] | None

# ---- Lists ----------------------------------------------------------------------------------


@action
def list_empty() -> list[Any]:
    """An empty list."""
    return []


@action
def list_first(item: Any) -> list[Any]:
    """A list of its first item."""
    return [item]


@action
def list_more(items: list[Any], item: Any) -> list[Any]:
    """A list with the next item."""
    items.append(item)
    return items


@action
def list_more_comma(items: list[Any], item: Any) -> list[Any]:
    """A list with the next item, after an optional comma."""
    items.append(item)
    return items


@action
def list_of(items: list[Any]) -> list[Any]:
    """A list in its brackets."""
    return items


# ---- Models and fragments -------------------------------------------------------------------

ACTIONS.update(
    model=models.model,
    headless_model=lambda graph, functions, sections: models.model(
        None, None, graph, functions, sections
    ),
    graph_fragment=models.graph_fragment,
    function_fragment=models.function_fragment,
    node_fragment=models.item_fragment,
    nodes_fragment=models.item_fragment,
    value_info_fragment=models.item_fragment,
    attribute_fragment=models.item_fragment,
    tensor_fragment=models.item_fragment,
    type_alone=lambda decorators, type: Fragment(value_actions.inner_type(decorators, type)),
    entry_alone=Fragment,
    message_record=Fragment,
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
    encoding_habit=lambda name, arguments: EncodingHabit(str(name), tuple(arguments)),
    encoding_section=lambda word, record: (word, sections.encoding_section(word, record)),
    no_resources=lambda word: resources.resources_section(word, []),
    resources_section=resources.resources_section,
    resources_left_out=resources.resources_left_out,
    resource_place=resources.resource_place,
    metadata_section=sections.metadata_section,
    metadata_left_out=sections.metadata_left_out,
    metadata_entry=sections.Entry,
    repeated_entry=sections.repeated_entry,
    metadata_block=sections.metadata_block,
    plain_step=Step,
    indexed_step=sections.indexed_step,
    label_step=sections.label_step,
    quantization_section=lambda word, items: (word, items),
    empty_annotation=lambda at, path: (at, tuple(path), ()),
    annotation=lambda at, path, pairs: (at, tuple(path), tuple(pairs)),
    training_section=sections.training_section,
    training_graph=lambda name, graph: (name, graph),
    empty_binding=lambda name: (name, []),
    training_binding=lambda name, pairs: (name, pairs),
    configuration_section=sections.configuration_section,
    order_section=sections.order_section,
    resource=resources.resource,
    long_resource=resources.long_resource,
)
LOCATED |= {"annotation", "empty_annotation", "header_entry"}

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
            error = SemanticError("an output of a graph cannot have a default value")
            error.at = output.at
            raise error
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
ACTIONS["bare_parameter"] = attribute_rules.bare_parameter
ACTIONS["function"] = models.function
LOCATED.add("function")


@located
def untyped_value(at: int, decorators: Decorators, name: str) -> ValueInfo:
    """`x`."""
    return ValueInfo(name, None, None, tuple(decorators or ()), (), at)


@located
def typed_value(at: int, decorators: Decorators, type: Type, name: str) -> ValueInfo:
    """`float[N] x`."""
    return ValueInfo(name, type, None, tuple(decorators or ()), (), at)


@located
def initializer(
    at: int, decorators: Decorators, type: Type, name: str, data: tensors.Pending | None
) -> ValueInfo:
    """`float[2] w = {1, 2}`."""
    return ValueInfo(name, type, tensors.resolve(type, data), tuple(decorators or ()), (), at)


@located
def dataless(at: int, decorators: Decorators, type: Type, name: str) -> ValueInfo:
    """`float[2] w =>`: an initializer without data, before a closing bracket."""
    made: ValueInfo = initializer(at, decorators, type, name, None)
    return made


# ---- Nodes ----------------------------------------------------------------------------------


class LeadingComma(tuple[str, ...]):
    """The outputs of a node that begins with a comma: the first one is omitted."""

    __slots__ = ()


@action
def more_nodes(nodes: list[Node], node: Node) -> list[Node]:
    """A list with the next node.

    Raises:
        SemanticError: it begins with a comma. The official parser reads `x = A(), y = B()` as a
            second node with two outputs; here only a first node may omit its first output.
    """
    if type(node.outputs) is LeadingComma:
        if nodes:
            error = SemanticError(
                "a comma between two nodes",
                length=1,
                help='remove the comma; an output that is left out is written ""',
            )
            error.at = node.at
            raise error
        node.outputs = tuple(node.outputs)
    nodes.append(node)
    return nodes


def _names(items: list[Any]) -> tuple[Any, ...]:
    """Return names between commas; an omitted name is "", but not after a last comma."""
    if items[-1] is None:
        items.pop()
    return tuple(["" if item is None else item for item in items] if None in items else items)


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
    if tuple in map(type, outputs):
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
        (),
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
    """An output without a type."""
    return name


@action
def typed_output(type: Type, name: str) -> tuple[str, Type]:
    """An output with the type of its `value_info` entry."""
    return name, type


@action
def operator_dot(name: str) -> list[str]:
    """`.Add`: the domain is present and empty."""
    return ["", name]


__all__ = ["ACTIONS", "LOCATED", "schema_actions", "value_actions"]
