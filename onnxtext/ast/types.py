# SPDX-License-Identifier: Apache-2.0
"""Data classes of value types (`TypeProto`): they are immutable and hashable, and may be shared."""

from __future__ import annotations

from onnxtext.ast.records import Decorator
from onnxtext.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class DecoratedDim:
    """A dimension with a denotation or another rare field (`@denotation("DATA_BATCH") N`).

    Attributes:
        value: the size, the symbolic name, or None for `?`.
        decorators: the decorators before the dimension.
    """

    value: int | str | None
    decorators: tuple[Decorator, ...]


Dim = int | str | DecoratedDim | None
"""A dimension: its size, its symbolic name (`dim_param`), None for `?`, or one with decorators."""


@dataclass(frozen=True, slots=True)
class TensorType:
    """A dense tensor: `float[N, 3]` (`TypeProto.Tensor`).

    Attributes:
        element: name of the element type as in the text, such as `float`, or `undefined` for 0.
        shape: the dimensions: `()` for rank 0, None if no shape is stored (`float[]`).
        decorators: the decorators of the type, such as its denotation.
    """

    element: str
    shape: tuple[Dim, ...] | None = ()
    decorators: tuple[Decorator, ...] = ()

    @property
    def integer_dims(self) -> tuple[int, ...]:
        """The integer dimensions. In the type of stored data, all dimensions are integers."""
        return tuple([dim for dim in self.shape or () if isinstance(dim, int)])


@dataclass(frozen=True, slots=True)
class SparseTensorType:
    """A sparse tensor: `sparse_tensor(float[N, 3])` (`TypeProto.SparseTensor`)."""

    element: str
    shape: tuple[Dim, ...] | None = ()
    decorators: tuple[Decorator, ...] = ()


@dataclass(frozen=True, slots=True)
class SequenceType:
    """A sequence: `seq(float[N])` (`TypeProto.Sequence`)."""

    element: Type
    decorators: tuple[Decorator, ...] = ()


@dataclass(frozen=True, slots=True)
class OptionalType:
    """An optional: `optional(float[N])` (`TypeProto.Optional`)."""

    element: Type
    decorators: tuple[Decorator, ...] = ()


@dataclass(frozen=True, slots=True)
class MapType:
    """A map: `map(int64, float)` (`TypeProto.Map`).

    Attributes:
        key: name of the element type of the keys.
        value: type of the values.
        decorators: the decorators of the type.
    """

    key: str
    value: Type
    decorators: tuple[Decorator, ...] = ()


@dataclass(frozen=True, slots=True)
class OpaqueType:
    """An opaque type: `opaque(domain, name)` (`TypeProto.Opaque`).

    The domain and the name are None if they are not stored.
    """

    domain: str | None = None
    name: str | None = None
    decorators: tuple[Decorator, ...] = ()


Type = TensorType | SparseTensorType | SequenceType | OptionalType | MapType | OpaqueType

MAX_TYPE_DEPTH = 49
"""Maximum nesting of types that protobuf can read, given its limit of 100 nested messages."""


def type_depth(type: Type) -> int:
    """Return the number of types that enclose the innermost type: 0 for `float`."""
    depth = 0
    while not isinstance(type, (TensorType, SparseTensorType, OpaqueType)):
        type = type.value if isinstance(type, MapType) else type.element
        depth += 1
    return depth
