# SPDX-License-Identifier: Apache-2.0
"""Actions for the constructs that can have a header: models, functions and fragments."""

from __future__ import annotations

from typing import Any

from onnxtext.ast.model import Fragment, Function, Graph, Model, Node, Presence, ValueInfo
from onnxtext.ast.records import Decorator
from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.syntax.actions.headers import FUNCTION_KEYS, MODEL_KEYS, PRESENCE_KEYS, Header
from onnxtext.syntax.actions.registry import ACTIONS, located
from onnxtext.syntax.actions.section_binding import attach_sections
from onnxtext.syntax.actions.sections import Sections
from onnxtext.syntax.actions.semantic_error import SemanticError
from onnxtext.syntax.actions.types import decorated


def model(
    decorators: list[Decorator] | None,
    head: Header | None,
    graph: Graph,
    functions: list[Function],
    sections: list[tuple[str, Any]] | None,
) -> Model:
    """Return the model for a header, a graph, functions and sections.

    Raises:
        SemanticError: the header or a section is invalid, or the header of a function has the
            keys `onnxtext` or `explicit`.
    """
    head = head or Header()
    head.allow(MODEL_KEYS, "a model")
    for item in functions:
        if item.presence is not None:
            raise SemanticError(
                "only the model's header can have the keys `onnxtext` and `explicit`",
                at=item.at,
                length=len(item.name),
            )
    get = head.values.get
    result = Model(
        graph,
        functions,
        head.presence,
        get("ir_version"),
        get("opset_import", []),
        get("producer_name"),
        get("producer_version"),
        get("domain"),
        get("model_version"),
        get("doc_string"),
        get("metadata_props", []),
        tuple(decorators or ()),
    )
    result.encoding_habits = tuple(get("encoding", ()))
    if sections:
        attach_sections(result, Sections.group(sections))
    return result


@located
def function(
    offset: int,
    decorators: list[Decorator] | None,
    head: Header | None,
    name: str,
    parameters: list[str | Attribute] | None,
    inputs: list[ValueInfo],
    outputs: list[ValueInfo],
    values: list[ValueInfo] | None,
    nodes: list[Any],
) -> Function:
    """Return the function for `name <parameters> (inputs) => (outputs) <values> { nodes }`.

    Raises:
        SemanticError: a value has data, an input or output without a type has decorators, or the
            header has a key that functions do not have.
    """
    head = head or Header()
    head.allow(FUNCTION_KEYS, "a function")
    for value in (*inputs, *outputs, *(values or ())):
        if value.data is not None:
            raise SemanticError(
                "a function cannot have initializers", at=value.at, length=len(value.name)
            )
    for value in (*inputs, *outputs):
        if value.decorators and value.type is None:
            raise SemanticError(
                "an input or output of a function can have decorators only if it has a type",
                at=value.at,
                length=len(value.name),
            )
    get = head.values.get
    result = Function(
        name,
        inputs,
        outputs,
        tuple(parameters or ()),
        values or [],
        nodes,
        get("domain"),
        get("overload"),
        get("doc_string"),
        get("opset_import", []),
        tuple(decorators or ()),
    )
    result.at = offset
    if PRESENCE_KEYS & head.at.keys():
        result.presence = head.presence
    return result


def function_fragment(item: Function) -> Fragment:
    """Return the fragment for a function; move its attribute `presence` to the fragment."""
    presence, item.presence = item.presence, None
    return Fragment(item, presence or Presence())


def item_fragment(head: Header | None, item: Any) -> Fragment:
    """Return the fragment for a graph, node, list of nodes, value info, attribute or tensor.

    Raises:
        SemanticError: the header has a key that only models or functions have.
    """
    head = head or Header()
    head.allow(PRESENCE_KEYS, "a fragment")
    if isinstance(item, Node):
        item.outputs = tuple(item.outputs)
    return Fragment(item, head.presence)


ACTIONS.update(
    model=model,
    headless_model=lambda graph, functions, sections: model(None, None, graph, functions, sections),
    graph_fragment=item_fragment,
    function_fragment=function_fragment,
    node_fragment=item_fragment,
    nodes_fragment=item_fragment,
    value_info_fragment=item_fragment,
    attribute_fragment=item_fragment,
    tensor_fragment=item_fragment,
    type_alone=lambda decorators, type: Fragment(decorated(decorators, type)),
    entry_alone=Fragment,
    message_record=Fragment,
)
