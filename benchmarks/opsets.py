# SPDX-License-Identifier: Apache-2.0
"""Convert models to other opsets, run both, and compare with onnx's version converter.

    python -m benchmarks.opsets                  the backend cases of the onnx package
    python -m benchmarks.opsets --models DIR     real models, with random inputs
    python -m benchmarks.opsets --sample 20      every 20th

Each conversion is one of: equal (converted; a runtime that gives the expected results before the
conversion gives them after it), told (not converted, with a reason), wrong (other results),
unjudged (converted, but no runtime runs both), crashed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx

from onnxtext.diagnostics import OnnxTextError
from onnxtext.editing import apply
from onnxtext.editing.opsets import convert

TARGETS = (8, 10, 11, 12, 13, 15, 17, 18, 19, 20, 21, 23, 28)


class Case(NamedTuple):
    """A model with inputs and expected results, or only a model."""

    name: str
    model: bytes
    inputs: tuple[Any, ...] | None
    outputs: tuple[Any, ...] | None
    rtol: float = 1e-3
    atol: float = 1e-5


def backend_cases() -> Iterator[Case]:
    """Yield onnx's backend test cases that have a model, each with its first data set."""
    nodes = import_module("onnx.backend.test.case.node").collect_testcases(None)
    for case in [*nodes, *import_module("onnx.backend.test.case.model").collect_testcases()]:
        if case.model is not None and case.data_sets:
            inputs, outputs = case.data_sets[0]
            yield Case(
                case.name, case.model.SerializeToString(), tuple(map(_plain, inputs)),
                tuple(outputs),
                max(case.rtol, 1e-3), max(case.atol, 1e-5),
            )  # fmt: skip


def _plain(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, np.generic) else value


def real_models(folder: Path, largest: int = 4 << 20) -> Iterator[Case]:
    """Yield the models of at most `largest` bytes in a folder and below it."""
    for path in sorted(folder.rglob("*.onnx")):
        if path.stat().st_size <= largest:
            yield Case(str(path.relative_to(folder)), path.read_bytes(), None, None)


# ---- Conversions ----------------------------------------------------------------------------


def by_us(model: bytes, target: int) -> bytes | str:
    """Return the model as onnxtext converts it, or the reason why it refuses."""
    try:
        made = apply(model, lambda tree: convert(tree, {"": target})).content
    except OnnxTextError as error:
        return str(error)
    assert isinstance(made, bytes)
    return made


_CONVERT = """\
import sys
from onnx.onnx_cpp2py_export.version_converter import convert_version
sys.stdout.buffer.write(convert_version(sys.stdin.buffer.read(), int(sys.argv[1])))
"""


def by_onnx(model: bytes, target: int) -> bytes | str:
    """Return the model as onnx's version converter converts it, or the reason why it fails."""
    command = [sys.executable, "-c", _CONVERT, str(target)]
    done = subprocess.run(command, input=model, capture_output=True, check=False)
    if done.returncode < 0:
        return "crashed"
    return done.stderr.decode("utf-8", "replace") if done.returncode else done.stdout


# ---- Runs -----------------------------------------------------------------------------------


def by_onnxruntime(model: bytes, inputs: tuple[Any, ...] | None) -> list[Any]:
    """Return the results of onnxruntime."""
    ort = import_module("onnxruntime")
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_inputs()]
    if inputs is None:
        given = _random_inputs(session.get_inputs())
    else:
        given = {n: v for n, v in zip(_input_names(model), inputs, strict=False) if n in names}
    return list(session.run(None, given))


def by_reference(model: bytes, inputs: tuple[Any, ...] | None) -> list[Any]:
    """Return the results of onnx.reference."""
    evaluators = import_module("onnx.reference")
    if inputs is None:
        raise NotImplementedError
    made = onnx.ModelProto.FromString(model)
    if _opset(model) < 16 and any(node.op_type == "RoiAlign" for node in made.graph.node):
        raise NotImplementedError  # it always shifts pixels, which is the default of version 16
    evaluator = evaluators.ReferenceEvaluator(made)
    given = dict(zip(_input_names(model), inputs, strict=False))
    return list(evaluator.run(None, given))


def _input_names(model: bytes) -> list[str]:
    return [value.name for value in onnx.ModelProto.FromString(model).graph.input]


def _random_inputs(inputs: list[Any]) -> dict[str, Any]:
    made = {}
    rng = np.random.default_rng(1)
    kinds = {
        "tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64,
        "tensor(int32)": np.int32, "tensor(float16)": np.float16, "tensor(bool)": np.bool_,
        "tensor(uint8)": np.uint8, "tensor(int8)": np.int8,
    }  # fmt: skip
    for value in inputs:
        kind = np.dtype(kinds[value.type])
        shape = [size if isinstance(size, int) and size > 0 else 2 for size in value.shape]
        if int(np.prod(shape)) > 1 << 22:
            raise NotImplementedError
        made[value.name] = (
            rng.standard_normal(shape).astype(kind)
            if kind.kind == "f"
            else rng.integers(0, 2, shape).astype(kind)
        )
    return made


