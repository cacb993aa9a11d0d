# SPDX-License-Identifier: Apache-2.0
"""Show signature help: the inputs and attributes of an operator while its call is typed."""

from __future__ import annotations

from lsprotocol import types as t

from onnxtext.ast.model import Function
from onnxtext.ast.qualified_names import plain_domain
from onnxtext.checker.context.scopes import Opsets, Scope
from onnxtext.checker.context.signatures import Schemas, Signature
from onnxtext.lsp.index.completion_context import Context, context_at
from onnxtext.lsp.index.document import Document
from onnxtext.lsp.index.keyword_documentation import ARGUMENTS, WORDS
from onnxtext.lsp.index.operators import (
    attribute_line,
    details,
    documentation,
    one_line,
    parameter_of,
    parameter_text,
)
from onnxtext.lsp.index.symbols import parameter_names
from onnxtext.printer.quoting import quote_word


def signature_help(document: Document, params: t.SignatureHelpParams) -> t.SignatureHelp | None:
    """Return the signature of the operator, function or decorator whose arguments the user types.

    `external(…)` is treated like a decorator. Return None elsewhere, and for an unknown operator or
    decorator.
    """
    offset = document.version.lines.offset(params.position)
    context = context_at(document.version.index, offset)
    if context.kind == "argument":
        return _of_arguments(context)
    if context.kind not in ("inputs", "attribute", "attribute-value") or not context.operator:
        return None
    target = target_of(document, context, offset)
    if isinstance(target, Signature):
        return _of_operator(target, context)
    if isinstance(target, Scope):
        return _of_function(target, context)
    return None


def target_of(document: Document, context: Context, offset: int) -> Signature | Scope | None:
    """Return the operator or function that `context.operator` names; None if unknown.

    The graph or function at `offset` determines the operator sets.
    """
    index = document.version.index
    domain = plain_domain(".".join(context.operator[:-1]))
    function = index.functions().get((domain, context.operator[-1], context.overload))
    if function is not None:
        return function
    scope = index.scope_at(offset)
    scope_opsets = scope.opsets if scope is not None else None
    opsets = scope_opsets or newest_opsets(index.schemas)
    version = opsets.get(domain)
    if version is None:
        return None
    return index.schemas.find(domain, context.operator[-1], version)


def newest_opsets(schemas: Schemas) -> Opsets:
    """Return the newest version of every known operator set, as imports of a model."""
    return {domain: schemas.newest(domain) or 1 for domain in schemas.domains()}


def _of_operator(signature: Signature, context: Context) -> t.SignatureHelp:
    name = signature.full_name
    outputs = ", ".join(map(parameter_text, signature.outputs))
    if context.kind == "inputs":
        labels = [parameter_text(formal) for formal in signature.inputs]
        docs = [one_line(text) for text in details(signature).inputs]
        label = f"{outputs} = {name} ({', '.join(labels)})"
        active = min(context.number, len(labels) - 1)
    else:
        names = [n for n in signature.attributes if n not in context.given]
        labels = names
        docs = [attribute_line(signature, n) for n in names]
        label = f"{outputs} = {name} <{', '.join(labels)}>"
        active = names.index(context.attribute) if context.attribute in names else 0
    return _help(label, labels, docs, active, documentation(signature, full=False))


def _of_function(scope: Scope, context: Context) -> t.SignatureHelp:
    function = scope.owner
    assert isinstance(function, Function)
    outputs = ", ".join(value.name for value in scope.outputs)
    if context.kind == "inputs":
        labels = [quote_word(value.name) for value in scope.inputs]
        label = f"{outputs} = {function.name} ({', '.join(labels)})"
        active = min(context.number, len(labels) - 1)
    else:
        labels = [parameter_of(item) for item in function.attributes]
        label = f"{outputs} = {function.name} <{', '.join(labels)}>"
        names = parameter_names(scope)
        active = names.index(context.attribute) if context.attribute in names else 0
    return _help(label, labels, [""] * len(labels), active, function.doc_string or "")


def _of_arguments(context: Context) -> t.SignatureHelp | None:
    """Return the signature help for `external(…)` or a decorator; None for other names."""
    name = "value_info" if context.attribute == "without" else context.attribute
    if name not in ARGUMENTS:
        return None
    labels = list(ARGUMENTS[name])
    docs = [ARGUMENTS[name][label] for label in labels]
    head = name if name == "external" else f"@{name}"
    active = context.number
    if name == "initializers":  # no fixed order of arguments: highlight none
        active = len(labels)
    if name == "value_info":
        active = labels.index("without") if context.attribute == "without" else len(labels)
    return _help(f"{head}({', '.join(labels)})", labels, docs, active, WORDS[name])


def _help(
    label: str, labels: list[str], docs: list[str], active: int, text: str
) -> t.SignatureHelp:
    parameters = [
        t.ParameterInformation(name, t.MarkupContent(t.MarkupKind.Markdown, doc) if doc else None)
        for name, doc in zip(labels, docs, strict=True)
    ]
    documented = t.MarkupContent(t.MarkupKind.Markdown, text) if text else None
    information = t.SignatureInformation(label, documented, parameters)
    return t.SignatureHelp([information], 0, max(active, 0))
