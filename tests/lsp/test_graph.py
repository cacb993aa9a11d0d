# SPDX-License-Identifier: Apache-2.0
"""The graph view: groups by scope, stubs, edges for any choice of open groups, places, details."""

from __future__ import annotations

import subprocess
import time
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient

import onnxtext
from benchmarks.transformer import transformer
from onnxtext.binary_to_text import print_binary
from onnxtext.checker.context.scopes import Scope
from onnxtext.lsp.graph.compare_drawings import changes_of, diff_of
from onnxtext.lsp.graph.details import details, drawn_node
from onnxtext.lsp.graph.drawing import MANY_NODES, MAX_USERS, Drawing
from onnxtext.lsp.graph.module_groups import MAX_MEMBERS, MIN_GROUP_SIZE, ModuleGroup, scope_paths
from onnxtext.lsp.index.document import Document
from tests.lsp.documents import EXAMPLES, large
from tests.lsp.session import Session, plain
from tests.running import grows_at_most
from tests.seeds import seeded

URI = "file:///m.onnxtxt"
HEADER = "<\n  onnxtext: 1,\n  ir_version: 10,\n  opset_import: [21],\n>\n"


def drawing_of(text: str) -> Drawing:
    document = Document.open(URI, None, text, 1, "utf-16")
    return Drawing(document)


def model(body: str, head: str = "g (float[N] x) => (float[N] y)") -> str:
    return f"{HEADER}{head} {{\n{body}\n}}\n"


@cache
def texts() -> list[str]:
    """Return texts with and without scopes, nested graphs, functions, mistakes."""
    found = [path.read_text("utf-8") for path in sorted(EXAMPLES.glob("*.onnxtxt"))]
    flat = "\n".join(f"  v{n} = Relu ({f'v{n - 1}' if n else 'x'})" for n in range(400))
    broken = found[0].replace("=", "= (", 1)
    return [*found, onnxtext.from_binary(next(transformer(300))), model(flat), broken]


def walk(tree: ModuleGroup) -> list[str]:
    """Return the nodes of a group."""
    members = []
    for member in tree.members:
        members += [member] if isinstance(member, str) else walk(member)
    return members


def expected_edges(drawing: Drawing) -> set[tuple[str, str, str]]:
    """Return maker, value and user of everything that is not a stub."""
    found = set()
    index = drawing.index
    users: dict[tuple[int, str], set[str]] = {}
    for scope in index.scopes:
        number = index.number(scope)
        for place, node in enumerate(scope.nodes):
            for name in filter(None, node.inputs):
                key = index.number(index.resolve(scope, name)), name
                users.setdefault(key, set()).add(f"g{number}n{place}")
    constants = {
        (index.number(scope), value.name) for scope in index.scopes for value in scope.initializers
    }
    for (number, name), ids in users.items():
        scope = index.scopes[number]
        maker = _maker(scope, number, name)
        hidden = drawing.chain(maker) is None if maker else True
        if not hidden and (number, name) not in constants and len(ids) <= MAX_USERS:
            found |= {(maker, f"{number}:{name}", user) for user in ids if user != maker}
    for scope in index.scopes:
        for place, value in enumerate(scope.outputs):
            owner = index.resolve(scope, value.name)
            number = index.number(owner)
            maker = _maker(owner, number, value.name)
            if maker and drawing.chain(maker) is not None:
                user = f"g{index.number(scope)}o{place}"
                found.add((maker, f"{number}:{value.name}", user))
    return found


def _maker(scope: Scope, number: int, name: str) -> str:
    at = scope.position.get(name)
    if at is None:
        return ""
    if at >= 0:
        return f"g{number}n{at}"
    names = [value.name for value in scope.inputs]
    return f"g{number}i{names.index(name)}" if name in names else ""


def visible(drawing: Drawing, groups: set[str], sent: set[str], name: str) -> str:
    """Return the visible box that represents a node: itself, or the closed group around it."""
    holder = ""
    for part in drawing.chain(name) or ():
        if part not in groups:
            holder = part
        elif part not in sent:
            return part if "/" in part or "#" in part or not holder else holder
    return name


