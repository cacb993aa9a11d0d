# SPDX-License-Identifier: Apache-2.0
"""Runs the rules: places of findings, fixes, suppressions, settings."""
