# SPDX-License-Identifier: Apache-2.0
"""Check the types of a large model by checking one node of each kind.

The kind of a node comprises its operator, its attributes, the types of its inputs and the declared
types of its outputs. For some operators, it also comprises the elements of small inputs, such as
axes. Values of float attributes are ignored. Nodes of one kind have equal output types and errors.

Most large models have few kinds. So types are propagated by kind, and a small model is made of the
first node of each kind. If the small model has no type or shape errors, the large model has no type
or shape errors. The body of a function is visited once for each kind of its calls.
"""

from __future__ import annotations

from itertools import chain

from onnxtext.ast.model import Model
from onnxtext.ast.types import Type
from onnxtext.checker.context.checked_model import CheckedModel, Options, cache_in_memo
from onnxtext.checker.context.operator_resolution import resolve_targets
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import Signature
from onnxtext.checker.inference.element_types import TypeInference
from onnxtext.checker.inference.onnx_errors import errors_of, whole_model
from onnxtext.checker.inference.propagate_by_kind import Inconclusive, KindPropagation
from onnxtext.checker.inference.type_merging import is_defined
from onnxtext.checker.symbolic.shape_merging import declared_shape
from onnxtext.proto.encode.lower import lower_pieces
from onnxtext.proto.encode.lower_error import LowerError
from onnxtext.proto.unknown_fields import RecordError

MIN_NODES = 200
"""Models with fewer nodes are checked node by node."""


def fits_by_kind(subject: CheckedModel) -> bool:
    """Whether checking one node of each kind proves that a model has no type or shape errors.

    False does not mean that there are errors.
    """
    return _propagate(subject) is not None


def sizes_fit_by_kind(subject: CheckedModel) -> bool:
    """Whether checking one node of each kind proves that symbolic dimensions are consistent.

    The result is also False if a node restricts a symbol, for example to one number, or if a node
    requires two symbols to be equal.
    """
    kinds = _propagate(subject)
    return kinds is not None and kinds.sizes.trivial


@cache_in_memo
def types_by_kind(subject: CheckedModel) -> dict[int, dict[str, Type]] | None:
    """Propagate types by kind; return the types of all values, by `id(scope)` and value name.

    Return None if `fits_by_kind` is False, if types may depend on the elements of tensors, or if a
    type is incomplete.
    """
    kinds = _propagate(subject)
    if kinds is None or kinds.depends_on_values:
        return None  # `ShapeInference` infers more where types depend on values
    found = {id(scope): kinds.types_in(scope) for scope in subject.scopes}
    distinct = {id(type): type for types in found.values() for type in types.values()}
    return found if all(map(_is_full, distinct.values())) else None


@cache_in_memo
def _propagate(subject: CheckedModel) -> KindPropagation | None:
    """Propagate types by kind; return None if this is not possible, or if errors are possible.

    For example, it is not possible for small models, and for models with uncalled functions.
    """
    if errors_of(subject) or subject.main is None or subject.model is None:
        return None
    if subject.node_count < MIN_NODES or not _may_fit(subject):
        return None
    kinds = KindPropagation(subject, subject.main)
    try:
        kinds.scope(subject.main)
        if not all(map(kinds.has_visited, subject.scopes)):
            return None  # a function is never called
        small = Model(
            graph=kinds.kinds, ir_version=subject.model.ir_version,
            opset_imports=subject.model.opset_imports, presence=subject.model.presence,
        )  # fmt: skip
        data = b"".join(lower_pieces(small))
    except (Inconclusive, LowerError, RecordError):
        return None
    reduced = CheckedModel(
        small, Options(encoded=lambda: data, inference=subject.options.inference)
    )
    if TypeInference.of(reduced).findings or whole_model(reduced):
        return None
    return kinds


def _may_fit(subject: CheckedModel) -> bool:
    """Whether propagation by kind supports all graphs and operators of a model."""
    if any(scope.kind not in ("main", "nested", "function") for scope in subject.scopes):
        return False
    used = {id(target): target for target in chain.from_iterable(resolve_targets(subject).values())}
    for target in used.values():
        if type(target) is not Scope and not (type(target) is Signature and target.is_standard):
            return False
    return all(s.nodes[index].op_type == "If" for s in subject.scopes for index in s.children)


def _is_full(type: Type) -> bool:
    """Whether a type is a tensor type with known element type, rank and dimensions.

    A symbol is a known dimension.
    """
    shape = declared_shape(type)
    return shape is not None and None not in shape and is_defined(type)
