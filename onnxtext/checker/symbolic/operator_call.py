# SPDX-License-Identifier: Apache-2.0
"""Define `OperatorCall`, the argument of inference functions: a node and facts about its inputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from onnxtext.ast.model import Node
from onnxtext.ast.tensors_and_attributes import Floats, attribute_value
from onnxtext.checker.context.finding import Place
from onnxtext.checker.symbolic.sizes.polynomials import Extent, Extents, SymbolicSize
from onnxtext.checker.symbolic.sizes.size_equations import SizeEquations
from onnxtext.checker.symbolic.small_tensors import SmallTensor
from onnxtext.plurals import count_noun
from onnxtext.quick_dataclass import dataclass

SymbolicShape = Extents | None
"""A shape whose dimensions may be symbolic or unknown; None if the rank is unknown."""
Shapes = tuple[SymbolicShape, ...]
"""The shapes of a node's outputs; None where unknown."""


@dataclass(slots=True)
class OperatorCall:
    """A node and the known facts about its inputs.

    Attributes:
        shapes: the shape of each input; None where unknown.
        values: the elements of each input; None if they are unknown, or if the input is not a small
            tensor. May be empty if no elements of any input are known.
        sizes: collects the equations between symbols, and the mismatches of nodes.
        since: the version of the operator's schema.
        origin: the call whose `with_inputs` has returned this call; None if there is none.
        indices: for each input of this call, its 0-based index in `origin`; () if `origin` is None.
    """

    node: Node
    shapes: list[SymbolicShape]
    values: list[SmallTensor | None]
    sizes: SizeEquations
    since: int
    origin: OperatorCall | None = None
    indices: tuple[int, ...] = ()

    def with_inputs(self, indices: Iterable[int]) -> OperatorCall:
        """Return a call of the same node with only the inputs at `indices`.

        Error messages still refer to inputs by their index in the node.
        """
        chosen = tuple(indices)
        return OperatorCall(
            self.node,
            [self.shape(index) for index in chosen],
            [self.value(index) for index in chosen],
            self.sizes,
            self.since,
            self,
            chosen,
        )

    def attribute(self, name: str) -> object:
        """Return the value of an attribute; None if missing."""
        return attribute_value(self.node.attributes, name)

    def integer(self, name: str, default: int) -> int:
        """Return the value of an integer attribute; the default if missing or not an integer."""
        value = self.attribute(name)
        return value if isinstance(value, int) else default

    def keeps_dims(self) -> bool:
        """Whether a reduction keeps the reduced dimensions: `keepdims` is 1, its default value."""
        return self.integer("keepdims", 1) == 1

    def length(self, *names: str) -> int:
        """Return the length of the first non-empty list attribute that is in `names`; 0 if none."""
        for name in names:
            value = self.attribute(name)
            if isinstance(value, (tuple, Floats)) and len(value):
                return len(value)
        return 0

    def listed(self, name: str, default: tuple[int, ...]) -> tuple[int, ...]:
        """Return a list of integers from an attribute; the default if there is none."""
        values = self._list(name)
        return default if values is None else values

    def _list(self, name: str) -> tuple[int, ...] | None:
        result = self.attribute(name)
        if isinstance(result, tuple) and all(isinstance(item, int) for item in result):
            return result
        return None

    def integers(self, name: str, index: int) -> tuple[int, ...] | None:
        """Return a list of integers from an attribute or, if it is missing, from an input.

        Return None if there is no such list, or if an element is unknown.
        """
        if self.attribute(name) is not None:
            return self._list(name)
        value = self.value(index)
        return None if value is None else value.numbers()

    def symbolic(self, name: str, index: int) -> Extents | None:
        """Return a list from an attribute or, if it is missing, from an input.

        Elements may be symbolic or unknown (None). Return None if there is no such list, or if its
        length is unknown. Also return None if no element is known and the list is too long.
        """
        if self.attribute(name) is not None:
            return self._list(name)
        value, shape = self.value(index), self.shape(index)
        if value is not None:
            return value.items if len(value.shape) <= 1 else None
        if shape is not None and len(shape) == 1 and isinstance(shape[0], int):
            return (None,) * shape[0] if 0 <= shape[0] <= MAX_UNKNOWN else None
        return None

    def value(self, index: int) -> SmallTensor | None:
        """Return the elements of a small input; None if unknown or omitted."""
        return self.values[index] if index < len(self.values) else None

    def scalar(self, index: int) -> Extent:
        """Return the element of an input with one element; None if unknown, or for other inputs."""
        value = self.value(index)
        return value.items[0] if value is not None and len(value.items) == 1 else None

    def has_input(self, index: int) -> bool:
        """Whether the node has this input; omitted optional inputs have an empty name."""
        if self.origin is not None:
            return index < len(self.indices) and self.origin.has_input(self.indices[index])
        return index < len(self.node.inputs) and bool(self.node.inputs[index])

    def shape(self, index: int) -> SymbolicShape:
        """Return the shape of an input; None if unknown or omitted."""
        return self.shapes[index] if index < len(self.shapes) else None

    def rank(self, index: int) -> int | None:
        """Return the number of dimensions of an input; None if unknown or omitted."""
        shape = self.shape(index)
        return None if shape is None else len(shape)

    def dim(self, index: int, axis: int) -> Extent:
        """Return dimension `axis` of an input; None if it is unknown or does not exist."""
        shape = self.shape(index)
        return shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None

    def equal(self, left: Extent, right: Extent, first: str = "", second: str = "") -> None:
        """Require two dimensions to be equal.

        `first` and `second` name the dimensions in messages, as in `dimension 1 of {0}`, where
        `{0}` stands for the first input. Without names, two different numbers are ignored, because
        onnx reports them.
        """
        if isinstance(left, int) and isinstance(right, int):
            if left != right and first:
                self.reject(f"{first} is {left}, but {second} is {right}")
            return
        self.sizes.equal(left, right, Place(self.node, ("op_type",)))

    def reject(self, message: str, *, specified: bool = True, elements: bool = False) -> None:
        """Record that the inputs or attributes of the node do not fit its operator.

        `message` describes the mismatch; `{0}` stands for the first input. `specified` is False if
        the specification allows the node, and only runtimes reject it. `elements` is True if
        elements of the first input in the message are wrong for any shapes of the inputs.
        """
        if self.origin is None:
            shapes = () if elements else self.shapes
            self.sizes.reject(self.node, message, shapes, specified=specified)
            return
        named = [f"{{{index}}}" for index in self.indices]
        self.origin.reject(message.format(*named), specified=specified, elements=elements)

    def require_rank(
        self, index: int, *ranks: int, specified: bool = True, accepted: bool = False
    ) -> bool:
        """Require an input to have one of the allowed ranks.

        Return False if the rank of the input is known and not allowed. `specified` is False if the
        specification allows other ranks, and only runtimes reject them. `accepted` is True if the
        specification forbids other ranks, but runtimes accept them.
        """
        rank = self.rank(index)
        if rank is None or rank in ranks:
            return True
        expected = " or ".join(map(str, ranks))
        needs = "the operator needs" if specified else "onnxruntime needs"
        wrong = f"{{{index}}} has {dimensions(rank)}, but {needs} {expected}"
        self.reject(wrong, specified=specified and not accepted)
        return False

    def require_min_rank(self, minimum: int, *, specified: bool = True) -> bool:
        """Require the first input to have at least `minimum` dimensions.

        Return False if the rank is known and too low. `specified` is False if the
        specification allows a lower rank, and only runtimes reject it.
        """
        rank = self.rank(0)
        if rank is None or rank >= minimum:
            return True
        needs = "the operator needs" if specified else "onnxruntime needs"
        self.reject(
            f"{{0}} has {dimensions(rank)}, but {needs} {minimum} or more", specified=specified
        )
        return False

    def require_vector(self, index: int, size: Extent, name: str, **options: bool) -> None:
        """Require an input to be a vector of `size` elements; messages call the size `name`.

        `options` are passed to `require_rank`.
        """
        shape = self.shape(index)
        if shape is not None and self.require_rank(index, 1, **options):
            self.equal(shape[0], size, f"the size of {{{index}}}", name)

    def require_last(self, index: int, size: Extent, name: str) -> None:
        """Require the last dimension of an input to be `size`; messages call the size `name`."""
        self.equal(self.dim(index, -1), size, f"the last dimension of {{{index}}}", name)

    def require_range(
        self, index: int, size: Extent, name: str, *, but: object = None, negative: bool = True
    ) -> None:
        """Require the known elements of an input to be indices of a dimension, or to equal `but`.

        `size` is the size of the dimension; messages call it `name`. Negative indices count from
        the end. Warn about them if not `negative`: onnxruntime rejects them.
        """
        value = self.value(index)
        if value is None or not isinstance(size, int):
            return
        items = [item for item in value.items if isinstance(item, int) and item != but]
        wrong = [item for item in items if not -size <= item < size]
        if wrong:
            self.reject(f"{{{index}}} has the element {wrong[0]}, but {name} is {size}")
        elif not negative and min(items, default=0) < 0:
            problem = f"{{{index}}} has the element {min(items)}"
            self.reject(f"{problem}, but onnxruntime accepts no negative indices", specified=False)

    def require_shape(self, index: int, expected: Extents, name: str) -> None:
        """Require an input to have the shape `expected`; messages call an expected size `name`."""
        shape = self.shape(index)
        if shape is not None and self.require_rank(index, len(expected)):
            for axis, sizes in enumerate(zip(shape, expected, strict=True)):
                self.equal(*sizes, f"dimension {axis} of {{{index}}}", name)

    def require_same_shape(self, left: int, right: int) -> None:
        """Require the inputs at two indices to have the same shape."""
        shape, expected = self.shape(right), self.shape(left)
        if shape is None or expected is None or not self.require_rank(right, len(expected)):
            return
        for axis, sizes in enumerate(zip(expected, shape, strict=True)):
            self.equal(*sizes, *[f"dimension {axis} of {{{index}}}" for index in (left, right)])

    def require_multiple(self, index: int, axis: int, number: int, name: str) -> None:
        """Require dimension `axis` of the input at `index` to be a multiple of `number`.

        `number` is positive. The axis must exist if the shape of the input is known. Messages call
        the number `name`.
        """
        shape = self.shape(index)
        size = None if shape is None else shape[axis]
        if isinstance(size, int) and size % number:
            wrong = f"dimension {axis} of {{{index}}} is {size}, which is not a multiple of {name}"
            self.reject(f"{wrong} ({number})")

    def axis(self, name: str, default: int, *, beyond: int = 0) -> int | None:
        """Return the axis in the attribute `name`, or else `default`; normalize a negative axis.

        The axis is an axis of the first input. Return None if the rank of this input is unknown. If
        the axis is out of range, reject the node and return None. If `beyond` is 1, the axis after
        the last dimension is allowed, too.
        """
        axis, rank = self.integer(name, default), self.rank(0)
        if rank is None:
            return None
        if -rank <= axis < rank + beyond:
            return axis if axis >= 0 else axis + rank
        self.reject(f"`{name}` is {axis}, but {{0}} has {dimensions(rank)}")
        return None

    def axes(self, axes: Iterable[int], rank: int) -> list[int] | None:
        """Normalize axes of a tensor with `rank` dimensions: -1, the last axis, becomes `rank` - 1.

        If an axis is out of range, reject the node and return None.
        """
        result = []
        for axis in axes:
            if not -rank <= axis < rank:
                self.reject(f"axis {axis} is out of range for {dimensions(rank)}")
                return None
            result.append(axis % rank)
        return result

    def require_one_or(self, extent: SymbolicSize, size: int) -> None:
        """Require a dimension to be 1 or `size`, because the node broadcasts the dimension."""
        self.sizes.one_or(extent, size, Place(self.node, ("op_type",)))

    def defer_broadcast(self, extents: Sequence[Extent]) -> None:
        """Record that the node broadcasts dimensions whose numbers later nodes may determine."""
        self.sizes.defer_broadcast(extents, Place(self.node, ("op_type",)))


def dimensions(count: int) -> str:
    """Return text for messages: `1 dimension`, `2 dimensions` and so on."""
    return count_noun(count, "dimension")


def entries(count: int) -> str:
    """Return text for messages: `1 entry`, `2 entries` and so on."""
    return count_noun(count, "entry", "entries")


MAX_UNKNOWN = 64
"""Maximum length of a list that `OperatorCall.symbolic` returns if no element is known."""
