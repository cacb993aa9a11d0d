# SPDX-License-Identifier: Apache-2.0
"""Apply and find presence defaults: fields that a file stores even if they are empty (SPEC 11)."""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import chain

from onnxtext.ast.model import Fragment, Function, Model, Node, Presence
from onnxtext.ast.records import Decorator, Field, Word
from onnxtext.ast.tensors_and_attributes import Attribute, SparseTensor, Tensor
from onnxtext.ast.visit import list_graphs, rich_lists
from onnxtext.proto.unknown_fields import RecordError
from onnxtext.select_core import core, core_module
from onnxtext.wire.writer import LENGTH, VARINT, tag

OFFICIAL_DEFAULTS = ("node.domain", "tensor.name")
"""The fields that the official parser stores even if they are empty.

These are presence defaults of every text without `onnxtext` in its header.
"""

NODE_DEFAULTS = ("name", "doc_string", "domain", "overload")
"""The fields of nodes for which `PresenceDefaults` has attributes; other fields are in `others`.

These fields are by far the most common presence defaults.
"""


class PresenceDefaults:
    """The presence defaults of a text: the fields to store empty if the text does not set them.

    Attributes:
        node_name: the name to store for a node without a label: "", or None for no name.
        node_doc: the encoded empty `doc_string` if it is a default, otherwise b"".
        node_domain: the encoded empty `domain` if it is a default, otherwise b"".
        node_overload: the encoded empty `overload` if it is a default, otherwise b"".
        tensor_name: the name to store for a tensor without a name: "", or None for no name.
        others: the other defaults: maps a message type to (field number, encoded empty field)
            pairs.
        parts: `node_name`, `tensor_name`, `node_doc`, `node_domain`, `node_overload` and `others`,
            which the native core reads at once.
    """

    def __init__(self, presence: Presence) -> None:
        """Resolve the names in the header's `explicit`; raise RecordError for an unknown field."""
        names = set(presence.explicit)
        if presence.version is None:
            names.update(OFFICIAL_DEFAULTS)
        self.node_name = "" if "node.name" in names else None
        self.node_doc = b"\x32\x00" if "node.doc_string" in names else b""
        self.node_domain = b"\x3a\x00" if "node.domain" in names else b""
        self.node_overload = b"\x42\x00" if "node.overload" in names else b""
        self.tensor_name = "" if "tensor.name" in names else None
        self.others: dict[str, list[tuple[int, bytes]]] = {}
        for name in sorted(names - {"tensor.name", *(f"node.{item}" for item in NODE_DEFAULTS)}):
            self._add(name)
        self.parts = (
            self.node_name, self.tensor_name, self.node_doc, self.node_domain, self.node_overload,
            self.others,
        )  # fmt: skip

    def _add(self, name: str) -> None:
        """Add an entry of `explicit`, such as `graph.doc_string`, to `others`; check its name."""
        from onnxtext.proto.descriptors import message_names, message_spec

        short, _, field_name = name.partition(".")
        message = message_names().get(short)
        spec = message_spec(message).by_name.get(field_name) if message else None
        if not message or not spec or spec.repeated or spec.wire_type not in (VARINT, LENGTH):
            raise RecordError(
                f"`{name}` in `explicit` is not a field that can be stored empty",
                f"explicit {name}",
            )
        empty = tag(spec.number, spec.wire_type) + b"\x00"
        self.others.setdefault(message, []).append((spec.number, empty))


@lru_cache(maxsize=16)
def presence_defaults(version: int | None, explicit: tuple[str, ...]) -> PresenceDefaults:
    """Return the presence defaults of a header with these `onnxtext` and `explicit` entries.

    Raises:
        RecordError: a name in `explicit` is not a field that can be stored empty.
    """
    return PresenceDefaults(Presence(version, explicit))


Root = Model | Fragment


def settle_presence(root: Root, lists: list[list[Node]], tensors: list[Tensor] | None) -> None:
    """Choose the presence defaults of a text: fields that most items store empty (SPEC 11).

    For each chosen field, remove the empty values from the AST: the default implies them. Add
    `@unset` to the items that do not store the field.

    Args:
        root: a model or fragment that was just decoded, with every stored field explicit; changed
            in place.
        lists: the nodes of each graph and function; [] if none can store an empty domain or doc
            string.
        tensors: the tensors in attributes; None to find them.
    """
    if isinstance(root, Fragment) and isinstance(root.item, Node):
        lists.append([root.item])
    nodes = list(chain.from_iterable(lists))
    domains = [node.domain for node in nodes]
    explicit = []
    if domains.count("") > domains.count(None):
        explicit.append("node.domain")
        for node in nodes:
            if node.domain is None:
                node.decorators += (unset_decorator("domain"),)
            elif node.domain == "":
                node.domain = None
    docs = [d for node in nodes for d in node.decorators if d.name == "doc"]
    # Comparing only the strings takes a sixth of the time of comparing records.
    if 2 * sum([doc.arguments[0].value == b"" for doc in docs]) > len(nodes):
        explicit.append("node.doc_string")
        for node in nodes:
            found = node.decorators
            kept = [d for d in found if d.name != "doc" or d.arguments[0].value != b""]
            if len(kept) < len(found):
                node.decorators = tuple(kept)
            elif not any(d.name == "doc" for d in found):
                node.decorators += (unset_decorator("doc_string"),)
    if settle_tensor_names(find_tensors(root, nodes) if tensors is None else tensors):
        explicit.append("tensor.name")
    if explicit:
        root.presence = Presence(root.presence.version, tuple(explicit))


@cache
def unset_decorator(name: str) -> Decorator:
    """Return `@unset(name)`; calls with the same name share one object."""
    return Decorator("unset", (Field(None, Word(name)),))


def find_tensors(root: Root, nodes: list[Node]) -> list[Tensor]:
    """Return the distinct tensors in attributes, also parts of sparse tensors."""
    graphs = list_graphs(root)
    parameters = [graph.attributes for graph in graphs if isinstance(graph, Function)]
    found = []
    for attribute in chain.from_iterable([*parameters, *rich_lists(nodes)]):
        value = attribute.value if isinstance(attribute, Attribute) else None
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, SparseTensor):
                found += [item.values, item.indices]
            elif isinstance(item, Tensor):
                found.append(item)
    # The names of dense initializers, and of the values of sparse ones, are in their `ValueInfo`s.
    values = chain.from_iterable([graph.values for graph in graphs])
    found += [value.data.indices for value in values if isinstance(value.data, SparseTensor)]
    return list({id(tensor): tensor for tensor in found}.values())


def settle_tensor_names(tensors: list[Tensor]) -> bool:
    """Make `""` the default name if more tensors in attributes store `""` than store no name.

    Return whether `""` became the default. The frozen tensors, just decoded, are changed in
    place: creating them and their attributes again would take longer than decoding.
    """
    if core() == "native":
        settled: bool = core_module("ast.visit").settle_names(tensors, unset_decorator("name"))
        return settled
    names = [tensor.name for tensor in tensors]
    if names.count("") <= names.count(None):
        return False
    for tensor in tensors:
        if tensor.name is None:
            decorators = (*tensor.decorators, unset_decorator("name"))
            object.__setattr__(tensor, "decorators", decorators)
        elif not tensor.name:
            object.__setattr__(tensor, "name", None)
    return True
