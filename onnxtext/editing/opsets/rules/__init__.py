# SPDX-License-Identifier: Apache-2.0
"""Rules that convert a node to the next or previous version of its operator, and their table."""
