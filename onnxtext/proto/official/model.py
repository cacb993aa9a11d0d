# SPDX-License-Identifier: Apache-2.0
"""Reduce a model to the official syntax, and list the losses.

The reducer works on canonical bytes, field by field. It keeps only the fields that it lists by
name, so the list of losses is complete by construction. `onnx.parser` reads the printed result
(`printer.official`) as the reduced model, apart from the presence of empty fields.
"""

from __future__ import annotations

from onnxtext.ast.model import Model
from onnxtext.proto.decode.lift import canonical_message
from onnxtext.proto.decode.messages import Lifter
from onnxtext.proto.official.attributes import AttributeReducer, path_of_attribute
from onnxtext.proto.official.fields import Data, Fields, field, varint_field
from onnxtext.proto.official.losses import MODEL, ItemPath, Loss

ELEMENT = "a tensor of an unknown element type cannot be written: it is left out"
NO_OPERATOR = "the domain of a node without `op_type` cannot be written: it is left out"


def lift_reduced(data: bytes) -> tuple[Model, list[Loss]]:
    """Return the AST of a `ModelProto` reduced to the official syntax, and the losses.

    Raises:
        LiftError: the bytes are not a `ModelProto`.
    """
    reducer = Reducer()
    reduced = reducer.model(memoryview(canonical_message(data, "ModelProto")))
    return Lifter(compare_items=False).model(reduced), reducer.losses.all()


