# SPDX-License-Identifier: Apache-2.0
"""Element data of tensors and numeric lists: text to bytes and back, exactly and in bulk.

The package knows nothing of grammar, AST or protobuf messages: it is handed the text of one
literal, or the bytes of one field. Import from its modules:

* ``elements``: the element types and the size of their data.
* ``floats``: one floating-point literal to its bits and back.
* ``parse``: whole literals ``[...]`` and ``{...}`` to bytes.
* ``format``: bytes to rows of text.
* ``varints``: packed protobuf varints.
* ``errors``: ``LiteralError``, the one exception for bad text.
"""

from __future__ import annotations
