# SPDX-License-Identifier: Apache-2.0
"""Convert nodes whose operator only gained or lost types, attributes or optional inputs.

If a version adds an attribute, its default usually has the behavior of older versions; the tables
below list the exceptions. So a conversion to a newer version leaves most nodes unchanged. A
conversion to an older version drops the attribute if it has the default value. A test compares the
tables with the installed onnx.
"""

from __future__ import annotations

from collections.abc import Callable

from onnxtext.ast.tensors_and_attributes import Float32, Reference
from onnxtext.checker.context.signatures import Parameter
from onnxtext.editing.opsets.converted_node import NodeConversion
from onnxtext.editing.opsets.model_facts import NotConvertible
from onnxtext.editing.opsets.schema_versions import NONE, default_of

Change = Callable[[NodeConversion], object]
"""Converts a node to the next or to the previous version of its operator.

Raises `NotConvertible` if the other version cannot express the node.
"""
Step = tuple[str, str, int]
"""A conversion step: the domain, the operator, and the version that changed the operator."""
ANY = object()
"""Stands for every value of an attribute in the tables below."""

REMOVED: dict[Step, dict[str, object]] = {
    ("", "BatchNormalization", 6): {"consumed_inputs": ANY},
    ("", "BatchNormalization", 7): {"is_test": 1},
    ("", "BatchNormalization", 9): {"spatial": 1},
    ("", "Dropout", 7): {"is_test": 1},
    ("", "GRU", 7): {"output_sequence": ANY},
    ("", "LSTM", 7): {"output_sequence": ANY},
    ("", "RNN", 7): {"output_sequence": ANY},
}
"""Attributes that a version removed, each with the value that behaves like the newer version."""
CONSUMED = "consumed_inputs"
"""An attribute that version 6 removed from all operators; it was a hint for optimizers."""

UNUSED_BY_OLDER: dict[Step, tuple[str, ...]] = {
    ("", "Cast", 19): ("saturate",),
    ("", "CastLike", 19): ("saturate",),
    ("", "QuantizeLinear", 19): ("saturate",),
    ("", "Cast", 24): ("round_mode",),
    ("", "CastLike", 24): ("round_mode",),
    ("", "Range", 27): ("stash_type",),
}
"""New attributes that affect only element types that are new in the same version."""

MEANT_BEFORE: dict[Step, dict[str, object]] = {
    ("", "RoiAlign", 16): {"coordinate_transformation_mode": b"output_half_pixel"},
    ("", "Concat", 4): {"axis": 1},
    ("", "Upsample", 7): {},
}
"""Attributes whose new default changes the behavior; the value here restores the old behavior."""

SAME_MEANING: dict[Step, tuple[str, ...]] = {
    ("", "Clip", 6): ("max", "min"),  # both defaults mean no limit
    ("", "GRU", 3): ("direction",),  # the old default is misspelled
    ("", "Split", 2): ("axis",),
    **{("", name, 13): ("axis",) for name in ("Softmax", "LogSoftmax", "Hardmax")},
}
"""Attributes whose changed default has no effect, or is handled by the operator's rule."""

ONES = ("dilations",)
"""Attributes without a default; if all their elements are 1, they have no effect."""

ONLY_NEWER: dict[Step, dict[str, frozenset[bytes]]] = {
    ("", "Pad", 19): {"mode": frozenset((b"wrap",))},
    ("", "Resize", 19): {"coordinate_transformation_mode": frozenset((b"half_pixel_symmetric",))},
    ("", "ScatterElements", 18): {"reduction": frozenset((b"max", b"min"))},
    ("", "ScatterND", 18): {"reduction": frozenset((b"max", b"min"))},
}
"""Values that a version added to an existing attribute."""
ONLY_OLDER: dict[Step, dict[str, frozenset[bytes]]] = {
    ("", "Resize", 13): {"coordinate_transformation_mode": frozenset((b"tf_half_pixel_for_nn",))}
}
"""Attribute values that a version no longer allows."""


def carry_over(conversion: NodeConversion) -> None:
    """Adapt the attributes, inputs and outputs of a node to its new schema, keeping its meaning.

    Raises:
        NotConvertible: the new schema cannot express the node.
    """
    since = conversion.new.since if conversion.is_up else conversion.old.since
    step = conversion.old.domain, conversion.old.name, since
    _allowed_values(conversion, step)
    for attribute in conversion.node.attributes:
        if (
            attribute.name not in conversion.new.attributes
            and attribute.name in conversion.old.attributes
        ):
            _drop(conversion, step, attribute.name)
    if conversion.is_up:
        _removed_defaults(conversion, step)
    else:
        _added_defaults(conversion, step)
    for name in conversion.new.attributes:
        if conversion.attribute(name) is None:
            _make_explicit(conversion, step, name)
    _drop_trailing(conversion, since)


