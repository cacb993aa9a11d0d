# SPDX-License-Identifier: Apache-2.0
"""Offer conversions to other versions of an operator set, on its import in the header."""

from __future__ import annotations

from collections.abc import Iterator

from onnxtext.checker.context.checked_model import plain_domain
from onnxtext.checker.context.finding import Place
from onnxtext.checker.context.signatures import newest_versions
from onnxtext.lsp.index.index import Index
from onnxtext.source import Span


def offered_conversions(index: Index, span: Span) -> Iterator[tuple[str, str, int]]:
    """Yield (title, domain, new version) of each conversion to offer at a span in the header.

    If the span begins in an entry of `opset_import`, the conversions change the version of that
    operator set. If it begins elsewhere in `opset_import`, they change the version of the standard
    operator set. Nothing is yielded for other spans.
    """
    model, places = index.model, index.places
    if model is None or not model.opset_imports:
        return
    end = model.graph.at if model.graph.at >= 0 else len(index.source.text)
    if span.start >= end:
        return
    imports_span = places.span(Place(model, ("opset_imports",)))
    key = index.source.text.rfind("opset_import", 0, imports_span.start)
    if not (key if key >= 0 else imports_span.start) <= span.start <= imports_span.end:
        return
    chosen = None
    for number, entry in enumerate(model.opset_imports):
        entry_span = places.span(Place(model, ("opset_imports", number)))
        if entry_span.start <= span.start <= entry_span.end:
            chosen = entry
    if chosen is None:
        chosen = next((e for e in model.opset_imports if not plain_domain(e.domain)), None)
    newest = newest_versions().get(plain_domain(chosen.domain)) if chosen is not None else None
    if chosen is None or newest is None or not 1 <= chosen.version <= newest:
        return
    yield from _of(plain_domain(chosen.domain), chosen.version, newest)


def _of(domain: str, version: int, newest: int) -> Iterator[tuple[str, str, int]]:
    """Yield conversions to the newer versions, then to the older ones, nearest first."""
    for to in (*range(version + 1, newest + 1), *range(version - 1, 0, -1)):
        shown = f"version {to} of `{domain}`" if domain else f"opset {to}"
        yield f"Convert to {shown}", domain, to