class Reducer(AttributeReducer):
    """Reduces models, graphs, functions and nodes to what the official syntax can express."""

    def __init__(self) -> None:
        super().__init__()
        self._attributes: dict[bytes, bytes] = {}

    def model(self, data: Data) -> bytes:
        """Reduce a `ModelProto` to what the official syntax can express; return the bytes."""
        fields = self.fields("ModelProto", data, MODEL, _MODEL)
        parts = [
            varint_field(key, fields[name][-1])
            for name, key in (("ir_version", 1), ("model_version", 5))
            if name in fields
        ]
        for name, key in _MODEL_STRINGS:
            if name in fields:
                parts.append(field(key, self.text(fields[name][-1], MODEL.at(name))))
        parts += self._opsets(fields, MODEL)
        entries = self.entries(fields.get("metadata_props", ()), MODEL.at("metadata_props"))
        parts += [field(14, entry) for entry in entries]
        if "graph" not in fields:
            self.losses.presence_changed("ModelProto", "graph")
        parts.append(field(7, self.graph(fields.get("graph", (b"",))[-1], MODEL.at("graph"))))
        for index, function in enumerate(fields.get("functions", ())):
            parts.append(field(25, self.function(function, MODEL.at("functions", index))))
        return b"".join(parts)

    def _opsets(self, fields: Fields, path: ItemPath) -> list[bytes]:
        """Reduce the operator sets of a model or function; return the encoded fields."""
        key = 8 if path is MODEL else 9
        result = []
        for index, data in enumerate(fields.get("opset_import", ())):
            import_path = path.at("opset_import", index)
            message = "OperatorSetIdProto"
            values = self.fields(message, data, import_path, frozenset(("domain", "version")))
            domain = self.stored_text(message, "domain", values, import_path)
            if "version" not in values:
                self.losses.presence_changed(message, "version")
            version = varint_field(2, values.get("version", (b"\0",))[-1])
            result.append(field(key, field(1, domain) + version))
        return result

    def graph(self, data: Data, path: ItemPath, *, quotable: bool = True) -> bytes:
        """Reduce a `GraphProto` to what the official syntax can express; return the new bytes.

        Args:
            data: the bytes of the message.
            path: the path of the message in the model, to report losses.
            quotable: whether the syntax allows quotes around the name, as for the main graph.
        """
        fields = self.fields("GraphProto", data, path, _GRAPH)
        if quotable:
            name = self.stored_text("GraphProto", "name", fields, path)
        else:
            name = self.graph_name(fields.get("name", (None,))[-1], path.at("name"))
        parts = [field(2, name)]
        for index, node in enumerate(fields.get("node", ())):
            parts.append(field(1, self.node(node, path.at("node", index))))
        for index, tensor in enumerate(fields.get("initializer", ())):
            reduced = self.tensor(tensor, path.at("initializer", index), quotable=True)
            if reduced is None:
                self.losses.lost(path.at("initializer", index), ELEMENT)
            else:
                parts.append(field(5, reduced))
        for list_name, key in (("input", 11), ("output", 12), ("value_info", 13)):
            for index, value in enumerate(fields.get(list_name, ())):
                parts.append(field(key, self.value_info(value, path.at(list_name, index))))
        return b"".join(parts)

    def function(self, data: Data, path: ItemPath) -> bytes:
        """Reduce a `FunctionProto` to what the official syntax can express; return the bytes."""
        fields = self.fields("FunctionProto", data, path, _FUNCTION)
        parts = [field(1, self.stored_text("FunctionProto", "name", fields, path))]
        for name, key in (("domain", 10), ("overload", 13), ("doc_string", 8)):
            if name in fields:
                parts.append(field(key, self.text(fields[name][-1], path.at(name))))
        parts += self._opsets(fields, path)
        for name, key in (("input", 4), ("output", 5), ("attribute", 6)):
            parts += self._names(fields, name, key, path)
        for index, node in enumerate(fields.get("node", ())):
            parts.append(field(7, self.node(node, path.at("node", index))))
        for index, attribute in enumerate(fields.get("attribute_proto", ())):
            attribute_path = path_of_attribute(path, "attribute_proto", attribute, index)
            reduced = self.attribute(attribute, attribute_path, in_function=True)
            if reduced is not None:
                parts.append(field(11, reduced))
        for index, value in enumerate(fields.get("value_info", ())):
            parts.append(field(12, self.value_info(value, path.at("value_info", index))))
        return b"".join(parts)

    def _names(self, fields: Fields, name: str, key: int, path: ItemPath) -> list[bytes]:
        values = fields.get(name, ())
        return [
            field(key, self.text(value, path.at(name, index))) for index, value in enumerate(values)
        ]

    def value_info(self, data: Data, path: ItemPath) -> bytes:
        """Reduce a `ValueInfoProto` to what the official syntax can express; return the bytes."""
        fields = self.fields("ValueInfoProto", data, path, frozenset(("name", "type")))
        result = field(1, self.stored_text("ValueInfoProto", "name", fields, path))
        for data_of_type in fields.get("type", ()):
            type = self.type(data_of_type, path.at("type"))
            if type is not None:
                result += field(2, type)
        return result

    def node(self, data: Data, path: ItemPath) -> bytes:
        """Reduce a `NodeProto` to what the official syntax can express; return the bytes."""
        data = bytes(data)
        message = "NodeProto"
        fields = self.fields(message, data, path, _NODE)
        parts = self._names(fields, "input", 1, path) + self._names(fields, "output", 2, path)
        if "name" in fields:
            parts.append(field(3, self.text(fields["name"][-1], path.at("name"))))
        if "op_type" not in fields:
            self.losses.presence_changed(message, "op_type")
        op_type = fields.get("op_type", (b"",))[-1]
        if op_type:
            op_type = self.identifier(op_type, path.at("op_type"), "an operator")
        parts.append(field(4, op_type))
        if "domain" not in fields:
            self.losses.presence_changed(message, "domain")
        domain = self.dotted(fields.get("domain", (b"",))[-1], path.at("domain"))
        if domain and not op_type:
            self.losses.lost(path.at("domain"), NO_OPERATOR)
        elif domain:
            parts.append(field(7, domain))
        overload = fields.get("overload", (None,))[-1]
        if overload:
            overload_path = path.at("overload")
            parts.append(field(8, self.identifier(overload, overload_path, "an overload")))
        elif overload is not None:
            self.losses.presence_changed(message, "overload")
        for index, attribute in enumerate(fields.get("attribute", ())):
            reduced = self._attributes.get(bytes(attribute))
            if reduced is None:
                reduced = self._node_attribute(attribute, path, index)
            parts.append(reduced)
        return b"".join(parts)

    def _node_attribute(self, data: Data, path: ItemPath, index: int) -> bytes:
        """Reduce an attribute; return it as a field of its node, or b"" if it cannot be written."""
        before = self.losses.events
        attribute_path = path_of_attribute(path, "attribute", data, index)
        reduced = self.attribute(data, attribute_path, in_function=False)
        result = b"" if reduced is None else field(5, reduced)
        if self.losses.events == before:
            self._attributes[bytes(data)] = result
        return result


# For each message, the fields that the official syntax can express.
_MODEL_STRINGS = (("producer_name", 2), ("producer_version", 3), ("domain", 4), ("doc_string", 6))
_MODEL = frozenset(
    ("ir_version", "model_version", "opset_import", "metadata_props", "graph", "functions")
).union(name for name, _ in _MODEL_STRINGS)
_GRAPH = frozenset(("name", "node", "initializer", "input", "output", "value_info"))
_FUNCTION = frozenset(
    ("name", "domain", "overload", "doc_string", "opset_import", "input", "output", "attribute",
     "attribute_proto", "node", "value_info")
)  # fmt: skip
_NODE = frozenset(("input", "output", "name", "op_type", "domain", "overload", "attribute"))
