# SPDX-License-Identifier: Apache-2.0
"""Rules for the type, dims, data field and data size of tensors."""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.ast.tensors_and_attributes import (
    ExternalData,
    FieldData,
    NoData,
    RawData,
    StringData,
    TypedData,
)
from onnxtext.ast.typed_blobs import ENTRY_WIDTHS, required_entries
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding
from onnxtext.checker.context.model_items import TensorUse, dense_tensors
from onnxtext.checker.context.registry import Rule
from onnxtext.checker.context.resolved_fields import changed_fields, number_of
from onnxtext.checker.rules.external_data import external_entries
from onnxtext.plurals import count_noun
from onnxtext.tensor.element_count import count_elements
from onnxtext.tensor.element_types import ELEMENTS, ElementType, raw_size
from onnxtext.tensor.errors import LiteralError
from onnxtext.tensor.parse_literals import parse_scalar


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Check the types and dimensions of tensors, and the field and the size of their data."""
    for tensor in dense_tensors(subject):
        if type(tensor.data) is RawData and tensor.type.element != "bool" and not tensor.decorators:
            continue  # the parser and the decoder have checked the size
        if tensor.type.element == "undefined":
            help = "write the element type, such as `float`"
            yield tensor.finding("tensor-type-undefined", "has no element type", help)
            continue
        if any(dim < 0 for dim in tensor.dims):
            problem = f"has the negative dimension {min(tensor.dims)}"
            help = "write 0 or more, the number of elements along that dimension"
            yield tensor.finding("tensor-dim-negative", problem, help)
            continue
        yield from _segment(tensor)
        yield from _check_storage(tensor)


def _check_storage(tensor: TensorUse) -> Iterator[Finding]:
    element = ELEMENTS[tensor.type.element]
    count = count_elements(tensor.dims)
    if any(decorator.name.endswith("segment") for decorator in tensor.decorators):
        return  # the data is only one segment of a larger tensor
    match tensor.data:
        case TypedData(entries):
            yield from _entries(tensor, element.field, entries)
        case StringData(values):
            yield from _entries(tensor, "string_data", values)
        case ExternalData() if not element.bits:
            yield tensor.finding(_FIELD, "has strings in external data", _STRINGS)
        case NoData() if count:
            if external_entries(tensor) is None:
                hint = ""
                if changed_fields(tensor.decorators).get("external_data") is not None:
                    hint = ": `external_data` is ignored without `data_location: EXTERNAL`"
                finding = _wrong_size(
                    tensor, f"has {count_noun(count, 'element')}, but no data{hint}"
                )
                if _is_value(tensor, element):
                    value = f"{element.name}({tensor.name})"
                    help = f"write `{value}` for the value: `{tensor.name}` is now the name"
                    finding = finding._replace(help=help)
                yield finding
        case FieldData(fields):
            yield from _fields(tensor, element, count, dict(fields))


def _is_value(tensor: TensorUse, element: ElementType) -> bool:
    """Whether the name of a tensor in an attribute is a value of its type: `value = bool true`."""
    in_attribute = tensor.place.part[0] == "attributes"
    if not in_attribute or tensor.dims or tensor.name not in ("true", "false", "nan", "inf"):
        return False
    try:
        parse_scalar(element, tensor.name)
    except LiteralError:
        return False
    return True


_FIELD = "tensor-data-field"
_STRINGS = 'write the strings in braces: `{"a", "b"}`'
"""The help for a tensor of strings whose data is in another field than `string_data`."""


def _fields(
    tensor: TensorUse, element: ElementType, count: int, fields: dict[str, object]
) -> Iterator[Finding]:
    filled = [name for name, value in fields.items() if value]
    if not count and filled:
        yield _empty(tensor, f"data in `{filled[0]}`")
        return
    if not filled and count:
        yield _wrong_size(tensor, f"has {count_noun(count, 'element')}, but no data")
    if filled and not fields.get("raw_data", True):
        problem = f"has an empty `raw_data`, which readers use instead of the data in `{filled[0]}`"
        found = tensor.finding(_FIELD, problem, "remove `raw_data`")
        yield found._replace(severity="warning")  # onnx's checker accepts this
    if len(filled) > 1:
        names = ", ".join(f"`{name}`" for name in filled)
        problem = f"has data in more than one field: {names}"
        yield tensor.finding(_FIELD, problem, "keep the data in one field")
    elif filled and filled[0] == "raw_data":
        data = fields["raw_data"]
        assert isinstance(data, (bytes, memoryview))
        if not element.bits:
            yield tensor.finding(_FIELD, "has strings in `raw_data`", _STRINGS)
        elif len(data) != raw_size(element, count):
            expected = count_noun(raw_size(element, count), "byte")
            yield _wrong_size(tensor, f"needs {expected}, but `raw_data` has {len(data):,}")
    elif filled and filled[0] != element.field:
        help = f"write `[…]` (raw data), or `{element.field}{{…}}`" if element.bits else _STRINGS
        problem = f"has its data in `{filled[0]}`, not in `{element.field}`"
        yield tensor.finding(_FIELD, problem, help)
    elif filled:
        yield from _entries(tensor, filled[0], fields[filled[0]])


def _entries(tensor: TensorUse, field: str, value: object) -> Iterator[Finding]:
    """Check the number of entries of `value`, the data in the right field of a tensor."""
    expected = required_entries(tensor.type)
    if isinstance(value, tuple):
        entries, data = len(value), "data"
        needed = count_noun(expected, "string")
    else:
        assert isinstance(value, bytes)
        entries = len(value) // ENTRY_WIDTHS[field]
        data = f"{count_noun(entries, 'entry', 'entries')} of data"
        needed = f"{count_noun(expected, 'entry', 'entries')} of `{field}`"
    if not expected and entries:
        yield _empty(tensor, data)
    elif expected != entries:
        yield _wrong_size(tensor, f"needs {needed}, but has {entries:,}")


def _empty(tensor: TensorUse, description: str) -> Finding:
    problem = f"has no elements, but has {description}"
    return tensor.finding(
        "tensor-empty-data", problem, "remove the data, or correct the dimensions"
    )


def _wrong_size(tensor: TensorUse, problem: str) -> Finding:
    dims = ", ".join(map(str, tensor.dims))
    found = tensor.finding("tensor-data-size", problem, "correct the dimensions or the data")
    return found._replace(notes=(f"its type is `{tensor.type.element}[{dims}]`",))


def _segment(tensor: TensorUse) -> Iterator[Finding]:
    for decorator in tensor.decorators:
        if decorator.name.rpartition(".")[2] != "segment":
            continue
        numbers = {str(f.key): number_of(f.value) or 0 for f in decorator.arguments}
        begin, end = numbers.get("begin", 0), numbers.get("end", 0)
        count = count_elements(tensor.dims)
        if not 0 <= begin <= end <= count:
            yield Finding(
                "segment-invalid",
                f"the segment from {begin} to {end} is not a part of {tensor.describe()}, which "
                f"has {count_noun(count, 'element')}",
                (tensor.place,),
                help=f"choose 0 <= begin <= end <= {count}",
            )


RULES = (
    Rule("tensor-type-undefined"),
    Rule("tensor-data-field"),
    Rule("tensor-data-size"),
    Rule("tensor-dim-negative"),
    Rule("tensor-empty-data"),
    Rule("segment-invalid"),
)
