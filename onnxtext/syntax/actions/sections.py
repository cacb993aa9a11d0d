# SPDX-License-Identifier: Apache-2.0
"""Actions for the sections at the end of a model, such as `training { … }` (SPEC 13).

`metadata_section` has the actions of the `metadata` section. Each annotation of `quantization` has
the path of its item; `section_binding` finds the items when the model is complete.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import Any

from onnxtext.ast.compact_form.list_order import ORDERS
from onnxtext.ast.model import Configuration, EncodingPatch, Graph, Training
from onnxtext.ast.records import Decorator, Record
from onnxtext.ast.section_paths import PathStep
from onnxtext.quick_dataclass import dataclass
from onnxtext.suggestions import nearest_name
from onnxtext.syntax.actions.metadata_section import MetadataBlock, Pairs
from onnxtext.syntax.actions.registry import ACTIONS, LOCATED
from onnxtext.syntax.actions.resources import Resources, decode_base64
from onnxtext.syntax.actions.semantic_error import SemanticError


@dataclass(slots=True)
class Sections:
    """The contents of all sections of a text, by kind.

    Attributes:
        metadata: the blocks of the metadata section; True for `metadata none`.
        quantization: for each quantization annotation its offset, its path and its (key, value)
            pairs.
        configurations: the contents of the `configuration` sections.
        order: the decorators in the `order` section; None without this section.
        encoding: the content of the `encoding` section; None without this section.
    """

    metadata: list[MetadataBlock] | bool = field(default_factory=list)
    quantization: list[tuple[int, tuple[PathStep, ...], Pairs]] = field(default_factory=list)
    training: list[Training] = field(default_factory=list)
    configurations: list[Configuration] = field(default_factory=list)
    order: list[Decorator] | None = None
    encoding: EncodingPatch | None = None
    resources: Resources = field(default_factory=Resources)

    @classmethod
    def group(cls, sections: list[tuple[str, Any]]) -> Sections:
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


def section_left_out(word: str, none: str) -> tuple[str, bool | Resources]:
    """Return the keyword and the content of the section `metadata none` or `resources none`.

    Raises:
        SemanticError: the word after the keyword is not `none`.
    """
    if none != "none":
        raise SemanticError(
            f"expected `{{` or `none` after `{word}`", token=none, help=f"write `{word} {{ … }}`"
        )
    return word, Resources(left_out=True) if word == "resources" else True


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
            error = SemanticError(
                problem,
                token=name,
                help="the fields are `initialization` and `algorithm`, which are graphs, and "
                "`initialization_binding` and `update_binding`, which are lists: "
                '`["name": "name"]`',
            )
            if name not in TRAINING_KEYS:
                error.instead = nearest_name(name, TRAINING_KEYS)
            raise error
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
    metadata_left_out=section_left_out,
    resources_left_out=section_left_out,
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
