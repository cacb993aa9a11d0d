# SPDX-License-Identifier: Apache-2.0
"""Infer shapes; record every visit of a graph or function body, and the computed types of nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onnxtext.ast.model import Node
from onnxtext.ast.tensors_and_attributes import Attribute
from onnxtext.ast.types import Type
from onnxtext.checker.context.checked_model import CheckedModel
from onnxtext.checker.context.finding import Finding
from onnxtext.checker.context.operator_resolution import Target
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.inference.environment import ShapeEnvironment
from onnxtext.checker.inference.shape_inference import ShapeInference
from onnxtext.checker.inference.symbolic.small_tensors import SmallTensors
from onnxtext.checker.inference.type_merging import Types


class RecordedInference(ShapeInference):
    """Infers shapes like its base class; records each visit of a graph or function body.

    Each visit has its own environment. Visits in which findings are not reported are not recorded.

    Attributes:
        visits: maps `id(scope)` to the environments of all visits of the scope. A function body is
            visited once for all calls with equal input types, values and attributes.
        made: maps `(id(environment), id(node))` to the computed types of the node's outputs, before
            they are merged with declared types.
        calls: maps `(id(environment), id(node))` of each call to the environment of the visit of
            the called body. The environment in the key contains the call.
        callers: maps `id(environment)` of the visit of a function body to the call that first used
            the results of the visit: the environment that contains the call, and its node.
    """

    def __init__(self, subject: CheckedModel) -> None:
        super().__init__(subject)
        self.visits: dict[int, list[ShapeEnvironment]] = {}
        self.made: dict[tuple[int, int], Types] = {}
        self.calls: dict[tuple[int, int], ShapeEnvironment] = {}
        self.callers: dict[int, tuple[ShapeEnvironment, Node]] = {}
        self._results: dict[int, ShapeEnvironment] = {}  # by the id of a call's memoized result

    def run(self) -> list[Finding]:
        """Visit all graphs and functions; return the findings.

        The inputs of functions that are never called have unknown types.
        """
        super().run()
        for scope in self._scopes:
            if scope.kind == "function" and not self.visits.get(id(scope)):
                self._scope(scope, (), None)
        return self.findings

    def _scope(
        self,
        scope: Scope,
        input_types: Types,
        outer: ShapeEnvironment | None,
        parameters: Mapping[str, Attribute] | None = None,
        values: SmallTensors = (),
    ) -> ShapeEnvironment:
        result = super()._scope(scope, input_types, outer, parameters, values)
        if not self._quiet:
            self.visits.setdefault(id(scope), []).append(result)
        return result

    def _node(
        self, scope: Scope, index: int, node: Node, target: Target, environment: ShapeEnvironment
    ) -> tuple[Types, SmallTensors]:
        result = super()._node(scope, index, node, target, environment)
        if not self._quiet:
            self.made[id(environment), id(node)] = result[0]
        return result

    def _call(
        self, node: Node, function: Scope, inputs: list[Type | None], outer: ShapeEnvironment
    ) -> tuple[Types, SmallTensors]:
        visits = self.visits.setdefault(id(function), [])
        before = len(visits)
        result: Any = super()._call(node, function, inputs, outer)
        if not self._quiet:
            if len(visits) > before:
                self._results[id(result)] = visits[-1]
            body_result = self._results.get(id(result))
            if body_result is not None:
                self.calls[id(outer), id(node)] = body_result
                self.callers.setdefault(id(body_result), (outer, node))
        return result  # type: ignore[no-any-return]
