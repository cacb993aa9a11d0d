# SPDX-License-Identifier: Apache-2.0
"""Apply and find presence defaults: fields that a file stores even if they are empty (SPEC 11)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from functools import lru_cache
from itertools import chain

from onnxtext.ast.model import Fragment, Function, Graph, Model, Node, Presence
from onnxtext.ast.records import Decorator, Field, Word
from onnxtext.ast.rewrite_tensors import Rewriter
from onnxtext.ast.tensors_and_attributes import Attribute, AttributeType, SparseTensor, Tensor
from onnxtext.ast.visit import attribute_lists
from onnxtext.proto.unknown_fields import RecordError
from onnxtext.quick_dataclass import dataclass
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
    """

    def __init__(self, presence: Presence) -> None:
        """Resolve the names in the header's `explicit`.

        Raises:
            RecordError: a name is not a field that can be stored empty.
        """
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

    def _add(self, name: str) -> None:
        """Add an entry of `explicit`, such as `graph.doc_string`, to `others`."""
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


# ---- Lifting --------------------------------------------------------------------------------

_EMPTY_DOC = Decorator("doc", (Field(None, b""),))

Root = Model | Fragment


def settle_presence(root: Root, graphs: list[Graph | Function]) -> None:
    """Choose the presence defaults of a text: fields that most items store empty (SPEC 11).

    For each chosen field, remove the empty values from the AST, because the default implies them,
    and add `@unset` to the items that do not store the field.

    Args:
        root: a model or fragment just after lifting, with every stored field explicit; changed in
            place.
        graphs: all graphs and functions in it.
    """
    lists = [graph.nodes for graph in graphs]
    if isinstance(root, Fragment) and isinstance(root.item, Node):
        lists.append([root.item])
    counts = _count(list(chain.from_iterable(lists)))
    explicit = []
    if counts.empty_domains > counts.absent_domains:
        explicit.append("node.domain")
        for node in chain.from_iterable(lists):
            if node.domain is None:
                node.decorators += (unset_decorator("domain"),)
            elif node.domain == "":
                node.domain = None
    if 2 * sum(_EMPTY_DOC in node.decorators for node in counts.decorated) > counts.nodes:
        explicit.append("node.doc_string")
        for node in chain.from_iterable(lists):
            if _EMPTY_DOC in node.decorators:
                node.decorators = tuple([d for d in node.decorators if d != _EMPTY_DOC])
            elif not any(d.name == "doc" for d in node.decorators):
                node.decorators += (unset_decorator("doc_string"),)
    if _settle_tensor_names(graphs, counts.holders):
        explicit.append("tensor.name")
    if explicit:
        root.presence = replace(root.presence, explicit=tuple(explicit))


@dataclass(slots=True)
class _Found:
    """The numbers and lists of nodes from which `settle_presence` chooses the defaults.

    Attributes:
        nodes: the number of nodes.
        absent_domains: the number of nodes that store no domain.
        empty_domains: the number of nodes that store an empty domain.
        decorated: the nodes with decorators.
        holders: the nodes with tensors in attributes.
    """

    nodes: int = 0
    absent_domains: int = 0
    empty_domains: int = 0
    decorated: list[Node] = field(default_factory=list)
    holders: list[Node] = field(default_factory=list)


def _count(nodes: list[Node]) -> _Found:
    if core() == "native":
        result = _Found(len(nodes), *core_module("ast.visit").count_domains(nodes))
    else:
        domains = [node.domain for node in nodes]
        decorated = [node for node in nodes if node.decorators]
        result = _Found(len(nodes), domains.count(None), domains.count(""), decorated)
    holding = {id(attributes) for attributes in attribute_lists(nodes) if _has_tensors(attributes)}
    if holding:
        result.holders = [node for node in nodes if id(node.attributes) in holding]
    return result


def unset_decorator(name: str) -> Decorator:
    """Return `@unset(name)`."""
    return Decorator("unset", (Field(None, Word(name)),))


def _settle_tensor_names(graphs: list[Graph | Function], nodes: list[Node]) -> bool:
    """Make the empty name a default if more tensors in attributes store `""` than no name.

    Return whether the empty name became a default.
    """
    counts = {"": 0, None: 0}

    def count(tensor: Tensor) -> Tensor:
        if tensor.name in counts:
            counts[tensor.name] += 1
        return tensor

    def settle(tensor: Tensor) -> Tensor:
        if tensor.name is None:
            return replace(tensor, decorators=(*tensor.decorators, unset_decorator("name")))
        if tensor.name:
            return tensor
        return Tensor(tensor.type, tensor.data, None, tensor.decorators)

    _TensorRewriter(count).rewrite(graphs, nodes)
    if counts[""] <= counts[None]:
        return False
    _TensorRewriter(settle).rewrite(graphs, nodes)
    return True


class _TensorRewriter(Rewriter):
    """Replaces each tensor except dense initializers by `change(tensor)`."""

    def __init__(self, change: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self._change = change

    def tensor(self, tensor: Tensor, name: str | None) -> Tensor:
        return self._change(tensor)

    def rewrite(self, graphs: list[Graph | Function], nodes: list[Node]) -> None:
        """Rewrite graphs in place; `nodes` are all their nodes with tensors in attributes."""
        self.attributes_of(graphs, nodes)
        for value in [value for graph in graphs for value in graph.values]:
            if isinstance(value.data, SparseTensor):
                # Leave `values` unchanged: its name is the name of the initializer.
                value.data = replace(value.data, indices=self._change(value.data.indices))


_A = AttributeType
_TENSOR_TYPES = frozenset((_A.TENSOR, _A.TENSORS, _A.SPARSE_TENSOR, _A.SPARSE_TENSORS))


def _has_tensors(attributes: tuple[Attribute, ...]) -> bool:
    return any(item.type in _TENSOR_TYPES for item in attributes)
