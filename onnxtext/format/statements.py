# SPDX-License-Identifier: Apache-2.0
"""Write values, nodes, graphs and functions in the layout of `printer.graphs_and_nodes`."""

from __future__ import annotations

from functools import partial
from typing import TypeGuard

from onnxtext.format.attach_comments import find_list, required_list
from onnxtext.format.concrete_syntax_tree import Tree
from onnxtext.format.literals import LiteralWriter, dims_of, empty_literal, items_text
from onnxtext.format.token_text import (
    name_text,
    numbers_of,
    only_token,
    operator_text,
    string_text,
    word_text,
)
from onnxtext.format.tokens_with_comments import CommentedToken, drop_comments
from onnxtext.printer.broken_types import broken_type
from onnxtext.printer.layout import STEP, WIDTH, fill_list, flat_items
from onnxtext.printer.statement_layout import (
    Decorators,
    ListText,
    Literal,
    NodeParts,
    arrange_lists,
    column,
    decorated_name,
    node_lines,
    tensor_lines,
    value_text,
)


class StatementWriter(LiteralWriter):
    """Writes the statements of graphs."""

    # ---- Values -----------------------------------------------------------------------------

    def value(self, tree: Tree, indent: str) -> str:
        """Write a declaration or an initializer."""
        decorators = self.value_decorators(tree.child("decorators"), indent)
        type_tree = tree.child("type")
        if type_tree is None:
            name = name_text(tree.trees()[-1])
            return value_text(decorators, "", name, None, indent)
        type, name = self.type(type_tree), name_text(tree.required("name"))
        data = tree.child("data")
        write: Literal | None = None
        if data is not None:
            write = self.repeatable(partial(self.data, data, dims_of(type)))
        elif tree.origin == "dataless" or tree.alias == "initializer":
            write = empty_literal
        return value_text(decorators, type, name, write, indent)

    def _interface(self, tree: Tree, indent: str, *, several: bool = False) -> list[ListText]:
        """Write the inputs and the outputs of a graph or function.

        With `several`, a list of several values always has one value per line.
        """
        lists = []
        for part, before in zip(_inputs_and_outputs(tree), (" ", " => "), strict=True):
            if part is None:
                lists.append(ListText(before, "()", "()"))
                continue
            texts = [self.value(item.tree, indent + STEP) for item in required_list(part).items]
            lists.append(self._list(part, texts, before, "()", indent, several and len(texts) > 1))
        return lists

    def _list(
        self, tree: Tree, texts: list[str], before: str, brackets: str, indent: str,
        is_broken: bool = False,
    ) -> ListText:  # fmt: skip
        """Write a list in the head of a graph or function, in both layouts (see `ListText`).

        `before` is the text before the list. The list is not on one line if `is_broken`, or if it
        has comments or an item of several lines.
        """
        is_broken |= tree.commented or any("\n" in text for text in texts)
        flat = f"{brackets[0]}{flat_items(texts, brackets[1])}{brackets[1]}"
        broken = self.broken(required_list(tree), texts, brackets, indent)
        return ListText(
            before,
            None if is_broken else flat,
            broken,
            drop_comments(broken) if "#" in broken else None,
        )

    def _values(self, tree: Tree, indent: str, taken: int) -> str:
        """Write the values in `<…>` of a graph or function, with a space before them.

        `taken` is the number of columns that the text before and after the list takes.
        """
        listing = required_list(tree)
        texts = [self.value(item.tree, indent + STEP) for item in listing.items]
        single = len(texts) == 1 and "\n" not in texts[0] and not tree.commented
        if single and taken + len(texts[0]) + 3 <= WIDTH:
            return f" <{texts[0]}>"
        return f" {self.broken(listing, texts, '<>', indent)}"

    # ---- Graphs -----------------------------------------------------------------------------

    def main_graph(self, tree: Tree) -> str:
        """Write the main graph."""
        decorators = self.decorator_lines(tree.child("decorators"), "")
        head = decorators + name_text(tree.required("name"))
        return self._with_head(tree, head, self._interface(tree, "", several=True), "", 0)

    def graph(self, tree: Tree, decorators_tree: Tree | None, indent: str, start: int) -> str:
        """Write a graph in an attribute or a section.

        `start` is the column at which the graph begins.
        """
        name = name_text(tree.required("graph_name", "name"))
        decorators = self.value_decorators(decorators_tree, indent)
        return self._with_head(tree, name, self._interface(tree, indent), indent, start, decorators)

    def function_rest(self, tree: Tree, start: int) -> str:
        """Write a function without decorators and header; its name begins at the column `start`."""
        parameters = tree.child("parameters")
        lists = self._interface(tree, "")
        if parameters is not None:
            texts = [self._parameter(item.tree) for item in required_list(parameters).items]
            lists.insert(0, self._list(parameters, texts, " ", "<>", ""))
        return self._with_head(tree, name_text(tree.required("name")), lists, "", start)

    def _parameter(self, tree: Tree) -> str:
        attribute = tree if tree.origin == "dataless_attribute" else tree.child("attribute")
        return word_text(tree) if attribute is None else self.attribute(attribute, STEP)

    def _with_head(
        self, tree: Tree, head: str, lists: list[ListText], indent: str, start: int,
        decorators: Decorators | None = None,
    ) -> str:  # fmt: skip
        """Write a graph or function whose name begins at the column `start`.

        `head` is the name, perhaps after lines of decorators; `lists` are the lists after the name.
        """
        body = tree.required("body")
        listing = required_list(body)
        is_empty = not listing.items and not body.commented
        after = 2  # the number of columns of ` {`
        if is_empty:
            # ` {}`, or ` {},` for a graph in an attribute: only such a graph is indented.
            after = 4 if indent else 3
        values = tree.child("values")
        if values is not None and not required_list(values).items and not values.commented:
            values = None
        before = 2 if values is not None else after
        if decorators is not None:
            head = decorated_name(decorators, head, start, before)
        text = head + arrange_lists(lists, column(head, start), before)
        if values is not None:
            text += self._values(values, indent, column(text, start) + after)
        if is_empty:
            return f"{text} {{}}"
        texts = [self.node(item.tree, indent + STEP) for item in listing.items]
        return f"{text} {self.broken(listing, texts, '{}', indent, comma='')}"

    # ---- Nodes ------------------------------------------------------------------------------

    def node(self, tree: Tree, indent: str) -> str:
        """Write a node, laid out by `statement_layout.node_lines`."""
        label_tree, outputs_tree = tree.child("label"), tree.child("outputs")
        label = ""
        if label_tree is not None:
            name = label_tree.trees()
            label = f"[{word_text(name[0]) if name else ''}] "
        operator_tree, overload = tree.child("operator"), tree.child("overload")
        operator = "" if operator_tree is None else operator_text(operator_tree)
        if overload is not None:
            operator += f":{word_text(overload.trees()[0])}"
        before = self.decorator_lines(tree.child("decorators"), indent)
        if not before.endswith("\n" + indent):  # only `@unset(…)` is on the line of the node
            before, label = "", before + label
        attributes = tree.child("attributes")
        flat = "" if attributes is None else self._flat_attributes(attributes)
        outputs = [self._output(name) for name in _names(outputs_tree)]
        arguments = tree.child("arguments")  # a list with comments
        inputs = [self._output(name)[1] for name in _names((arguments or tree).child("names"))]
        parts = NodeParts(label, outputs, operator, flat, inputs)
        if arguments is not None:
            parts.broken_inputs = partial(self.broken, required_list(arguments), inputs, "()")
        if arguments and attributes and attributes.commented:  # comments keep their order
            parts.attributes_first = tree.parts.index(attributes) < tree.parts.index(arguments)
        return before + node_lines(parts, indent, partial(self._broken_attributes, attributes))

    def _output(self, tree: Tree | None) -> tuple[str, str]:
        """Return (type or "", name) of a node output; None stands for an omitted output."""
        if tree is None:
            return "", '""'
        type_tree = tree.child("type")
        if type_tree is None:
            return "", name_text(tree)
        return self.type(type_tree), name_text(tree.trees()[-1])

    def _flat_attributes(self, tree: Tree) -> str | None:
        """Write the attributes on one line; None if they do not fit, or have comments or graphs."""
        listing = required_list(tree)
        if tree.commented or any(_is_graph(item.tree) for item in listing.items):
            return None
        texts = [self.attribute(item.tree, "") for item in listing.items]
        if sum(len(text) + 2 for text in texts) > WIDTH:
            return None
        return None if any("\n" in text for text in texts) else flat_items(texts, ">")

    def _broken_attributes(self, tree: Tree | None, indent: str) -> str:
        """Write the attributes, one per line."""
        assert tree is not None
        listing = required_list(tree)
        texts = [self.attribute(item.tree, indent + STEP) for item in listing.items]
        return self.broken(listing, texts, "<>", indent)

    # ---- Attributes -------------------------------------------------------------------------

    def attribute(self, tree: Tree, indent: str) -> str:
        """Write `name: type = value`."""
        decorators = self.value_decorators(tree.child("decorators"), indent)
        type_tree = tree.child("attribute_type")
        type = "" if type_tree is None else f": {only_token(type_tree).text}"
        count = next((part.text for part in tree.parts if _is_numbers(part)), "")
        name = word_text(tree.required("name")) + type + "".join(count.split())
        if tree.alias == "attribute_type_only":
            return value_text(decorators, "", name, None, indent)
        write = partial(self.attribute_value, tree.trees()[-1])
        if not _holds_graph(tree):
            return value_text(decorators, "", name, self.repeatable(write), indent)
        head = f"{decorators.inline or decorators.lines}{name} = "
        return head + write(indent, WIDTH - column(head, len(indent)) - 1)

    def attribute_value(self, tree: Tree, indent: str, budget: int) -> str:
        """Write the value of an attribute."""
        first = tree.parts[0]
        if tree.origin == "repeated":
            elements = tree.child("elements")
            if elements is None:
                assert isinstance(first, CommentedToken)
                items = numbers_of(first)
            else:
                inner = indent + STEP
                items = [self._element(item, inner, WIDTH) for item in elements.trees()]
                items.append("...")
            return items_text(items, indent, budget)
        if tree.origin == "dataless_element":
            return self._dataless(tree, indent, budget)
        if _is_numbers(first):
            return fill_list(numbers_of(first), "[]", indent, budget)
        listing = find_list(tree)
        if listing is not None and listing.opening.text == "{":
            blob = only_token(listing.items[0].tree).text
            if tree.commented:
                return self.broken(listing, [blob], "{}", indent)
            return f"{{{blob}}}"
        if listing is None:
            assert isinstance(first, Tree)
            if first.origin == "record":
                return self.record(first, indent)
            return self._element(first, indent, budget)
        inner = indent + STEP
        room = WIDTH - len(inner) - 1
        texts = [self._element(item.tree, inner, room) for item in listing.items]
        kinds = [part.origin for part in listing.items[0].tree.trees()] if listing.items else []
        if kinds and kinds[0] in ("number", "string", "blob"):
            if tree.commented:
                return self.filled(listing, texts, "[]", indent)
            return fill_list(texts, "[]", indent, budget)
        return self.bracketed(tree, listing, texts, "[]", indent, budget)

    def _element(self, tree: Tree, indent: str, budget: int) -> str:
        """Write an element of an attribute: a number, string, reference, graph, tensor or type."""
        last = tree.parts[-1]
        assert isinstance(last, Tree)
        if len(tree.parts) == 2 and isinstance(tree.parts[0], CommentedToken):
            return f"@{word_text(last)}"
        decorators = tree.child("decorators")
        match last.origin:
            case "string":
                return string_text(last, indent)
            case "graph_value":
                return self.graph(last, decorators, indent, WIDTH - budget - 1)
            case "typed":
                inner = last.trees()[0]
                if inner.origin != "type":
                    return self.tensor(inner, decorators, indent, budget)
                before, type = self.inline_decorators(decorators, indent), self.type(inner)
                fits = column(before, 0) + len(type) <= budget
                return before + (type if fits else broken_type(type, indent))
        return only_token(last).text

    def _dataless(self, tree: Tree, indent: str, budget: int) -> str:
        """Write a tensor without data at the end of a list `<…>`.

        Its `=` and the closing `>` are one token, `=>`.
        """
        decorators = self.value_decorators(tree.child("decorators"), indent)
        first, *rest = tree.trees()[-1].parts
        type = first.text if isinstance(first, CommentedToken) else self.type(first)
        head = (type, "".join(map(word_text, rest)), " =")
        return tensor_lines(decorators, head, empty_literal, indent, budget)