def _allowed_values(conversion: NodeConversion, step: Step) -> None:
    """Reject attribute values that are unknown, or that the new schema does not allow."""
    table = ONLY_OLDER if conversion.is_up else ONLY_NEWER
    for name, values in table.get(step, {}).items():
        attribute = conversion.attribute(name)
        if attribute is not None and (
            attribute.value in values or isinstance(attribute.value, Reference)
        ):
            value = attribute.value
            shown = f"`{value.decode()}`" if isinstance(value, bytes) else "a parameter"
            when = f"{'since' if conversion.is_up else 'before'} version {step[2]}"
            raise NotConvertible(f"its attribute `{name}` cannot be {shown} {when}")


def _drop(conversion: NodeConversion, step: Step, name: str) -> None:
    """Drop an attribute that the new schema lacks; reject the node if its meaning would change."""
    value = conversion.value(name)
    if conversion.is_up:
        removed_default = ANY if name == CONSUMED else REMOVED.get(step, {}).get(name, NONE)
    elif name in UNUSED_BY_OLDER.get(step, ()):
        removed_default = ANY
    else:
        removed_default = MEANT_BEFORE.get(step, {}).get(name, default_of(conversion.old, name))
    ones = name in ONES and isinstance(value, tuple) and all(item == 1 for item in value)
    if removed_default is not ANY and removed_default != value and not ones:
        if conversion.is_up:
            raise NotConvertible(f"its attribute `{name}` was removed in version {step[2]}")
        raise NotConvertible(f"its attribute `{name}` exists only since version {step[2]}")
    conversion.drop(name)
    conversion.dropped.add(name)
    version = step[2] if conversion.is_up else conversion.new.since
    conversion.add_note(
        f"the attribute `{name}` is dropped, because version {version} does not have it"
    )


def _removed_defaults(conversion: NodeConversion, step: Step) -> None:
    """Reject a node that omits a removed attribute, if the new version changes its behavior."""
    for name, removed_default in REMOVED.get(step, {}).items():
        if (
            removed_default is ANY
            or name not in conversion.old.attributes
            or conversion.attribute(name) is not None
        ):
            continue
        is_normalization = conversion.old.name == "BatchNormalization"
        if name == "is_test" and is_normalization and not any(conversion.node.outputs[1:]):
            continue  # a node with one output is never in training mode
        if default_of(conversion.old, name) != removed_default and name not in conversion.dropped:
            raise NotConvertible(
                f"before version {step[2]}, `{name}` is 0 by default, which means training mode"
            )


def _added_defaults(conversion: NodeConversion, step: Step) -> None:
    """Reject a node that omits a new attribute, if the older version changes its behavior."""
    for name, earlier_default in MEANT_BEFORE.get(step, {}).items():
        omitted = conversion.attribute(name) is None and name not in conversion.dropped
        if (
            omitted
            and name not in conversion.new.attributes
            and default_of(conversion.old, name) != earlier_default
        ):
            raise NotConvertible(f"its attribute `{name}` exists only since version {step[2]}")


def _make_explicit(conversion: NodeConversion, step: Step, name: str) -> None:
    """Write an omitted attribute if its new default would change the meaning of the node."""
    default = default_of(conversion.new, name)
    meant: object
    if name in SAME_MEANING.get(step, ()):
        return
    if name not in conversion.old.attributes:
        added = MEANT_BEFORE if conversion.is_up else REMOVED
        meant = added.get(step, {}).get(name, default)
        if meant is ANY:
            return
    else:
        meant = default_of(conversion.old, name)
        if meant is NONE:
            meant = MEANT_BEFORE.get(step, {}).get(name, default)
    if meant is NONE or meant == default:
        return
    conversion.set(name, meant)
    shown = meant.decode() if isinstance(meant, bytes) else meant
    shown = float(shown) if isinstance(shown, Float32) else shown
    conversion.add_note(f"`{name} = {shown}` is written, because the default behavior changes")


def _drop_trailing(conversion: NodeConversion, since: int) -> None:
    """Remove omitted inputs and outputs at the ends of lists that are too long for the schema."""
    node, old, new = conversion.node, conversion.old, conversion.new
    node.inputs = _at_most(conversion, since, "input", node.inputs, new.max_inputs, old.input)
    node.outputs = _at_most(conversion, since, "output", node.outputs, new.max_outputs, old.output)
    node.output_types = node.output_types[: len(node.outputs)]


def _at_most(
    conversion: NodeConversion,
    since: int,
    kind: str,
    names: tuple[str, ...],
    max_count: int,
    formal_of: Callable[[int], Parameter | None],
) -> tuple[str, ...]:
    """Drop "" from the end of `names`, until at most `max_count` names remain.

    Reject the node if other names remain. `since`, `kind` and `formal_of` (maps an index to a
    parameter) only describe the error.
    """
    while len(names) > max_count and not names[-1]:
        names = names[:-1]
    if len(names) > max_count:
        formal = formal_of(max_count)
        name = formal.name if formal is not None else names[-1]
        when = "was removed in" if conversion.is_up else "exists since"
        raise NotConvertible(f"its {kind} `{name}` {when} version {since}")
    return names
