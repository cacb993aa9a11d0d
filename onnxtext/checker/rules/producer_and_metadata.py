# SPDX-License-Identifier: Apache-2.0
"""Rules for the model header, a missing main graph, metadata and doc strings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from onnxtext.ast.metadata_decorators import decorator_entries
from onnxtext.ast.model import Function, Model
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding, Place, quote
from onnxtext.checker.context.model_items import annotated_items
from onnxtext.checker.context.registry import Rule, style_rule
from onnxtext.diagnostics import Severity

_REVERSE_DNS = re.compile(r"[a-z0-9-]+(\.[A-Za-z0-9_-]+)+")
_HTML = re.compile(
    r"</?(?:a|b|br|code|div|em|h[1-6]|hr|i|img|li|ol|p|pre|span|strong|table|ul)\b[^<>]*>"
)
_STANDARD_KEYS = frozenset(
    {"model_author", "model_license", "Image.BitmapPixelFormat", "Image.ColorSpaceGamma",
     "Image.NominalPixelRange"}
)  # fmt: skip
"""The keys that the specification defines (IR spec, Metadata; MetadataProps.md)."""


def check(subject: CheckedModel) -> Iterator[Finding]:
    """Check that a model has a graph; check its header, metadata and doc strings."""
    model = subject.model
    if model is not None:
        if not subject.has_graph:
            yield Finding(
                "graph-missing",
                "the model has no graph",
                (Place(model),),
                help="write a graph after the header: `name (inputs) => (outputs) { nodes }`",
            )
        if model.model_version is not None and model.model_version < 0:
            message = f"`model_version` {model.model_version} is negative"
            places = (Place(model, ("model_version",)),)
            yield Finding("model-version-negative", message, places, "write 0 or more")
        if subject.active("model-domain-missing", "producer-missing"):
            yield from _header(model)
        yield from _entries(model, model.metadata, None)
    lints = subject.active("doc-html")
    if lints and model is not None and model.doc_string:
        yield from _doc(model, model.doc_string)
    for item in annotated_items(subject):
        inline = [decorator_entries(one) for one in item.decorators if one.name == "meta"]
        yield from _entries(item, [*chain.from_iterable(inline), *item.metadata], "warning")
    if lints:
        functions = [scope.original for scope in subject.scopes if scope.kind == "function"]
        others = [item for item in annotated_items(subject) if not isinstance(item, Function)]
        for item in (*functions, *others):
            doc = item.doc_string if isinstance(item, Function) else None
            for decorator in item.decorators:
                if decorator.name == "doc" and decorator.arguments:
                    text = decorator.arguments[0].value
                    doc = text.decode("utf-8", "replace") if isinstance(text, bytes) else None
            if doc:
                yield from _doc(item, doc)


def _entries(
    item: object, entries: list[tuple[str, str]], severity: Severity | None
) -> Iterator[Finding]:
    """Check the keys of `entries`, the metadata of `item`; report duplicates with `severity`."""
    seen: set[str] = set()
    reported: set[str] = set()
    for index, (key, _) in enumerate(entries):
        part = ("metadata", index)
        if key in seen and key not in reported:
            reported.add(key)
            yield Finding(
                "metadata-key-duplicate",
                f"the metadata has two entries with the key {quote(key)}",
                (Place(item, part),),
                severity=severity,
                help="remove one of them",
            )
        seen.add(key)
        if key not in _STANDARD_KEYS and not _REVERSE_DNS.fullmatch(key):
            yield Finding(
                "metadata-key-namespace",
                f"the metadata key {quote(key)} has no namespace",
                (Place(item, part),),
                help="prefix your own keys with a reverse domain, such as `org.example.`",
            )


def _header(model: Model) -> Iterator[Finding]:
    if not model.domain or not _REVERSE_DNS.fullmatch(model.domain):
        problem = "is missing"
        if model.domain:
            problem = f"{quote(model.domain)} is not in reverse-DNS form"
        yield Finding(
            "model-domain-missing",
            f"the model's `domain` {problem}",
            (Place(model, ("domain",)),),
            help='write a reverse-DNS name, such as `domain: "org.example.models"`',
        )
    for key in ("producer_name", "producer_version"):
        if not getattr(model, key):
            yield Finding(
                "producer-missing",
                f"the model has no `{key}`",
                (Place(model, (key,)),),
                help=f'add `{key}: "…"` to the header',
            )


def _doc(item: object, doc: str) -> Iterator[Finding]:
    match = _HTML.search(doc)
    if match is not None:
        yield Finding(
            "doc-html",
            f"a doc string contains the HTML tag {quote(match.group())}",
            (Place(item, ("doc_string",)),),
            help="write Markdown instead",
        )


RULES = (
    Rule("graph-missing", needs_valid_syntax=True),
    Rule("metadata-key-duplicate"),
    style_rule("metadata-key-namespace"),
    style_rule("model-domain-missing"),
    style_rule("producer-missing", needs_valid_syntax=True),
    Rule("model-version-negative", level="lint"),
    style_rule("doc-html"),
)
