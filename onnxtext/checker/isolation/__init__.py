# SPDX-License-Identifier: Apache-2.0
"""Run onnx's shape inference in a child process with limited time and memory.

onnx's inference is native code. On some models it aborts, segfaults, loops or exhausts the memory.
If the child dies, the result is a `Failure`; the checking process is not affected.
"""
