# SPDX-License-Identifier: Apache-2.0
"""Actions for the sections at the end of a model, such as `metadata { … }` (SPEC 13).

Each block of `metadata` and each annotation of `quantization` has the path of its item.
`section_binding` finds the items when the model is complete.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import Any, NamedTuple

from onnxtext.ast.compact_form.list_order import ORDERS
from onnxtext.ast.model import Configuration, EncodingPatch, Graph, Training
from onnxtext.ast.records import Decorator, Record
from onnxtext.ast.section_paths import PathStep
from onnxtext.quick_dataclass import dataclass
from onnxtext.suggestions import nearest_name
from onnxtext.syntax.actions.registry import ACTIONS, LOCATED
from onnxtext.syntax.actions.resources import Resources, decode_base64
from onnxtext.syntax.actions.semantic_error import SemanticError

Pairs = tuple[tuple[str, str], ...]


class MetadataItem(NamedTuple):
    """An entry `key: "value"` in the metadata section."""

    key: str
    value: str


class RepeatedItem(NamedTuple):
    """An entry `key: above` in the metadata section: it repeats the value in the block above.

    Attributes:
        key: the key.
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
    items: list[MetadataItem | RepeatedItem | MetadataBlock]

    def entries(self) -> Pairs:
        """Return the (key, value) entries, without the entries of inner blocks."""
        return tuple([tuple(item) for item in self.items if isinstance(item, MetadataItem)])  # type: ignore[misc]


@dataclass(slots=True)
class Sections:
    """The contents of all sections of a text, by kind.

    Attributes:
        metadata: the blocks of the metadata section; True for `metadata none`.
        quantization: for each quantization annotation its offset, its path and its (key, value)
            pairs.
        training: the contents of the `training` sections.
        configurations: the contents of the `configuration` sections.
        order: the decorators in the `order` section; None if the text has none.
        encoding: the content of the `encoding` section; None if the text has none.
        resources: the content of the `resources` section.
    """

    metadata: list[MetadataBlock] | bool = field(default_factory=list)
    quantization: list[tuple[int, tuple[PathStep, ...], Pairs]] = field(default_factory=list)
    training: list[Training] = field(default_factory=list)
    configurations: list[Configuration] = field(default_factory=list)
    order: list[Decorator] | None = None
    encoding: EncodingPatch | None = None
    resources: Resources = field(default_factory=Resources)

    @classmethod
    def sort(cls, sections: list[tuple[str, Any]]) -> Sections:
        """Group the sections of a text by kind; each section is given as (keyword, content).

        Raises:
            SemanticError: a section other than `training` and `configuration` is repeated.
        """
        result = cls()
        seen: set[str] = set()
        for word, content in sections:
            if word in seen:
                help = "remove one of them" if word == "encoding" else "join the two sections"
                raise SemanticError(f"there are two `{word}` sections", token=word, help=help)
            match str(word):
                case "training":
                    result.training.append(content)
                case "configuration":
                    result.configurations.append(content)
                case kind:
                    seen.add(kind)
                    setattr(result, kind, content)
        return result


# ---- Actions --------------------------------------------------------------------------------


def metadata_block(
    kind: str,
    path: list[PathStep] | None,
    overload: str | None,
    items: list[MetadataItem | RepeatedItem | MetadataBlock],
) -> MetadataBlock:
    """Return the metadata block for `node path { … }`.

    Raises:
        SemanticError: the kind is unknown, or the path, the overload or an item is invalid for the
            kind.
    """
    if kind not in BLOCKS:
        error = SemanticError(
            f"`{kind}` is not a kind of metadata",
            token=kind,
            help=f"write one of {', '.join(BLOCKS)}",
        )
        joined = next((block for block in BLOCKS if path is None and kind.startswith(block)), "")
        named = f"{joined} {kind.removeprefix(joined)}"
        error.instead = named if joined else nearest_name(kind, BLOCKS)
        raise error
    if path is None and kind != "graph":
        raise SemanticError(
            f"the metadata block `{kind}` needs a name",
            token=kind,
            help=f"write {kind} NAME {{ … }}",
        )
    if overload is not None and kind != "function":
        raise SemanticError("only a function can have an overload", token=kind)
    if kind != "function":
        for item in items:
            if isinstance(item, MetadataBlock):
                raise SemanticError(
                    f"the metadata block `{kind}` can contain entries only",
                    token=item.kind,
                    help="add the missing `}` before this block",
                    code="unclosed-bracket",
                )
    elif any(step.is_label for step in path or ()):
        help = "write function NAME { … }"
        raise SemanticError("a function cannot have a label", token=kind, help=help)
    else:
        _fill_repeated(items)
    return MetadataBlock(kind, tuple(path or ()), overload, items)


def repeated_entry(key: str, word: str) -> RepeatedItem:
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
    return RepeatedItem(key, word)


