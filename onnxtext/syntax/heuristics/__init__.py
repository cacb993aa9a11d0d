# SPDX-License-Identifier: Apache-2.0
"""Error heuristics: what was probably meant where a token fits nowhere."""
