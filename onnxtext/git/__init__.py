# SPDX-License-Identifier: Apache-2.0
"""Integrate models with git: filter, textconv, diff and merge drivers, and their configuration."""
