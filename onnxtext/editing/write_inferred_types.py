# SPDX-License-Identifier: Apache-2.0
"""Write inferred types into a syntax tree: at node outputs, or into incomplete declarations.

In declared types, only unknown element types, ranks and dimensions are filled in. A size that is
an expression of symbols is written as one name, such as `"2*seq"`; onnxruntime does the same. A
size with a symbol that no declaration contains stays unknown.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Container, Iterator
from dataclasses import replace
from functools import partial, reduce

from onnxtext.ast.compact_form.output_types import place_type
from onnxtext.ast.model import Graph, Model, ValueInfo
from onnxtext.ast.types import (
    DecoratedDim,
    Dim,
    OptionalType,
    SequenceType,
    SparseTensorType,
    TensorType,
    Type,
)
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.compare_declared_types import describe_contradiction, plain_dim
from onnxtext.checker.context.model_items import inner_types
from onnxtext.checker.context.scopes import GIVEN, Scope
from onnxtext.checker.engine.check_tree import run_rules
from onnxtext.checker.inference.control_flow_types import common_type
from onnxtext.checker.inference.shape_inference import CompleteInference
from onnxtext.checker.symbolic.sizes.parse_sizes import parse_size
from onnxtext.checker.symbolic.sizes.polynomials import symbols
from onnxtext.editing.infer_from_inputs import with_value
from onnxtext.plurals import count_noun
from onnxtext.proto.encode.lower import lower_without_weights

_FUNCTION_TYPES_SINCE = 10
"""The first IR version in which functions have a `value_info` list."""
_MADE_UP = re.compile(r"unk__\d+")
"""Matches the dimension names that onnx's inference generates."""


def check_subject(model: Model) -> CheckedModel:
    """Check a model; return its `CheckedModel`, from which types can be inferred."""
    return run_rules(model, encoded=lambda: lower_without_weights(model))[0]


Symbols = dict[int, ChainMap[str, None]]
"""Maps the ids of graphs to the symbolic dimensions that they and their outer graphs declare."""


def write_types(model: Model, *, only: Container[int] | None = None) -> list[str]:
    """Write the inferred types of node outputs into a model.

    Inputs keep their types. In a function, a dimension that differs between calls stays unknown, as
    does the shape if the ranks differ; a value whose types differ in another way gets no type.
    Models before IR version 10 get no types in functions.

    Args:
        model: the syntax tree; changed in place.
        only: the text offsets of the nodes whose outputs get types; None for all nodes.

    Returns:
        A list with one sentence for the user: the numbers of added and completed types, or the
        reason why no types were inferred.
    """
    subject = check_subject(model)
    if subject.is_recursive:
        return ["no type is inferred, because functions call themselves"]
    inference = CompleteInference.of(subject)
    added = completed = 0
    known: Symbols = {}
    for scope in subject.scopes:
        if scope.function is not None and subject.ir_version < _FUNCTION_TYPES_SINCE:
            continue
        types = _types(scope, inference, known)
        for type, put, is_new in _changes(scope, types, subject, only):
            added += is_new
            completed += not is_new
            put(type)
    return [f"{count_noun(added, 'type')} added, {completed} completed"]


# ---- Inferred types -------------------------------------------------------------------------


def _types(scope: Scope, inference: CompleteInference, known: Symbols) -> dict[str, Type]:
    """Return the types to write for the values of a graph or function, by name.

    Inference visits a function once for each call. Dimensions that differ between the visits become
    unknown, as does the shape if the ranks differ. If types differ in another way, the value has no
    type.

    `known` caches the results of `_declared_symbols`.
    """
    visits = inference.visits.get(id(scope), ())
    if not visits:
        return {}
    names = _declared_symbols(scope, known)
    result: dict[str, Type] = {}
    cache: dict[int, Type | None] = {}
    for name, type in visits[0].facts.items():
        if len(visits) > 1:
            common = reduce(common_type, [visit.facts.get(name) for visit in visits])
            shown = None if common is None else _type_to_write(common, names)
        else:
            if id(type) not in cache:
                cache[id(type)] = _type_to_write(type, names)
            shown = cache[id(type)]
        if shown is not None:
            result[name] = shown
    return result


def _declared_symbols(scope: Scope, known: Symbols) -> ChainMap[str, None]:
    """Return the symbolic dimensions in the declarations of a graph and its outer graphs.

    The result has one map for each graph, so that nested graphs share the maps of their outer
    graphs. `known` caches the results.
    """
    if id(scope) not in known:
        outer = scope.main_graph if scope.parent is None else scope.parent
        above = ChainMap() if outer is None else _declared_symbols(outer, known)
        known[id(scope)] = above.new_child(_own_symbols(scope))
    return known[id(scope)]


