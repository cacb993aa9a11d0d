# SPDX-License-Identifier: Apache-2.0
"""The language reference, `grammar/SPEC.md`: every fenced block is executed.

Its introduction explains the info strings. In addition, every text has to survive printing and
parsing, and all blocks together have to use every rule of the grammar.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import onnx
import onnx.parser
import pytest
from google.protobuf import text_format
from google.protobuf.message import Message

import onnxtext
from onnxtext.ast import Model
from onnxtext.ast.schemas import SchemaFile
from onnxtext.diagnostics import OnnxTextError
from onnxtext.diagnostics.concise import render
from onnxtext.printer import print_fragment, print_model
from onnxtext.printer.schemas import print_schemas
from onnxtext.proto.encode.lower import lower_fragment, lower_model
from onnxtext.source import Source
from onnxtext.syntax.grammar.lexer import load_lexer
from onnxtext.syntax.grammar.table_cache import load_tables
from onnxtext.syntax.grammar.tables import GrammarRule
from onnxtext.syntax.parse import parse_fragment, parse_model, parse_start
from onnxtext.syntax.parser.lalr import Automaton, Machine, Reduction
from onnxtext.tensor.element_types import ELEMENTS

SPEC = Path(__file__).resolve().parent.parent / "grammar" / "SPEC.md"
NAME = "example.onnxtxt"

MESSAGES: dict[str, type[Any]] = {
    "model": onnx.ModelProto,
    "graph": onnx.GraphProto,
    "function": onnx.FunctionProto,
    "node": onnx.NodeProto,
    "nodes": onnx.GraphProto,
    "value_info": onnx.ValueInfoProto,
    "attribute": onnx.AttributeProto,
    "type": onnx.TypeProto,
    "tensor": onnx.TensorProto,
    "entry": onnx.StringStringEntryProto,
    "record": onnx.OperatorSetIdProto,
}
"""The kinds of blocks, and the message type of each."""

KINDS = {*MESSAGES, "schema"}

VERDICTS = {"official", "extension", "different", "error"}
FLAGS = VERDICTS | {"canonical", "header", "accident", "newest", "sparse", "incomplete"}


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block.

    Attributes:
        line: the line of its opening fence.
        info: the words of its info string.
        text: its content.
        followers: the blocks with its expected meaning or error.
    """

    line: int
    info: tuple[str, ...]
    text: str
    followers: list[Block] = field(default_factory=list, compare=False)

    @property
    def kind(self) -> str:
        """Its kind."""
        return next((word for word in self.info[1:] if word in KINDS), "model")

    @property
    def flags(self) -> set[str]:
        """Its flags."""
        return {word for word in self.info[1:] if word not in KINDS}


def read_blocks(document: str) -> list[Block]:
    """Return the blocks of a document, with followers attached to their block."""
    blocks: list[Block] = []
    for found in re.finditer(r"(?ms)^```(\S[^\n]*)\n(.*?)^```$", document):
        info = tuple(found[1].split())
        block = Block(document.count("\n", 0, found.start()) + 1, info, found[2])
        if info[0] in ("textproto", "text"):
            blocks[-1].followers.append(block)
        else:
            blocks.append(block)
    return blocks


BLOCKS = read_blocks(SPEC.read_text(encoding="utf-8"))
TEXTS = [block for block in BLOCKS if block.info[0] == "onnxtxt"]
RIGHT = [block for block in TEXTS if "error" not in block.flags]
WRONG = [block for block in TEXTS if "error" in block.flags]


def name_of(block: Block) -> str:
    return f"line{block.line}-{block.kind}"


def of_right(test: Callable[..., None]) -> Any:
    return pytest.mark.parametrize("block", RIGHT, ids=name_of)(test)


def of_wrong(test: Callable[..., None]) -> Any:
    return pytest.mark.parametrize("block", WRONG, ids=name_of)(test)


@pytest.fixture(autouse=True)
def _knows_newest(request: pytest.FixtureRequest) -> None:
    """Skip blocks with element types that the installed onnx is too old for."""
    arguments = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    block = arguments.get("block")
    if block is not None and "newest" in block.flags:
        known = {name.lower() for name in onnx.TensorProto.DataType.keys()}  # noqa: SIM118
        missing = sorted(set(ELEMENTS) - known)
        if missing:
            pytest.skip(f"this onnx does not know {', '.join(missing)}")


# ---- Our side -----------------------------------------------------------------------------------


def read(kind: str, text: str) -> Any:
    """Parse a text."""
    source = Source(text, NAME)
    if kind == "model":
        return parse_model(source)
    if kind == "schema":
        return parse_start(source, "schema_fragment")
    return parse_fragment(source, kind)


