# SPDX-License-Identifier: Apache-2.0
"""What is known of the constructs of the language, for merging them."""

from __future__ import annotations

from collections.abc import Sequence

from onnxtext.diagnostics import OnnxTextError
from onnxtext.format.tree import Tree
from onnxtext.merge.outcome import Chunk
from onnxtext.merge.versions import Item, Part
from onnxtext.source import Source

STATEMENTS = frozenset(
    (
        "head", "header", "graph", "function", "section", "header_entry", "value_info", "node",
        "metadata_item", "annotation", "training_item", "resource", "parameter",
    )
)  # fmt: skip
"""What a conflict is marked around."""

GRAPHS = frozenset(("graph", "graph_value", "function"))
LISTS = frozenset(
    (
        "header", "header_value", "inputs", "values", "body", "parameters", "attributes",
        "decorators", "section", "metadata_item", "annotation", "training_item", "record",
    )
)  # fmt: skip
OPTIONAL = frozenset(("values", "attributes", "decorators", "section"))
"""Lists that say the same if they are empty as if they are absent."""
UNITED = OPTIONAL | {"header", "header_value", "metadata_item", "inputs", "body"}
"""Lists of which both sides may add one of their own."""
PARTS = frozenset(
    ("head", "graph", "graph_value", "function", "header_entry", "value_info", "node", "attribute",
     "output", "training_item")
)  # fmt: skip
CONTAINERS = frozenset(
    ("head", "header", "graph", "function", "inputs", "values", "body", "section", "metadata_item")
)
"""Constructs that hold statements."""
UNCOMMAED = frozenset(("body", "section", "metadata_item", "decorators", ""))
_TOGETHER = {
    "value_info": ({"type"}, {"=", "data"}),
    "attribute": ({":", "attribute_type"}, {"attribute_value"}),
    "node": ({"operator", "overload"}, {"attributes", "names"}),
}
"""Parts that only make sense together: one side must not change some, and the other the others."""
_RANKS = ("metadata", "quantization", "training", "configuration", "encoding", "resources")
"""The order of the sections (SPEC 13)."""


class Clash(Exception):
    """Both sides have changed something, each in its own way, where no conflict can be marked."""


def say_the_same(one: Part, other: Part) -> bool:
    """Whether two constructs differ in their layout only."""
    if one.tokens() == other.tokens():
        return True
    if one.origin not in ("node", "value_info", "function") or one.origin != other.origin:
        return False
    from onnxtext.syntax.parse import parse_start

    try:
        made = [parse_start(Source(part.body), f"{part.origin}_fragment") for part in (one, other)]
    except OnnxTextError:  # it means something in its place only
        return False
    return bool(made[0] == made[1])


def holds_statements(part: Part | None) -> bool:
    """Whether statements stand in a construct, in graphs for example."""
    if part is None:
        return False
    return part.origin in CONTAINERS or (part.origin not in _LEAVES and "=>" in part.body)


_LEAVES = frozenset(("type", "data", "decorator", "label", "names", "operator"))


def words(parts: Sequence[Part]) -> list[str]:
    """What some parts say, one after the other."""
    return [token for part in parts for token in part.tokens()]


def is_blob(part: Part) -> bool:
    """Whether an entry of the resources is a blob, not the name of a place."""
    return isinstance(part.tree, Tree) and part.tree.alias != "resource_place"


def mark_of(part: Part) -> str:
    """The punctuation that a part is; "" for any other."""
    return "" if isinstance(part.tree, Tree) else part.tree.text


def has_new_comments(base: Item | None, changed: Item | None) -> bool:
    """Whether what one side has deleted got comments on the other."""
    if base is None or changed is None:
        return False
    return bool(changed.comments() - base.comments())


def can_be_marked(versions: tuple[Item | None, Item | None, Item | None]) -> bool:
    """Whether a conflict can be marked around an item: it is a statement, or on its own line."""
    known = [item for item in versions if item is not None]
    if known[0].part.origin in STATEMENTS:
        return True
    return known[0].part.origin == "attribute" and all("\n" in item.lead for item in known)


def roles_of(part: Part) -> dict[str, tuple[str, Part]]:
    """The parts of a construct by what they are in it, with the blanks before them."""
    found: dict[str, tuple[str, Part]] = {}
    at = part.start
    behind = ""
    for child in part.children():
        role = child.origin + behind
        while role in found:
            role += "'"
        found[role] = (part.source[at : child.start], child)
        if child.origin == "=>":
            behind = " =>"
        at = child.end
    return found


def check_together(
    origin: str,
    base: dict[str, tuple[str, Part]],
    ours: dict[str, tuple[str, Part]],
    theirs: dict[str, tuple[str, Part]],
) -> None:
    """Refuse changes that only make sense with what the other side has changed."""
    if origin not in _TOGETHER:
        return
    roles = [role for group in _TOGETHER[origin] for role in group]
    told = [{r: v[r][1].tokens() for r in roles if r in v} for v in (base, ours, theirs)]
    by_us = {role for role in roles if told[1].get(role) != told[0].get(role)}
    by_them = {role for role in roles if told[2].get(role) != told[0].get(role)}
    alike = {role for role in by_us & by_them if told[1].get(role) == told[2].get(role)}
    one, other = _TOGETHER[origin]
    for mine, others in ((by_us, by_them), (by_them, by_us)):
        if (mine - alike) & one and (others - alike) & other:
            raise Clash


def rank(chunk: Chunk) -> int:
    """Where something stands at the top level: header, graph, functions, sections."""
    match chunk.origin:
        case "header" | "head":
            return -3
        case "graph":
            return -2
        case "function":
            return -1
    item = next(item for item in chunk.versions if item is not None)
    word = item.part.tokens()[0]
    return _RANKS.index(word) if word in _RANKS else len(_RANKS)
