# SPDX-License-Identifier: Apache-2.0
"""The actions of the grammar rules, which build the syntax tree.

An action has the name of its rule or alias in the grammar. Actions are pure functions of their
children, except that they may extend a list, which has no other owner. So the compiled core may
call actions later, or once for equal texts.
"""

from __future__ import annotations

from onnxtext.syntax.actions import (
    attribute_values,
    attributes,
    graphs_and_nodes,
    headers,
    lists,
    models,
    records,
    resources,
    schemas,
    sections,
    strings,
    tensor_literals,
    tensors,
    types,
)
from onnxtext.syntax.actions.registry import ACTIONS, LOCATED

__all__ = [
    "ACTIONS",
    "LOCATED",
    "attribute_values",
    "attributes",
    "graphs_and_nodes",
    "headers",
    "lists",
    "models",
    "records",
    "resources",
    "schemas",
    "sections",
    "strings",
    "tensor_literals",
    "tensors",
    "types",
]
