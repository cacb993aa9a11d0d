# SPDX-License-Identifier: Apache-2.0
"""Answer completion requests: operators, attributes, names, types, keys and keywords."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from lsprotocol import types as t
from pygls.capabilities import get_capability

from onnxtext.ast.model import Function
from onnxtext.ast.tensors_and_attributes import AttributeType
from onnxtext.checker.context.scopes import Opsets, Scope
from onnxtext.checker.context.signatures import Signature
from onnxtext.lsp.features.section_completion import SectionItems
from onnxtext.lsp.features.signature_help import newest_opsets, target_of
from onnxtext.lsp.features.snippets import escape_snippet
from onnxtext.lsp.index.completion_context import context_at
from onnxtext.lsp.index.operators import (
    attribute_line,
    documentation,
    function_documentation,
    function_text,
    parameter_of,
    schemas_of,
    signature_text,
    valid_strings,
    value_placeholder,
)
from onnxtext.lsp.index.symbols import parameter_names
from onnxtext.lsp.server.message_validation import data_field
from onnxtext.printer.quoting import quote_string, quote_word, value_name
from onnxtext.source import NAMED_SECTION, SECTIONS
from onnxtext.tensor.element_types import ELEMENTS

if TYPE_CHECKING:
    from onnxtext.lsp.server.server import Server

_MAX_ITEMS = 400
"""Maximum number of items in an answer; further typing narrows the list down."""

_CONTAINERS = ("seq", "map", "optional", "sparse_tensor", "opaque")
_DECORATORS = {
    "doc": "doc($1)", "meta": 'meta("$1": "$2")', "denotation": 'denotation("$1")',
    "segment": "segment(begin: $1, end: $2)", "device": 'device("$1")', "set": "set($1: $2)",
    "unset": "unset($1)", "value_info": "value_info(initializers)",
    "initializers": 'initializers("$1")',
}  # fmt: skip


def complete(server: Server, params: t.CompletionParams) -> t.CompletionList | None:
    """Return up to `_MAX_ITEMS` completions at the cursor; None if the document is not open."""
    document = server.documents.get(params.text_document.uri)
    if document is None:
        return None
    version = document.version
    offset = version.lines.offset(params.position)
    context = context_at(version.index, offset)
    snippets = get_capability(
        server.client_capabilities, "text_document.completion.completion_item.snippet_support"
    )
    builder = _CompletionItems(document, context, offset, snippets=bool(snippets))
    items = list(islice(builder.items(), _MAX_ITEMS + 1))
    return t.CompletionList(is_incomplete=len(items) > _MAX_ITEMS, items=items[:_MAX_ITEMS])


def resolve(server: Server, params: t.CompletionItem) -> t.CompletionItem:
    """Add the documentation of an operator or attribute to the client's item; return the item."""
    data: Any = params.data
    name = data_field(data, "operator", "")
    version = data_field(data, "version", 0)
    if name:
        document = server.documents.get(data_field(data, "uri", ""))
        schemas = document.version.schemas if document is not None else schemas_of(None)
        signature = schemas.find(data_field(data, "domain", ""), name, version)
        if signature is not None:
            attribute = data_field(data, "attribute", "")
            text = documentation(signature, full=False)
            if attribute in signature.attributes:
                text = attribute_line(signature, attribute)
            head = "" if attribute else f"```onnxtxt\n{signature_text(signature)}\n```\n\n"
            params.documentation = t.MarkupContent(t.MarkupKind.Markdown, head + text)
    return params


