# SPDX-License-Identifier: Apache-2.0
"""Change real models at random, and compare what checkers find with what onnxruntime refuses.

    python -m benchmarks.mutations [--data DIRECTORY] [--count NUMBER] [--seed NUMBER] [--verbose]

Each mutant has one change of a model that onnxruntime runs (`benchmarks.mutants`). onnxruntime
loads it and runs it on inputs of the declared types, with two sizes for each symbol. A mutant is
`broken` if onnxruntime refuses it because of a type, a shape or an attribute, or if a declared type
is not what it computes. A checker finds it with a new error or warning. A new error or warning
about any other mutant is a false alarm.
"""

from __future__ import annotations

import argparse
import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import onnx
import onnx.checker
import onnx.shape_inference

import onnxtext
from benchmarks.judge import Verdict, judged
from benchmarks.mutants import CHANGES, drawn
from benchmarks.real import DATA
from benchmarks.shape_truth import Shape, evaluated
from benchmarks.tables import aligned

LARGEST = 1_100_000

Report = Counter[tuple[str, str]]
"""Errors and warnings: severity and message."""


def ours(model: onnx.ModelProto) -> Report:
    """Return the errors, the warnings, and the `dim-forced` findings that onnxtext finds."""
    found = onnxtext.check(model.SerializeToString())
    return Counter(
        (item.severity, f"{item.code}: {item.message}")
        for item in found
        if item.severity in ("error", "warning") or item.code == "dim-forced"
    )


def _full_check(model: onnx.ModelProto) -> None:
    onnx.checker.check_model(model.SerializeToString(), full_check=True)


def _strict(model: onnx.ModelProto) -> None:
    onnx.shape_inference.infer_shapes(
        model.SerializeToString(), check_type=True, strict_mode=True, data_prop=True
    )


def official(run: Callable[[onnx.ModelProto], None]) -> Callable[[onnx.ModelProto], Report]:
    """Return a checker whose only finding is the exception of a function."""

    def check(model: onnx.ModelProto) -> Report:
        try:
            run(model)
        except Exception as error:  # onnx raises many classes
            return Counter([("error", str(error))])
        return Counter()

    return check


CHECKERS: dict[str, Callable[[onnx.ModelProto], Report]] = {
    "onnxtext": ours,
    "onnx.checker, full_check": official(_full_check),
    "onnx.shape_inference, strict, data_prop": official(_strict),
}


class Base(NamedTuple):
    """A model that onnxruntime runs, and what each checker finds in it."""

    name: str
    model: onnx.ModelProto
    found: dict[str, Report]


class Mutant(NamedTuple):
    """A changed model.

    Attributes:
        base: the unchanged model.
        kind: the kind of the change.
        what: the change.
        model: the changed model.
        state: `load` or `run` if onnxruntime refuses it, `declared` if it computes other types than
            declared, `fine`, or `other`.
        reason: the error of onnxruntime, or the declaration.
        new: what each checker finds only in the changed model.
    """

    base: Base
    kind: str
    what: str
    model: onnx.ModelProto
    state: str
    reason: str
    new: dict[str, Report]


def bases(files: Iterable[Path]) -> Iterator[Base]:
    """Yield the models that onnxruntime runs, whose declared types are right, and without errors.

    No checker may find an error in them.
    """
    for path in files:
        try:
            model = onnx.load(path, load_external_data=False)
        except Exception:
            continue
        if model.graph.node and judged(model).state == "fine":
            found = {name: check(model) for name, check in CHECKERS.items()}
            errors = any(severity == "error" for report in found.values() for severity, _ in report)
            if not errors and contradicted(model) == "":
                yield Base(path.name, model, found)


def files(directory: Path) -> list[Path]:
    """Return the paths of the models in a directory that are smaller than `LARGEST`."""
    paths = [path for path in directory.rglob("*.onnx") if path.stat().st_size < LARGEST]
    return sorted(paths)


def mutants(
    models: list[Base], count: int, seed: int, checkers: Iterable[str] = CHECKERS
) -> Iterator[Mutant]:
    """Yield up to `count` changed models; each base is chosen with the same probability."""
    choose = random.Random(seed)
    for _ in range(count):
        base = choose.choice(models)
        made = drawn(base.model, choose)
        if made is None:
            continue
        kind, what, model = made
        try:
            model.SerializeToString()
        except Exception:
            continue
        state, reason, *_ = judged(model)
        new = {}
        for name in checkers:
            found = CHECKERS[name](model)
            old = base.found[name]
            new[name] = found - old
        if state == "fine":
            wrong = contradicted(model)
            if wrong != "":
                state, reason = ("other", "") if wrong is None else ("declared", wrong)
        yield Mutant(base, kind, what, model, state, reason, new)


