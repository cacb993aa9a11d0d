# SPDX-License-Identifier: Apache-2.0
"""The real models that the official checker rejects, and the rules that each breaks."""

from __future__ import annotations

REJECTED: dict[str, set[str]] = {
    "models/NVIDIA_TensorRT/custom_op_node.onnx": {"opset-domain-not-imported"},
    "models/SamuelMarks_onnx9000/dummy_external.onnx": {
        "external-file-missing",
        "external-range-invalid",
    },
    "models/SamuelMarks_onnx9000/dummy_model.onnx": {"attribute-unknown"},
    "models/SamuelMarks_onnx9000/dummy_model_full.onnx": {"op-unknown", "value-shadows-outer"},
    "models/SamuelMarks_onnx9000/out.onnx": {"opset-import-missing"},
    "models/exported/onnxscript_funcs.onnx": {"function-opset-missing"},
    "models/exported/resnet_ext_one.onnx": {"external-file-missing"},
    "models/fastmachinelearning_qonnx/eltwise_chanlast_testcase.onnx": {
        "opset-domain-not-imported",
        "quantization-annotation",
    },
    "models/harvested_ir-py-tests/3c60929bce107855.onnx": {
        "graph-name-missing",
        "graph-output-untyped",
    },
    "models/harvested_ir-py-tests/5b5fe6225e0ec2ee.onnx": {"tensor-data-size"},
    "models/harvested_ir-py-tests/5da00838a8c414b1.onnx": {
        "external-file-missing",
        "external-location-missing",
    },
    "models/harvested_ir-py-tests/7121c1cbedfba5d3.onnx": {"opset-domain-not-imported"},
    "models/harvested_ir-py-tests/9916a3b462c170e4.onnx": {
        "graph-name-missing",
        "opset-import-missing",
        "quantization-annotation",
    },
    "models/harvested_ir-py-tests/ad707958656ef6d7.onnx": {
        "graph-name-missing",
        "graph-output-untyped",
    },
    "models/harvested_ir-py-tests/bf92afb94d298320.onnx": {
        "external-file-missing",
        "needs-ir-version",
        "opset-import-missing",
    },
    "models/harvested_ir-py-tests/cc18f3fb4ef1b322.onnx": {
        "external-file-missing",
        "opset-import-missing",
    },
    "models/harvested_onnxscript-tests/22f981d1a873a3f8.onnx": {"type-missing"},
    "models/harvested_onnxscript-tests/385394b15bc9bab2.onnx": {"graph-output-untyped"},
    "models/harvested_onnxscript-tests/6680a578a070249e.onnx": {
        "needs-ir-version",
        "type-mismatch",
    },
    "models/harvested_onnxscript-tests/8226a0770b13cd57.onnx": {"type-missing"},
    "models/harvested_onnxscript-tests/934da31fe8a44f5e.onnx": {"graph-output-untyped"},
    "models/harvested_onnxscript-tests/bf9a139aa7f38eed.onnx": {
        "graph-input-untyped",
        "graph-output-untyped",
    },
    "models/kraiskil_onnx2c/5255ff31-model.onnx": {"node-order"},
    "models/kraiskil_onnx2c/532310f2-model.onnx": {"node-order"},
    "models/kraiskil_onnx2c/542235fa-model.onnx": {"node-order"},
    "models/kraiskil_onnx2c/c1b262e4-model.onnx": {"node-order"},
    "models/kraiskil_onnx2c/cd985a7c-model.onnx": {"node-order", "optional-input-missing"},
    "models/kraiskil_onnx2c/e58457a9-model.onnx": {"node-order"},
    "models/kraiskil_onnx2c/fp_bfloat16.onnx": {"shape-mismatch"},
    "models/kraiskil_onnx2c/fp_float16.onnx": {"shape-mismatch"},
    "models/microsoft_onnxconverter-common/coreml_OneHotEncoder_BikeSharing.onnx": {
        "initializer-not-input"
    },
    "models/microsoft_onnxruntime-extensions/custom_op_string_join.onnx": {
        "opset-domain-not-imported"
    },
    "models/microsoft_onnxruntime-extensions/custom_op_string_lower.onnx": {
        "opset-domain-not-imported"
    },
    "models/microsoft_onnxruntime-openenclave/custom_op_test.onnx": {"opset-domain-not-imported"},
    "models/onnx_tutorials/super_resolution.onnx": {"attribute-type"},
    "models/pykeio_ort/attr_tester.onnx": {"opset-domain-not-imported"},
    "models/pykeio_ort/copy_2_inputs_2_outputs.onnx": {"opset-domain-not-imported"},
    "models/pykeio_ort/copy_3_inputs_3_outputs.onnx": {"opset-domain-not-imported"},
    "models/robertknight_rten/mnist.onnx": {"external-file-missing"},
    "models/sdpython_onnx-extended/test_softmax_example_expanded.Constant.onnx": {
        "graph-name-missing",
        "ir-version-missing",
    },
    "models/sonos_tract/62ea58b4-model.onnx": {"dim-value-negative"},
    "models/xadupre_yet-another-onnx-builder/layernorm.onnx": {
        "external-file-missing",
        "shape-mismatch",
    },
    "models/xadupre_yet-another-onnx-builder/microsoft_Phi-4-mini-reasoning-custom-default-f32-cpu.onnx": {  # noqa: E501
        "external-file-missing",
        "needs-ir-version",
    },
    "models/xadupre_yet-another-onnx-builder/model_microsoft_Phi-3_5-mini-instruct-custom-default-d1rt1.onnx": {  # noqa: E501
        "external-file-missing"
    },
    # valid: onnx ignores the default value of the attribute `axes`
    "test_mvn": set(),
}
"""All expected errors by file or backend case."""

OTHERWISE = {
    # Officially "No opset import for domain 'ai.onnx'", but `ai.onnx` is the domain `""` (IR spec,
    # Operator Sets). Wrong are the attribute and the operator.
    "models/SamuelMarks_onnx9000/dummy_model.onnx",
    "models/SamuelMarks_onnx9000/dummy_model_full.onnx",
    # Officially the rank of `two` differs from its value info. Wrong are the dims of the
    # initializer, which has two elements.
    "models/harvested_ir-py-tests/5b5fe6225e0ec2ee.onnx",
}
"""Models for which the official checker names another rule."""
