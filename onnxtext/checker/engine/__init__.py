# SPDX-License-Identifier: Apache-2.0
"""Run the rules, and turn their findings into diagnostics with spans and fixes."""
