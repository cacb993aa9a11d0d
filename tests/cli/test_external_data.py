# SPDX-License-Identifier: Apache-2.0
"""Embedding and externalizing ONNX external data, and references to data files."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import zipfile
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as nh
import pytest
import safetensors.numpy

import onnxtext
from onnxtext.diagnostics import OnnxTextError
from onnxtext.weights.external_data import embed_external
from tests.cli.command import names
from tests.cli.command import run_unchecked as run
from tests.seeds import seeded

pytestmark = pytest.mark.thorough

ARRAYS: dict[str, Any] = {
    "large": np.arange(3000, dtype=np.float32).reshape(30, 100),
    "odd": np.arange(1777, dtype=np.uint8),
    "half": np.arange(600).astype(ml_dtypes.bfloat16),
    "small": np.arange(7, dtype=np.int64),
    "again": np.arange(3000, dtype=np.float32).reshape(30, 100),
}


def model() -> onnx.ModelProto:
    value = nh.from_array(np.arange(999, dtype=np.int32))
    node = oh.make_node("Constant", [], ["c"], value=value)
    initializers = [nh.from_array(array, name) for name, array in ARRAYS.items()]
    return oh.make_model(oh.make_graph([node], "g", [], [], initializers), ir_version=10)


def loaded(path: Path) -> onnx.ModelProto:
    """Load a model and its external data with onnx, which leaves a trace in the tensors."""
    result = onnx.load(path)
    for tensor in (*result.graph.initializer, result.graph.node[0].attribute[0].t):
        tensor.ClearField("data_location")
    return result


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "m.onnxtxt"
    onnxtext.dump(model(), path, weights="store")
    return path


# ---- External data ---------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["store", "section", "inline", "safetensors"])
def test_externalize_moves_weights_to_a_data_file(tmp_path: Path, mode: Any) -> None:
    text = tmp_path / "m.onnxtxt"
    onnxtext.dump(model(), text, weights=mode)
    assert run("to-binary", text, "--externalize").status == 0
    result = onnx.load(tmp_path / "m.onnx", load_external_data=False)
    tensors = {tensor.name: tensor for tensor in result.graph.initializer}
    tensors["c"] = result.graph.node[0].attribute[0].t
    data = (tmp_path / "m.onnx.data").read_bytes()
    offsets = set()
    for name, tensor in tensors.items():
        entries = {entry.key: entry.value for entry in tensor.external_data}
        if name == "small":
            assert not entries
            continue
        assert entries["location"] == "m.onnx.data"
        offset, length = int(entries["offset"]), int(entries["length"])
        assert offset % 4096 == 0
        assert offset + length <= len(data)
        offsets.add(offset)
    assert len(offsets) >= 4
    # onnx reads the file and finds the original data.
    assert loaded(tmp_path / "m.onnx") == model()
    onnx.checker.check_model(tmp_path / "m.onnx")


def test_external_references_round_trip(text: Path, tmp_path: Path) -> None:
    assert run("to-binary", text, "--externalize").status == 0
    binary = tmp_path / "m.onnx"
    # By default, references to external data are kept byte for byte.
    kept = tmp_path / "kept.onnxtxt"
    assert run("from-binary", binary, "-o", kept).status == 0
    assert '= external("m.onnx.data", 0, ' in kept.read_text()
    assert run("to-binary", kept, "-o", "-").out == binary.read_bytes()
    # `--embed-external` embeds the data, in both directions.
    whole = tmp_path / "whole.onnxtxt"
    assert run("from-binary", binary, "--embed-external", "-o", whole).status == 0
    assert "external" not in whole.read_text()
    wanted = model().SerializeToString()
    assert run("to-binary", whole, "-o", "-").out == wanted
    assert run("to-binary", kept, "--embed-external", "-o", "-").out == wanted


def test_data_written_by_onnx_is_embedded(tmp_path: Path) -> None:
    binary = tmp_path / "m.onnx"
    onnx.save(model(), binary, save_as_external_data=True, location="w.bin", size_threshold=0)
    result = run("from-binary", binary, "--embed-external", "-o", "-")
    assert onnxtext.loads(result.out.decode()) == model()


def test_externalize_overwrites_nothing(text: Path, tmp_path: Path) -> None:
    data = tmp_path / "m.onnx.data"
    data.write_bytes(b"precious")
    result = run("to-binary", text, "--externalize")
    assert result.status == 2
    assert "m.onnx.data" in result.err
    assert data.read_bytes() == b"precious"
    assert not (tmp_path / "m.onnx").exists()
    assert run("to-binary", text, "--externalize", "--force").status == 0
    assert loaded(tmp_path / "m.onnx") == model()
    assert run("to-binary", text, "--externalize", "-o", "-").status == 2


def write_with_external(directory: Path, location: str) -> None:
    """Write `m.onnx`, whose tensor `large` is in a file and all others in the model."""
    result = model()
    (tensor,) = [each for each in result.graph.initializer if each.name == "large"]
    (directory / location).write_bytes(tensor.raw_data)
    onnx.external_data_helper.set_external_data(tensor, location, 0, 12000)
    tensor.ClearField("raw_data")
    (directory / "m.onnx").write_bytes(result.SerializeToString())


@pytest.mark.parametrize("output", ["m.onnx", "out/m.onnx"])
def test_externalize_keeps_the_data_that_the_text_references(tmp_path: Path, output: str) -> None:
    write_with_external(tmp_path, "m.onnx.data")
    data = (tmp_path / "m.onnx.data").read_bytes()
    assert run("from-binary", tmp_path / "m.onnx").status == 0
    (tmp_path / "out").mkdir()
    command: tuple[str | Path, ...]
    command = ("to-binary", tmp_path / "m.onnxtxt", "--externalize", "--force", "-o")
    result = run(*command, tmp_path / output)
    assert result.status == 2
    assert "m.onnx.data would be overwritten by weights" in result.err
    assert "choose another path with `-o`" in result.err
    assert "--store" not in result.err
    assert names(tmp_path / "out") == []
    assert (tmp_path / "m.onnx.data").read_bytes() == data
    result = run(*command, tmp_path / output, "--embed-external")
    assert result.status == (2 if output == "m.onnx" else 0)
    assert (tmp_path / "m.onnx.data").read_bytes() == data
    if output != "m.onnx":
        assert loaded(tmp_path / output) == model()
    assert run(*command, tmp_path / "new.onnx").status == 0
    assert loaded(tmp_path / "new.onnx") == model()


@pytest.mark.parametrize("embed", [["--embed-external"], []], ids=["embed", "keep"])
def test_safetensors_files_do_not_replace_external_data(tmp_path: Path, embed: list[str]) -> None:
    write_with_external(tmp_path, "m.safetensors")
    data = (tmp_path / "m.safetensors").read_bytes()
    command: tuple[str | Path, ...]
    command = ("from-binary", tmp_path / "m.onnx", "--weights", "safetensors", "--force", *embed)
    result = run(*command)
    assert result.status == 2
    reason = "would be overwritten by weights" if embed else "has external data of the model"
    assert f"m.safetensors {reason}" in result.err
    if not embed:
        with pytest.raises(ValueError, match=reason):
            onnxtext.dump(
                onnx.load(tmp_path / "m.onnx", load_external_data=False),
                tmp_path / "m.onnxtxt",
                weights="safetensors",
            )
    assert names(tmp_path) == ["m.onnx", "m.safetensors"]
    assert (tmp_path / "m.safetensors").read_bytes() == data
    assert run(*command, "--store", "new.safetensors").status == 0
    assert run("to-binary", tmp_path / "m.onnxtxt", "--embed-external", "-o", "-").status == 0
    (tmp_path / "out").mkdir()
    status = run(*command, "-o", tmp_path / "out" / "m.onnxtxt").status
    assert status == (0 if embed else 2)


def external(**entries: str) -> str:
    pairs = ", ".join([f'"{key}": "{value}"' for key, value in entries.items()])
    return f"<onnxtext: 1> g () => () <float[2] w = [{pairs}]> {{}}"


@pytest.mark.parametrize(
    "entries",
    [
        {"location": "../outside"},
        {"location": "/etc/passwd"},
        {"location": "link"},
        {"location": "missing"},
        {"location": "a" * 300},
        {"location": "."},
        {"location": "w.bin", "offset": "1"},
        {"location": "w.bin", "offset": "4096"},
        {"location": "w.bin", "offset": "-8"},
        {"location": "w.bin", "offset": "0x0"},
        {"location": "w.bin", "length": "9"},
        {"location": "w.bin", "length": "7"},
        {"location": "w.bin", "offset": "9" * 30, "length": "8"},
        {"location": "w.bin", "checksum": "0" * 40},
        {"offset": "0"},
    ],
    ids=str,
)
def test_hostile_external_data_is_rejected(tmp_path: Path, entries: dict[str, str]) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "outside").write_bytes(bytes(8))
    (inside / "link").symlink_to(tmp_path / "outside")
    (inside / "w.bin").write_bytes(b"12345678")
    text = inside / "m.onnxtxt"
    text.write_text(external(**entries))
    assert run("to-binary", text, "-o", "-").status == 0  # referenced files are not read
    result = run("to-binary", text, "--embed-external", "-o", "-", "--output-format", "json")
    assert (result.status, result.out) == (1, b"")
    code = result.findings()[0]["code"]
    assert "`w`" in result.findings()[0]["message"]
    assert result.findings()[0]["column"] == text.read_text().index("float[2] w") + 1
    assert "length" in entries or "length" not in result.findings()[0]["message"]
    checked = run("check", text, "--output-format", "json")
    assert checked.status == 1
    assert code in {finding["code"] for finding in checked.findings()}
    (inside / "m.onnx").write_bytes(onnxtext.to_binary(text.read_text()))
    result = run("from-binary", inside / "m.onnx", "--embed-external", "-o", "-")
    assert (result.status, result.out) == (1, b"")
    assert f"--> {inside}/m.onnx: model" in result.err


def test_external_data_that_cannot_be_read_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = Path.open

    def fail(path: Path, *arguments: Any, **options: Any) -> Any:
        if path.name == "w.bin":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return opened(path, *arguments, **options)

    (tmp_path / "w.bin").write_bytes(b"12345678")
    text = external(location="w.bin", checksum="0" * 40)
    monkeypatch.setattr(Path, "open", fail)
    codes = [finding.code for finding in onnxtext.check(text, base_dir=tmp_path)]
    assert "external-file-missing" in codes


def test_a_missing_file_is_one_finding(tmp_path: Path) -> None:
    weights = [f'float[2] w{i} = external("gone{i % 2}.bin", 0, 8)' for i in range(5)]
    text = f"<ir_version: 10, opset_import: [21]> g () => () <{', '.join(weights)}> {{}}"
    found = onnxtext.check(text, base_dir=tmp_path)
    messages = [one.message for one in found if one.code == "external-file-missing"]
    assert messages == [
        "the tensor `w0` and 2 other tensors have their data in `gone0.bin`, which does not exist",
        "the tensor `w1` and 1 other tensor have their data in `gone1.bin`, which does not exist",
    ]


@pytest.mark.parametrize(
    "make",
    [Path.mkdir, os.mkfifo, lambda path: path.symlink_to(path)],
    ids=["directory", "pipe", "loop"],
)
def test_a_location_that_is_not_a_file_is_a_finding(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(tmp_path / "w.bin")
    found = onnxtext.check(external(location="w.bin"), base_dir=tmp_path)
    messages = [one.message for one in found if one.code == "external-file-missing"]
    assert messages == ["the tensor `w` has its data in `w.bin`, which is not a regular file"]


def test_data_with_a_valid_checksum_is_embedded(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(b"12345678")
    digest = hashlib.sha1(b"12345678").hexdigest()
    text = tmp_path / "m.onnxtxt"
    text.write_text(external(location="w.bin", checksum=digest))
    data = run("to-binary", text, "--embed-external", "-o", "-").out
    assert onnx.load_from_string(data).graph.initializer[0].raw_data == b"12345678"


def test_a_checksum_is_computed_once_for_each_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small model could refer to a large file by many locations and spellings of its checksum."""
    (tmp_path / "w.bin").write_bytes(b"12345678")
    (tmp_path / "link.bin").symlink_to("w.bin")
    digest = hashlib.sha1(b"12345678").hexdigest()
    assert digest != digest.upper()
    weights = [
        f'float[2] w{index} = ["location": "{location}", "checksum": "{checksum}"]'
        for index, (location, checksum) in enumerate(
            product(["w.bin", "./w.bin", "././w.bin", "link.bin"], [digest, digest.upper()])
        )
    ]
    text = f"<ir_version: 10, opset_import: [21]> g () => () <{', '.join(weights)}> {{}}"
    computed = []

    def sha1(*, usedforsecurity: bool) -> Any:
        computed.append(usedforsecurity)
        return hashlib.new("sha1", usedforsecurity=usedforsecurity)

    monkeypatch.setattr(hashlib, "sha1", sha1)
    embed_external(onnxtext.parse(text), tmp_path)
    assert len(computed) == 1
    onnxtext.check(text, base_dir=tmp_path)
    assert len(computed) == 2


