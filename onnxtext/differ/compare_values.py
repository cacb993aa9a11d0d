# SPDX-License-Identifier: Apache-2.0
"""Compare declarations, tensors and attributes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from onnxtext import ast
from onnxtext.ast.typed_blobs import expand_repetition, list_of_blob
from onnxtext.differ.collected_changes import Collector
from onnxtext.differ.compare_messages import compare_messages
from onnxtext.differ.model_side import ModelSide
from onnxtext.differ.result import Category, FieldChange
from onnxtext.differ.statement_text import attribute_statement, data_statement, type_statement
from onnxtext.differ.tensor_data import TensorRef, compare_data, storage_fields, why_not_compared
from onnxtext.printer.quoting import quote_string
from onnxtext.tensor.blobs import BlobError

_DATA_FIELDS = (
    "raw_data", "float_data", "int32_data", "string_data", "int64_data", "double_data",
    "uint64_data",
)  # fmt: skip

_REFERENCES = ("external_data", "data_location")

_SMALL = 1 << 16


class ValueComparer:
    """Compares declarations, tensors, and attributes without graphs.

    Attributes:
        out: receives notes about data that was not compared.
    """

    def __init__(self, old: ModelSide, new: ModelSide, out: Collector) -> None:
        self.old = old
        self.new = new
        self.out = out
        self._plain = not (old.encoder.defaults.others or new.encoder.defaults.others)
        self._same_types: set[tuple[int, int]] = set()
        self._same_attributes: dict[tuple[int, int], bool] = {}

    # ---- Declarations -----------------------------------------------------------------------

    def same_declaration(self, old: ast.ValueInfo, new: ast.ValueInfo) -> bool:
        """Whether two declarations are certainly equal; their names are ignored.

        If False, they may be equal or differ. This is a fast path of `declaration`.
        """
        if old.decorators or new.decorators or old.metadata or new.metadata or not self._plain:
            return False
        if old.type is new.type:
            return True
        key = id(old.type), id(new.type)
        if key in self._same_types:
            return True
        if old.type == new.type:
            self._same_types.add(key)
            return True
        return False

    def declaration(self, old: ast.ValueInfo, new: ast.ValueInfo) -> list[FieldChange]:
        """Return the changes between two declarations; changes of the name are left out."""
        if self.same_declaration(old, new):
            return []
        old_bytes = self.old.encoder.value_info(old)
        other = self.new.encoder.value_info(new)
        differences = _unnamed_fields(compare_messages("ValueInfoProto", old_bytes, other))
        texts = type_statement(old.type), type_statement(new.type)
        return _as_one_change(differences, "type", *texts)

    # ---- Tensors ----------------------------------------------------------------------------

    def initializer(
        self, old: ast.ValueInfo, new: ast.ValueInfo, defaults: tuple[bool, bool]
    ) -> list[FieldChange]:
        """Return the changes between two initializers; changes of the name are left out.

        `defaults` is a pair: whether `old`, and whether `new`, is the default value of an input.
        """
        assert isinstance(old.type, ast.TensorType)
        assert isinstance(new.type, ast.TensorType)
        assert old.data is not None
        assert new.data is not None
        same = self.same_declaration(old, new)
        if same and type(old.data) is type(new.data) is ast.RawData:
            old_data, new_data = old.data.data, new.data.data
            if old_data is new_data or (
                len(old_data) == len(new_data) < _SMALL and bytes(old_data) == bytes(new_data)
            ):
                return []
        changes: list[FieldChange] = []
        if not same or _is_external(old) or _is_external(new):
            parts = [
                b"".join(side.encoder.initializer(
                    replace(value, data=_without_elements(value.data)), is_input=default))
                for side, value, default in zip(
                    (self.old, self.new), (old, new), defaults, strict=True)
            ]  # fmt: skip
            differences = _unnamed_fields(compare_messages("TensorProto", *parts))
            changes += _tensor_changes(differences, old, new)
        tensors = (
            TensorRef(old.type, old.data, old.name, self.old.reader),  # type: ignore[arg-type]
            TensorRef(new.type, new.data, new.name, self.new.reader),  # type: ignore[arg-type]
        )
        return self._with_data(*tensors, changes)

    def tensor(self, old: ast.Tensor, new: ast.Tensor, path: str) -> list[FieldChange]:
        """Return the changes between two tensors of attributes; their paths begin with `path`."""
        parts = [
            side.encoder.tensor(replace(item, data=_without_elements(item.data)))
            for side, item in ((self.old, old), (self.new, new))
        ]
        differences = compare_messages("TensorProto", *parts)
        changes = _tensor_changes(differences, old, new)
        tensors = (
            TensorRef(old.type, old.data, old.name or path, self.old.reader),
            TensorRef(new.type, new.data, new.name or path, self.new.reader),
        )
        return [_nested_change(change, path) for change in self._with_data(*tensors, changes)]

    def sparse(
        self, old: ast.SparseTensor, new: ast.SparseTensor, path: str = ""
    ) -> list[FieldChange]:
        """Return the changes between two sparse tensors; their paths begin with `path`."""
        shells = []
        for side, item in ((self.old, old), (self.new, new)):
            tensors = [replace(part, data=ast.NoData()) for part in (item.values, item.indices)]
            head_only = replace(item, values=tensors[0], indices=tensors[1])
            shells.append(side.encoder.sparse_tensor(head_only, None))
        differences = compare_messages("SparseTensorProto", *shells)
        outside = [item for item in differences if not item.path.startswith(("values", "indices"))]
        changes = [_nested_change(change, path) for change in outside]
        dot = f"{path}." if path else ""
        changes += self.tensor(old.values, new.values, f"{dot}values")
        return changes + self.tensor(old.indices, new.indices, f"{dot}indices")

    def _with_data(
        self, old: TensorRef, new: TensorRef, others: list[FieldChange]
    ) -> list[FieldChange]:
        """Return `others`, followed by the changes of the elements of two tensors.

        `others` are the other changes of the tensors. If elements differ, leave out the
        changes of `external_data` and `data_location`, because the change of the elements shows
        these references, too.
        """
        changes = self._data(old, new, others)
        if any(change.category == "weights" for change in changes):
            others = [change for change in others if not change.path.startswith(_REFERENCES)]
        return others + changes

    def _data(
        self, old: TensorRef, new: TensorRef, others: Sequence[FieldChange]
    ) -> list[FieldChange]:
        """Return the changes of two tensors' elements or, if there are none, of their storage.

        If elements cannot be read, tensors with the same blob digest, or with the same reference to
        external data, count as equal. For external data, a note is added. Return [] if `others`,
        the changes found so far, already show that elements differ.
        """
        change = compare_data(old, new)
        stored = storage_fields(old.type, old.data), storage_fields(new.type, new.data)
        if change is None:
            reason = why_not_compared(old, new)
            if reason is not None:
                self.out.note(f"external data was not compared: {reason}")
            if stored[0] != stored[1]:
                return [FieldChange("data", "encoding", *stored)]
            return []
        if any(item.path.startswith(_DATA_FIELDS) for item in others):
            return []
        texts = data_statement(old.type, old.data), data_statement(new.type, new.data)
        return [FieldChange(stored[1].partition(",")[0], "weights", *texts, change)]

    # ---- Attributes -------------------------------------------------------------------------

    def same_attribute(self, old: ast.Attribute, new: ast.Attribute) -> bool:
        """Whether two attributes have the same encoding."""
        key = id(old), id(new)
        same = self._same_attributes.get(key)
        if same is None:
            same = self.old.encoder.attribute_field(old) == self.new.encoder.attribute_field(new)
            self._same_attributes[key] = same
        return same

    def attribute(self, old: ast.Attribute, new: ast.Attribute, path: str) -> list[FieldChange]:
        """Return the changes between two attributes with the same name and without graphs."""
        if self.same_attribute(old, new) or self._same_blobs(old, new):
            return []
        shells = [_without_tensors(item) for item in (old, new)]
        inner = self._tensors(old, new, path)
        if inner is None:
            shells, inner = [old, new], []
        parts = [
            side.encoder.attribute(item)
            for side, item in zip((self.old, self.new), shells, strict=True)
        ]
        changes = compare_messages("AttributeProto", *parts, path=path)
        texts = attribute_statement(old), attribute_statement(new)
        return _as_one_change(changes, path, *texts) + inner

    def _tensors(
        self, old: ast.Attribute, new: ast.Attribute, path: str
    ) -> list[FieldChange] | None:
        """Compare the tensors in two attributes.

        Return None unless both have the same number of tensors, pairwise of the same kind.
        """
        pairs = [(old.value, new.value, path)]
        if isinstance(old.value, tuple) and isinstance(new.value, tuple):
            if len(old.value) != len(new.value) or not old.value:
                return None
            items: Any = zip(old.value, new.value, strict=True)
            pairs = [(*pair, f"{path}[{index}]") for index, pair in enumerate(items)]
        changes: list[FieldChange] = []
        for old_index, new_index, place in pairs:
            match old_index, new_index:
                case ast.Tensor(), ast.Tensor():
                    changes += self.tensor(old_index, new_index, f"{place}.t")
                case ast.SparseTensor(), ast.SparseTensor():
                    changes += self.sparse(old_index, new_index, f"{place}.sparse_tensor")
                case _:
                    return None
        return changes

    def _same_blobs(self, old: ast.Attribute, new: ast.Attribute) -> bool:
        """Whether attributes are equal after data replaces their blobs; False if unknown."""
        if old.type is not new.type or old.decorators != new.decorators:
            return False
        values = [_without_blobs(item, side) for item, side in ((old, self.old), (new, self.new))]
        return values[0] is not None and values[0] == values[1]


_MAX_REPEATED = 1 << 20
"""Maximum length of a `RepeatedList` that is expanded for comparison."""


def _without_blobs(attribute: ast.Attribute, side: ModelSide) -> Any:
    """Return an attribute's string or list, with data instead of blobs.

    Return None for other values, long `RepeatedList`s, and blobs whose data is missing.
    """
    if isinstance(attribute.value, ast.RepeatedList):
        few = attribute.value.count <= _MAX_REPEATED
        return _comparable(expand_repetition(attribute.value), side) if few else None
    if not isinstance(attribute.value, ast.TypedBlob):
        return _comparable(attribute.value, side)
    try:
        data = side.reader.blob(attribute.value.digest)
        return list_of_blob(attribute.type, attribute.value, data)
    except BlobError:
        return None


def _comparable(value: Any, side: ModelSide) -> Any:
    """Return a string or list with data instead of blobs; a list of numbers as bytes.

    Return None for other values, and for a missing blob.
    """
    try:
        match value:
            case ast.Blob(digest):
                return bytes(side.reader.blob(digest))
            case ast.Floats(data):
                return data
            case bytes():
                return value
            case tuple() if value and all(isinstance(item, int) for item in value):
                return b"".join([item.to_bytes(8, "little", signed=True) for item in value])
            case tuple() if value and all(isinstance(item, (bytes, ast.Blob)) for item in value):
                items = tuple([_comparable(item, side) for item in value])
                return None if None in items else items
    except (BlobError, OverflowError):
        pass
    return None


def _unnamed_fields(changes: Iterable[FieldChange]) -> list[FieldChange]:
    """Drop changes of the field `name`, which are renames; keep differences of its encoding."""
    return [item for item in changes if item.path != "name" or item.category == "encoding"]


def _is_external(value: ast.ValueInfo) -> bool:
    return isinstance(value.data, ast.ExternalData)


def _without_elements(data: Any) -> ast.TensorData:
    """Return `data` if it is external, otherwise no data; elements are compared separately."""
    return data if isinstance(data, ast.ExternalData) else ast.NoData()


def _without_tensors(attribute: ast.Attribute) -> ast.Attribute:
    """Return an attribute without its tensors, which are compared separately."""
    if isinstance(attribute.value, (ast.Tensor, ast.SparseTensor)):
        return replace(attribute, value=None)
    if attribute.type in (ast.AttributeType.TENSORS, ast.AttributeType.SPARSE_TENSORS):
        return replace(attribute, value=None)
    return attribute


def attribute_path(name: str) -> str:
    """Return the path of an attribute below its node, such as `attribute["axis"]`."""
    return f"attribute[{quote_string(name)}]"


def _nested_change(change: FieldChange, path: str) -> FieldChange:
    return replace(change, path=f"{path}.{change.path}") if path else change


def _as_one_change(
    changes: list[FieldChange], path: str, old: str | None, new: str | None
) -> list[FieldChange]:
    """Replace all `model` changes at or below a path by one change from `old` to `new`.

    If `old` equals `new`, all changes stay.
    """
    below = (f"{path}.", f"{path}[")
    inside: list[FieldChange] = []
    rest: list[FieldChange] = []
    for change in changes:
        is_inside = change.path == path or change.path.startswith(below)
        (inside if change.category == "model" and is_inside else rest).append(change)
    if not inside:
        return changes
    exact = inside[0].path if len(inside) == 1 else path
    if old == new:  # the difference is not visible in the text
        return [*rest, *inside]
    return [FieldChange(exact, "model", old, new), *rest]


def _tensor_changes(
    differences: Iterable[FieldChange],
    old: ast.ValueInfo | ast.Tensor,
    new: ast.ValueInfo | ast.Tensor,
) -> list[FieldChange]:
    """Return the differences between two tensors with their categories, and with types as text."""
    changes = []
    for difference in differences:
        category: Category = difference.category
        texts = difference.old, difference.new
        field = difference.path.partition("[")[0].partition(".")[0]
        if field == "name" and category == "model":
            category = "names"
        elif field in ("data_type", "dims"):
            types = type_statement(old.type), type_statement(new.type)
            texts = types if types[0] != types[1] else texts
        elif field in ("external_data", "data_location") and category == "model":
            category = "encoding"
        elif field in _DATA_FIELDS and category == "model":
            category = "weights"
        changes.append(FieldChange(difference.path, category, *texts))
    return changes
