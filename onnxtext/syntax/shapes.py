# SPDX-License-Identifier: Apache-2.0
"""Statement shapes: what the LALR loop would do for a statement, found once and done again.

In a state where a list expects its next item, the same kinds of tokens do the same things for
ever, because LALR parsing is deterministic. So the loop is run once, on a copy of its stack, with
placeholders for the tokens and without running any action. If it comes back to exactly the same
stack, whatever token follows, with new items on the list, then the recorded actions are all that
such a statement ever needs: they become a small Python function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from onnxtext.ast.model import Graph, Node, ValueInfo
from onnxtext.ast.records import Decorator, Field, Number, Record
from onnxtext.ast.types import MapType, OptionalType, SequenceType, SparseTensorType, TensorType
from onnxtext.ast.values import Attribute, Float32, Reference, Tensor
from onnxtext.syntax.actions import ACTIONS
from onnxtext.syntax.faults import Fault
from onnxtext.syntax.machine import LIST_ACTIONS, Automaton, Machine, Reduction, Unexpected


@dataclass(frozen=True, slots=True)
class Leaf:
    """Stands for a token.

    Attributes:
        index: which of the statement's tokens.
    """

    index: int


@dataclass(frozen=True, slots=True)
class Call:
    """Stands for the value of a rule: its action will be run on these children."""

    reduction: Reduction
    at: int
    children: tuple[Any, ...]


class _Root:
    """Stands for the list that the statement adds items to."""


class Recorder(Machine):
    """A machine that records what actions would be run instead of running them."""

    __slots__ = ("items", "root")

    def __init__(self, automaton: Automaton, states: list[int], root: _Root) -> None:
        super().__init__(automaton, states)
        self.root = root
        self.items: list[Any] = []

    def evaluate(self, reduction: Reduction, at: int, children: list[Any]) -> Any:
        """A `Call`, or the list itself after an item was added to it."""
        if reduction.action is None:
            return children[0]
        if children and children[0] is self.root:
            if reduction.name not in LIST_ACTIONS:
                raise Unexpected(-1)
            self.items.append(children[1])
            return self.root
        return Call(reduction, at, tuple(children))


def record(machine: Machine, kinds: str, depth: int) -> list[Any] | None:
    """What a statement with these kinds of tokens would add to the list on top of the stack.

    Args:
        machine: in a list state; it is not changed.
        kinds: the kinds of the statement's tokens.
        depth: where the list is on the stack of values, from the top.

    Returns:
        The items as trees of `Call` and `Leaf`; None if the statement does not lead back to the
        same stack for every token that may follow.
    """
    root = _Root()
    recorder = Recorder(machine.automaton, list(machine.states), root)
    recorder.values = list(machine.values)
    recorder.values[-depth] = root
    recorder.where = list(machine.where)
    try:
        for index, kind in enumerate(kinds):
            recorder.feed(kind, Leaf(index), index)
    except (Unexpected, Fault):
        return None
    if not _comes_back(recorder, machine):
        return None
    return recorder.items or None


def _comes_back(recorder: Recorder, machine: Machine) -> bool:
    """Whether every token that the list state accepts leads back to the machine's very stack."""
    row = machine.automaton.rows[machine.states[-1]]
    ended = list(recorder.states)
    items: list[Any] | None = None
    for kind in row:
        attempt = Recorder(recorder.automaton, list(ended), recorder.root)
        attempt.values = list(recorder.values)
        attempt.where = list(recorder.where)
        attempt.items = list(recorder.items)
        try:
            while attempt.states != machine.states:
                target = attempt.automaton.rows[attempt.states[-1]].get(kind)
                if target is None or target >= 0 or len(attempt.states) < len(machine.states):
                    return False
                attempt.reduce(attempt.automaton.reductions[~target], 0)
        except Unexpected:
            return False
        if items is not None and attempt.items != items:
            return False
        items = attempt.items
    recorder.items = items or []
    return True


# ---- From recorded calls to a function ------------------------------------------------------

Builder = Callable[..., None]

_IMMUTABLE = (
    str, bytes, int, type(None), TensorType, SparseTensorType, SequenceType, OptionalType, MapType,
    Decorator, Field, Number, Record, Float32, Reference, Tensor,
)  # fmt: skip


def _is_constant(value: Any) -> bool:
    """Whether a value may be shared by many statements."""
    if isinstance(value, Attribute):
        held = value.value if isinstance(value.value, tuple) else (value.value,)
        return not any(isinstance(item, Graph) for item in held)
    if type(value) is tuple:
        return all(map(_is_constant, value))
    return isinstance(value, _IMMUTABLE)


def places(items: Sequence[Any]) -> set[int]:
    """The tokens whose offsets the items need: where each located rule begins."""
    found: set[int] = set()
    stack = list(items)
    while stack:
        item = stack.pop()
        if isinstance(item, Call):
            if item.reduction.located:
                found.add(item.at)
            stack += item.children
    return found


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
        arguments = [self.source(child) for child in children]
        if call.reduction.located:
            arguments.insert(0, self.places.get(call.at, f"at[{call.at}]"))
            direct = self._direct(name, call, arguments)
            if direct is not None:
                return direct
        function = f"do_{name}"
        self.scope[function] = ACTIONS[name]
        return f"{function}({', '.join(arguments)})"

    def _direct(self, name: str, call: Call, arguments: list[str]) -> str | None:
        """The plainest statements, made without their action; a test holds both equal."""
        if name == "untyped_value" and call.children[0] is None:
            return f"ValueInfo({arguments[2]}, None, None, (), (), {arguments[0]})"
        if name == "typed_value" and call.children[0] is None:
            return f"ValueInfo({arguments[3]}, {arguments[2]}, None, (), (), {arguments[0]})"
        if name != "node" or call.children[0] is not None or call.children[4] is not None:
            return None
        _, _, outputs, operator, _, attributes, names = call.children
        if not _is_first(operator) or _has_types(outputs) or _has_gaps(outputs):
            return None
        inputs = "()"
        if not (_is_first(names) and names.children[0] is None):
            if _has_gaps(names):
                return None
            inputs = f"({arguments[7][1:-1]},)"
        held = "()"
        if attributes is not None:
            if not arguments[6].startswith("["):
                return None
            held = f"({arguments[6][1:-1]},)"
        return (
            f"Node({arguments[4][1:-1]}, {inputs}, ({arguments[3][1:-1]},), {held}, "
            f"{arguments[2]}, None, None, (), (), (), {arguments[0]})"
        )


def _is_first(item: Any) -> bool:
    """Whether a list has one item."""
    return isinstance(item, Call) and item.reduction.name == "list_first"


def _has_gaps(item: Any) -> bool:
    """Whether an item of a list was left out."""
    return isinstance(item, Call) and any(
        child is None or _has_gaps(child)
        for child in item.children
        if item.reduction.name in ("list_first", "list_more")
    )


def _has_types(item: Any) -> bool:
    return isinstance(item, Call) and (
        item.reduction.name == "typed_output" or any(map(_has_types, item.children))
    )


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
