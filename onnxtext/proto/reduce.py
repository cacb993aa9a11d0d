# SPDX-License-Identifier: Apache-2.0
"""A model reduced to what the official syntax can say, and the list of what it cannot.

Works on canonical bytes, field by field of the schema: what is not known here to have a place in
official text is lost and listed, so the list is complete by construction. The result, lifted and
printed (`printer.official`), is what `onnx.parser` makes of that text, but for presence.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxtext.ast.model import Model
from onnxtext.ast.values import AttributeType
from onnxtext.proto.lift import canonical_message
from onnxtext.proto.lifter import Lifter
from onnxtext.proto.losses import MODEL, Loss, Place
from onnxtext.proto.reduce_values import (
    NANS,
    STRINGS_OF_DATA,
    Data,
    Fields,
    ValueReducer,
    default_nans,
    field,
    integer,
    is_empty,
    is_sayable,
    number,
)
from onnxtext.proto.schema import message_spec
from onnxtext.wire.reader import read_fields
from onnxtext.wire.writer import FIXED32, LENGTH, tag, varint

_A = AttributeType

LISTS = "the official parser drops the values of such lists: the list is written empty"
SPARSE = "a sparse tensor has no place in the official syntax: the attribute is left out"
NO_TYPE = "an attribute's type is always written: it gets that of its value"
NO_KIND = "an attribute without a type and a single value cannot be written: it is left out"
NO_VALUE = "an attribute without a value cannot be written: it is left out"
NO_OPERATOR = "a domain without an operator type cannot be written: it is left out"
EXTRA_VALUE = "an attribute has one value, that of its type: other values are left out"


def lift_reduced(data: bytes) -> tuple[Model, list[Loss]]:
    """The AST of what official text can say of a `ModelProto`, and what it lacks.

    Raises:
        LiftError: the bytes are no `ModelProto`.
    """
    reduced, losses = reduce_model(canonical_message(data, "ModelProto"))
    return Lifter(careful=False).model(memoryview(reduced)), losses


def reduce_model(data: Data) -> tuple[bytes, list[Loss]]:
    """A `ModelProto` that official text can say, and what it lacks.

    Args:
        data: canonical bytes.

    Raises:
        WireError: the bytes are no message.
    """
    reducer = Reducer()
    return reducer.model(memoryview(data)), reducer.losses.all()


class Reducer(ValueReducer):
    """Reduces models, graphs, functions, nodes and attributes."""

    def __init__(self) -> None:
        super().__init__()
        self._attributes: dict[bytes, bytes] = {}

    # ---- Models, graphs, functions ----------------------------------------------------------

    def model(self, data: Data) -> bytes:
        """A `ModelProto`."""
        found = self.fields("ModelProto", data, MODEL, _MODEL)
        parts = [
            number(message_spec("ModelProto").by_name[name].number, found[name][-1])
            for name in ("ir_version", "model_version")
            if name in found
        ]
        for name, key in _MODEL_STRINGS:
            if name in found:
                parts.append(field(key, self.text(found[name][-1], MODEL.at(name))))
        parts += self._opsets(found, MODEL)
        entries = self.entries(found.get("metadata_props", ()), MODEL.at("metadata_props"))
        parts += [field(14, entry) for entry in entries]
        if "graph" not in found:
            self.losses.silent("ModelProto", "graph")
        parts.append(field(7, self.graph(found.get("graph", (b"",))[-1], MODEL.at("graph"))))
        for index, function in enumerate(found.get("functions", ())):
            parts.append(field(25, self.function(function, MODEL.at("functions", index))))
        return b"".join(parts)

    def _opsets(self, found: Fields, place: Place) -> list[bytes]:
        """The operator sets of a model or function."""
        key = 8 if place is MODEL else 9
        made = []
        for index, data in enumerate(found.get("opset_import", ())):
            here = place.at("opset_import", index)
            message = "OperatorSetIdProto"
            values = self.fields(message, data, here, frozenset(("domain", "version")))
            domain = self.stored_text(message, "domain", values, here)
            if "version" not in values:
                self.losses.silent(message, "version")
            version = number(2, values.get("version", (b"\0",))[-1])
            made.append(field(key, field(1, domain) + version))
        return made

    def graph(self, data: Data, place: Place, *, quotable: bool = True) -> bytes:
        """A `GraphProto`.

        Args:
            data: its bytes.
            place: where it is.
            quotable: whether its name can be quoted: that of the main graph can.
        """
        found = self.fields("GraphProto", data, place, _GRAPH)
        if quotable:
            name = self.stored_text("GraphProto", "name", found, place)
        else:
            name = self.graph_name(found.get("name", (None,))[-1], place.at("name"))
        parts = [field(2, name)]
        for index, node in enumerate(found.get("node", ())):
            parts.append(field(1, self.node(node, place.at("node", index))))
        for index, tensor in enumerate(found.get("initializer", ())):
            made = self.tensor(tensor, place.at("initializer", index), quotable=True)
            if made is not None:
                parts.append(field(5, made))
        for list_name, key in (("input", 11), ("output", 12), ("value_info", 13)):
            for index, value in enumerate(found.get(list_name, ())):
                parts.append(field(key, self.value_info(value, place.at(list_name, index))))
        return b"".join(parts)

    def function(self, data: Data, place: Place) -> bytes:
        """A `FunctionProto`."""
        found = self.fields("FunctionProto", data, place, _FUNCTION)
        parts = [field(1, self.stored_text("FunctionProto", "name", found, place))]
        for name, key in (("domain", 10), ("overload", 13), ("doc_string", 8)):
            if name in found:
                parts.append(field(key, self.text(found[name][-1], place.at(name))))
        parts += self._opsets(found, place)
        for name, key in (("input", 4), ("output", 5), ("attribute", 6)):
            parts += self._names(found, name, key, place)
        for index, node in enumerate(found.get("node", ())):
            parts.append(field(7, self.node(node, place.at("node", index))))
        for index, attribute in enumerate(found.get("attribute_proto", ())):
            here = _attribute_place(place, "attribute_proto", attribute, index)
            made = self.attribute(attribute, here, in_function=True)
            if made is not None:
                parts.append(field(11, made))
        for index, value in enumerate(found.get("value_info", ())):
            parts.append(field(12, self.value_info(value, place.at("value_info", index))))
        return b"".join(parts)

    def _names(self, found: Fields, name: str, key: int, place: Place) -> list[bytes]:
        values = found.get(name, ())
        return [
            field(key, self.text(value, place.at(name, index)))
            for index, value in enumerate(values)
        ]

    def value_info(self, data: Data, place: Place) -> bytes:
        """A `ValueInfoProto`."""
        found = self.fields("ValueInfoProto", data, place, frozenset(("name", "type")))
        made = field(1, self.stored_text("ValueInfoProto", "name", found, place))
        for data_of_type in found.get("type", ()):
            type = self.type(data_of_type, place.at("type"))
            if type is not None:
                made += field(2, type)
        return made

    # ---- Nodes ------------------------------------------------------------------------------

    def node(self, data: Data, place: Place) -> bytes:
        """A `NodeProto`."""
        data = bytes(data)
        message = "NodeProto"
        found = self.fields(message, data, place, _NODE)
        parts = self._names(found, "input", 1, place) + self._names(found, "output", 2, place)
        if "name" in found:
            parts.append(field(3, self.text(found["name"][-1], place.at("name"))))
        if "op_type" not in found:
            self.losses.silent(message, "op_type")
        op_type = found.get("op_type", (b"",))[-1]
        if op_type:
            op_type = self.identifier(op_type, place.at("op_type"), "an operator")
        parts.append(field(4, op_type))
        if "domain" not in found:
            self.losses.silent(message, "domain")
        domain = self.dotted(found.get("domain", (b"",))[-1], place.at("domain"))
        if domain and not op_type:
            self.losses.lost(place.at("domain"), NO_OPERATOR)
        elif domain:
            parts.append(field(7, domain))
        overload = found.get("overload", (None,))[-1]
        if overload:
            here = place.at("overload")
            parts.append(field(8, self.identifier(overload, here, "an overload")))
        elif overload is not None:
            self.losses.silent(message, "overload")
        for index, attribute in enumerate(found.get("attribute", ())):
            made = self._attributes.get(bytes(attribute))
            if made is None:
                made = self._node_attribute(attribute, place, index)
            parts.append(made)
        return b"".join(parts)

    def _node_attribute(self, data: Data, place: Place, index: int) -> bytes:
        """An attribute of a node as a field, or nothing; remembered if there is nothing to note."""
        before = self.losses.events
        here = _attribute_place(place, "attribute", data, index)
        reduced = self.attribute(data, here, in_function=False)
        made = b"" if reduced is None else field(5, reduced)
        if self.losses.events == before:
            self._attributes[bytes(data)] = made
        return made

    def attribute(self, data: Data, place: Place, *, in_function: bool) -> bytes | None:
        """An `AttributeProto`; None if it cannot be written.

        Args:
            data: its bytes.
            place: where it is.
            in_function: whether it is a function's, where names can be quoted and values missing.
        """
        message = "AttributeProto"
        found = self.fields(message, data, place, _ATTRIBUTE)
        if in_function:
            name = self.stored_text(message, "name", found, place)
        else:
            name = found.get("name", (b"",))[-1]  # type: ignore[assignment]
            name = self.identifier(name, place.at("name"), "an attribute")
        head = field(1, name)
        kind = integer(found.get("type", ()))
        values = [name for name in _VALUES if name in found]
        stored = [name for name in values if not self._is_empty_value(name, found[name])]
        reference = found.get("ref_attr_name", (None,))[-1]
        if reference is not None and (reference or not values):
            return head + self._reference(reference, kind, values, stored, found, place)
        if reference is not None:
            self.losses.silent(message, "ref_attr_name")
        if not kind:
            chosen = stored or values
            if len(chosen) != 1:
                self.losses.lost(place, NO_KIND)
                return None
            self.losses.lost(place.at("type"), NO_TYPE)
            kind = _VALUES[chosen[0]]
        own = _FIELD_OF[kind]
        self._drop_values([name for name in values if name != own], stored, place)
        value = self._value(AttributeType(kind), own, found.get(own), place, in_function)
        return None if value is None else head + value + number(20, varint(kind))

    @staticmethod
    def _is_empty_value(name: str, payloads: Sequence[Data]) -> bool:
        spec = message_spec("AttributeProto").by_name[name]
        return not spec.repeated and is_empty(payloads[-1], spec.wire_type)

    def _drop_values(self, names: Sequence[str], stored: Sequence[str], place: Place) -> None:
        """Note the values that an attribute has no room for."""
        for name in names:
            if name in stored:
                self.losses.lost(place.at(name), EXTRA_VALUE)
            else:
                self.losses.silent("AttributeProto", name)

    def _reference(
        self,
        reference: Data,
        kind: int,
        values: Sequence[str],
        stored: Sequence[str],
        found: Fields,
        place: Place,
    ) -> bytes:
        """The fields of a reference to an attribute of the function."""
        self._drop_values(values, stored, place)
        made = field(21, self.text(reference, place.at("ref_attr_name")))
        if kind:
            return number(20, varint(kind)) + made
        if "type" in found:
            self.losses.silent("AttributeProto", "type")
        return made

    # ---- Values of attributes ---------------------------------------------------------------

    def _value(
        self,
        kind: AttributeType,
        name: str,
        payloads: Sequence[Data] | None,
        place: Place,
        in_function: bool,
    ) -> bytes | None:
        """The value of an attribute; None if it cannot be written."""
        here = place.at(name)
        if payloads is None and in_function and kind not in _LISTS:
            return b""
        match kind:
            case _A.INTS:
                return b"".join([number(8, item) for item in payloads or ()])
            case _A.FLOATS:
                return self._floats(payloads or (), here)
            case _A.STRINGS:
                if not all(is_sayable(bytes(item)) for item in payloads or ()):
                    self.losses.lost(place, STRINGS_OF_DATA)
                    return None
                return b"".join([field(9, item) for item in payloads or ()])
            case _A.TENSORS | _A.GRAPHS | _A.SPARSE_TENSORS | _A.TYPE_PROTOS:
                if payloads:
                    self.losses.lost(here, LISTS)
                return b""
            case _A.SPARSE_TENSOR:
                self.losses.lost(place, SPARSE)
                return None
        if payloads is None:
            if kind in (_A.TENSOR, _A.TYPE_PROTO):
                self.losses.lost(place, NO_VALUE)
                return None
            self.losses.silent("AttributeProto", name)
        return self._single(kind, payloads[-1] if payloads else _DEFAULTS[kind], place, here)

    def _single(self, kind: AttributeType, value: Data, place: Place, here: Place) -> bytes | None:
        match kind:
            case _A.INT:
                return number(3, value)
            case _A.FLOAT:
                bits = np.frombuffer(value, "<u4").copy()
                if default_nans(bits):
                    self.losses.lost(here, NANS)
                return tag(2, FIXED32) + bits.tobytes()
            case _A.STRING:
                if is_sayable(bytes(value)):
                    return field(4, value)
                self.losses.lost(place, STRINGS_OF_DATA)
                return None
            case _A.GRAPH:
                return field(6, self.graph(value, here, quotable=False))
            case _A.TENSOR:
                tensor = self.tensor(value, here, quotable=False)
                return None if tensor is None else field(5, tensor)
        type = self.type(value, here)
        if type is None:
            self.losses.lost(place, NO_VALUE)
            return None
        return field(14, type)

    def _floats(self, payloads: Sequence[Data], place: Place) -> bytes:
        bits = np.frombuffer(b"".join(payloads), "<u4").copy()
        if default_nans(bits):
            self.losses.lost(place, NANS)
        key = tag(7, FIXED32)
        data = bits.tobytes()
        return b"".join([key + data[at : at + 4] for at in range(0, len(data), 4)])


def _attribute_place(place: Place, list_name: str, data: Data, index: int) -> Place:
    """The place of an attribute: by its name, by its index if it has none."""
    name = b""
    for item in read_fields(data, 0, len(data)):
        if item.number == 1 and item.wire_type == LENGTH:
            name = bytes(data[item.value : item.end])
            break
    return place.at(list_name, name.decode("utf-8", "backslashreplace") if name else index)


_MODEL_STRINGS = (("producer_name", 2), ("producer_version", 3), ("domain", 4), ("doc_string", 6))
_MODEL = frozenset(
    ("ir_version", "model_version", "opset_import", "metadata_props", "graph", "functions")
).union(name for name, _ in _MODEL_STRINGS)
_GRAPH = frozenset(("name", "node", "initializer", "input", "output", "value_info"))
_FUNCTION = frozenset(
    (
        "name",
        "domain",
        "overload",
        "doc_string",
        "opset_import",
        "input",
        "output",
        "attribute",
        "attribute_proto",
        "node",
        "value_info",
    )
)
_NODE = frozenset(("input", "output", "name", "op_type", "domain", "overload", "attribute"))
_VALUES = {
    "f": _A.FLOAT,
    "i": _A.INT,
    "s": _A.STRING,
    "t": _A.TENSOR,
    "g": _A.GRAPH,
    "floats": _A.FLOATS,
    "ints": _A.INTS,
    "strings": _A.STRINGS,
    "tensors": _A.TENSORS,
    "graphs": _A.GRAPHS,
    "tp": _A.TYPE_PROTO,
    "type_protos": _A.TYPE_PROTOS,
    "sparse_tensor": _A.SPARSE_TENSOR,
    "sparse_tensors": _A.SPARSE_TENSORS,
}
"""The fields of `AttributeProto` that hold values, and the type of each."""

_ATTRIBUTE = frozenset(("name", "type", "ref_attr_name", *_VALUES))
_FIELD_OF = {int(kind): name for name, kind in _VALUES.items()}
_LISTS = {_A.FLOATS, _A.INTS, _A.STRINGS, _A.TENSORS, _A.GRAPHS, _A.SPARSE_TENSORS, _A.TYPE_PROTOS}
_DEFAULTS = {_A.INT: b"\0", _A.FLOAT: b"\0\0\0\0", _A.STRING: b"", _A.GRAPH: b""}
