# SPDX-License-Identifier: Apache-2.0
"""Lay out statements: the rules that the printer and the formatter share.

A statement is on one line if the line fits into `WIDTH` columns. Otherwise its lists are broken:
they have one item per line. All functions take and return text, so that the formatter can keep the
user's spelling.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from onnxtext.printer.broken_types import broken_type
from onnxtext.printer.layout import STEP, WIDTH, flat_items, one_per_line

ATTRIBUTE_WIDTH = 60
"""Maximum width of attributes on the operator's line if the whole node does not fit on a line."""

DECORATOR_WIDTH = 60
"""Maximum width of decorators on the line of a value or attribute."""

Literal = Callable[[str, int], str]
"""A function that returns the text of a literal.

The arguments are the indentation of the literal's line, and the maximum number of columns that the
literal may take on that line.
"""


# ---- Nodes ----------------------------------------------------------------------------------


@dataclass(slots=True)
class NodeParts:
    """The texts of the parts of a node.

    Attributes:
        label: the label and the space after it; "" if the node has no label.
        outputs: (type, name) of each output; the type is "" if the output has none.
        operator: the operator; "" if the node has none.
        attributes: all attributes on one line, without brackets; "" for a node without attributes,
            None if they need several lines.
        inputs: the names of the inputs.
        broken_inputs: for inputs with comments, a function that returns them with their brackets,
            one input per line. Its argument is the indentation of the line with the opening
            bracket.
        attributes_first: whether attributes that need several lines are before the inputs.
    """

    label: str
    outputs: Sequence[tuple[str, str]]
    operator: str
    attributes: str | None
    inputs: Sequence[str]
    broken_inputs: Callable[[str], str] | None = None
    attributes_first: bool = False


def node_lines(
    parts: NodeParts, indent: str, broken_attributes: Callable[[str], str], comma: str = ","
) -> str:
    """Return the text of a node, on one line if it fits.

    If it does not fit, attributes of more than `ATTRIBUTE_WIDTH` columns are printed one per line,
    after the inputs unless `attributes_first`. If the line is still too long, each input has its
    own line. If the operator does not fit after the outputs, each output has its own line, and the
    next line begins with the `=`.

    `indent` is the indentation of its line. `broken_attributes` returns the attributes with their
    brackets, one per line, given the indentation of the line with the opening bracket. `comma`
    follows the last input if each input has its own line.
    """
    room = WIDTH - len(indent)
    outputs = [f"{type} {name}" if type else name for type, name in parts.outputs]
    head = parts.label + ", ".join(outputs)
    call = f"= {parts.operator}" if parts.operator else "="
    if parts.attributes is not None:
        before = f"{call} <{parts.attributes}>" if parts.attributes else call
        flat = _join_call(head, f"{before} ({', '.join(parts.inputs)})")
        if len(flat) <= room and parts.broken_inputs is None:
            return flat
        unbroken = len(before if parts.outputs else _join_call(head, before))
        fits = unbroken + (2 if parts.inputs else 3) <= room
        if not parts.attributes or (len(parts.attributes) <= ATTRIBUTE_WIDTH and fits):
            return _broken_node(parts, head, before, None, indent, comma)
    return _broken_node(parts, head, call, broken_attributes, indent, comma)


def _join_call(head: str, call: str) -> str:
    return f"{head} {call}" if head and not head.endswith(" ") else head + call


def _broken_node(
    parts: NodeParts,
    head: str,
    call: str,
    attributes: Callable[[str], str] | None,
    indent: str,
    comma: str,
) -> str:
    """Return a node that needs several lines; break outputs and inputs only if necessary.

    `head` contains the label and the outputs, `call` the text from the `=` up to the inputs.
    `attributes` returns the attributes, one per line; None if `call` contains them. For the other
    parameters, see `node_lines`.
    """
    line = _join_call(head, call)
    end = 0 if attributes is None else 2  # the columns of ` <` after the inputs
    if parts.outputs and len(indent) + len(line) + (2 if parts.inputs else 3 + end) > WIDTH:
        line = f"{_output_lines(parts, indent)}\n{indent}{STEP}{call}"
        indent += STEP
    if attributes is not None and parts.attributes_first:
        line, attributes = f"{line} {attributes(indent)}", None
    inputs = f" ({', '.join(parts.inputs)})"
    if parts.broken_inputs is not None:
        inputs = f" {parts.broken_inputs(indent)}"
    elif parts.inputs and column(line, len(indent)) + len(inputs) + end > WIDTH:
        inputs = f" {one_per_line(parts.inputs, '()', indent, comma)}"
    return f"{line}{inputs}" + ("" if attributes is None else f" {attributes(indent)}")


