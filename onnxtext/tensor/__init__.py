# SPDX-License-Identifier: Apache-2.0
"""Convert the data of tensors and numeric lists between text and bytes, exactly and in bulk.

The package does not depend on the grammar or on protobuf messages: its input is the text of one
literal, or the bytes of one field. Import from its modules, for example:

* ``element_types``: the element types and the size of their data.
* ``float_formats``: the binary formats of floats; bytes to numbers and back.
* ``float_literals``: one floating-point literal to its bits and back.
* ``parse_literals``: whole literals ``[...]`` and ``{...}`` to bytes.
* ``format_elements``: bytes to rows of text.
* ``varints``: packed protobuf varints.
* ``blobs``: data that a text refers to by its digest.
* ``number_spellings``: numbers in the spellings of other languages, and the errors for them.
* ``errors``: ``LiteralError``, the exception for invalid literals.
"""

from __future__ import annotations
