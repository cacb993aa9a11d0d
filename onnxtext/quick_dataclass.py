# SPDX-License-Identifier: Apache-2.0
"""A decorator like `dataclasses.dataclass`, for classes that most commands import.

`dataclasses` compiles most methods separately for each class. Here all classes share one function
for `__repr__`, `__eq__` and `__hash__`, and usually for the methods that make objects constant
(`frozen`). So creating a frozen class takes a fifth of the time, and creating its objects half;
creating another class takes half the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    import dataclasses
    import sys
    from operator import attrgetter
    from reprlib import recursive_repr

    def dataclass(cls=None, /, *, frozen=False, slots=False, eq=True):
        """Make a class a dataclass; the arguments mean the same as in `dataclasses.dataclass`."""
        if cls is None:
            return lambda cls: dataclass(cls, frozen=frozen, slots=slots, eq=eq)
        own = set(vars(cls))
        if frozen and slots and _is_simple(cls):
            cls = _frozen(dataclasses.dataclass(cls, slots=True, eq=False, repr=False, init=False))
        else:
            cls = dataclasses.dataclass(cls, frozen=frozen, slots=slots, eq=False, repr=False)
        if "__repr__" not in own:
            cls.__repr__ = _repr
        if eq:
            cls.__dataclass_compared__ = _getter(cls)
            if "__eq__" not in own:
                cls.__eq__ = _eq
            if "__hash__" not in own:
                cls.__hash__ = _hash if frozen else None
        return cls

    def _is_simple(cls):
        """Whether `_frozen` supports a class: no base class, no `field(…)`, no special methods."""
        own = vars(cls)
        return (
            cls.__bases__ == (object,)
            and _SPECIAL.isdisjoint(own)
            and not any(isinstance(value, dataclasses.Field) for value in own.values())
        )

    _SPECIAL = frozenset(
        {"__init__", "__post_init__", "__setattr__", "__delattr__", "__getstate__", "__setstate__"}
    )

    def _frozen(cls):
        """Make the objects of a dataclass with slots constant; add `__init__` to the class."""
        fields = dataclasses.fields(cls)
        scope = {f"set_{field.name}": getattr(cls, field.name).__set__ for field in fields}
        parameters, steps = ["self"], []
        for field in fields:
            parameters.append(field.name)
            if field.default is not dataclasses.MISSING:
                scope[f"default_{field.name}"] = field.default
                parameters[-1] += f"=default_{field.name}"
            steps.append(f"set_{field.name}(self, {field.name})")
        init = f"def __init__({', '.join(parameters)}): {'; '.join(steps) or 'pass'}"
        found = {}
        module = vars(sys.modules[cls.__module__])  # resolves the annotations, as in `dataclasses`
        exec(f"def make({', '.join(scope)}):\n {init}\n return __init__", module, found)
        cls.__init__ = found["make"](**scope)
        types = {field.name: field.type for field in fields}
        cls.__init__.__annotations__ = {**types, "return": None}
        cls.__init__.__qualname__ = f"{cls.__qualname__}.__init__"
        cls.__setattr__, cls.__delattr__ = _refuse_to_set, _refuse_to_delete
        cls.__getstate__, cls.__setstate__ = _getstate, _setstate
        cls.__dataclass_params__.frozen = True
        return cls

    def _refuse_to_set(self, name, value):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def _refuse_to_delete(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def _getstate(self):
        return [getattr(self, field.name) for field in dataclasses.fields(self)]

    def _setstate(self, state):
        for field, value in zip(dataclasses.fields(self), state, strict=True):
            object.__setattr__(self, field.name, value)

    def _getter(cls):
        """Make a function that collects the compared fields of an object in a tuple."""
        names = [field.name for field in dataclasses.fields(cls) if field.compare]
        if len(names) > 1:
            return attrgetter(*names)
        getters = [attrgetter(name) for name in names]
        return lambda item: tuple([get(item) for get in getters])

    @recursive_repr()
    def _repr(self):
        fields = [field.name for field in dataclasses.fields(self) if field.repr]
        values = ", ".join([f"{name}={getattr(self, name)!r}" for name in fields])
        return f"{type(self).__qualname__}({values})"

    def _eq(self, other):
        if other is self:
            return True
        if type(other) is not type(self):
            return NotImplemented
        get = type(self).__dataclass_compared__
        return get(self) == get(other)

    def _hash(self):
        return hash(type(self).__dataclass_compared__(self))


__all__ = ["dataclass"]
