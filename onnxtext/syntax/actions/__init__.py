# SPDX-License-Identifier: Apache-2.0
"""The actions of the grammar rules, which build the syntax tree."""
