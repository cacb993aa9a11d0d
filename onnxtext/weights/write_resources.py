# SPDX-License-Identifier: Apache-2.0
"""Move the resources of a model from its text to a store or safetensors file beside it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from onnxtext.ast.model import Model, WeightPlace
from onnxtext.tensor.blobs import BlobError
from onnxtext.weights.safe_paths import PathError, resolve_inside
from onnxtext.weights.store import Store
from onnxtext.wire.compare_pieces import same_bytes

if TYPE_CHECKING:
    from onnxtext.weights.safetensors_file import SafetensorsFile

Weights = Literal["auto", "inline", "section", "store", "safetensors", "none"]
"""Where to write large data (SPEC 6.6)."""

SECTION_BYTES = 1 << 20
"""Maximum number of bytes that `auto` keeps in the text; larger data goes to a store."""

STORE_SUFFIX = ".weights"
SAFETENSORS_SUFFIX = ".safetensors"

OnWritten = Callable[[int], None]
"""A progress callback: receives the number of bytes written since the last call."""


@dataclass(slots=True)
class WeightFiles:
    """Weights to write beside a text; write them first, so that the text never lacks blobs.

    Attributes:
        base: the directory of the text.
        place: the destination: its kind, and its path relative to `base`.
        blobs: maps full digests to bytes.
        model: the model, for the names of tensors in a safetensors file.
    """

    base: Path
    place: WeightPlace
    blobs: dict[str, bytes | memoryview]
    model: Model
    _extended: bool = field(default=False, init=False)

    def foreign(self) -> Path | None:
        """Return the existing safetensors file that `write` would change; None if there is none.

        Raises:
            OSError: the file exists and cannot be read.
            PathError: the destination is not below the directory of the text, or is not a regular
                file.
        """
        target = resolve_inside(self.base, self.place.path)
        if self.place.kind == "store" or not target.exists():
            return None
        return None if self._are_in(_open_existing(target)) else target

    def _are_in(self, file: SafetensorsFile | None) -> bool:
        """Whether the blobs of a file are exactly the blobs to write."""
        return (
            file is not None
            and file.blobs.keys() == self.blobs.keys()
            and all(
                same_bytes(file.data(file.blobs[digest]), data)
                for digest, data in self.blobs.items()
            )
        )

    def write(self, written: OnWritten | None = None, check: Callable[[], object] = int) -> None:
        """Write the blobs that the destination lacks, and keep all blobs that it already has.

        `remove_obsolete` then removes blobs from a safetensors file.

        Args:
            written: a progress callback (see `OnWritten`); not called for a safetensors file.
            check: called after data was copied, before the copy becomes a blob; raises an exception
                if the data changed since the digests were computed. The default does nothing.

        Raises:
            BlobError: for a safetensors file, the library is not installed or fails.
            OSError: something cannot be written; existing blobs are intact.
            PathError: the destination is not below the directory of the text, is a file of the
                model's external data, or is a directory instead of a safetensors file.
        """
        target = resolve_inside(self.base, self.place.path)
        if self.place.kind == "safetensors":
            from onnxtext.weights.external_data import external_locations
            from onnxtext.weights.safetensors_file import write_safetensors

            if target in external_locations(self.model, self.base).values():
                raise PathError(f"{target} has external data of the model")
            file = _open_existing(target)
            if self._are_in(file):
                return
            old = {} if file is None else {key: file.data(name) for key, name in file.blobs.items()}
            self._extended = bool(old.keys() - self.blobs.keys())
            target.parent.mkdir(parents=True, exist_ok=True)
            write_safetensors(target, {**old, **self.blobs}, self.model, check)
            return
        target.mkdir(parents=True, exist_ok=True)
        store = Store(target)
        try:
            for digest, data in self.blobs.items():
                with store.locked():
                    store.put(digest, data, check)
                if written is not None:
                    written(len(data))
        except BaseException:
            with contextlib.suppress(OSError):  # the directory may not be empty
                target.rmdir()
            raise

    def remove_obsolete(self, check: Callable[[], object] = int) -> None:
        """Remove the blobs in a safetensors file that the new text does not use.

        Before this call, the file has the blobs of the old and the new text. So if the conversion
        is killed, the text that remains, old or new, finds its blobs.

        Raises:
            BlobError: the library cannot write the blobs.
            OSError: the file cannot be written; it is unchanged.
            PathError: the file is no longer below the directory of the text.
        """
        if self._extended:
            from onnxtext.weights.safetensors_file import write_safetensors

            target = resolve_inside(self.base, self.place.path)
            write_safetensors(target, self.blobs, self.model, check)
            self._extended = False


def _open_existing(path: Path) -> SafetensorsFile | None:
    """Open a safetensors file; None if it does not exist, or is not a safetensors file."""
    from onnxtext.weights.safetensors_file import open_safetensors

    if not path.exists():
        return None
    try:
        return open_safetensors(path)
    except BlobError:
        return None


def move_resources(
    model: Model, digests: dict[str, str], weights: Weights, text: Path, location: str | None
) -> WeightFiles | None:
    """Remove the resources from a model; return them as files to write beside its text.

    `model.places` then refers to the store or file.

    Args:
        model: a model whose large data is in its resources; changed in place.
        digests: maps the digest of each resource in the model to the full digest.
        weights: the destination. `auto` means `section` up to `SECTION_BYTES`, otherwise `store`.
            Only `store` and `safetensors` remove resources from the model.
        text: the file that the text will be written to.
        location: the store or safetensors file, relative to the text's directory; None to derive
            its name from the name of the text.

    Returns:
        The weights to write; None if the model is unchanged.
    """
    if weights == "auto":
        size = sum(map(len, model.resources.values()))
        weights = "store" if size > SECTION_BYTES else "section"
    if weights not in ("store", "safetensors") or not model.resources:
        return None
    kind: Literal["store", "safetensors"] = "store" if weights == "store" else "safetensors"
    suffix = STORE_SUFFIX if kind == "store" else SAFETENSORS_SUFFIX
    target = WeightPlace(kind, text.stem + suffix if location is None else location)
    blobs = {digests[digest]: data for digest, data in model.resources.items()}
    model.resources = {}
    model.places = [target]
    return WeightFiles(text.parent, target, blobs, model)
