# SPDX-License-Identifier: Apache-2.0
"""The commands and the Python functions run without the packages of the extras."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import TEXT, binary
from tests.seeds import sampled

EXTRAS = ("lsprotocol", "pygls", "safetensors", "hypothesis", "pytest", "jsonschema", "yaml")
START = f"""\
import sys

class Without:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {EXTRAS!r}:
            raise ModuleNotFoundError("No module named " + name, name=name)

sys.meta_path.insert(0, Without())
"""
COMMANDS = [
    "check model.onnxtxt model.onnx",
    "diff model.onnxtxt other.onnx",
    "diff --stat other.onnx model.onnxtxt",
    "check --infer model.onnx -o inferred.onnx",
    "explain value-undefined",
    "explain-type model.onnx y",
    "fmt --check model.onnxtxt",
    "from-binary model.onnx -o -",
    "from-binary --weights store --store w model.onnx -o stored.onnxtxt",
    "from-binary --dialect onnx --allow-loss model.onnx -o -",
    "info model.onnxtxt model.onnx",
    "merge model.onnxtxt model.onnxtxt other.onnx -o -",
    "show model.onnx",
    "show model.onnxtxt",
    "show broken.onnxtxt",
    "to-binary model.onnxtxt -o out.onnx",
    "verify model.onnx",
    "view model.onnx -o model.html",
    "view broken.onnxtxt -o -",
    "view model.onnxtxt other.onnx -o -",
    "weights list store",
]


def without_extras(code: str, directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run code where the packages of the extras cannot be imported."""
    return subprocess.run(
        [sys.executable, "-c", START + code, *arguments],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    result = tmp_path_factory.mktemp("core")
    (result / "model.onnxtxt").write_text(TEXT)
    (result / "broken.onnxtxt").write_text(TEXT.replace("Relu (", "Relu ("[:-1], 1))
    (result / "model.onnx").write_bytes(binary())
    (result / "store").mkdir()
    (result / "other.onnx").write_bytes(binary(TEXT.replace("Relu", "Tanh")))
    return result


@pytest.mark.thorough
@pytest.mark.parametrize("command", sampled(COMMANDS, 3))
def test_commands_run_without_extras(command: str, directory: Path) -> None:
    code = "from onnxtext.cli.main import main; main()"
    done = without_extras(code, directory, *command.split())
    assert done.returncode in (0, 1), done.stderr
    assert "internal error" not in done.stderr
    assert "No module named" not in done.stderr


def test_functions_run_without_extras(directory: Path) -> None:
    code = """
import onnxtext
text = open("model.onnxtxt").read()
data = onnxtext.to_binary(text)
assert onnxtext.to_binary(onnxtext.format_text(onnxtext.from_binary(data))) == data
assert not onnxtext.check(data) and not onnxtext.check(text)
assert onnxtext.loads(text) == onnxtext.loads(onnxtext.dumps(onnxtext.loads(text)))
for model in (text, data, open("broken.onnxtxt").read()):
    shown = onnxtext.show(model)
    assert str(shown) and repr(shown) and shown._repr_html_()
    assert onnxtext.view(model).startswith("<!DOCTYPE html>")
"""
    done = without_extras(code, directory)
    assert done.returncode == 0, done.stderr
