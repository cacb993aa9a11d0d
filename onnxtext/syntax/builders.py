# SPDX-License-Identifier: Apache-2.0
"""From the recorded actions of a statement to a Python function that does them.

What is the same in every such statement is done once, while the function is made. What the most
common actions do is written out in its source, so that they need no call; a test holds statements
that were jumped and statements that were fed equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from onnxtext.ast.model import Graph, Node, ValueInfo
from onnxtext.ast.records import Decorator, Field, Number, Record
from onnxtext.ast.types import (
    MapType,
    OptionalType,
    SequenceType,
    SparseTensorType,
    TensorType,
)
from onnxtext.ast.values import Attribute, Float32, Reference, Tensor
from onnxtext.syntax.actions import ACTIONS
from onnxtext.syntax.faults import Fault
from onnxtext.syntax.shapes import Call, Leaf

Builder = Callable[..., None]

_IMMUTABLE = (
    str, bytes, int, type(None), TensorType, SparseTensorType, SequenceType, OptionalType, MapType,
    Decorator, Field, Number, Record, Float32, Reference, Tensor,
)  # fmt: skip

_LONGEST = 200
"""Attributes with more text than this are hardly met twice."""

_MOST = 10_000
"""When more attributes than this are known to one builder, all are forgotten."""


class Shared:
    """Attributes made from tokens: those with equal tokens are one tuple."""

    def __init__(self, make: Callable[..., Sequence[Attribute]]) -> None:
        """Start with none.

        Args:
            make: makes a list of attributes of the tokens that are not the same in all of them.
        """
        self._make = make
        self._known: dict[tuple[str, ...], tuple[Attribute, ...]] = {}

    def get(self, *tokens: str) -> tuple[Attribute, ...]:
        """The attributes of some tokens."""
        known = self._known.get(tokens)
        if known is None:
            known = tuple(self._make(*tokens))
            if sum(map(len, tokens)) <= _LONGEST and _is_constant(known):
                if len(self._known) > _MOST:
                    self._known.clear()
                self._known[tokens] = known
        return known


def _is_constant(value: Any) -> bool:
    """Whether a value may be shared by many statements."""
    if isinstance(value, Attribute):
        held = value.value if isinstance(value.value, tuple) else (value.value,)
        return not any(isinstance(item, Graph) for item in held)
    if type(value) is tuple:
        return all(map(_is_constant, value))
    return isinstance(value, _IMMUTABLE)


class Compiler:
    """Makes the source of a builder.

    Attributes:
        fixed: texts of the tokens that are the same in every such statement; None for a token
            that differs.
    """

    def __init__(self, fixed: Sequence[str | None], names: Sequence[str], inside: bool) -> None:
        """Start a builder.

        Args:
            fixed: the texts of constant tokens.
            names: how the builder calls each token.
            inside: whether these names are the contents of strings, without their quotes.
        """
        self.fixed = fixed
        self.names = names
        self.inside = inside
        self.scope: dict[str, Any] = {"Node": Node, "ValueInfo": ValueInfo}
        self.places: dict[int, str] = {}

    def source(self, item: Any) -> str:
        """An expression that makes an item."""
        if item is None:
            return "None"
        if isinstance(item, Leaf):
            fixed = self.fixed[item.index]
            return self.names[item.index] if fixed is None else repr(fixed)
        assert isinstance(item, Call)
        if self._is_fixed(item):
            value = self._run(item)
            if _is_constant(value):
                return self.bind(value)
        return self._call(item)

    def bind(self, value: Any) -> str:
        """A name for a constant."""
        if value is None or type(value) in (int, str):
            return repr(value)
        name = f"c{len(self.scope)}"
        self.scope[name] = value
        return name

    def _is_fixed(self, item: Any) -> bool:
        if isinstance(item, Leaf):
            return self.fixed[item.index] is not None
        if isinstance(item, Call):
            return not item.reduction.located and all(map(self._is_fixed, item.children))
        return True

    def _run(self, item: Any) -> Any:
        if isinstance(item, Leaf):
            return self.fixed[item.index]
        if isinstance(item, Call):
            assert item.reduction.action is not None
            return item.reduction.action(*[self._run(child) for child in item.children])
        return item

    def _call(self, call: Call) -> str:
        name = call.reduction.name
        children = call.children
        # What these actions do is said by the language itself.
        match name:
            case "list_first":
                return f"[{self.source(children[0])}]"
            case "list_more":
                first = self.source(children[0])
                if first.startswith("["):
                    return f"{first[:-1]}, {self.source(children[1])}]"
            case "list_of" | "untyped_output":
                return self.source(children[0])
            case "plain_name" | "value_name" | "tensor_name":
                return self.source(children[0])
            case "plain_string":
                leaf = self.source(children[0])
                return leaf if self.inside else f"{leaf}[1:-1]"
            case "label" if children[0] is not None:
                return self.source(children[0])
            case "node":
                direct = self._node(call)
                if direct is not None:
                    return direct
            case "untyped_value" if children[0] is None:
                value = self.source(children[1])
                return f"ValueInfo({value}, None, None, (), (), {self._place(call)})"
            case "typed_value" if children[0] is None:
                type, value = map(self.source, children[1:])
                return f"ValueInfo({value}, {type}, None, (), (), {self._place(call)})"
        arguments = [self.source(child) for child in children]
        if call.reduction.located:
            arguments.insert(0, self._place(call))
        function = f"do_{name}"
        self.scope[function] = ACTIONS[name]
        return f"{function}({', '.join(arguments)})"

    def _place(self, call: Call) -> str:
        return self.places.get(call.at, f"at[{call.at}]")

    def _node(self, call: Call) -> str | None:
        """A node of the plainest form: no decorators, no domain, no overload, nothing left out."""
        decorators, label, outputs, operator, overload, attributes, inputs = call.children
        if decorators is not None or overload is not None:
            return None
        op_types, defined, used = _items(operator), _items(outputs), _items(inputs)
        if op_types is None or len(op_types) != 1 or defined is None or used is None:
            return None
        if used == [None]:
            used = []
        if None in used or None in defined:
            return None
        names, types = [], []
        for output in defined:
            typed = isinstance(output, Call) and output.reduction.name == "typed_output"
            type, name = output.children if typed else (None, output)
            types.append(self.source(type))
            names.append(self.source(name))
        output_types = "()" if types == ["None"] * len(types) else _display(types)
        return (
            f"Node({self.source(op_types[0])}, {_display(list(map(self.source, used)))}, "
            f"{_display(names)}, {self._attributes(attributes)}, {self.source(label)}, "
            f"None, None, {output_types}, (), (), {self._place(call)})"
        )

    def _attributes(self, attributes: Any) -> str:
        """A node's attributes: a constant if they are fixed, else shared by equal tokens."""
        if attributes is None:
            return "()"
        if self._is_fixed(attributes):
            made = tuple(self._run(attributes))
            if _is_constant(made):
                return self.bind(made)
        leaves = [index for index in _leaves(attributes) if self.fixed[index] is None]
        if _has_located(attributes):
            return f"tuple({self.source(attributes)})"
        inner = Compiler(self.fixed, list(self.names), self.inside)
        for number, index in enumerate(leaves):
            inner.names[index] = f"a{number}"  # type: ignore[index]
        parameters = ", ".join([f"a{number}" for number in range(len(leaves))])
        expression = inner.source(attributes)
        make = eval(f"lambda {parameters}: {expression}", inner.scope)
        name = f"shared{len(self.scope)}"
        self.scope[name] = Shared(make).get
        return f"{name}({', '.join([self.names[index] for index in leaves])})"