def test_a_sparse_file_is_not_hashed_whole(tmp_path: Path) -> None:
    """A file of 1 TiB may take no space on the disk, and would take half an hour to hash."""
    with (tmp_path / "w.bin").open("wb") as file:
        try:
            file.truncate(1 << 40)
        except OSError:
            pytest.skip("the file system has no such files")
    text = tmp_path / "m.onnxtxt"
    text.write_text(external(location="w.bin", checksum="0" * 40))
    assert b"external-checksum" not in run("check", text, "--select", "external-checksum").out
    result = run("to-binary", text, "--embed-external", "-o", "-")
    assert result.status == 1
    assert "w.bin is too large to verify its `checksum`" in result.err


def test_models_over_two_gibibytes_are_rejected(tmp_path: Path) -> None:
    """Impossible models are rejected before any weights are read."""
    text = tmp_path / "m.onnxtxt"
    text.write_text(
        '<onnxtext: 1> g () => () <float[600000000] w = blob"0123456789abcdef"> {}'
        'resources {store: "w"}'
    )
    result = run("to-binary", text, "-o", "-")
    assert result.status == 1
    assert "model-too-large" in result.err
    assert "--externalize" in result.err
    large = tmp_path / "large.onnx"
    with large.open("wb") as file:
        file.truncate((1 << 31) + 10)
    result = run("from-binary", large)
    assert result.status == 2
    assert "model-too-large" in result.err


