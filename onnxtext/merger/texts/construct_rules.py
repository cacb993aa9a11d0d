# SPDX-License-Identifier: Apache-2.0
"""Rules for merging each construct of the grammar: as a list, part by part, or as a conflict."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from onnxtext.ast.model import Node
from onnxtext.ast.visit import attribute_graphs
from onnxtext.checker.context.checked_model import operator_key
from onnxtext.diagnostics import OnnxTextError
from onnxtext.format.concrete_syntax_tree import Tree
from onnxtext.merger.renames import NodeMeaning, Renames, are_contradictory
from onnxtext.merger.texts.item_keys import output_names
from onnxtext.merger.texts.merged_tree import MergedItem
from onnxtext.merger.texts.text_parts import Item, TextPart
from onnxtext.source import SECTIONS, Source
from onnxtext.syntax.parse import parse_fragment

STATEMENTS = frozenset(
    (
        "head", "header", "graph", "function", "section", "header_entry", "value_info", "node",
        "metadata_item", "annotation", "training_item", "resource", "parameter",
    )
)  # fmt: skip
"""Constructs around which conflict markers can be written."""

GRAPHS = frozenset(("graph", "graph_value", "function"))
LISTS = frozenset(
    (
        "header", "header_value", "inputs", "values", "body", "parameters", "attributes",
        "decorators", "section", "metadata_item", "annotation", "training_item", "record",
    )
)  # fmt: skip
OPTIONAL = frozenset(("values", "attributes", "decorators", "section"))
"""Lists whose absence has the same meaning as an empty list."""
MERGE_IF_BOTH_ADD = OPTIONAL | {"header", "header_value", "metadata_item", "inputs", "body"}
"""Lists that are merged item by item if both sides add them in different forms."""
PARTS = frozenset(
    ("head", "graph", "graph_value", "function", "header_entry", "value_info", "node", "attribute",
     "output", "training_item")
)  # fmt: skip
"""Constructs whose parts are matched by role (`roles_of`) and merged one by one."""
CONTAINERS = frozenset(
    ("head", "header", "graph", "function", "inputs", "values", "body", "section", "metadata_item")
)
"""Constructs that hold statements."""
WITHOUT_COMMAS = frozenset(("body", "section", "metadata_item", "decorators", ""))
_DEPENDENT_PARTS = {
    "value_info": ({"type"}, {"=", "data"}),
    "attribute": ({":", "attribute_type"}, {"attribute_value"}),
    "node": ({"operator", "overload"}, {"attributes", "names"}),
}
"""For each construct, two sets of parts that depend on each other.