def _own_symbols(scope: Scope) -> dict[str, None]:
    """Return a graph's declared symbols as the keys of a dict, except names that onnx generates."""
    found: set[str] = set()
    declared = [v.type for v in (*scope.inputs, *scope.outputs, *scope.infos)]
    for node in scope.nodes:
        declared += node.output_types
    for type in {id(type): type for type in declared if type is not None}.values():
        for inner in inner_types(type):
            for dim in map(plain_dim, getattr(inner, "shape", None) or ()):
                if isinstance(dim, str):
                    found.add(dim)
                    found.update(symbols(parse_size(dim)))
    return dict.fromkeys(name for name in found if not _MADE_UP.fullmatch(name))


def _type_to_write(type: Type, names: Container[str]) -> Type | None:
    """Prepare an inferred type for writing; return None if its element type is unknown.

    Decorators are dropped. Dimensions with a symbol that `names` lacks become unknown.
    """
    if isinstance(type, (TensorType, SparseTensorType)):
        shape = type.shape
        dims = None if shape is None else tuple([_written_dim(dim, names) for dim in shape])
        return None if type.element == "undefined" else type.__class__(type.element, dims)
    if isinstance(type, (SequenceType, OptionalType)):
        inner = _type_to_write(type.element, names)
        return None if inner is None else type.__class__(inner)
    return replace(type, decorators=())


def _written_dim(dim: Dim, names: Container[str]) -> Dim:
    plain = plain_dim(dim)
    if isinstance(plain, int):
        return plain if plain >= 0 else None
    if not plain:
        return None
    return plain if plain in names or all(n in names for n in symbols(parse_size(plain))) else None


# ---- Changes --------------------------------------------------------------------------------


TypeToWrite = tuple[Type, Callable[[Type], None], bool]
"""An inferred type, a function that writes it, and whether the value had no declared type."""


def _changes(
    scope: Scope, types: dict[str, Type], subject: CheckedModel, only: Container[int] | None
) -> Iterator[TypeToWrite]:
    """Yield the types to write into a graph or function.

    `types` has the inferred types by name; `only` has the text offsets of the nodes whose outputs
    get types (None: all nodes).
    """
    tree = scope.original
    if len(tree.nodes) != len(scope.nodes):
        return
    declared: dict[str, list[ValueInfo]] = {}
    for value in (*tree.outputs, *[value for value in tree.values if value.data is None]):
        declared.setdefault(value.name, []).append(value)
    twice = {name for _, _, name in scope.redefinitions}
    outputs = {value.name for value in tree.outputs} if isinstance(tree, Graph) else set()
    for node_index, (node, original) in enumerate(zip(scope.nodes, tree.nodes, strict=True)):
        if node.outputs != original.outputs or (only is not None and original.at not in only):
            continue
        for index, name in enumerate(node.outputs):
            type = types.get(name)
            if type is None or name in twice or scope.position.get(name, GIVEN) != node_index:
                continue
            declared_type = original.output_types[index] if original.output_types else None
            values = [
                value
                for value in declared.get(name, ())
                if not value.decorators or subject.resolved.value(value).type == value.type
            ]
            if declared_type is not None:
                yield from _completed(declared_type, type, partial(place_type, original, index))
            for value in values:
                if value.type is not None:
                    yield from _completed(value.type, type, partial(setattr, value, "type"))
            if declared_type is None and not any(value.type for value in declared.get(name, ())):
                if name not in outputs:
                    yield type, partial(place_type, original, index), True
                elif values:
                    yield type, partial(setattr, values[0], "type"), True


def _completed(
    declared: Type, inferred: Type, put: Callable[[Type], None]
) -> Iterator[TypeToWrite]:
    filled = fill_type(declared, inferred)
    if filled != declared:
        yield filled, put, False


def fill_type(declared: Type, inferred: Type) -> Type:
    """Fill unknown parts of the declared type `declared` from the inferred type `inferred`.

    If the types contradict each other, return `declared` unchanged.
    """
    if describe_contradiction(declared, inferred) is not None:
        return declared
    match declared, inferred:
        case (TensorType() | SparseTensorType(), TensorType() | SparseTensorType()):
            element = declared.element if declared.element != "undefined" else inferred.element
            shape = inferred.shape if declared.shape is None else declared.shape
            if declared.shape is not None and inferred.shape is not None:
                shape = tuple(map(_fill_dim, declared.shape, inferred.shape))
            return replace(declared, element=element, shape=shape)
        case (SequenceType(a), SequenceType(b)):
            return replace(declared, element=fill_type(a, b))
        case (OptionalType(a), OptionalType(b)):
            return replace(declared, element=fill_type(a, b))
    return declared


def _fill_dim(declared: Dim, inferred: Dim) -> Dim:
    if plain_dim(declared) is not None or inferred is None:
        return declared
    if isinstance(declared, DecoratedDim):
        return with_value(declared, plain_dim(inferred))
    return inferred
