# SPDX-License-Identifier: Apache-2.0
"""Find what to complete at an offset in a section at the end of a model (SPEC 13)."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from onnxtext.checker.context.checked_model import FunctionKey
from onnxtext.lsp.index.section_names import SectionBlock, SectionReader, function_of
from onnxtext.syntax.actions.metadata_section import BLOCKS
from onnxtext.syntax.actions.strings import name_of
from onnxtext.syntax.grammar.lexer import Token, load_lexer

if TYPE_CHECKING:
    from onnxtext.lsp.index.index import Index

_MAX_CHARACTERS = 400_000

Kind = Literal["block", "name", "key", "value", "pair-key", "pair-value", "nothing"]


@dataclass(slots=True)
class SectionContext:
    """What to complete at an offset in a section.

    Attributes:
        at: the offset of the section.
        kind: the kind of the item to complete: a block or key, a name, the value of a key, or the
            left or right side of a pair in a list.
        blocks: the section and the blocks around the offset, outermost first.
        tokens: the tokens between the last complete item and the offset.
    """

    section: str
    at: int
    kind: Kind
    blocks: list[SectionBlock]
    tokens: list[Token]

    @property
    def block(self) -> SectionBlock:
        """The innermost block around the offset."""
        return self.blocks[-1]

    @property
    def key(self) -> str:
        """The key of the value or list to complete; "" if there is none."""
        return name_of(self.tokens[0]) if len(self.tokens) > 1 else ""

    @property
    def above(self) -> dict[str, str]:
        """The entries, by key, of the block directly above (see `SectionBlock`); {} if none."""
        above = self.block.above
        return {} if above is None else above.entries

    @property
    def function(self) -> FunctionKey | None:
        """The key of the function whose block contains the offset; None outside of functions."""
        return function_of(self.blocks)


def section_context(index: Index, offset: int) -> SectionContext | None:
    """Return what to complete at an offset in a section.

    Return None outside of sections, and at some offsets in them, such as those in a graph of a
    section `training`.
    """
    text = index.source.text
    begun = (span for span in reversed(index.section_spans) if span.inside <= offset)
    section, start, inside, _ = next(begun, ("", 0, 0, 0))
    if text[inside - 1 : inside] != "{" or offset - start > _MAX_CHARACTERS:
        return None
    reader = SectionReader(section)
    for token in load_lexer().tokens(text, inside, offset):
        reader.read(token)
        if not reader.blocks:
            return None
    if text.count('"""', start, offset) % 2:
        kind: Kind = "nothing"
    elif section == "training" and "{" in reader.waiting:
        return None
    elif section == "order" and reader.waiting:
        return None  # `completion_context` handles decorators
    else:
        kind = _kind(section, reader)
    return SectionContext(section, start, kind, reader.blocks, reader.waiting)


def _kind(section: str, reader: SectionReader) -> Kind:
    """Return the kind of the item to complete after the tokens that `reader` has read."""
    block, waiting = reader.blocks[-1], reader.waiting
    last = str(waiting[-1]) if waiting else ""
    words = [str(token) for token in waiting]
    if ":" in words and words.index(":") > 0 and "[" in words[words.index(":") :]:
        if last in ("[", ","):
            return "pair-key"
        return "pair-value" if last == ":" else "nothing"
    if not waiting:
        nested = block.kind in ("function", "metadata")
        if section == "metadata":
            return "block" if nested else "key"
        return "name" if section == "quantization" else "key"
    if last == ":":
        return "value" if len(waiting) == 2 or section == "quantization" else "nothing"
    named = waiting[0] in BLOCKS and section == "metadata"
    if (named and len(waiting) == 1) or (last in (".", "[") and (named or section != "metadata")):
        return "name"
    return "nothing"


_STRING = r'"(?!"")(?:[^"\\\n]|\\.)*"'
_ENTRY = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"""|#[^\n]*'
    rf"|(?:^|(?<=[\s{{}}]))([A-Za-z_]\w*|{_STRING})[ \t]*:[ \t]*({_STRING})?",
    re.MULTILINE,
)
_META = re.compile(rf"@meta\(\s*({_STRING})\s*:\s*({_STRING})")


def metadata_entries(index: Index) -> dict[str, Counter[str]]:
    """Return, for each metadata key in the text, how often it has each value.

    The keys are those in the metadata section and in `@meta(…)`. The values are string literals
    with their quotes; values that are not one-line string literals are counted as "".
    """
    result: dict[str, Counter[str]] = {}
    text = index.source.text
    for section in index.section_spans:
        if section.keyword != "metadata":
            continue
        end = min(section.end, section.inside + _MAX_CHARACTERS)
        for entry in _ENTRY.finditer(text, section.inside, end):
            if entry[1] is not None:
                result.setdefault(name_of(entry[1]), Counter())[entry[2] or ""] += 1
    for entry in _META.finditer(text, 0, _MAX_CHARACTERS):
        result.setdefault(name_of(entry[1]), Counter())[entry[2]] += 1
    return result