The construct is a conflict if one side changes a part of the first set, and the other side changes
a part of the second set.
"""
BLOB = re.compile(r'blob"([0-9a-f]+)"')
"""Matches a reference to a blob, even inside strings and comments."""


class MergeConflict(Exception):
    """Both sides changed a part in different ways.

    The conflict is then marked around the innermost enclosing construct that allows conflict
    markers.
    """


def are_equivalent(left: TextPart, right: TextPart) -> bool:
    """Whether two constructs certainly have the same meaning; layout and spelling are ignored.

    If False, the meanings may be equal or differ.
    """
    if left.token_texts() == right.token_texts():
        return True
    if left.origin not in ("node", "value_info", "function") or left.origin != right.origin:
        return False
    parsed = _parse_statements(left, right)
    return bool(parsed and parsed[0] == parsed[1])


def _parse_statements(*parts: TextPart) -> list[Any]:
    """Parse statements of the same kind, and return their syntax trees.

    Return [] if a statement cannot be parsed outside of its context.
    """
    try:
        return [parse_fragment(Source(part.body), parts[0].origin).item for part in parts]
    except OnnxTextError:
        return []


def define_alike(ours: TextPart, theirs: TextPart) -> bool:
    """Whether two new nodes or values differ at most in decorators and in types of outputs.

    Return False for other constructs.
    """
    if ours.origin not in ("node", "value_info") or ours.origin != theirs.origin:
        return False
    mine, others = [
        {
            role: output_names(part.tree) if role == "outputs" else part.token_texts()
            for role, (_, part) in roles_of(side).items()
            if role != "decorators"
        }
        for side in (ours, theirs)
    ]
    return mine == others


def are_decorated(*versions: TextPart) -> bool:
    """Whether all constructs consist of optional decorators and an element of the same kind.

    For example, the elements are two graphs in attributes, one of which has the decorator `@doc`.
    """
    if any(getattr(part.tree, "alias", "") != "decorated_element" for part in versions):
        return False
    kinds = [[child.origin for child in part.children()][-1] for part in versions]
    return len(set(kinds)) == 1


def are_metadata(*versions: TextPart) -> bool:
    """Whether constructs are `@meta` decorators, whose entries are merged one by one.

    A `@device` decorator is merged as a whole, because its entries depend on each other.
    """
    return all(part.origin == "decorator" and part.body.startswith("@meta(") for part in versions)


def holds_statements(part: TextPart) -> bool:
    """Whether a construct may contain statements, such as the nodes of a graph."""
    return part.origin in CONTAINERS or (part.origin not in _LEAVES and "=>" in part.body)


_LEAVES = frozenset(("type", "data", "decorator", "label", "names", "operator"))


def token_texts(parts: Sequence[TextPart]) -> list[str]:
    """Return the token texts of all parts, in order."""
    return [token for part in parts for token in part.token_texts()]


def is_blob(part: TextPart) -> bool:
    """Whether an entry of the section `resources` is a blob; False for the path of a store."""
    return isinstance(part.tree, Tree) and part.tree.alias != "resource_place"


def punctuation(part: TextPart) -> str:
    """Return the text of a part that is a punctuation token; "" for other parts."""
    return "" if isinstance(part.tree, Tree) else part.tree.text


def has_new_comments(base: Item | None, changed: Item | None) -> bool:
    """Whether `changed` has comments that `base` lacks; False if either is None."""
    if base is None or changed is None:
        return False
    return bool(changed.comments() - base.comments())


def can_be_marked(versions: tuple[Item | None, Item | None, Item | None]) -> bool:
    """Whether conflict markers fit around an item.

    They fit around a statement, and around an attribute that begins a line in all versions.
    """
    present = [item for item in versions if item is not None]
    if present[0].part.origin in STATEMENTS:
        return True
    return present[0].part.origin == "attribute" and all("\n" in item.lead for item in present)


def roles_of(part: TextPart) -> dict[str, tuple[str, TextPart]]:
    """Map the role of each part of a construct to (whitespace and comments before it, the part).

    The role is the grammar rule or token of the part. The role of a part after `=>` gets the suffix
    ` =>`. A repeated role gets the suffix `'`.
    """
    result: dict[str, tuple[str, TextPart]] = {}
    offset = part.start
    suffix = ""
    for child in part.children():
        role = child.origin + suffix
        while role in result:
            role += "'"
        result[role] = (part.source[offset : child.start], child)
        if child.origin == "=>":
            suffix = " =>"
        offset = child.end
    return result


def check_dependent_parts(
    base: TextPart, ours: TextPart, theirs: TextPart, renames: tuple[Renames, Renames]
) -> None:
    """Check that the sides did not change parts that depend on each other.

    Raises:
        MergeConflict: one side changed a part in one set of `_DEPENDENT_PARTS`, and the other side
            a part in the other set. Equal changes of both sides do not count; nor do renames in
            nodes.
    """
    if base.origin not in _DEPENDENT_PARTS:
        return
    roles = [role for group in _DEPENDENT_PARTS[base.origin] for role in group]
    before, our_roles, their_roles = [
        {role: found[role][1].token_texts() for role in roles if role in found}
        for found in map(roles_of, (base, ours, theirs))
    ]
    by_us = {role for role in roles if our_roles.get(role) != before.get(role)}
    by_them = {role for role in roles if their_roles.get(role) != before.get(role)}
    alike = {role for role in by_us & by_them if our_roles.get(role) == their_roles.get(role)}
    first, second = _DEPENDENT_PARTS[base.origin]
    for one, other in ((by_us, by_them), (by_them, by_us)):
        if (one - alike) & first and (other - alike) & second:
            if base.origin == "node" and _nodes_agree(base, ours, theirs, renames):
                return
            raise MergeConflict


def _nodes_agree(
    base: TextPart, ours: TextPart, theirs: TextPart, renames: tuple[Renames, Renames]
) -> bool:
    """Whether two edits of a node certainly agree; renamed values and functions are ignored."""
    parsed = _parse_statements(base, ours, theirs)
    return bool(parsed) and not are_contradictory(renames, *map(_meaning, parsed))


def only_inputs_renamed(base: TextPart | None, side: TextPart | None, renames: Renames) -> bool:
    """Whether a node differs from its base only in the names of inputs that a side has renamed.

    Return False if `base` or `side` is None, or if `base` is not a node.
    """
    if base is None or side is None or base.origin != "node":
        return False
    parsed = _parse_statements(base, side)
    if not parsed:
        return False
    before, after = parsed
    same = replace(before, inputs=()) == replace(after, inputs=())
    return bool(same) and renames.inputs_differ_only_by_renames(before.inputs, after.inputs)


def _meaning(node: Node) -> NodeMeaning:
    attributes = [
        replace(attribute, value=None) if list(attribute_graphs([attribute])) else attribute
        for attribute in node.attributes
    ]
    return NodeMeaning(operator_key(node), node.inputs, attributes)


def top_level_rank(merged_item: MergedItem) -> int:
    """Return a sort key of a top-level item: header, graph, functions, then the sections."""
    match merged_item.origin:
        case "head":
            return -3
        case "graph":
            return -2
        case "function":
            return -1
    item = next(item for item in merged_item.versions if item is not None)
    word = item.part.token_texts()[0]
    return SECTIONS.index(word) if word in SECTIONS else len(SECTIONS)