# ---- Data files ------------------------------------------------------------------------------


def with_file(declared: str, reference: str) -> str:
    return f'<onnxtext: 1> g () => () <{declared} w = file"{reference}"> {{}}'


def read(directory: Path, declared: str, reference: str) -> bytes:
    text = with_file(declared, reference)
    result = onnxtext.loads(text, base_dir=directory)
    data: bytes = result.graph.initializer[0].raw_data
    return data


ELEMENTS: list[tuple[str, Any]] = [
    ("float", np.float32), ("double", np.float64), ("float16", np.float16), ("int8", np.int8),
    ("uint16", np.uint16), ("int64", np.int64), ("bool", np.bool_), ("complex64", np.complex64),
    ("bfloat16", ml_dtypes.bfloat16), ("float8e4m3fn", ml_dtypes.float8_e4m3fn),
]  # fmt: skip


@pytest.mark.parametrize(("element", "dtype"), ELEMENTS, ids=str)
def test_numpy_files_are_read(tmp_path: Path, element: str, dtype: Any) -> None:
    array = np.arange(24).reshape(2, 3, 4).astype(dtype)
    np.save(tmp_path / "w.npy", array)
    np.savez(tmp_path / "w.npz", a=array)
    np.savez_compressed(tmp_path / "c.npz", a=array)
    for reference in ("w.npy", "w.npz#a", "c.npz#a"):
        assert read(tmp_path, f"{element}[2, 3, 4]", reference) == array.tobytes()
    np.save(tmp_path / "f.npy", np.asfortranarray(array))
    assert read(tmp_path, f"{element}[2, 3, 4]", "f.npy") == array.tobytes()


