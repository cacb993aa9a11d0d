# SPDX-License-Identifier: Apache-2.0
"""Error heuristics for the constructs of the language."""
