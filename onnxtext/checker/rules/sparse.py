# SPDX-License-Identifier: Apache-2.0
"""Rules for sparse tensors: rank, index order and range, the name of the values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from onnxtext.ast.tensors_and_attributes import RawData, SparseTensor, TensorData, TypedData
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding, Place, quote
from onnxtext.checker.context.model_items import sparse_tensors
from onnxtext.checker.context.registry import Rule
from onnxtext.plurals import count_noun
from onnxtext.tensor.element_count import count_elements

if TYPE_CHECKING:
    from numpy.typing import NDArray


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Check the names, values, indices and dimensions of sparse tensors."""
    for scope in subject.scopes:
        for value in scope.initializers:
            if isinstance(value.data, SparseTensor) and not value.name:
                yield Finding(
                    "sparse-values-name",
                    "the values of a sparse initializer have no name",
                    (Place(value if value.at >= 0 else scope.original),),
                    help="name the initializer",
                )
    for name, sparse, place in sparse_tensors(subject):
        indices = subject.resolved.stored(sparse.indices.type, sparse.indices.data)
        yield from _rank(name, sparse, indices, place)


_RANK_HELP = (
    "write `sparse_tensor(float[4, 4]) s = sparse(float[N] […], int64[N, 2] […])`: N values, then "
    "the position or the coordinates of each value"
)


def _rank(name: str, sparse: SparseTensor, stored: TensorData, place: Place) -> Iterator[Finding]:
    """Check the rank of a sparse tensor, then its indices; `stored` is the data of the indices."""
    values = sparse.values.type.integer_dims
    indices = sparse.indices.type.integer_dims
    subject = f"the sparse tensor {quote(name)}" if name else "this sparse tensor"
    problem = None
    if not sparse.dims:
        problem = "has rank 0, but must have 1 or more dimensions"
    elif any(dim <= 0 for dim in sparse.dims):
        problem = f"has a dimension of {min(sparse.dims)}; dimensions must be 1 or more"
    elif len(values) != 1:
        problem = f"has values of rank {len(values)}, not 1"
    elif sparse.indices.type.element != "int64":
        problem = f"has indices of type `{sparse.indices.type.element}`, not `int64`"
    elif len(indices) not in (1, 2):
        problem = f"has indices of rank {len(indices)}, not 1 or 2"
    elif indices[0] != values[0]:
        index_count = count_noun(indices[0], "index", "indices")
        problem = f"has {count_noun(values[0], 'value')}, but {index_count}"
    elif len(indices) == 2 and indices[1] != len(sparse.dims):
        problem = f"has rank {len(sparse.dims)}, but indices with {indices[1]} coordinates"
    if problem is not None:
        yield Finding("sparse-rank", f"{subject} {problem}", (place,), help=_RANK_HELP)
        return
    numbers = _numbers(stored)
    if numbers is None or len(numbers) != count_elements(indices) or not len(numbers):
        return
    yield from _indices(subject, sparse, numbers.reshape(indices), place)


def _numbers(data: TensorData) -> NDArray[Any] | None:
    """Return the elements of an int64 tensor; None unless they are in `RawData` or `TypedData`."""
    import numpy as np

    match data:
        case RawData(elements) | TypedData(elements):
            return np.frombuffer(elements, "<i8")
    return None


def _indices(
    subject: str, sparse: SparseTensor, indices: NDArray[Any], place: Place
) -> Iterator[Finding]:
    import numpy as np

    limits = np.array(
        sparse.dims if indices.ndim == 2 else [count_elements(sparse.dims)], dtype=object
    )
    flat = indices.reshape(len(indices), -1)
    outside = (flat < 0) | (flat >= np.minimum(limits, (1 << 63) - 1).astype(np.int64))
    if outside.any():
        row = int(np.argwhere(outside)[0][0])
        shown = ", ".join(map(str, flat[row].tolist()))
        dims = ", ".join(map(str, sparse.dims))
        message = f"{subject} has the index [{shown}], which is outside of the shape [{dims}]"
        help = "correct the index, or the shape of the tensor"
        yield Finding("sparse-index-range", message, (place,), help)
        return
    before, later = flat[:-1], flat[1:]
    different = before != later
    first = different.argmax(axis=1)
    rows = np.arange(len(before))
    ascending = different.any(axis=1) & (before[rows, first] < later[rows, first])
    if not ascending.all():
        row = int(np.argwhere(~ascending)[0][0]) + 1
        shown = ", ".join(map(str, flat[row].tolist()))
        yield Finding(
            "sparse-index-order",
            f"{subject} has the index [{shown}], which is out of order or repeated",
            (place,),
            help="sort the indices together with the values, without duplicates",
        )


RULES = (
    Rule("sparse-values-name"),
    Rule("sparse-rank"),
    Rule("sparse-index-order"),
    Rule("sparse-index-range"),
)