def _output_lines(parts: NodeParts, indent: str) -> str:
    """Return the label and the outputs of a node, one output per line."""
    inner = indent + STEP
    (type, name), *rest = parts.outputs
    flat = f"{parts.label}{type}{' ' if type else ''}{name}"
    after = 1 if rest else 0
    if len(indent) + len(flat) + after <= WIDTH:
        first = flat
    elif parts.label:
        label = parts.label.rstrip(" ")
        first = f"{label}\n{inner}{declaration(type, name, inner, after)}"
    else:
        first = declaration(type, name, indent, after)
    others = [declaration(*output, inner) for output in rest]
    return f",\n{inner}".join([first, *others])


# ---- Values ---------------------------------------------------------------------------------


def declaration(type: str, name: str, indent: str, after: int = 1) -> str:
    """Return `type name`; break a long type, and put a name that does not fit on the next line.

    The type or the name may be "". The type begins on a line with the indentation `indent`. After
    the name, `after` columns stay free, such as 1 for a comma.
    """
    if not type:
        return name
    if not name:
        return type if len(indent) + len(type) + after <= WIDTH else broken_type(type, indent)
    if len(indent) + len(type) + 1 + len(name) + after <= WIDTH or "\n" in type:
        return f"{type} {name}"
    if len(indent) + len(type) > WIDTH:
        type = broken_type(type, indent)
        if len(type.rpartition("\n")[2]) + 1 + len(name) + after <= WIDTH:
            return f"{type} {name}"
    return f"{type}\n{indent}{STEP}{name}"


def assign_literal(head: str, write: Literal, indent: str, equals: str = " =") -> str:
    """Return `head = literal`, with the literal after the `=` or on the next line.

    The literal is on the next line if its first line does not fit after the `=`, but fits on the
    next line.

    `head` is the text before the `=`, and may have several lines. `write` returns the literal, and
    is called once for each position that is tried. `indent` is the indentation of the statement.
    `equals` is the text between head and literal: "" for most tensors in attributes.
    """
    head += equals
    start = column(head, len(indent)) + 1
    literal = write(indent, WIDTH - start - 1)
    if not literal:
        return head
    if _fits(literal, start):
        return f"{head} {literal}"
    inner = indent + STEP
    moved = write(inner, WIDTH - len(inner) - 1)
    if not _fits(moved, len(inner)):  # for example, a long string fits on no line
        return f"{head} {literal}"
    return f"{head}\n{inner}{moved}"


def _fits(text: str, start: int) -> bool:
    """Whether the first line of a text at column `start` fits, with a comma after the text."""
    first, several, _ = text.partition("\n")
    return start + len(first) + (0 if several else 1) <= WIDTH


def value_text(
    decorators: Decorators, type: str, name: str, write: Literal | None, indent: str
) -> str:
    """Return `decorators type name = literal`: the text of a value info or attribute.

    Short decorators are on the line of the name if this line then fits.

    The type is "" for an attribute or a value without a type. `write` is None if there is no `=`.
    """
    if decorators.inline:
        head = f"{decorators.inline}{type}{' ' if type else ''}{name}"
        text = head if write is None else assign_literal(head, write, indent)
        if _fits(text, len(indent)) and not text.startswith(f"{head} =\n"):
            return text
    if write is None:
        return decorators.lines + declaration(type, name, indent)
    head = declaration(type, name, indent, 2)
    return decorators.lines + assign_literal(head, write, indent)


