# SPDX-License-Identifier: Apache-2.0
"""Print types and tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache, partial

from onnxtext import ast
from onnxtext.ast.byte_strings import to_text
from onnxtext.ast.tensors_and_attributes import SplatData
from onnxtext.printer.decorators import type_decorators, value_decorators
from onnxtext.printer.layout import STEP, WIDTH, bracket_list, fill_list, fill_list_text
from onnxtext.printer.quoting import quote_string, quote_word, string_value, value_name
from onnxtext.printer.statement_layout import column, tensor_lines
from onnxtext.tensor.element_count import count_elements
from onnxtext.tensor.element_types import ELEMENTS, ElementType
from onnxtext.tensor.format_elements import format_field, format_rows, format_typed, is_splat

# ---- Types ----------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def type_text(type: ast.Type) -> str:
    """Return the text of a type; omit its own decorators, and print the decorators of its parts."""
    match type:
        case ast.TensorType():
            return _tensor_type(type.element, type.shape)
        case ast.SparseTensorType():
            return f"sparse_tensor({_tensor_type(type.element, type.shape)})"
        case ast.SequenceType():
            return f"seq({_inner(type.element)})"
        case ast.OptionalType():
            return f"optional({_inner(type.element)})"
        case ast.MapType():
            return f"map({type.key}, {_inner(type.value)})"
        case ast.OpaqueType(None, None):
            return "opaque()"
        case ast.OpaqueType(None, str() as name):
            return f"opaque({value_name(name)})"
        case ast.OpaqueType(domain, name):
            return f"opaque({value_name(domain or '')}, {value_name(name or '')})"


def _inner(type: ast.Type) -> str:
    return type_decorators(type.decorators) + type_text(type)


def _tensor_type(element: str, shape: tuple[ast.Dim, ...] | None) -> str:
    if shape is None:
        return f"{element}[]"
    if not shape:
        return element
    return f"{element}[{', '.join(map(_dim, shape))}]"


def _dim(dim: ast.Dim) -> str:
    if isinstance(dim, ast.DecoratedDim):
        return type_decorators(dim.decorators) + _dim(dim.value)
    if isinstance(dim, int):
        return str(dim)
    return "?" if dim is None else quote_word(dim)


# ---- Tensors --------------------------------------------------------------------------------


def tensor_text(tensor: ast.Tensor | ast.SparseTensor, indent: str, budget: int) -> str:
    """Return the text of a tensor in an attribute.

    `indent` is the indentation of the statement, `budget` the maximum width of a literal on one
    line.
    """
    decorators = value_decorators(tensor.decorators, indent)
    if isinstance(tensor, ast.SparseTensor):
        dense_type = type_text(ast.SparseTensorType(tensor.values.type.element, tensor.dims))
        write = partial(sparse_text, tensor)
        return tensor_lines(decorators, (dense_type, "", ""), write, indent, budget)
    type, data = tensor.type, tensor.data
    name = "" if tensor.name is None else quote_word(tensor.name)
    is_scalar = isinstance(data, ast.RawData) and not type.shape
    if is_scalar and not name:
        before = decorators.inline or decorators.lines
        return f"{before}{type.element}({data_text(type, data, indent, budget)})"
    # Without `=`, the parser would read a bracket after a rank-0 type as the dimensions, and the
    # name of a data field as the tensor's name.
    match data:
        case ast.FieldData():
            needs_equals = True
        case ast.NoData():
            needs_equals = not name
        case ast.RawData():
            needs_equals = not type.shape
        case ast.ExternalData():
            needs_equals = not type.shape and data.arguments() is None
        case _:
            needs_equals = False
    head = (type_text(type), name, " =" if needs_equals else "")
    write = partial(data_text, type, data)
    return tensor_lines(decorators, head, write, indent, budget)


def sparse_text(sparse: ast.SparseTensor, indent: str, budget: int) -> str:
    """Return the data of a sparse tensor: `sparse(values, indices)`."""
    inner = indent + STEP
    room = WIDTH - len(inner) - 1
    parts = [tensor_text(part, inner, room) for part in (sparse.values, sparse.indices)]
    return f"sparse{bracket_list(parts, '()', indent, budget - len('sparse'))}"


def data_text(type: ast.TensorType, data: ast.TensorData, indent: str, budget: int) -> str:
    """Return the literal of a tensor's data; "" if the tensor has no data.

    For `indent` and `budget`, see `tensor_text`.
    """
    return "".join(data_parts(type, data, indent, budget))


def data_parts(type: ast.TensorType, data: ast.TensorData, indent: str, budget: int) -> list[str]:
    """Return the literal of a tensor's data like `data_text`, but as parts to be joined."""
    if isinstance(data, SplatData) and not data.repetition.start:
        first = _first_element(ELEMENTS[type.element], data.repetition.unit)
        return [f"[{first}, ...]"]
    if isinstance(data, ast.RawData):
        return _raw(ELEMENTS[type.element], type.integer_dims, data.data, indent, budget)
    return [_other_text(type, data, indent, budget)]


