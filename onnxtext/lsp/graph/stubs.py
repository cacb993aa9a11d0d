# SPDX-License-Identifier: Apache-2.0
"""Describe the attributes of nodes, and the inputs that are drawn as stubs.

A stub is a label at the node in place of an edge. Constants, and values with many users, are drawn
as stubs.
"""

from __future__ import annotations

import re
from typing import Any

from onnxtext.ast.model import Graph, Node, ValueInfo
from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.checker.context.operator_resolution import resolve_targets
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import Signature
from onnxtext.lsp.index.document import Document
from onnxtext.lsp.index.operators import value_text

_MAX_TEXT_LENGTH = 24
_CONSTANT = re.compile(r"Constant\s*<\s*\w+(?:\s*:\s*\w+)?\s*=\s*(.*?)>\s*\(", re.DOTALL)
_TYPE = re.compile(r"^\w+(?:\[[^\]]*\])?\s+(?=[\[{\w.\-\"])")
"""Matches the type of a tensor at the start of its literal; the elements follow."""
_SCALAR = re.compile(r"^(?:\w+\(|\{)([^(){},]*)[)}]$")
_WHOLE = re.compile(r"[\[{][^:]*[\]}]|-?[\w.+\-]+|\".*\"")
"""Matches a complete literal, but neither a truncated one nor a reference such as `blob"…"`."""
_MAX_TEXT = 200
_MAX_DETAIL_LENGTH = 120


def input_stub(
    document: Document,
    scope: Scope,
    index: int,
    slot: int,
    owner: Scope,
    constant: Node | ValueInfo | None,
) -> dict[str, Any]:
    """Return the stub of the input `slot` of a node, in the format for the client.

    `index` is the index of the node in `scope`; `owner` is the graph or function that defines the
    value. `constant` is the initializer, or the `Constant` node that computes the value; None for
    other values.
    """
    name = scope.nodes[index].inputs[slot]
    return {
        "label": formal_name(document, scope, index, slot),
        "value": name,
        "text": "" if constant is None else _short_value(document, constant),
        "type": document.type_of(owner, name) or "",
        "constant": constant is not None,
    }


def formal_name(
    document: Document, scope: Scope, index: int, slot: int, output: bool = False
) -> str:
    """Return the formal name of a node's input or output, such as `X`; "" if unknown.

    The name comes from the schema of the operator, or from the called function. `index` is the
    index of the node in `scope`; `slot` is the index of its input or, with `output`, its output.
    """
    subject = document.version.index.subject
    assert subject is not None
    target = resolve_targets(subject)[id(scope)][index]
    if isinstance(target, Signature):
        formals = target.outputs if output else target.inputs
        formal = formals[min(slot, len(formals) - 1)] if formals else None
        return "" if formal is None else formal.name
    if isinstance(target, Scope):
        values = target.outputs if output else target.inputs
        return values[slot].name if slot < len(values) else ""
    return ""


def _short_value(document: Document, constant: Node | ValueInfo) -> str:
    """Return the value of a constant as it is spelled in the text.

    Return "" if it is long, or is not a literal such as a number, a string or a list.
    """
    offset = document.version.index.original(constant).at
    if offset < 0:
        return ""
    text = document.version.text[offset : offset + _MAX_TEXT]
    if isinstance(constant, Node):
        match = _CONSTANT.search(text)
        text = "" if match is None else match.group(1)
        text = _TYPE.sub("", text)
    else:
        text = text.partition("\n")[0].rstrip().partition(" = ")[2].removesuffix(",")
    text = _SCALAR.sub(r"\1", " ".join(text.split()))
    return "" if len(text) > _MAX_TEXT_LENGTH or not _WHOLE.fullmatch(text) else text


def attribute_summary(node: Node) -> str:
    """Return the first attributes of a node as a short text."""
    return shorten(", ".join(map(_short, node.attributes[:8])), _MAX_DETAIL_LENGTH)


def shorten(text: str, longest: int) -> str:
    """Return a text; if it is longer than `longest`, cut it to this length, with a final `…`."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _short(attribute: Attribute) -> str:
    value = attribute.value
    if isinstance(value, Graph):
        return f"{attribute.name} = {value.name}"
    return f"{attribute.name} = {value_text(value)}"
