"""``NamedTuple`` as the standard library has it, made without compiling.

``typing.NamedTuple`` writes source text for every class and compiles it, which took a quarter of
``import promoarray``. Here a constructor is one of a few that exist, under the names of the fields,
and what else a record needs is a function that all of them share. Type checkers see the standard
library's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["NamedTuple"]

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    import sys
    from collections import _tuplegetter
    from types import FunctionType

    new = tuple.__new__

    # By the number of fields. What a function does with its arguments hangs on their places alone,
    # so one with other names for them is a copy.
    _CONSTRUCTORS = (
        lambda cls: new(cls),
        lambda cls, a: new(cls, (a,)),
        lambda cls, a, b: new(cls, (a, b)),
        lambda cls, a, b, c: new(cls, (a, b, c)),
        lambda cls, a, b, c, d: new(cls, (a, b, c, d)),
        lambda cls, a, b, c, d, e: new(cls, (a, b, c, d, e)),
        lambda cls, a, b, c, d, e, f: new(cls, (a, b, c, d, e, f)),
        lambda cls, a, b, c, d, e, f, g: new(cls, (a, b, c, d, e, f, g)),
        lambda cls, a, b, c, d, e, f, g, h: new(cls, (a, b, c, d, e, f, g, h)),
        lambda cls, a, b, c, d, e, f, g, h, i: new(cls, (a, b, c, d, e, f, g, h, i)),
        lambda cls, a, b, c, d, e, f, g, h, i, j: new(cls, (a, b, c, d, e, f, g, h, i, j)),
        lambda cls, a, b, c, d, e, f, g, h, i, j, k: new(cls, (a, b, c, d, e, f, g, h, i, j, k)),
    )

    _UNKNOWN_FIELD = ValueError if sys.version_info < (3, 13) else TypeError

    def _constructor(owner, fields, defaults):
        code = _CONSTRUCTORS[len(fields)].__code__.replace(
            co_varnames=("_cls", *fields), co_name="__new__", co_qualname=f"{owner}.__new__"
        )
        return FunctionType(code, globals(), "__new__", defaults)

    def _make(cls, iterable):
        """Make one of a sequence or an iterable."""
        made = new(cls, iterable)
        if len(made) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
        return made

    def _replace(self, /, **changes):
        """Return a copy with other values of these fields."""
        made = new(type(self), map(changes.pop, self._fields, self))
        if changes:
            raise _UNKNOWN_FIELD(f"Got unexpected field names: {list(changes)!r}")
        return made

    def _asdict(self):
        """Return a dict from the names of the fields to their values."""
        return dict(zip(self._fields, self, strict=True))

    def _repr(self):
        values = ", ".join(
            f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True)
        )
        return f"{type(self).__name__}({values})"

    _SHARED = {
        "__slots__": (),
        "_make": classmethod(_make),
        "_replace": _replace,
        "__replace__": _replace,
        "_asdict": _asdict,
        "__repr__": _repr,
        "__getnewargs__": lambda self: tuple(self),
    }

    class _Making(type):
        """Makes a tuple with names of a class statement; what it makes is of `type` itself."""

        def __new__(cls, name, bases, namespace):
            fields = (*namespace.get("__annotations__", ()),)
            defaults = {field: namespace.pop(field) for field in fields if field in namespace}
            getters = {
                field: _tuplegetter(index, f"Alias for field number {index}")
                for index, field in enumerate(fields)
            }
            own = {
                "_fields": fields,
                "__match_args__": fields,
                "_field_defaults": defaults,
                "__new__": _constructor(name, fields, (*defaults.values(),)),
            }
            return type(name, (tuple,), {**_SHARED, **getters, **own, **namespace})

    NamedTuple = type.__new__(_Making, "NamedTuple", (), {})