def _fill_repeated(items: list[MetadataItem | RepeatedItem | MetadataBlock]) -> None:
    """Replace each entry `key: above` by the entry with the same key in the block directly above.

    Raises:
        SemanticError: there is no block directly above, or it does not have the key.
    """
    entries_above: list[MetadataItem | RepeatedItem | MetadataBlock] = []
    for block in items:
        if not isinstance(block, MetadataBlock):
            entries_above = []
            continue
        repeated = [
            (n, item) for n, item in enumerate(block.items) if isinstance(item, RepeatedItem)
        ]
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


BLOCKS = ("graph", "value", "output", "value_info", "tensor", "node", "function")
"""The kinds of items that a block in the metadata section can describe."""


def metadata_section(
    word: str, items: list[MetadataItem | RepeatedItem | MetadataBlock]
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
                help="write it in graph { … }, node NAME { … }, or the header's metadata_props",
            )
            error.is_entry = True
            raise error
        blocks.append(item)
    _fill_repeated(items)
    return word, blocks


def section_left_out(word: str, none: str) -> tuple[str, bool | Resources]:
    """Return the keyword and the content of the section `metadata none` or `resources none`.

    Raises:
        SemanticError: the word after the keyword is not `none`.
    """
    if none != "none":
        raise SemanticError(
            f"expected `{{` or `none` after `{word}`", token=none, help=f"write {word} {{ … }}"
        )
    return word, Resources(left_out=True) if word == "resources" else True


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


TRAINING_KEYS = ("initialization", "algorithm", "initialization_binding", "update_binding")


def training_section(word: str, items: list[tuple[str, Any]]) -> tuple[str, Training]:
    """Return the keyword and the content of `training { initialization: g () => () {}  … }`.

    Raises:
        SemanticError: a field is unknown, has a value of the wrong kind, or is repeated.
    """
    training = Training()
    seen: set[str] = set()
    for name, value in items:
        is_graph = name in TRAINING_KEYS[:2]
        problem = None
        if name not in TRAINING_KEYS:
            problem = f"`{name}` is not a field of training"
        elif not isinstance(value, Graph if is_graph else list):
            problem = f"`{name}` must be {'a graph' if is_graph else 'a list of bindings'}"
        elif name in seen:
            problem = f"`{name}` is given twice"
        if problem is not None:
            raise SemanticError(
                problem,
                token=name,
                help="the fields are initialization and algorithm, which are graphs, and "
                'initialization_binding and update_binding, which are lists: ["name": "name"]',
            )
        seen.add(name)
        setattr(training, name, value)
    return word, training


def configuration_section(word: str, name: str, record: Record) -> tuple[str, Configuration]:
    """Return the keyword and the content of `configuration "name" { num_devices: 2 }`."""
    return word, Configuration(name, record)


def order_section(word: str, decorators: list[Decorator] | None) -> tuple[str, list[Decorator]]:
    """Return the keyword and the decorators of `order { @value_info("b", "a") }`.

    Raises:
        SemanticError: a decorator is neither `@value_info` nor `@initializers`.
    """
    for decorator in decorators or ():
        if decorator.name not in ORDERS:
            raise SemanticError(
                f"`@{decorator.name}` cannot be in a section `order`",
                token=word,
                help="write it before the graph; `order` takes only @initializers and @value_info",
            )
    return word, decorators or []


def encoding_section(word: str, record: Record) -> tuple[str, EncodingPatch]:
    """Return the keyword and the content of `encoding { canonical: "…"  patch: \"\"\"…\"\"\" }`.

    Raises:
        SemanticError: a field is missing or unknown, or its value is not a digest or base64.
    """
    values = {item.key: item.value for item in record.fields}
    match values:
        case {"canonical": bytes(canonical), "patch": bytes(patch)} if len(record.fields) == 2:
            try:
                digest, changes = canonical.decode("ascii"), decode_base64(patch.decode("ascii"))
            except ValueError:
                pass
            else:
                if _WHOLE_DIGEST.fullmatch(digest):
                    return word, EncodingPatch(digest, changes)
    raise SemanticError(
        "the encoding section is damaged",
        token=word,
        help="remove the section: the model stays the same, but its bytes become canonical",
    )


ENCODING_KEYS = ("canonical", "patch")
_WHOLE_DIGEST = re.compile(r"[0-9a-f]{64}")


ACTIONS.update(
    encoding_section=encoding_section,
    metadata_section=metadata_section,
    metadata_left_out=section_left_out,
    resources_left_out=section_left_out,
    metadata_entry=MetadataItem,
    repeated_entry=repeated_entry,
    metadata_block=metadata_block,
    plain_step=PathStep,
    indexed_step=indexed_step,
    label_step=label_step,
    quantization_section=lambda word, items: (word, items),
    empty_annotation=lambda at, path: (at, tuple(path), ()),
    annotation=lambda at, path, pairs: (at, tuple(path), tuple(pairs)),
    training_section=training_section,
    training_graph=lambda name, graph: (name, graph),
    empty_binding=lambda name: (name, []),
    training_binding=lambda name, pairs: (name, pairs),
    configuration_section=configuration_section,
    order_section=order_section,
)
LOCATED |= {"annotation", "empty_annotation"}
