# SPDX-License-Identifier: Apache-2.0
"""Collect the rules of all modules of `onnxtext.checker.rules`, by code."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType, ModuleType
from typing import Literal, NamedTuple

from onnxtext.diagnostics import Severity
from onnxtext.diagnostics.code_pages import read_page

Level = Literal["error", "warning", "info", "lint"]
SEVERITIES: Mapping[Level, Severity] = MappingProxyType(
    {"error": "error", "warning": "warning", "info": "info", "lint": "hint"}
)
"""The severity of findings for each level.

A MUST in a specification has the level `error`, a SHOULD the level `warning`.
"""


class Rule(NamedTuple):
    """A rule's metadata; its page (`diagnostics/pages`) states and explains the rule.

    Attributes:
        code: the stable code that users see, suppress and link to, such as `value-undefined`.
        level: determines the severity of findings (see `SEVERITIES`). Rules of the level `lint` are
            disabled by default.
        profile: the profile (a named set of rules) that contains the rule; "" for none. Profiles
            contain conventions that exporters do not follow, so `--select all` skips their rules.
        needs_valid_syntax: whether a syntax error elsewhere in the text can cause a finding. Then
            editors show no findings of the rule while the text has syntax errors.
    """

    code: str
    level: Level = "error"
    profile: str = ""
    needs_valid_syntax: bool = False

    @property
    def note(self) -> str:
        """The rule and its source, as a note of a finding: `rule: … [ONNX IR spec, Nodes]`."""
        return _note(self.code)


def style_rule(code: str, *, needs_valid_syntax: bool = False) -> Rule:
    """Return a rule for a convention: a lint of the profile `style`."""
    return Rule(code, "lint", "style", needs_valid_syntax)


@cache
def _note(code: str) -> str:
    """Return the first sentence after `Rule:` in a page, and the cited source, if external."""
    match = re.search(r"\nRule: (.+?)\.[ \n].* Source: (.*?)\.\n", read_page(code), re.DOTALL)
    assert match is not None, f"the page of {code} states no rule or no source"
    source = "" if match[2] == "a rule of onnxtext" else f" [{match[2]}]"
    return f"rule: {match[1][0].lower()}{match[1][1:]}{source}"


MODULES = (
    "ir_versions", "opsets", "producer_and_metadata", "names", "single_assignment",
    "undefined_values_and_order", "unused_values", "initializers", "untyped_inputs_outputs",
    "value_infos", "declared_types", "operators", "node_attributes", "listed_attribute_values",
    "attributes", "control_flow_bodies", "functions", "function_calls", "tensors", "tensor_values",
    "external_data", "sparse", "quantization_annotations", "training", "devices",
    "type_constraints", "shapes", "dimension_conflicts",
)  # fmt: skip
"""The modules of `onnxtext.checker.rules`, in the order in which they run."""


@cache
def families() -> tuple[ModuleType, ...]:
    """Return the modules of `onnxtext.checker.rules`, in the order of `MODULES`.

    Each module has a family of rules, `RULES`, and a function `check`, which yields their findings
    in a `CheckedModel`. It may yield findings of disabled rules, which the caller must drop.
    """
    return tuple([importlib.import_module(f"onnxtext.checker.rules.{name}") for name in MODULES])


@cache
def rules() -> Mapping[str, Rule]:
    """Return all rules by code: the rules of all families, and two rules that `engine` checks."""
    by_code = {rule.code: rule for family in families() for rule in family.RULES}
    by_code |= {rule.code: rule for rule in (UNUSED_SUPPRESSION, BACKSLASH_LOST)}
    return MappingProxyType(by_code)


BACKSLASH_LOST = Rule("backslash-lost", level="warning")
UNUSED_SUPPRESSION = Rule("unused-suppression", level="warning", needs_valid_syntax=True)


@cache
def profiles() -> Mapping[str, frozenset[str]]:
    """Map the name of each profile to the codes of its rules."""
    by_profile: dict[str, set[str]] = {}
    for code, rule in rules().items():
        if rule.profile:
            by_profile.setdefault(rule.profile, set()).add(code)
    return MappingProxyType({name: frozenset(codes) for name, codes in by_profile.items()})