def _inputs_and_outputs(tree: Tree) -> tuple[Tree | None, Tree | None]:
    """Return the lists before and after `=>`: the inputs (None if omitted), and the outputs."""
    lists = [part for part in tree.trees() if part.origin in ("inputs", "parameter_list")]
    lists = [part.trees()[0] if part.origin == "parameter_list" else part for part in lists]
    return (lists[0] if len(lists) > 1 else None), lists[-1]


def _names(tree: Tree | None) -> list[Tree | None]:
    """Return the names of inputs or outputs; None for an omitted name before a comma."""
    names: list[Tree | None] = []
    missing = True
    for part in () if tree is None else tree.parts:
        if isinstance(part, CommentedToken):
            if missing:
                names.append(None)
            missing = True
        else:
            names.append(part)
            missing = False
    return names


def _is_numbers(part: Tree | CommentedToken) -> TypeGuard[CommentedToken]:
    return isinstance(part, CommentedToken) and part.terminal == "NUMBERS"


def _is_graph(tree: Tree) -> bool:
    """Whether an attribute has the type `graph` or `graphs`, or a value of such a type."""
    type = tree.child("attribute_type")
    if type is not None and only_token(type).text in ("graph", "graphs"):
        return True
    return _holds_graph(tree)


def _holds_graph(tree: Tree) -> bool:
    """Whether the value of an attribute is a graph or contains graphs."""
    value = tree.child("attribute_value")
    if value is None:
        return False
    elements = value.child("elements")
    return any(
        part.child("graph_value") is not None
        for part in (value.trees() if elements is None else elements.trees())
    )
