# SPDX-License-Identifier: Apache-2.0
"""A string attribute must have a value that its operator lists, or that onnxruntime accepts."""

from __future__ import annotations

from itertools import product

import onnx
import pytest

import onnxtext
from onnxtext.checker.rules import listed_attribute_values
from tests.checker.models import codes, text

INPUTS = (
    "float[1, 4, 6, 6] x, uint8[3] u, float[5, 1, 2] steps, float[1, 8, 2] w, float[1, 8, 2] r, "
    "float[1, 6, 6, 2] grid, float[2, 3] m, float[4] scales, "
    "float[3, 4] rois, float[3, 5] rois5, int64[3] batch, int64[1, 4, 6, 6] x64, int64[1] axis, "
    "map(int64, float) map"
)
ML = "ai.onnx.ml."
FOUND = {
    'DepthToSpace <blocksize = 2, mode = "dcr"> (x)': "error",
    'BitShift <direction = "UP"> (u, u)': "error",
    'MaxPool <kernel_shape = [2, 2], auto_pad = "SAME"> (x)': "error",
    'MaxPool <kernel_shape = [2, 2], auto_pad = ""> (x)': "warning",
    'LSTM <hidden_size = 2, direction = "backward"> (steps, w, r)': "error",
    'LSTM <hidden_size = 2, activations = ["Sigmoid", "Gelu", "Tanh"]> (steps, w, r)': "error",
    'LSTM <hidden_size = 2, activations = ["sigmoid", "TANH", "Relu"]> (steps, w, r)': None,
    'RNN <hidden_size = 2, activations = ["Relu"]> (steps, w, r)': None,
    'RNN <hidden_size = 2, activations = ["relu"]> (steps, w, r)': "error",
    'Cast <to = 24, round_mode = "UP"> (x)': "error",
    'Cast <to = 24, round_mode = "down"> (x)': None,
    'Cast <to = 10, round_mode = "down"> (x)': "warning",
    'Cast <to = 10, round_mode = "up"> (x)': None,
    "Cast <to = 10, saturate = 0> (x)": "warning",
    "Cast <to = 10, saturate = 1> (x)": None,
    "Cast <to = 17, saturate = 0> (x)": None,
    "CumSum <exclusive = 2> (x, axis)": "warning",
    "CumSum <exclusive = 1> (x, axis)": None,
    "LRN <size = 2> (x)": "warning",
    "LRN <size = 5> (x)": None,
    "LayerNormalization <stash_type = 0> (m, m)": "warning",
    "LayerNormalization <stash_type = 1> (m, m)": None,
    "LpNormalization <p = 3> (x)": "error",
    "LSTM <hidden_size = 2, layout = 2> (steps, w, r)": "error",
    "Col2Im <strides = [0, 1]> (x, axis, axis)": "error",
    'Resize <mode = "cubic", exclude_outside = 2> (x, , scales)': "warning",
    "LSTM <hidden_size = 2, layout = 0> (steps, w, r)": None,
    "Attention <qk_matmul_output_mode = 4> (x, x, x)": "warning",
    "Attention <qk_matmul_output_mode = 3> (x, x, x)": None,
    "LpPool <kernel_shape = [2, 2], p = 0> (x)": "warning",
    "MaxUnpool <kernel_shape = [2, 2], strides = [0, 0]> (x, x64)": "error",
    "MaxRoiPool <pooled_shape = [2, 0]> (x, rois5)": "warning",
    "Multinomial <sample_size = 0> (m)": "warning",
    "Multinomial <sample_size = 1> (m)": None,
    "RoiAlign <output_height = 0> (x, rois, batch)": "warning",
    "RoiAlign <sampling_ratio = -1> (x, rois, batch)": "error",
    "RoiAlign <sampling_ratio = 0> (x, rois, batch)": None,
    "Unique <sorted = 2> (x)": "warning",
    "MaxPool <kernel_shape = [2, 2], storage_order = 2> (x)": "error",
    "Mod <fmod = -1> (u, u)": "warning",
    "ReduceMax <keepdims = 2> (x)": "warning",
    "ReduceMax <keepdims = 0> (x)": None,
    "Gemm <transB = -1> (m, m)": "warning",
    "Attention <is_causal = 2> (x, x, x)": "warning",
    "QuantizeLinear <block_size = -1> (x, scales)": "error",
    'TfIdfVectorizer <max_gram_length = 1, max_skip_count = 0, min_gram_length = 0, mode = "TF",'
    " ngram_counts = [0], ngram_indexes = [0], pool_int64s = [2]> (axis)": "warning",
    'CastLike <round_mode = "UP"> (x, x)': "warning",
    'CastLike <round_mode = "down"> (x, x)': None,
    'RoiAlign <mode = "AVG"> (x, rois, u)': "warning",
    'GridSample <mode = "bilinear"> (x, grid)': "error",
    'GridSample <mode = "linear"> (x, grid)': None,
    'Resize <mode = "bilinear"> (x, , scales)': "error",
    'Resize <nearest_mode = "round"> (x, , scales)': "error",
    'Resize <mode = "linear", nearest_mode = "round"> (x, , scales)': "warning",
    'Gelu <approximate = "erf"> (x)': "warning",
    'Einsum <equation = "...a...->a"> (x)': "error",  # onnx's inference hangs on it
    'Einsum <equation = "ab..->a"> (m)': "error",
    'Einsum <equation = "ab-"> (m)': "error",
    'Einsum <equation = "a b -> ba"> (m)': None,
    'Einsum <equation = "...a,ab->..."> (m, m)': None,
    'Einsum <equation = ",..."> (axis, m)': None,
    f'{ML}Normalizer <norm = "l2"> (m)': "error",
    f"{ML}CastMap <max_map = 0> (map)": "warning",
    "Multinomial <dtype = 0> (m)": "error",
    f"{ML}LinearRegressor <coefficients = [1.0], targets = 0> (m)": "error",
    f'{ML}LinearRegressor <coefficients = [1.0], post_transform = "SIGMOID"> (m)': "error",
}


