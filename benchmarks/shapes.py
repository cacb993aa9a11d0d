# SPDX-License-Identifier: Apache-2.0
"""Compare how many types and shapes are inferred, and whether they are right.

    python -m benchmarks.shapes [--data DIRECTORY] [--verbose]

The models are those under 2 MB of the shared data, without their value infos. Counted are the
values that nodes of the main graph compute. `rank`: the number of dimensions is known. `all`: every
dimension is a number or an expression of the model's own symbols (not those that tools make up).
`wrong`: values whose type differs from what onnxruntime (or, without it, onnx's reference) computes
on inputs with two sizes for every symbol; outputs that the model itself declares wrong are left
out. `failed`: models on which the tool fails.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path

import onnx
import onnx.shape_inference

from benchmarks.mutants import graphs
from benchmarks.real import DATA
from benchmarks.shape_truth import MADE_UP, Shape, evaluated, names_in, runs
from benchmarks.tables import aligned
from onnxtext.ast.types import TensorType
from onnxtext.checker.context.compare_declared_types import plain_dim
from onnxtext.checker.engine.check_tree import run_rules
from onnxtext.checker.inference.inferred_types import inferred_types
from onnxtext.proto.decode.lift import lift_model

LARGEST = 2_000_000

Dims = tuple[int | str | None, ...]
Shapes = dict[str, Dims]


# ---- The tools ----------------------------------------------------------------------------------


def ours(model: onnx.ModelProto) -> Shapes:
    """Infer with onnxtext."""
    data = model.SerializeToString()
    subject, _ = run_rules(lift_model(data), encoded=lambda: data)
    assert subject.main is not None
    types = inferred_types(subject).get(id(subject.main), {})
    return {
        name: tuple(plain_dim(dim) or (0 if plain_dim(dim) == 0 else None) for dim in type.shape)
        for name, type in types.items()
        if isinstance(type, TensorType) and type.shape is not None
    }


def official(model: onnx.ModelProto, data_prop: bool) -> Shapes:
    """Infer with onnx in strict mode; if that fails, in the default mode."""
    try:
        made = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=data_prop)
    except Exception:
        made = onnx.shape_inference.infer_shapes(model, data_prop=data_prop)
    return _declared(made)


def runtime(model: onnx.ModelProto) -> Shapes:
    """Infer with the script of onnxruntime."""
    module = import_module("onnxruntime.tools.symbolic_shape_infer")
    infer = module.SymbolicShapeInference.infer_shapes
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)  # it writes files when it fails
        try:
            return _declared(infer(model, int_max=2**31 - 1, auto_merge=True))
        finally:
            os.chdir(before)


def _declared(model: onnx.ModelProto) -> Shapes:
    found: Shapes = {}
    graph = model.graph
    for value in (*graph.value_info, *graph.output, *graph.input):
        tensor = value.type.tensor_type
        if value.type.HasField("tensor_type") and tensor.HasField("shape"):
            found[value.name] = tuple(
                dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None
                for dim in tensor.shape.dim
            )
    return found


TOOLS: dict[str, Callable[[onnx.ModelProto], Shapes]] = {
    "onnxtext": ours,
    "onnx.shape_inference": partial(official, data_prop=False),
    "onnx.shape_inference, data_prop": partial(official, data_prop=True),
    "onnxruntime symbolic_shape_infer": runtime,
}


# ---- Measuring ----------------------------------------------------------------------------------


def without_infos(model: onnx.ModelProto) -> onnx.ModelProto:
    """Remove the value infos of the graphs and functions of a model, in place; return the model."""
    for owner in (*graphs(model.graph), *model.functions):
        del owner.value_info[:]
    return model


def models(directory: Path) -> Iterator[tuple[str, onnx.ModelProto]]:
    """Yield (path, model without value infos) of the models below a directory.

    Models of `LARGEST` bytes and more, and unreadable files, are left out.
    """
    for path in sorted(directory.rglob("*.onnx")):
        if path.stat().st_size < LARGEST:
            try:
                model = onnx.load(path, load_external_data=False)
                model.SerializeToString()
            except Exception:
                continue
            yield str(path), without_infos(model)


def measure(directory: Path, tools: list[str], verbose: bool) -> dict[str, Counter[str]]:
    """Count known and wrong values of each tool."""
    counts = {tool: Counter[str]() for tool in tools}
    for path, model in models(directory):
        wanted = {name for node in model.graph.node for name in node.output if name}
        given = _names(model)
        actual = list(runs(model))
        own = _declared(model)
        for tool in tools:
            count = counts[tool]
            count["values"] += len(wanted)
            count["models"] += 1
            count["run"] += bool(actual)
            try:
                shapes = TOOLS[tool](model)
            except Exception:
                count["failed"] += 1
                continue
            for name in wanted:
                dims = shapes.get(name)
                if dims is None:
                    continue
                count["rank"] += 1
                count["all"] += all(_is_known(dim, given) for dim in dims)
                wrong = [made[name] for symbols, made in actual
                         if name in made and not fits(dims, made[name], symbols)
                         and fits(own.get(name, made[name]), made[name], symbols)]  # fmt: skip
                count["wrong"] += bool(wrong)
                if wrong and verbose:
                    print(f"  {tool}: {path}: {name} is {dims}, computed {wrong}")
            if verbose and tool == "onnxtext":
                _missing(path, model, shapes, given)
    return counts


def _missing(path: str, model: onnx.ModelProto, shapes: Shapes, given: set[str]) -> None:
    for node in model.graph.node:
        for name in node.output:
            dims = shapes.get(name)
            if name and (dims is None or not all(_is_known(dim, given) for dim in dims)):
                before = [shapes.get(item) for item in node.input]
                print(f"  unknown: {path}: {node.op_type} {name} {dims} of {before}")


def _names(model: onnx.ModelProto) -> set[str]:
    return {
        dim.dim_param
        for value in (*model.graph.input, *model.graph.output)
        for dim in value.type.tensor_type.shape.dim
        if dim.dim_param and not MADE_UP.search(dim.dim_param)
    }


def _is_known(dim: int | str | None, given: set[str]) -> bool:
    if not isinstance(dim, str):
        return dim is not None and dim >= 0
    for index, name in enumerate(sorted(given, key=len, reverse=True)):
        if not name.isidentifier():  # it would read as an expression
            dim, given = dim.replace(name, f"given_{index}"), given | {f"given_{index}"}
    names = names_in(dim)
    return dim in given or (names is not None and names <= given)


def fits(dims: Dims, shape: Shape, symbols: dict[str, int]) -> bool:
    """Whether dimensions agree with a shape, as far as they are known."""
    if len(dims) != len(shape):
        return False
    for dim, size in zip(dims, shape, strict=True):
        wanted = evaluated(dim, symbols) if isinstance(dim, str) else dim
        if wanted is not None and wanted != size:
            return False
    return True


def main(data: Path, verbose: bool) -> None:
    """Measure, and print a table for the exports and the shared models."""
    warnings.simplefilter("ignore")
    tools = list(TOOLS)
    try:
        import_module("onnxruntime.tools.symbolic_shape_infer")
    except ImportError:
        tools.pop()
        print("onnxruntime or sympy is not installed: the row of symbolic_shape_infer is left out")
    for part in ("exports", "models"):
        counts = measure(data / part, tools, verbose)
        if not counts[tools[0]]["models"]:
            continue
        first = counts[tools[0]]
        print(f"{part}: {first['models']} models, {first['values']:,} values; "
              f"{first['run']} models run", flush=True)  # fmt: skip
        table = [["", "rank", "all", "wrong", "failed"]]
        for tool, count in counts.items():
            shares = [f"{100 * count[key] / count['values']:.1f} %" for key in ("rank", "all")]
            table.append([tool, *shares, str(count["wrong"]), str(count["failed"])])
        print("\n".join(aligned(table)), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure inferred shapes.")
    parser.add_argument("--data", type=Path, default=DATA, help="a directory of models")
    parser.add_argument("--verbose", action="store_true", help="list wrong and unknown values")
    options = parser.parse_args()
    main(options.data, options.verbose)