def lower(result: Any, kind: str) -> bytes:
    if isinstance(result, Model):
        return lower_model(result)
    return lower_fragment(result, MESSAGES[kind].DESCRIPTOR.name)


def show(result: Any) -> str:
    if isinstance(result, Model):
        return print_model(result)
    if isinstance(result, SchemaFile):
        return print_schemas(result)
    return print_fragment(result)


def message_of(block: Block) -> Any:
    kind = onnx.SparseTensorProto if "sparse" in block.flags else MESSAGES[block.kind]
    if block.kind == "model":  # with blobs, and with the encoding of the file
        return onnx.ModelProto.FromString(onnxtext.to_binary(block.text))
    return kind.FromString(lower(read(block.kind, block.text), block.kind))


# ---- The official side --------------------------------------------------------------------------

OFFICIAL_ERRORS = (onnx.parser.ParseError, IndexError, ValueError, RuntimeError)


def official(kind: str, text: str) -> bytes:
    """Parse a text with the official parser, which has to read all of it.

    It ignores text after messages other than models, so these are embedded in a model.
    """
    match kind:
        case "model":
            return onnx.parser.parse_model(text).SerializeToString()
        case "graph":
            return onnx.parser.parse_model(text).graph.SerializeToString()
        case "function":
            (function,) = onnx.parser.parse_model(f"g () => () {{}}\n{text}").functions
            return function.SerializeToString()
        case "node":
            (node,) = _graph(body=text).node
            return node.SerializeToString()
        case "nodes":
            body = text.strip().removeprefix("{").removesuffix("}")
            return onnx.GraphProto(node=_graph(body=body).node).SerializeToString()
        case "value_info":
            (value,) = _graph(values=text).value_info
            return value.SerializeToString()
        case "type":
            (value,) = _graph(values=f"{text} x").value_info
            return value.type.SerializeToString()
        case "attribute":
            (attribute,) = _graph(body=f"= Op <{text}\n> ()").node[0].attribute
            return attribute.SerializeToString()
        case "tensor":
            (attribute,) = _graph(body=f"= Op <t = {text}\n> ()").node[0].attribute
            if not attribute.HasField("t"):
                raise ValueError("officially that is no tensor")
            return attribute.t.SerializeToString()
        case "entry" | "record" | "schema":
            raise ValueError("officially these have no text")
    raise AssertionError(kind)


def _graph(*, values: str = "", body: str = "") -> onnx.GraphProto:
    declared = f"<{values}\n>" if values else ""
    return onnx.parser.parse_model(f"g () => () {declared} {{\n{body}\n}}").graph


def official_beginning(kind: str, text: str) -> None:
    """Parse a part of a model with the official parser, which ignores trailing text."""
    parts = {
        "graph": onnx.parser.parse_graph,
        "function": onnx.parser.parse_function,
        "node": onnx.parser.parse_node,
    }
    if kind in parts:
        parts[kind](text)
    else:
        official(kind, text)


def without_version(text: str) -> str:
    """Return a text without the key `onnxtext`, which the official parser rejects."""
    text = re.sub(r"\bonnxtext: 1(?:,\s*|(?=\s*>))", "", text, count=1)
    return re.sub(r"\A((?:\s|#[^\n]*\n)*)<\s*>", r"\1", text)


# ---- Single blocks ------------------------------------------------------------------------------


def test_blocks_are_well_formed() -> None:
    assert len(RIGHT) > 100
    assert WRONG
    for block in BLOCKS:
        assert block.info[0] in ("onnxtxt", "python"), f"line {block.line}: {block.info}"
    for block in TEXTS:
        where = f"line {block.line}: {block.info}"
        assert block.flags <= FLAGS, where
        assert len(block.flags & VERDICTS) == 1, where
        assert "accident" not in block.flags or "error" in block.flags, where
        assert "header" not in block.flags or "extension" in block.flags, where
        kinds = [follower.info[0] for follower in block.followers]
        if "error" in block.flags:
            assert kinds == ["text"], where
        else:
            assert set(kinds) <= {"textproto"}, where


@of_right
def test_blocks_survive_printing_and_parsing(block: Block) -> None:
    result = read(block.kind, block.text)
    text = show(result)
    for _ in range(3):  # repeated statements of the same shape use the fast path
        assert read(block.kind, block.text) == result
    again = read(block.kind, text)
    assert again == result
    assert show(again) == text
    if block.kind == "schema":  # schema files are not lowered
        return
    if block.kind != "model":
        assert lower(again, block.kind) == lower(result, block.kind)
        return
    if "incomplete" in block.flags:
        with pytest.raises(OnnxTextError):
            onnxtext.to_binary(block.text)
        return
    data = onnxtext.to_binary(block.text)
    assert onnxtext.to_binary(text) == data
    assert onnxtext.to_binary(onnxtext.from_binary(data)) == data


