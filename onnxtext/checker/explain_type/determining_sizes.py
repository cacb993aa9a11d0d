# SPDX-License-Identifier: Apache-2.0
"""Find the sizes of a node's inputs that determine a size of its output.

A size is a dimension, the rank, or an element of a small tensor. Each input size in turn is
replaced by a new symbol, and the output is inferred again. If this changes the output size, the
input size determines the output size. If no input size determines an output dimension, or if the
node has more than `_MAX_REPLACED` input sizes, all input dimensions that equal the output dimension
are replaced together.

This needs only the inference function of the operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from onnxtext.ast.model import Node
from onnxtext.checker.context.signatures import Signature
from onnxtext.checker.inference.function_attributes import has_references
from onnxtext.checker.inference.symbolic_types import NoEquations
from onnxtext.checker.symbolic.operator_call import SymbolicShape
from onnxtext.checker.symbolic.operator_shapes.onnxruntime_operators import has_rule
from onnxtext.checker.symbolic.operators import CONSTANT_INPUTS, DOMAINS
from onnxtext.checker.symbolic.shape_merging import infer_node
from onnxtext.checker.symbolic.sizes.polynomials import Extent, symbol_plus, symbols
from onnxtext.checker.symbolic.small_tensors import MAX_ELEMENTS, SmallTensor
from onnxtext.checker.symbolic.value_propagation import COMPUTABLE

DATA_DEPENDENT = {
    "NonZero": "the number of elements that are not 0",
    "Unique": "the number of different elements",
    "Compress": "the number of elements that the condition selects",
    "NonMaxSuppression": "the number of boxes that are kept",
    "StringSplit": "the number of parts of the strings",
    "SequenceAt": "the element of the sequence",
    "ConcatFromSequence": "the elements of the sequence",
    "SplitToSequence": "the lengths of the parts",
    "Optional": "the value",
    "OptionalGetElement": "the value",
    "CategoryMapper": "the data",
}
"""Maps operators with data-dependent output sizes to the data that determines these sizes."""
_MAX_REPLACED = 96
"""The maximum number of sizes to replace in the inputs of one node."""


class TypePart(NamedTuple):
    """A part of a value: a dimension, the rank, or an element of a small tensor.

    `at` is the 0-based index of the dimension, or of the element in row-major order; 0 for the
    rank.
    """

    kind: Literal["dimension", "element", "rank"]
    at: int = 0

    def of(self, name: str) -> str:
        """Describe this part of a value in messages, such as ``dimension 1 of `x` ``."""
        if self.kind == "rank":
            return f"rank of {name}"
        return f"{self.kind} {self.at} of {name}"


RANK = TypePart("rank")


class Influence(NamedTuple):
    """A dimension, rank or element of input `input` that may determine an output size."""

    input: int
    part: TypePart


class NodeFacts(NamedTuple):
    """A node, and the facts about its inputs that determine the shapes of its outputs.

    Unknown shapes are None. The elements of an input are None if they are unknown or too many.
    """

    signature: Signature
    node: Node
    shapes: tuple[SymbolicShape, ...]
    values: tuple[SmallTensor | None, ...]

    @property
    def is_followed(self) -> bool:
        """Whether symbolic inference supports the node.

        It supports standard operators, those of `ai.onnx.ml`, and those of onnxruntime that have a
        rule, if their attributes are not references.
        """
        node, domain = self.node, self.signature.domain
        supported = domain in DOMAINS or has_rule(domain, node.op_type)
        return supported and not has_references(node)


def infer_size(facts: NodeFacts, output: int, part: TypePart) -> Extent:
    """Infer the size of `part` of a node's output; return None if the size is unknown.

    The declared type of the output has no effect. `output` is the 0-based index of the output.
    """
    if not facts.is_followed:
        return None
    shapes, values = infer_node(
        facts.node, facts.signature, facts.shapes, facts.values, NoEquations()
    )
    if part.kind == "element":
        value = values[output] if output < len(values) else None
        return value.items[part.at] if value and part.at < len(value.items) else None
    shape = shapes[output] if output < len(shapes) else None
    if shape is None or part.kind == "rank":
        return None if shape is None else len(shape)
    return shape[part.at] if part.at < len(shape) else None


def determining_sizes(
    facts: NodeFacts, output: int, part: TypePart, size: Extent
) -> list[Influence]:
    """Return the input sizes that determine a known size of an output.

    If some of these input sizes equal the output size, return only the equal ones. `part` is the
    part of the output that has the size.
    """
    extents = {one: extent for one, extent in _parts(facts) if extent is not None}
    base = infer_size(facts, output, part)
    result: list[Influence] = []
    if base is not None and len(extents) <= _MAX_REPLACED:
        for influence in extents:
            changed = _replace_sizes(facts, {influence: _symbol(influence)})
            if infer_size(changed, output, part) != base:
                result.append(influence)
    same = [influence for influence in result if extents[influence] == size]
    if same:
        return same
    if result or part.kind != "dimension":
        return result
    # Equal input sizes may determine the dimension together: replace all of them by one symbol.
    equal = _equal(facts, extents, part, size)
    if base is None:
        return equal if size != 1 else []
    together = _replace_sizes(facts, dict.fromkeys(equal, _symbol(equal[0]))) if equal else facts
    return equal if infer_size(together, output, part) != base else []


def _equal(
    facts: NodeFacts, input_sizes: Mapping[Influence, Extent], part: TypePart, size: Extent
) -> list[Influence]:
    """Return the input dimensions equal to `size` that may determine the output dimension `part`.

    Such an input dimension has the same index as the output dimension, or broadcasting aligns the
    two dimensions. `input_sizes` are the known sizes of the inputs.
    """
    aligned = _aligned_dimensions(facts, part)
    candidates = [one for one, extent in input_sizes.items() if extent == size]
    return [one for one in candidates if one.part == part or one in aligned]


def missing_sizes(facts: NodeFacts, output: int, part: TypePart) -> list[Influence]:
    """Return the unknown input sizes that are needed to infer the size of an output's `part`.

    Return [] if the output size depends on data or is never inferred.
    """
    if not facts.is_followed:
        return []
    unknown = [one for one, extent in _parts(facts) if extent is None][:_MAX_REPLACED]
    values = _unknown_values(facts)

    def infer(sizes: Iterable[Influence], values: dict[int, SmallTensor]) -> Extent:
        """Infer the output size as if more sizes and elements of inputs were known.

        `sizes` are the sizes to treat as known. `values` maps the index of an input to the elements
        to treat as known.
        """
        known = tuple([values.get(index, value) for index, value in enumerate(facts.values)])
        replaced = {influence: _symbol(influence) for influence in sizes}
        return infer_size(_replace_sizes(facts._replace(values=known), replaced), output, part)

    size = infer(unknown, values)
    if size is not None:
        needed = [
            influence
            for influence in unknown
            if infer([other for other in unknown if other != influence], values) is None
        ]
        for index, value in values.items():
            if infer(unknown, {i: v for i, v in values.items() if i != index}) is None:
                elements = _elements(index, len(value.items))
                names = symbols(size)
                used = [one for one in elements if not names.isdisjoint(symbols(_symbol(one)))]
                needed += used or elements[:1]
        return needed or unknown
    without_rank = [
        Influence(index, RANK)
        for index, name in enumerate(facts.node.inputs)
        if name and facts.shapes[index] is None
    ]
    if without_rank:
        return without_rank
    lengths = [
        Influence(index, TypePart("dimension", 0))
        for index in _takes_values(facts)
        if facts.values[index] is None and facts.shapes[index] == (None,)
    ]
    if lengths or part.kind != "dimension" or facts.node.op_type in DATA_DEPENDENT:
        return lengths
    aligned = set(_aligned_dimensions(facts, part))
    return [influence for influence in unknown if influence in aligned]


def broadcast_sizes(facts: NodeFacts, part: TypePart) -> list[Extent]:
    """Return the distinct sizes, except 1, that broadcasting combines into the dimension `part`.

    An unknown size is None.
    """
    sizes = dict(_parts(facts))
    aligned = dict.fromkeys([sizes[one] for one in _aligned_dimensions(facts, part)])
    return [size for size in aligned if size != 1]


def _aligned_dimensions(facts: NodeFacts, part: TypePart) -> list[Influence]:
    """Return the input dimensions that broadcasting aligns with the output dimension `part`."""
    max_rank = max([len(shape) for shape in facts.shapes if shape is not None], default=0)
    return [
        Influence(index, TypePart("dimension", part.at - max_rank + len(shape)))
        for index, shape in enumerate(facts.shapes)
        if shape is not None and 0 <= part.at - max_rank + len(shape) < len(shape)
    ]


def _takes_values(facts: NodeFacts) -> list[int]:
    """Return the indices of the inputs whose elements symbolic inference uses."""
    name = facts.signature.name
    if name not in CONSTANT_INPUTS and name not in COMPUTABLE:
        return []
    first = 0 if name in COMPUTABLE or name in ("ConstantOfShape", "Range") else 1
    return [index for index, input in enumerate(facts.node.inputs) if input and index >= first]


def _unknown_values(facts: NodeFacts) -> dict[int, SmallTensor]:
    """Return a tensor of symbols for each input whose elements must be known, by input index.

    These inputs are scalars and short vectors whose unknown elements symbolic inference uses.
    """
    result = {}
    for index in _takes_values(facts):
        shape = facts.shapes[index]
        if facts.values[index] is not None or shape is None or len(shape) > 1:
            continue
        sizes = [size for size in shape if isinstance(size, int)]
        count = sizes[0] if sizes else 1
        if len(sizes) == len(shape) and 0 <= count <= MAX_ELEMENTS:
            items = tuple(map(_symbol, _elements(index, count)))
            result[index] = SmallTensor(tuple(sizes), items)
    return result


def _elements(index: int, count: int) -> list[Influence]:
    """Return the first `count` elements of an input."""
    return [Influence(index, TypePart("element", element)) for element in range(count)]


def _parts(facts: NodeFacts) -> Iterator[tuple[Influence, Extent]]:
    """Yield each dimension and known element of the inputs, with its size or value."""
    for index, shape in enumerate(facts.shapes):
        for axis, extent in enumerate(shape or ()):
            yield Influence(index, TypePart("dimension", axis)), extent
    for index, value in enumerate(facts.values):
        for axis, extent in enumerate(value.items if value is not None else ()):
            yield Influence(index, TypePart("element", axis)), extent


def _symbol(influence: Influence) -> Extent:
    """Return the symbol that stands for a size of an input; no model has a symbol of this name."""
    return symbol_plus(f"\1{influence.input}.{influence.part.kind}.{influence.part.at}")


def _replace_sizes(facts: NodeFacts, sizes: dict[Influence, Extent]) -> NodeFacts:
    """Return a copy of `facts` with new values for the dimensions and elements in `sizes`."""
    shapes, values = list(facts.shapes), list(facts.values)
    for (index, part), extent in sizes.items():
        if part.kind == "dimension":
            shape = shapes[index] or ()
            shapes[index] = (*shape[: part.at], extent, *shape[part.at + 1 :])
        else:
            value = values[index]
            assert value is not None
            items = (*value.items[: part.at], extent, *value.items[part.at + 1 :])
            values[index] = value._replace(items=items)
    return facts._replace(shapes=tuple(shapes), values=tuple(values))
