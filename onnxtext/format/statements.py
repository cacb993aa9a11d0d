# SPDX-License-Identifier: Apache-2.0
"""Write values, attributes, nodes, graphs and functions in the layout of `printer.graphs`."""

from __future__ import annotations

from onnxtext.format.attach import listing
from onnxtext.format.literals import LiteralWriter, dims_of
from onnxtext.format.token_text import (
    decoded,
    name_text,
    numbers_of,
    only_token,
    operator_text,
    string_text,
    word_text,
)
from onnxtext.format.tokens import Token
from onnxtext.format.tree import Tree
from onnxtext.printer.graphs import ATTRIBUTE_WIDTH, NAME_WIDTH
from onnxtext.printer.layout import STEP, WIDTH, flat_items


class StatementWriter(LiteralWriter):
    """Writes the statements of graphs."""

    # ---- Values -----------------------------------------------------------------------------

    def value(self, tree: Tree, indent: str) -> str:
        """Write a declaration or an initializer."""
        head = self.inline_decorators(tree.child("decorators"), indent)
        type_tree = tree.child("type")
        if type_tree is None:
            return head + name_text(tree.trees()[-1])
        name_tree = tree.child("name")
        assert name_tree is not None
        type = self.type(type_tree)
        text = f"{head}{type} {name_text(name_tree)}"
        if tree.origin == "dataless":
            return text + " ="
        if tree.alias != "initializer":
            return text
        data = tree.child("data")
        if data is None:
            return text + " ="
        budget = WIDTH - len(indent) - len(type) - NAME_WIDTH
        return f"{text} = {self.data(data, dims_of(type), indent, budget)}"

    def main_values(self, tree: Tree | None) -> str:
        """Write inputs or outputs of the main graph: one per line if there are several."""
        found = None if tree is None else listing(tree)
        if tree is None or found is None:
            return "()"
        texts = [self.value(item.tree, STEP) for item in found.items]
        if tree.commented or len(texts) > 1 or any("\n" in text for text in texts):
            return self.broken(found, texts, "()", "")
        return f"({', '.join(texts)})"

    def few_values(self, tree: Tree | None, indent: str) -> str:
        """Write inputs or outputs of a function or of a graph in an attribute."""
        found = None if tree is None else listing(tree)
        if tree is None or found is None:
            return "()"
        texts = [self.value(item.tree, indent + STEP) for item in found.items]
        width = sum(
            len(text) - len(_value_name(item.tree)) + NAME_WIDTH
            for text, item in zip(texts, found.items, strict=True)
        )
        budget = 1 << 30 if width <= WIDTH - 20 else 0
        return self.bracketed(tree, found, texts, "()", indent, budget if texts else 2)

    def values(self, tree: Tree | None, indent: str) -> str:
        """Write the list of constants and types, with a space before it."""
        found = None if tree is None else listing(tree)
        if tree is None or found is None or (not found.items and not tree.commented):
            return ""
        texts = [self.value(item.tree, indent + STEP) for item in found.items]
        single = len(texts) == 1 and "\n" not in texts[0] and not tree.commented
        if single and len(texts[0]) - len(_value_name(found.items[0].tree)) <= ATTRIBUTE_WIDTH:
            return f" <{texts[0]}>"
        return f" {self.broken(found, texts, '<>', indent)}"

    # ---- Graphs -----------------------------------------------------------------------------

    def main_graph(self, tree: Tree) -> str:
        """Write the main graph."""
        head = self.decorator_lines(tree.child("decorators"), "")
        name = tree.child("name")
        assert name is not None
        inputs, outputs = _inputs_and_outputs(tree)
        lists = f"{self.main_values(inputs)} => {self.main_values(outputs)}"
        return f"{head}{name_text(name)} {lists}{self._rest(tree, '')}"

    def graph(self, tree: Tree, indent: str) -> str:
        """Write a graph in an attribute or a section, without decorators before its name."""
        name = tree.child("graph_name", "name")
        assert name is not None
        head = self.inline_decorators(tree.child("decorators"), indent)
        inputs, outputs = _inputs_and_outputs(tree)
        lists = f"{self.few_values(inputs, indent)} => {self.few_values(outputs, indent)}"
        return f"{head}{name_text(name)} {lists}{self._rest(tree, indent)}"

    def function_rest(self, tree: Tree) -> str:
        """Write a function from its name on."""
        name = tree.child("name")
        assert name is not None
        parameters = tree.child("parameters")
        text = ""
        if parameters is not None:
            found = listing(parameters)
            assert found is not None
            texts = [self._parameter(item.tree) for item in found.items]
            text = f" {self.bracketed(parameters, found, texts, '<>', '', WIDTH - 20)}"
        inputs, outputs = _inputs_and_outputs(tree)
        lists = f"{self.few_values(inputs, '')} => {self.few_values(outputs, '')}"
        return f"{name_text(name)}{text} {lists}{self._rest(tree, '')}"

    def _parameter(self, tree: Tree) -> str:
        attribute = tree if tree.origin in _ATTRIBUTES else tree.child("attribute")
        return word_text(tree) if attribute is None else self.attribute(attribute, STEP)

    def _rest(self, tree: Tree, indent: str) -> str:
        values = self.values(tree.child("values"), indent)
        body = tree.child("body")
        assert body is not None
        found = listing(body)
        assert found is not None
        if not found.items and not body.commented:
            return f"{values} {{}}"
        texts = [self.node(item.tree, indent + STEP) for item in found.items]
        return f"{values} {self.broken(found, texts, '{}', indent, comma='')}"

    # ---- Nodes ------------------------------------------------------------------------------

    def node(self, tree: Tree, indent: str) -> str:
        """Write a node: on one line, or inputs first and then one attribute per line."""
        label_tree, outputs_tree = tree.child("label"), tree.child("outputs")
        label = ""
        if label_tree is not None:
            name = label_tree.trees()
            label = f"[{word_text(name[0]) if name else ''}] "
        outputs = self._names(outputs_tree)
        operator_tree, overload = tree.child("operator"), tree.child("overload")
        operator = "" if operator_tree is None else operator_text(operator_tree)
        if overload is not None:
            operator += f":{word_text(overload.trees()[0])}"
        line = f"{self.decorator_lines(tree.child('decorators'), indent)}{label}{outputs}"
        line += f"{' ' if outputs else ''}={' ' if operator else ''}{operator}"
        inputs = f"({self._names(tree.child('names'))})"
        attributes = tree.child("attributes")
        if attributes is None:
            return f"{line} {inputs}"
        flat = self._flat_attributes(attributes)
        if flat is not None:
            return f"{line} <{flat}> {inputs}"
        found = listing(attributes)
        assert found is not None
        texts = [self.attribute(item.tree, indent + STEP) for item in found.items]
        return f"{line} {inputs} {self.broken(found, texts, '<>', indent)}"

    def _names(self, tree: Tree | None) -> str:
        """Write names of inputs or outputs; an omitted one before a comma is ""."""
        texts: list[str] = []
        missing = True
        for part in () if tree is None else tree.parts:
            if isinstance(part, Token):
                if missing:
                    texts.append('""')
                missing = True
            else:
                texts.append(self._name(part))
                missing = False
        return ", ".join(texts)

    def _name(self, tree: Tree) -> str:
        type_tree = tree.child("type")
        if type_tree is None:
            return name_text(tree)
        return f"{self.type(type_tree)} {name_text(tree.trees()[-1])}"

    def _flat_attributes(self, tree: Tree) -> str | None:
        """Write the attributes on one line; None if they do not fit."""
        found = listing(tree)
        assert found is not None
        if tree.commented or any(_holds_graph(item.tree) for item in found.items):
            return None
        texts = [self.attribute(item.tree, "") for item in found.items]
        if sum(len(text) + 2 for text in texts) > ATTRIBUTE_WIDTH:
            return None
        return None if any("\n" in text for text in texts) else flat_items(texts, ">")

    # ---- Attributes -------------------------------------------------------------------------

    def attribute(self, tree: Tree, indent: str) -> str:
        """Write `name: type = value`."""
        head = self.inline_decorators(tree.child("decorators"), indent)
        name_tree, type_tree = tree.child("name"), tree.child("attribute_type")
        assert name_tree is not None
        name = word_text(name_tree)
        type = "" if type_tree is None else f": {only_token(type_tree).text}"
        if tree.alias == "attribute_type_only":
            return f"{head}{name}{type}"
        budget = WIDTH - len(indent) - len(name) - 4
        value = tree.trees()[-1]
        return f"{head}{name}{type} = {self.attribute_value(value, indent, budget)}"

    def attribute_value(self, tree: Tree, indent: str, budget: int) -> str:
        """Write the value of an attribute."""
        first = tree.parts[0]
        if tree.origin == "dataless_tensor":
            return f"{self._dataless(tree)} ="
        if isinstance(first, Token) and first.terminal == "NUMBERS":
            return self.rows(numbers_of(first), "[]", indent, budget)
        found = listing(tree)
        if found is None:
            assert isinstance(first, Tree)
            if first.origin == "record":
                return self.record(first, indent)
            return self._element(first, indent, budget)
        texts = [self._element(item.tree, indent + STEP, budget) for item in found.items]
        numbers = all(item.tree.trees()[:1] and item.tree.trees()[0].origin == "number"
                      for item in found.items)  # fmt: skip
        if numbers and not tree.commented:
            return self.rows(texts, "[]", indent, budget)
        return self.bracketed(tree, found, texts, "[]", indent, budget)

    def _element(self, tree: Tree, indent: str, budget: int) -> str:
        last = tree.parts[-1]
        assert isinstance(last, Tree)
        if len(tree.parts) == 2 and isinstance(tree.parts[0], Token):
            return f"@{word_text(last)}"
        before = self.inline_decorators(tree.child("decorators"), indent)
        match last.origin:
            case "string":
                return string_text(last, indent)
            case "graph_value":
                return before + self.graph(last, indent)
            case "typed":
                return before + self._typed(last.trees()[0], indent, budget)
        return only_token(last).text

    def _typed(self, tree: Tree, indent: str, budget: int) -> str:
        if tree.origin == "type":
            return self.type(tree)
        first = tree.parts[0]
        type = first.text if isinstance(first, Token) else self.type(first)
        taken = 30 if type.startswith("sparse_tensor") else len(type) + 12
        return self.tensor(tree, indent, budget - taken)

    def _dataless(self, tree: Tree) -> str:
        first, *rest = tree.parts
        type = first.text if isinstance(first, Token) else self.type(first)
        return " ".join([type, *map(word_text, rest)])


_ATTRIBUTES = ("attribute", "dataless_attribute")


def _inputs_and_outputs(tree: Tree) -> tuple[Tree | None, Tree | None]:
    """Return the lists before and behind the `=>`."""
    lists = [part for part in tree.trees() if part.origin in ("inputs", "parameter_list")]
    lists = [part.trees()[0] if part.origin == "parameter_list" else part for part in lists]
    return (lists[0] if len(lists) > 1 else None), lists[-1]


def _value_name(tree: Tree) -> str:
    name = tree.child("name", "value_name")
    return "" if name is None else decoded(only_token(name))


def _holds_graph(tree: Tree) -> bool:
    value = tree.child("attribute_value")
    if value is None:
        return False
    elements = value.child("elements")
    return any(
        part.child("graph_value") is not None
        for part in (value.trees() if elements is None else elements.trees())
    )
