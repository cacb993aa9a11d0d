# SPDX-License-Identifier: Apache-2.0
"""Actions for attributes, tensors, types, decorators, names and strings.

As in `statements`, these are pure functions of their children.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from onnxtext.ast.records import Decorator, Field, Fixed, Number, Record, Word
from onnxtext.ast.types import DecoratedDim, Type
from onnxtext.ast.values import Blob, DataFile, ExternalData, NoData, Reference, TypedBlob
from onnxtext.syntax.actions import attributes as attribute_rules
from onnxtext.syntax.actions import integers, strings, tensors, types
from onnxtext.syntax.actions.registry import ACTIONS, action
from onnxtext.syntax.actions.semantic_error import SemanticError
from onnxtext.syntax.actions.strings import to_bytes

Decorators = list[Decorator] | None

# ---- Attributes -----------------------------------------------------------------------------

ACTIONS.update(
    attribute=attribute_rules.attribute,
    attribute_type_only=attribute_rules.attribute_type_only,
    repeated_attribute=attribute_rules.repeated_attribute,
    repeated_numbers=attribute_rules.repeated_numbers,
    repeated_items=lambda items, _: items,
    dataless_attribute=attribute_rules.attribute,
    attribute_type=attribute_rules.attribute_type,
    number_list=attribute_rules.NumberList,
)


@action
def element(value: Any) -> Any:
    """A value, or an item of a list."""
    return to_bytes(value) if type(value) is str else value


@action
def number(text: str) -> Number:
    """A number as written."""
    return Number(text)


@action
def data_file(token: str) -> DataFile:
    """`file"weights.npy"`.

    Raises:
        SemanticError: the kind of file is unknown, or an array's name is missing or superfluous.
    """
    path, mark, entry = token[5:-1].partition("#")
    suffix = path.rpartition(".")[2].lower()
    if suffix not in ("npy", "npz", "safetensors"):
        raise SemanticError(
            "the name of a data file must end in .npy, .npz or .safetensors",
            token=token,
            help="other bytes are read from a weight store: see `onnxtext weights --help`",
        )
    if (suffix == "npy") == bool(mark):
        helps = {True: 'write file"NAME.npy"', False: f'write file"{path}#ARRAY"'}
        holds = "one array" if mark else "several arrays"
        message = f"a .{suffix} file contains {holds}"
        raise SemanticError(message, token=token, help=helps[suffix == "npy"])
    return DataFile(path, entry if mark else None)


@action
def blob(token: str) -> Blob:
    """`blob"9f2c…"`.

    Raises:
        SemanticError: it does not have 16 to 64 digits.
    """
    digest = token[5:-1]
    if not 16 <= len(digest) <= 64:
        raise SemanticError(
            f"a blob's digest has 16 to 64 hexadecimal digits, this one has {len(digest)}",
            token=token,
            help="write the beginning of the SHA-256 of its bytes",
        )
    return Blob(digest)


@action
def reference(name: str) -> Reference:
    """`@parameter`."""
    return Reference(name)


@action
def decorated_element(decorators: Decorators, value: Any) -> Any:
    """A type, tensor or graph with its decorators."""
    return replace(value, decorators=tuple(decorators)) if decorators else value


@action
def type_value(type: Type) -> Type:
    """A type as a value."""
    return type


# ---- Tensors --------------------------------------------------------------------------------

ACTIONS.update(
    empty_tensor=lambda type, name: tensors.tensor(type, name, NoData()),
    tensor_assigned=tensors.tensor,
    unnamed_tensor=lambda type, data: tensors.tensor(type, None, data),
    named_tensor=tensors.tensor,
    scalar_tensor=tensors.scalar_tensor,
    dataless_tensor=lambda type, name: tensors.tensor(type, name, NoData()),
    unnamed_dataless_tensor=lambda type: tensors.tensor(type, None, NoData()),
    scalar_dataless_tensor=lambda element: tensors.tensor(
        types.scalar_type(element), None, NoData()
    ),
    scalar_data=tensors.ScalarText,
    typed_numbers=tensors.TypedText,
    no_elements=lambda: tensors.TypedText("{}"),
    typed_literals=tensors.TypedLiterals,
    typed_blob=lambda blob: TypedBlob(blob.digest),
    raw_numbers=tensors.RawText,
    raw_nothing=lambda: tensors.RawText("[]"),
    raw_literals=tensors.raw_literals,
    nested_nothing=lambda: "[]",
    nested_items=tensors.nested_items,
    external_data=lambda pairs: ExternalData(tuple(pairs)),
    pair=lambda key, value: (key, value),
    field_data=tensors.FieldCalls,
    field_braces=lambda field, data: tensors.Call(field, (data,)),
    call=lambda name, arguments: tensors.Call(name, tuple(arguments)),
)


@action
def literal(value: Any) -> Any:
    """An element: the text of a number or `true`, or the bytes of a string."""
    return value.text if type(value) is Number else value


@action
def string_literal(text: str) -> bytes:
    """A string element."""
    return to_bytes(text)


@action
def bracket_item(value: Any) -> str:
    """Return the text of one item of a bracketed list: a number, or a nested list."""
    text: str = value.text if type(value) is Number else value
    return text


# ---- Types ----------------------------------------------------------------------------------

ACTIONS.update(
    coarse_type=types.coarse_type,
    scalar_type=types.scalar_type,
    fine_type=types.fine_type,
    empty_container=lambda name: types.container_type(name, []),
    container_type=types.container_type,
    opaque_argument=types.OpaqueName,
    opaque_pair=lambda first, second: [str(first), second],
    no_shape=lambda: None,
    dim_list=tuple,
    dim_numbers=types.dim_numbers,
)


@action
def inner_type(decorators: Decorators, type: Type) -> Type:
    """A type inside another."""
    return replace(type, decorators=tuple(decorators)) if decorators else type


@action
def any_dim(decorators: Decorators) -> Any:
    """`?`."""
    return DecoratedDim(None, tuple(decorators)) if decorators else None


@action
def sized_dim(decorators: Decorators, text: str) -> Any:
    """A size."""
    size = integers.int64(text)
    return DecoratedDim(size, tuple(decorators)) if decorators else size


@action
def named_dim(decorators: Decorators, name: str) -> Any:
    """A symbolic size."""
    return DecoratedDim(name, tuple(decorators)) if decorators else name


# ---- Decorators and records -----------------------------------------------------------------


@action
def empty_decorator(opening: str) -> Decorator:
    """`@name()`."""
    return Decorator(opening[1:-1])


@action
def decorator(opening: str, fields: list[Field]) -> Decorator:
    """`@name(arguments)`."""
    return Decorator(opening[1:-1], tuple(fields))


@action
def positional_field(value: Any) -> Field:
    """An argument without a key."""
    return Field(None, value)


@action
def field(key: str | int, value: Any) -> Field:
    """`key: value`."""
    return Field(key, value)


@action
def number_key(text: str) -> int:
    """A field's number."""
    return integers.field_number(text)