def resolved(answer: dict[str, Any]) -> set[tuple[str, str, str]]:
    """Return the edges between visible boxes, computed as in the client."""
    groups = {group["id"]: group for group in answer["groups"]}
    items = {item["id"]: item for group in answer["groups"] for item in group["items"]}

    def ends(identity: str, value: str, field: str) -> list[str]:
        if identity in groups:
            inner = [each for name, each in groups[identity][field] if name == value]
            return [end for each in inner for end in ends(each, value, field)]
        if field == "makes" or not items[identity]["bodies"]:
            return [identity]
        users = {each for name, each in items[identity]["uses"] if name == value}
        return [
            end
            for each in users
            for end in (ends(each, value, field) if each in groups else [identity])
        ]

    return {
        (source, edge["value"], target)
        for group in answer["groups"]
        for edge in group["edges"]
        for source in ends(edge["from"], edge["value"], "makes")
        for target in ends(edge["to"], edge["value"], "uses")
        if source != target
    }


@pytest.mark.parametrize("number", range(len(texts())))
def test_every_node_lies_in_one_group_and_no_edge_is_lost(number: int) -> None:
    drawing = drawing_of(texts()[number])
    nodes = [name for tree in drawing.trees for name in walk(tree)]
    assert len(nodes) == len(set(nodes)) == drawing.total
    for scope in drawing.index.scopes:
        for place, node in enumerate(scope.nodes):
            name = f"g{drawing.index.number(scope)}n{place}"
            assert name in nodes or node.op_type == "Constant"
    groups = [group for tree in drawing.trees for group in tree.groups()]
    assert len({group.id for group in groups}) == len(groups)
    assert all(len(group.members) <= MAX_MEMBERS for group in groups)

    generator = seeded()
    wanted = expected_edges(drawing)
    for attempt in range(12):
        chance = attempt / 11
        opened = {group.id for group in groups if generator.random() < chance}
        answer = drawing.draw(opened, {group.id for group in groups} - opened)
        sent = {group["id"] for group in answer["groups"]}
        boxes = {item["id"] for group in answer["groups"] for item in group["items"]}

        box = partial(visible, drawing, {group.id for group in groups}, sent)
        shown = {(box(one), value, box(other)) for one, value, other in wanted}
        shown = {edge for edge in shown if edge[0] != edge[2]}
        assert {end for edge in shown for end in (edge[0], edge[2])} <= boxes
        assert resolved(answer) == shown
    everything = drawing.draw({group.id for group in groups}, ())
    assert resolved(everything) == wanted


def test_scopes_follow_exporter_names() -> None:
    def paths(body: str) -> list[str]:
        scope = drawing_of(model(body)).index.scopes[0]
        return ["/".join(path) for path in scope_paths(scope, ())[0]]

    assert paths('  ["/model/layers.3/attn/MatMul"] y = Relu (x)') == ["model/layers.3/attn"]
    assert paths('  "net/dense/BiasAdd:0" = Relu (x)') == ["net/dense"]
    assert paths("  [Relu_0] y = Relu (x)") == [""]
    assert paths('  [BiasGelu] "/b.0/Mul_1_output_0" = Relu (x)') == ["b.0"]
    assert paths('  ["/Relu"] "/b.0/y" = Relu (x)') == ["b.0"]
    assert paths('  ["layer1.0.conv"] y = Relu (x)') == ["layer1/0"]
    assert paths('  ["/a/Relu"] t = Relu (x)\n  ["layer1.0.conv"] y = Relu (t)') == ["a", ""]
    space = ": m.LM/b.0: m.Block/b.0.o: torch.Linear/linear_3: aten.linear.default"
    for key in ("namespace", "pkg.torch.onnx.namespace"):
        assert paths(f'  @meta("{key}": "{space}")\n  y = Relu (x)') == ["b.0/o/linear_3"]
    names = "['', 'b.0', 'b.0.o', 'linear_3']"
    body = f'  @meta("pkg.torch.onnx.name_scopes": "{names}")\n  y = Relu (x)'
    assert paths(body) == ["b.0/o/linear_3"]
    # Nodes that depend only on constants belong to the scope of their users.
    adopted = (
        '  w = Constant <value_float = 1.0> ()\n  v = Identity (w)\n  ["/a/Add"] y = Add (x, v)'
    )
    assert paths(adopted) == ["a", "a", "a"]


