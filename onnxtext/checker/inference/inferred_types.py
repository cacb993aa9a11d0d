# SPDX-License-Identifier: Apache-2.0
"""Collect the types of all values of a checked model."""

from __future__ import annotations

from functools import cache

from onnxtext.ast.types import Type
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.inference.check_by_kind import types_by_kind
from onnxtext.checker.inference.element_types import TypeInference
from onnxtext.checker.inference.explain_shape_errors import spell_type
from onnxtext.checker.inference.shape_inference import ShapeInference
from onnxtext.checker.symbolic.small_tensors import SmallTensor
from onnxtext.schemas.type_strings import type_of


def inferred_types(subject: CheckedModel) -> dict[int, dict[str, Type]]:
    """Return the inferred types of all values, with shapes, as types of the syntax tree.

    The result maps `id(scope)` to the types of the scope's values, by value name. Uncalled
    functions and values of unknown type are missing. The types in a function are the types in the
    first visited call. If functions are recursive, the result is empty.
    """
    if subject.is_recursive:
        return {}
    by_kind = types_by_kind(subject)
    if by_kind is not None:
        return by_kind
    visits = ShapeInference.of(subject).visits
    return {scope: environments[0].facts for scope, environments in visits.items()}


def inferred_type_texts(subject: CheckedModel) -> dict[int, dict[str, str]]:
    """Return the inferred types of all values, with shapes, as text such as `float[N, 3]`.

    The result maps the text offset of each graph and function body to the types of its values, by
    value name. The types in a function are the types in the first visited call. If functions are
    recursive, the result is empty.
    """
    if subject.is_recursive:
        return {}
    spelled = cache(spell_type)  # most values share a few types
    without_shapes = cache(_without_shapes)
    types_by_scope = inferred_types(subject)
    elements = {} if types_by_kind(subject) else TypeInference.of(subject).visits
    result: dict[int, dict[str, str]] = {}
    for scope in subject.scopes:
        if scope.original.at < 0:
            continue
        types: dict[str, str] = {}
        plain = elements.get(id(scope))
        for name, text in plain[0].facts.items() if plain is not None else ():
            if text is not None:
                types[name] = without_shapes(text)
        for name, type in types_by_scope.get(id(scope), {}).items():
            types[name] = spelled(type)
        result[scope.original.at] = types
    return result


def small_values(subject: CheckedModel) -> dict[int, dict[str, SmallTensor]]:
    """Return the elements of small tensors, such as computed shapes, as far as they are known.

    The result maps the text offset of a graph or function body to the elements of its small
    tensors, by value name. If `ShapeInference` has not run, the result is empty.
    """
    walk: ShapeInference | None = subject.memo.get("ShapeInference")
    if walk is None:
        return {}
    return {
        scope.original.at: visits[0].values
        for scope in subject.scopes
        if scope.original.at >= 0 and (visits := walk.visits.get(id(scope))) and visits[0].values
    }


def _without_shapes(text: str) -> str:
    """Spell a schema's type as in texts, without shapes, such as `seq(float[])`."""
    type = type_of(text)
    return text if type is None else spell_type(type)
