# SPDX-License-Identifier: Apache-2.0
"""Convert the nodes of a model to another version of an operator set.

`plan_conversion` plans the conversion of each node. A node is unchanged if its operator has the
same schema in both versions. Otherwise the node is converted in steps, one for each version in
between that changed the operator (`version_steps`). `table` has the rule of each step. If the
operator does not exist in the older version, a rule of `table` or its function body (`inlining`)
replaces the node.
"""

from __future__ import annotations

from onnxtext.editing.opsets.conversion_diagnostics import ConversionError, remark_diagnostics
from onnxtext.editing.opsets.plan import (
    ConversionPlan,
    Targets,
    check_version,
    convert,
    plan_conversion,
)

__all__ = [
    "ConversionError", "ConversionPlan", "Targets", "check_version", "convert", "plan_conversion",
    "remark_diagnostics",
]  # fmt: skip