def contradicted(model: onnx.ModelProto) -> str | None:
    """Compare the declared types of a model with those that onnxruntime computes.

    Returns:
        A description of a declared type that differs; "" if none does; None if onnxruntime cannot
        compute all values.
    """
    more = onnx.ModelProto()
    more.CopyFrom(model)
    verdict: Verdict = judged(more, shapes=True)
    if verdict.state != "fine":
        return None
    graph = model.graph
    stored = {t.name: (t.data_type, tuple(t.dims)) for t in graph.initializer}
    for symbols, computed in zip(verdict.symbols, verdict.shapes, strict=True):
        types = stored | computed
        for value in (*graph.input, *graph.output, *graph.value_info):
            tensor = value.type.tensor_type
            made = types.get(value.name)
            if made is None or not value.type.HasField("tensor_type"):
                continue
            if tensor.elem_type != made[0] or (
                tensor.HasField("shape") and not _fits(tensor.shape, made[1], symbols)
            ):
                return f"the declared type of {value.name} differs from the computed one: {made}"
    return ""


def _fits(shape: onnx.TensorShapeProto, made: Shape, symbols: dict[str, int]) -> bool:
    dims = [dim.dim_value if dim.HasField("dim_value") else evaluated(dim.dim_param, symbols)
            for dim in shape.dim]  # fmt: skip
    return len(dims) == len(made) and all(
        dim is None or dim == size for dim, size in zip(dims, made, strict=True)
    )


# ---- Tables -------------------------------------------------------------------------------------


def table(made: list[Mutant]) -> list[str]:
    """Return the lines of tables: the share that each checker finds, and its false alarms."""
    broken = [one for one in made if one.state in ("load", "run")]
    declared = [one for one in made if one.state == "declared"]
    fine = [one for one in made if one.state == "fine"]
    lines = [["", "refused", "declared otherwise", "false errors", "false alarms"]]
    for name in CHECKERS:
        errors = sum(any(s == "error" for s, _ in one.new[name]) for one in fine)
        lines.append([
            name, _share(broken, name), _share(declared, name),
            f"{errors} of {len(fine)}", f"{sum(bool(one.new[name]) for one in fine)}",
        ])  # fmt: skip
    kinds = [["kind of change (onnxtext)", "refused", "found", "fine", "false alarms"]]
    for kind in CHANGES:
        mine = [one for one in broken if one.kind == kind]
        good = [one for one in fine if one.kind == kind]
        kinds.append([
            kind, str(len(mine)), _share(mine, "onnxtext"), str(len(good)),
            str(sum(bool(one.new["onnxtext"]) for one in good)),
        ])  # fmt: skip
    return [*aligned(lines), "", *aligned(kinds)]


def _share(made: list[Mutant], name: str) -> str:
    found = sum(bool(one.new[name]) for one in made)
    return f"{found} of {len(made)} ({100 * found / max(1, len(made)):.1f} %)"


def main(data: Path, count: int, seed: int, verbose: bool, save: Path | None) -> None:
    """Draw mutants, and print the tables."""
    warnings.simplefilter("ignore")
    models = list(bases([*files(data / "exports"), *files(data / "models")]))
    print(f"{len(models)} models; seed {seed}", flush=True)
    made = []
    for one in mutants(models, count, seed):
        made.append(one)
        missed = one.state in ("load", "run", "declared") and not one.new["onnxtext"]
        alarm = one.state == "fine" and one.new["onnxtext"]
        if verbose and (missed or alarm):
            print("MISSED" if missed else "ALARM", one.state, one.base.name, one.kind, one.what)
            print("   ", one.reason[:300] if missed else list(one.new["onnxtext"])[:2], flush=True)
            if save is not None:
                onnx.save(one.model, save / f"{len(made):05}.onnx")
    states = Counter(one.state for one in made)
    print(", ".join(f"{count} {state}" for state, count in states.most_common()))
    print("\n".join(table(made)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure what checkers find in changed models.")
    parser.add_argument("--data", type=Path, default=DATA, help="a directory of models")
    parser.add_argument("--count", type=int, default=2000, help="how many changes are drawn")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the changes")
    parser.add_argument("--verbose", action="store_true", help="list missed ones and false alarms")
    parser.add_argument("--save", type=Path, help="a directory for the listed mutants")
    options = parser.parse_args()
    main(options.data, options.count, options.seed, options.verbose, options.save)
