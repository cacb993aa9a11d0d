# SPDX-License-Identifier: Apache-2.0
"""Check the brackets of a literal against the dims, and remove them.

Brackets, comments and trailing commas are replaced by blanks. The result is a comma-separated list
whose elements keep their offsets. The bulk readers of `number_lists` read this list.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from onnxtext.plurals import count_noun
from onnxtext.tensor.element_count import count_elements
from onnxtext.tensor.errors import LiteralError, quote_token
from onnxtext.tensor.lazy_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLANKS = " \t\n\v\f\r"
"""The characters the official syntax allows between tokens."""

_COMMENT = re.compile(r"#[^\n]*")
_TOKEN = re.compile(r"[\[\],]|[^\[\], \t\n\v\f\r]+")
_DOUBLED_ROW = re.compile(r"(\[[^\[\]]+\])(?:\s*,\s*\1)*\s*,\s*(?P<last>\1(?P<comma>\s*,)?)")
_NOT_STRUCTURE = bytes(c for c in range(256) if c not in b"[],")
_NEAR = 64
"""Number of blanks that `preceding_offsets` skips one by one, before it searches the whole text."""


class Elements(NamedTuple):
    """The elements of a literal, without its brackets.

    Attributes:
        data: The text of the literal, with blanks in place of everything but the elements and the
            commas between them. So the elements keep their offsets.
        splat: Whether the literal ends in ``...``, which repeats the last element.
    """

    data: bytes
    splat: bool = False

    def tokens(self) -> list[str]:
        """Return the text of every element; "" for a missing element, as in ``1, , 2``."""
        if not self.data or self.data.isspace():
            return []
        return [part.strip(BLANKS) for part in self.data.decode("ascii").split(",")]

    def located(self, index: int, error: LiteralError) -> LiteralError:
        """Return the error to raise if converting the element `index` raised `error`.

        The offset of `error` is relative to the element.

        Returns:
            The error with an offset in the literal, or a more specific error, such as for a missing
            comma.
        """
        text = self.data.decode("ascii")
        start = -1
        for _ in range(index):
            start = text.index(",", start + 1)
        end = text.find(",", start + 1)
        part = text[start + 1 : end if end >= 0 else len(text)]
        token = part.strip(BLANKS)
        start += 1 + len(part) - len(part.lstrip(BLANKS))
        blank = re.search(r"[0-9a-zA-Z).]([ \t\n\v\f\r]+)", token)
        if not token and end >= 0:
            return LiteralError("expected an element before `,`", end, 1, "remove one comma")
        if not token:
            return LiteralError("expected an element", len(text), 1)
        if token == "...":
            return LiteralError("expected `...` after the last element only", start, 3)
        if blank:
            offset = start + blank.start(1)
            return LiteralError("expected `,` between two elements", offset, len(blank[1]))
        return error.at(start, len(token))


def checked_element_count(dims: Sequence[int]) -> int:
    """Return the number of elements of a tensor with these dimensions.

    Raises:
        LiteralError: A dimension is negative.
    """
    if any(size < 0 for size in dims):
        raise LiteralError(f"expected dimensions of at least 0, found {list(dims)}")
    return count_elements(dims)


def wrong_count(dims: Sequence[int], found: int) -> LiteralError:
    """Return the error for a literal whose number of elements, `found`, does not match `dims`."""
    count = count_elements(dims)
    message = f"expected {count_noun(count, 'element')} for {list(dims)}, found {found:,}"
    return LiteralError(message, help="change the elements or the dimensions")


def flat_elements(text: str, opening: str, closing: str, *, splat: bool = False) -> Elements:
    """Return the elements of a flat literal, such as ``[1, 2]``.

    The literal must have the brackets `opening` and `closing`. With `splat`, ``...`` is allowed
    after the last element.

    Raises:
        LiteralError: The outer brackets are missing, there are inner brackets, the last comma or
            the final ``...`` is misplaced, or a character is not ASCII.
    """
    clean = blank_comments(text)
    start = len(clean) - len(clean.lstrip(BLANKS))
    end = len(clean.rstrip(BLANKS)) - 1
    if clean[start : start + 1] != opening:
        raise LiteralError(f"expected `{opening}`", start, 1)
    if end <= start or clean[end] != closing:
        raise LiteralError(f"expected `{closing}` at the end", max(end, 0), 1)
    inner = clean[start + 1 : end].rstrip(BLANKS)
    for bracket in "[]{}":
        if bracket in inner:
            offset = start + 1 + inner.index(bracket)
            raise LiteralError(f"expected an element, found `{bracket}`", offset, 1)
    inner = _without_comma(inner, start + 1)
    repeats = inner.endswith("...")
    if repeats:
        offset = start + len(inner) - 2
        if not splat:
            raise LiteralError(
                "expected an element, found `...`",
                offset,
                3,
                "`...` is only valid in the brackets of a tensor, `[0, ...]`, or in a list with a "
                "length, `xs: ints[64] = [0, ...]`",
            )
        inner = inner[:-3].rstrip(BLANKS)
        if not inner.endswith(",") or not inner[:-1].strip(BLANKS):
            raise LiteralError(
                "expected an element and a comma before `...`", offset, 3, "write `[0, ...]`"
            )
        inner = _without_comma(inner, start + 1)
    return Elements((" " * (start + 1) + inner).encode("ascii"), repeats)


def nested_elements(text: str, dims: Sequence[int]) -> Elements:
    """Return the elements of a literal in square brackets, flat or nested.

    A nested literal must have one level of brackets for each dimension, or one for each dimension
    other than 1.

    Raises:
        LiteralError: The literal is invalid (see `flat_elements`), or the brackets of a nested
            literal do not match `dims`.
    """
    if text.count("[") <= 1 or ("#" in text and blank_comments(text).count("[") <= 1):
        return flat_elements(text, "[", "]", splat=True)
    clean = blank_comments(text)
    start = len(clean) - len(clean.lstrip(BLANKS))
    end = len(clean.rstrip(BLANKS)) - 1
    if clean[start] != "[":
        raise LiteralError("expected `[`", start, 1)
    if clean[end] != "]":
        raise LiteralError("expected `]` at the end", end, 1)
    data = np.frombuffer(bytearray(clean.encode("ascii")), np.uint8)
    closing = np.flatnonzero(data == ord("]"))
    last = preceding_offsets(data, closing)
    comma = last[data[last] == ord(",")]
    # A trailing comma needs an element before it: "[,]" and "[1,,]" are errors.
    before_comma = data[preceding_offsets(data, comma)]
    data[comma] = ord(" ")
    structure = data.tobytes().translate(None, _NOT_STRUCTURE)
    matches = any(_is_structure(structure, shape) for shape in shapes_of(dims))
    if not matches or ((before_comma == ord("[")) | (before_comma == ord(","))).any():
        raise _nesting_error(clean, dims)
    data[(data == ord("[")) | (data == ord("]"))] = ord(" ")
    rest = data.tobytes()
    if 0 in dims:
        rest = rest.replace(b",", b" ")
        if not rest.isspace():
            raise wrong_count(dims, len(rest.split()))
    return Elements(rest)


def blank_comments(text: str) -> str:
    """Replace comments by blanks; the text keeps its length.

    Raises:
        LiteralError: a character outside of comments is not ASCII.
    """
    if "#" in text:
        text = _COMMENT.sub(lambda match: " " * len(match[0]), text)
    if not text.isascii():
        offset = next(i for i, c in enumerate(text) if not c.isascii())
        raise LiteralError(f"expected a number, found `{repr(text[offset])[1:-1]}`", offset, 1)
    return text


def _without_comma(inner: str, start: int) -> str:
    """Remove a trailing comma, or raise if no element precedes it; `inner` begins at `start`."""
    if not inner.endswith(","):
        return inner
    rest = inner[:-1].rstrip(BLANKS)
    if not rest or rest[-1] == ",":
        offset = start + len(inner) - 1
        raise LiteralError("expected an element before `,`", offset, 1, "remove the comma")
    return rest


def preceding_offsets(data: NDArray[np.uint8], places: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return, for each offset in `places`, the offset of the last non-blank character before it.

    The text `data` must have a non-blank character before each of the offsets.
    """
    result = places - 1
    for _ in range(_NEAR):
        blank = np.flatnonzero(data[result] <= ord(" "))
        if not blank.size:
            return result
        result[blank] -= 1
    solid = np.flatnonzero(data > ord(" "))  # linear time for any number of blanks
    return solid[np.searchsorted(solid, places) - 1]


