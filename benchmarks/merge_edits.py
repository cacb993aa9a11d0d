# SPDX-License-Identifier: Apache-2.0
"""Generate pairs of edits of a model, and the expected merge of each pair."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import onnxtext
from onnxtext.ast import Attribute, AttributeType, Blob, Model, Node, RawData, TensorType, ValueInfo
from onnxtext.ast.records import Decorator, Field
from onnxtext.ast.visit import walk_nodes
from onnxtext.printer import print_model

Change = Callable[[Model], None]
Maker = Callable[[Model, int, random.Random], "Edit | None"]
"""Returns a random edit of the node with an index, without editing; None if it is impossible."""
KINDS = ("apart", "adjacent", "insert", "reorder")
"""Relations of two edits: any two layers; adjacent layers; one inserts a node beside the layer that
the other edits; one reorders the model."""


@dataclass(frozen=True)
class Edit:
    """A change of a model.

    Attributes:
        name: its description.
        change: applies it.
        touched: the names that the changed statements define.
    """

    name: str
    change: Change
    touched: frozenset[str]


@dataclass(frozen=True)
class Pair:
    """Two edits of a model as texts, and the models that either order of the edits gives."""

    name: str
    kind: str
    base: str
    ours: str
    theirs: str
    expected: tuple[Model, ...]

    def is_met_by(self, text: str) -> bool:
        """Whether a text is a correct merge of both edits.

        The order of new nodes is free where the data flow allows it.
        """
        try:
            model = onnxtext.parse(text)
        except onnxtext.OnnxTextError:
            return False
        if model in self.expected:
            return True
        outputs = {node.outputs for node in onnxtext.parse(self.base).graph.nodes}
        found, *wanted = [_apart(one, outputs) for one in (model, *self.expected)]
        return found in wanted and _is_ordered(model, onnxtext.parse(self.ours))


def _apart(model: Model, known: set[tuple[str, ...]]) -> tuple[Model, list[str]]:
    """Return a model without new nodes (outputs not in `known`), and the new nodes, sorted."""
    nodes = model.graph.nodes
    kept = [node for node in nodes if node.outputs in known]
    new = sorted([repr(node) for node in nodes if node.outputs not in known])
    return replace(model, graph=replace(model.graph, nodes=kept)), new


def _is_ordered(model: Model, other: Model) -> bool:
    """Whether a model is sorted topologically; also True if the other model is not sorted."""
    return _is_sorted(model.graph.nodes) or not _is_sorted(other.graph.nodes)


def _is_sorted(nodes: list[Node]) -> bool:
    later = {name for node in nodes for name in node.outputs}
    for node in nodes:
        if later.intersection(node.inputs) - {""}:
            return False
        later -= set(node.outputs)
    return True


def base_model(data: bytes) -> Model | None:
    """Return the syntax tree of a model to edit; None if it has too few nodes."""
    model = onnxtext.parse(onnxtext.from_binary(data))
    model.encoding = None
    return model if len(_layers(model)) > 3 else None


def _layers(model: Model) -> list[int]:
    """Return the indices of the nodes whose first output has a unique name."""
    nodes = model.graph.nodes
    outputs = [name for node in nodes for name in node.outputs if name]
    return [
        index
        for index, node in enumerate(nodes)
        if node.outputs and node.outputs[0] and outputs.count(node.outputs[0]) == 1
    ]


# ---- Edits of one layer -----------------------------------------------------------------------


def _find(model: Model, output: str) -> int:
    return next(index for index, n in enumerate(model.graph.nodes) if n.outputs[:1] == (output,))


def _on_node(output: str, change: Callable[[Node], Node]) -> Change:
    def apply(model: Model) -> None:
        at = _find(model, output)
        model.graph.nodes[at] = change(model.graph.nodes[at])

    return apply


def _bumped(attribute: Attribute) -> Attribute:
    """Return an attribute with its integer, or the last one of its list, increased by one."""
    value = attribute.value
    if isinstance(value, int):
        return replace(attribute, value=value + 1)
    assert isinstance(value, tuple)
    last = value[-1]
    assert isinstance(last, int)
    return replace(attribute, value=(*value[:-1], last + 1))


def attribute(model: Model, at: int, draw: random.Random) -> Edit | None:
    node = model.graph.nodes[at]
    known = [a for a in node.attributes if a.type in (AttributeType.INT, AttributeType.INTS)]
    known = [a for a in known if isinstance(a.value, (int, tuple)) and a.value != ()]
    if not known:
        return None
    name = draw.choice(known).name

    def change(node: Node) -> Node:
        made = [_bumped(a) if a.name == name else a for a in node.attributes]
        return replace(node, attributes=tuple(made))

    return Edit("attribute", _on_node(node.outputs[0], change), frozenset(node.outputs))


def new_attribute(model: Model, at: int, draw: random.Random) -> Edit | None:
    node = model.graph.nodes[at]
    made = Attribute(f"added_{draw.randrange(10**6)}", AttributeType.INT, draw.randrange(100))
    edit = _on_node(
        node.outputs[0], lambda node: replace(node, attributes=(*node.attributes, made))
    )
    return Edit("new attribute", edit, frozenset(node.outputs))


def label(model: Model, at: int, draw: random.Random) -> Edit | None:
    node = model.graph.nodes[at]
    name = f"label_{draw.randrange(10**6)}"
    edit = _on_node(node.outputs[0], lambda node: replace(node, name=name))
    return Edit("label", edit, frozenset(node.outputs))


def operator(model: Model, at: int, draw: random.Random) -> Edit | None:
    node = model.graph.nodes[at]
    name = f"Other{draw.randrange(100)}"
    edit = _on_node(node.outputs[0], lambda node: replace(node, op_type=name))
    return Edit("operator", edit, frozenset(node.outputs))


def documentation(model: Model, at: int, draw: random.Random) -> Edit | None:
    node = model.graph.nodes[at]
    doc = Decorator("doc", (Field(None, f"layer {draw.randrange(10**6)}".encode()),))
    if any(decorator.name == "doc" for decorator in node.decorators):
        return None
    edit = _on_node(node.outputs[0], lambda node: replace(node, decorators=(doc, *node.decorators)))
    return Edit("documentation", edit, frozenset(node.outputs))


def weights(model: Model, at: int, draw: random.Random) -> Edit | None:
    node = model.graph.nodes[at]
    names = {v.name for v in model.graph.values if _is_of_floats(v)}
    mine = [name for name in node.inputs if name in names]
    if not mine:
        return None
    name, salt = draw.choice(mine), draw.randrange(1, 256)

    def change(model: Model) -> None:
        number = next(
            n for n, v in enumerate(model.graph.values) if v.name == name and _is_of_floats(v)
        )
        value = model.graph.values[number]
        if isinstance(value.data, RawData):
            data = bytes(value.data.data)
            made = RawData(bytes([data[0] ^ salt]) + data[1:]) if data else value.data
            model.graph.values[number] = replace(value, data=made)
            return
        assert isinstance(value.data, Blob)
        old = value.data.digest
        digest = next(key for key in model.resources if key.startswith(old))
        data = bytes(model.resources[digest])
        data = bytes([data[0] ^ salt]) + data[1:]
        new = hashlib.sha256(data).hexdigest()[:32]
        model.graph.values[number] = replace(value, data=Blob(new))
        text = print_model(replace(model, resources={}))
        if f'blob"{old}"' in text:
            model.resources[new] = data
        else:  # at the place of the old blob, where the printer puts it
            model.resources = {
                new if key == digest else key: data if key == digest else content
                for key, content in model.resources.items()
            }

    return Edit("weights", change, frozenset([name]))


def _is_of_floats(value: ValueInfo) -> bool:
    """Whether an initializer holds floats, so that any bytes are valid elements."""
    tensor = isinstance(value.type, TensorType) and value.type.element in ("float", "double")
    return tensor and isinstance(value.data, (RawData, Blob))


def _consumers(model: Model, name: str) -> list[int] | None:
    """Return the indices of the nodes that use a value; None if it may have other uses."""
    graph = model.graph
    nodes = [index for index, node in enumerate(graph.nodes) if name in node.inputs]
    known = {value.name for value in (*graph.inputs, *graph.outputs, *graph.values)}
    inner = sum(node.inputs.count(name) for node in walk_nodes(model))
    if name in known or name in graph.value_metadata or graph.quantization or model.training:
        return None
    return nodes if inner == sum(graph.nodes[at].inputs.count(name) for at in nodes) else None


def _renamed(node: Node, old: str, new: str) -> Node:
    return replace(node, inputs=tuple([new if name == old else name for name in node.inputs]))


def insert(model: Model, at: int, draw: random.Random) -> Edit | None:
    """Insert a node after node `at`; the first user of that node's output uses the new output."""
    output = model.graph.nodes[at].outputs[0]
    users = _consumers(model, output)
    if not users:
        return None
    user, name = model.graph.nodes[users[0]].outputs[:1], f"inserted_{draw.randrange(10**6)}"
    if not user:
        return None

    def change(model: Model) -> None:
        nodes = model.graph.nodes
        place = _find(model, user[0])
        nodes[place] = _renamed(nodes[place], output, name)
        nodes.insert(_find(model, output) + 1, Node("Identity", (output,), (name,)))

    return Edit("insert", change, frozenset(user))


