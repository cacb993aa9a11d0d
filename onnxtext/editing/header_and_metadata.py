# SPDX-License-Identifier: Apache-2.0
"""Edit operator set versions, metadata, doc strings and value infos."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, TypeVar, get_args

from onnxtext.ast.compact_form.list_order import DECORATOR
from onnxtext.ast.model import Function, Model, OpsetImport
from onnxtext.ast.qualified_names import plain_domain
from onnxtext.ast.records import Decorator
from onnxtext.ast.tensors_and_attributes import Attribute, SparseTensor, Tensor
from onnxtext.ast.visit import walk_graphs
from onnxtext.checker.context.signatures import newest_versions
from onnxtext.editing.errors import check_integer, check_name, refused_edit_error

A = TypeVar("A", bound=str | Attribute)
What = Literal["metadata", "doc", "value-info"]


def set_opset(model: Model, version: int, domain: str = "", *, convert: bool = True) -> list[str]:
    """Set the version of an operator set that the model and its functions import.

    If the model does not import the operator set, an import is added.

    Args:
        model: the syntax tree; changed in place.
        version: the new version.
        domain: the domain of the operator set; "" for the standard operators.
        convert: whether to convert the nodes whose operators differ between the versions. If not,
            only the version number changes.

    Returns:
        Sentences for the user about changes besides the version, or the reason why no nodes are
        converted.

    Raises:
        OnnxTextError: the version is below 1, or the version or the domain cannot be encoded. If
            `convert` is set, also: the old or the new version is unknown, or a node cannot be
            converted.
    """
    if version < 1:
        raise refused_edit_error("the version of an operator set must be at least 1")
    notes: list[str] = []
    if convert and plain_domain(domain) in newest_versions():
        from onnxtext.editing.opsets import convert as convert_nodes

        notes = convert_nodes(model, {domain: version})
    elif convert:
        notes = [f"the operators of `{domain}` are unknown, so no nodes are converted"]
    check_integer(version)
    check_name(domain)
    if plain_domain(domain) not in [plain_domain(item.domain) for item in model.opset_imports]:
        model.opset_imports.append(OpsetImport(domain, version))
    for imports in (model.opset_imports, *[function.opset_imports for function in model.functions]):
        for item in imports:
            if plain_domain(item.domain) == plain_domain(domain):
                item.version = version
    return notes


def strip(model: Model, what: What) -> None:
    """Remove all metadata, all doc strings, or all value infos from a model.

    Args:
        model: the syntax tree; changed in place.
        what: `metadata`, `doc` (doc strings) or `value-info` (declared types of values other than
            inputs and outputs).

    Raises:
        OnnxTextError: `what` has another value.
    """
    if what not in get_args(What):
        raise refused_edit_error(
            f"`{what}` cannot be stripped", f"choose one of {', '.join(get_args(What))}"
        )
    if what == "value-info":
        for scope in walk_graphs(model):
            scope.values = [value for value in scope.values if value.data is not None]
            scope.value_metadata = {}
            scope.decorators = _without(scope.decorators, DECORATOR)
            for node in scope.nodes:
                node.output_types = ()
        return
    if what == "metadata":
        model.metadata, model.metadata_left_out = [], False
    else:
        model.doc_string = None
        explicit = [name for name in model.presence.explicit if not name.endswith(".doc_string")]
        model.presence = replace(model.presence, explicit=tuple(explicit))
    name = "meta" if what == "metadata" else "doc"
    model.decorators = _without(model.decorators, name)
    for scope in walk_graphs(model):
        if what == "metadata":
            scope.value_metadata = {}
        elif isinstance(scope, Function):
            scope.doc_string = None
        if isinstance(scope, Function):
            scope.attributes = tuple([_strip_decorators(item, name) for item in scope.attributes])
        for value in (*scope.inputs, *scope.values):
            if isinstance(value.data, SparseTensor):
                value.data = _tensor_without(value.data, name)
        for item in (scope, *scope.inputs, *scope.outputs, *scope.values, *scope.nodes):
            item.decorators = _without(item.decorators, name)
            if what == "metadata":
                item.metadata = ()
        for node in scope.nodes:
            node.attributes = tuple([_strip_decorators(item, name) for item in node.attributes])


def _strip_decorators(attribute: A, name: str) -> A:
    """Remove the decorators called `name` from an attribute and its tensors; return the result.

    Return `attribute` itself if no decorator is removed, or if it is a string: the name of an
    attribute parameter of a function.
    """
    if isinstance(attribute, str):
        return attribute
    value: Any = attribute.value
    if isinstance(value, tuple):
        value = tuple([_tensor_without(tensor, name) for tensor in value])
    else:
        value = _tensor_without(value, name)
    decorators = _without(attribute.decorators, name)
    copy = replace(attribute, value=value, decorators=decorators)
    return attribute if copy == attribute else copy


def _tensor_without(value: Any, name: str) -> Any:
    """Apply `_without` to the decorators of a tensor and its parts; other values are unchanged."""
    if isinstance(value, SparseTensor):
        values, indices = [_tensor_without(item, name) for item in (value.values, value.indices)]
        value = replace(value, values=values, indices=indices)
    if isinstance(value, (Tensor, SparseTensor)) and value.decorators:
        return replace(value, decorators=_without(value.decorators, name))
    return value


_FIELDS = {"doc": "doc_string", "meta": "metadata_props"}
"""Maps the name of a decorator to the field that it sets; `@set` may set the field, too."""


def _without(decorators: tuple[Decorator, ...], name: str) -> tuple[Decorator, ...]:
    result = []
    for decorator in decorators:
        arguments = decorator.arguments
        if decorator.name in ("set", "data.set") and name in _FIELDS:
            arguments = tuple([field for field in arguments if field.key != _FIELDS[name]])
        elif decorator.name in (name, f"data.{name}"):
            continue
        if arguments == decorator.arguments:
            result.append(decorator)
        elif arguments:
            result.append(replace(decorator, arguments=arguments))
    return tuple(result)
