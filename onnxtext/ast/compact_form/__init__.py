# SPDX-License-Identifier: Apache-2.0
"""Convert the lists of decoded graphs to the compact form of texts, and back (SPEC 10)."""
