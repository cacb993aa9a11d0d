# SPDX-License-Identifier: Apache-2.0
"""Convert the grammar for the native core: names to numbers, actions to operations."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from functools import cache
from typing import Any

from onnxtext._core.syntax import actions, metadata_section, models_and_headers
from onnxtext._core.syntax.grammar import OPS, Grammar
from onnxtext._core.syntax.parser import LalrLoop
from onnxtext._core.syntax.scanner import SPECIAL_KINDS, Scanner
from onnxtext._core.tensor.parse_literals import Layout
from onnxtext.ast.types import TensorType, Type
from onnxtext.syntax.actions.semantic_error import SemanticError
from onnxtext.syntax.grammar.lexer import Lexer, Token, load_lexer
from onnxtext.syntax.grammar.scanner_tables import IGNORED
from onnxtext.syntax.grammar.table_cache import load_tables
from onnxtext.syntax.grammar.tables import BAD_KIND, END_KIND, ParserTables
from onnxtext.syntax.parser.lalr import ERROR_NODE, MAX_PARSER_STACK, Reduction, load_automaton
from onnxtext.syntax.parser.parser import Parser
from onnxtext.tensor.element_types import ELEMENTS
from onnxtext.tensor.parse_literals import ENTRIES_ARE_ELEMENTS

_FRACTIONS = {
    "double": 52, "float": 23, "bfloat16": 7, "float16": 10, "float8e4m3fn": 3, "float8e5m2": 2,
    "complex64": 23, "complex128": 52,
}  # fmt: skip
"""The float and complex types that the core reads, with their numbers of fraction bits."""

_ACTIONS = {
    "AS_TOKEN": "bracket_item literal",
    "ATTRIBUTE": "attribute",
    "BYTES": "string_literal string_value",
    "CALL_CACHED": "attribute_type container_type fine_type reference scalar_type",
    "COARSE_TYPE": "coarse_type",
    "DECORATED": "decorated_element inner_type named_dim",
    "ELEMENT": "element",
    "ENTRY": "header_entry",
    "GRAPH": "graph graph_value",
    "GRAPH_NAME": "bare_graph_name",
    "INSIDE": "plain_string",
    "INTEGER": "header_int",
    "LABEL": "label",
    "LAZY_OBJECT": "raw_literals typed_literals",
    "LAZY_TOKEN": "number number_list raw_numbers scalar_data typed_numbers",
    "LIST_EMPTY": "list_empty",
    "LIST_FIRST": "list_first",
    "LIST_MORE": "list_more list_more_comma",
    "NODE": "node",
    "NODES": "more_nodes",
    "NODE_LAST": "node_attributes_last",
    "OPSET": "bare_opset_item opset_item",
    "PAIR": "typed_output",
    "PASS": "list_of",
    "RECORD": "call metadata_entry",
    "TENSOR": "named_tensor scalar_tensor tensor_assigned unnamed_tensor",
    "TEXT": "opaque_part plain_name section_word tensor_name value_name",
    "VALUE": "initializer typed_value untyped_value",
}
OPERATIONS = {action: name for name, actions in _ACTIONS.items() for action in actions.split()}
"""Maps the name of an action to the operation that the core runs instead.

