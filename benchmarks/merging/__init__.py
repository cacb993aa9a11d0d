# SPDX-License-Identifier: Apache-2.0
"""Random edits of models, and what two sets of them must give."""