def test_small_groups_are_dissolved_and_long_lists_divided() -> None:
    lines = [f'  ["/a/n{n}"] a{n} = Relu (x)' for n in range(MIN_GROUP_SIZE)]
    lines += [f'  ["/b/n{n}"] b{n} = Relu (x)' for n in range(MIN_GROUP_SIZE - 1)]
    tree = drawing_of(model("\n".join(lines))).trees[0]
    assert [group.id for group in tree.groups()] == ["g0", "g0/a"]
    flat = "\n".join(f"  v{n} = Relu ({f'v{n - 1}' if n else 'x'})" for n in range(1000))
    drawing = drawing_of(model(flat))
    tree = drawing.trees[0]
    assert [group.name for group in tree.groups()][1:3] == ["part 1 of 11", "part 2 of 11"]
    assert [group.count for group in tree.groups()][:2] == [1002, 100]
    assert drawing.operators(tree) == {"Relu": 1000}


def test_constants_and_values_with_many_users_are_stubs() -> None:
    uses = "\n".join(f"  v{n} = Add (shared, two)" for n in range(MAX_USERS + 1))
    text = model(f"  two = Constant <value_int = 2> ()\n  shared = Relu (x)\n{uses}")
    answer = drawing_of(text).draw((), ())
    (group,) = answer["groups"]
    assert {edge["value"] for edge in group["edges"]} == {"0:x"}
    stubs = next(item for item in group["items"] if item["op"] == "Add")["stubs"]
    assert [(each["label"], each["value"], each["text"]) for each in stubs] == [
        ("A", "shared", ""),
        ("B", "two", "2"),
    ]
    assert [each["from"] for each in stubs] == ["g0n1", None]
    assert text.split("\n")[stubs[1]["at"]["line"]].startswith("  two = Constant")
    assert not any(item["op"] == "Constant" for item in group["items"])
    (shared,) = [item for item in group["items"] if item["shared"]]
    assert shared["op"] == "Relu"
    fewer = drawing_of(text.replace(f"  v{MAX_USERS} = Add (shared, two)", "")).draw((), ())
    assert len(fewer["groups"][0]["edges"]) == 1 + MAX_USERS


@pytest.mark.parametrize(
    ("declaration", "shown"),
    [
        ("int64[2] w = [1, -1]", "[1, -1]"),
        ("float w = 0.5", "0.5"),
        ("float w = {0.5}", "0.5"),
        ("float[64] w = [1, ...]", "[1, ...]"),
        ("float[2, 2] w = [\n    1, 2,\n    3, 4,\n  ]", ""),
        ('string[1] w = ["a"]', '["a"]'),
        ('float[9] w = ["location": "w.bin"]', ""),
    ],
)
def test_small_constants_show_their_value(declaration: str, shown: str) -> None:
    head = f"g (float[N] x) => (float[N] y) <\n  {declaration},\n>"
    (group,) = drawing_of(model("  y = Add (x, w)", head)).draw((), ())["groups"]
    (stub,) = next(item for item in group["items"] if item["op"] == "Add")["stubs"]
    assert stub["text"] == shown


def test_large_models_open_closed_and_small_ones_open() -> None:
    small, big = drawing_of(texts()[0]), drawing_of(large())
    assert big.total >= MANY_NODES > small.total
    groups = [group.id for tree in small.trees for group in tree.groups()]
    assert [group["id"] for group in small.draw((), ())["groups"]] == groups
    answer = big.draw((), ())
    assert [group["id"] for group in answer["groups"]] == ["g0", "g0/model"]
    assert sum(len(group["items"]) for group in answer["groups"]) < 200
    closed = big.draw((), {"g0/model"})
    assert [item["kind"] for item in closed["groups"][0]["items"]] == ["input", "group", "output"]


def test_many_inputs_and_outputs_are_groups() -> None:
    inputs = ", ".join(f"float[N] x{n}" for n in range(20))
    drawing = drawing_of(model("  y = Sum (x0, x19)", f"g ({inputs}) => (float[N] y)"))
    (main, group) = drawing.draw((), ())["groups"]
    assert group["name"] == "inputs"
    assert group["count"] == 20
    assert len(main["items"]) == 3


def test_the_nodes_of_all_statements_are_found() -> None:
    count = 100
    inputs = ", ".join(f"float[2] x{n}" for n in range(count))
    drawing = drawing_of(model("  y = Relu (x0)", f"g ({inputs}) => (float[2] y)"))
    found = [drawn_node(drawing, statement) for statement in drawing.index.statements]
    assert found == [*[f"g0i{n}" for n in range(count)], "g0o0", "g0n0"]