def shapes_of(dims: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the shapes that a nested literal may have: with or without the dimensions of size 1.

    For `[2, 1, 3]` these are `[(2, 3), (2, 1, 3)]`. A shape ends after its first 0: `[2, 0, 3]`
    has `[(2, 0)]`.
    """
    shapes = []
    for shape in (tuple(size for size in dims if size != 1), tuple(dims)):
        cut = shape[: shape.index(0) + 1] if 0 in shape else shape
        if cut and cut not in shapes:
            shapes.append(cut)
    return shapes


def _is_structure(structure: bytes, shape: tuple[int, ...]) -> bool:
    """Whether `structure` has exactly the brackets and commas of a literal of this shape."""
    length = 0
    for size in reversed(shape):  # compare lengths first: huge dims would exhaust the memory
        length = 2 + size * length + max(size - 1, 0)
    if length != len(structure):
        return False
    expected = b""
    for size in reversed(shape):
        items = b",".join([expected] * size) if expected else b"," * (size - 1)
        expected = b"[" + items + b"]"
    return structure == expected


def _nesting_error(clean: str, dims: Sequence[int]) -> LiteralError:
    """Return the first error in the nesting of brackets in `clean`, the literal of a tensor."""
    shapes = shapes_of(dims)
    opening = re.match(r"[ \t\n\v\f\r]*([ \t\n\v\f\r\[]*)", clean)
    assert opening is not None
    depth = opening[1].count("[")
    shape = next((shape for shape in shapes if len(shape) == depth), None)
    if shape is None and depth != 1:
        allowed = sorted({1, *map(len, shapes)})
        levels = " or ".join(map(str, allowed))
        return LiteralError(
            f"expected {levels} level{'s' if allowed != [1] else ''} of brackets for "
            f"{list(dims)}, found {depth}",
            opening.start(1),
            max(len(opening[1].rstrip(BLANKS)), 1),
            "nest brackets for all dimensions, only for those other than 1, or for none",
        )
    return _walk(clean, dims, shape or (count_elements(dims),))


def _walk(clean: str, dims: Sequence[int], shape: tuple[int, ...]) -> LiteralError:
    """Return the first error in the brackets of the literal `clean`, which should have `shape`."""
    counts: list[int] = []
    starts: list[int] = []
    ready = True  # True: an element or "[" may follow; False: a comma or "]"
    for match in _TOKEN.finditer(clean):
        token, offset = match[0], match.start()
        if token == "...":
            fix = "write the elements flat: `[0, ...]`"
            return LiteralError("expected no `...` in nested brackets", offset, 3, fix)
        if offset and not counts and not ready:
            return LiteralError(
                f"expected nothing after `]`, found {quote_token(token)}", offset, len(token)
            )
        if token == "]" and counts:
            count, expected, start = counts.pop(), shape[len(counts)], starts.pop()
            if count != expected:
                thing = "element" if len(counts) == len(shape) - 1 else "row"
                message = (
                    f"expected {count_noun(expected, thing)} here for {list(dims)}, found {count:,}"
                )
                error = LiteralError(message, offset, 1, "change the elements or the dimensions")
                return _at_doubled_row(error, clean, start + 1) if count == expected + 1 else error
            ready = False
        elif token == ",":
            if ready or not counts:
                return LiteralError("expected an element before `,`", offset, 1)
            ready = True
        elif not ready:
            return LiteralError(
                f"expected `,` or `]`, found {quote_token(token)}", offset, len(token)
            )
        elif (token == "[") == (len(counts) < len(shape)):
            if counts:
                counts[-1] += 1
            if token == "[":
                counts.append(0)
                starts.append(offset)
            else:
                ready = False
        else:
            wanted_token = "`[`" if len(counts) < len(shape) else "an element"
            message = f"expected {wanted_token} for {list(dims)}, found {quote_token(token)}"
            return LiteralError(message, offset, len(token))
    return LiteralError("expected `]` at the end", max(len(clean.rstrip(BLANKS)) - 1, 0), 1)


def _at_doubled_row(error: LiteralError, clean: str, start: int) -> LiteralError:
    """Move an error about one extra row to the row that repeats the row before it.

    The list of the rows is `clean[start : error.offset]`. If several rows are equal, mark the last.
    Return `error` if there are no repeated rows, or repetitions of different rows.
    """
    doubled = [*_DOUBLED_ROW.finditer(clean, start, error.offset)]
    if len(doubled) != 1:
        return error
    offset, end = doubled[0].span("last")
    instead = None if doubled[0]["comma"] is None else ""
    help = "remove this row, which repeats the row before it"
    return LiteralError(error.message, offset, end - offset, help, instead=instead)
