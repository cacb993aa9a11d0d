# SPDX-License-Identifier: Apache-2.0
"""Convert one node step by step, through all versions that changed its operator."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from onnxtext.ast.model import Node
from onnxtext.ast.qualified_names import plain_domain
from onnxtext.ast.visit import nested_graphs, walk_nodes
from onnxtext.checker.context.checked_model import operator_key
from onnxtext.checker.context.signatures import Schemas, Signature
from onnxtext.checker.inference.output_types import OUTPUT_TYPES
from onnxtext.checker.inference.type_variables import bind_type_variables
from onnxtext.editing.opsets.converted_node import ConvertedGraph, NodeConversion
from onnxtext.editing.opsets.inlining import inline
from onnxtext.editing.opsets.make_tensors import make_tensor
from onnxtext.editing.opsets.model_facts import ModelFacts, NotConvertible
from onnxtext.editing.opsets.rules.table import FIRST, conversion_rule
from onnxtext.editing.opsets.schema_versions import changes_between, misfit_reason
from onnxtext.editing.opsets.signature_changes import Change, carry_over

_MAX_SUCCESSIVE_STEPS = 48
"""Maximum number of successive steps, each of which converts a result of the step before."""
_MAX_STEPS = 1000
"""Maximum total number of steps to convert a node and all nodes that replace it."""


class GraphConverter:
    """Converts the nodes of one graph or function.

    The methods raise `NotConvertible` if a node cannot be converted.

    Args:
        targets: the versions to convert to, by domain.
    """

    def __init__(
        self, facts: ModelFacts, graph: ConvertedGraph, targets: Mapping[str, int]
    ) -> None:
        self._facts = facts
        self._graph = graph
        self._targets = targets
        self._schemas: Schemas = facts.schemas
        self._sentences: list[str] = []
        self._steps = 0

    def convert(self, original: Node, node: Node, current: int) -> tuple[list[Node], list[str]]:
        """Convert a node; return the nodes that replace it, and sentences about the changes.

        Args:
            original: the node as it is in the syntax tree.
            node: the same node, in which attribute lists stored in blobs are expanded.
            current: the version of the operator set that the node uses.
        """
        self._sentences, self._steps = [], 0
        count = len(self._graph.constants)
        try:
            converted = self._advance(replace(original, attributes=node.attributes), current, 0)
            self._check_operators(original, converted)
        except (NotConvertible, ArithmeticError, LookupError, ValueError, struct.error) as error:
            self._graph.roll_back_to(count)
            if isinstance(error, NotConvertible):
                raise
            raise NotConvertible("its attributes or inputs are not valid") from None
        graph_attributes = {
            id(new): old for new, old in zip(node.attributes, original.attributes, strict=True)
        }
        for converted_node in converted:
            if any(id(attribute) in graph_attributes for attribute in converted_node.attributes):
                converted_node.attributes = tuple(
                    [
                        graph_attributes.get(id(attribute), attribute)
                        for attribute in converted_node.attributes
                    ]
                )
        if converted == [original]:
            converted = [original]  # not a copy: the caller tests the identity of the node
        return converted, list(dict.fromkeys(self._sentences))

    def _advance(
        self, node: Node, version: int, depth: int, first: Signature | None = None
    ) -> list[Node]:
        """Convert a node to the target version; return the nodes that replace it.

        Args:
            node: the node.
            version: the version that the node uses.
            depth: the number of successive steps that led to this node.
            first: the schema before the first step of the node; None if no step was made.
        """
        domain, name = plain_domain(node.domain), node.op_type
        target = self._targets.get(domain, version)
        old = self._schemas.find(domain, name, version)
        new = self._schemas.find(domain, name, target)
        if old is None or self._is_call(node):
            return [node]
        self._infer(node, old)
        if new is not None and old.since == new.since:
            if depth:
                self._require_fit(node, new, old)
            return [node]
        self._steps += 1
        if depth > _MAX_SUCCESSIVE_STEPS or self._steps > _MAX_STEPS:
            raise NotConvertible("its conversion takes too many steps")
        since = changes_between(self._schemas, domain, name, version, target)[0]
        if target > version:
            work, reached = self._up(node, old, since), since
        else:
            work, reached = self._down(node, old)
        self._sentences += work.notes
        result: list[Node] = []
        if work.removed:
            # Graphs of the replaced node are now in the new nodes, and still use `version`.
            self._bodies(work.before, version if nested_graphs((node,)) else reached, depth)
        for new_node in work.nodes():
            before = (
                (first or old)
                if new_node is work.node and new_node.op_type == node.op_type
                else None
            )
            result += self._advance(new_node, reached, depth + 1, before)
        self._check(node, work, reached, first or old, new)
        return result

    def _is_call(self, node: Node) -> bool:
        """Whether a node calls a function of the model."""
        return operator_key(node) in self._facts.subject.functions

    def _check_operators(self, original: Node, nodes: list[Node]) -> None:
        """Reject new nodes that would call a function of the model instead of an operator."""
        old = Counter(node.op_type for node in walk_nodes(original) if self._is_call(node))
        new = Counter(
            node.op_type
            for top_node in nodes
            for node in walk_nodes(top_node)
            if self._is_call(node)
        )
        for name in new - old:
            raise NotConvertible(
                f"it would need the operator `{name}`, but the model has a function `{name}`",
                f"rename the function `{name}`",
            )

    def _bodies(self, nodes: list[Node], version: int, depth: int) -> None:
        """Convert the graphs in the attributes of inlined nodes, and the graphs nested in them.

        `version` is the version of the operator set that the nodes in these graphs use.
        """
        graphs = list(nested_graphs(nodes))
        constants = self._graph.constants
        try:
            while graphs:
                graph = graphs.pop()
                self._graph.constants = {}  # other graphs cannot use the constants of this one
                before, graph.nodes = graph.nodes, []
                for node in before:
                    converted = self._advance(node, version, depth + 1)
                    graph.nodes += converted
                    # If `converted` comes from a function body, its graphs are converted already.
                    kept = set(map(id, nested_graphs((node,))))
                    graphs += [inner for inner in nested_graphs(converted) if id(inner) in kept]
        finally:
            self._graph.constants = constants

    def _infer(self, node: Node, signature: Signature) -> None:
        """Infer and record the types of a node's outputs that the conversion created.

        Also record the tensor of a new `Constant`, because steps of other nodes may need it.
        """
        facts = self._facts
        if node.op_type == "Constant" and not signature.domain and facts.is_new(node.outputs[0]):
            constant = facts.constant_node(node)
            tensor = constant and make_tensor(
                constant[0].element, constant[1], constant[0].integer_dims
            )
            if tensor:
                self._graph.new_tensors[node.outputs[0]] = tensor
        if not any(facts.is_new(name) and self._type(name) is None for name in node.outputs):
            return
        inputs = tuple([self._type(name) if name else None for name in node.inputs])
        types, _ = bind_type_variables(signature, inputs, node)
        special = OUTPUT_TYPES.get(node.op_type)
        if special is not None and not signature.domain:
            types = (special(node, inputs), *types[1:])
        for name, type in zip(node.outputs, types, strict=False):
            if facts.is_new(name) and type is not None:
                facts.set_type(name, type)

    def _up(self, node: Node, old: Signature, since: int) -> NodeConversion:
        """Convert a node to the newer version `since`, which changed its operator."""
        new = self._schemas.find(old.domain, old.name, since)
        assert new is not None
        conversion = NodeConversion(self._facts, self._graph, node, old, new)
        rule = conversion_rule((old.domain, old.name, since))
        if new.deprecated and rule.up is None:
            raise NotConvertible(f"it is deprecated since version {since}")
        _apply(rule.up, conversion)
        return conversion

    def _down(self, node: Node, old: Signature) -> tuple[NodeConversion, int]:
        """Convert a node to a version before the version of its schema `old`.

        Return the rewritten node, and the version that it uses.
        """
        reached = old.since - 1
        new = self._schemas.find(old.domain, old.name, reached) if reached else None
        if new is not None and new.deprecated and not old.deprecated:
            # In a deprecated version, inputs may have another meaning, such as `scale` of
            # `GroupNormalization` 18, which is per group.
            new = None
        conversion = NodeConversion(self._facts, self._graph, node, old, new)
        if new is None:
            first = FIRST.get((old.domain, old.name))
            if first is None:
                return conversion, inline(conversion)
            first(conversion)
        else:
            _apply(conversion_rule((old.domain, old.name, old.since)).down, conversion)
        return conversion, reached

    def _check(
        self,
        node: Node,
        conversion: NodeConversion,
        reached: int,
        old: Signature,
        new: Signature | None,
    ) -> None:
        """Check after the last step that the node fits the schema of the target version."""
        new_node = conversion.node
        domain = plain_domain(new_node.domain)
        if conversion.removed or new_node.op_type != node.op_type or new is None:
            return
        schema = self._schemas.find(domain, new_node.op_type, reached)
        if schema is None or schema.since != new.since:
            return
        self._require_fit(new_node, new, old)

    def _require_fit(self, node: Node, new: Signature, old: Signature) -> None:
        """Raise `NotConvertible` unless a node fits the schema `new`; before, it fitted `old`."""
        reason = misfit_reason(node, new, old, self._facts, self._graph.scope)
        if reason is not None:
            raise NotConvertible(f"in version {self._targets[new.domain]}, {reason}")

    def _type(self, name: str) -> str | None:
        return self._facts.element_type(self._graph.scope, name)


def _apply(rule: Change | None, conversion: NodeConversion) -> None:
    """Rewrite a node with its rule, if there is one, then adapt the node to its new schema.

    If the rule has changed the operator, the node is not adapted.
    """
    if rule is not None:
        rule(conversion)
    if conversion.node.op_type == conversion.old.name:
        carry_over(conversion)
