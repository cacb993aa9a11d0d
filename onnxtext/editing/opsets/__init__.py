# SPDX-License-Identifier: Apache-2.0
"""Convert the nodes of a model to another version of an operator set.

`plan_conversion` finds what each node needs. A node is unchanged if its operator has the same
schema in both versions. Otherwise it takes one step for each version in between that changed the
operator (`version_steps`). `table` has the rule of each step. Versions newer than the table are
left to onnx's version converter, which runs in a child process on a model of this node alone
(`onnx_converter`). An operator that does not exist in an older version is replaced by the body of
its function (`inlining`).
"""

from __future__ import annotations

from onnxtext.editing.opsets.plan import Plan, check_version, convert, plan_conversion
from onnxtext.editing.opsets.report import ConversionError, diagnose

__all__ = [
    "ConversionError",
    "Plan",
    "check_version",
    "convert",
    "diagnose",
    "plan_conversion",
]