def _items(item: Any) -> list[Any] | None:
    """The items of a recorded list; None if it was not made item by item."""
    found: list[Any] = []
    while isinstance(item, Call):
        match item.reduction.name:
            case "list_of":
                item = item.children[0]
            case "list_first":
                return [*item.children, *reversed(found)]
            case "list_more":
                found.append(item.children[1])
                item = item.children[0]
            case _:
                return None
    return None


def _leaves(item: Any) -> list[int]:
    if isinstance(item, Leaf):
        return [item.index]
    if isinstance(item, Call):
        return [index for child in item.children for index in _leaves(child)]
    return []


def _has_located(item: Any) -> bool:
    return isinstance(item, Call) and (
        item.reduction.located or any(map(_has_located, item.children))
    )


def _display(sources: Sequence[str]) -> str:
    """A tuple."""
    return f"({', '.join(sources)},)" if sources else "()"


def _define(
    items: Sequence[Any], compiler: Compiler, head: str, before: Sequence[str]
) -> Builder | None:
    try:
        sources = [compiler.source(item) for item in items]
    except Fault:
        return None
    if len(sources) == 1:
        body = f"add({sources[0]})"
    else:
        body = f"for item in ({', '.join(sources)}): add(item)"
    source = "\n ".join([head, *before, body])
    scope = compiler.scope
    exec(source, scope)
    builder: Builder = scope["build"]
    return builder


def compile_tokens(items: Sequence[Any], count: int) -> Builder | None:
    """A function of a statement's tokens.

    Args:
        items: as recorded.
        count: how many tokens the statement has.

    Returns:
        `build(tokens, at, add)`: the tokens' texts, their offsets, and the list's `append`.
    """
    names = [f"t[{index}]" for index in range(count)]
    compiler = Compiler([None] * count, names, inside=False)
    return _define(items, compiler, "def build(t, at, add):", [])


def compile_strings(items: Sequence[Any], tokens: Sequence[str], offset: int) -> Builder | None:
    """A function of the contents of a statement's strings; all else is constant.

    Args:
        items: as recorded; every place in them is that of the first token.
        tokens: the texts of the statement's tokens.
        offset: how far into the statement's chunk its first token stands.

    Returns:
        `build(parts, at, add)`: the statement split at its quotes, its offset, and the list's
        `append`; it raises `ValueError` if there is another number of strings.
    """
    fixed: list[str | None] = []
    names: list[str] = []
    unpacked = ["_"]
    for token in tokens:
        if token[0] == '"':
            names.append(f"s{len(unpacked)}")
            unpacked += [names[-1], "_"]
            fixed.append(None)
        else:
            names.append("")
            fixed.append(token)
    compiler = Compiler(fixed, names, inside=True)
    compiler.places = {0: f"at + {offset}"}
    return _define(items, compiler, "def build(p, at, add):", [f"{', '.join(unpacked)}, = p"])
