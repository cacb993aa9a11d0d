# SPDX-License-Identifier: Apache-2.0
"""Laws of edits on real models: any verb, any names, texts with comments and binary models.

An edit changes a text and its binary model in the same way, or rejects both. It changes only its
target and keeps comments. Renaming back restores the model.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto

import onnxtext
from onnxtext import OnnxTextError, ast, editing
from onnxtext.ast.map_names import defined_names
from onnxtext.format.tokens_with_comments import comments_of
from tests.corpus import EXAMPLES, exports, onnx_directory, shared_model, shared_models
from tests.corpus import wheel_models as wheel
from tests.seeds import fresh_seed, seeded

LARGEST = 100_000
NAMES = (
    "a b",
    "x/y:0",
    'q"uote',
    "br[0]",
    "é",
    "a=b",
    "#c",
    "then",
    "$",
    "0",
    "a\\b",
    "l\nf",
    "\t",
)
ARRAYS = (
    np.zeros(3, np.float32),
    np.ones((2, 3)),
    np.arange(40, dtype=">i8"),
    np.array(["a", "b"]),
    np.array([1 + 2j]),
    np.zeros((0, 3), np.float16),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.array(1, "datetime64[s]"),
)
NODES = (
    '"new value" = Neg ("{}")',
    '"new value" = Add ("{0}", "{0}") other = Abs ("new value")',
    '"{}" = Neg (x)',
    "y = ",
)
ATTRIBUTES = ("axis = 1", 's = "x"', "t = float[2] [1, 2]", "e: floats = []", "axis", "ß = 1")
REFUSED = {"edit-refused", "edit-unknown-name", "syntax-error", "unclosed-bracket", "unquoted-name"}

Options = dict[str, Any]


def models() -> list[bytes | Path]:
    """Return all models that are not large, and the texts of the examples."""
    found: list[bytes | Path] = [*EXAMPLES]
    files = [*[onnx_directory() / path for path in wheel()], *exports()]
    found += [path.read_bytes() for path in files if path.stat().st_size < LARGEST]
    return found + [data for file in shared_models() if len(data := shared_model(file)) < LARGEST]


def commented(text: str, draw: random.Random) -> str:
    """Add comments to the nodes of a printed text that are one line."""
    lines = []
    for index, line in enumerate(text.split("\n")):
        if re.fullmatch(r"  \S.* = \w+ .*\)", line) and draw.random() < 0.3:
            own = draw.random() < 0.5
            lines += [f"  # above {index}", line] if own else [f"{line} # behind {index}"]
        else:
            lines.append(line)
    return "\n".join(lines)


def drawn(draw: random.Random, tree: ast.Model) -> tuple[str, Options]:
    """Return a random edit of a tree, which may be impossible."""
    scopes = [scope for scope in ast.walk_graphs(tree) if scope.nodes] or [tree.graph]
    scope = draw.choice([tree.graph, draw.choice(scopes)])
    values = list(defined_names(scope)) or ["none"]
    value = draw.choice(values)
    node = "none"
    if scope.nodes:
        one = draw.choice(scope.nodes)
        node = draw.choice([name for name in (one.name, *one.outputs) if name] or ["none"])
    quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    dims = [
        draw.choice(("N", "batch", "1", "3", "?", "0", '"a b"')) for _ in range(draw.randrange(5))
    ]
    where: Options = draw.choice([{}, {"after": node}, {"before": node}, {"instead_of": value}])
    weights = [each.name for each in tree.graph.values if each.data is not None] or values
    edits: list[tuple[str, Options]] = [
        ("rename", {"old": draw.choice([value, value, node]), "new": draw.choice([*NAMES, value])}),
        ("set_shape", {"name": value, "shape": f"[{', '.join(dims)}]"}),
        ("extract", {
            "starts": draw.sample(values, min(len(values), draw.randrange(3))),
            "ends": draw.sample(values, min(len(values), draw.randrange(3))),
        }),
        ("set_attribute", {"node": node, "text": draw.choice(ATTRIBUTES)}),
        ("insert", {"text": draw.choice(NODES).format(quoted), **where}),
        ("remove", {"node": node}),
        ("replace_weight", {"name": draw.choice(weights), "array": draw.choice(ARRAYS)}),
        ("set_opset", {"version": draw.randrange(1, 25), "domain": "x.y"}),
        ("strip", {"what": draw.choice(["metadata", "doc", "value-info"])}),
    ]  # fmt: skip
    return draw.choice(edits)


def applied(content: str | bytes, verb: str, options: Options) -> str | bytes | OnnxTextError:
    try:
        return editing.apply(content, partial(getattr(editing, verb), **options)).content
    except OnnxTextError as error:
        return error


def messages(message: Any) -> Iterator[Any]:
    """Yield a message and all messages in it, outer before inner."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for inner in value if field.is_repeated else [value]:
                yield from messages(inner)


