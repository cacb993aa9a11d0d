# SPDX-License-Identifier: Apache-2.0
"""Draw random models of all operators: any arity, extreme attributes, shapes and constants.

    python -m tests.checker.bombs [COUNT [SEED]]

Checks COUNT models in this process, and prints the results of onnx's inference.
"""

from __future__ import annotations

import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, defs, helper, numpy_helper
from onnx.defs import OpSchema

import onnxtext
from onnxtext.checker.isolation.child_process import Failure
from onnxtext.checker.isolation.inference_client import POOL, InferenceClient
from tests.corpus import onnx_directory, wheel_models
from tests.running import slowness

NUMBERS = (
    -(1 << 63), -(1 << 62), -(1 << 32), -(1 << 31) - 1, -(1 << 31), -1000, -7, -3, -2, -1, 0, 1, 2,
    3, 4, 5, 7, 100, 65536, 1 << 20, (1 << 31) - 1, 1 << 31, 1 << 32, 1 << 62, (1 << 63) - 1,
)  # fmt: skip
FLOATS = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1e-45,
    3.4e38,
    -3.4e38,
    float("inf"),
    float("-inf"),
    float("nan"),
)
WORDS = (
    "", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER", "constant", "reflect", "edge", "nearest",
    "linear", "cubic", "sum", "mean", "none", "add", "mul", "max", "ij,jk->ik",
    "...ij,...jk->...ik",
    "......ii,...jj->...ij", "i->", "->", ",,->", "ii", "...", "a.b->", "DCR", "CRD", "forward",
    "reverse", "bidirectional", "Tanh", "tf_crop_and_resize", "asymmetric", "larger", "\0", "é" * 9,
    "x" * 5000,
)  # fmt: skip
SMALL = (0, 1, 2, 3, -1)
TYPES = [1, 2, 3, 6, 7, 8, 9, 10, 11, 14, 16, 17, 20, 21, 22, 23]
DEFAULT = 1000