def side_branch(model: Model, at: int, draw: random.Random) -> Edit | None:
    """Insert, right after node `at`, a node that uses that node's output."""
    output = model.graph.nodes[at].outputs[0]
    name = f"branch_{draw.randrange(10**6)}"

    def change(model: Model) -> None:
        model.graph.nodes.insert(_find(model, output) + 1, Node("Relu", (output,), (name,)))

    return Edit("side branch", change, frozenset([name]))


def delete(model: Model, at: int, draw: random.Random) -> Edit | None:
    """Remove a node; its users then use its first input."""
    node = model.graph.nodes[at]
    users = _consumers(model, node.outputs[0])
    if len(node.outputs) != 1 or not node.inputs or not node.inputs[0] or users is None:
        return None
    names = [name for user in users for name in model.graph.nodes[user].outputs]
    output, value = node.outputs[0], node.inputs[0]

    def change(model: Model) -> None:
        nodes = model.graph.nodes
        del nodes[_find(model, output)]
        nodes[:] = [_renamed(node, output, value) for node in nodes]

    return Edit("delete", change, frozenset([output, *names]))


def rename(model: Model, at: int, draw: random.Random) -> Edit | None:
    """Rename the first output of a node."""
    output = model.graph.nodes[at].outputs[0]
    users = _consumers(model, output)
    if users is None:
        return None
    name = f"renamed_{draw.randrange(10**6)}"
    names = [name for user in users for name in model.graph.nodes[user].outputs]

    def change(model: Model) -> None:
        nodes = model.graph.nodes
        place = _find(model, output)
        nodes[place] = replace(nodes[place], outputs=(name, *nodes[place].outputs[1:]))
        nodes[:] = [_renamed(node, output, name) for node in nodes]

    return Edit("rename", change, frozenset([output, *names]))


