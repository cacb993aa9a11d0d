# SPDX-License-Identifier: Apache-2.0
"""Actions for the values of attributes: elements, references, blobs, types, graphs."""

from __future__ import annotations

import re
from typing import Any

from onnxtext.ast.byte_strings import to_bytes
from onnxtext.ast.model import Graph, Node, ValueInfo
from onnxtext.ast.records import Number
from onnxtext.ast.tensors_and_attributes import Blob, DataFile, Reference
from onnxtext.syntax.actions.graphs_and_nodes import graph
from onnxtext.syntax.actions.lists import list_items
from onnxtext.syntax.actions.registry import ACTIONS, action, located
from onnxtext.syntax.actions.semantic_error import SemanticError, from_literal
from onnxtext.syntax.actions.types import decorated
from onnxtext.syntax.grammar.lexer import Token
from onnxtext.tensor.float_literals import FLOAT_PATTERN
from onnxtext.tensor.number_spellings import not_a_float


@action
def element(value: Any) -> Any:
    """Return the value of an attribute or of one list item; encode a string as bytes."""
    return to_bytes(value) if type(value) is str else value


@action
def repeated_numbers(token: Token) -> list[Number]:
    """Return the numbers before the `...` in the token `[0, ...]`.

    Raises:
        SemanticError: the list does not end in `...` after at least one item, or an item is not a
            number.
    """
    items = list(list_items(token))
    if items.pop() != "..." or not items:
        raise SemanticError(
            "a list whose type has a length must end in `...`",
            token=token,
            help="remove the length after the type, or write `...` after the last item",
        )
    for item in items:
        if _FLOAT.fullmatch(item) is None:
            raise from_literal(not_a_float(item), item)
    return [Number(item) for item in items]


_FLOAT = re.compile(f"-?{FLOAT_PATTERN}")


@action
def data_file(token: str) -> DataFile:
    """Return the data file for `file"weights.npy"` or `file"weights.npz#ARRAY"`.

    Raises:
        SemanticError: the file's suffix is unknown, `#ARRAY` is missing after .npz or .safetensors,
            or `#ARRAY` follows .npy.
    """
    path, hash_sign, entry = token[5:-1].partition("#")
    suffix = path.rpartition(".")[2].lower()
    if suffix not in ("npy", "npz", "safetensors"):
        raise SemanticError(
            "the name of a data file must end in .npy, .npz or .safetensors",
            token=token,
            help="save the elements as NAME.npy, for example with `numpy.save`",
        )
    if hash_sign and suffix == "npy":
        raise SemanticError(
            "a .npy file contains only one array, so its name cannot be followed by `#`",
            token=token,
            help='write `file"NAME.npy"`',
        )
    if not hash_sign and suffix != "npy":
        raise SemanticError(
            f"the name of the array is missing: a .{suffix} file can contain several",
            token=token,
            help=f'write `file"{path}#ARRAY"`',
        )
    return DataFile(path, entry if hash_sign else None)


@action
def blob(token: str) -> Blob:
    """Return the blob reference for `blob"9f2c…"`.

    Raises:
        SemanticError: the digest does not have 16 to 64 digits.
    """
    digest = token[5:-1]
    if not 16 <= len(digest) <= 64:
        raise SemanticError(
            f"a blob's digest must have 16 to 64 hexadecimal digits, not {len(digest)}",
            token=token,
            help="write the first 16 to 64 hexadecimal digits of the SHA-256 of the blob's bytes",
        )
    return Blob(digest)


@located
def graph_value(
    offset: int,
    name: str,
    inputs: list[ValueInfo] | None,
    outputs: list[ValueInfo],
    values: list[ValueInfo] | None,
    nodes: list[Node],
) -> Graph:
    """Return a graph that is the value of an attribute."""
    result: Graph = graph(offset, None, name, inputs, outputs, values, nodes)
    return result


ACTIONS.update(number=Number, reference=Reference, decorated_element=decorated)
