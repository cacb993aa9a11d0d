# SPDX-License-Identifier: Apache-2.0
"""One index a version of a document: names, uses, statements, positions."""
