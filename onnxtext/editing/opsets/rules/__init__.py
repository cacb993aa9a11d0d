# SPDX-License-Identifier: Apache-2.0
"""Rules that convert a node to the next or previous version of its operator, and their table.

A rule changes a `NodeConversion` in place; it raises `NotConvertible` if it cannot convert a node.
"""
