# SPDX-License-Identifier: Apache-2.0
"""Define the workloads: names and files, which are generated once and kept.

This module does not import onnx: the memory of the runner is included in the peak of its children.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks import real

HERE = Path(__file__).resolve().parent
WORK = HERE / ".work"
"""The directory of the workloads; git ignores it."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A set of models that are converted together.

    Attributes:
        name: its name in options and results, and in `models.MAKERS`.
        about: its description.
        weights: the place of weights in the text: section or inline.
        quick: whether it is small enough for `--quick`.
        large: whether it is run only on request.
        names: returns the names of its models, if they are real ones; None for generated models.
    """

    name: str
    about: str
    weights: str = "section"
    quick: bool = False
    large: bool = False
    names: Callable[[], tuple[str, ...]] | None = None

    @property
    def directory(self) -> Path:
        """The directory of its models, `0000.onnx` and so on."""
        return WORK / f"{self.name}-{_edition()}"

    @property
    def missing(self) -> bool:
        """Whether its models are real ones, but missing."""
        return self.names is not None and not real.MODELS.is_dir()

    @property
    def files(self) -> tuple[str, ...]:
        """The names of its models, if they are real ones; else ()."""
        return () if self.names is None else self.names()

    @property
    def made(self) -> bool:
        """Whether its models exist."""
        return self.directory.is_dir()

    def forget_older(self) -> None:
        """Remove the models that older versions of its generator made."""
        for path in WORK.glob(f"{self.name}-{'[0-9a-f]' * len(_edition())}"):
            if path != self.directory:
                shutil.rmtree(path)


WORKLOADS = (
    Workload("transformer-2k", "2,000 nodes, names that need quotes", quick=True),
    Workload("transformer-20k", "20,000 nodes, names that need quotes"),
    Workload("transformer-20k-bare", "20,000 nodes, names that are identifiers"),
    Workload("transformer-200k", "200,000 nodes, names that need quotes", large=True),
    Workload("layers-2k", "2,000 nodes, three small initializers per ten nodes", quick=True),
    Workload("layers-20k", "20,000 nodes, three small initializers per ten nodes"),
    Workload("small-initializers", "20,000 initializers of 4 to 16 elements"),
    Workload("deep-subgraphs", "20 levels of If, 500 nodes on each"),
    Workload("functions-500", "500 functions of 12 nodes, each called four times", quick=True),
    Workload("long-metadata", "5,000 nodes with five metadata entries, one a stack trace"),
    Workload("decimals-32MiB", "float32 weights, ours as decimals too", weights="inline"),
    Workload("blobs-256MiB", "float32 weights, ours as blobs"),
    Workload("small-files-1000", "1,000 models of one to five nodes"),
    Workload("mixed", "forty real models of the shared data", names=lambda: real.NAMES),
    Workload("small-real", "all small real models of the shared data", names=real.small_names),
)

SAMPLE = Workload("sample", "a bit of everything, to find out what a conversion imports")


def named(name: str) -> Workload:
    """Return a workload by name."""
    return next(one for one in (*WORKLOADS, SAMPLE) if one.name == name)


@cache
def _edition() -> str:
    """Return a digest of everything that the models depend on."""
    digest = hashlib.sha256()
    for name in ("models.py", "transformer.py", "real.py"):
        digest.update((HERE / name).read_bytes())
    digest.update("\0".join(real.small_names()).encode())
    for package in ("numpy", "onnx", "protobuf"):
        digest.update(importlib.metadata.version(package).encode() + b"\0")
    return digest.hexdigest()[:8]
