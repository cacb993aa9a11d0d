# SPDX-License-Identifier: Apache-2.0
"""Taking the resources of a model out of its text, to a place beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from onnxtext.ast.model import Model, WeightPlace
from onnxtext.tensor.blobs import BlobError
from onnxtext.weights.paths import inside
from onnxtext.weights.store import Store
from onnxtext.wire.compare import same_bytes

Weights = Literal["auto", "inline", "section", "store", "safetensors", "none"]
"""Where large data goes (SPEC 6.6)."""

SECTION_BYTES = 1 << 20
"""`auto` writes weights of more bytes than this into a store."""

STORE_SUFFIX = ".weights"
SAFETENSORS_SUFFIX = ".safetensors"

Written = Callable[[int], None]
"""Is told how many more bytes were written."""


@dataclass(slots=True)
class Beside:
    """What is written beside a text, and before it: so a text never names what is not there.

    Attributes:
        base: the directory of the text.
        place: where in it the blobs go.
        blobs: their bytes, by their whole digests.
        model: names of tensors, for safetensors.
    """

    base: Path
    place: WeightPlace
    blobs: dict[str, bytes | memoryview]
    model: Model
    _extended: bool = field(default=False, init=False)

    def foreign(self) -> Path | None:
        """A file of other content that writing would replace; blobs in stores never do.

        Raises:
            OSError: it is there and cannot be read.
            PathError: the place is not below the directory of the text.
        """
        target = inside(self.base, self.place.path)
        if self.place.kind == "store" or not target.exists():
            return None
        return None if self._is_written(target) else target

    def _is_written(self, target: Path) -> bool:
        held = self._held(target)
        return held.keys() == self.blobs.keys() and all(
            same_bytes(held[digest], data) for digest, data in self.blobs.items()
        )

    def _held(self, target: Path) -> dict[str, memoryview]:
        """The blobs in a file that is there; none if it is no file of blobs."""
        from onnxtext.weights.safetensors_file import read_safetensors

        try:
            return read_safetensors(target)
        except BlobError:
            return {}

    def write(self, written: Written | None = None) -> None:
        """Write the blobs that are not there yet. Those that are there stay: see `settle`.

        Args:
            written: is told of progress.

        Raises:
            OSError: something cannot be written; what was there before is intact.
            PathError: the place is not below the directory of the text.
        """
        target = inside(self.base, self.place.path)
        if self.place.kind == "safetensors":
            from onnxtext.weights.safetensors_file import write_safetensors

            if target.exists() and self._is_written(target):
                return
            old = self._held(target) if target.exists() else {}
            self._extended = bool(old.keys() - self.blobs.keys())
            write_safetensors(target, {**old, **self.blobs}, self.model)
            return
        target.mkdir(parents=True, exist_ok=True)
        store = Store(target)
        for digest, data in self.blobs.items():
            with store.locked():
                store.put(digest, data)
            if written is not None:
                written(len(data))

    def settle(self) -> None:
        """Take out of a safetensors file what only the text needed that is replaced now.

        Until then the file serves the old text and the new one: whenever the conversion is killed,
        the text that is there is whole.

        Raises:
            OSError: the file cannot be written anew; it is as it was.
        """
        if self._extended:
            from onnxtext.weights.safetensors_file import write_safetensors

            write_safetensors(inside(self.base, self.place.path), self.blobs, self.model)
            self._extended = False


def take_out(
    model: Model, digests: dict[str, str], weights: Weights, text: Path, place: str | None = None
) -> Beside | None:
    """Take the resources out of a model, and name in it where they will be.

    Args:
        model: whose large data was moved to its resources; is changed.
        digests: the whole digests of the resources.
        weights: `auto` leaves few bytes where they are.
        text: the file that the text will be in.
        place: the directory of the store or the safetensors file, relative to the text's
            directory; None for one named like the text.

    Returns:
        What is to be written; None if nothing is.
    """
    if weights == "auto":
        size = sum(map(len, model.resources.values()))
        weights = "store" if size > SECTION_BYTES else "section"
    if weights not in ("store", "safetensors") or not model.resources:
        return None
    kind: Literal["store", "safetensors"] = "store" if weights == "store" else "safetensors"
    suffix = STORE_SUFFIX if kind == "store" else SAFETENSORS_SUFFIX
    made = WeightPlace(kind, text.stem + suffix if place is None else place)
    blobs = {digests[digest]: data for digest, data in model.resources.items()}
    model.resources = {}
    model.places = [made]
    return Beside(text.parent, made, blobs, model)