def _other_text(type: ast.TensorType, data: ast.TensorData, indent: str, budget: int) -> str:
    """Return the literal of data other than raw data."""
    match data:
        case ast.NoData():
            return ""
        case ast.Blob(digest):
            return f'blob"{digest}"'
        case ast.TypedBlob(digest):
            return f'{{blob"{digest}"}}'
        case ast.DataFile(path, entry):
            return f'file"{path}"' if entry is None else f'file"{path}#{entry}"'
        case ast.ExternalData(entries):
            arguments = data.arguments()
            if arguments is not None:
                items = [quote_string(arguments[0]), *arguments[1:]]
                return f"external{fill_list(items, '()', indent, budget - len('external'))}"
            items = [f"{quote_string(key)}: {quote_string(value)}" for key, value in entries]
            return bracket_list(items, "[]", indent, budget)
        case ast.StringData(values):
            return _strings(values, indent, budget)
        case ast.FieldData():
            return _fields(data, indent, budget)
    assert isinstance(data, ast.TypedData)
    element = ELEMENTS[type.element]
    count = count_elements(type.integer_dims)
    if not data.entries:
        return "{}"
    row = format_typed(element, data.entries, count)
    assert row is not None, "data that braces cannot express is decoded to FieldData"
    return fill_list_text(row, "{}", indent, budget)


def _strings(values: tuple[bytes, ...], indent: str, budget: int) -> str:
    items = [string_value(to_text(value), indent + STEP) for value in values]
    return fill_list(items, "{}", indent, budget)


def _fields(data: ast.FieldData, indent: str, budget: int) -> str:
    """Return the data of a tensor by field, such as `float_data{1, 2} int64_data{3}`."""
    writers = [partial(_field, name, value) for name, value in data.fields]
    return fill_fields(writers, indent, budget)


def _field(name: str, value: bytes | tuple[bytes, ...], indent: str, budget: int) -> str:
    budget -= len(name)
    if isinstance(value, tuple):
        return name + _strings(value, indent, budget)
    if name == "raw_data":
        return f"{name}({quote_string(to_text(value))})"
    return name + fill_list_text(format_field(name, value), "{}", indent, budget)


def fill_fields(writers: Iterable[Callable[[str, int], str]], indent: str, budget: int) -> str:
    """Join fields such as `float_data{1, 2}`; a field that does not fit begins a new line.

    `writers` has a function for each field that returns its text, given the indentation of its line
    and the maximum width. `indent` is the indentation of the statement, `budget` the maximum width
    of the first line.
    """
    result = ""
    left = budget
    inner = indent + STEP
    for write in writers:
        text = write(indent, left - bool(result))
        if result and ("\n" in text or len(text) + 1 > left):
            text = write(inner, WIDTH - len(inner) - 1)
            result += f"\n{inner}{text}"
            left = WIDTH - 1 - column(text, len(inner))
        else:
            result += f" {text}" if result else text
            left = WIDTH - 1 - column(text, 0) if "\n" in text else left - len(text) - 1
    return result


def _raw(
    element: ElementType, dims: tuple[int, ...], data: bytes | memoryview, indent: str, budget: int
) -> list[str]:
    """Return the literal of raw data: an element, `[1, 2]`, `[0, ...]` or nested brackets."""
    count = count_elements(dims)
    if not dims:
        return format_rows(element, data, count=1)
    if not count:
        return ["[]"]
    if count > 2 and is_splat(element, data, count):
        first = _first_element(element, data)
        if count * (len(first) + 2) > len(first) + 5:
            return [f"[{first}, ...]"]
    shape = [dim for dim in dims if dim != 1]
    if len(shape) < 2:
        return [fill_list_text(format_rows(element, data, count=count)[0], "[]", indent, budget)]
    rows = format_rows(element, data, shape[-1], count)
    if count <= budget:
        flat = flat_rows(rows, shape[:-1])
        if len(flat) <= budget:
            return [flat]
    return ["\n".join(nested_lines(rows, shape[:-1], indent))[len(indent) :]]


def _first_element(element: ElementType, data: bytes | memoryview) -> str:
    first = data[: max(element.bits // 8, 1)]
    if element.bits < 8:  # keep only the first element of the byte
        first = bytes((first[0] & (1 << element.bits) - 1,))
    return format_rows(element, first, count=1)[0]


def flat_rows(rows: list[str], shape: list[int]) -> str:
    """Return a nested literal on one line, given the texts of its innermost rows.

    The rows have no brackets; `shape` has the dimensions except the innermost one.
    """
    if not shape:
        return f"[{rows[0]}]"
    size = len(rows) // shape[0]
    parts = [
        flat_rows(rows[index : index + size], shape[1:]) for index in range(0, len(rows), size)
    ]
    return f"[{', '.join(parts)}]"


def nested_lines(rows: list[str], shape: list[int], indent: str) -> list[str]:
    """Return a nested literal in lines, with one or more lines for each innermost row.

    The rows have no brackets; `shape` has the dimensions except the innermost one. `indent` is the
    indentation of the literal.
    """
    if not shape:
        return [row_line(rows[0], indent)]
    size = len(rows) // shape[0]
    lines = [indent + "["]
    for index in range(0, len(rows), size):
        lines += nested_lines(rows[index : index + size], shape[1:], indent + STEP)
        lines[-1] += ","
    lines.append(indent + "]")
    return lines


def row_line(row: str, indent: str) -> str:
    """Return the bracketed text of an innermost row: on one line if it fits, else on several."""
    return indent + fill_list_text(row, "[]", indent, WIDTH - len(indent) - 1)