EDITS: tuple[Maker, ...] = (
    attribute, new_attribute, label, operator, documentation, weights, insert, side_branch, delete,
    rename,
)  # fmt: skip

# ---- Edits of all layers ----------------------------------------------------------------------


def reorder(model: Model, draw: random.Random) -> Edit:
    """Return an edit that shuffles value infos, initializers and, within the data flow, nodes."""
    seed = draw.randrange(10**6)

    def change(model: Model) -> None:
        random.Random(seed).shuffle(model.graph.values)
        model.graph.nodes[:] = _another_order(model.graph.nodes, random.Random(seed))

    return Edit("reorder", change, frozenset())


def _another_order(nodes: list[Node], draw: random.Random) -> list[Node]:
    """Return the nodes in a random topological order; unchanged if there is none."""
    place = {name: index for index, node in enumerate(nodes) for name in node.outputs if name}
    users: list[list[int]] = [[] for _ in nodes]
    waiting = [0] * len(nodes)
    for at, node in enumerate(nodes):
        used = {place[name] for inner in walk_nodes(node) for name in inner.inputs if name in place}
        for before in used - {at}:
            users[before].append(at)
            waiting[at] += 1
    ready = [index for index, count in enumerate(waiting) if not count]
    made = []
    while ready:
        at = ready.pop(draw.randrange(len(ready)))
        made.append(nodes[at])
        for user in users[at]:
            waiting[user] -= 1
            if not waiting[user]:
                ready.append(user)
    return made if len(made) == len(nodes) else nodes


# ---- Pairs ------------------------------------------------------------------------------------


def pairs(name: str, data: bytes, count: int, seed: int) -> Iterator[Pair]:
    """Yield up to `count` pairs of edits of different statements; the kinds of pairs take turns."""
    base = base_model(data)
    if base is None:
        return
    draw = random.Random(f"{name} {seed}")
    made = tries = 0
    while made < count and tries < count * 30:
        tries += 1
        kind = KINDS[(made + seed) % len(KINDS)]
        found = _pair_of(base, kind, draw)
        if found is None or found[0].touched & found[1].touched:
            continue
        pair = _texts(f"{name}: {found[0].name}, {found[1].name}", kind, base, *found)
        if pair is not None:
            made += 1
            yield pair


def _pair_of(base: Model, kind: str, draw: random.Random) -> tuple[Edit, Edit] | None:
    layers = _layers(base)
    at = draw.randrange(len(layers) - 1)
    other = at + 1 if kind in ("adjacent", "insert") else draw.randrange(len(layers))
    if other == at:
        return None
    one: Edit | None
    if kind == "reorder":
        one = reorder(base, draw)
    elif kind == "insert":
        one = draw.choice((insert, side_branch))(base, layers[at], draw)
    else:
        one = draw.choice(EDITS)(base, layers[at], draw)
    two = draw.choice(EDITS)(base, layers[other], draw)
    if one is None or two is None:
        return None
    return (one, two) if draw.random() < 0.5 else (two, one)


def _texts(name: str, kind: str, base: Model, one: Edit, two: Edit) -> Pair | None:
    models = []
    for edits in ((), (one,), (two,), (one, two), (two, one)):
        graph = base.graph
        graph = replace(graph, nodes=list(graph.nodes), values=list(graph.values))
        model = replace(base, graph=graph, resources=dict(base.resources))
        for edit in edits:
            edit.change(model)
        models.append(model)
    texts = [print_model(model) for model in models]
    if len(set(texts[:3])) < 3:
        return None
    expected = tuple([onnxtext.parse(text) for text in texts[3:]])
    return Pair(name, kind, texts[0], texts[1], texts[2], expected)