def test_big_endian_and_rank_0_arrays_are_read(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.arange(5, dtype=">f4"))
    assert read(tmp_path, "float[5]", "w.npy") == np.arange(5, dtype="<f4").tobytes()
    np.save(tmp_path / "s.npy", np.float32(2))
    assert read(tmp_path, "float", "s.npy") == np.float32(2).tobytes()


def test_safetensors_files_of_other_programs_are_read(tmp_path: Path) -> None:
    arrays: dict[str, Any] = {
        "q": np.arange(6, dtype=np.float32).reshape(2, 3),
        "k#1": np.ones(3, np.int8),
    }
    safetensors.numpy.save_file(arrays, tmp_path / "w.safetensors")
    assert read(tmp_path, "float[2, 3]", "w.safetensors#q") == arrays["q"].tobytes()
    assert read(tmp_path, "int8[3]", "w.safetensors#k#1") == arrays["k#1"].tobytes()
    for wrong in ("float[3, 2]", "float[6]", "int32[2, 3]"):
        with pytest.raises(OnnxTextError, match="tensor `w`"):
            read(tmp_path, wrong, "w.safetensors#q")
    with pytest.raises(OnnxTextError, match="the file has"):
        read(tmp_path, "float[2, 3]", "w.safetensors#v")


@pytest.mark.parametrize(
    ("declared", "reference", "message"),
    [
        ("float[4]", "w.npy", "shape"),
        ("float[1, 5]", "w.npy", "shape"),
        ("double[5]", "w.npy", "type"),
        ("int4[5]", "w.npy", "type"),
        ("float[5]", "none.npy", "No such file"),
        ("float[5]", "../w.npy", "leads out"),
        ("float[5]", "/tmp/w.npy", "absolute"),
        ("float[5]", "link.npy", "link"),
        ("float[5]", "object.npy", "type"),
        ("float[5]", "cut.npy", "ends after"),
        ("float[5]", "text.npy", "not a .npy file"),
        ("float[5]", "w.npz#b", "missing"),
        ("float[5]", "text.npz#b", "cannot be read"),
        ("float[5]", "text.safetensors#b", "not a safetensors file"),
        ("float[5]", "w.bin", "must end in .npy"),
        ("float[5]", "w.npz", "several"),
        ("float[5]", "w.npy#a", "one array"),
    ],
)
def test_data_files_that_do_not_fit_are_errors(
    tmp_path: Path, declared: str, reference: str, message: str
) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    array = np.arange(5, dtype=np.float32)
    np.save(tmp_path / "w.npy", array)
    np.save(inside / "w.npy", array)
    np.savez(inside / "w.npz", a=array)
    np.save(inside / "object.npy", np.array([print] * 5), allow_pickle=True)
    (inside / "cut.npy").write_bytes((inside / "w.npy").read_bytes()[:-1])
    for suffix in ("npy", "npz", "safetensors"):
        (inside / f"text.{suffix}").write_text("no data")
    (inside / "link.npy").symlink_to(tmp_path / "w.npy")
    with pytest.raises(OnnxTextError, match=message) as caught:
        read(inside, declared, reference)
    assert caught.value.diagnostics[0].source is not None


