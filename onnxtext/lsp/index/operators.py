# SPDX-License-Identifier: Apache-2.0
"""Operators and functions in the words of an editor: signatures, documentation, examples of use."""

from __future__ import annotations

import inspect
import re
from functools import cache
from typing import Any

from onnxtext.ast.model import Function
from onnxtext.ast.values import Attribute, AttributeType, Float32, Floats
from onnxtext.checker.context.scopes import Scope
from onnxtext.checker.context.signatures import (
    AttributeParameter,
    Parameter,
    Schemas,
    Signature,
    schema_of,
)
from onnxtext.checker.inference.explain import written
from onnxtext.printer.strings import quoted, word
from onnxtext.tensor.floats import float32_text

_QUOTED = re.compile(r"(?<![\w'])'([A-Za-z0-9_]+)[,.]?'(?!\w)|\"([A-Za-z0-9_]+)[,.]?\"")
_LISTED = re.compile(r"(?:one of|either|modes?|loss|apply):? ((?:[^.;]|\(.*?\))+)")
_TICKED = re.compile(r"`([A-Za-z0-9_]+)`")
_UPPER = re.compile(r"\b[A-Z]{3,}\b")
_LONGEST_DOC = 6000


@cache
def known_schemas() -> Schemas:
    """The operators that the installed onnx knows, read once for all documents."""
    return Schemas()


def parameter_text(parameter: Parameter) -> str:
    """A formal input or output: `X: T`, `B?: T`, `inputs...: T`."""
    mark = {"single": "", "optional": "?", "variadic": "..."}[parameter.option]
    return f"{parameter.name}{mark}: {parameter.type}"


def signature_text(signature: Signature) -> str:
    """A signature on one line, as a node is written."""
    outputs = ", ".join(map(parameter_text, signature.outputs))
    inputs = ", ".join(map(parameter_text, signature.inputs))
    name = f"{signature.domain}.{signature.name}" if signature.domain else signature.name
    required = [n for n, formal in signature.attributes.items() if formal.required]
    attributes = f" <{', '.join(f'{name} = …' for name in required)}>" if required else ""
    return f"{outputs} = {name}{attributes} ({inputs})"


@cache
def schema(signature: Signature) -> Any:
    """The schema of a signature."""
    return schema_of(signature)


def documentation(signature: Signature, *, full: bool = True) -> str:
    """The documentation of an operator in Markdown; only its first paragraph if not full."""
    found = schema(signature)
    doc = clean(found.doc or "")
    if not full:
        return doc.split("\n\n")[0]
    parts = [doc[:_LONGEST_DOC]]
    for title, formals in (("Inputs", found.inputs), ("Outputs", found.outputs)):
        if formals:
            rows = [f"- `{f.name}` (`{f.type_str}`): {one_line(f.description)}" for f in formals]
            parts.append(f"**{title}**\n\n" + "\n".join(rows))
    if found.attributes:
        rows = [f"- {attribute_line(signature, name)}" for name in found.attributes]
        parts.append("**Attributes**\n\n" + "\n".join(rows))
    return "\n\n".join(part for part in parts if part)


def clean(doc: str) -> str:
    """Documentation without its indentation."""
    return inspect.cleandoc(doc).strip()


def one_line(doc: str) -> str:
    """Documentation as one line."""
    return " ".join(doc.split())


def attribute_line(signature: Signature, name: str) -> str:
    """An attribute, its type, default and meaning, on one line."""
    formal = schema(signature).attributes[name]
    kind = AttributeType(signature.attributes[name].type).name.lower()
    default = default_text(signature, name)
    note = "required" if formal.required else f"default `{default}`" if default else "optional"
    return f"`{name}`: {kind}, {note}. {one_line(formal.description)}".rstrip()


def attribute_documentation(signature: Signature, name: str) -> str:
    """An attribute in Markdown."""
    formal = schema(signature).attributes[name]
    kind = AttributeType(signature.attributes[name].type).name.lower()
    default = default_text(signature, name)
    head = f"{name}: {kind}" + (f" = {default}" if default else "")
    note = "required attribute" if formal.required else "attribute"
    said = clean(formal.description)
    return f"```onnxtxt\n{head}\n```\n\n{note} of `{signature.name}`-{signature.since}\n\n{said}"


