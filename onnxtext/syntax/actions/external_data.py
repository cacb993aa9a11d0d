# SPDX-License-Identifier: Apache-2.0
"""Actions for `external("weights.bin", 0, 16)`: references to data in files beside the model."""

from __future__ import annotations

from onnxtext import ast
from onnxtext.ast.byte_strings import to_text
from onnxtext.ast.tensors_and_attributes import EXTERNAL_KEYS, is_external_number
from onnxtext.syntax.actions.semantic_error import SemanticError, token_of
from onnxtext.syntax.actions.unparsed_literals import DataCall


def external_data(calls: list[DataCall]) -> ast.ExternalData:
    """Return the external data for `external("w.bin", 0, 16)`.

    More than one item in `calls`, the data of the tensor as `name(…)` items, is an error.

    Raises:
        SemanticError: an argument is invalid, or the tensor also has other data.
    """
    call = calls[0]
    if len(calls) > 1:
        raise SemanticError(
            "a tensor with external data cannot have other data",
            token=calls[1].name,
            help=f"remove {calls[1].name}",
        )
    location, *numbers = call.arguments
    if not isinstance(location, bytes):
        raise SemanticError(
            "the first argument of external data must be the name of its file",
            token=token_of(location) or call.name,
            help='write `external("weights.bin", offset, length)`',
        )
    if len(numbers) >= len(EXTERNAL_KEYS):
        raise SemanticError(
            "external data takes at most a location, an offset and a length",
            token=token_of(numbers[2]) or call.name,
            help=_AS_PAIRS,
        )
    values = [to_text(location)]
    for key, number in zip(EXTERNAL_KEYS[1:], numbers, strict=False):
        if not isinstance(number, str) or not is_external_number(number):
            raise SemanticError(
                f"the {key} of external data must be an integer without sign or leading zeros",
                token=token_of(number) or call.name,
                help=_AS_PAIRS,
            )
        values.append(str(number))
    return ast.ExternalData(tuple(zip(EXTERNAL_KEYS, values, strict=False)))


_AS_PAIRS = 'write other entries as pairs: `["location": "weights.bin", "offset": "0", …]`'
