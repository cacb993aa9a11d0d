# SPDX-License-Identifier: Apache-2.0
"""Classes of `quick_dataclass` behave like those of `dataclasses`."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from types import NoneType
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnxtext import quick_dataclass

VALUES = st.one_of(st.integers(0, 2), st.sampled_from(("", "a")), st.none(), st.just(1.0))
Decorate = Callable[..., Callable[[type], type]]


def make(decorate: Decorate, **options: bool) -> type[Any]:
    """Return a class with three fields, of which the second is neither compared nor shown."""

    @decorate(slots=True, **options)
    class Item:
        first: object
        hidden: object = dataclasses.field(default=0, compare=False, repr=False)
        last: object = None

    return Item


def make_single(decorate: Decorate, **options: bool) -> type[Any]:
    """Return a class with one field."""

    @decorate(slots=True, **options)
    class Item:
        first: object

    return Item


OPTIONS: tuple[dict[str, bool], ...] = (
    {},
    {"frozen": True},
    {"eq": False},
    {"frozen": True, "eq": False},
)
PAIRS = [
    tuple(
        maker(decorate, **options)
        for decorate in (dataclasses.dataclass, quick_dataclass.dataclass)
    )
    for maker in (make, make_single)
    for options in OPTIONS
]


def hash_of(item: object) -> object:
    """Return the hash of an item, or `TypeError` if it has none."""
    try:
        return hash(item)
    except TypeError:
        return TypeError


def by_identity(cls: Any) -> bool:
    """Whether objects of a class are hashed by identity."""
    return bool(cls.__hash__ is object.__hash__)


@pytest.mark.parametrize(("reference", "quick"), PAIRS)
@given(
    left=st.lists(VALUES, min_size=3, max_size=3), right=st.lists(VALUES, min_size=3, max_size=3)
)
def test_comparisons_hashes_and_texts_are_equal(
    reference: type[Any], quick: type[Any], left: list[object], right: list[object]
) -> None:
    count = len(dataclasses.fields(reference))
    expected = [reference(*values[:count]) for values in (left, right)]
    found = [quick(*values[:count]) for values in (left, right)]
    assert (found[0] == found[1]) == (expected[0] == expected[1])
    assert found[0] != expected[0]  # another class
    assert list(map(repr, found)) == [
        repr(item).replace(reference.__qualname__, quick.__qualname__) for item in expected
    ]
    if not by_identity(reference):
        assert [hash_of(item) is TypeError for item in found] == [
            hash_of(item) is TypeError for item in expected
        ]
        if found[0] == found[1]:
            assert hash_of(found[0]) == hash_of(found[1])
    else:
        assert by_identity(quick)


@pytest.mark.parametrize(("reference", "quick"), PAIRS)
def test_fields_matching_and_freezing_are_equal(reference: type[Any], quick: type[Any]) -> None:
    assert [f.name for f in dataclasses.fields(quick)] == [
        f.name for f in dataclasses.fields(reference)
    ]
    assert quick.__match_args__ == reference.__match_args__
    assert quick.__slots__ == reference.__slots__
    item, replaced = quick(1), dataclasses.replace(quick(1), first=2)
    assert replaced.first == 2
    assert copy.deepcopy(item).first == 1
    frozen = reference.__dataclass_params__.frozen
    if frozen:
        with pytest.raises(dataclasses.FrozenInstanceError):
            item.first = 3
        with pytest.raises(dataclasses.FrozenInstanceError):
            del item.first
        with pytest.raises(TypeError, match=r"__init__\(\) missing 1 required .*: 'first'"):
            quick()
    else:
        item.first = 3
        assert item.first == 3


@quick_dataclass.dataclass(frozen=True, slots=True)
class Empty:
    """A class without fields."""


@quick_dataclass.dataclass(frozen=True, slots=True)
class Frozen:
    """A class with fields that cannot be set."""

    first: object
    second: object = ()


@quick_dataclass.dataclass(slots=True)
class Own:
    """A class with methods of its own."""

    value: object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Own)

    def __repr__(self) -> str:
        return "own"

    __hash__ = None  # type: ignore[assignment]


def test_own_methods_are_kept_and_empty_classes_compare() -> None:
    assert Own(1) == Own(2)
    assert repr(Own(1)) == "own"
    assert Empty() == Empty()
    assert hash(Empty()) == hash(Empty())
    assert pickle.loads(pickle.dumps(Empty())) == Empty()
    hints = get_type_hints(Frozen.__init__)
    assert hints == {"first": object, "second": object, "return": NoneType}
    assert Frozen.__init__.__module__ == __name__
    assert copy.copy(Frozen(1)) == pickle.loads(pickle.dumps(Frozen(1))) == Frozen(1, ())


def test_a_class_that_contains_itself_is_shown() -> None:
    item = Own(None)
    holder = make(quick_dataclass.dataclass)(item)
    holder.last = holder
    assert repr(holder).endswith("(first=own, last=...)")
