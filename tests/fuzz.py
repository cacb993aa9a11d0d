# SPDX-License-Identifier: Apache-2.0
"""Fuzz the compiled core for a given time; `.ci/sanitize` runs it.

    python -m tests.fuzz SECONDS [SEED]

Exit status: 0 if only expected errors were raised; a sanitizer aborts the process.
"""

from __future__ import annotations

import random
import sys
import time
from contextlib import suppress

import onnxtext
from onnxtext.printer import print_model
from onnxtext.proto.decode.lift import LiftError, lift_model
from onnxtext.proto.encode.lower import LowerError, lower_model
from onnxtext.select_core import core
from onnxtext.source import Source
from onnxtext.syntax.parse import parse_partial
from tests.corpus import onnx_directory, wheel_models
from tests.proto import test_native_decode
from tests.syntax.test_dfa import PIECES
from tests.syntax.texts import mutate

PACKED = onnxtext.to_binary('''
<onnxtext: 1, ir_version: 10, opset_import: [21]>
@value_info("a", "b", "zz")
g () => () <int4[3] r = [1, -2, 3], uint4[3] t = {1, 2, 3}, uint2[5] two = [0, 1, 2, 3, 1]> {
  @doc("""
    first line
    second line
    """)
  float[N] zz, map(int64, seq(string[])) a, float b = F ()
}
''')
"""A model with packed elements, ordered value infos and a string of several lines."""


def main(seconds: float, seed: int) -> None:
    """Convert random inputs until the time is over."""
    print(f"seed {seed}, {core()} core", flush=True)
    chance = random.Random(seed)
    files = [(onnx_directory() / file).read_bytes() for file in wheel_models()[::9]]
    models = [data for data in files if len(data) < 5000]
    models += [
        test_native_decode.METADATA,
        test_native_decode.TENSORS,
        test_native_decode.SPARSE,
    ] * 3
    models += [test_native_decode.DECORATED, test_native_decode.TYPES, PACKED] * 3
    texts = [onnxtext.from_binary(data) for data in models]
    end = time.monotonic() + seconds
    counts = {"texts": 0, "noise": 0, "models": 0}
    while time.monotonic() < end:
        text = chance.choice(texts)
        for _ in range(chance.randint(1, 4)):
            text = mutate(text, chance) if text else text
        counts["texts"] += 1
        _text(text + chance.choice(["", "", "\u20ac", "\U0001f600"]))
        counts["noise"] += 1
        noise = "".join(chance.choices(PIECES, k=chance.randint(1, 40)))
        _text(chance.choice(["", "g () => () {", "g () => () <float[2, 2] w = "]) + noise)
        counts["models"] += 1
        _model(_damaged(chance.choice(models), chance))
    print(", ".join(f"{count} {name}" for name, count in counts.items()))


def _text(text: str) -> None:
    model, diagnostics = parse_partial(Source(text), "model")
    if model is not None and not diagnostics:
        with suppress(LowerError):
            lower_model(model)


def _damaged(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(changed) or 1)
        changed[at : at + chance.randint(0, 3)] = chance.randbytes(chance.randint(0, 3))
    return bytes(changed)


def _model(data: bytes) -> None:
    with suppress(LiftError, LowerError, ValueError):  # numpy raises it for corrupt lists
        model = lift_model(data)
        lower_model(model)
        print_model(model)


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32))
