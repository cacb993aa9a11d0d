# SPDX-License-Identifier: Apache-2.0
"""Compute statistics of tensors, and write them as comments, so that reviewers see changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from onnxtext.ast.model import Function, Graph, Model
from onnxtext.ast.rewrite_tensors import Rewriter
from onnxtext.ast.tensors_and_attributes import AttributeType, Blob, TypedBlob
from onnxtext.ast.types import TensorType
from onnxtext.plurals import count_noun
from onnxtext.tensor.element_types import ELEMENTS
from onnxtext.tensor.lazy_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 1 << 20
"""Number of elements to process at a time, to bound memory."""

NUMPY_CODES = {
    "float": "<f4", "double": "<f8", "float16": "<f2", "bool": "u1", "uint8": "u1", "int8": "i1",
    "uint16": "<u2", "int16": "<i2", "uint32": "<u4", "int32": "<i4", "uint64": "<u8",
    "int64": "<i8",
}  # fmt: skip
"""The numpy type codes of element types. Booleans are read as integers, to compute their mean."""
_ML_DTYPES = {
    "bfloat16": "bfloat16", "float8e4m3fn": "float8_e4m3fn", "float8e4m3fnuz": "float8_e4m3fnuz",
    "float8e5m2": "float8_e5m2", "float8e5m2fnuz": "float8_e5m2fnuz",
    "float8e8m0": "float8_e8m0fnu",
}  # fmt: skip
_MAX_NAME_LENGTH = 80
_LISTS = {AttributeType.FLOATS: "float", AttributeType.INTS: "int64"}


class _Finder(Rewriter):
    """Finds the name and element type of each blob's first use."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, tuple[str, str]] = {}

    def data(self, type: TensorType, data: Any, name: str | None) -> Any:
        if isinstance(data, Blob):
            self.found.setdefault(data.digest, (name or "", type.element))
        elif isinstance(data, TypedBlob):
            element = type.element if type.element in ("float", "double") else ""
            self.found.setdefault(data.digest, (name or "", element))
        return data

    def value(self, kind: AttributeType | None, value: Any, name: str) -> Any:
        if isinstance(value, (Blob, TypedBlob)):
            element = "" if kind is None else _LISTS.get(kind, "")
            is_packed = isinstance(value, TypedBlob) and element != "float"  # a blob of varints
            self.found.setdefault(value.digest, (name, "" if is_packed else element))
        return super().value(kind, value, name)


def describe_entries(element: str, entries: bytes) -> str | None:
    """Return statistics of the entries of a field such as `float_data`.

    Return None if the field holds floats as bit patterns, or if the element type is unknown.
    """
    element_type = ELEMENTS.get(element)
    if element_type is None or (
        element_type.kind == "float" and element_type.field == "int32_data"
    ):
        return None
    return describe(element_type.field.removesuffix("_data"), entries)


def describe_briefly(element: str, data: bytes | memoryview) -> str:
    """Return the statistics of `describe` without `zeros 0%` and `NaN 0` at the end."""
    return describe(element, data).removesuffix(", NaN 0").removesuffix(", zeros 0%")


def first_uses_of_blobs(root: Model | Graph | Function) -> dict[str, tuple[str, str]]:
    """Map the digest of each blob to the name and element type of its first use.

    The name is the name of a tensor or attribute. The element type is "" if the bytes of the blob
    are not an array of numbers.
    """
    finder = _Finder()
    finder.run(root)
    return finder.found


def describe_blobs(model: Model) -> str:
    """Return comment lines with the statistics of each blob in the resources of a model.

    The result ends with `resources `, the start of the section that follows the comments.
    """
    lines = [""]
    for digest, (name, element) in first_uses_of_blobs(model).items():
        data = model.resources.get(digest)
        if data is not None:
            shown = name if name.isprintable() else ascii(name)
            lines.append(f"# {shown[:_MAX_NAME_LENGTH]}: {describe(element, data)}")
    return "\n".join(lines) + "\nresources "


def describe(element: str, data: bytes | memoryview) -> str:
    """Return min, max, mean, standard deviation, share of zeros and number of NaNs as text.

    For bytes that are not numbers, and for data that `_blocks` cannot read, return only the size.

    Args:
        element: the element type; "" for bytes that are not numbers.
        data: the elements, little-endian.
    """
    blocks = _blocks(element, data)
    if blocks is None:
        return count_noun(len(data), "byte")
    count = zeros = nans = 0
    low, high = float("inf"), float("-inf")
    total = squares = shift = 0.0
    with np.errstate(all="ignore"):
        for block in blocks:
            missing = np.isnan(block)
            nans += int(missing.sum())
            count += block.size
            values = block[~missing]
            if not values.size:
                continue
            zeros += int((values == 0).sum())
            low, high = min(low, float(values.min())), max(high, float(values.max()))
            if count == block.size:
                shift = float(values[0]) if np.isfinite(values[0]) else 0.0
            total += float((values - shift).sum())
            squares += float(((values - shift) ** 2).sum())
    valid = count - nans
    if not valid:
        return f"min -, max -, mean -, std -, zeros 0%, NaN {nans}"
    mean = total / valid
    spread = max(squares / valid - mean * mean, 0.0) if np.isfinite(squares) else float("nan")
    share = f"{100 * zeros / count:.3g}%"
    return (
        f"min {low:.6g}, max {high:.6g}, mean {shift + mean:.6g}, std {spread**0.5:.6g}, "
        f"zeros {share}, NaN {nans}"
    )


def _blocks(element: str, data: bytes | memoryview) -> Iterator[NDArray[np.float64]] | None:
    """Return an iterator over blocks of the elements, converted to float64.

    Return None for strings, complex and sub-byte types, and for data that is empty or cut off.
    """
    dtype = dtype_of(element)
    if dtype is None or len(data) == 0 or len(data) % dtype.itemsize:
        return None
    values = np.frombuffer(data, dtype)
    return (
        values[index : index + _BLOCK].astype(np.float64) for index in range(0, values.size, _BLOCK)
    )


def dtype_of(element: str) -> np.dtype[Any] | None:
    """Return the numpy dtype of an element type; None for strings, complex and sub-byte types."""
    if element in _ML_DTYPES:
        import ml_dtypes

        result: np.dtype[Any] = np.dtype(getattr(ml_dtypes, _ML_DTYPES[element]))
        return result
    return np.dtype(NUMPY_CODES[element]) if element in NUMPY_CODES else None
