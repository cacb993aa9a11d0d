# SPDX-License-Identifier: Apache-2.0
"""Explain in a few lines where the type of a value comes from, using the last checker result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from onnxtext.ast.model import Node
from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.ast.types import Type
from onnxtext.checker.context.finding import Place
from onnxtext.checker.context.operator_resolution import resolve_targets
from onnxtext.checker.context.scopes import GIVEN, Scope
from onnxtext.checker.explain_type.determining_sizes import RANK, TypePart
from onnxtext.checker.explain_type.explanation import step_title
from onnxtext.checker.explain_type.explanation_step import ExplanationStep
from onnxtext.checker.explain_type.inferred_facts import InferredView
from onnxtext.checker.explain_type.size_origins import SizeExplainer, source_chain
from onnxtext.checker.inference.function_attributes import call_attributes
from onnxtext.checker.inference.type_merging import Types
from onnxtext.checker.symbolic.small_tensors import SmallTensor, stored_value
from onnxtext.diagnostics import OnnxTextError
from onnxtext.lsp.index.document import Document
from onnxtext.plurals import count_noun
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_fragment

_MAX_LINES = 4
_MAX_STEPS = 400
"""Maximum number of steps to follow for one hover."""


@lru_cache(4096)
def _type(text: str) -> Type | None:
    try:
        result = parse_fragment(Source(text, "<type>"), "type").item
    except OnnxTextError:
        return None
    return result  # type: ignore[return-value]


class EditorView:
    """An `InferredView` of a graph or function body, from the results of the last check."""

    def __init__(self, document: Document, scope: Scope) -> None:
        self._document = document
        self._scope = scope

    @property
    def scope(self) -> Scope:
        """The graph or function body that this view shows."""
        return self._scope

    def _holder(self, name: str) -> Scope | None:
        if name in self._scope.position:
            return self._scope
        holder = self._scope.find_outer(name)
        return None if holder is None else holder[0]

    def type(self, name: str) -> Type | None:
        """Return the type of a value; None if unknown."""
        holder = self._holder(name)
        text = None if holder is None else self._document.type_of(holder, name)
        return None if text is None else _type(text)

    def value(self, name: str) -> SmallTensor | None:
        """Return the elements of a small value; None if unknown, or before the check is done."""
        holder, analysis = self._holder(name), self._document.current
        if holder is None or analysis is None:
            return None
        result = analysis.values.get(holder.original.at, {}).get(name)
        initial = holder.given.get(name)
        if result is None and initial is not None and initial.data is not None:
            result = stored_value(initial.type, initial.data)
        return result

    def computed_types(self, node: Node) -> Types | None:
        """Return None: the checker does not send the computed types of nodes."""
        return None

    def outer(self) -> InferredView | None:
        """Return the view of the outer graph; None if there is none."""
        scope = self._scope.parent or self._scope.main_graph
        return None if scope is None else EditorView(self._document, scope)

    def body(self, scope: Scope) -> InferredView | None:
        """Return the view of a graph in an attribute of a node."""
        return EditorView(self._document, scope)

    def call(self, node: Node) -> InferredView | None:
        """Return the view of the function that a node calls; None if it calls no function."""
        subject = self._document.version.index.subject
        if subject is None:
            return None
        for index, other in enumerate(self._scope.nodes):
            if other is node:
                target = resolve_targets(subject)[id(self._scope)][index]
                return EditorView(self._document, target) if isinstance(target, Scope) else None
        return None

    def caller(self) -> tuple[InferredView, Node] | None:
        """Return (view of the first caller of this function, calling node); None if unknown."""
        subject = self._document.version.index.subject
        if subject is None:
            return None
        for scope in subject.scopes:
            for node, target in zip(scope.nodes, resolve_targets(subject)[id(scope)], strict=True):
                if target is self._scope:
                    return EditorView(self._document, scope), node
        return None

    def parameters(self) -> Mapping[str, Attribute] | None:
        """Return the attributes in the first call of the enclosing function, by name.

        They include defaults. If the caller is a function, references in the call are resolved by
        the caller's own first call. Return None outside functions, or if no call is found.
        """
        calls: list[tuple[Scope, Node]] = []
        function = self._scope.outermost
        while function.kind == "function" and all(function is not callee for callee, _ in calls):
            caller = EditorView(self._document, function).caller()
            if caller is None:
                break
            calls.append((function, caller[1]))
            function = caller[0].scope.outermost
        attributes: dict[str, Attribute] = {}
        for callee, node in reversed(calls):
            attributes = call_attributes(callee.owner, node, attributes)
        return attributes if calls else None


def origin_lines(document: Document, scope: Scope, name: str) -> Iterator[str]:
    """Yield lines of Markdown that explain where the dimensions of a computed value come from.

    Unknown dimensions are first. If the rank is unknown, one line explains the rank instead.
    Nothing is yielded for inputs and initializers, or before this version of the text is checked.
    """
    subject = document.version.index.subject
    if document.current is None or subject is None or scope.position.get(name, GIVEN) == GIVEN:
        return
    view = EditorView(document, scope)
    shape = getattr(view.type(name), "shape", None)
    parts = [TypePart("dimension", index) for index in range(len(shape or ()))]
    if shape is None:
        parts = [RANK]
    explainer = SizeExplainer(subject, [], max_steps=_MAX_STEPS)
    steps = [explainer.explain(view, name, part) for part in parts]
    steps.sort(key=lambda step: step.size is not None)  # unknown ones first
    for step in steps[:_MAX_LINES]:
        yield _line(document, step)
    if len(steps) > _MAX_LINES:
        yield f"- and {count_noun(len(steps) - _MAX_LINES, 'more size')}"


def _line(document: Document, step: ExplanationStep) -> str:
    steps = list(source_chain(step))
    last = steps[-1]
    size = "unknown" if step.size is None else f"`{step.size}`"
    ending = f" {len(last.sources)} sizes" if last.sources else ""
    between = len(steps) - 2
    through = f", {count_noun(between, 'node')} before" if between > 0 else ""
    return f"- {step_title(step)} {size}: {last.how}{ending}{_link(document, last.place)}{through}"


def _link(document: Document, place: Place | None) -> str:
    """Return a link to the line of a place; "" if it is not in the text."""
    original = None if place is None else document.version.index.original(place.item)
    offset = getattr(original, "at", -1)
    if offset < 0:
        return ""
    line = document.version.source.position(offset).line
    return f" ([line {line}]({document.uri}#L{line}))"
