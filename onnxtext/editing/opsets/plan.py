# SPDX-License-Identifier: Apache-2.0
"""Plan the conversion of a model to other versions of operator sets, and apply the plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from onnxtext.ast.model import Function, Graph, Model, Node, OpsetImport
from onnxtext.ast.qualified_names import plain_domain
from onnxtext.ast.visit import list_graphs, nested_graphs
from onnxtext.checker.context.checked_model import CheckedModel, operator_key
from onnxtext.checker.context.finding import Place
from onnxtext.checker.context.resolved_fields import changed_fields
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import newest_versions
from onnxtext.editing.errors import refused_edit_error
from onnxtext.editing.nodes import remove_declarations
from onnxtext.editing.opsets.conversion_diagnostics import CHANGE, OBSTACLE, ConversionError, Remark
from onnxtext.editing.opsets.converted_node import ConvertedGraph
from onnxtext.editing.opsets.model_facts import ModelFacts, NotConvertible
from onnxtext.editing.opsets.version_steps import GraphConverter

Targets = Mapping[str, int]
"""Versions of operator sets by domain; the domain of the standard operators is ""."""
_FIELDS_READ = {"op_type", "domain", "overload", "input", "output", "attribute", "attribute_proto"}
"""Fields that conversion reads; nodes that set them with `@set` or `@unset` are not converted."""


@dataclass(slots=True)
class ConversionPlan:
    """The changes of a conversion, and its obstacles.

    Attributes:
        subject: the model before the conversion.
        targets: the versions to convert to, by domain.
        remarks: the remarks on obstacles, followed by the remarks on changes.
    """

    subject: CheckedModel
    targets: Targets
    remarks: list[Remark] = field(default_factory=list)
    _nodes: list[tuple[Graph | Function, list[Node]]] = field(default_factory=list)
    _replaced: set[str] = field(default_factory=set)
    _dropped: set[tuple[int, str]] = field(default_factory=set)
    _refused: list[tuple[Node, Remark]] = field(default_factory=list)
    _ir_version: int | None = None
    _imports: list[OpsetImport] = field(default_factory=list)

    @property
    def obstacles(self) -> list[Remark]:
        """The remarks on obstacles to the conversion."""
        return [remark for remark in self.remarks if remark.code == OBSTACLE]

    def apply(self) -> list[str]:
        """Apply the planned changes to the model; return a sentence for the user about each change.

        Raises:
            ConversionError: there are obstacles. The model is unchanged.
        """
        if self.obstacles:
            raise ConversionError(self.obstacles, self.subject)
        model = self.subject.model
        assert model is not None
        for owner, nodes in self._nodes:
            owner.nodes = nodes
        for entry in self._imports:
            entry.version = self.targets[plain_domain(entry.domain)]
        if not model.opset_imports and "" in self.targets:
            model.opset_imports.append(OpsetImport("", self.targets[""]))
        if self._ir_version is not None:
            model.ir_version = self._ir_version
        if self._replaced or self._dropped:
            remove_leftovers(model, self._replaced, self._dropped)
        return [remark.summary() for remark in self.remarks]


def convert(model: Model, targets: Targets) -> list[str]:
    """Convert a model in place: apply the plan of `plan_conversion`, and return its sentences.

    Raises:
        OnnxTextError: a version or domain is unknown, or a node cannot be converted.
    """
    return plan_conversion(model, targets).apply()


def plan_conversion(
    model: Model, targets: Targets, subject: CheckedModel | None = None
) -> ConversionPlan:
    """Plan a conversion: find the nodes to rewrite and the obstacles.

    Args:
        model: the model, which is not changed before `ConversionPlan.apply`.
        targets: the versions to convert to, by domain.
        subject: the result of checking the model; None to check it now.

    Raises:
        OnnxTextError: an old or new version, or a domain, is unknown.
    """
    plain = {plain_domain(domain): version for domain, version in targets.items()}
    for domain, version in plain.items():
        check_version(domain, version)
    if "" in plain and not model.opset_imports and model.ir_version not in (1, 2):
        raise refused_edit_error(
            "the model imports no operator set, so the version of its operators is unknown",
            "add `opset_import` to its header",
        )
    imports = [*model.opset_imports, *[e for f in model.functions for e in f.opset_imports]]
    for entry in imports:
        domain = plain_domain(entry.domain)
        if domain in plain and not 1 <= entry.version <= newest_versions()[domain]:
            raise refused_edit_error(
                f"the model is written for {_opset_text(domain, entry.version)}, which is unknown",
                "install a newer onnx" if entry.version > 0 else "correct its `opset_import`",
            )
    from onnxtext.editing.write_inferred_types import check_subject

    subject = subject or check_subject(model)
    plan = ConversionPlan(subject, plain)
    facts = ModelFacts(subject)
    collected: dict[tuple[str, str], Remark] = {}
    done: set[int] = set()
    for scope in subject.scopes:
        if scope.opsets is not None and id(scope.original) not in done:
            done.add(id(scope.original))
            _Conversion(plan, facts, scope, collected).run()
    plan._imports = [
        e for e in imports if plain.get(plain_domain(e.domain), e.version) != e.version
    ]
    plan._replaced, plan._dropped = facts.replaced, facts.dropped
    _accept_constants(plan, model)
    remarks = [remark for remark in collected.values() if remark.places]
    plan.remarks = sorted(remarks, key=lambda remark: remark.code != OBSTACLE)
    _raise_ir_version(plan, model)
    return plan


def check_version(domain: str, version: int) -> None:
    """Check that the installed onnx has a version of an operator set.

    Raises:
        OnnxTextError: the version or domain is unknown.
    """
    newest = newest_versions().get(domain)
    shown = f"`{domain}`" if domain else "the standard operators"
    if newest is None:
        raise refused_edit_error(
            f"no operators of {shown} are known",
            f"domains with known operators: {', '.join(sorted(filter(None, newest_versions())))}",
        )
    if not 1 <= version <= newest:
        raise refused_edit_error(
            f"version {version} of {shown} is unknown: the newest known is {newest}",
            f"choose a version from 1 to {newest}, or install a newer onnx",
        )


def _accept_constants(plan: ConversionPlan, model: Model) -> None:
    """Drop the obstacles of `Constant` nodes that became attributes and are now unused."""
    if not plan._refused:
        return
    nodes = {id(owner): nodes_of_owner for owner, nodes_of_owner in plan._nodes}
    gone = plan._replaced - names_in_use(model, nodes)
    for node, remark in plan._refused:
        if node.outputs and gone.issuperset(node.outputs):
            remark.places = [place for place in remark.places if place.item is not node]


def _raise_ir_version(plan: ConversionPlan, model: Model) -> None:
    """Plan to raise the IR version of a model if the new operator sets need a newer one."""
    from onnx.helper import OP_SET_ID_VERSION_MAP as IR_VERSIONS

    versions = {
        (domain, version): IR_VERSIONS.get((domain or "ai.onnx", version), 0)
        for domain, version in plan.targets.items()
    }
    needed = max(versions.values(), default=0)
    changes = plan._imports or not model.opset_imports
    if changes and model.ir_version and model.ir_version < needed:
        plan._ir_version = needed
        causes = [_opset_text(*target) for target, version in versions.items() if version == needed]
        message = f"`ir_version` is raised from {model.ir_version} to {needed}, which came with "
        place = Place(model, ("ir_version",))
        plan.remarks.append(Remark(CHANGE, message + ", ".join(causes), None, [place]))


class _Conversion:
    """Plans the conversion of the nodes of one graph or function."""

    def __init__(
        self,
        plan: ConversionPlan,
        facts: ModelFacts,
        scope: Scope,
        collected: dict[tuple[str, str], Remark],
    ) -> None:
        self._plan = plan
        self._scope = scope
        self._collected = collected
        assert scope.opsets is not None
        self._versions = scope.opsets
        self._schemas = facts.schemas
        self._stepper = GraphConverter(facts, ConvertedGraph(scope), plan.targets)
        self._touched: dict[tuple[str, str], bool] = {}

    def run(self) -> None:
        """Add the converted nodes of the graph or function, and obstacles, to the plan."""
        targets = self._plan.targets
        if all(self._versions.get(domain) in (None, to) for domain, to in targets.items()):
            return
        tree, scope = self._scope.original, self._scope
        if len(tree.nodes) != len(scope.nodes):
            if any(self._is_touched(node) for node in scope.nodes):
                self._remark(
                    OBSTACLE,
                    f"the nodes of {scope.describe()} cannot be converted: `@set` or `@unset` "
                    "changes the list of nodes",
                    "write the nodes without `@set` and `@unset`",
                    Place(tree),
                )
            return
        nodes: list[Node] = []
        changed = False
        for original, node in zip(tree.nodes, scope.nodes, strict=True):
            if not self._is_touched(node):
                nodes.append(original)
                continue
            new = self._node(original, node)
            changed = changed or len(new) != 1 or new[0] is not original
            nodes += new
        if changed:
            self._plan._nodes.append((tree, nodes))

    def _is_touched(self, node: Node) -> bool:
        """Whether the conversion may have to change a node."""
        key = plain_domain(node.domain), node.op_type
        cached = self._touched.get(key)
        if cached is None:
            cached = self._touched[key] = self._differs(*key)
        return cached and operator_key(node) not in self._plan.subject.functions

    def _differs(self, domain: str, name: str) -> bool:
        """Whether an operator has different schemas in the current and the target version."""
        current, target = self._versions.get(domain), self._plan.targets.get(domain)
        if current is None or target is None or current == target:
            return False
        before = self._schemas.find(domain, name, current)
        after = self._schemas.find(domain, name, target)
        return before is not None and (after is None or before.since != after.since)

    def _node(self, original: Node, node: Node) -> list[Node]:
        """Convert a node, and return the nodes that replace it; add remarks to the plan.

        `original` is the node in the syntax tree. `node` is the same node, in which attribute lists
        stored in blobs are expanded. A node that cannot be converted is returned unchanged.
        """
        domain = plain_domain(node.domain)
        current = self._versions[domain]
        place = Place(node, ("op_type",))
        try:
            if changed_fields(original.decorators).keys() & _FIELDS_READ:
                raise NotConvertible(
                    "`@set` or `@unset` changes its operator, inputs, outputs or attributes",
                    "write them in the node itself",
                )
            new, sentences = self._stepper.convert(original, node, current)
        except NotConvertible as rejected:
            target = _opset_text(domain, self._plan.targets[domain])
            remark = self._remark(
                OBSTACLE,
                f"this `{node.op_type}` of {_opset_text(domain, current)} cannot be converted to "
                f"{target}: {rejected.reason}",
                rejected.help,
                place,
            )
            if node.op_type == "Constant":
                self._plan._refused.append((node, remark))
            return [original]
        for text in sentences:
            self._remark(CHANGE, f"`{node.op_type}`: {text}", None, place)
        return new

    def _remark(self, code: str, message: str, help: str | None, place: Place) -> Remark:
        """Add a place to the remark with this code and message; create the remark if needed."""
        remark = self._collected.get((code, message))
        if remark is None:
            remark = self._collected[code, message] = Remark(code, message, help)
        remark.places.append(place)
        return remark


def _opset_text(domain: str, version: int) -> str:
    return f"version {version} of `{domain}`" if domain else f"opset {version}"


def names_in_use(model: Model, converted: Mapping[int, list[Node]]) -> set[str]:
    """Return the names of values that nodes, outputs, annotations or training bindings use.

    `converted` maps the `id()` of a graph or function to the nodes that replace its nodes.
    """
    scopes = list_graphs(model)
    for nodes in converted.values():
        for graph in nested_graphs(nodes):
            scopes += list_graphs(graph)
    used = {value.name for scope in scopes for value in scope.outputs}
    for scope in scopes:
        for node in converted.get(id(scope), scope.nodes):
            used.update(node.inputs)
        for annotation in scope.quantization if isinstance(scope, Graph) else ():
            used.update([annotation.tensor_name, *[name for _, name in annotation.entries]])
    for training in model.training:
        for bindings in (training.initialization_binding, training.update_binding):
            used.update([name for pair in bindings for name in pair])
    return used


def remove_leftovers(model: Model, replaced: set[str], dropped: set[tuple[int, str]]) -> None:
    """Remove unused constants that became attributes, and declared types of dropped outputs.

    `replaced` has the names of the constants; `dropped` has (`id()` of the graph, name) of each
    output (see `ModelFacts`).
    """
    gone = replaced - names_in_use(model, {})
    for scope in list_graphs(model):
        unused = [n for n in scope.nodes if n.op_type == "Constant" and set(n.outputs) <= gone]
        if unused and gone:
            chosen = {id(node) for node in unused if node.outputs}
            scope.nodes = [node for node in scope.nodes if id(node) not in chosen]
        if isinstance(scope, Graph):
            removed = gone | {name for owner, name in dropped if owner == id(scope)}
            removed -= {value.name for value in scope.inputs}
            scope.values = [v for v in scope.values if v.data is None or v.name not in removed]
            remove_declarations(scope, removed)
