# SPDX-License-Identifier: Apache-2.0
"""Runs onnx's shape inference in a child process with limits of time and memory.

onnx's inference is native code. On some models it aborts, segfaults, loops or exhausts the memory.
The child's death is a `Failure`; the process that checks lives on.
"""
