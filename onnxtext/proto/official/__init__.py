# SPDX-License-Identifier: Apache-2.0
"""Reduce models to the subset that the syntax of `onnx.parser` can express, and list the losses.

This syntax is called the official syntax. To reduce a message means to drop the fields and replace
the values that the official syntax cannot express.
"""
