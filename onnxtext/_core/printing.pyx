# SPDX-License-Identifier: Apache-2.0
"""Nodes to text: what `GraphPrinter.node_text` does for each, for the plainest of them."""
from cpython.exc cimport PyErr_CheckSignals

cdef enum:
    UNINTERRUPTED = 1 << 14


def print_nodes(
    nodes, str indent, names, dict words, dict types, dict attributes, make_word, make_type,
    make_attributes, make_node,
):
    """The texts of nodes, each behind the indentation.

    Args:
        nodes: the nodes.
        indent: the indentation.
        names: to names as values have them, their texts; finds those that are missing.
        words: to other names, their texts.
        types: to the identity of a type its text.
        attributes: to the identity of attributes their text, or None if it takes several lines.
        make_word: the text of a name that is not in `words`.
        make_type: that of a type that is not in `types`.
        make_attributes: that of attributes that are not in `attributes`.
        make_node: the text of a node with decorators, a domain, an overload, no operator, no
            outputs, or attributes on several lines.
    """
    cdef list parts = []
    cdef int patience = UNINTERRUPTED
    for node in nodes:
        patience -= 1
        if not patience:
            PyErr_CheckSignals()
            patience = UNINTERRUPTED
        text = None
        if not node.decorators and node.domain is None and node.overload is None and node.outputs:
            text = plain_text(
                node, indent, names, words, types, attributes, make_word, make_type, make_attributes
            )
        parts.append(indent + make_node(node, indent) if text is None else text)
    return "\n".join(parts)


cdef object plain_text(
    node, str indent, names, dict words, dict types, dict attributes, make_word, make_type,
    make_attributes,
):
    cdef str operator, outputs, inputs, label = "", between = ""
    op_type = node.op_type
    if not op_type:
        return None
    operator = words.get(op_type)
    if operator is None:
        operator = words[op_type] = make_word(op_type)
    held = node.attributes
    if held:
        key = <size_t><void*>held
        flat = attributes.get(key, False)
        if flat is False:
            flat = attributes[key] = make_attributes(held)
        if flat is None:
            return None
        between = f" <{flat}>"
    if node.name is not None:
        label = f"[{make_word(node.name) if node.name else ''}] "
    if node.output_types:
        outputs = typed_outputs(node, names, types, make_type)
    else:
        outputs = ", ".join([names[name] for name in node.outputs])
    inputs = ", ".join([names[name] for name in node.inputs])
    return f"{indent}{label}{outputs} = {operator}{between} ({inputs})"


cdef str typed_outputs(node, names, dict types, make_type):
    cdef list texts = []
    for name, type in zip(node.outputs, node.output_types, strict=True):
        text = names[name]
        if type is not None:
            known = types.get(<size_t><void*>type)
            text = f"{make_type(type) if known is None else known} {text}"
        texts.append(text)
    return ", ".join(texts)
