# SPDX-License-Identifier: Apache-2.0
"""Rules for `Cast`, quantization and `LabelEncoder`.

The rules raise `NotConvertible` if they cannot convert a node.
"""

from __future__ import annotations

from onnxtext.ast.tensors_and_attributes import Attribute, AttributeType
from onnxtext.checker.symbolic.operator_call import dimensions
from onnxtext.editing.nodes import put_attribute
from onnxtext.editing.opsets.converted_node import NodeConversion
from onnxtext.editing.opsets.model_facts import NotConvertible, unknown_fact
from onnxtext.tensor.element_types import ELEMENTS


def cast_up(conversion: NodeConversion) -> None:
    """Convert `Cast` to version 6: `to` is the number of the element type instead of its name."""
    name = (conversion.string("to") or "").lower()
    if name not in ELEMENTS:
        raise NotConvertible(f"its type `{name}` is unknown")
    conversion.set("to", ELEMENTS[name].number)
    conversion.add_note("`to` becomes a number")


def one_scale(conversion: NodeConversion) -> None:
    """Reject `QuantizeLinear` and `DequantizeLinear` unless the scale is a scalar.

    Other scales are allowed since version 13. Drop `axis`, which older versions lack.
    """
    shape = conversion.shape(conversion.input(1))
    if shape != ():
        name = conversion.input(1)
        if shape is None:
            what = "before version 13, its scale must be a scalar, but the shape of"
            raise unknown_fact(what, name)
        raise NotConvertible(
            f"before version 13, its scale must be a scalar, but `{name}` has "
            f"{dimensions(len(shape))}"
        )
    conversion.drop("axis")


def label_encoder_up(conversion: NodeConversion) -> None:
    """Convert `LabelEncoder` to version 2: lists of keys and values replace numbered classes."""
    classes = conversion.value("classes_strings")
    if not isinstance(classes, tuple):
        raise NotConvertible("it has no `classes_strings`")
    numbers = tuple(range(len(classes)))
    to_numbers = conversion.element(conversion.input(0)) == "string"
    conversion.drop("classes_strings")
    # `set` would make an empty list a list of integers.
    name = "keys_strings" if to_numbers else "values_strings"
    put_attribute(conversion.node, Attribute(name, AttributeType.STRINGS, classes))
    conversion.set("values_int64s" if to_numbers else "keys_int64s", numbers)
    conversion.add_note("attributes for keys and values replace `classes_strings`")
