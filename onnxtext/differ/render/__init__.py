# SPDX-License-Identifier: Apache-2.0
"""Renderers of diffs, one module per format."""