@of_right
def test_canonical_blocks_are_printed_unchanged(block: Block) -> None:
    text = show(read(block.kind, block.text))
    assert (text == block.text) == ("canonical" in block.flags)


@of_right
def test_the_official_parser_agrees_or_rejects(block: Block) -> None:
    if "extension" in block.flags:
        text = without_version(block.text)
        if "header" in block.flags:
            assert text != block.text
            official(block.kind, text)  # the header is the only extension
            text = block.text
        with pytest.raises(OFFICIAL_ERRORS):
            official(block.kind, text)
        with pytest.raises(OFFICIAL_ERRORS):
            official_beginning(block.kind, text)
        return
    same = official(block.kind, block.text) == lower(read(block.kind, block.text), block.kind)
    assert same == ("official" in block.flags)


@of_right
def test_blocks_have_their_claimed_meaning(block: Block) -> None:
    if not block.followers:
        return
    message = message_of(block)
    for claim in block.followers:
        part = message
        for name, index in re.findall(r"(\w+)(?:\[(\d+)\])?", " ".join(claim.info[1:])):
            part = getattr(part, name)
            if index:
                part = part[int(index)]
        path = " ".join(claim.info[1:])
        assert isinstance(part, Message), f"`{path}` leads to {part!r}, which is no message"
        claimed = " ".join(line.strip() for line in claim.text.splitlines())
        assert claimed.strip() == meaning(part), "left: the page; right: what the text means"


def meaning(message: Any) -> str:
    """Return a message in protobuf's text format, on one line."""
    text = text_format.MessageToString(
        message, as_one_line=True, as_utf8=False, print_unknown_fields=True
    )
    return text.strip()


@of_wrong
def test_blocks_of_errors_have_the_claimed_errors(block: Block) -> None:
    with pytest.raises(OnnxTextError) as caught:
        attempt(block.kind, block.text)
    (claim,) = block.followers
    assert "\n".join(map(render, caught.value.diagnostics)) == claim.text.strip()
    if "accident" in block.flags:
        official_beginning(block.kind, block.text)
    else:
        with pytest.raises(OFFICIAL_ERRORS):
            official_beginning(block.kind, block.text)


def attempt(kind: str, text: str) -> None:
    if kind == "model":
        onnxtext.to_binary(text, name=NAME)
    elif kind in ("graph", "function", "node"):
        onnxtext.loads(text, MESSAGES[kind], name=NAME)
    else:
        read(kind, text)


@pytest.mark.parametrize(
    "block", [block for block in BLOCKS if block.info[0] == "python"], ids=name_of
)
def test_python_blocks_run(block: Block) -> None:
    exec(compile(block.text, str(SPEC), "exec"), {})


# ---- All blocks together ------------------------------------------------------------------------


def reductions(block: Block) -> set[GrammarRule]:
    """Return the rules that a block is parsed by."""
    used: set[GrammarRule] = set()

    def noted(rule: GrammarRule) -> Reduction:
        return Reduction(rule, lambda *_: used.add(rule))

    start = "model" if block.kind == "model" else f"{block.kind}_fragment"
    automaton = Automaton(load_tables(), noted)
    machine = Machine(automaton, [automaton.starts[start]])
    machine.feed_all(load_lexer().read(block.text, 0))
    machine.finish(len(block.text))
    return used


@cache
def used_rules() -> frozenset[GrammarRule]:
    return frozenset().union(*map(reductions, RIGHT))


def test_every_rule_of_the_grammar_is_documented() -> None:
    used = {rule.action for rule in used_rules()}
    assert {rule.action for rule in load_tables().rules} - used == set()


NO_MEANING = {
    # Words as values are names of enums, messages and fields. No ONNX name equals an element type
    # yet, and no field is a boolean, but the grammar supports both.
    ("dotted_start", "dotted_start", "PRIM"),
    ("dotted_start", "dotted_start", "UNDEFINED"),
    ("dotted_start", "dotted_start", "BOOL"),
}


def test_every_part_of_every_rule_is_documented() -> None:
    """Some block uses every symbol of every alternative, optional ones included."""
    used, parts = (
        {(rule.origin, rule.action, symbol) for rule in rules for symbol in rule.symbols}
        for rules in (used_rules(), load_tables().rules)
    )
    assert parts - used == NO_MEANING, "no block uses these (rule, action, symbol)"