def default_text(signature: Signature, name: str) -> str:
    """The default of an attribute as the language writes it; "" if it has none."""
    import onnx

    proto = schema(signature).attributes[name].default_value
    if not proto.name and proto.type == onnx.AttributeProto.UNDEFINED:
        return ""
    value = onnx.helper.get_attribute_value(proto)
    return literal(value)


def literal(value: object) -> str:
    """A number, string or list as the language writes it."""
    match value:
        case bytes():
            return quoted(value.decode("utf-8", "surrogateescape"))
        case float():
            return float32_text(Float32.of(value).bits, point=True)
        case int():
            return str(value)
        case list() | tuple():
            return f"[{', '.join(map(literal, value))}]"
    return "…"


def enumerated(signature: Signature, name: str) -> list[str]:
    """The values that the documentation of a string attribute names; [] if it names none.

    Schemas do not list them, their descriptions do, in several ways: "Must be one of forward
    (default), reverse, or bidirectional", "'none': no reduction", "`zeros`(default), `border`".
    """
    if signature.attributes[name].type != AttributeType.STRING:
        return []
    said = one_line(schema(signature).attributes[name].description)
    default = default_text(signature, name).strip('"')
    for find in (_quoted_words, _listed_words, _TICKED.findall, _UPPER.findall):
        found = [word for word in find(said) if word not in signature.attributes]
        values = list(dict.fromkeys([*([default] if default else []), *found]))
        if len(values) > 1:
            return values
    return []


def _quoted_words(text: str) -> list[str]:
    return [next(filter(None, groups)) for groups in _QUOTED.findall(text)]


def _listed_words(text: str) -> list[str]:
    found = _LISTED.search(text)
    if found is None:
        return []
    bare = re.sub(r"\([^)]*\)", "", found.group(1))
    parts = re.split(r",|\bor\b|\band\b", bare)
    return [part.strip() for part in parts if re.fullmatch(r"\w+", part.strip())]


def placeholder(signature: Signature, name: str, formal: AttributeParameter) -> str:
    """What to write for an attribute to begin with."""
    default = default_text(signature, name)
    if default:
        return default
    match formal.type:
        case AttributeType.INT:
            return "0"
        case AttributeType.FLOAT:
            return "0.0"
        case AttributeType.STRING:
            return '""'
        case AttributeType.INTS | AttributeType.FLOATS | AttributeType.STRINGS:
            return "[]"
        case AttributeType.GRAPH:
            return "body () => () {}"
        case AttributeType.TENSOR:
            return "float[1] {0}"
    return ""


# ---- Functions ----------------------------------------------------------------------------------


def function_text(scope: Scope) -> str:
    """The head of a function on one line, as a node is written."""
    function = scope.owner
    assert isinstance(function, Function)
    outputs = ", ".join(_formal(value.name, value.type) for value in scope.outputs)
    inputs = ", ".join(_formal(value.name, value.type) for value in scope.inputs)
    name = f"{function.domain}.{function.name}" if function.domain else function.name
    overload = f":{function.overload}" if function.overload else ""
    attributes = ", ".join(map(parameter_of, function.attributes))
    shown = f" <{attributes}>" if attributes else ""
    return f"{outputs} = {name}{overload}{shown} ({inputs})"


def _formal(name: str, type: Any) -> str:
    return word(name) if type is None else f"{written(type)} {word(name)}"


def parameter_of(item: str | Attribute) -> str:
    """A parameter of a function: `alpha`, or `alpha: float = 1.0`."""
    if isinstance(item, str):
        return item
    kind = f": {item.type.name.lower()}" if item.type is not None else ""
    return f"{item.name}{kind}" + (f" = {value_text(item.value)}" if item.value is not None else "")


def value_text(value: object) -> str:
    """A short form of an attribute's value."""
    match value:
        case Float32():
            return float32_text(value.bits, point=True)
        case int():
            return str(value)
        case bytes():
            return quoted(value.decode("utf-8", "surrogateescape"))[:80]
        case tuple() if len(value) <= 8 and all(isinstance(item, (int, bytes)) for item in value):
            return f"[{', '.join(map(value_text, value))}]"
        case tuple() | Floats():
            return "[…]"
    return "…"


def function_documentation(scope: Scope) -> str:
    """What a function says of itself."""
    function = scope.owner
    assert isinstance(function, Function)
    return clean(function.doc_string or "")