@action
def fixed_value(text: str) -> Fixed:
    """`5i32`."""
    value, _, bits = text.partition("i")
    number = int(value) if len(value) <= 20 else 1 << 64
    if number >= 1 << int(bits):
        raise SemanticError(f"{value} does not fit in {bits} bits", token=text)
    return Fixed(number, int(bits))


@action
def word_value(parts: list[str]) -> Word:
    """A bare word."""
    return Word(".".join(parts))


@action
def numbers_value(text: str) -> tuple[Number | Word, ...]:
    """`[1, 2]` as one token; `true` and `false` are words, as elsewhere."""
    items = [item.strip() for item in text[1:-1].rstrip(" \t\n\v\f\r,").split(",")]
    return tuple([Word(item) if item in ("true", "false") else Number(item) for item in items])


ACTIONS.update(
    number_value=lambda number: number,
    string_value=to_bytes,
    empty_value=lambda: (),
    list_value=tuple,
    empty_record=Record,
    record=lambda fields: Record(tuple(fields)),
    plain_name=str,
    dotted_start=str,
    section_word=str,
    value_name=str,
    tensor_name=str,
    opaque_part=str,
    plain_string=strings.plain,
    escaped_string=strings.escaped,
    byte_string=strings.byte_string,
    triple_string=strings.triple,
)
