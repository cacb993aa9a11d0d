# SPDX-License-Identifier: Apache-2.0
"""Draw the graph of a document for the graph view of editors."""
