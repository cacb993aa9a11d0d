# SPDX-License-Identifier: Apache-2.0
"""Complete headers, blocks, names, keys and values in sections, and arguments of decorators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from lsprotocol import types as t

from onnxtext.ast.compact_form.list_order import PARTS
from onnxtext.ast.qualified_names import plain_domain
from onnxtext.ast.section_paths import PathStep
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.rules.quantization_annotations import KEYS as ANNOTATION_KEYS
from onnxtext.lsp.features.signature_help import newest_opsets
from onnxtext.lsp.features.snippets import escape_snippet, following_text, name_alone
from onnxtext.lsp.index.completion_context import Context
from onnxtext.lsp.index.document import Document
from onnxtext.lsp.index.index import Index
from onnxtext.lsp.index.resolve_section_names import node_labels, section_scope
from onnxtext.lsp.index.section_context import SectionContext, metadata_entries
from onnxtext.lsp.index.section_names import SectionName, graph_path, path_steps
from onnxtext.printer.quoting import quote_string, quote_word
from onnxtext.source import Span
from onnxtext.syntax.actions.headers import FUNCTION_KEYS, MODEL_KEYS
from onnxtext.syntax.actions.strings import name_of

_MAX_VALUES = 20
_MAX_VALUE_LENGTH = 80
_KEYWORD = t.CompletionItemKind.Keyword
_VARIABLE = t.CompletionItemKind.Variable
_PROPERTY = t.CompletionItemKind.Property
_VALUE = t.CompletionItemKind.Value

_BLOCKS = ("node", "value", "tensor", "output", "value_info", "graph", "function")
_BINDING = '{key}: ["$1": "$2"]'
_KEYS = {
    "training": {
        "initialization": "initialization: $1 () => () {{\n  $0\n}}",
        "algorithm": "algorithm: $1 () => () {{\n  $0\n}}",
        "initialization_binding": _BINDING,
        "update_binding": _BINDING,
    },
    "configuration": {"num_devices": "{key}: $1", "device": '{key}: ["$1"]'},
    "order": {"@value_info": "{key}($1)", "@initializers": "{key}($1)"},
    "resources": {"store": '{key}: "$1"', "safetensors": '{key}: "$1"'},
}


class SectionItems:
    """Makes the completion items of one request in headers, sections and decorators."""

    def __init__(self, document: Document, context: Context, at: int, *, snippets: bool) -> None:
        self.document = document
        self.index: Index = document.version.index
        self.text = document.version.text
        self.context = context
        self.scope = self.index.scope_at(at)
        self.offset = at
        self.snippets = snippets
        self.range = document.version.lines.range(context.span)
        self.following = following_text(self.text, at)

    def item(
        self,
        label: str,
        kind: t.CompletionItemKind,
        *,
        text: str | None = None,
        snippet: str | None = None,
        detail: str | None = None,
        data: Any = None,
        order: str = "",
        deprecated: bool = False,
    ) -> t.CompletionItem:
        """Return a completion that inserts `snippet` or, if there is none, `text` or the label."""
        written = label if text is None else text
        shown = snippet if self.snippets else None
        if shown and name_alone(shown, self.following):
            shown = None
        written = name_alone(written, self.following) or written
        return t.CompletionItem(
            label,
            kind=kind,
            detail=detail,
            data=data,
            sort_text=f"{order}{label}" if order else None,
            filter_text=written if written != label else None,
            insert_text_format=t.InsertTextFormat.Snippet if shown else None,
            text_edit=t.TextEdit(self.range, shown or written),
            tags=[t.CompletionItemTag.Deprecated] if deprecated else None,
        )

    def section_items(self, section: SectionContext) -> Iterator[t.CompletionItem]:
        """Yield the completions at the cursor in a section."""
        match section.kind:
            case "block":
                yield from self._blocks(section)
            case "key":
                yield from self._keys(section)
            case "value":
                yield from self._section_values(section)
            case "name":
                yield from self._names(section)
            case "pair-key" | "pair-value":
                yield from self._pairs(section)

    def _blocks(self, section: SectionContext) -> Iterator[t.CompletionItem]:
        """Yield the kinds of blocks and, inside a block, its keys."""
        for name in _BLOCKS:
            if name == "function" and len(section.blocks) > 1:
                continue
            named = "graph {" if name == "graph" else f"{name} $1 {{"
            yield self.item(name, _KEYWORD, snippet=f"{named}\n  $0\n}}", order="0")
        if len(section.blocks) > 1:
            yield from self._keys(section)

    def _keys(self, section: SectionContext) -> Iterator[t.CompletionItem]:
        """Yield the keys of a section; for metadata, keys that the block does not have yet.

        They are `key: above` for each key of the block above, then the keys that the text uses, the
        most frequent first.
        """
        if section.section != "metadata":
            for key, snippet in _KEYS.get(section.section, {}).items():
                text = f"{key}(" if key.startswith("@") else f"{key}: "
                yield self.item(key, _PROPERTY, text=text, snippet=snippet.format(key=key))
            return
        present, above = section.block.entries, section.above
        for key in above:
            if key not in present:
                spelled = f"{quote_word(key)}: above"
                yield self.item(spelled, _PROPERTY, detail="as in the block above", order="1")
        for index, (key, values) in enumerate(_by_frequency(metadata_entries(self.index))):
            if key not in present:
                yield self.item(
                    key,
                    _PROPERTY,
                    text=f"{quote_word(key)}: ",
                    snippet=f'{escape_snippet(quote_word(key))}: "$1"',
                    detail=f"{values.total()} in this text",
                    order=f"2{index:05}",
                )

    def _section_values(self, section: SectionContext) -> Iterator[t.CompletionItem]:
        """Yield values for a metadata key: `above`, and the key's values elsewhere in the text.

        In a section `quantization`, yield one snippet: a list with all keys of an annotation, and
        tab stops for their values.
        """
        if section.section == "quantization":
            pairs = ", ".join(f'"{name}": "${at}"' for at, name in enumerate(ANNOTATION_KEYS, 1))
            yield self.item(f"[{ANNOTATION_KEYS[0]}, …]", _VALUE, text="[", snippet=f"[{pairs}]")
            return
        if section.section != "metadata":
            return
        key = section.key
        if key in section.above:
            yield self.item("above", _KEYWORD, detail=_short(section.above[key]), order="0")
        counts = metadata_entries(self.index).get(key, Counter())
        for index, (value, count) in enumerate(counts.most_common(_MAX_VALUES)):
            if value and len(value) <= _MAX_VALUE_LENGTH:
                detail = f"{count} in this text"
                yield self.item(
                    name_of(value), _VALUE, text=value, detail=detail, order=f"1{index:05}"
                )

    # ---- Names ------------------------------------------------------------------------------

    def _names(self, section: SectionContext) -> Iterator[t.CompletionItem]:
        """Yield the names that fit at the cursor.

        They are names of nodes (labels or outputs), values, graph attributes or functions.
        """
        tokens = section.tokens
        kind = section.section
        if kind == "metadata":
            kind, tokens = str(tokens[0]), tokens[1:]
        if kind == "function":
            yield from self._functions()
            return
        steps = path_steps(tokens)
        span, path = Span(section.at, section.at), graph_path(steps)
        named = SectionName(section.at, "", span, path, section.function)
        scope = None if self.index.subject is None else section_scope(self.index, named)
        if scope is None:
            return
        if len(steps) % 2:
            yield from self._graph_attributes(scope, steps[-1][0])
            return
        in_brackets = bool(tokens) and tokens[-1] == "["
        if kind in ("node", "graph", "quantization") or in_brackets:
            yield from self._nodes(scope, kind, in_brackets)
        if kind not in ("node", "graph") and not in_brackets:
            for name, detail in _values_of(scope, kind):
                type = self.document.type_of(scope, name)
                yield self.item(
                    name, _VARIABLE, text=quote_word(name), detail=type or detail, order="0"
                )

    def _nodes(self, scope: Scope, kind: str, in_brackets: bool) -> Iterator[t.CompletionItem]:
        labels = Counter(node.name for node in scope.nodes if node.name)
        closing = "" if self.text[self.context.span.end :].startswith("]") else "]"
        for index, node in enumerate(scope.nodes):
            if kind == "graph" and index not in scope.children:
                continue
            if kind == "quantization" and not in_brackets and index not in scope.children:
                continue
            output = next(filter(None, node.outputs), "")
            if node.name and (labels[node.name] == 1 or in_brackets):
                label = quote_word(node.name)
                text = f"{label}{closing}" if in_brackets else f"[{label}]"
                shown = node.name if in_brackets else f"[{node.name}]"
                yield self.item(shown, _VARIABLE, text=text, detail=node.op_type, order="1")
            elif output and not in_brackets:
                yield self.item(
                    output, _VARIABLE, text=quote_word(output), detail=node.op_type, order="1"
                )

    def _graph_attributes(self, scope: Scope, node: PathStep) -> Iterator[t.CompletionItem]:
        """Yield the graph attributes of a node."""
        places = node_labels(self.index, scope) if node.is_label else scope.position
        children = scope.children.get(places.get(node.name, -1), ())
        for name, count in Counter(child.attribute for child in children).items():
            for index in range(count):
                text = quote_word(name) if count == 1 else f"{quote_word(name)}[{index}]"
                yield self.item(text, _PROPERTY, detail="graph")

    def _functions(self) -> Iterator[t.CompletionItem]:
        for domain, name, overload in self.index.functions():
            parts = [*filter(None, plain_domain(domain).split(".")), name]
            text = ".".join(map(quote_word, parts)) + (
                f":{quote_word(overload)}" if overload else ""
            )
            yield self.item(text, t.CompletionItemKind.Function)

    # ---- Pairs ------------------------------------------------------------------------------

    def _pairs(self, section: SectionContext) -> Iterator[t.CompletionItem]:
        """Yield names, as string literals, for the key or the value of a pair `"name": "name"`."""
        is_key = section.kind == "pair-key"
        if section.section == "quantization" and is_key:
            for name in ANNOTATION_KEYS:
                yield self.item(name, _PROPERTY, text=quote_string(name))
            return
        scope = None if self.index.subject is None else self.index.subject.main
        if scope is None or section.section not in ("quantization", "training"):
            return
        names = [value.name for value in scope.initializers]
        if section.section == "training" and not is_key:
            graph = "algorithm" if section.key == "update_binding" else "initialization"
            names = [
                value.name
                for other in self.index.scopes
                if other.kind == graph
                for value in other.outputs
            ]
        for name in names:
            yield self.item(name, _VARIABLE, text=quote_string(name))

    # ---- Decorators and headers -----------------------------------------------------------

    def argument_items(self) -> Iterator[t.CompletionItem]:
        """Yield completion items for an argument of a decorator.

        For `@meta`, the items are the metadata keys in the text. For `@value_info` and
        `@initializers`, the items are keywords, such as `inputs`, and the names of values. Other
        decorators have no items.
        """
        context = self.context
        if context.attribute == "meta":
            for index, (key, _) in enumerate(_by_frequency(metadata_entries(self.index))):
                snippet = f'{escape_snippet(quote_string(key))}: "$1"'
                yield self.item(
                    key, _PROPERTY, text=quote_string(key), snippet=snippet, order=f"{index:05}"
                )
            return
        if context.attribute not in (*PARTS, "without"):
            return
        for index, name in enumerate(PARTS.get(context.attribute, ())):
            if name not in context.given:
                yield self.item(name, _KEYWORD, order=f"0{index}")
        if context.attribute == "value_info" and "without" not in context.given:
            yield self.item(
                "without", _KEYWORD, text="without: [", snippet='without: ["$1"]', order="1"
            )
        if self.scope is None:
            return
        groups = [self.scope.initializers]
        if context.attribute != "initializers":
            groups += [self.scope.inputs, self.scope.outputs]
        names = [value.name for values in groups for value in values]
        for index, name in enumerate(dict.fromkeys(names)):
            if name not in context.given:
                detail = self.document.type_of(self.scope, name)
                yield self.item(
                    name, _VARIABLE, text=quote_string(name), detail=detail, order=f"2{index:05}"
                )

    def header_items(self) -> Iterator[t.CompletionItem]:
        """Yield the completions in a header: its keys, or the values of a key."""
        context = self.context
        if context.kind == "header":
            keys = MODEL_KEYS | FUNCTION_KEYS
            if "onnxtext" in context.given:
                keys = MODEL_KEYS
            elif any(0 <= scope.original.at < context.span.start for scope in self.index.scopes):
                keys = FUNCTION_KEYS  # after the main graph, only functions have headers
            for key in sorted(keys - set(context.given)):
                yield self.item(key, t.CompletionItemKind.Property, text=f"{key}: ")
        elif context.attribute == "opset_import":
            yield from self._opset_imports()
        elif context.attribute == "ir_version" and not context.in_list:
            import onnx

            for version in range(onnx.IR_VERSION, 2, -1):
                yield self._version(version)
        elif context.attribute == "onnxtext" and not context.in_list:
            yield self.item("1", t.CompletionItemKind.Value)

    def _opset_imports(self) -> Iterator[t.CompletionItem]:
        """Yield the newest version of each operator set; after `"domain":`, all versions of one."""
        newest = newest_opsets(self.index.schemas)
        if self.context.key is not None:
            domain = plain_domain(self.context.key)
            for version in range(newest.get(domain, 1), 0, -1):
                yield self._version(version)
            return
        imports = [f"{quote_string(domain)}: {version}" for domain, version in newest.items()]
        for text in [str(newest[""]), *imports]:
            written = text if self.context.in_list else f"[{text}]"
            yield self.item(text, t.CompletionItemKind.Value, text=written)

    def _version(self, version: int) -> t.CompletionItem:
        return self.item(str(version), t.CompletionItemKind.Value, order=f"{999 - version:03}")


def _by_frequency(entries: dict[str, Counter[str]]) -> list[tuple[str, Counter[str]]]:
    return sorted(entries.items(), key=lambda entry: -entry[1].total())


def _values_of(scope: Scope, kind: str) -> Iterator[tuple[str, str]]:
    """Yield (name, role or operator) of each value that a block of this kind can name."""
    groups: dict[str, list[Any]] = {
        "input": scope.inputs, "output": scope.outputs, "value info": scope.infos,
        "initializer": scope.initializers,
    }  # fmt: skip
    expected = {
        "tensor": ("initializer",), "output": ("output",),
        "value_info": ("value info", "initializer"),
        "value": ("input", "output", "value info"),
    }.get(kind, tuple(groups))  # fmt: skip
    seen: set[str] = set()
    for group in expected:
        for value in groups[group]:
            if value.name not in seen:
                seen.add(value.name)
                yield value.name, group
    if kind in ("tensor", "output"):
        return
    for node in scope.nodes:
        for index, name in enumerate(node.outputs):
            typed = index < len(node.output_types) and node.output_types[index] is not None
            if name and name not in seen and (typed or kind == "quantization"):
                seen.add(name)
                yield name, node.op_type


def _short(value: str) -> str:
    line = value.strip().strip('"').strip().partition("\n")[0]
    return line if len(line) <= _MAX_VALUE_LENGTH else line[:_MAX_VALUE_LENGTH] + "…"