class Bombs:
    """Draws random models, most of which are invalid.

    Attributes:
        random: the random generator.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._schemas = defs.get_all_schemas_with_history()

    def model(self) -> onnx.ModelProto:
        """Return a model of up to three nodes."""
        draw = self.random
        graph = onnx.GraphProto(name="g")
        opsets: dict[str, int] = {}
        for index in range(draw.choice((1, 1, 1, 2, 3))):
            schema = draw.choice(self._schemas)
            opsets.setdefault(schema.domain, schema.since_version + draw.choice((0, 0, 0, 1)))
            self._node(graph, schema, index, 0)
        imports = [helper.make_opsetid(*item) for item in opsets.items()]
        return helper.make_model(graph, opset_imports=imports, ir_version=draw.choice((10, 11, 13)))

    def _node(self, graph: onnx.GraphProto, schema: OpSchema, number: int, depth: int) -> None:
        draw = self.random
        result = [name for node in graph.node for name in node.output if name]
        most = min(schema.max_input, schema.min_input + 3, 8) + (draw.random() < 0.05)
        inputs = []
        bound: dict[str, int] = {}
        for index in range(draw.randint(min(schema.min_input, most), most)):
            if result and draw.random() < 0.1:
                inputs.append(draw.choice(result))
            elif index >= schema.min_input and draw.random() < 0.15:
                inputs.append("")
            else:
                inputs.append(f"i{number}_{index}_{depth}")
                self._input(graph, schema, index, inputs[-1], bound)
        most = min(schema.max_output, schema.min_output + 3, 8) + (draw.random() < 0.05)
        count = draw.randint(min(schema.min_output, most), most)
        outputs = [f"o{number}_{index}_{depth}" for index in range(count)]
        node = helper.make_node(schema.name, inputs, outputs, domain=schema.domain)
        for name, attribute in schema.attributes.items():
            if attribute.required or draw.random() < 0.6:
                self._attribute(node.attribute.add(name=name), attribute.type.value, depth)  # type: ignore[attr-defined]
        graph.node.append(node)
        for name in outputs:
            if draw.random() < 0.1 or depth:
                type, shape = self._type([])
                graph.output.append(helper.make_tensor_value_info(name, type, shape))

    def _input(
        self, graph: onnx.GraphProto, schema: OpSchema, index: int, name: str, bound: dict[str, int]
    ) -> None:
        draw = self.random
        allowed: list[str] = []
        variable = ""
        if schema.inputs:
            formal = schema.inputs[min(index, len(schema.inputs) - 1)]
            allowed = sorted(formal.types)
            variable = formal.type_str
        type, shape = self._type(allowed)
        if draw.random() < 0.95:  # inputs of one variable have one type
            type = bound.setdefault(variable, type)
        if draw.random() < 0.35:
            graph.initializer.append(self._tensor(name, type))
        elif draw.random() < (0.1 if not allowed or "tensor" in allowed[-1][:6] else 0.9):
            value = helper.make_tensor_type_proto(type, shape)
            value = helper.make_sequence_type_proto(value)
            graph.input.append(helper.make_value_info(name, value))
        else:
            graph.input.append(helper.make_tensor_value_info(name, type, shape))

    def _type(self, allowed: list[str]) -> tuple[int, list[int | str | None] | None]:
        draw = self.random
        type = draw.choice(TYPES)
        plain = [text[7:-1] for text in allowed if text.startswith("tensor(")]
        if plain and draw.random() < 0.97:
            type = TensorProto.DataType.Value(draw.choice(plain).upper())
        if draw.random() < 0.1:
            return type, None
        dims: tuple[Any, ...] = (
            (*NUMBERS, "N", "", None) if draw.random() < 0.4 else (1, 2, 3, 4, "N")
        )
        return type, [draw.choice(dims) for _ in range(draw.choice((0, 1, 1, 2, 2, 3, 3, 4, 5, 9)))]

    def _tensor(self, name: str, type: int) -> TensorProto:
        """Return a small tensor, whose dims may be wrong."""
        draw = self.random
        shape = [draw.choice((0, 1, 1, 2, 3, 5)) for _ in range(draw.choice((0, 1, 1, 1, 2, 3)))]
        count = int(np.prod(shape)) if shape else 1
        values: Any = [draw.choice(NUMBERS if draw.random() < 0.5 else SMALL) for _ in range(count)]
        if type == TensorProto.INT64:
            tensor = numpy_helper.from_array(np.array(values, np.int64).reshape(shape), name)
        elif type == TensorProto.INT32:
            array = np.array([value & 0xFFFFFFFF for value in values], np.uint32).view(np.int32)
            tensor = numpy_helper.from_array(array.reshape(shape), name)
        elif type == TensorProto.FLOAT:
            array = np.array([draw.choice(FLOATS) for _ in values], np.float32)
            tensor = numpy_helper.from_array(array.reshape(shape), name)
        else:
            size = helper.tensor_dtype_to_np_dtype(type).itemsize
            tensor = TensorProto(
                name=name, data_type=type, dims=shape, raw_data=bytes(size * count)
            )
        if draw.random() < 0.03:
            del tensor.dims[:]
            tensor.dims.extend(draw.choice(NUMBERS) for _ in range(draw.randrange(4)))
        return tensor

    def _attribute(self, result: AttributeProto, kind: int, depth: int) -> None:
        draw = self.random
        if draw.random() < 0.02:
            kind = draw.randrange(1, 13)
        result.type = kind  # type: ignore[assignment]
        numbers = NUMBERS if draw.random() < 0.6 else SMALL
        count = draw.choice((0, 1, 2, 2, 3, 4, 4, 6, 8, 100))
        match kind:
            case AttributeProto.INT:
                result.i = draw.choice(numbers)
            case AttributeProto.FLOAT:
                result.f = draw.choice(FLOATS)
            case AttributeProto.STRING:
                result.s = draw.choice(WORDS).encode()
            case AttributeProto.INTS:
                result.ints.extend(draw.choice(numbers) for _ in range(count))
            case AttributeProto.FLOATS:
                result.floats.extend(draw.choice(FLOATS) for _ in range(count))
            case AttributeProto.STRINGS:
                result.strings.extend(draw.choice(WORDS).encode() for _ in range(count))
            case AttributeProto.TENSOR:
                result.t.CopyFrom(self._tensor("", draw.choice(TYPES)))
            case AttributeProto.SPARSE_TENSOR:
                result.sparse_tensor.values.CopyFrom(self._tensor("v", TensorProto.FLOAT))
                result.sparse_tensor.indices.CopyFrom(self._tensor("", TensorProto.INT64))
                result.sparse_tensor.dims.extend(draw.choice(numbers) for _ in range(2))
            case AttributeProto.TYPE_PROTO:
                type, shape = self._type([])
                result.tp.CopyFrom(helper.make_tensor_type_proto(type, shape))
            case AttributeProto.GRAPH:
                result.g.name = "body"
                if depth < 2:
                    for index in range(draw.randrange(3)):
                        self._node(result.g, draw.choice(self._schemas), index, depth + 1)


def models(seed: int, valid: list[bytes]) -> Iterator[onnx.ModelProto]:
    """Yield random models and mutations of valid ones endlessly."""
    from tests.checker.bomb_mutations import mutated

    bombs = Bombs(seed)
    while True:
        if valid and bombs.random.random() < 0.7:
            yield mutated(bombs.random.choice(valid), bombs.random)
        else:
            yield bombs.model()


def valid_models(*, many: bool) -> list[bytes]:
    """Return the small models of the onnx wheel, and optionally one of each operator."""
    paths = [onnx_directory() / name for name in wheel_models()]
    found = [path.read_bytes() for path in paths if path.stat().st_size < 20_000]
    if many:
        import warnings

        from onnx.backend.test.case.node import collect_testcases

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cases = [case.model for case in collect_testcases(None)]
        found += [model.SerializeToString() for model in cases if model is not None]
    return found


def main(count: int, seed: int, *, many: bool) -> None:
    """Check a number of models, each in bounded time."""
    drawn = models(seed, valid_models(many=many))
    seen: Counter[str] = Counter()
    slowest = 0.0
    for index in range(count):
        data = next(drawn).SerializeToString()
        start = time.process_time()
        try:
            found = onnxtext.check(data)
            if index % 4 == 0:  # `check` does not run onnx's inference on some invalid models
                answer = InferenceClient().infer_model(data)
                if isinstance(answer, Failure):
                    seen[answer.kind + " / model alone"] += 1
        except BaseException:
            print(f"model {index} of seed {seed}: {data.hex()}", flush=True)
            raise
        seconds = time.process_time() - start
        slowest = max(slowest, seconds)
        assert seconds < 10 * slowness(), (
            f"model {index} of seed {seed} takes {seconds} s: {data.hex()}"
        )
        for item in found:
            if item.code == "onnx-inference-failed":
                seen[item.message.removeprefix("onnx's inference ")] += 1
    POOL.close()
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{count} models of seed {seed}: {dict(seen)}; slowest {slowest:.2f} s, own memory "
        f"{own.ru_maxrss >> 10} MiB, children's {children.ru_maxrss >> 10} MiB, processor time "
        f"{own.ru_utime + own.ru_stime:.0f} + {children.ru_utime + children.ru_stime:.0f} s"
    )


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT,
        int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 30),
        many="--many" in sys.argv,
    )