def test_details_of_all_nodes_take_linear_time() -> None:
    def seconds(count: int) -> float:
        values = "".join(f"float[2] w{n} = [1, {n}]," for n in range(count))
        nodes = "".join(f"y{n} = Add (x, w{n})\n" for n in range(count))
        drawing = drawing_of(f"{HEADER}g (float[2] x) => (float[2] y0) <{values}> {{\n{nodes}}}\n")
        started = time.process_time()
        for number in range(count):
            answer = details(drawing, f"g0n{number}")
            assert answer is not None
        return time.process_time() - started

    assert grows_at_most(seconds, 500, 4000, factor=16)


def test_details_describe_a_node() -> None:
    head = "g (float[N, 2] x) => (float[N, 2] y) <\n  float[2, 2] w = [1, 0, 0, 5],\n>"
    drawing = drawing_of(model('  ["/a/b/Gemm"] y = Gemm <alpha = 2.0> (x, w)', head))
    found = details(drawing, "g0n0")
    assert found is not None
    assert found["title"] == "Gemm"
    assert found["text"].startswith("General Matrix multiplication")
    sections = {section["title"]: section["rows"] for section in found["sections"]}
    assert sections["Attributes"] == [{"name": "alpha", "value": "2.0"}]
    weight = sections["Inputs"][1]
    assert (weight["name"], weight["of"], weight["value"]) == ("B", "w", "float[2, 2]")
    assert "max 5" in weight["note"]
    value = details(drawing, "g0i0")
    assert value is not None
    assert value["sections"][0]["rows"][0]["value"] == "float[N, 2]"
    for wrong in ("", "g0", "g0n7", "g9n0", "g0/a", "nonsense", "g0n-1", "gn"):
        assert details(drawing, wrong) is None


@pytest.mark.asyncio(loop_scope="session")
async def test_graph_requests_are_answered(client: LanguageClient, tmp_path: Path) -> None:
    session = Session(client, tmp_path / "large.onnxtxt", large())
    at = session.at('layers.40/self_attn/Softmax"]')
    position = {"line": at.line, "character": at.character}

    async def ask(method: str, **params: Any) -> Any:
        return plain(await session.request(f"onnxtext/{method}", uri=session.uri, **params))

    first = await ask("graph", position=position)
    assert [group["id"] for group in first["groups"]] == first["here"]["path"]
    assert first["here"]["path"][:2] == ["g0", "g0/model"]
    place = await ask("graphPlace", position=position)
    assert place == first["here"]
    assert place["id"] in {item["id"] for item in first["groups"][-1]["items"]}
    assert await ask("graphPlace", id=place["id"]) == place
    assert await ask("graphPlace", id="g0n99999") is None
    assert await ask("graphPlace", position={"line": 0, "character": 0}) is None
    found = await ask("graphFind", words="SOFTMAX")
    assert place["id"] in {each["id"] for each in found}
    assert await ask("graphFind", words="") == []
    assert (await ask("graphNode", id=place["id"]))["title"] == "Softmax"
    assert await ask("graphNode", id="nonsense") is None


def test_the_text_of_a_binary_has_the_statistics_of_its_weights(tmp_path: Path) -> None:
    values = ", ".join(map(str, range(100)))
    head = f"g (float[100] x) => (float[100] y) <\n  float[100] w = [{values}],\n>"
    path = tmp_path / "m.onnx"
    path.write_bytes(onnxtext.to_binary(model("  y = Add (x, w)", head)))
    text, _ = print_binary(path.read_bytes(), None, weights="none", name="m")
    assert "blob" in text
    document = Document.open(f"onnx:{path}", None, text, 1, "utf-16")
    drawing = Drawing(document)
    found = details(drawing, "g0n0")
    assert found is not None
    assert "max 99" in found["sections"][0]["rows"][1]["note"]


BEFORE = model(
    """\
  ["/a/Relu"] r = Relu (x)
  ["/a/Abs"] gone = Abs (r)
  ["/a/Neg"] n = Neg (gone)
  ["/a/Exp"] e = Exp (n)
  ["/b/Gemm"] y = LeakyRelu <alpha = 0.5> (e)"""
)
AFTER = model(
    """\
  ["/a/Relu"] r = Relu (x)
  ["/a/Neg"] n = Neg (r)
  ["/a/Exp"] e = Exp (n)
  ["/b/Sign"] extra = Sign (e)
  ["/b/Gemm"] y = LeakyRelu <alpha = 0.25> (e)"""
)


def compared(before: str, after: str) -> Drawing:
    old, new = drawing_of(before), drawing_of(after)
    changes = changes_of(old, new, diff_of(old, new, "before"), "before")
    return Drawing(new.document, changes)


