# SPDX-License-Identifier: Apache-2.0
"""Run models with onnxruntime or onnx's reference engine, and compare the values of two models.

- `run_inputs` prepares the inputs.
- `run_in_child` runs a model in a child process.
- `child_main` is the program of the child process.
- `comparison` compares the values that two models compute.
"""

from __future__ import annotations

from onnxtext.engines.comparison import ValueDifference, compare_values, run_both
from onnxtext.engines.run_in_child import ENGINES, Values, load_model, run_model
from onnxtext.engines.run_inputs import fill_inputs, random_inputs

__all__ = [
    "ENGINES", "ValueDifference", "Values", "compare_values", "fill_inputs", "load_model",
    "random_inputs", "run_both", "run_model",
]  # fmt: skip