HEADERS = [
    "{",
    "{'descr': '<f4', 'fortran_order': False, 1: (2,)}",
    "{'descr': [('', '<f4')]}",
    "\0",
]


@pytest.mark.parametrize("header", HEADERS)
def test_a_damaged_numpy_header_is_an_error(tmp_path: Path, header: str) -> None:
    """numpy parses headers as Python, and raises exceptions of many classes."""
    line = header.encode() + b"\n"
    data = b"\x93NUMPY\1\0" + len(line).to_bytes(2, "little") + line + bytes(8)
    (tmp_path / "w.npy").write_bytes(data)
    with pytest.raises(OnnxTextError, match=r"`w\.npy` is not a \.npy file"):
        read(tmp_path, "float[2]", "w.npy")
    (tmp_path / "m.onnxtxt").write_text("<ir_version: 10, opset_import: [20]> g (float x) => () {}")
    done = run("run", tmp_path / "m.onnxtxt", "--input", f"x=@{tmp_path / 'w.npy'}")
    assert done.status == 2
    assert "is not a .npy file" in done.err


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damaged_archives_are_errors(tmp_path: Path, method: int) -> None:
    array = io.BytesIO()
    np.save(array, np.arange(1000, dtype=np.float32))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr("w.npy", array.getvalue())
    good = packed.getvalue()
    choose = seeded()
    for _ in range(100):
        data = bytearray(good)
        data[choose.randrange(len(data))] ^= choose.randint(1, 255)
        (tmp_path / "w.npz").write_bytes(data)
        try:
            assert read(tmp_path, "float[1000]", "w.npz#w") == array.getvalue()[-4000:]
        except OnnxTextError as error:
            codes = {item.code for item in error.diagnostics}
            assert codes <= {"weights-unreadable", "data-file-mismatch"}


def test_data_files_without_a_directory_are_errors() -> None:
    with pytest.raises(OnnxTextError, match="base_dir"):
        onnxtext.to_binary(with_file("float[5]", "w.npy"))


def test_data_files_in_attributes_are_externalized(tmp_path: Path) -> None:
    array = np.arange(1000, dtype=np.float32)
    np.save(tmp_path / "w.npy", array)
    text = tmp_path / "m.onnxtxt"
    text.write_text(
        "<onnxtext: 1, ir_version: 10, opset_import: [20]> g () => () "
        '{ c = Constant <value = float[1000] file"w.npy"> () }'
    )
    assert run("verify", text).status == 0
    assert run("to-binary", text).status == 0
    assert run("to-binary", text, "--externalize", "-o", tmp_path / "e.onnx").status == 0
    assert "e.onnx.data" in names(tmp_path)
    for name in ("m.onnx", "e.onnx"):
        (attribute,) = onnx.load(tmp_path / name).graph.node[0].attribute
        assert attribute.t.raw_data == array.tobytes()