class _CompletionItems(SectionItems):
    """Makes the completion items of one request."""

    def items(self) -> Iterator[t.CompletionItem]:
        """Yield all completions at the cursor."""
        if not self.context.is_free:
            return
        match self.context.kind:
            case "operator":
                yield from self._operators()
            case "inputs":
                yield from self._values()
            case "attribute":
                yield from self._attributes()
            case "attribute-value":
                yield from self._attribute_values()
            case "attribute-type":
                for kind in AttributeType:
                    yield self.item(kind.name.lower(), t.CompletionItemKind.Class)
            case "declaration" | "body":
                yield from self._types()
            case "header" | "header-value":
                yield from self.header_items()
            case "decorator":
                for name, snippet in _DECORATORS.items():
                    yield self.item(
                        name, t.CompletionItemKind.Keyword, text=f"{name}(", snippet=snippet
                    )
            case "argument":
                yield from self.argument_items()
            case "section" if self.context.section is not None:
                yield from self.section_items(self.context.section)
            case "reference":
                for name in parameter_names(self.scope):
                    yield self.item(
                        quote_word(name), t.CompletionItemKind.Variable, detail="parameter"
                    )
            case "top" if any(s.original.at < self.context.span.start for s in self.index.scopes):
                for name in SECTIONS:
                    head = f'{name} "$1"' if name == NAMED_SECTION else name
                    yield self.item(
                        name, t.CompletionItemKind.Keyword, snippet=f"{head} {{\n  $0\n}}"
                    )

    # ---- Operators --------------------------------------------------------------------------

    def _opsets(self) -> Opsets:
        if self.scope is not None and self.scope.opsets is not None:
            return self.scope.opsets
        return newest_opsets(self.index.schemas)

    def _operators(self) -> Iterator[t.CompletionItem]:
        typed_domain = ".".join(self.context.operator)
        prefix = self.context.prefix.casefold()
        for scope in self.index.functions().values():
            yield from self._function(scope, typed_domain)
        schemas = self.index.schemas
        for domain, version in self._opsets().items():
            if typed_domain not in ("", domain):
                continue
            for name in schemas.names(domain):
                qualified = name if typed_domain == domain else f"{domain}.{name}"
                if prefix and not _matches(prefix, qualified):
                    continue
                signature = schemas.find(domain, name, version)
                if signature is not None:
                    yield self._operator(signature, qualified, version)

    def _operator(self, signature: Signature, label: str, version: int) -> t.CompletionItem:
        return self.item(
            label,
            t.CompletionItemKind.Function,
            snippet=_call(label, signature),
            detail=f"{signature.domain or 'ai.onnx'} {signature.since}",
            data=self._data(signature, version),
            order="1",
            deprecated=signature.deprecated,
        )

    def _data(self, signature: Signature, version: int, **more: str) -> dict[str, Any]:
        """Return the data from which `resolve` finds the documentation of an operator.

        `version` is the version of the operator set. For an attribute, `more` is `attribute=NAME`.
        """
        name, domain, uri = signature.name, signature.domain, self.document.uri
        return {"operator": name, "domain": domain, "version": version, **more, "uri": uri}

    def _function(self, scope: Scope, typed_domain: str) -> Iterator[t.CompletionItem]:
        function = scope.owner
        assert isinstance(function, Function)
        domain = function.domain or ""
        if typed_domain not in ("", domain):
            return
        dots = ".".join(map(quote_word, domain.split("."))) if domain else ""
        name = quote_word(function.name)
        label = name if typed_domain == domain else f"{dots}.{name}"
        overload = f":{quote_word(function.overload)}" if function.overload else ""
        names = [_tab_stop(n + 1, value.name) for n, value in enumerate(scope.inputs)]
        item = self.item(
            label + overload,
            t.CompletionItemKind.Function,
            snippet=f"{label}{overload} ({', '.join(names)})",
            detail=function_text(scope),
            order="0",
        )
        item.documentation = function_documentation(scope) or None
        yield item

    def _target(self) -> Signature | Scope | None:
        """Return the operator or function that the node at the cursor calls; None if unknown."""
        if not self.context.operator:
            return None
        return target_of(self.document, self.context, self.offset)

    # ---- Attributes -------------------------------------------------------------------------

    def _attributes(self) -> Iterator[t.CompletionItem]:
        target = self._target()
        if isinstance(target, Signature):
            for name, formal in target.attributes.items():
                if name in self.context.given:
                    continue
                start = value_placeholder(target, name)
                yield self.item(
                    name,
                    t.CompletionItemKind.Property,
                    text=f"{quote_word(name)} = ",
                    snippet=f"{quote_word(name)} = ${{1:{escape_snippet(start)}}}",
                    detail="required" if formal.required else f"default {start}",
                    data=self._data(target, target.since, attribute=name),
                    order="0" if formal.required else "1",
                )
        elif isinstance(target, Scope) and target.function is not None:
            parameters = target.function.attributes
            for label, parameter in zip(parameter_names(target), parameters, strict=True):
                if label not in self.context.given:
                    yield self.item(
                        label,
                        t.CompletionItemKind.Property,
                        text=f"{quote_word(label)} = ",
                        detail=parameter_of(parameter),
                    )

    def _attribute_values(self) -> Iterator[t.CompletionItem]:
        target = self._target()
        name = self.context.attribute
        if isinstance(target, Signature) and name in target.attributes:
            for value in valid_strings(target, name):
                text = quote_string(value)
                yield self.item(value, t.CompletionItemKind.EnumMember, text=text, order="0")
        for parameter in parameter_names(self.scope):
            text = f"@{quote_word(parameter)}"
            yield self.item(text, t.CompletionItemKind.Variable, detail="parameter", order="1")

    # ---- Values -----------------------------------------------------------------------------

    def _values(self) -> Iterator[t.CompletionItem]:
        prefix = self.context.prefix.casefold().lstrip('"')
        count = 0
        for scope, name in self._visible():
            if prefix and not _matches(prefix, name):
                continue
            yield self.item(
                name,
                t.CompletionItemKind.Variable,
                text=value_name(name),
                detail=self.document.type_of(scope, name),
                order=f"{count:05}",
            )
            count += 1

    def _visible(self) -> Iterable[tuple[Scope, str]]:
        """Yield (scope, name) of each value visible at the cursor, the nearest definition first.

        Outputs of the node at the cursor are left out.
        """
        scope = self.scope
        seen: set[str] = set()
        limit = self.offset
        while scope is not None:
            nodes = scope.nodes
            for name, position in reversed(scope.position.items()):
                before = position < 0 or 0 <= nodes[position].at < limit
                if before and name not in seen and name not in self.context.outputs:
                    seen.add(name)
                    yield scope, name
            limit = scope.holder.at if scope.holder is not None else limit
            scope = scope.parent or scope.main_graph

    # ---- Types and headers ------------------------------------------------------------------

    def _types(self) -> Iterator[t.CompletionItem]:
        for name in ELEMENTS:
            yield self.item(name, t.CompletionItemKind.Class, snippet=f"{name}[$1]", order="0")
        for name in _CONTAINERS:
            yield self.item(name, t.CompletionItemKind.Class, snippet=f"{name}($1)", order="1")


def _matches(prefix: str, name: str) -> bool:
    """Whether a name has the letters of `prefix` (casefolded) in this order, possibly with gaps."""
    letters = iter(name.casefold())
    return all(letter in letters for letter in prefix)


def _call(label: str, signature: Signature) -> str:
    """Return a snippet: `label`, and tab stops for the required attributes and inputs."""
    stop = 1
    attributes = []
    for name, formal in signature.attributes.items():
        if formal.required:
            start = escape_snippet(value_placeholder(signature, name))
            attributes.append(f"{quote_word(name)} = ${{{stop}:{start}}}")
            stop += 1
    inputs = []
    for index, formal_input in enumerate(signature.inputs):
        if index < signature.min_inputs and formal_input.option != "optional":
            inputs.append(_tab_stop(stop, formal_input.name))
            stop += 1
    shown = f" <{', '.join(attributes)}>" if attributes else ""
    return f"{label}{shown} ({', '.join(inputs) or '$' + str(stop)})$0"


def _tab_stop(number: int, text: str) -> str:
    """Return the tab stop `number` of a snippet, with `text` as its initial content."""
    return f"${{{number}:{escape_snippet(text)}}}"
