# SPDX-License-Identifier: Apache-2.0
"""The actions of the grammar rules, which build the syntax tree.

An action has the name of its rule or alias in the grammar. Its arguments are the values of the
rule's symbols. Without an action, the value of a rule is that of its only named symbol.

An action has no side effects, except that it may change its arguments.
Therefore the native core may delay the call of an action, or call it once for several equal texts.
"""

from __future__ import annotations

from onnxtext.syntax.actions import (  # noqa: F401 (the modules register their actions)
    attribute_values,
    attributes,
    graphs_and_nodes,
    headers,
    lists,
    metadata_section,
    models,
    records_and_decorators,
    resources,
    schemas,
    sections,
    strings,
    tensors,
    types,
    unparsed_literals,
)
from onnxtext.syntax.actions.registry import ACTIONS, LOCATED

__all__ = ["ACTIONS", "LOCATED"]
