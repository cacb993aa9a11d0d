# SPDX-License-Identifier: Apache-2.0
"""Generate random edits of models, and the expected merges of two sets of edits."""
