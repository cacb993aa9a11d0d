# SPDX-License-Identifier: Apache-2.0
"""Collect the types of all values of a checked model."""

from __future__ import annotations

from onnxtext.ast.types import Type
from onnxtext.checker.context.checked_model import Subject
from onnxtext.checker.inference.element_types import TypeInference
from onnxtext.checker.inference.explain_shape_errors import written
from onnxtext.checker.inference.node_kinds import is_full, types_by_kind
from onnxtext.checker.inference.shape_inference import ShapeInference
from onnxtext.checker.inference.symbolic.small_tensors import Value
from onnxtext.schemas.type_strings import shown


def known_types(subject: Subject) -> dict[int, dict[str, Type]]:
    """Return the inferred types of the values of each scope (by id), with known shapes.

    Args:
        subject: a checked model.
    """
    if any(finding.slug == "function-recursive" for finding in subject.found):
        return {}
    by_kind = _full_types_by_kind(subject)
    if by_kind is not None:
        return by_kind
    return {
        scope: environment.known
        for scope, environment in ShapeInference.of(subject).environments.items()
    }


def value_types(subject: Subject) -> dict[int, dict[str, str]]:
    """Return the types of all values as far as they are known, as the language writes them.

    Args:
        subject: a checked model.

    Returns:
        The types by name, for each graph or body by its offset in the text.
    """
    if any(finding.slug == "function-recursive" for finding in subject.found):
        return {}
    spelled = _Spelled()
    whole = known_types(subject)
    elements = {} if _full_types_by_kind(subject) else TypeInference.of(subject).environments
    found: dict[int, dict[str, str]] = {}
    for scope in subject.scopes:
        if scope.place.at < 0:
            continue
        types: dict[str, str] = {}
        plain = elements.get(id(scope))
        for name, text in plain.known.items() if plain is not None else ():
            if text is not None:
                types[name] = _without_shape(text)
        for name, type in whole.get(id(scope), {}).items():
            types[name] = spelled[type]
        found[scope.place.at] = types
    return found


def small_values(subject: Subject) -> dict[int, dict[str, Value]]:
    """Return the small computed values of each graph or body, by its offset in the text.

    Args:
        subject: a model whose types were inferred.
    """
    walk: ShapeInference | None = subject.memo.get("ShapeInference")
    if walk is None:
        return {}
    return {
        scope.place.at: found.values
        for scope in subject.scopes
        if scope.place.at >= 0 and (found := walk.environments.get(id(scope))) and found.values
    }


def _full_types_by_kind(subject: Subject) -> dict[int, dict[str, Type]] | None:
    """Return the types inferred from one node of each kind, if no dimension is unknown."""
    found: dict[int, dict[str, Type]] | None
    if "full-types" not in subject.memo:
        found = types_by_kind(subject)
        kinds = {id(type): type for types in (found or {}).values() for type in types.values()}
        subject.memo["full-types"] = found if all(map(is_full, kinds.values())) else None
    found = subject.memo["full-types"]
    return found


def _without_shape(text: str) -> str:
    element = shown(text)
    return f"{element}[]" if element != text else element


class _Spelled(dict[Type, str]):
    """A cache of types as the language writes them; most values share a few."""

    def __missing__(self, type: Type) -> str:
        text = self[type] = written(type)
        return text
