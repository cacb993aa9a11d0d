# SPDX-License-Identifier: Apache-2.0
"""Actions for the metadata section and the paths in sections (SPEC 13).

Each block has the path of its item. `section_binding` finds the items when the model is complete.
"""

from __future__ import annotations

from typing import NamedTuple

from onnxtext.ast.section_paths import PathStep
from onnxtext.diagnostics import Edit
from onnxtext.quick_dataclass import dataclass
from onnxtext.source import Span
from onnxtext.suggestions import nearest_name
from onnxtext.syntax.actions.registry import ACTIONS
from onnxtext.syntax.actions.semantic_error import SemanticError

Pairs = tuple[tuple[str, str], ...]

BLOCKS = ("graph", "value", "output", "value_info", "tensor", "node", "function")
"""The kinds of items that a block in the metadata section can describe."""


class MetadataItem(NamedTuple):
    """An entry `key: "value"` in the metadata section."""

    key: str
    value: str


class AboveItem(NamedTuple):
    """An entry `key: above` in the metadata section: it repeats the value in the block above.

    Attributes:
        word: the token `above`; errors need its offset.
    """

    key: str
    word: str


@dataclass(slots=True)
class MetadataBlock:
    """A block `node path { … }` in the metadata section.

    Attributes:
        kind: one of `BLOCKS`, as a token with its offset.
        path: the path of the item that has the metadata; () for the main graph.
        overload: the overload of a function; None if there is none.
        items: the entries; in a block of a function, also the blocks inside it.
    """

    kind: str
    path: tuple[PathStep, ...]
    overload: str | None
    items: list[MetadataItem | AboveItem | MetadataBlock]

    def entries(self) -> Pairs:
        """Return the (key, value) entries, without the entries of inner blocks."""
        return tuple([tuple(item) for item in self.items if isinstance(item, MetadataItem)])  # type: ignore[misc]


def metadata_block(
    kind: str,
    path: list[PathStep] | None,
    overload: str | None,
    items: list[MetadataItem | AboveItem | MetadataBlock],
) -> MetadataBlock:
    """Return the metadata block for `node path { … }`.

    In the inner blocks of a function's block, replace each entry `key: above`.

    Raises:
        SemanticError: the kind is unknown, the path, the overload or an item is invalid for the
            kind, or an entry `above` has no value.
    """
    if kind not in BLOCKS:
        error = SemanticError(
            f"`{kind}` is not a kind of metadata",
            token=kind,
            help=f"write one of {', '.join(BLOCKS)}"
            if kind != "model"
            else 'write the model\'s entries in the header: `metadata_props: ["key": "value"]`',
        )
        joined = max((block for block in BLOCKS if kind.startswith(block)), key=len, default="")
        name = kind.removeprefix(joined)
        is_joined = path is None and joined and name != "s"  # `nodes` is a plural
        kinds = BLOCKS if path is not None else ("graph",)  # all others need a name
        error.instead = f"{joined} {name}" if is_joined else nearest_name(kind, kinds)
        raise error
    if path is None and kind != "graph":
        raise SemanticError(
            f"the metadata block `{kind}` needs a name",
            token=kind,
            help=f"write `{kind} NAME {{ … }}`",
        )
    if overload is not None and kind != "function":
        raise SemanticError("only a function can have an overload", token=kind)
    if kind != "function":
        for item in items:
            if isinstance(item, MetadataBlock):
                error = SemanticError(
                    f"the metadata block `{kind}` can contain only entries",
                    token=item.kind,
                    help="move this block out of the other one",
                    code="unclosed-bracket",
                )
                if error.at is not None:
                    error.edits = (Edit(Span(error.at, error.at), "}\n"),)
                raise error
    elif any(step.is_label for step in path or ()):
        help = "write `function NAME { … }`"
        raise SemanticError("a function cannot have a label", token=kind, help=help)
    else:
        _fill_above(items)
    return MetadataBlock(kind, tuple(path or ()), overload, items)


def repeated_entry(key: str, word: str) -> AboveItem:
    """Return the entry for `key: above`, which repeats the value of the key in the block above.

    Raises:
        SemanticError: the word is not `above`.
    """
    if word != "above":
        error = SemanticError(
            "the value of a metadata entry must be a string or `above`", token=word
        )
        error.instead = nearest_name(word, ("above",)) or f'"{word}"'
        error.is_bare = True
        raise error
    return AboveItem(key, word)


def _fill_above(items: list[MetadataItem | AboveItem | MetadataBlock]) -> None:
    """Replace each entry `key: above` by the entry with this key in the block directly above."""
    entries_above: list[MetadataItem | AboveItem | MetadataBlock] = []
    for block in items:
        if not isinstance(block, MetadataBlock):
            entries_above = []
            continue
        repeated = [(n, item) for n, item in enumerate(block.items) if isinstance(item, AboveItem)]
        earlier = (
            dict([item for item in entries_above if isinstance(item, MetadataItem)])
            if repeated
            else {}
        )
        for index, item in repeated:
            value = earlier.get(item.key)
            if value is None:
                raise SemanticError(
                    f"no block directly above has the key `{item.key}`",
                    token=item.word,
                    help="write the value as a string",
                    code="metadata-dangling",
                )
            block.items[index] = MetadataItem(item.key, value)
        entries_above = block.items


def metadata_section(
    word: str, items: list[MetadataItem | AboveItem | MetadataBlock]
) -> tuple[str, list[MetadataBlock]]:
    """Return the keyword and the blocks of `metadata { … }`.

    Raises:
        SemanticError: an entry is outside of a block, or `key: above` repeats no entry.
    """
    blocks = []
    for item in items:
        if not isinstance(item, MetadataBlock):
            error = SemanticError(
                f"the entry `{item.key}` is outside of a block",
                token=word,
                help="write it in `graph { … }`, in `node NAME { … }`, "
                "or in the header's `metadata_props`",
            )
            error.is_entry = True
            raise error
        blocks.append(item)
    _fill_above(items)
    return word, blocks


def indexed_step(name: str, numbers: str) -> PathStep:
    """Return the path step for `body[0]`, an index in a list of graphs.

    Raises:
        SemanticError: the index is not a single number of at most 9 digits.
    """
    index = numbers[1:-1].strip()
    if not index.isdigit() or len(index) > 9:
        raise SemanticError(
            "the index of a graph must be a number of at most 9 digits", token=numbers
        )
    return PathStep(name, int(index))


def label_step(label: str) -> PathStep:
    """Return the path step for `[node_1]`, the label of a node."""
    return PathStep(label, None, True)


ACTIONS.update(
    metadata_section=metadata_section,
    metadata_entry=MetadataItem,
    repeated_entry=repeated_entry,
    metadata_block=metadata_block,
    plain_step=PathStep,
    indexed_step=indexed_step,
    label_step=label_step,
)
