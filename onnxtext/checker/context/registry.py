# SPDX-License-Identifier: Apache-2.0
"""All rules, by their slugs; each module of `onnxtext.checker.rules` holds a family of them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Literal

from onnxtext.checker.context.finding import Finding
from onnxtext.checker.context.subject import Subject
from onnxtext.diagnostics import Severity

Level = Literal["error", "warning", "info", "lint"]
SEVERITIES: Mapping[Level, Severity] = MappingProxyType(
    {"error": "error", "warning": "warning", "info": "info", "lint": "hint"}
)
"""What the specification says (MUST is an error, SHOULD a warning) to how it is shown."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule's metadata.

    Attributes:
        slug: the stable code that users see, silence and link to.
        level: `lint` rules are off unless they are selected.
        title: the rule in one sentence.
        source: where it comes from: a section of the IR specification, a comment of the protobuf
            schema ("proto"), the operator schemas ("schema").
    """

    slug: str
    level: Level
    title: str
    source: str


@dataclass(frozen=True, slots=True)
class Family:
    """Rules that are found in one walk.

    Attributes:
        check: finds what breaks them.
        rules: their metadata.
    """

    check: Callable[[Subject], Iterable[Finding]]
    rules: tuple[Rule, ...]


MODULES = (
    "versions",
    "opsets",
    "header",
    "names",
    "definitions",
    "uses",
    "unused",
    "initializers",
    "interface",
    "value_infos",
    "declared_types",
    "operators",
    "attributes",
    "attribute_values",
    "subgraphs",
    "functions",
    "calls",
    "tensors",
    "tensor_values",
    "external",
    "sparse",
    "quantization",
    "training",
    "devices",
    "element_types",
    "shapes",
    "dimensions",
)
"""The modules of `onnxtext.checker.rules`, in the order in which their findings are told."""


@cache
def families() -> tuple[Family, ...]:
    """All families."""
    found = []
    for name in MODULES:
        module = importlib.import_module(f"onnxtext.checker.rules.{name}")
        family: Family = module.FAMILY
        found.append(family)
    return tuple(found)


@cache
def rules() -> Mapping[str, Rule]:
    """All rules by their slugs, those of the runner itself included."""
    found = {rule.slug: rule for family in families() for rule in family.rules}
    found |= {rule.slug: rule for rule in (UNUSED_SUPPRESSION, BACKSLASH_LOST)}
    return MappingProxyType(found)


BACKSLASH_LOST = Rule(
    "backslash-lost",
    "warning",
    'in `"…"` a backslash stands before a backslash or a quote only',
    "onnxtext",
)
UNUSED_SUPPRESSION = Rule(
    "unused-suppression",
    "warning",
    "a comment `# onnxtext: ignore[…]` silences something",
    "onnxtext",
)
