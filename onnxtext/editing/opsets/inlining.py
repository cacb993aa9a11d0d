# SPDX-License-Identifier: Apache-2.0
"""Inline the function bodies of operators that do not exist in an older version."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from onnxtext.ast.map_names import map_all_names
from onnxtext.ast.model import Fragment, Function, Graph, Node
from onnxtext.ast.qualified_names import plain_domain
from onnxtext.ast.tensors_and_attributes import Attribute, Reference
from onnxtext.ast.types import TensorType, Type
from onnxtext.ast.visit import list_graphs
from onnxtext.checker.context.signatures import Signature, schema_of
from onnxtext.editing.opsets.converted_node import NodeConversion
from onnxtext.editing.opsets.make_tensors import make_attribute
from onnxtext.editing.opsets.model_facts import NotConvertible
from onnxtext.editing.opsets.schema_versions import NONE, default_of
from onnxtext.proto.decode.lift import lift_fragment
from onnxtext.proto.encode.lower import lower_fragment


def inline(conversion: NodeConversion) -> int:
    """Replace a node by the function body of its operator, taken from the schema.

    Returns:
        The version of the operator set that the new nodes use.

    Raises:
        NotConvertible: the node cannot be replaced, for example because its operator has no
            function body.
    """
    if (conversion.old.domain, conversion.old.name) == ("", "Range"):
        _check_range(conversion)
    body, version = _body(conversion)
    if any(plain_domain(item.domain) != conversion.old.domain for item in body.opset_imports):
        raise NotConvertible(_absent(conversion))
    names = _names(conversion, body)
    attributes = {attribute.name: attribute for attribute in conversion.node.attributes}
    for attribute in conversion.node.attributes:
        conversion.check_given(attribute)
    map_all_names(body, lambda name: names.get(name, name))
    for node in body.nodes:
        _substitute(node, attributes, conversion.old)
    conversion.before += body.nodes
    _keep_statement(conversion)
    conversion.add_note(
        "its function body replaces it, because the operator exists only since version "
        f"{conversion.old.since}"
    )
    return version


def _check_range(conversion: NodeConversion) -> None:
    """Check a `Range`, because its function body computes the number of elements in `float`.

    Reject a `Range` of doubles; for integers, add a note for the user.
    """
    type = conversion.facts.element_type(conversion.graph.scope, conversion.input(0))
    if type == "tensor(double)":
        raise NotConvertible(
            "its function body computes the number of elements in `float`, which may differ"
        )
    if type in ("tensor(int32)", "tensor(int64)"):
        conversion.add_note(
            "the number of elements is exact only up to 2**24, as it is a `float` now"
        )


def _absent(conversion: NodeConversion) -> str:
    return f"it exists only since version {conversion.old.since}"


def _keep_statement(conversion: NodeConversion) -> None:
    """Move label, decorators, metadata and declared types of the replaced node to the new nodes.

    Mark the replaced node as removed.
    """
    first = conversion.node.outputs[0] if conversion.node.outputs else ""
    types = dict(zip(conversion.node.outputs, conversion.node.output_types, strict=False))
    for node in conversion.before:
        output_types = tuple([types.get(name) for name in node.outputs])
        node.output_types = output_types if any(output_types) else ()
        if first in node.outputs:
            node.name, node.decorators = conversion.node.name, conversion.node.decorators
            node.metadata, node.at = conversion.node.metadata, conversion.node.at
    conversion.removed = True


def _body(conversion: NodeConversion) -> tuple[Function, int]:
    """Return (function body of the node's operator, version of the operators that it uses)."""
    schema = schema_of(conversion.old)
    versions: list[int] = list(schema.function_opset_versions)
    if versions:
        version = max([v for v in versions if v <= conversion.old.since] or versions)
        data = schema.get_function_with_opset_version(version)
    else:
        data, version = _context_dependent(conversion, schema)
    lifted: Any = lift_fragment(bytes(data), "FunctionProto").item
    assert isinstance(lifted, Function)
    found = [item.version for item in lifted.opset_imports if plain_domain(item.domain) == ""]
    return lifted, found[0] if found else version


def _context_dependent(conversion: NodeConversion, schema: Any) -> tuple[bytes, int]:
    """Return (function body that onnx builds for the node and its input types, opset version)."""
    from onnxtext.checker.isolation.inference_client import InferenceClient

    versions: list[int] = list(schema.context_dependent_function_opset_versions)
    if not versions:
        raise NotConvertible(_absent(conversion))
    types = []
    for name in conversion.node.inputs:
        type = _type_of(conversion, name) if name else None
        if name and type is None:
            raise NotConvertible(
                f"{_absent(conversion)}, and its definition depends on the type of `{name}`, which "
                "is unknown"
            )
        types.append(b"" if type is None else lower_fragment(Fragment(type)))
    node = lower_fragment(Fragment(conversion.node))
    operator = conversion.old.name, conversion.old.since, conversion.old.domain
    answer = InferenceClient().function_body(operator, min(versions), node, types)
    if not isinstance(answer, list) or not answer or not answer[0]:
        raise NotConvertible(_absent(conversion))
    return answer[0], min(versions)


def _type_of(conversion: NodeConversion, name: str) -> Type | None:
    scope = conversion.graph.scope
    text = conversion.facts.element_type(scope, name) or ""
    inferred = conversion.facts.type(scope, name)
    return inferred or (TensorType(text[7:-1], None) if text.startswith("tensor(") else None)


def _names(conversion: NodeConversion, body: Function) -> dict[str, str]:
    """Map each name in the body to an input or output of the node, or else to a new name."""
    names = {value.name: conversion.input(index) for index, value in enumerate(body.inputs)}
    for value, name in zip(body.outputs, conversion.node.outputs, strict=False):
        if name:
            names[value.name] = name
    for scope in list_graphs(body):
        for value in scope.inputs if isinstance(scope, Graph) else ():
            names.setdefault(value.name, conversion.facts.fresh(value.name))
        for node in scope.nodes:
            for name in node.outputs:
                if name and name not in names:
                    names[name] = conversion.facts.fresh(name)
    return names


def _substitute(node: Node, attributes: dict[str, Attribute], signature: Signature) -> None:
    """Replace references to parameters by the attributes of the old node, or else by defaults.

    A reference to a parameter that has neither is removed.
    """
    substituted = []
    for attribute in node.attributes:
        if not isinstance(attribute.value, Reference):
            if isinstance(attribute.value, Graph):
                for inner in attribute.value.nodes:
                    _substitute(inner, attributes, signature)
            substituted.append(attribute)
            continue
        source = attributes.get(attribute.value.name)
        if source is not None:
            substituted.append(replace(source, name=attribute.name))
            continue
        default = NONE
        if attribute.value.name in signature.attributes:
            default = default_of(signature, attribute.value.name)
        if default is not NONE:
            substituted.append(make_attribute(attribute.name, default))
    node.attributes = tuple(substituted)
