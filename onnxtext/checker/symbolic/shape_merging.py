# SPDX-License-Identifier: Apache-2.0
"""Infer the symbolic shapes of one node, and merge them with its declared shapes."""

from __future__ import annotations

from collections.abc import Sequence

from onnxtext.ast.model import Node
from onnxtext.ast.tensors_and_attributes import Blob, Reference, RepeatedList, TypedBlob
from onnxtext.ast.types import TensorType, Type
from onnxtext.checker.context.compare_declared_types import plain_dim
from onnxtext.checker.context.finding import Place
from onnxtext.checker.context.operator_resolution import Target
from onnxtext.checker.context.signatures import Signature
from onnxtext.checker.symbolic.operator_call import OperatorCall, Shapes, SymbolicShape
from onnxtext.checker.symbolic.operator_shapes import onnxruntime_operators
from onnxtext.checker.symbolic.operator_shapes.input_relations import require_relations
from onnxtext.checker.symbolic.operators import DOMAINS, infer
from onnxtext.checker.symbolic.sizes.parse_sizes import read_dim
from onnxtext.checker.symbolic.sizes.polynomials import Extent
from onnxtext.checker.symbolic.sizes.size_equations import SizeEquations
from onnxtext.checker.symbolic.small_tensors import SmallTensor, SmallTensors

_UNKNOWN = (Blob, Reference, RepeatedList, TypedBlob)
"""The classes of attribute values that inference cannot read."""
Results = tuple[Shapes, SmallTensors]
"""The shapes of a node's outputs, and the elements of small outputs; None or missing if unknown."""


def operator_step(
    node: Node,
    target: Target,
    declared_shapes: Sequence[SymbolicShape],
    inputs: list[SymbolicShape],
    values: list[SmallTensor | None],
    sizes: SizeEquations,
) -> Results:
    """Infer the output shapes of a node without nested graphs, and the elements of small outputs.

    Declared shapes and shapes of inputs are None where unknown. `values` are the elements of small
    inputs; may be empty. Add the equations and mismatches of the node to `sizes`. Merge the output
    shapes with the declared shapes. If the node has a mismatch, or an attribute that inference
    cannot read, return only the declared shapes.
    """
    if any(isinstance(a.value, _UNKNOWN) for a in node.attributes):
        return tuple(declared_shapes), ()  # a value that cannot be read would count as missing
    before = len(sizes.mismatches)
    shapes, contents = infer_node(node, target, inputs, values, sizes)
    if len(sizes.mismatches) > before:
        return tuple(declared_shapes), ()  # prevents cascading errors
    return unify_shapes(node, declared_shapes, shapes, sizes), contents


def infer_node(
    node: Node,
    target: Target,
    inputs: Sequence[SymbolicShape],
    values: Sequence[SmallTensor | None],
    sizes: SizeEquations,
) -> Results:
    """Infer the output shapes and small values of a node without bodies; `((), ())` if unknown.

    The parameters are as in `operator_step`; the declared shapes of the outputs have no effect.
    """
    shapes, elements = list(inputs), list(values)
    if onnxruntime_operators.has_rule(node.domain, node.op_type):
        call = OperatorCall(node, shapes, elements, sizes, onnxruntime_operators.SINCE)
        return onnxruntime_operators.SHAPES[node.op_type](call), ()
    if type(target) is not Signature or target.origin or target.domain not in DOMAINS:
        return (), ()
    return infer(target.name, OperatorCall(node, shapes, elements, sizes, target.since))


def require_body_inputs(
    node: Node, target: Target, inputs: list[SymbolicShape], sizes: SizeEquations
) -> None:
    """Check the inputs and attributes of a node with bodies; add mismatches to `sizes`.

    For example, the condition of an `If` must have one element. `inputs` are the input shapes.
    """
    if type(target) is Signature and not target.origin and target.domain in DOMAINS:
        require_relations(target.name, OperatorCall(node, inputs, [], sizes, target.since))


def unify_shapes(
    node: Node, declared_shapes: Sequence[SymbolicShape], inferred: Shapes, sizes: SizeEquations
) -> Shapes:
    """Equate the declared and the inferred shapes of a node's outputs; return the merged shapes.

    Unknown shapes are None; `inferred` may lack entries at the end. Add equations and
    contradictions to `sizes`. Shapes that contradict each other become unknown.
    """
    found = []
    for index, name in enumerate(node.outputs):
        declared = declared_shapes[index]
        shape = inferred[index] if index < len(inferred) else None
        if name and declared is not None and shape is not None:
            if shapes_contradict(declared, shape):
                sizes.contradict(node, index, declared, shape)
                declared = shape = None  # either shape may be wrong
            equate_dims(sizes, declared, shape, Place(node, ("outputs", index)))
        found.append(_fill_unknown_dims(declared, shape))
    return tuple(found)


def declared_shape(type: Type | None, instance: str = "") -> SymbolicShape:
    """Return the symbolic shape of a declared type; None if the type or its rank is unknown.

    In a loop body or function, symbols get the suffix `instance`, because symbols of the same name
    elsewhere may have other sizes. The suffix may be empty.
    """
    if not isinstance(type, TensorType) or type.shape is None:
        return None
    return tuple([_extent(plain_dim(dim), instance) for dim in type.shape])


def _extent(dim: int | str | None, instance: str) -> Extent:
    if isinstance(dim, str):
        return read_dim(dim, instance)
    return None if dim is None or dim < 0 else dim


def equate_dims(
    sizes: SizeEquations, left: SymbolicShape, right: SymbolicShape, place: Place
) -> None:
    """In `sizes`, equate the dimensions of two shapes; ignore different or unknown ranks."""
    if left is not None and right is not None and left is not right and len(left) == len(right):
        for first, second in zip(left, right, strict=True):
            sizes.equal(first, second, place)


def shapes_contradict(declared: SymbolicShape, computed: SymbolicShape) -> bool:
    """Whether two known shapes differ in rank, or have different numbers in a dimension.

    A 0 agrees with every number, because some converters declare 0 for unknown sizes.
    """
    if declared is None or computed is None:
        return False
    return len(declared) != len(computed) or any(
        isinstance(left, int)
        and isinstance(right, int)
        and left != right
        and 0 not in (left, right)
        for left, right in zip(declared, computed, strict=True)
    )


def _fill_unknown_dims(declared: SymbolicShape, computed: SymbolicShape) -> SymbolicShape:
    """Return the declared shape, with unknown dimensions taken from the computed shape.

    Return the computed shape if no shape is declared.
    """
    if declared is None or computed is None or len(declared) != len(computed):
        return computed if declared is None else declared
    if None not in declared:
        return declared
    return tuple([b if a is None else a for a, b in zip(declared, computed, strict=True)])


def merge_branch_shapes(left: SymbolicShape, right: SymbolicShape) -> SymbolicShape:
    """Merge the shapes of an output in two branches; dimensions that differ become None.

    Return None if a rank is unknown, or if the ranks differ.
    """
    if left is None or right is None or len(left) != len(right):
        return None
    return tuple([a if a == b else None for a, b in zip(left, right, strict=True)])