def test_a_comparison_marks_nodes_and_draws_removed_ones() -> None:
    drawing = compared(BEFORE, AFTER)
    answer = drawing.draw((), ())
    items = {item["id"]: item for group in answer["groups"] for item in group["items"]}
    found = {item["op"]: item.get("change") for item in items.values() if item["op"]}
    assert found == {
        "Relu": None, "Abs": "removed", "Neg": "changed", "Exp": None, "Sign": "added",
        "LeakyRelu": "changed",
    }  # fmt: skip
    (removed,) = [item for item in items.values() if item.get("change") == "removed"]
    # It lies in its old group, between its old neighbors.
    assert drawing.chain(removed["id"]) == ("g0", "g0/a")
    (inner,) = [group for group in answer["groups"] if group["id"] == "g0/a"]
    edges = {
        (items[edge["from"]]["op"], items[edge["to"]]["op"], edge.get("change"))
        for edge in inner["edges"]
    }
    assert {("Relu", "Abs", "removed"), ("Abs", "Neg", "removed")} <= edges
    leaky = next(item for item in items.values() if item["op"] == "LeakyRelu")
    assert any("0.5" in note and "0.25" in note for note in leaky["changes"])
    assert details(drawing, removed["id"]) is not None
    (closed,) = [i for i in drawing.draw((), {"g0/a"})["groups"][0]["items"] if i["id"] == "g0/a"]
    assert closed["changes"] == ["1 changed", "1 removed"]


def test_changed_weights_mark_their_users() -> None:
    head = "g (float[2] x) => (float[2] y) <\n  float[2] w = [1, {}],\n>"
    text = model("  y = Add (x, w)", head)
    drawing = compared(text.replace("{}", "2"), text.replace("{}", "4"))
    (item,) = [i for i in drawing.draw((), ())["groups"][0]["items"] if i["op"] == "Add"]
    assert item["change"] == "changed"
    assert "max |Δ| 2" in item["changes"][0]


@pytest.mark.parametrize("number", range(len(texts())))
def test_a_comparison_with_itself_changes_nothing(number: int) -> None:
    text = texts()[number]
    if drawing_of(text).version.syntax:
        return
    drawing = compared(text, text)
    assert drawing.changes is not None
    assert not drawing.changes.status
    assert drawing.draw((), ()) == drawing_of(text).draw((), ())


@pytest.mark.asyncio(loop_scope="session")
async def test_comparison_requests_are_answered(client: LanguageClient, tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@t"]
    path, other = tmp_path / "m.onnxtxt", tmp_path / "other.onnx"
    path.write_text(BEFORE, "utf-8")
    other.write_bytes(onnxtext.to_binary(AFTER))
    for command in (["init", "-q"], ["add", "m.onnxtxt"], ["commit", "-qm", "before"]):
        subprocess.run([*git, *command], check=True)
    session = Session(client, path, AFTER)

    async def changes(**against: str) -> tuple[str | None, set[str]]:
        said = await session.request("onnxtext/graphCompare", uri=session.uri, **against)
        drawn = plain(await session.request("onnxtext/graph", uri=session.uri))
        items = [item for group in drawn["groups"] for item in group["items"]]
        assert drawn["against"] == said.against
        return said.against, {item["change"] for item in items if "change" in item}

    assert await changes(against="git:HEAD") == ("HEAD", {"added", "removed", "changed"})
    assert await changes(against=other.as_uri()) == ("other.onnx", set())
    # The text gets an error and is repaired.
    session.replace("Sign (e)", "Sign ((e)")
    said, found = await changes(against="git:HEAD")
    assert said is not None
    assert said.startswith("HEAD: this text has an error: ")
    assert not found
    session.replace("Sign ((e)", "Sign (e)")
    assert (await changes(against="git:HEAD"))[1] == {"added", "removed", "changed"}
    # The other version has an error.
    faulty = tmp_path / "wrong.onnxtxt"
    faulty.write_text(BEFORE.replace("Relu (x)", "Relu ((x)"), "utf-8")
    said, found = await changes(against=faulty.as_uri())
    assert said is not None
    assert said.startswith("wrong.onnxtxt: ")
    assert "this text" not in said
    assert not found
    assert await changes() == (None, set())
    for wrong in ("git:nothing", "git:--help", "git:", "http://x", (tmp_path / "x.onnx").as_uri()):
        with pytest.raises(JsonRpcException):
            await session.request("onnxtext/graphCompare", uri=session.uri, against=wrong)
