# SPDX-License-Identifier: Apache-2.0
"""Rules for the elements of tensors: range and encoding."""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.ast.byte_strings import is_utf8
from onnxtext.ast.tensors_and_attributes import (
    Blob,
    FieldData,
    RawData,
    StringData,
    TensorData,
    TypedBlob,
    TypedData,
)
from onnxtext.ast.typed_blobs import required_entries
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding
from onnxtext.checker.context.model_items import TensorUse, dense_tensors
from onnxtext.checker.context.registry import Rule
from onnxtext.plurals import with_article
from onnxtext.tensor.element_count import count_elements
from onnxtext.tensor.element_types import ELEMENTS, ElementType


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Find tensor elements that are invalid for the element type."""
    for tensor in dense_tensors(subject):
        element = ELEMENTS.get(tensor.type.element)
        if element is None:
            continue
        match _stored(subject, tensor, element):
            # Skip other types: any bit pattern is valid, and `raw.data` is slow for repeated data.
            case RawData() as raw if _may_have_invalid_bits(element):
                yield from _raw(tensor, element, raw.data)
            case TypedData(entries):
                yield from _entries(tensor, element, entries)
            case StringData(values):
                yield from _strings(tensor, values)
            case FieldData(fields):
                for name, value in fields:
                    if name == "string_data" and isinstance(value, tuple):
                        yield from _strings(tensor, value)
                    elif name == element.field and isinstance(value, bytes):
                        yield from _entries(tensor, element, value)
                    elif name == "raw_data" and not isinstance(value, tuple):
                        yield from _raw(tensor, element, value)


def _stored(subject: CheckedModel, tensor: TensorUse, element: ElementType) -> TensorData:
    """Return the data of a tensor; read a blob only if its elements can be invalid."""
    data = tensor.data
    match data:
        case Blob() if _may_have_invalid_bits(element):
            return subject.resolved.stored(tensor.type, data)
        case TypedBlob() if element.kind == "string" or _may_have_wide_entries(element):
            return subject.resolved.stored(tensor.type, data)
    return data


def _may_have_invalid_bits(element: ElementType) -> bool:
    """Whether some bit patterns in `raw_data` are invalid for an element type."""
    return element.kind == "bool" or element.bits == 6


def _may_have_wide_entries(element: ElementType) -> bool:
    """Whether the entries of the typed field may be wider than the elements.

    They may be wider in `int32_data` and, for `uint32` elements, in `uint64_data`.
    """
    if element.field == "int32_data":
        return element.name != "int32"
    return element.name == "uint32"


def _raw(tensor: TensorUse, element: ElementType, data: bytes | memoryview) -> Iterator[Finding]:
    if element.kind == "bool" and len(data):
        import numpy as np

        found = np.frombuffer(data, np.uint8)
        if found.max() > 1:
            yield _range(tensor, int(found[found > 1][0]), 0, 1)
    elif element.bits == 6 and len(data):
        used = count_elements(tensor.dims) * 6 % 8
        if used and data[-1] >> used:
            message = f"the padding bits after the last element of {tensor.describe()} are not zero"
            yield Finding(
                "tensor-value-range", message, (tensor.place,), help="set the padding bits to zero"
            )


def _entries(tensor: TensorUse, element: ElementType, data: bytes) -> Iterator[Finding]:
    """Check the entries of a typed field, if they may be wider than the elements of the tensor."""
    if not _may_have_wide_entries(element):
        return
    import numpy as np

    values = np.frombuffer(data, "<i4" if element.field == "int32_data" else "<u8")
    if element.elements_per_entry > 1 and len(values) < required_entries(tensor.type):
        return  # the rule `tensor-data-size` reports missing entries
    low, high = _limits(element)
    wrong = values[(values < low) | (values > high)]
    if len(wrong):
        yield _range(tensor, int(wrong[0]), low, high)


def _limits(element: ElementType) -> tuple[int, int]:
    """Return the minimum and maximum entry of the typed field for an element type."""
    if element.elements_per_entry > 1:  # several elements in a byte, which may be sign-extended
        return -128 if element.kind == "int" else 0, 255
    if element.kind == "bool":
        return 0, 1
    if element.kind == "int":
        return -(1 << (element.bits - 1)), (1 << (element.bits - 1)) - 1
    return 0, (1 << element.bits) - 1


def _range(tensor: TensorUse, value: int, low: int, high: int) -> Finding:
    element = ELEMENTS[tensor.type.element]
    problem = f"{value} is not {with_article(f'`{element.name}`')}"
    if element.elements_per_entry > 1:
        elements = f"{element.elements_per_entry} elements of `{element.name}`"
        problem = f"{value} does not fit into a byte, which holds {elements}"
    return Finding(
        "tensor-value-range",
        f"{problem}: entries of {tensor.describe()} must be between {low} and {high}",
        (tensor.place,),
        help="correct the value, or use a larger element type",
    )


def _strings(tensor: TensorUse, values: tuple[bytes, ...]) -> Iterator[Finding]:
    for value in values:
        problem = None
        if value.startswith(b"\xef\xbb\xbf"):
            problem = "begins with a byte order mark"
        elif value.endswith(b"\0"):
            problem = "ends with a NUL"
        elif not is_utf8(value):
            problem = "is not UTF-8"
        if problem is not None:
            yield Finding(
                "tensor-string-utf8",
                f"a string of {tensor.describe()} {problem}",
                (tensor.place,),
                help="store UTF-8 without byte order mark or final NUL, and other bytes as `uint8`",
            )
            return


RULES = (Rule("tensor-value-range"), Rule("tensor-string-utf8", level="warning"))