`_core/syntax/grammar.pxd` defines the operations. `_rule` has exceptions, for example for names
with dots. The core calls all other actions as functions. An action with LAZY_TOKEN or LAZY_OBJECT
must not raise a `SemanticError`: the core calls it on demand, where `Machine.keep` cannot record
the error.
"""

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "blob": actions.blob,
    "container_type": actions.container_type,
    "decorator": actions.decorator,
    "fine_type": actions.fine_type,
    "function": models_and_headers.function,
    "header": models_and_headers.header,
    "header_numbers": models_and_headers.header_numbers,
    "label_step": metadata_section.label_step,
    "long_resource": actions.long_resource,
    "metadata_block": metadata_section.metadata_block,
    "metadata_section": metadata_section.metadata_section,
    "model": models_and_headers.model,
    "named_dim": actions.named_dim,
    "plain_step": metadata_section.plain_step,
    "positional_field": actions.positional_field,
    "sized_dim": actions.sized_dim,
    "triple_string": actions.triple,
}
"""Maps the name of an action to a native function that returns the same value."""


class CoreParser(Parser):
    """A parser with a native loop; at an error, it copies its stack to the Python machine."""

    def feed_from(self, offset: int) -> None:
        """Feed the tokens from an offset to the end of the text, as `Parser.feed_from` does."""
        loop = LalrLoop(load_grammar(), self.machine, self.text, MAX_PARSER_STACK)
        while (offset := loop.advance(offset)) < len(self.text):
            token = self.lexer.token(self.text, offset)
            assert token is not None  # the loop stopped before this token
            # The Python machine raises or keeps the error at which the loop stopped.
            self.machine.feed(token.kind, token, token.at)
            offset = token.end

    def finish(self) -> Any:
        """Return the value of the start rule, as `Parser.finish` does."""
        machine = self.machine
        if machine.states[-1] in self.automaton.accepting:
            return machine.values[-1]
        return super().finish()


@cache
def load_grammar() -> Grammar:
    """Return the tables of the grammar for the native core, built once per process.

    Raises:
        ValueError: the tables are damaged.
    """
    tables, lexer, automaton = load_tables(), load_lexer(), load_automaton()
    terminals = number_terminals(tables)
    origins = {name: index for index, name in enumerate(tables.goto_matrix.names)}
    rules = [_rule(reduction, origins) for reduction in automaton.reductions]
    return Grammar(
        _scanner(tables, terminals),
        tables.action_matrix.data,
        tables.goto_matrix.data,
        rules,
        terminals,
        END_KIND,
        origins,
        {
            "Token": Token,
            "SemanticError": SemanticError,
            "error_node": ERROR_NODE,
            "layout": _layout,
            "read_token": _token_reader(lexer, terminals),
        },
    )


def number_terminals(tables: ParserTables) -> dict[str, int]:
    """Map the name of each terminal, and `$END` for the end of the text, to its number."""
    return {name: index for index, name in enumerate(tables.action_matrix.names)}


def _scanner(tables: ParserTables, terminals: dict[str, int]) -> Scanner:
    numbers = {"": SPECIAL_KINDS["NOT_ACCEPTING"], BAD_KIND: SPECIAL_KINDS["BAD"]} | terminals
    accepts = [
        SPECIAL_KINDS["IGNORED"] if name.startswith(IGNORED) else numbers[name]
        for name in tables.scanner.accepts
    ]
    moves = b64decode(tables.scanner.moves)
    return Scanner(tables.scanner.classes, moves, accepts, terminals["NESTED"])


def _rule(reduction: Reduction, origins: dict[str, int]) -> tuple[Any, ...]:
    """Return a rule in the form that `Grammar` of the core takes; `origins` numbers rule names."""
    function: Callable[..., Any] | None = FUNCTIONS.get(reduction.name, reduction.action)
    if reduction.unit:
        name = "UNIT"
    elif function is None:
        name = "PASS"
    else:
        name = OPERATIONS.get(reduction.name, "CALL")
        if name == "PASS" and reduction.size == 1:
            name = "UNIT"  # it changes no value, but unlike `Reduction.unit`, no goto skips it
    if reduction.origin == "operator" and name == "LIST_MORE":
        name = "LIST_DOTTED"
    if reduction.origin == "attributes" and name == "PASS":
        name = "TUPLE"  # nodes store their attributes in a tuple
    return (
        reduction.size,
        origins[reduction.origin],
        OPS[name],
        reduction.located,
        reduction.take,
        function,
        reduction,
    )


def _layout(type: Type) -> Layout:
    """Return the layout with which the core reads the literals of a tensor type."""
    element = ELEMENTS.get(type.element) if isinstance(type, TensorType) else None
    if not isinstance(type, TensorType) or element is None:
        return Layout(type, "", 0, 0, None, None)
    dims = type.shape
    constant = dims if dims is not None and all(isinstance(dim, int) for dim in dims) else None
    fraction = _FRACTIONS.get(element.name, 0)
    entries = None
    if element.kind == "complex":
        part = Layout(type, "float", element.bits // 2, fraction, None, ())
        entries = Layout(type, "complex", element.bits, 0, None, constant, part)
        return Layout(type, "complex", element.bits, 0, entries, constant, part)
    if element.name in ENTRIES_ARE_ELEMENTS:
        entries = Layout(type, element.kind, element.bits, fraction, None, constant)
    elif element.bits < 8:
        entries = Layout(type, element.kind, element.bits, 0, None, constant, in_entries=True)
    elif element.field == "int32_data":  # its entries may be any int32
        inner = None
        if fraction or element.kind == "bool":
            inner = Layout(type, element.kind, element.bits, fraction, None, constant)
        entries = Layout(type, "int", 32, 0, None, constant, inner)
    elif element.field == "uint64_data":
        entries = Layout(type, "uint", 64, 0, None, constant)
    return Layout(type, element.kind, element.bits, fraction, entries, constant)


def _token_reader(
    lexer: Lexer, terminals: dict[str, int]
) -> Callable[[str, int], tuple[Token | None, int]]:
    """Return a function that reads tokens that the scanner of the core cannot read.

    The function takes a text and an offset; it returns the token (None at the end) and the number
    of its terminal.
    """

    def read_token(text: str, offset: int) -> tuple[Token | None, int]:
        token = lexer.token(text, offset)
        if token is None:
            return None, SPECIAL_KINDS["END"]
        return token, terminals.get(lexer.kind(token), SPECIAL_KINDS["BAD"])

    return read_token