def without(kinds: tuple[Any, ...], *fields: str) -> Callable[[ModelProto, Options], None]:
    """Return a function that clears fields of messages, wherever they are."""

    def clear(model: ModelProto, options: Options) -> None:
        for message in messages(model):
            if isinstance(message, kinds):
                for field in fields:
                    if field in message.DESCRIPTOR.fields_by_name:
                        message.ClearField(field)

    return clear


def without_node(model: ModelProto, options: Options) -> None:
    for message in messages(model):
        if isinstance(message, onnx.NodeProto) and options["node"] in (
            message.name,
            *message.output,
        ):
            message.ClearField("attribute")


def without_weight(model: ModelProto, options: Options) -> None:
    """Clear the weight, and also its declared type, if the model has one."""
    for message in messages(model):
        if isinstance(message, onnx.TensorProto) and message.name == options["name"]:
            message.CopyFrom(onnx.TensorProto(name=message.name))
        elif isinstance(message, onnx.ValueInfoProto) and message.name == options["name"]:
            message.ClearField("type")
        elif isinstance(message, onnx.NodeProto) and options["name"] in message.output:
            message.ClearField("attribute")


def stripped(model: ModelProto, options: Options) -> None:
    field = {"metadata": "metadata_props", "doc": "doc_string", "value-info": "value_info"}
    for message in messages(model):  # functions keep the types of their inputs and outputs
        name = field[options["what"]]
        if name in message.DESCRIPTOR.fields_by_name:
            message.ClearField(name)


UNTOUCHED: dict[str, Callable[[ModelProto, Options], None]] = {
    "set_opset": without((ModelProto, onnx.FunctionProto), "opset_import"),
    "set_shape": without((onnx.TypeProto.Tensor,), "shape"),
    "set_attribute": without_node,
    "replace_weight": without_weight,
    "strip": stripped,
}
"""For each edit: clears the fields of a model that the edit may change."""


def assert_laws(text: str, data: bytes, verb: str, options: Options) -> None:
    """Edit a text and its binary model; compare everything that must be equal."""
    result, binary = applied(text, verb, options), applied(data, verb, options)
    if isinstance(result, OnnxTextError) or isinstance(binary, OnnxTextError):
        assert str(result) == str(binary)
        assert result.diagnostics[0].code in REFUSED  # type: ignore[union-attr]
        return
    assert isinstance(result, str)
    assert isinstance(binary, bytes)
    again = onnxtext.to_binary(result)
    before, after = ModelProto.FromString(data), ModelProto.FromString(binary)
    assert ModelProto.FromString(again) == after
    if verb not in ("extract", "remove"):
        assert set(comments_of(text)) <= set(comments_of(result))
    if verb in UNTOUCHED:
        for model in (before, after):
            UNTOUCHED[verb](model, options)
        assert before == after
    if verb == "rename" and options["old"] in defined_names(onnxtext.parse(text).graph):
        back = applied(result, verb, {"old": options["new"], "new": options["old"]})
        if isinstance(back, str):  # the value of an inner graph may have had the same name
            assert onnxtext.to_binary(back) == onnxtext.to_binary(text)
            assert comments_of(back) == comments_of(text)


def attack(draw: random.Random, count: int) -> None:
    found = models()
    for content in draw.sample(found, min(count, len(found))):
        try:
            if isinstance(content, Path):
                text = content.read_text()
                data = onnxtext.to_binary(text, base_dir=content.parent)
            else:
                text, data = commented(onnxtext.from_binary(content), draw), content
        except OnnxTextError:  # some of these files are not valid models
            continue
        tree = onnxtext.parse(text)
        for _ in range(4):
            verb, options = drawn(draw, tree)
            try:
                assert_laws(text, data, verb, options)
            except Exception as error:
                error.args = (f"{tree.graph.name}: {verb} {options}: {error}",)
                raise


@pytest.mark.filterwarnings("ignore::onnxtext.OnnxTextWarning")
def test_a_few_edits_keep_the_laws() -> None:
    attack(seeded(), 12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::onnxtext.OnnxTextWarning")
@pytest.mark.parametrize("part", range(4))
def test_many_edits_keep_the_laws(part: int) -> None:
    number = fresh_seed() + part
    print(f"seed {number}")
    attack(random.Random(number), 5_000)
