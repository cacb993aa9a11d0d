# SPDX-License-Identifier: Apache-2.0
"""Compute keys that identify the items of a list across the versions of a text."""

from __future__ import annotations

from collections.abc import Hashable

from onnxtext.ast.model import Node, ValueInfo
from onnxtext.format.concrete_syntax_tree import Tree
from onnxtext.format.token_text import decode_token, only_token
from onnxtext.format.tokens_with_comments import CommentedToken, read_tokens
from onnxtext.merger.texts.text_parts import TextPart


def key_of(part: TextPart) -> Hashable:
    """Return the key of an item; None if only its text identifies it.

    The key of a node is its outputs. The key of a function is its domain, name and overload (IR
    spec, Functions). The key of another statement is its name (IR spec, Names Within a Graph).
    """
    match part.item:
        case Node():
            return outputs_of(part)
        case ValueInfo(name) if name:
            return name
    tree = part.tree
    if isinstance(tree, CommentedToken):
        return tree.text
    match tree.origin:
        case "node":
            return outputs_of(part)
        case "head":
            return "header"
        case "graph":
            return "graph"
        case "function":
            return ("function", *_function(tree))
        case "section":
            return ("section", _first_token(tree), _name(tree, "name"))
        case "value_info":
            return _name(tree, "name", "value_name")
        case "parameter" | "attribute":
            return _name(tree.child("attribute") or tree, "name")
        case "header_entry" | "training_item":
            return _first_token(tree)
        case "header_item":
            return _header_item(tree)
        case "decorator":
            return _decorator(tree)
        case "metadata_item":
            return _words(tree, "{") if tree.alias == "metadata_block" else _words(tree, ":")
        case "annotation" | "resource" | "field" | "record_field" | "pair":
            return _words(tree, ":")
    return None


def label_of(part: TextPart) -> Hashable:
    """Return the label (the ONNX node name) of a node; None if it has no label."""
    if isinstance(part.item, Node) and part.item.name != "":
        return None if part.item.name is None else (part.item.name,)
    label = part.tree.child("label") if isinstance(part.tree, Tree) else None
    return None if label is None else tuple(_token_values(label)[1:-1]) or None


def content_of(part: TextPart) -> Hashable:
    """Return the content of a node, initializer, metadata block or function without its name.

    The content of a node is its operator, inputs and attributes. The content of an initializer is
    its type and data; of a metadata block, its entries; of a function, everything except domain,
    name and overload. Return None for other items, and for a metadata block without entries.
    """
    if (node := _plain_node(part)) is not None:
        commas = [","] * (2 * len(node.inputs) - 1)
        commas[::2] = node.inputs
        return ((node.op_type,), (), tuple(commas)), ()
    tree = part.tree
    if isinstance(tree, CommentedToken):
        return None
    if tree.origin == "node":
        roles = ("operator", "overload", "names")
        fixed = tuple([_without_last_commas(_token_values(tree.child(role))) for role in roles])
        attributes = tree.child("attributes")
        if attributes is None:
            return fixed, ()
        return fixed, _without_last_commas([token.text for token in attributes.tokens()])
    if tree.origin == "value_info" and tree.alias == "initializer":  # dense or sparse
        parts = [p for p in tree.trees() if p.origin in ("type", "data")]
        return tuple([_without_last_commas([token.text for token in p.tokens()]) for p in parts])
    if tree.origin == "metadata_item":
        inside = tree.child("metadata_items")
        return None if inside is None else tuple([token.text for token in inside.tokens()]) or None
    return _definition(part, tree) if tree.origin == "function" else None


def form_of(part: TextPart) -> Hashable:
    """Return the operator and attributes of a node, without its label; `part` must be a node."""
    content = content_of(part)
    if not isinstance(content, tuple) or len(content) != 2:
        return None
    (operator, overload, _), attributes = content
    return operator, overload, attributes


def signature_of(part: TextPart) -> Hashable:
    """Return the inputs, outputs and parameters of a function, and the outputs of its nodes.

    Return None for other items.
    """
    tree = part.tree
    if not isinstance(tree, Tree) or tree.origin != "function":
        return None
    heads = [p for p in tree.trees() if p.origin in ("parameters", "parameter_list")]
    tokens = [tuple([token.text for token in head.tokens()]) for head in heads]
    nodes = tree.required("body").required("nodes").trees()
    parts = [TextPart.of(part.source, node) for node in nodes]
    return tuple(tokens), tuple([outputs_of(node) for node in parts if node is not None])


def body_of(part: TextPart) -> Hashable:
    """Return the tokens of a function's body; None if it has no nodes, or for other items."""
    if not isinstance(part.tree, Tree) or part.tree.origin != "function":
        return None
    body = TextPart.of(part.source, part.tree.required("body"))
    tokens = [] if body is None else [token.text for token in read_tokens(body.body) if token.text]
    return tuple(tokens) if len(tokens) > 2 else None  # the brackets are two tokens


