# SPDX-License-Identifier: Apache-2.0
"""Verify on a user's file that conversions are lossless (docs/laws.md has all laws).

- L1: `to_binary` restores the bytes that were given to `from_binary`.
- L3: a printed text parses to the same tree, and this tree is printed as the same text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal

from onnxtext.diagnostics import OnnxTextError
from onnxtext.io.text_or_binary import TEXT_SUFFIXES, decode_text
from onnxtext.sequences import common_prefix
from onnxtext.source import Source

if TYPE_CHECKING:
    from onnxtext.ast.model import Model
    from onnxtext.wire.writer import Piece

LAWS = ("L1", "L3")
_SHOWN = 8
"""Maximum number of differing bytes that are shown."""
_MAX_TEXT_LENGTH = 80
"""Maximum number of characters of a differing value that are shown."""


@dataclass(frozen=True, slots=True)
class LawViolation:
    """A violation of a law.

    Attributes:
        law: the violated law, `L1` or `L3`.
        message: a description of the difference.
        offset: the offset of the first byte that differs; None if texts or trees differ.
        path: the path of the differing field or subtree; None if unknown.
        line: the 1-based number of the first line of the printed text that differs or does not
            parse; None for other violations.
    """

    law: str
    message: str
    offset: int | None = None
    path: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of verifying a file.

    Attributes:
        kind: whether the file is binary or text.
        differences: the violations found; empty if the laws hold.
    """

    kind: Literal["binary", "text"]
    differences: tuple[LawViolation, ...]

    @property
    def ok(self) -> bool:
        """Whether all laws hold."""
        return not self.differences

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        """Return the violations, one a line; `ok` if there are none."""
        return (
            "\n".join(
                [f"{difference.law}: {difference.message}" for difference in self.differences]
            )
            or "ok"
        )

    @property
    def laws(self) -> tuple[str, ...]:
        """The round-trip laws that hold, such as `L1` (see docs/laws.md)."""
        broken = {difference.law for difference in self.differences}
        return tuple([law for law in LAWS if law not in broken])


def verify(data: bytes, *, name: str = "<bytes>") -> Verdict:
    """Verify the laws on the content of a file; return a `Verdict`.

    Args:
        data: the content: a text in UTF-8 if the name ends with `.onnxtxt` or `.onnxtext`,
            otherwise a binary model.
        name: the name of the file.

    Raises:
        OnnxTextError: the file is not a valid model or text, or the text cannot be encoded.
    """
    if PurePath(name).suffix.lower() in TEXT_SUFFIXES:
        base = PurePath(name).parent
        return verify_text(decode_text(data, name), base_dir=base, name=name)
    return verify_binary(data, name=name)


def verify_binary(data: bytes, *, name: str = "<bytes>") -> Verdict:
    """Verify the laws on a binary model; return a `Verdict`.

    Raises:
        OnnxTextError: the bytes are not a valid `ModelProto`.
    """
    from onnxtext.api import from_binary, parse
    from onnxtext.binary_to_text import lift_placed
    from onnxtext.text_to_binary import encode
    from onnxtext.weights.find_blobs import BlobReader

    text = from_binary(data, name=name)
    printed = f"{name} as text"
    try:
        model = parse(text, name=printed)
    except OnnxTextError as error:
        return Verdict("binary", (_unreadable("L1", error), _unreadable("L3", error)))
    violations: list[LawViolation] = []
    try:
        pieces = encode(model, Source(text, printed), blob_source=BlobReader.of(model, None))
        violations += _compare_bytes(data, pieces)
        del pieces
    except OnnxTextError as error:
        violations.append(_unreadable("L1", error))
    violations += _compare_trees(lift_placed(data), model)
    violations += _compare_printed(text, model)
    return Verdict("binary", tuple(violations))


def verify_text(text: str, *, base_dir: PurePath | None = None, name: str = "<string>") -> Verdict:
    """Verify the laws on a text; return a `Verdict`.

    Args:
        text: the text.
        base_dir: the directory of the text, as for `onnxtext.to_binary`.
        name: the name of the text in messages.

    Raises:
        OnnxTextError: the text has errors, or cannot be encoded.
    """
    from onnxtext.api import from_binary, parse
    from onnxtext.text_to_binary import encode, encode_text
    from onnxtext.weights.find_blobs import BlobReader

    model = parse(text, name=name)
    data = b"".join(encode(model, Source(text, name), blob_source=BlobReader.of(model, base_dir)))
    printed = f"{name} as printed"
    violations: list[LawViolation] = []
    if not _is_printed(text, model):  # if it is, printing changes nothing
        violations += _compare_with_printed(model, data, base_dir, printed)
    del model
    try:
        back = from_binary(data, name=f"{name} as binary")
        violations += _compare_bytes(data, encode_text(back, name=printed))
    except OnnxTextError as error:
        violations.append(_unreadable("L1", error))
    return Verdict("text", tuple(violations))


