# SPDX-License-Identifier: Apache-2.0
"""Define the subject of a check: a model or fragment, its scopes, and the options of the check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

from onnxtext.ast.compact_form.list_order import (
    DECORATOR,
    ValueInfoError,
    order_of,
    value_info_entries,
)
from onnxtext.ast.model import Fragment, Function, Graph, Model, Node, ValueInfo
from onnxtext.ast.qualified_names import plain_domain
from onnxtext.ast.tensors_and_attributes import SparseTensor
from onnxtext.ast.types import SparseTensorType
from onnxtext.ast.visit import attribute_graphs, rich_lists
from onnxtext.checker.context.finding import Finding
from onnxtext.checker.context.operator_tables import default_tables
from onnxtext.checker.context.resolved_fields import ResolvedFields, changed_fields
from onnxtext.checker.context.scopes import Kind, Opsets, Scope, imported_opsets
from onnxtext.checker.context.signatures import OperatorTable, Schemas
from onnxtext.checker.isolation.inference_client import InferenceClient
from onnxtext.quick_dataclass import dataclass
from onnxtext.suggestions import nearest_name

FunctionKey = tuple[str, str, str]
"""Identifies a function of a model: (domain, name, overload)."""


@dataclass(slots=True)
class Options:
    """The settings of one check, and the services that the check uses.

    Attributes:
        base_dir: the directory that paths of external data are relative to; None if unknown.
        active: the codes of the active (enabled) rules, such as `value-undefined`.
        selected: the codes of the rules that the user selected explicitly, with `--select`.
        encoded: a function that returns the model as protobuf bytes, or None if the model cannot be
            encoded. The attribute itself is None if the caller provides no function.
        assumed: the operator sets to use for a graph or nodes, which import none.
        verified: whether the model was encoded, which verified the digests of the blobs it uses.
        infers: whether rules use onnx's shape inference.
        inference: runs onnx's shape inference in a child process.
        tables: the operators of schema files. If several tables define an operator, the first table
            counts.
    """

    base_dir: Path | None = None
    active: frozenset[str] = field(default_factory=frozenset)
    selected: frozenset[str] = field(default_factory=frozenset)
    encoded: Callable[[], bytes | None] | None = None
    assumed: Opsets | None = None
    verified: bool = False
    infers: bool = True
    inference: InferenceClient = field(default_factory=InferenceClient)
    tables: tuple[OperatorTable, ...] = field(default_factory=default_tables)


_MAX_SEARCHES = 200
"""The maximum number of searches for similar names in one model; each search is slow."""


class CheckedModel:
    """A model or fragment to check, and its scopes: the graphs and function bodies in it.

    Attributes:
        model: the model; None for a fragment.
        ir_version: the IR version of the model; 0 for a fragment, or if the model has none.
        options: the settings of the check.
        resolved: applies the decorators `@set` and `@unset`, which override fields of statements.
        scopes: one scope for each graph and function body; outer scopes precede nested ones.
        main: the scope of the main graph; None if there is none.
        functions: maps the (domain, name, overload) of each function to the scope of its body. If
            several functions have the same (domain, name, overload), the first one counts.
        memo: a cache of results that several families of rules use (see `cache_in_memo`). The keys
            are functions, or names of classes such as `"ShapeInference"`.
        found: the findings of the families of rules that have already run, also findings of
            disabled rules.
        cascades: the findings that are not reported because they follow from other findings.
    """

    def __init__(self, root: Model | Fragment, options: Options) -> None:
        self.root = root
        self.model = root if isinstance(root, Model) else None
        self.options = options
        resources = self.model.resources if self.model else {}
        self.resolved = ResolvedFields(resources, verified=options.verified)
        self.ir_version = (self.model.ir_version or 0) if self.model else 0
        self.scopes: list[Scope] = []
        self.main: Scope | None = None
        self.functions: dict[FunctionKey, Scope] = {}
        self.memo: dict[object, Any] = {}
        self.found: list[Finding] = []
        self.cascades: list[Finding] = []
        self._searches = 0
        if isinstance(root, Model):
            self._add_model(root)
        else:
            self._add_fragment(root)

    @cached_property
    def schemas(self) -> Schemas:
        """The operator schemas of the installed onnx and of schema files."""
        return Schemas(self.options.tables)

    @property
    def node_count(self) -> int:
        """The number of nodes in all scopes."""
        return sum(len(scope.nodes) for scope in self.scopes)

    @property
    def is_recursive(self) -> bool:
        """Whether an earlier rule has found a recursive function.

        Shape inference skips models with recursive functions.
        """
        return any(finding.code == "function-recursive" for finding in self.found)

    @property
    def has_graph(self) -> bool:
        """Whether the main graph is checked: False if `@set` or `@unset` overrides this graph."""
        return self.model is None or "graph" not in changed_fields(self.model.decorators)

    def nodes(self) -> Iterator[tuple[Scope, Node]]:
        """Yield every node with its scope."""
        for scope in self.scopes:
            for node in scope.nodes:
                yield scope, node

    def active(self, *codes: str) -> bool:
        """Whether at least one of the rules with these codes is enabled."""
        return not self.options.active.isdisjoint(codes)

    def nearest(self, name: str, candidates: Iterable[str]) -> str | None:
        """Return the candidate most similar to a name (see `nearest_name`); None if there is none.

        After `_MAX_SEARCHES` calls, return None without a search.
        """
        if not self.may_suggest:
            return None
        self._searches += 1
        return nearest_name(name, candidates)

    @property
    def may_suggest(self) -> bool:
        """Whether `nearest` may search again: it has searched fewer than `_MAX_SEARCHES` times."""
        return self._searches < _MAX_SEARCHES

    def is_selected(self, code: str) -> bool:
        """Whether the user selected the rule `code` explicitly.

        Some rules then also report minor cases.
        """
        return code in self.options.selected

    def _add_model(self, model: Model) -> None:
        opsets = imported_opsets(model.opset_imports)
        if self.ir_version in (1, 2) and not model.opset_imports:
            opsets = {"": 1}  # IR versions 1 and 2 imply this import
        if self.has_graph:
            self.main = self._add_graph(model.graph, "main", None, None, opsets)
        for training in model.training:
            for graph, kind in (
                (training.initialization, "initialization"),
                (training.algorithm, "algorithm"),
            ):
                if graph is not None:
                    scope = self._add_graph(graph, kind, None, None, opsets)  # type: ignore[arg-type]
                    scope.main_graph = self.main if kind == "algorithm" else None
        for function in model.functions:
            scope = self._add_function(function)
            self.functions.setdefault(function_key(scope.owner), scope)

    def _add_fragment(self, fragment: Fragment) -> None:
        match fragment.item:
            case Graph() as graph:
                self._add_graph(graph, "fragment", None, None, self.options.assumed)
            case Function() as function:
                scope = self._add_function(function)
                self.functions[function_key(scope.owner)] = scope
            case Node() as node:
                self._add_nodes([node])
            case list() as nodes:
                self._add_nodes(nodes)

    def _add_nodes(self, nodes: list[Node]) -> None:
        """Add a graph for a list of nodes; values that no node computes become its inputs."""
        defined = {name for node in nodes for name in node.outputs}
        used = dict.fromkeys(name for node in nodes for name in node.inputs if name)
        graph = Graph("nodes", nodes=nodes)
        graph.inputs = [ValueInfo(name) for name in used if name not in defined]
        self._add_graph(graph, "nodes", None, None, self.options.assumed)

    def _add_graph(
        self, tree: Graph, kind: Kind, parent: Scope | None, holder: Node | None,
        opsets: Opsets | None,
    ) -> Scope:  # fmt: skip
        graph = self.resolved.graph(tree) if tree.decorators else tree
        function = parent.function if parent is not None else None
        scope = Scope(
            tree, tree, kind, graph.name, parent, holder, function=function, opsets=opsets
        )
        scope.quantization = graph.quantization
        self._add_values(scope, graph)
        if any(d.name == DECORATOR for d in tree.decorators):
            scope.infos = [*_infos_to_copy(tree, scope.initializers), *scope.infos]
        self._finish(scope, graph.nodes)
        return scope

    def _add_function(self, tree: Function) -> Scope:
        function = self.resolved.function(tree) if tree.decorators else tree
        opsets = imported_opsets(function.opset_imports)
        scope = Scope(tree, function, "function", function.name, function=function, opsets=opsets)
        self._add_values(scope, function)
        self._finish(scope, function.nodes)
        return scope

    def _add_values(self, scope: Scope, owner: Graph | Function) -> None:
        """Set the values of a scope to those of `owner`, with their decorators applied."""
        scope.inputs = [self._value(value) for value in owner.inputs]
        scope.outputs = [self._value(value) for value in owner.outputs]
        scope.infos = [self._value(value) for value in owner.values if value.data is None]
        scope.initializers = [
            self._initializer(value, is_input=is_input)
            for values, is_input in ((owner.inputs, True), (owner.values, False))
            for value in values
            if value.data is not None
        ]

    def _initializer(self, value: ValueInfo, *, is_input: bool) -> ValueInfo:
        if value.decorators:
            value = self.resolved.initializer(value, is_input=is_input)
        return self.resolved.small_data(value)

    def _value(self, value: ValueInfo) -> ValueInfo:
        return self.resolved.value(value) if value.decorators else value

    def _finish(self, scope: Scope, nodes: list[Node]) -> None:
        """Resolve the nodes of a scope; add the scope and then its nested graphs to `scopes`."""
        if any(node.decorators for node in nodes):
            make = self.resolved.node
            nodes = [make(node) if node.decorators else node for node in nodes]
        lists = rich_lists(nodes)  # keeps the lists alive, so that no `id()` is reused
        resolved_nodes = self.resolved.whole_lists(nodes, lists)
        if resolved_nodes is not nodes:
            nodes, lists = resolved_nodes, rich_lists(resolved_nodes)
        scope.nodes = nodes
        scope.find_definitions()
        self.scopes.append(scope)
        rich = set(map(id, lists))
        for index, node in enumerate(nodes) if rich else ():
            if id(node.attributes) in rich:
                for attribute in node.attributes:
                    for graph in attribute_graphs((attribute,)):
                        child = self._add_graph(graph, "nested", scope, node, scope.opsets)
                        child.holder_index = index
                        child.attribute = attribute.name
                        scope.children.setdefault(index, []).append(child)


R = TypeVar("R")


def cache_in_memo(compute: Callable[[CheckedModel], R]) -> Callable[[CheckedModel], R]:
    """Decorator that caches the results of `compute` in the `memo` of its argument."""

    @wraps(compute)
    def lookup(subject: CheckedModel) -> R:
        if compute not in subject.memo:
            subject.memo[compute] = compute(subject)
        result: R = subject.memo[compute]
        return result

    return lookup


def _infos_to_copy(graph: Graph, initializers: list[ValueInfo]) -> list[ValueInfo]:
    """Return the `value_info`s that `@value_info(…)` adds for initializers, inputs and outputs.

    See grammar/SPEC.md, section 10. Return [] if the decorator is invalid. `initializers` are the
    graph's initializers after their decorators are applied.
    """
    try:
        order = order_of(graph)
        copied = [e for e in value_info_entries(graph, order) if e.part not in ("values", "nodes")]
    except ValueInfoError:  # the encoder reports the error
        return []
    initializers_by_name = {("initializers", value.name): value for value in initializers}
    values = [
        initializers_by_name.get((e.part, e.name), ValueInfo(e.name, e.type, at=e.at))
        for e in copied
    ]
    return list(map(_declaration, values))


def _declaration(value: ValueInfo) -> ValueInfo:
    """Return the `value_info` entry of a value: its name and type.

    A sparse initializer gets a sparse tensor type, even if it is declared with a dense type.
    """
    type = value.type
    if isinstance(value.data, SparseTensor) and not isinstance(type, SparseTensorType):
        type = SparseTensorType(value.data.values.type.element, value.data.dims)
    return ValueInfo(value.name, type, at=value.at)


def function_key(function: Graph | Function) -> FunctionKey:
    """Return the (domain, name, overload) of a function, which identify it in a model."""
    assert isinstance(function, Function)
    return plain_domain(function.domain), function.name, function.overload or ""


def operator_key(node: Node) -> FunctionKey:
    """Return the key of the operator or function that a node calls."""
    return plain_domain(node.domain), node.op_type, node.overload or ""


F = TypeVar("F", bound=Callable[..., Any])


def cache_by_id(compute: F) -> F:
    """Return a function that caches the results of `compute` by the `id()` of each argument."""
    results: dict[tuple[int, ...], tuple[Any, object]] = {}

    def lookup(*arguments: Any) -> Any:
        key = (*map(id, arguments),)
        try:
            return results[key][0]
        except KeyError:
            # The cache keeps the arguments alive, so that no `id()` is reused.
            results[key] = compute(*arguments), arguments
            return results[key][0]

    return cast("F", lookup)