def kind_of(part: TextPart) -> Hashable:
    """Return a property of an item that usually stays equal if the item is replaced in place.

    The property is the operator of a node, the type of a value, or the kind of a metadata block.
    Return None for other items.
    """
    node = part.item
    if isinstance(node, Node) and node.domain is None and node.overload is None:
        return "operator", node.op_type
    if isinstance(part.tree, CommentedToken):
        return None
    if part.tree.origin == "metadata_item":
        return _first_token(part.tree) if part.tree.alias == "metadata_block" else None
    role = "operator" if part.tree.origin == "node" else "type"
    child = part.tree.child(role)
    return None if child is None else (role, *_token_values(child))


def _plain_node(part: TextPart) -> Node | None:
    """Return the AST of an untokenized node; None if its keys cannot be computed without tokens."""
    node = part.item
    if not isinstance(node, Node) or node.attributes or not all(node.inputs):
        return None
    return node if node.domain is None and node.overload is None else None


def inputs_of(part: TextPart) -> tuple[str, ...]:
    """Return the input names of a node; () for other items."""
    if isinstance(part.item, Node):
        return part.item.inputs
    names = part.tree.child("names") if isinstance(part.tree, Tree) else None
    if names is None:
        return ()
    result: list[str | None] = [None]
    for token in names.tokens():
        if token.text == ",":
            result.append(None)
        else:
            result[-1] = decode_token(token)
    return tuple([name or "" for name in (result if result[-1] is not None else result[:-1])])


def outputs_of(part: TextPart) -> tuple[str, ...] | None:
    """Return the output names of a node; None for a node without outputs, and for other items."""
    if isinstance(part.item, Node) and all(part.item.outputs):
        return part.item.outputs or None
    outputs = part.tree.child("outputs") if isinstance(part.tree, Tree) else None
    return None if outputs is None else tuple(output_names(outputs)) or None


def output_names(outputs: Tree | CommentedToken) -> list[str]:
    """Return the names in the list of a node's outputs."""
    assert isinstance(outputs, Tree)
    names = [output.child("name") for output in outputs.trees()]
    return [decode_token(only_token(name)) for name in names if name is not None]


def _function(tree: Tree) -> tuple[str, str, str]:
    """Return the domain, name and overload of a function."""
    words = {"domain": "", "overload": ""}
    for entry in _header_entries(tree):
        key, value = entry.trees()
        tokens = list(value.tokens())
        words[only_token(key).text] = decode_token(tokens[0]) if len(tokens) == 1 else ""
    return words["domain"], str(_name(tree, "name")), words["overload"]


def _definition(part: TextPart, tree: Tree) -> Hashable:
    """Return the tokens of a function without its domain, name and overload."""
    named = [entry for entry in _header_entries(tree) if _first_token(entry) in _FUNCTION_NAMES]
    left_out = {
        token.at for subtree in (*named, tree.required("name")) for token in subtree.tokens()
    }
    tokens = read_tokens(part.body)  # the tree has statements that are not tokenized
    kept = [token.text for token in tokens if token.at + part.start not in left_out]
    return _without_last_commas(kept)


_FUNCTION_NAMES = ("domain", "overload")


def _header_entries(tree: Tree) -> list[Tree]:
    header = tree.child("header")
    entries = None if header is None else header.child("header_entries")
    return [] if entries is None else entries.trees()


def _header_item(tree: Tree) -> Hashable:
    if tree.alias == "bare_opset_item":
        return "item", ""
    if tree.alias in ("opset_item", "metadata_item"):
        return "item", *_words(tree, ":")
    return tuple([token.text for token in tree.tokens()])


def _decorator(tree: Tree) -> Hashable:
    """Return the name of a decorator, and the key of `@meta` or the configuration of `@device`."""
    name = _first_token(tree)
    if name not in ("@meta(", "@device("):
        return name
    fields = tree.child("fields_")
    first = None if fields is None else next(iter(fields.trees()), None)
    return name, *(() if first is None else _words(first, ":"))


def _name(tree: Tree, *origins: str) -> str | None:
    child = tree.child(*origins)
    return None if child is None else decode_token(only_token(child))


def _first_token(tree: Tree) -> str:
    part = tree.parts[0]
    return (part if isinstance(part, CommentedToken) else only_token(part)).text


def _words(tree: Tree, end: str) -> tuple[str, ...]:
    """Return the tokens of a tree before the punctuation `end`; strings are decoded."""
    words = []
    for part in tree.parts:
        if isinstance(part, CommentedToken) and part.text == end:
            break
        words += _token_values(part)
    return tuple(words)


def _token_values(tree: Tree | CommentedToken | None) -> list[str]:
    if tree is None:
        return []
    tokens = [tree] if isinstance(tree, CommentedToken) else tree.tokens()
    return [decode_token(token) for token in tokens]


def _without_last_commas(texts: list[str]) -> tuple[str, ...]:
    """Remove each comma that precedes a closing bracket or is the last of `texts`."""
    return tuple(
        [
            text
            for text, following in zip(texts, [*texts[1:], ")"], strict=False)
            if text != "," or following not in _CLOSING
        ]
    )


_CLOSING = (")", ">", "]", "}")
