# SPDX-License-Identifier: Apache-2.0
"""Make the first dimension of models symbolic, and compare `check` with what onnxruntime does.

    python -m benchmarks.dynamic [--data DIRECTORY] [--verbose]

The first dimension of each input and output becomes the symbol `N`, as people do it by hand; other
types stay as they are. onnxruntime runs the model with N being 1, 2 and 3. If it fails, `check`
should say in advance that N can only have one size; else it should say nothing new. Where the
finding has a fix, the fixed text is judged again.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import onnx

import onnxtext
from benchmarks.judge import Verdict, judged
from benchmarks.mutations import files
from benchmarks.real import DATA

SIZES = ((1,), (2,), (3,))


def made_dynamic(model: onnx.ModelProto) -> onnx.ModelProto | None:
    """Return a model with a symbolic first dimension; None if no input has a fixed first dimension.

    Value infos are removed.
    """
    made = onnx.ModelProto()
    made.CopyFrom(model)
    stored = {tensor.name for tensor in model.graph.initializer}
    changed = 0
    for value in (*made.graph.input, *made.graph.output):
        dims = value.type.tensor_type.shape.dim
        if value.name not in stored and dims and dims[0].dim_value:
            dims[0].dim_param = "N"
            changed += value.name in {each.name for each in made.graph.input}
    del made.graph.value_info[:]
    return made if changed else None


def forced(source: onnx.ModelProto | str) -> list[onnxtext.Diagnostic]:
    """Return the findings of `check` about symbolic dimensions and shapes."""
    codes = ("dim-forced", "dim-variable-conflict", "shape-mismatch")
    return [item for item in onnxtext.check(source)
            if item.code in codes and item.severity != "hint"]  # fmt: skip


def models(directory: Path) -> Iterator[tuple[str, onnx.ModelProto, onnx.ModelProto]]:
    """Yield (file name, model, model with a symbolic first dimension) of each model that runs.

    Models without a fixed first dimension are left out.
    """
    for path in [*files(directory / "exports"), *files(directory / "models")]:
        try:
            model = onnx.load(path, load_external_data=False)
        except Exception:
            continue
        made = made_dynamic(model)
        if made is not None and judged(model, SIZES[:1]).state == "fine":
            yield path.name, model, made


def repaired(model: onnx.ModelProto) -> bytes | None:
    """Return the binary of a model after up to nine fixes of forced dimensions.

    Return None if there is no fix.
    """
    text = onnxtext.from_binary(model.SerializeToString())
    for count in range(9):
        fixes = [item.fix for item in forced(text) if item.fix is not None]
        if not fixes:
            return onnxtext.to_binary(text) if count else None
        text = fixes[0].apply(text)
    return onnxtext.to_binary(text)


def main(data: Path, verbose: bool) -> None:
    """Measure, and print the numbers."""
    counts: Counter[str] = Counter()
    for name, model, made in models(data):
        before = {(item.code, item.message) for item in forced(model)}
        new = [item for item in forced(made) if (item.code, item.message) not in before]
        verdict: Verdict = judged(made, SIZES)
        state = "fails" if verdict.state in ("load", "run") else verdict.state
        counts[f"{state}, {'told' if new else 'not told'}"] += 1
        data_fixed = repaired(made) if state == "fails" else None
        if data_fixed is not None:
            after = judged(onnx.load_from_string(data_fixed), SIZES).state
            counts[f"has a fix, after which it is {after}"] += 1
        if verbose and (state == "fails") != bool(new):
            print(name, state, verdict.message[-160:], [item.message for item in new][:2])
    for what, count in sorted(counts.items()):
        print(f"{count:5} {what}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make first dimensions symbolic.")
    parser.add_argument("--data", type=Path, default=DATA, help="a directory of models")
    parser.add_argument("--verbose", action="store_true", help="list the differences")
    options = parser.parse_args()
    main(options.data, options.verbose)
