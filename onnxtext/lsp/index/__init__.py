# SPDX-License-Identifier: Apache-2.0
"""Index each version of a document: names, uses, statements and positions."""
