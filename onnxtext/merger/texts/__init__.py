# SPDX-License-Identifier: Apache-2.0
"""Merge texts: split them into constructs, match, merge and write them."""
