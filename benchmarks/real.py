# SPDX-License-Identifier: Apache-2.0
"""Real models of the shared data: forty from 0.5 kB to 6 MB, and all small ones."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_BESIDE = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
DATA = Path(os.environ.get("ONNXTEXT_DATA", _BESIDE))
"""The directory of the shared data: `$ONNXTEXT_DATA`, or beside the repository."""
MODELS = DATA / "models"

NAMES = (
    "pykeio_ort/lora_model",
    "exported/half_fp16_ts",
    "harvested_onnxscript-tests/122b4ec69b7cba1a",
    "xadupre_yet-another-onnx-builder/sequences",
    "yalue_onnxruntime_go/example_multitype",
    "exported/onnxscript_funcs",
    "AdvancedClimateSystems_gonnx/gru",
    "sonos_tract/62ea58b4-model",
    "dotnet_machinelearning/MultiClassificationLogisticRegressionSaveModelToOnnxTest",
    "nbigaouette_onnxruntime-rs/upsample",
    "harvested_onnxscript-tests/6680a578a070249e",
    "microsoft_onnxconverter-common/coreml_OneHotEncoder_BikeSharing",
    "exported/half_fp16_dynamo",
    "exported/gelu_noopt_dynamo",
    "fastmachinelearning_qonnx/eltwise_chanlast_testcase",
    "nod-ai_SHARK-TestSuite/model",
    "xadupre_yet-another-onnx-builder/bug_2of3_s",
    "sonos_tract/88fab4fe-model",
    "exported/cond_dynamo",
    "robertknight_rten/mnist",
    "yalue_onnxruntime_go/example_big_compute",
    "sonos_tract/b4c9ee3c-model",
    "exported/misc_dynamo",
    "exported/q_qdq_unet",
    "harvested_onnxscript-tests/47ea6b76d8168e7d",
    "exported/skl_svc",
    "yalue_onnxruntime_go/example_big_fanout",
    "webonnx_wonnx/opt-mnist",
    "onnx_onnxmltools/test_xgb",
    "emmtrix_emx-onnx-cgen/micro_kws_m_static_qdq",
    "yalue_onnxruntime_go/sklearn_randomforest",
    "xadupre_yet-another-onnx-builder/model_microsoft_Phi-3_5-mini-instruct-custom-default-d1rt1",
    "exported/q_dynamic_lstm_u8",
    "oracle_tribuo/tinybert",
    "xadupre_yet-another-onnx-builder/layernorm",
    "microsoft_onnxruntime-extensions/FastestDet",
    "snakers4_silero-vad/silero_vad_half",
    "snakers4_silero-vad/silero_vad_op18_ifless",
    "exported/irsave_resnet18",
    "exported/bert12_ts",
)
"""The models below `models` in the shared data, without suffix, ordered by size.

The official parser can read the official text of each.
"""


SMALL = 20_000
"""The size limit of a small model in bytes."""

UNREADABLE = (
    "kraiskil_onnx2c/5255ff31-model",
    "kraiskil_onnx2c/532310f2-model",
    "kraiskil_onnx2c/542235fa-model",
    "kraiskil_onnx2c/c1b262e4-model",
    "kraiskil_onnx2c/cd985a7c-model",
    "kraiskil_onnx2c/e58457a9-model",
    "sdpython_onnx-extended/debug_4700-CPUep",
    "sonos_tract/ffe2f74e-model",
)
"""The small models whose official text the official parser cannot read."""


def small_names() -> tuple[str, ...]:
    """Return the names of the small models that the official parser can read."""
    paths = [path for path in MODELS.rglob("*.onnx") if path.stat().st_size < SMALL]
    names = {path.relative_to(MODELS).with_suffix("").as_posix() for path in paths}
    return tuple(sorted(names.difference(UNREADABLE)))


def mixed() -> Iterator[bytes]:
    """Yield the forty models.

    Raises:
        FileNotFoundError: the shared data is missing.
    """
    yield from map(_read, NAMES)


def small() -> Iterator[bytes]:
    """Yield the small models; none if the shared data is missing."""
    yield from map(_read, small_names())


def _read(name: str) -> bytes:
    return (MODELS / f"{name}.onnx").read_bytes()
