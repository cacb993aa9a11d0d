# SPDX-License-Identifier: Apache-2.0
"""Error heuristics: find the probable cause of a syntax error, and a fix."""