def _compare_with_printed(
    model: Model, data: bytes, base_dir: PurePath | None, name: str
) -> list[LawViolation]:
    """Print a model, parse the text, and print the result again; compare trees, bytes and texts."""
    from onnxtext.api import parse
    from onnxtext.printer import print_model
    from onnxtext.text_to_binary import encode
    from onnxtext.weights.find_blobs import BlobReader
    from onnxtext.wire.compare_pieces import pieces_equal

    text = print_model(model)
    result: list[LawViolation] = []
    try:
        again = parse(text, name=name)
        result += _compare_trees(model, again)
        result += _compare_printed(text, again)
        # The pieces are not joined, to avoid a copy of large weights.
        pieces = encode(again, Source(text, name), blob_source=BlobReader.of(again, base_dir))
        if not pieces_equal(pieces, data):
            result.append(LawViolation("L3", "the printed text is encoded differently"))
    except OnnxTextError as error:
        result.append(_unreadable("L3", error))
    return result


def _compare_trees(printed: Model, parsed: Model) -> list[LawViolation]:
    """Compare the tree that was printed with the tree that was parsed from the printed text."""
    if printed == parsed:
        return []
    path, left, right = _first_unequal(printed, parsed, "")
    part = path or "the model"
    message = f"the printed text parses to another model: {part} was {left} and became {right}"
    return [LawViolation("L3", message, path=path or None)]


def _first_unequal(left: object, right: object, path: str) -> tuple[str, str, str]:
    """Find the innermost differing part of two trees; return its path and both versions of it."""
    parts: list[tuple[str, object, object]] = []
    if type(left) is type(right):
        if dataclasses.is_dataclass(left):
            names = [field.name for field in dataclasses.fields(left) if field.compare]
            parts = [(f".{name}", getattr(left, name), getattr(right, name)) for name in names]
        elif isinstance(left, list | tuple) and isinstance(right, list | tuple):
            pairs = enumerate(zip(left, right, strict=False))
            parts = [(f"[{index}]", first, second) for index, (first, second) in pairs]
    for step, first, second in parts:
        if first != second:
            return _first_unequal(first, second, (path + step).removeprefix("."))
    return path, _short(left), _short(right)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_TEXT_LENGTH else f"{text[:_MAX_TEXT_LENGTH]}…"


def _compare_printed(text: str, model: Model) -> list[LawViolation]:
    """Print `model`, which was parsed from the printed text `text`, and compare the two texts."""
    from onnxtext.printer import print_model

    if _is_printed(text, model):
        return []
    again = print_model(model)
    before, after = text.split("\n"), again.split("\n")
    pairs = enumerate(zip(before, after, strict=False))
    same = min(len(before), len(after))
    line = next((at for at, (left, right) in pairs if left != right), same)
    left, right = [lines[line] if line < len(lines) else "" for lines in (before, after)]
    looks = f"it was {_short(left)} and became {_short(right)}"
    message = f"line {line + 1} is printed differently the second time: {looks}"
    return [LawViolation("L3", message, line=line + 1)]


def _is_printed(text: str, model: Model) -> bool:
    """Whether printing a model gives exactly this text.

    The printed parts are compared one by one, because a joined copy may have gigabytes.
    """
    from onnxtext.printer.models import model_parts

    offset = 0
    for part in model_parts(model):
        if not text.startswith(part, offset):
            return False
        offset += len(part)
    return offset == len(text)


def _compare_bytes(old: bytes, pieces: Sequence[Piece]) -> list[LawViolation]:
    """Compare the bytes of a model before and after the round trip."""
    from onnxtext.wire.compare_pieces import pieces_equal

    if pieces_equal(pieces, old):
        return []
    from onnxtext.proto.path_at_offset import path_at

    new = b"".join(pieces)
    offset = common_prefix(memoryview(old), memoryview(new))
    path = path_at(old, offset) or None
    left, right = [data[offset : offset + _SHOWN].hex(" ") or "nothing" for data in (old, new)]
    location = f"byte {offset:#x}" + (f" ({path})" if path else "")
    sizes = "" if len(old) == len(new) else f"; {len(old):,} bytes became {len(new):,}"
    message = f"the bytes differ, starting at {location}: {left} became {right}{sizes}"
    return [LawViolation("L1", message, offset=offset, path=path)]


def _unreadable(law: str, error: OnnxTextError) -> LawViolation:
    """Create the `LawViolation` for a printed text that cannot be parsed or encoded again."""
    first = error.diagnostics[0]
    line = None if first.position is None else first.position.line
    location = f" in line {line}" if line else ""
    return LawViolation(
        law, f"the printed text cannot be parsed or encoded{location}: {first.message}", line=line
    )