@pytest.mark.parametrize("node", FOUND)
def test_unlisted_values_are_found(node: str) -> None:
    source = text(f"y = {node}", inputs=INPUTS, outputs="y", opsets='24, "ai.onnx.ml": 3')
    found = [item for item in onnxtext.check(source) if item.code == "attribute-value-unknown"]
    assert [item.severity for item in found] == [FOUND[node]] * (FOUND[node] is not None)


def test_attributes_without_effect_are_found_in_all_versions() -> None:
    source = text("y = Cast <to = 10, saturate = 0> (x)", inputs=INPUTS, outputs="y", opsets="19")
    assert codes(source) >= {"attribute-value-unknown"}


def test_the_mode_of_an_older_version_is_listed() -> None:
    source = text('y = GridSample <mode = "bilinear"> (x, grid)', inputs=INPUTS, outputs="y",
                  opsets="16")  # fmt: skip
    assert "attribute-value-unknown" not in {item.code for item in onnxtext.check(source)}


def test_onnx_documents_the_listed_values() -> None:
    schemas = onnx.defs.get_all_schemas_with_history()
    for entry in listed_attribute_values.TABLE:
        for operator, name in product(entry.operators.split(), entry.attribute.split()):
            described = [
                f"{schema.doc} {schema.attributes[name].description}"
                for schema in schemas
                if operator in (schema.name, "*")
                and schema.domain == entry.domain
                and name in schema.attributes
                and entry.since <= schema.since_version <= entry.until
            ]
            assert described, (operator, name)
            for value in entry.values.split() if isinstance(entry.values, str) else ():
                assert value in " ".join(described), (operator, name, value)


@pytest.mark.parametrize("value", ["g () => () {}", "float[1] {1}", "[float, int64]"])
def test_attributes_of_another_type_have_no_listed_values(value: str) -> None:
    source = text(
        f"y = DepthToSpace <blocksize = 2, mode = {value}> (x)", inputs=INPUTS, outputs="y"
    )
    assert "attribute-value-unknown" not in {item.code for item in onnxtext.check(source)}