# ---- Statistics ------------------------------------------------------------------------------


def test_statistics_are_comments(tmp_path: Path) -> None:
    array = np.arange(1000, dtype=np.float32).reshape(10, 100) - 10
    array[3, 3] = np.nan
    initializers = [nh.from_array(array, "w"), nh.from_array(np.ones(500).cumsum(), "d")]
    data = oh.make_model(oh.make_graph([], "g", [], [], initializers)).SerializeToString()
    binary = tmp_path / "m.onnx"
    binary.write_bytes(data)
    for mode in ("section", "store", "none"):
        text = tmp_path / f"{mode}.onnxtxt"
        result = run("from-binary", binary, "--weights", mode, "--stats", "-o", text)
        assert result.status == 0, result.err
        plain = tmp_path / f"{mode}-plain.onnxtxt"
        options = ["--weights", mode, "--store", f"{mode}.weights"][: 4 if mode == "store" else 2]
        assert run("from-binary", binary, *options, "-o", plain).status == 0
        lines = text.read_text().splitlines()
        comments = [line for line in lines if line.startswith("# ")]
        finite = array[~np.isnan(array)].astype(np.float64)
        assert comments == [
            f"# w: min -10, max 989, mean {finite.mean():.6g}, std {finite.std():.6g}, "
            "zeros 0.1%, NaN 1",
            f"# d: min 1, max 500, mean 250.5, std {np.arange(1, 501).std():.6g}, zeros 0%, NaN 0",
        ]
        assert [line for line in lines if line not in comments] == plain.read_text().splitlines()
        if mode != "none":
            assert run("to-binary", text, "-o", "-").out == data


def test_external_data_of_types_without_raw_data_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(b"12345678")
    text = tmp_path / "m.onnxtxt"
    header = "<onnxtext: 1, ir_version: 10, opset_import: [21]>"
    text.write_text(f'{header} g () => () <string[2] w = ["location": "w.bin"]> {{}}')
    result = run("to-binary", text, "--embed-external", "-o", "-", "--output-format", "json")
    assert (result.status, result.out) == (1, b"")
    message = result.findings()[0]["message"]
    assert message == "external data of `w` has 8 bytes, but its type has no raw data"
    assert [item.code for item in onnxtext.check(text)] == ["tensor-data-field"]


def test_external_data_of_thousands_of_dimensions_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(b"12345678")
    tensor = onnx.TensorProto(name="w", data_type=1, dims=[1000] * 2000)
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="w.bin")
    (tmp_path / "m.onnx").write_bytes(
        oh.make_model(oh.make_graph([], "g", [], [], [tensor])).SerializeToString()
    )
    result = run("from-binary", tmp_path / "m.onnx", "--embed-external", "-o", "-")
    assert (result.status, result.out) == (1, b"")
    assert "external-range-invalid" in result.err
    assert "external-range-invalid" in run("check", tmp_path / "m.onnx").err


@pytest.mark.parametrize("entries", [{}, {"offset": "8"}, {"checksum": ""}], ids=str)
def test_data_need_not_end_with_its_file(tmp_path: Path, entries: dict[str, str]) -> None:
    (tmp_path / "w.bin").write_bytes(b"12345678abcdefgh-rest")
    text = tmp_path / "m.onnxtxt"
    text.write_text(external(location="w.bin", **entries))
    assert run("check", text, "--select", "external-range-invalid,external-checksum").out == b""
    data = run("to-binary", text, "--embed-external", "-o", "-").out
    expected = b"abcdefgh" if "offset" in entries else b"12345678"
    assert onnx.load_from_string(data).graph.initializer[0].raw_data == expected


def test_errors_of_external_data_in_attributes_are_placed_at_the_node(tmp_path: Path) -> None:
    text = tmp_path / "m.onnxtxt"
    values = ("1, 2", '"location": "missing"')
    body = "\n".join(f"z{i} = Constant <value = float[2] [{v}]> ()" for i, v in enumerate(values))
    text.write_text(f"<onnxtext: 1> g () => () {{\n{body}\n}}")
    result = run("to-binary", text, "--embed-external", "-o", "-", "--output-format", "json")
    (finding,) = result.findings()
    assert (finding["code"], finding["line"]) == ("external-file-missing", 3)
