# SPDX-License-Identifier: Apache-2.0
"""Weights beside a text: the places where its blobs are, and references to data files."""
