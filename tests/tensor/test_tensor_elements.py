# SPDX-License-Identifier: Apache-2.0
"""The table of element types agrees with the installed onnx."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import helper

from onnxtext.checker.rules import ir_versions
from onnxtext.syntax.grammar.tables import grammar_path
from onnxtext.tensor.element_types import ELEMENT_NUMBERS, ELEMENTS, ElementType, raw_size
from onnxtext.tensor.float_formats import FORMATS
from onnxtext.tensor.packing import pack, unpack
from onnxtext.weights.statistics import dtype_of
from tests.corpus import REPOSITORY
from tests.elements import each_known


def test_names_and_numbers_are_those_of_onnx() -> None:
    official = {k.lower(): v for k, v in onnx.TensorProto.DataType.items() if k != "UNDEFINED"}
    ours = {element.name: element.number for element in ELEMENTS.values()}
    assert {name: ours[name] for name in official} == official
    assert {element.number: element for element in ELEMENTS.values()} == ELEMENT_NUMBERS


def test_every_table_has_every_element_type() -> None:
    words = re.search(r"^PRIM\.1: /(.*)/$", grammar_path().read_text("utf-8"), re.M)
    assert words is not None
    spec = (REPOSITORY / "grammar" / "SPEC.md").read_text("utf-8")
    listed = spec.partition("The element types are ")[2].partition(".")[0]
    real = [e for e in ELEMENTS.values() if e.kind in ("float", "int", "uint", "bool")]
    tables = {
        "PRIM in grammar/onnxtext.lark": (words[1].split("|"), ELEMENTS),
        "grammar/SPEC.md": (re.findall(r"`(\w+)`", listed), ELEMENTS),
        "onnxtext/tensor/float_formats.py": (
            FORMATS,
            [e.name for e in real if e.kind == "float" and e.bits <= 32],
        ),
        "onnxtext/weights/statistics.py": (
            [name for name in ELEMENTS if dtype_of(name) is not None],
            [e.name for e in real if e.bits % 8 == 0],
        ),
        "onnxtext/checker/rules/ir_versions.py": (
            ir_versions.ELEMENTS,
            [e.name for e in ELEMENTS.values() if e.number > 15],  # the others are of IR version 1
        ),
    }
    wrong = {place: set(found) ^ set(wanted) for place, (found, wanted) in tables.items()}
    assert {place: names for place, names in wrong.items() if names} == {}
    assert max(ir_versions.ELEMENTS.values()) <= ir_versions.NEWEST


@pytest.mark.parametrize("element", ELEMENTS.values(), ids=lambda e: e.name)
def test_the_field_is_the_one_the_official_parser_fills(element: ElementType) -> None:
    literal = '"a"' if element.kind == "string" else "1"
    text = f"g () => () <{element.name}[1] w = {{{literal}}}> {{}}"
    try:
        tensor = onnx.parser.parse_graph(text).initializer[0]
    except onnx.parser.ParseError:
        pytest.skip(f"this onnx does not know {element.name}")
    filled = {field.name for field, _ in tensor.ListFields() if field.name.endswith("_data")}
    assert filled == {element.field}
    assert tensor.data_type == element.number


@each_known(ELEMENTS.values())
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 7, 8, 9])
def test_raw_size_is_what_onnx_stores(element: ElementType, count: int) -> None:
    if element.kind == "string":
        with pytest.raises(ValueError, match="no raw form"):
            raw_size(element, count)
        return
    array = np.zeros(count, helper.tensor_dtype_to_np_dtype(element.number))
    assert raw_size(element, count) == len(onnx.numpy_helper.from_array(array).raw_data)


@each_known(element for element in ELEMENTS.values() if 0 < element.bits < 8)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 6, 7, 64, 101])
def test_packing_agrees_with_numpy_helper(element: ElementType, count: int) -> None:
    codes = np.random.default_rng(count).integers(0, 1 << element.bits, count, dtype=np.uint8)
    packed = pack(codes, element.bits).tobytes()
    assert len(packed) == raw_size(element, count)
    tensor = onnx.TensorProto(dims=[count], data_type=element.number, raw_data=packed)
    array = onnx.numpy_helper.to_array(tensor)
    assert onnx.numpy_helper.from_array(array).raw_data == packed
    mask = (1 << element.bits) - 1
    assert ((array.view(np.uint8) & mask) == codes).all()
    assert (unpack(np.frombuffer(packed, np.uint8), element.bits)[:count] == codes).all()


def test_imports_neither_onnx_nor_ml_dtypes() -> None:
    code = (
        "import sys\n"
        "import onnxtext.tensor.parse_literals, onnxtext.tensor.format_elements\n"
        "import onnxtext.tensor.varints\n"
        "print([m for m in ('onnx', 'ml_dtypes', 'google.protobuf') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == "[]"


def test_elements_alone_do_not_import_numpy() -> None:
    code = "import sys, onnxtext.tensor.element_types; print('numpy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == "False"