def tensor_lines(
    decorators: Decorators, head: tuple[str, str, str], write: Literal, indent: str, budget: int
) -> str:
    """Return `decorators type name = literal`: the text of a tensor in an attribute.

    If the tensor begins its line and does not fit on this line, each decorator has its own line. If
    the rest is still too long, the name or the literal moves to the next line.

    `head` is (type, name, equals); the name may be "", `equals` is ` =` or "". `budget` is the
    maximum width of the first line.
    """
    if decorators.lines and not decorators.inline:
        rest = tensor_lines(Decorators(), head, write, indent, WIDTH - len(indent) - 1)
        return decorators.lines + rest
    type, name, equals = head
    first = f"{decorators.inline or decorators.lines}{type}{' ' if name else ''}{name}{equals}"
    literal = write(indent, budget - column(first, 0) - 1)
    text = f"{first} {literal}" if literal else first
    start = WIDTH - budget - 1
    if start > len(indent) or _fits(text, start):
        return text
    first = declaration(type, name, indent, len(equals) + 1)
    return decorators.lines + assign_literal(first, write, indent, equals)


def column(text: str, start: int) -> int:
    """Return the column at which a text ends if it begins at column `start`."""
    last = text.rfind("\n")
    return start + len(text) if last < 0 else len(text) - last - 1


@dataclass(frozen=True, slots=True)
class Decorators:
    """The text of the decorators before a value or attribute, in two layouts.

    Attributes:
        inline: all decorators on one line, with a space after each; "" if they are too long.
        lines: each decorator, followed by a line break and the indentation of the value.
    """

    inline: str = ""
    lines: str = ""

    @classmethod
    def of(cls, texts: Sequence[str], indent: str) -> Decorators:
        """Return both layouts of decorators, given their texts and the indentation of the value."""
        flat = " ".join(texts)
        is_short = texts and "\n" not in flat and len(flat) <= DECORATOR_WIDTH
        lines = "".join([f"{text}\n{indent}" for text in texts])
        return cls(f"{flat} " if is_short else "", lines)


# ---- Heads of graphs and functions ----------------------------------------------------------


@dataclass(slots=True)
class ListText:
    """A list of parameters, inputs or outputs of a graph or function, in two layouts.

    Attributes:
        before: the text before the opening bracket, such as ` => `.
        flat: the list on one line; None if it needs several lines.
        broken: the list with one item per line.
        uncommented: `broken` without its comments, because comments may exceed the line length;
            None if `broken` has no comments.
    """

    before: str
    flat: str | None
    broken: str
    uncommented: str | None = None

    @classmethod
    def of(
        cls, before: str, items: Sequence[str], brackets: str, indent: str, comma: str = ","
    ) -> ListText:
        """Return a list in both layouts; for the parameters, see `before` and `one_per_line`."""
        flat = f"{brackets[0]}{flat_items(items, brackets[1])}{brackets[1]}"
        return cls(
            before, None if "\n" in flat else flat, one_per_line(items, brackets, indent, comma)
        )


def decorated_name(decorators: Decorators, name: str, start: int, after: int) -> str:
    """Return the decorators and the name of a graph.

    They are on one line if the decorators are short and ` () => ()` fits after the name.

    The graph begins at column `start`; `after` columns stay free after the lists of inputs and
    outputs.
    """
    head = decorators.inline + name
    fits = column(head, start) + len(" () => ()") + after <= WIDTH
    return head if decorators.inline and fits else decorators.lines + name


def arrange_lists(lists: Sequence[ListText], start: int, after: int) -> str:
    """Return the lists one after the other, each on one line or with one item per line.

    While a line is too long, break the longest list that is still on one line: put each item on a
    line of its own.

    The first list begins at column `start`; `after` columns stay free after the last list.
    """
    flat = [item.flat for item in lists]

    def join(broken: Sequence[str]) -> str:
        """Return the text of all lists, with the text in `broken` for lists that are not flat."""
        return "".join(
            [
                item.before + (long if short is None else short)
                for item, short, long in zip(lists, flat, broken, strict=True)
            ]
        )

    broken = [item.broken for item in lists]
    measured = [item.uncommented or item.broken for item in lists]
    while any(flat):
        lines = f"{' ' * start}{join(measured)}{' ' * after}".split("\n")
        if max(map(len, lines)) <= WIDTH:
            break
        lengths = [0 if short is None else len(short) for short in flat]
        longest = lengths.index(max(lengths))
        if lengths[longest] <= 2:  # every list is `()` or already broken
            break
        flat[longest] = None
    return join(broken)
