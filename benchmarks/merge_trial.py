# SPDX-License-Identifier: Apache-2.0
"""Test random merges of real models: `python -m benchmarks.merge_trial`.

Two sets of random edits are applied to a model with the onnx API. The versions are printed with
random options, some get comments and another layout, and are merged in both orders, as texts and
as binaries. A merge is `merged` if the result is the model after both sets of edits, and `wrong`
if it is another model, or depends on the order of the sides or on the spelling.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.message import Message
from onnx import ModelProto

import onnxtext
from benchmarks.merging.edits import Edit, apply
from benchmarks.merging.joint import draw_edits, expected, fits, normal, undefined_names
from benchmarks.real import DATA
from onnxtext.merger import MergeResult, merge

LARGEST = 120_000


@dataclass(frozen=True)
class Trial:
    """A merge to test.

    Attributes:
        name: a description: the model and the edits.
        base: the model before the edits.
        ours: the edits of one side.
        theirs: the edits of the other side.
        texts: the text of each version: base, ours, theirs.
    """

    name: str
    base: ModelProto
    ours: Sequence[Edit]
    theirs: Sequence[Edit]
    texts: tuple[str, str, str]


def models(directory: Path = DATA, largest: int = LARGEST) -> list[tuple[str, bytes]]:
    """Return (file name, bytes) of the models to edit.

    Models of more than `_FEW` nodes occur five times, so that they are chosen more often.
    """
    entries = json.loads((directory / "models" / "index.json").read_text())
    files = [directory / entry["file"] for entry in entries]
    files += sorted((directory / "exports").glob("*.onnx"))
    found = [(file.name, file.read_bytes()) for file in files if file.stat().st_size <= largest]
    # Most shared models have a node or two: edits of larger ones interact less.
    many = [file for file in found if len(ModelProto.FromString(file[1]).graph.node) > _FEW]
    return found + many * 4


_FEW = 5


def spelled(data: bytes, draw: random.Random) -> str:
    """Print a model with random options."""
    return onnxtext.from_binary(
        data,
        weights=draw.choice(("section", "section", "inline")),
        inline_limit=draw.choice((64, 64, 0, 4, 1000)),
        metadata=draw.choice(("auto", "auto", "inline", "section")),
    )


def roughened(text: str, word: str, draw: random.Random) -> str:
    """Change the layout of a text, and add comments with `word`.

    Return the text unchanged if the model would change.
    """
    lines = text.split("\n")
    for _ in range(draw.randrange(4)):
        at = draw.randrange(len(lines))
        if draw.random() < 0.5:
            lines.insert(at, f"  # {word} {draw.randrange(10**6)}")
        elif draw.random() < 0.5:
            lines[at] += f"  # {word} {draw.randrange(10**6)}"
        else:
            lines[at] = lines[at].replace(" = ", "  =   ").replace(", ", " ,", 1)
    made = "\n".join(lines)
    try:
        same = onnxtext.parse(made) == onnxtext.parse(text)
    except onnxtext.OnnxTextError:
        return text
    return made if same else text


def trials(files: Sequence[tuple[str, bytes]], count: int, seed: int) -> Iterator[Trial]:
    """Yield random merges; each depends only on `seed` and its own number."""
    number = 0
    made = 0
    while made < count:
        draw = random.Random(f"{seed} {number}")
        number += 1
        trial = _trial(draw.choice(files), draw, f"{seed} {number - 1}")
        if trial is not None:
            made += 1
            yield trial


def _trial(file: tuple[str, bytes], draw: random.Random, name: str) -> Trial | None:
    base = ModelProto.FromString(file[1])
    shared = draw_edits(base, draw, 1) if draw.random() < 0.15 else []
    ours = [*shared, *draw_edits(base, draw, draw.randrange(1, 6))]
    theirs = [*shared, *draw_edits(base, draw, draw.randrange(1, 6))]
    sides = [apply(base, ours), apply(base, theirs)]
    if sides[0] is None or sides[1] is None or not ours or not theirs:
        return None
    before, *after = [undefined_names(model) for model in (base, *sides) if model is not None]
    if shared and any(names - before for names in after):
        return None  # an edit of one side may use a name that the shared edit has renamed
    added = [{edit.name for edit in side if "more inputs" in edit.name} for side in (ours, theirs)]
    if added[0] & added[1] and not shared:
        return None  # maybe the same edit on both sides
    seed = draw.randrange(10**9)
    same_spelling, rough = draw.random() < 0.5, draw.random() < 0.4
    texts = []
    for index, model in enumerate((base, *sides)):
        options = random.Random(seed if same_spelling else seed + index)
        text = spelled(model.SerializeToString(), options)  # type: ignore[union-attr]
        texts.append(text)
    if rough:
        texts[0] = roughened(texts[0], "base", draw)
        texts[1:] = [roughened(text, f"side{at}", draw) for at, text in enumerate(texts[1:])]
    edits = [", ".join([edit.name for edit in side]) for side in (ours, theirs)]
    label = f"{name}: {file[0]}: [{edits[0]}] [{edits[1]}]"
    return Trial(label, base, ours, theirs, (texts[0], texts[1], texts[2]))


# ---- Judging ----------------------------------------------------------------------------------


def verdict(trial: Trial) -> str:
    """Return the outcome, such as `merged` or `needless conflict`; errors begin with `wrong: `."""
    base, ours, theirs = [text.encode() for text in trial.texts]
    result, other = merge(base, ours, theirs), merge(base, theirs, ours)
    if bool(result.conflicts) != bool(other.conflicts):
        return "wrong: a conflict in one order only"
    if any("line by line" in note for note in (*result.notes, *other.notes)):
        return "wrong: merged line by line"
    found = _judged(trial, result, other)
    plain = [
        apply(trial.base, *sets).SerializeToString()  # type: ignore[union-attr]
        for sets in ((), (trial.ours,), (trial.theirs,))
    ]
    binary = merge(plain[0], plain[1], plain[2])
    if bool(binary.conflicts) != bool(result.conflicts):
        about_comments = not binary.conflicts and any("# side" in text for text in trial.texts)
        return found if about_comments else "wrong: a conflict in one spelling only"
    if not binary.conflicts and not found.startswith("wrong"):
        model = ModelProto.FromString(binary.content)
        if model != ModelProto.FromString(onnxtext.to_binary(result.content.decode())):
            return "wrong: another model in another spelling"
    return found


def _judged(trial: Trial, result: MergeResult, other: MergeResult) -> str:
    text = result.content.decode()
    wanted = expected(trial.base, trial.ours, trial.theirs)
    if not result.conflicts:
        model = ModelProto.FromString(onnxtext.to_binary(text))
        if onnxtext.to_binary(other.content.decode()) != onnxtext.to_binary(text):
            return "wrong: another model in the other order"
        if not wanted:
            return "wrong: merged, but the edits do not fit together"
        if normal(model) not in wanted and not _is_right_without_renames(trial, model):
            return "wrong: another model"
        sets = [(trial.ours, trial.theirs), (trial.theirs, trial.ours)]
        both = [one for pair in sets if (one := apply(trial.base, *pair)) is not None]
        # After a rename, edits that refer to the old name change other positions in `both`.
        renames = any("rename" in edit.name for edit in (*trial.ours, *trial.theirs))
        for names in (_inputs, _outputs):
            if both and not renames and names(model) not in [names(one) for one in both]:
                return "wrong: another order of inputs or outputs"
        return "merged" if model in both or not both else "merged, in another order"
    sides = [(resolved(text, a), resolved(other.content.decode(), b)) for a, b in _SIDES]
    for mine, others in sides:
        if onnxtext.to_binary(mine) != onnxtext.to_binary(others):
            return "wrong: another conflict in the other order"
    if onnxtext.to_binary(sides[0][0]) == onnxtext.to_binary(sides[1][0]):
        return "conflict that both sides resolve alike"
    needless = fits(trial.base, trial.ours, trial.theirs)
    return "needless conflict" if needless else "conflict"


def _is_right_without_renames(trial: Trial, model: ModelProto) -> bool:
    """Whether a merge with its renames undone is the merge of the other edits.

    Then it is right even if `expected` lacks it: one side may remove what the other renames.
    """
    sides: list[list[Edit]] = []
    names: dict[str, str] = {}
    known = set(_strings(trial.base))
    for edits in (trial.ours, trial.theirs):
        for edit in edits:
            made = apply(trial.base, [edit]) if "rename" in edit.name else None
            new = set(_strings(made)) - known if made is not None else set()
            names |= dict.fromkeys(new, edit.name.rpartition(" ")[2])
        sides.append([edit for edit in edits if "rename" not in edit.name])
    undone = ModelProto()
    undone.CopyFrom(model)
    _replace_strings(undone, names)
    return bool(names) and normal(undone) in expected(trial.base, *sides)


def _strings(message: Message) -> Iterator[str]:
    for _, value in message.ListFields():
        for item in [value] if isinstance(value, (str, bytes, int, float, Message)) else value:
            if isinstance(item, Message):
                yield from _strings(item)
            elif isinstance(item, str):
                yield item


def _replace_strings(message: Message, names: Mapping[str, str]) -> None:
    for field, value in message.ListFields():
        if isinstance(value, Message):
            _replace_strings(value, names)
        elif isinstance(value, str):
            setattr(message, field.name, names.get(value, value))
        elif field.type == field.TYPE_MESSAGE:
            for item in value:
                _replace_strings(item, names)
        elif field.type == field.TYPE_STRING:
            value[:] = [names.get(item, item) for item in value]


def _inputs(model: ModelProto) -> list[str]:
    return [value.name for value in model.graph.input]


def _outputs(model: ModelProto) -> list[str]:
    return [value.name for value in model.graph.output]


_SIDES = (("ours", "theirs"), ("theirs", "ours"))


def resolved(text: str, side: str) -> str:
    """Resolve each conflict in a text to one side."""
    kept, within = [], "all"
    for line in text.split("\n"):
        if line == "<<<<<<< ours":
            within = "ours"
        elif line == "||||||| base" and within == "ours":
            within = "base"
        elif line == "=======" and within == "base":
            within = "theirs"
        elif line == ">>>>>>> theirs" and within == "theirs":
            within = "all"
        elif within in ("all", side):
            kept.append(line)
    return "\n".join(kept)


def main(arguments: list[str] | None = None) -> int:
    """Run trials, and count."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.merge_trial", description=__doc__)
    parser.add_argument("--count", type=int, default=200, metavar="N")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9)
    parser.add_argument("--only", type=int, metavar="NUMBER", help="run one trial of the seed")
    parser.add_argument("--show", action="store_true", help="print the merge")
    options = parser.parse_args(arguments)
    print(f"seed {options.seed}")
    warnings.simplefilter("ignore")
    files = models()
    counts: Counter[str] = Counter()
    start = time.process_time()
    if options.only is not None:
        draw = random.Random(f"{options.seed} {options.only}")
        trial = _trial(draw.choice(files), draw, f"{options.seed} {options.only}")
        found = [] if trial is None else [trial]
    else:
        found = trials(files, options.count, options.seed)  # type: ignore[assignment]
    for trial in found:
        try:
            outcome = verdict(trial)
        except Exception as error:
            outcome = f"wrong: {type(error).__name__}: {str(error)[:200]}"
        counts[outcome] += 1
        if outcome.startswith("wrong") or outcome == "needless conflict" or options.show:
            print(f"{outcome}: {trial.name}", flush=True)
        if options.show:
            directory = Path(tempfile.mkdtemp(prefix="merge-trial-"))
            for name, text in zip(("base", "ours", "theirs"), trial.texts, strict=True):
                (directory / f"{name}.onnxtxt").write_text(text)
            texts = [text.encode() for text in trial.texts]
            result = merge(*texts)
            (directory / "merged.onnxtxt").write_bytes(result.content)
            print(directory, result.notes)
    for outcome, count in counts.most_common():
        print(f"{count:6} {outcome}")
    print(f"{time.process_time() - start:.0f} s of the processor")
    return int(any(outcome.startswith("wrong") for outcome in counts))


if __name__ == "__main__":
    sys.exit(main())
