# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for the syntax of other languages and formats, and for copied text."""
