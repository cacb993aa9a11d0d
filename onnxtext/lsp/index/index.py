# SPDX-License-Identifier: Apache-2.0
"""Index one version of a document: definitions and uses of names, and statements by offset.

All features read the index. For a text with errors, it is built from a partial syntax tree. A scope
is a graph or function body, as in the checker (IR spec, Names Within a Graph).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property
from operator import attrgetter
from typing import Any

from onnxtext.ast.model import Fragment, Function, Graph, Model, Node, ValueInfo
from onnxtext.ast.tensors_and_attributes import Reference
from onnxtext.checker.context.checked_model import CheckedModel, FunctionKey, Options, operator_key
from onnxtext.checker.context.finding import Place
from onnxtext.checker.context.operator_resolution import Target, resolve_targets
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import Schemas
from onnxtext.checker.engine.finding_positions import TextPlaces
from onnxtext.lsp.index.missing_positions import find_end, find_heads, limit_statements
from onnxtext.lsp.index.multiline_strings import TextBlocks
from onnxtext.lsp.index.operators import schemas_of
from onnxtext.lsp.index.plain_statements import match_plain
from onnxtext.lsp.index.resolve_section_names import section_occurrences, value_strings
from onnxtext.lsp.index.section_names import SectionName, section_names
from onnxtext.lsp.index.statement_spans import LocatedSpans, SpanMapCache
from onnxtext.lsp.index.symbols import (
    Group,
    Key,
    Occurrence,
    Role,
    Statement,
    Symbol,
    parameter_names,
)
from onnxtext.source import Source, Span
from onnxtext.syntax.section_spans import SectionSpan, section_spans


class Index:
    """The index of one version of a document.

    Attributes:
        root: its syntax tree, which may be partial; None if nothing could be parsed.
        subject: the checker's data about `root`, such as scopes; None if nothing could be parsed.
        statements: all statements, in the order of the text.
        labels: the cache of `resolve_section_names.node_labels`, by the `id` of the scope.
    """

    def __init__(
        self,
        source: Source,
        root: Model | Fragment | None,
        cache: SpanMapCache,
        schemas: Schemas | None = None,
    ) -> None:
        self.source = source
        self.root = root
        self.model = root if isinstance(root, Model) else None
        self._cache = cache
        self._located: dict[int, LocatedSpans | None] = {}
        self._heads: dict[int, list[tuple[Key, Span]]] = {}
        self._value_starts: set[int] = set()
        self._ends: dict[int, int] = {}
        self._inputs: dict[int, frozenset[str]] = {}
        self.labels: dict[int, dict[str, int]] = {}
        self.schemas = schemas or schemas_of(None)
        self.subject: CheckedModel | None = None if root is None else CheckedModel(root, Options())
        if self.subject is not None:
            self.subject.schemas = self.schemas
        self.scopes: list[Scope] = [] if self.subject is None else self.subject.scopes
        self._numbers = {id(scope): index for index, scope in enumerate(self.scopes)}
        self.statements: list[Statement] = []
        self._symbols: dict[Key, Symbol] = {}
        for scope in self.scopes:
            self._values(scope)
            self._nodes(scope)
        self._by_scope = list(self.statements)  # grouped by scope, as in `scopes`
        self.statements.sort(key=attrgetter("at"))
        self.starts = [statement.at for statement in self.statements]
        limit_statements(self)

    # ---- Building -----------------------------------------------------------------------------

    @cached_property
    def _by_item(self) -> dict[int, Statement]:
        """Maps the Python `id` of each item of the syntax tree to the statement of the item."""
        return {id(statement.item): statement for statement in self.statements}

    @cached_property
    def symbols(self) -> dict[Key, Symbol]:
        """The symbols of the text, by `Symbol.key`; computed on first use."""
        for scope in self.scopes:
            self._head(scope)
        for statement in self._by_scope:
            if statement.kind == "node":
                self._names(self.number(statement.scope), statement)
            else:
                defines = statement.group in ("input", "initializer")
                role: Role = "definition" if defines else "declaration"
                found = Occurrence(role, statement, (("name",),))
                scope, name = statement.scope, statement.item.name
                if statement.group == "output":
                    scope = self.output_owner(scope, name)
                self._add_value(self.number(scope), name, found)
        for span, (scope, name) in self.value_strings.items():
            self._add_value(self.number(scope), name, Occurrence("use", None, span=span))
        for key, name, found in section_occurrences(self, self._symbols):
            self._add(key, name, found)
        return self._symbols

    @cached_property
    def value_strings(self) -> dict[Span, tuple[Scope, str]]:
        """The values that strings in decorators name: (scope, name) by the string's span."""
        return value_strings(self)

    def _values(self, scope: Scope) -> None:
        """Add the statements of the inputs, outputs, initializers and value infos of a graph."""
        groups: tuple[tuple[list[ValueInfo], Group], ...] = (
            (scope.inputs, "input"),
            (scope.initializers, "initializer"),
            (scope.infos, "info"),
            (scope.outputs, "output"),
        )
        assert self.subject is not None
        originals = self.subject.resolved.originals
        for values, group in groups:
            for value in values:
                item: Any = originals.get(id(value), value)
                if item.at < 0 or item.at in self._value_starts:
                    continue
                self._value_starts.add(item.at)
                self.statements.append(Statement(item.at, "value_info", item, scope, group))

    def _nodes(self, scope: Scope) -> None:
        assert self.subject is not None
        originals = self.subject.resolved.originals
        nodes: list[Any] = scope.nodes
        if originals:
            nodes = [originals.get(id(node), node) for node in nodes]
        self.statements += [
            Statement(node.at, "node", node, scope, "node", index)
            for index, node in enumerate(nodes)
            if node.at >= 0
        ]

    def _names(self, scope_number: int, statement: Statement) -> None:
        """Add the occurrences of the names in a node."""
        item = statement.item
        for i, name in enumerate(item.outputs):
            if name:
                paths = (("outputs", i, "name"), ("outputs", i))
                self._add_value(scope_number, name, Occurrence("definition", statement, paths))
        for i, name in enumerate(item.inputs):
            if name:
                owner = self.resolve(statement.scope, name)
                occurrence = Occurrence("use", statement, (("names", i),))
                self._add_value(self._numbers[id(owner)], name, occurrence)
        self._calls(statement, item)

    def _head(self, scope: Scope) -> None:
        """Add the definitions of a function and its parameters."""
        for key, span in self.function_heads(scope):
            name = key[2][1] if key[0] == "function" else key[2]
            self._add(key, name, Occurrence("definition", None, span=span))

    def function_heads(self, scope: Scope) -> list[tuple[Key, Span]]:
        """Return (`Symbol.key`, span) of the name and of each parameter in a function's head."""
        cached = self._heads.get(id(scope))
        if cached is None:
            cached = self._heads[id(scope)] = list(find_heads(self, scope))
        return cached

    def _calls(self, statement: Statement, node: Node) -> None:
        """Add a node's uses of the called function and its parameters, and of each `@name`."""
        assert self.subject is not None
        key = operator_key(node)
        if key in self.subject.functions:
            calls = (("operator", -1), ("operator",))
            self._add(("function", 0, key), node.op_type, Occurrence("use", statement, calls))
            callee = self.subject.functions[key]
            parameters = parameter_names(callee)
            for i, attribute in enumerate(node.attributes):
                if attribute.name in parameters:
                    parameter: Key = ("parameter", self.number(callee), attribute.name)
                    name_path = (("attributes", i, "name"),)
                    self._add(parameter, attribute.name, Occurrence("use", statement, name_path))
        scope = statement.scope
        if scope.function is None:
            return
        for i, attribute in enumerate(node.attributes):
            if isinstance(attribute.value, Reference):
                name = attribute.value.name
                paths = (("attributes", i, "value", "name"),)
                self._add(
                    ("parameter", self.number(scope.outermost), name),
                    name,
                    Occurrence("use", statement, paths),
                )

    def _add_value(self, scope_number: int, name: str, occurrence: Occurrence) -> None:
        self._add(("value", scope_number, name), name, occurrence)

    def _add(self, key: Key, name: str, occurrence: Occurrence) -> None:
        symbol = self._symbols.get(key)
        if symbol is None:
            scope = None if key[0] == "function" else self.scopes[key[1]]
            symbol = self._symbols[key] = Symbol(key, name, scope)
        symbol.occurrences.append(occurrence)
        if occurrence.role == "definition":
            symbol.defined = True

    @cached_property
    def section_names(self) -> list[SectionName]:
        """The names in the sections at the end of the text."""
        return section_names(self.source.text, self.section_spans) if self.model is not None else []

    @cached_property
    def text_blocks(self) -> TextBlocks:
        """The multi-line strings of the text."""
        return TextBlocks(self.source.text)

    @cached_property
    def section_spans(self) -> list[SectionSpan]:
        """The positions of the sections at the end of the text."""
        return section_spans(self.source.text)

    @cached_property
    def outer_starts(self) -> list[int]:
        """The sorted offsets of the outermost graphs, the functions and the first section."""
        starts = [scope.original.at for scope in self.scopes if scope.holder is None]
        return sorted([*starts, *(section.at for section in self.section_spans[:1])])

    def original(self, item: Any) -> Any:
        """Return the original if `item` is a copy that the checker made; otherwise `item`."""
        assert self.subject is not None
        return self.subject.resolved.original(item)

    def statement_of(self, item: Node | ValueInfo) -> Statement | None:
        """Return the statement of a node or value; None if the text has no statement for it."""
        return self._by_item.get(id(self.original(item)))

    # ---- Queries ------------------------------------------------------------------------------

    def number(self, scope: Scope) -> int:
        """Return the index of a scope in `scopes`."""
        return self._numbers[id(scope)]

    def resolve(self, scope: Scope, name: str) -> Scope:
        """Return the scope that defines a value used in `scope`, or else the outermost scope."""
        if name in scope.position:
            return scope
        owner = scope.find_outer(name)
        if owner is not None:
            return owner[0]
        last = scope
        for around, _ in scope.outer():
            if name in around.position:  # used before its definition: the checker reports it
                return around
            last = around
        return last

    def output_owner(self, scope: Scope, name: str) -> Scope:
        """Return the scope that defines an output of `scope`; `scope` itself if no scope does.

        If an outer scope defines the output, the checker reports an error.
        """
        owner = self.resolve(scope, name)
        return owner if name in owner.position else scope

    @cached_property
    def places(self) -> TextPlaces:
        """An object that finds the spans of headers, graphs, functions and their names."""
        assert self.subject is not None
        return TextPlaces(self.source, self.subject, budget=10_000)

    def name_span(self, item: Graph | Function) -> Span:
        """Return the span of the name of a graph or function."""
        return self.places.span(Place(item, ("name",)))

    def chunk(self, statement: Statement) -> str:
        """Return a statement's text up to `Statement.limit`, which may be after its end."""
        return self.source.text[statement.at : statement.limit]

    def statement_span(self, statement: Statement) -> Span | None:
        """Return the span of a statement; None if its text has an error."""
        plain = match_plain(statement.kind, self.chunk(statement))  # faster than a span map
        if plain is not None:
            return Span(statement.at, statement.at + plain.end())
        located = self.located(statement)
        return None if located is None else located.span

    def located_item(self, item: Node | ValueInfo | None) -> LocatedSpans | None:
        """Return the spans of the statement of a node or value, and of the statement's parts.

        Return None if the text has no statement for `item`, or if the statement has an error.
        """
        statement = None if item is None else self.statement_of(item)
        return None if statement is None else self.located(statement)

    def located(self, statement: Statement) -> LocatedSpans | None:
        """Return the spans of a statement and its parts; None if its text has an error."""
        try:
            return self._located[statement.at]
        except KeyError:
            span_map = self._cache.find(statement.kind, self.chunk(statement))
            result = None if span_map is None else LocatedSpans(statement.at, span_map)
            self._located[statement.at] = result
            return result

    def span(self, occurrence: Occurrence) -> Span | None:
        """Return the span of an occurrence; None if its statement has an error."""
        if occurrence.span is not None:
            return occurrence.span
        assert occurrence.statement is not None
        located = self.located(occurrence.statement)
        if located is None:
            return None
        spans = (located.find(*path) for path in occurrence.path)
        return next((span for span in spans if span is not None), None)

    def statement_at(self, offset: int) -> Statement | None:
        """Return the innermost statement without errors around an offset; None if none is found."""
        last = bisect_right(self.starts, offset) - 1
        for index in range(last, max(last - _MAX_SEARCHED_STATEMENTS, -1), -1):
            statement = self.statements[index]
            located = self.located(statement)
            if located is not None and located.span.end >= offset:
                return statement
            if statement.scope.holder is None and statement.kind == "node":
                return None  # not in a nested graph: all earlier statements end before this node
        return None

    def statements_in(self, start: int, end: int) -> list[Statement]:
        """Return the statements that begin in [start, end), and those that may contain `start`.

        The latter are the last statement before `start`, and the nodes around that statement; they
        may also end before `start`.
        """
        first = max(bisect_left(self.starts, start) - 1, 0)
        result = self.statements[first : bisect_left(self.starts, end)]
        while result and result[0].scope.holder is not None:
            holder = self.statement_of(result[0].scope.holder)
            if holder is None or holder.at >= result[0].at:
                break
            result.insert(0, holder)
        return result

    def inputs(self, scope: Scope) -> frozenset[str]:
        """Return the names of the inputs of a graph or function."""
        cached = self._inputs.get(id(scope))
        if cached is None:
            cached = frozenset(value.name for value in scope.inputs)
            self._inputs[id(scope)] = cached
        return cached

    def target(self, statement: Statement) -> Target:
        """Return the signature or function that a node calls; None if unknown."""
        assert self.subject is not None
        return resolve_targets(self.subject)[id(statement.scope)][statement.number]

    def functions(self) -> dict[FunctionKey, Scope]:
        """Return the functions of the model, by key: (domain, name, overload)."""
        return {} if self.subject is None else self.subject.functions

    def scope_at(self, offset: int) -> Scope | None:
        """Return the innermost graph or function around an offset; else the main graph, if any."""
        best = None if self.subject is None else self.subject.main
        for scope in self.scopes:
            start = scope.original.at
            if 0 <= start <= offset <= self.scope_end(scope):
                best = scope
        return best

    def scope_end(self, scope: Scope) -> int:
        """Return the end of a graph or function, or an upper bound of it (see `find_end`)."""
        cached = self._ends.get(id(scope))
        if cached is None:
            cached = self._ends[id(scope)] = find_end(self, scope)
        return cached

    def scope_span(self, scope: Scope) -> Span:
        """Return the span of a graph or function."""
        start = max(scope.original.at, 0)
        return Span(start, max(start, self.scope_end(scope)))


_MAX_SEARCHED_STATEMENTS = 10_000
"""Maximum number of statements that `statement_at` searches."""
