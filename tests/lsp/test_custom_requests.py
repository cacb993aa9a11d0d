# SPDX-License-Identifier: Apache-2.0
"""Custom requests: binary models as texts, conversion, verification, the graph view."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient

import onnxtext
from tests.lsp.session import Session, plain

pytestmark = pytest.mark.asyncio(loop_scope="session")

EXAMPLES = Path(__file__).parents[2] / "examples"


def binary() -> bytes:
    """Return a model with a weight that is too large to be inline."""
    weight = np.arange(300, dtype=np.float32).reshape(3, 100)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 100])],
        [numpy_helper.from_array(weight, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return model.SerializeToString()


async def ask(client: LanguageClient, method: str, **params: Any) -> Any:
    protocol: Any = client.protocol
    return await protocol.send_request_async(method, params)


async def test_binaries_are_converted_to_text_and_back(
    client: LanguageClient, tmp_path: Path
) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(binary())
    read = await ask(client, "onnxtext/fromBinary", uri=path.as_uri())
    assert read.size == len(binary())
    assert read.digest == hashlib.sha256(binary()).hexdigest()
    assert 'blob"' in read.text
    assert "base64" not in read.text

    other = tmp_path / "same.onnx"
    result = await ask(
        client,
        "onnxtext/toBinary",
        text=read.text,
        original=path.as_uri(),
        target=other.as_uri(),
        digest=read.digest,
    )
    assert other.read_bytes() == binary()
    assert result.written == len(binary())
    assert result.digest == read.digest

    changed = read.text.replace("MatMul", "Gemm")
    result = await ask(client, "onnxtext/toBinary", text=changed, original=path.as_uri())
    model = onnx.load_from_string(path.read_bytes())
    assert model.graph.node[0].op_type == "Gemm"
    assert numpy_helper.to_array(model.graph.initializer[0])[2, 99] == 299
    assert result.digest == hashlib.sha256(path.read_bytes()).hexdigest()


async def test_a_text_with_errors_is_not_written(client: LanguageClient, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(binary())
    read = await ask(client, "onnxtext/fromBinary", uri=path.as_uri())
    with pytest.raises(JsonRpcException) as caught:
        await ask(
            client,
            "onnxtext/toBinary",
            text=read.text.replace("MatMul (x", "MatMul [x"),
            original=path.as_uri(),
        )
    assert "the text has errors" in str(caught.value)
    data: Any = caught.value.data
    first = data["diagnostics"][0]
    assert first["range"]["start"]["line"] == read.text[: read.text.index("MatMul")].count("\n")
    assert path.read_bytes() == binary()


async def test_to_binary_keeps_a_changed_original(client: LanguageClient, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(binary())
    read = await ask(client, "onnxtext/fromBinary", uri=path.as_uri())
    changed = binary() + b"\x12\x00"
    path.write_bytes(changed)
    with pytest.raises(JsonRpcException, match="has changed on disk"):
        await ask(
            client, "onnxtext/toBinary", text=read.text, original=path.as_uri(), digest=read.digest
        )
    assert path.read_bytes() == changed


async def test_from_binary_reports_errors(client: LanguageClient, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(b"this is no model")
    with pytest.raises(JsonRpcException, match=r"m\.onnx"):
        await ask(client, "onnxtext/fromBinary", uri=path.as_uri())
    with pytest.raises(JsonRpcException, match="cannot read"):
        await ask(client, "onnxtext/fromBinary", uri=(tmp_path / "none.onnx").as_uri())
    with pytest.raises(JsonRpcException, match="not a local file"):
        await ask(client, "onnxtext/fromBinary", uri="untitled:Untitled-1")


async def test_convert_and_verify_are_answered(client: LanguageClient, tmp_path: Path) -> None:
    text = EXAMPLES / "classifier.onnxtxt"
    result = tmp_path / "c.onnx"
    answer = await ask(
        client, "onnxtext/convert", uri=text.as_uri(), target=result.as_uri(), direction="to-binary"
    )
    assert answer.target == result.as_uri()
    assert result.read_bytes() == onnxtext.to_binary(text.read_text("utf-8"))

    back = tmp_path / "c.onnxtxt"
    await ask(
        client, "onnxtext/convert", uri=result.as_uri(), target=back.as_uri(),
        direction="from-binary",
    )  # fmt: skip
    assert onnxtext.to_binary(back.read_text("utf-8")) == result.read_bytes()

    verified = await ask(client, "onnxtext/verify", uri=result.as_uri())
    assert verified.ok
    assert "L1 L3" in verified.report

    bad = tmp_path / "bad.onnxtxt"
    bad.write_text(text.read_text("utf-8").replace("Gemm", "Gemmm"), "utf-8")
    with pytest.raises(JsonRpcException, match="Gemmm"):
        await ask(
            client, "onnxtext/convert", uri=bad.as_uri(), target=result.as_uri(),
            direction="to-binary", force=True,
        )  # fmt: skip
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"\x08")
    verified = await ask(client, "onnxtext/verify", uri=broken.as_uri())
    assert not verified.ok
    assert verified.report


async def test_a_text_with_errors_has_a_graph(client: LanguageClient) -> None:
    path = EXAMPLES / "classifier.onnxtxt"
    text = path.read_text("utf-8").replace("Softmax", "= Softmax")
    session = Session(client, path, text)
    drawn = plain(await session.request("onnxtext/graph", uri=session.uri))
    assert any(node["op"] == "Gemm" for group in drawn["groups"] for node in group["items"])
