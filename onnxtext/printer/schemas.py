# SPDX-License-Identifier: Apache-2.0
"""Print schema files in the canonical layout (SPEC 19)."""

from __future__ import annotations

from collections.abc import Sequence

from onnxtext.ast.schemas import ANY, FormalAttribute, FormalValue, OperatorSchema, SchemaFile
from onnxtext.ast.types import Type
from onnxtext.printer.attributes import attribute_text
from onnxtext.printer.graphs_and_nodes import GraphPrinter, opsets_text
from onnxtext.printer.layout import STEP, WIDTH, fill_list, one_per_line
from onnxtext.printer.models import graph_printer
from onnxtext.printer.quoting import (
    SPECIAL_NUMBERS,
    SPECIAL_WORDS,
    quote_string,
    quote_word,
    string_value,
)
from onnxtext.printer.statement_layout import ListText, arrange_lists, column
from onnxtext.printer.types_and_tensors import type_text
from onnxtext.source import SECTIONS

KEYWORDS = frozenset((*SECTIONS, "where"))
"""Keywords that are quoted at the beginning of an operator's name, as in `"order".Op`."""


def print_schemas(file: SchemaFile) -> str:
    """Return the text of a schema file: header and signatures, with blank lines between them."""
    entries = [] if file.version is None else [f"onnxtext: {file.version}"]
    if file.opset_imports:
        entries.append(f"opset_import: {opsets_text(file.opset_imports, STEP)}")
    for key in ("producer_name", "producer_version", "doc_string"):
        value = getattr(file, key)
        if value is not None:
            entries.append(f"{key}: {string_value(value, STEP)}")
    head = one_per_line(entries, "<>", "") + "\n" if entries else ""
    texts = [f"{signature_text(schema)}\n" for schema in file.schemas]
    return head + ("\n" if head and texts else "") + "\n".join(texts)


def signature_text(schema: OperatorSchema) -> str:
    """Return the text of an operator schema: its decorators, signature and body."""
    lines = [f"@doc({string_value(schema.doc, '')})\n"] if schema.doc else []
    if schema.since != 1:
        lines.append(f"@since({schema.since})\n")
    if schema.deprecated is not None:
        reason = string_value(schema.deprecated, "") if schema.deprecated else ""
        lines.append(f"@deprecated({reason})\n")
    printer = graph_printer()
    name = _operator_name(schema)
    lists = [_values(schema.inputs, " "), _values(schema.outputs, " => ")]
    if schema.attributes or schema.others:
        lists.insert(0, _attributes(schema, printer))
    text = name + arrange_lists(lists, len(name), 2 if schema.body is not None else 0)
    if schema.constraints:
        text += _where(schema.constraints, column(text, 0))
    if schema.body is not None:
        text += f" {printer.body_text(schema.body, '')}"
    return "".join([*lines, text])


def _operator_name(schema: OperatorSchema) -> str:
    """Return the domain and name of an operator; quote the first word if it is a keyword."""
    parts = [*schema.domain.split("."), schema.name] if schema.domain else [schema.name]
    first = quote_word(parts[0])
    special = SPECIAL_WORDS | KEYWORDS
    if first in special or first.lower() in SPECIAL_NUMBERS:
        first = quote_string(parts[0])
    return ".".join([first, *map(quote_word, parts[1:])])


def _attributes(schema: OperatorSchema, printer: GraphPrinter) -> ListText:
    items = [_attribute(item, printer) for item in schema.attributes]
    items += ["..."] if schema.others else []
    return ListText.of(" ", items, "<>", "")


def _attribute(formal: FormalAttribute, printer: GraphPrinter) -> str:
    attribute = formal.attribute
    decorators = [_doc(formal.doc)] if formal.doc else []
    if formal.values:
        decorators.append(
            f"@values{fill_list([*map(quote_string, formal.values)], '()', STEP, WIDTH - 20)}"
        )
    kind = attribute.type.name.lower() if attribute.type is not None else "undefined"
    if attribute.value is None:
        option_sign = "" if formal.required else "?"
        text = f"{quote_word(attribute.name)}{option_sign}: {kind}"
    else:
        text = attribute_text(attribute, STEP, printer.graph_value)
        named = quote_word(attribute.name)
        if text.startswith(f"{named} = "):  # schema files always have the type
            text = f"{named}: {kind}{text[len(named) :]}"
    return _with_decorators(decorators, text)


def _values(formals: Sequence[FormalValue], before: str) -> ListText:
    return ListText.of(before, [_value(formal) for formal in formals], "()", "")


def _value(formal: FormalValue) -> str:
    decorators = [_doc(formal.doc)] if formal.doc else []
    option_sign = {"single": "", "optional": "?", "variadic": "..."}[formal.option]
    if formal.option == "variadic":
        if formal.min_arity > 1:
            decorators.append(f"@least({formal.min_arity})")
        if not formal.homogeneous:
            decorators.append("@heterogeneous()")
        option_sign += "" if formal.min_arity else "?"
    type = formal.type if isinstance(formal.type, str) else type_text(formal.type)
    return _with_decorators(decorators, f"{type} {quote_word(formal.name)}{option_sign}")


def _doc(text: str) -> str:
    return f"@doc({string_value(text, STEP)})"


def _with_decorators(decorators: Sequence[str], text: str) -> str:
    """Return the text of an item after its decorators, one decorator per line."""
    return "".join([f"{item}\n{STEP}" for item in decorators]) + text


def _where(constraints: dict[str, tuple[Type, ...] | None], start: int) -> str:
    items = [
        f"{name}: {ANY if types is None else ' | '.join(map(type_text, types))}"
        for name, types in constraints.items()
    ]
    flat = f" where {', '.join(items)}"
    if start + len(flat) + 2 <= WIDTH:
        return flat
    return f"\n{STEP}where\n{STEP}{STEP}" + f",\n{STEP}{STEP}".join(items)
