# SPDX-License-Identifier: Apache-2.0
"""Convert the nodes of a model to another version of an operator set.

`plan_conversion` finds what each node needs: nothing, if its operator has the same schema in both
versions; else one step for each version in between that changed the operator (`steps`). A step
follows a rule of `table`, or if it is newer than these, onnx's version converter, which runs in a
child process on a model of this node alone (`fallback`). An operator that does not exist in an
older version is replaced by its function body (`inlining`).
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
