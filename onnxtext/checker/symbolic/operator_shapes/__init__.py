# SPDX-License-Identifier: Apache-2.0
"""Functions for single operators: infer output shapes, check inputs and attributes.

Unknown output shapes and dimensions are None.
"""
