# SPDX-License-Identifier: Apache-2.0
"""Define the error for statements that cannot be encoded."""

from __future__ import annotations

from onnxtext.plurals import count_noun
from onnxtext.proto.unknown_fields import RecordError
from onnxtext.tensor.blobs import BLOB_SIZE


class LowerError(ValueError):
    """A statement cannot be encoded.

    Attributes:
        at: the statement's offset in its text; -1 if unknown.
        mark: the wrong text in the statement, such as a blob's digest; "" if unknown. For an
            invalid record, words that occur in this order in the statement, such as `@set nope` or
            `configuration num_device`; the last word is wrong.
        expected: for an invalid record, the words of which one is misspelled, or the right form of
            the decorator, such as `@doc("text")`; () if unknown.
    """

    def __init__(
        self,
        message: str,
        offset: int,
        code: str = "invalid-record",
        mark: str = "",
        expected: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.at = offset
        self.code = code
        self.mark = mark
        self.expected = expected

    @classmethod
    def of_record(cls, error: RecordError, offset: int, before: str = "") -> LowerError:
        """Return the error of a statement with an invalid record.

        `before` is the word before the wrong word, such as a decorator.
        """
        mark = f"{before} {error.mark.removeprefix(before)}".strip()
        return cls(str(error), offset, mark=mark, expected=error.expected)

    @classmethod
    def of_blob(cls, digest: str, data: bytes | memoryview, why: str, offset: int) -> LowerError:
        """Return the error of a blob with a wrong size; `why` ends its message."""
        message = f"the blob {digest} has {count_noun(len(data), 'byte')}, {why}"
        return cls(message, offset, BLOB_SIZE, digest)

    def placed(self, offset: int) -> LowerError:
        """Set the offset if it is unknown; return the error itself."""
        if self.at < 0:
            self.at = offset
        return self