def same(one: Any, other: Any, rtol: float, atol: float) -> bool:
    """Whether two results are equal, up to rounding."""
    if isinstance(one, (list, tuple)):
        pairs = zip(one, other, strict=False)
        return isinstance(other, (list, tuple)) and len(one) == len(other) and all(
            same(a, b, rtol, atol) for a, b in pairs
        )  # fmt: skip
    if one is None or other is None:
        return one is None and other is None
    left, right = np.asarray(one), np.asarray(other)
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    if left.dtype.kind in "fc" or left.dtype.kind == "V":
        wide = np.complex128 if left.dtype.kind == "c" else np.float64
        try:
            return bool(
                np.allclose(
                    left.astype(wide), right.astype(wide), rtol=rtol, atol=atol, equal_nan=True
                )
            )
        except (TypeError, ValueError):
            return left.tobytes() == right.tobytes()
    return bool(np.array_equal(left, right))


_ENGINES = (by_onnxruntime, by_reference)


class Judge:
    """Judges conversions of a model by running it before and after."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.before: dict[Any, list[Any] | None] = {}
        for engine in _ENGINES:
            self.before[engine] = self._run(engine, case.model)
            found, wanted = self.before[engine], case.outputs
            if wanted is not None and found is not None and not self._same(found, list(wanted)):
                self.before[engine] = None  # other results than expected: do not use it

    def _same(self, one: list[Any], other: list[Any]) -> bool:
        return same(one, other, self.case.rtol, self.case.atol)

    def _run(self, engine: Any, model: bytes) -> list[Any] | None:
        try:
            return list(engine(model, self.case.inputs))
        except Exception:
            return None

    def verdict(self, model: bytes) -> str:
        """Return `equal`, `wrong` or `unjudged`."""
        ran = False
        for engine in _ENGINES:
            before = self.before[engine]
            if before is None:
                continue
            after = self._run(engine, model)
            if after is None:
                continue
            if self._same(before, after):
                return "equal"
            ran = True
        return "wrong" if ran else "unjudged"


def judge_case(job: tuple[Case, tuple[int, ...], bool]) -> list[tuple[str, int, str, str, str]]:
    """Return (case, target, converter, verdict, reason) for each target and converter.

    The target that the model already has is left out. `job` has the case, the targets, and whether
    to try onnx's converter, too.
    """
    case, targets, peer = job
    warnings.simplefilter("ignore")
    found = []
    current = _opset(case.model)
    judge = Judge(case)
    for target in targets:
        if current in (target, 0):
            continue
        for who, convert_by in (("onnxtext", by_us), ("onnx", by_onnx)):
            if who == "onnx" and not peer:
                continue
            reason = ""
            try:
                made = convert_by(case.model, target)
                if isinstance(made, str):
                    crashed = who == "onnx" and made.startswith("crashed")
                    verdict, reason = ("crashed" if crashed else "told"), made
                else:
                    verdict = judge.verdict(made)
            except Exception:
                verdict, reason = "crashed", traceback.format_exc()
            found.append((case.name, target, who, verdict, reason))
    return found


def _opset(model: bytes) -> int:
    imports = onnx.ModelProto.FromString(model).opset_import
    return max([item.version for item in imports if item.domain in ("", "ai.onnx")], default=0)


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--models", type=Path, help="a folder of models, instead of the cases")
    parser.add_argument("--sample", type=int, default=1, help="only every Nth")
    parser.add_argument("--offset", type=int, default=0, help="the first of the sample")
    parser.add_argument(
        "--targets", type=lambda text: tuple(map(int, text.split(","))), default=TARGETS
    )
    parser.add_argument("--no-peer", action="store_true", help="without onnx's version converter")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write all verdicts")
    parser.add_argument("--match", default="", help="only cases with this in the name")
    options = parser.parse_args()
    cases = real_models(options.models) if options.models else backend_cases()
    chosen = [case for case in cases if options.match in case.name]
    chosen = chosen[options.offset :: options.sample]
    jobs = [(case, options.targets, not options.no_peer) for case in chosen]
    counts: Counter[tuple[str, str]] = Counter()
    rows = []
    with get_context("spawn").Pool(options.jobs, maxtasksperchild=200) as pool:
        for found in pool.imap_unordered(judge_case, jobs, chunksize=1):
            rows += found
            for name, target, who, verdict, reason in found:
                counts[who, verdict] += 1
                if who == "onnxtext" and verdict in ("wrong", "crashed"):
                    print(f"{verdict}: {name} to {target} {reason[-1500:]}", flush=True)
    for who in ("onnxtext", "onnx"):
        total = sum(count for (name, _), count in counts.items() if name == who)
        if total:
            shares = {v: c for (name, v), c in sorted(counts.items()) if name == who}
            print(who, total, json.dumps(shares))
    if options.json:
        options.json.write_text(json.dumps(rows))
    return 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
